"""Where the rows of a release lie: in memory, in a file, on Spark. A `Release` is the same in all of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from coterie.arrays import AnyFrame, Int64
from coterie.disclosure.risk import ClassCounts, classes_of_table
from coterie.files import tables
from coterie.files.output import provenance_path
from coterie.files.rows_file import write_rows
from coterie.settings.toml import provenance_toml

if TYPE_CHECKING:
    from coterie.publishing.publish import PublishedTable
    from coterie.releases.release import Release
    from coterie.settings.config import Config
    from coterie.table.encode import EncodedTable
    from coterie.table.grouping import Grouping
    from coterie.verification.verify import Verification


class Place(Protocol):
    """What a release asks of the place where its rows lie."""

    @property
    def blocks(self) -> int:
        """Into how many the table was cut."""

    @property
    def libraries(self) -> tuple[str, ...]:
        """What else made it: their versions are kept beside it."""

    @property
    def where(self) -> str:
        """What to call it where a release shows itself; "" for memory."""

    @property
    def path(self) -> Path | None:
        """The file or folder in which all rows are; None where they are in memory, or on a cluster."""

    @property
    def rows(self) -> int:
        """Rows of the original."""

    @property
    def origin(self) -> Any:  # noqa: ANN401 - a path, an address, a table of a database, or nothing
        """Where the original was read: nothing may be written there."""

    @property
    def held(self) -> HeldRows:
        """The rows in memory: all of them, or a sample of whole classes."""

    def frame(self, release: Release) -> AnyFrame:
        """The published table as the kind of frame that belongs here."""

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The published rows in their order, some at a time."""

    def classes_before(self, config: Config) -> ClassCounts:
        """The classes of the original."""

    def classes_after(self, config: Config) -> ClassCounts:
        """The classes of the release."""

    def missing(self) -> dict[str, int]:
        """Column of the original → cells without a value."""

    def record(self) -> dict[str, Any]:
        """What is to be known of input and output, to make the release again."""

    def write(self, release: Release, path: str | os.PathLike[str], *, force: bool) -> None:
        """Write the release, with what it takes to make it again beside it."""

    def unpersist(self) -> None:
        """Forget what is kept elsewhere."""


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
    """the check of these rows"""
    complete: bool = True
    """whether they are all rows of the release"""
    blocks: int = 1
    libraries: tuple[str, ...] = ()
    where: str = ""
    path: None = None

    @property
    def rows(self) -> int:
        """Rows of the original."""
        return int(self.source.table.num_rows)

    @property
    def origin(self) -> Any:  # noqa: ANN401 - as the protocol has it
        """Where the original was read: nothing may be written there."""
        return self.source.origin

    @property
    def held(self) -> HeldRows:
        """All rows are in memory."""
        return self

    def frame(self, release: Release) -> AnyFrame:
        """The published table as the kind of frame that came in, in the same row order; Arrow for files."""
        kept: Int64 | None = self.published.kept
        if len(self.published.kept) == self.rows and release.config.row_order == "original":
            kept = None
        quasi, keep_index = release.config.quasi, release.keep_index
        return tables.to_native(self.published.table, self.source, kept=kept, recoded=quasi, keep_index=keep_index)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The published rows in their order, some at a time."""
        yield from self.published.table.to_batches()

    @cached_property
    def _people(self) -> pa.ChunkedArray | None:
        entity = self.encoded.book.config.entity
        return None if entity is None else self.source.table.column(entity)

    def classes_before(self, config: Config) -> ClassCounts:
        """The classes of the original."""
        return classes_of_table(self.source.table, config.quasi, self._people)

    def classes_after(self, config: Config) -> ClassCounts:
        """The classes of the release; people are counted in the original, which alone names them."""
        people = None if self._people is None else self._people.take(pa.array(self.published.kept))
        return classes_of_table(self.published.table, config.quasi, people)

    def missing(self) -> dict[str, int]:
        """Column of the original → cells without a value."""
        return {name: self.source.table.column(name).null_count for name in self.source.table.column_names}

    def record(self) -> dict[str, Any]:
        """The hash of the input, or the name of what has no bytes to hash."""
        if self.source.sha256 is not None:
            return {"input_sha256": self.source.sha256}
        return {"input": self.source.name} if self.source.kind == "file" else {}

    def write(self, release: Release, path: str | os.PathLike[str], *, force: bool) -> None:
        """Write the published table, and beside it the configuration with what is needed to trace the release."""
        if str(path) == "-":
            release.written["standard output"] = tables.write(self.published.table, path, like=self.source)
            return
        # Begun first, so that a folder that takes no file is found out before a table is in its place.
        with tables.whole_file(provenance_path(path), force=force) as sink:
            digest = tables.write(self.published.table, path, like=self.source, force=force)
            if (place := tables.place_of(path)) is not None:
                record = release.provenance(output=place.name)
            else:
                release.written[Path(path).name] = digest
                record = release.provenance(output_sha256=digest)
            # Elsewhere, with less memory, `auto` might take another engine, and so make another release.
            config = release.config
            settled = config.replace(engine="memory") if config.engine == "auto" else config
            sink.write(provenance_toml(settled, record).encode())
        if config.row_order == "shuffle":
            write_rows(path, self.published.kept, force=force)

    def unpersist(self) -> None:
        """Nothing is kept elsewhere."""
