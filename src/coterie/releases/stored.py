"""A release in a file that is never in memory whole: its classes are counted on disk, and a sample of them is read."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from coterie.arrays import AnyFrame, Int64
from coterie.disclosure.risk import ClassCounts
from coterie.errors import ConfigError, Problem
from coterie.files.output import provenance_path, whole_file
from coterie.files.rows_file import read_rows, write_rows
from coterie.settings.toml import provenance_toml

if TYPE_CHECKING:
    from coterie.files.batches import TableFile
    from coterie.releases.place import HeldRows
    from coterie.releases.release import Release
    from coterie.settings.config import Config
    from coterie.table.codebook import Codebook
    from coterie.verification.counts import PeopleCounts, SizeCounts
    from coterie.verification.sql import HiddenColumn


@dataclass(frozen=True, eq=False)
class StoredRows:
    """The rows of a release in a file, or in a folder of Parquet files."""

    path: Path
    original: TableFile | None = field(repr=False)
    """the original file; None if only Spark can open it"""
    book: Codebook = field(repr=False)
    blocks: int
    sizes: SizeCounts = field(repr=False)
    """the classes of the release, as they were counted for the check"""
    people: PeopleCounts | None = field(repr=False)
    removed: Int64 = field(repr=False)
    """positions of the removed rows of the original, ascending"""
    output_sha256: str = field(repr=False)
    """of the file; for a folder, of the digests of its files in order"""
    reading: Config = field(repr=False)
    """how to read the file"""
    bounder: Callable[[TableFile], float] = field(repr=False)
    """computes the lower bound of groupings that respect the blocks, from the original"""
    libraries: tuple[str, ...] = ("duckdb",)
    """other libraries that made it, whose versions are recorded"""

    @cached_property
    def blocks_bound(self) -> float:
        """What every grouping that respects the blocks loses at least, per cell."""
        return self.bounder(self._read)

    @property
    def where(self) -> str:
        """The release's path."""
        return self.path.name

    @property
    def rows(self) -> int:
        """The number of rows of the original."""
        return self.book.all_rows

    @property
    def origin(self) -> str | None:
        """The original's path."""
        return None if self.original is None else str(self._read.parts[0].path)

    @property
    def _read(self) -> TableFile:
        """The original, if it can be read again."""
        if self.original is None:
            raise needs_rows("what compares with the original", "only Spark can open it")
        return self.original

    @cached_property
    def held(self) -> HeldRows:
        """A sample of whole classes, read from the release and the original; all rows if they are few."""
        from coterie.releases.sample import sample_of

        return sample_of(
            self.batches(),
            self._read,
            self.book,
            positions=self._positions_in_order if self.shuffled else self.positions,
            rows=int((self.sizes.rows * self.sizes.classes).sum()),
        )

    @property
    def shuffled(self) -> bool:
        """Whether its rows are in a secret order, saved next to it."""
        return self.book.config.row_order == "shuffle"

    def positions(self, places: Int64) -> Int64:
        """Return positions in the original of the p-th rows that were not removed."""
        # As many positions further as were removed before it.
        return places + np.searchsorted(self.removed - np.arange(len(self.removed)), places, side="right")

    def _positions_in_order(self, places: Int64) -> Int64:
        """Return positions in the original of published rows, ascending, from the order saved next to the release."""
        found, start = [np.zeros(0, dtype=np.int64)], 0
        for some in read_rows(self.path):
            first, last = np.searchsorted(places, [start, start + len(some)])
            found.append(some[places[first:last] - start])
            start += len(some)
        return np.concatenate(found)

    def persons(self, entity: str) -> HiddenColumn:
        """Return the person of each published row, in the order of the release, from a column of the original."""
        from coterie.verification.sql import people_column

        return people_column(self._read, entity, self.removed)

    def frame(self, release: Release) -> AnyFrame:
        """Return the published table, loaded whole as an Arrow table."""
        return pa.Table.from_batches(self.batches())

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the published rows in order, some at a time."""
        from coterie.files.batches import open_table

        if str(self.path) == "-":
            raise needs_rows("what reads the release again", "it went to standard output")
        yield from open_table(self.path, self.reading).batches()

    def classes_before(self, config: Config) -> ClassCounts:
        """Return the classes of the original, counted by DuckDB."""
        from coterie.verification.duckdb_counts import count_classes

        return class_counts(*count_classes(self._read, config))

    def classes_after(self, config: Config) -> ClassCounts:
        """Return the classes of the release, as counted for verification."""
        return class_counts(self.sizes, self.people)

    def missing(self) -> dict[str, int]:
        """Return column of the original → number of missing cells, counted in one pass."""
        found = np.zeros(len(self._read.schema), dtype=np.int64)
        for batch in self._read.batches():
            found += [column.null_count for column in batch.columns]
        return dict(zip(self._read.schema.names, found.tolist(), strict=True))

    def record(self) -> dict[str, Any]:
        """Return the hashes of input and output."""
        return {
            "blocks": self.blocks,
            "input_sha256": "" if self.original is None else self.original.stamp.sha256,
            "output_sha256": self.output_sha256,
        }

    def write(self, release: Release, path: str | os.PathLike[str], *, force: bool) -> None:
        """Copy the release and its settings to another path of the same kind."""
        target = Path(path)
        if self.path.is_dir() or self.path.suffixes != target.suffixes:
            text = f"{self.path.name} is already written and can only be copied; use the same file extension"
            raise ConfigError([Problem("output", text)])
        with whole_file(provenance_path(target), force=force) as beside, whole_file(target, force=force) as sink:
            with self.path.open("rb") as file:
                shutil.copyfileobj(file, sink)
            beside.write(provenance_toml(release.config, release.provenance()).encode())
        if self.shuffled:
            write_rows(target, read_rows(self.path), force=force)

    def unpersist(self) -> None:
        """Do nothing: nothing is cached elsewhere."""


def class_counts(sizes: SizeCounts, people: PeopleCounts | None) -> ClassCounts:
    """Convert a counter's result to class counts for risk."""
    if people is None:
        return ClassCounts(sizes.rows, sizes.rows * sizes.classes, sizes.classes)
    return ClassCounts(people.people, people.rows * people.classes, people.classes, "people")


def needs_rows(what: str, why: str) -> ConfigError:
    """Return the error for what needs rows that are not in memory."""
    return ConfigError([Problem("engine", f"{what} is not available for this release: {why}; use engine memory")])
