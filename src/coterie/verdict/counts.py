"""Count classes on the published quasi-identifiers together with further columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.arrays import Int64
from coterie.disclosure.downcoding import PublishedClasses
from coterie.disclosure.order import Reader
from coterie.values.notation import published_names
from coterie.verification.cells import ColumnCells, TableCells, first_rows, numbered, read_cells
from coterie.verification.counts import CellCounts, CellPairs, ClassValues, Counter, PeopleCounts

# Keys of several columns are combined into one int64 below this limit.
ROOM = 2**62
# Keys are counted by position instead of by hash if there are at most this many positions per row.
DENSE = 8


class Exposure(NamedTuple):
    """The number of rows that share their values with few others."""

    unique: int
    """rows whose values no other row, or no other person's row, shares"""
    below: int
    """rows whose values fewer than k share"""
    smallest: int
    """the smallest class, in people if known"""
    people: int
    """people who are unique"""

    @classmethod
    def of(cls, counts: PeopleCounts, k: int) -> Exposure:
        """Return the exposure for classes of these sizes."""
        rows = counts.rows * counts.classes
        alone, few = counts.people <= 1, counts.people < k
        smallest = int(counts.people.min()) if len(counts.people) else 0
        return cls(int(rows[alone].sum()), int(rows[few].sum()), smallest, int(counts.classes[alone].sum()))


class PublishedRows(Protocol):
    """The interface to a published table that the verdict uses."""

    @property
    def rows(self) -> int:
        """The number of rows."""

    @property
    def counts_people(self) -> bool:
        """Whether classes are counted in people."""

    @property
    def held(self) -> bool:
        """Whether the rows are in memory, where repeated counting is cheap."""

    def sizes(self, columns: Sequence[str]) -> PeopleCounts:
        """Return the class sizes on the quasi-identifiers and these columns."""

    def cells(self, column: str) -> CellCounts:
        """Return the distinct cells of a column."""

    def values(self, column: str) -> Iterator[ClassValues]:
        """Yield class on the quasi-identifiers × value of a column → rows, in pieces; the last value is missing."""

    def read(self, columns: Sequence[str]) -> Iterable[pa.Table]:
        """Return some columns in the order of the rows, some rows at a time."""

    def classes_of(self, quasi: Sequence[str]) -> Iterable[PublishedClasses]:
        """Return what is published of the quasi-identifiers in each class, some classes at a time."""


@dataclass(frozen=True, eq=False)
class TableRows:
    """A published table in memory."""

    table: pa.Table
    of_row: Int64
    """row → class of the rows that it is hidden among"""
    classes: int
    who: pa.ChunkedArray | None = None
    """row → person, where a person may have several"""

    held = True

    @property
    def rows(self) -> int:
        """The number of rows of the table."""
        return len(self.of_row)

    @property
    def counts_people(self) -> bool:
        """Whether classes are counted in people."""
        return self.who is not None

    @cached_property
    def _people(self) -> ColumnCells | None:
        return None if self.who is None else read_cells(self.who, name="entity")

    @cached_property
    def _cells(self) -> TableCells:
        return TableCells(self.table)

    def sizes(self, columns: Sequence[str]) -> PeopleCounts:
        """Return the class sizes on the quasi-identifiers and these columns."""
        of_row, span = self.of_row, self.classes
        for column in columns:
            cells = self._cells[column]
            if span * (len(cells.values) + 1) >= ROOM:
                of_row, span = numbered(of_row)
            span *= len(cells.values) + 1
            of_row = of_row * (len(cells.values) + 1) + cells.of_row
        if self._people is None:
            rows = _counted(of_row, span)
            return PeopleCounts(rows, rows, np.ones_like(rows))
        of_row, classes = numbered(of_row)
        rows = np.bincount(of_row, minlength=classes).astype(np.int64)
        people = len(self._people.values) + 1
        pairs = pa.array(of_row * people + self._people.of_row).unique().to_numpy(zero_copy_only=False)
        return PeopleCounts(np.bincount(pairs // people, minlength=classes).astype(np.int64), rows, np.ones_like(rows))

    def cells(self, column: str) -> CellCounts:
        """Return the distinct cells of a column."""
        values, of_row = self._cells[column]
        rows = np.bincount(of_row, minlength=len(values) + 1).astype(np.int64)
        return CellCounts(values, rows[:-1], int(rows[-1]))

    def values(self, column: str) -> Iterator[ClassValues]:
        """Yield class × value → rows, in one piece."""
        if self.rows:
            cells = self._cells[column]
            yield ClassValues.count(self.of_row, cells.of_row, values=len(cells.values) + 1)

    def read(self, columns: Sequence[str]) -> Iterable[pa.Table]:
        """Return all rows, in one piece."""
        return [self.table]

    def classes_of(self, quasi: Sequence[str]) -> Iterable[PublishedClasses]:
        """Return the classes, in one piece."""
        names = published_names(self.table.column_names, quasi)
        first = first_rows(self.of_row, self.classes)
        sizes = np.bincount(self.of_row, minlength=self.classes).astype(np.int64)
        return [PublishedClasses(self.table.select(names).take(pa.array(first)), sizes)]

    def take(self, rows: Int64) -> TableRows:
        """Return some of the rows."""
        kept = pa.array(rows)
        who = None if self.who is None else self.who.take(kept)
        return TableRows(self.table.take(kept), *numbered(self.of_row[rows]), who)


@dataclass(frozen=True, eq=False)
class CounterRows:
    """A published table counted by an engine, such as one on disk."""

    counter: Callable[[Sequence[str]], Counter]
    """further columns → a counter of classes on the quasi-identifiers and these"""
    rows: int
    read: Reader
    """some columns → their cells in the order of the rows"""

    held = False

    @property
    def counts_people(self) -> bool:
        """Whether classes are counted in people."""
        return self.counter(()).people() is not None

    def sizes(self, columns: Sequence[str]) -> PeopleCounts:
        """Return the class sizes on the quasi-identifiers and these columns."""
        counter = self.counter(columns)
        people = counter.people()
        if people is not None:
            return people
        found = counter.sizes()
        return PeopleCounts(found.rows, found.rows, found.classes)

    def cells(self, column: str) -> CellCounts:
        """Return the distinct cells of a column."""
        return self.counter(()).cells(column)

    def values(self, column: str) -> Iterator[ClassValues]:
        """Yield class × value → rows, some thousand classes at a time."""
        values = self.cells(column).values

        def look(pairs: CellPairs) -> ClassValues:
            places = _places(pairs.cells, values) if pairs.places is None else pairs.places
            return ClassValues.count(pairs.of, places, values=len(values) + 1, rows=pairs.rows)

        yield from self.counter(()).by_value(column, look)

    def classes_of(self, quasi: Sequence[str]) -> Iterable[PublishedClasses]:
        """Return the classes, some thousand at a time."""
        return self.counter(()).by_class(lambda cells: PublishedClasses(cells.table, cells.sizes))


def _places(cells: pa.Array | None, values: pa.Array) -> Int64:
    found = pc.index_in(cells, value_set=values).cast(pa.int64()).fill_null(len(values))
    places: Int64 = found.to_numpy(zero_copy_only=False)
    return places


def _counted(keys: Int64, span: int) -> Int64:
    """Count the rows of each key that occurs."""
    if span <= DENSE * max(len(keys), 1):
        counts = np.bincount(keys, minlength=1)
        return counts[counts > 0].astype(np.int64)
    found: Int64 = pa.array(keys).value_counts().field("counts").to_numpy(zero_copy_only=False)
    return found
