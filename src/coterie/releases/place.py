"""Where the rows of a release are: in memory, in a file, on Spark. `Release` is the same for all of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from coterie.arrays import AnyFrame, Int64
from coterie.disclosure.risk import ClassCounts, classes_of_table
from coterie.files import tables
from coterie.files.output import check_target, provenance_path
from coterie.files.rows_file import write_rows
from coterie.settings.toml import provenance_toml

if TYPE_CHECKING:
    from coterie.publishing.publish import PublishedTable
    from coterie.releases.release import Release
    from coterie.settings.config import Config
    from coterie.table.encode import EncodedTable
    from coterie.table.grouping import Grouping
    from coterie.verification.verify import Verification


def write_settings(release: Release, path: str | os.PathLike[str], *, force: bool, **more: str) -> None:
    """Write the configuration and provenance of a release next to its path, before anything has that name."""
    text = provenance_toml(release.config, release.provenance(**more))
    with tables.whole_file(provenance_path(path), force=force) as sink:
        sink.write(text.encode())


class Place(Protocol):
    """The interface of the place where a release's rows are."""

    @property
    def blocks(self) -> int:
        """The number of blocks."""

    @property
    def libraries(self) -> tuple[str, ...]:
        """Other libraries that made it, whose versions are recorded."""

    @property
    def where(self) -> str:
        """Its name in the release's repr; "" for memory."""

    @property
    def path(self) -> Path | None:
        """The file or folder with all rows; None if they are in memory or on a cluster."""

    @property
    def rows(self) -> int:
        """The number of rows of the original."""

    @property
    def origin(self) -> Any:  # noqa: ANN401 - a path, an address, a table of a database, or nothing
        """The original's path, which may not be overwritten."""

    @property
    def held(self) -> HeldRows:
        """The rows in memory: all of them, or a sample of whole classes."""

    def frame(self, release: Release) -> AnyFrame:
        """Return the published table as the appropriate kind of frame."""

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the published rows in order, some at a time."""

    def classes_before(self, config: Config) -> ClassCounts:
        """Return the classes of the original."""

    def classes_after(self, config: Config) -> ClassCounts:
        """Return the classes of the release."""

    def missing(self) -> dict[str, int]:
        """Return column of the original → number of missing cells."""

    def record(self) -> dict[str, Any]:
        """Return the facts about input and output needed to reproduce the release."""

    def write(self, release: Release, path: str | os.PathLike[str], *, force: bool) -> None:
        """Write the release, with its provenance next to it."""

    def unpersist(self) -> None:
        """Release resources cached elsewhere."""


@dataclass(frozen=True, eq=False)
class HeldRows:
    """Rows of a release in memory, before and after."""

    source: tables.Source
    encoded: EncodedTable
    """the quasi-identifiers as codes"""
    grouping: Grouping
    """row of the table of codes → group → box"""
    published: PublishedTable
    verification: Verification
    """the verification of these rows"""
    complete: bool = True
    """whether they are all rows of the release"""
    blocks: int = 1
    libraries: tuple[str, ...] = ()
    where: str = ""
    path: None = None

    @property
    def rows(self) -> int:
        """The number of rows of the original."""
        return int(self.source.table.num_rows)

    @property
    def origin(self) -> Any:  # noqa: ANN401 - as the protocol has it
        """The original's path, which may not be overwritten."""
        return self.source.origin

    @property
    def held(self) -> HeldRows:
        """All rows are in memory."""
        return self

    def frame(self, release: Release) -> AnyFrame:
        """Return the published table as the caller's kind of frame, in the same row order; Arrow for files."""
        kept: Int64 | None = self.published.kept
        if len(self.published.kept) == self.rows and release.config.row_order == "original":
            kept = None
        quasi, keep_index = release.config.quasi, release.keep_index
        return tables.to_native(self.published.table, self.source, kept=kept, recoded=quasi, keep_index=keep_index)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the published rows in order, some at a time."""
        yield from self.published.table.to_batches()

    @cached_property
    def _people(self) -> pa.ChunkedArray | None:
        entity = self.encoded.book.config.entity
        return None if entity is None else self.source.table.column(entity)

    def classes_before(self, config: Config) -> ClassCounts:
        """Return the classes of the original."""
        return classes_of_table(self.source.table, config.quasi, self._people)

    def classes_after(self, config: Config) -> ClassCounts:
        """Return the classes of the release; people are counted in the original, which alone names them."""
        people = None if self._people is None else self._people.take(pa.array(self.published.kept))
        return classes_of_table(self.published.table, config.quasi, people)

    def missing(self) -> dict[str, int]:
        """Return column of the original → number of missing cells."""
        return {name: self.source.table.column(name).null_count for name in self.source.table.column_names}

    def record(self) -> dict[str, Any]:
        """Return the hash of the input, or its name if it has no bytes to hash."""
        if self.source.sha256 is not None:
            return {"input_sha256": self.source.sha256}
        return {"input": self.source.name} if self.source.kind == "file" else {}

    def write(self, release: Release, path: str | os.PathLike[str], *, force: bool) -> None:
        """Write the published table, with the configuration and provenance next to it."""
        if str(path) == "-":
            release.written["standard output"] = self._put(release, path)
            return
        # On a machine with less memory, `auto` might choose another engine and make a different release.
        config, settings = release.config, provenance_path(path)
        settled = config.replace(engine="memory") if config.engine == "auto" else config
        if (place := tables.place_of(path)) is not None:
            # Opened first, so that an unwritable folder is noticed before the table is written.
            with tables.whole_file(settings, force=force) as sink:
                self._put(release, path, force=force)
                sink.write(provenance_toml(settled, release.provenance(output=place.name)).encode())
        else:
            self._write_file(release, Path(path), settled, force=force)
        if config.row_order == "shuffle":
            write_rows(path, [self.published.kept], force=force)

    def _put(self, release: Release, path: str | os.PathLike[str], **how: Any) -> str:  # noqa: ANN401 - as `tables.write`
        how |= {"formulas": release.config.formulas, "repeated": self.published.repeated}
        return tables.write(self.published.table, path, like=self.source, **how)

    def _write_file(self, release: Release, path: Path, settled: Config, *, force: bool) -> None:
        """Write a file after its settings, so that no release is without them."""
        settings = provenance_path(path)
        check_target(settings, force=force)
        before = settings.exists()

        def beside(digest: str) -> None:
            write_settings(replace(release, config=settled), path, force=force, output_sha256=digest)

        try:
            digest = self._put(release, path, force=force, before_name=beside)
        except BaseException:
            if not before and not path.exists():
                settings.unlink(missing_ok=True)
            raise
        release.written[path.name] = digest

    def unpersist(self) -> None:
        """Do nothing: nothing is cached elsewhere."""
