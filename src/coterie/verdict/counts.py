"""Count classes on the published quasi-identifiers together with further columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from coterie.arrays import Int64
from coterie.disclosure.order import Reader, in_memory
from coterie.verification.arrow import ArrowCounter
from coterie.verification.cells import numbered
from coterie.verification.counts import CellCounts, CellPairs, ClassCells, ClassValues, Counter, PeopleCounts


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


@dataclass(frozen=True, eq=False)
class PublishedRows:
    """A published table, counted in memory or by an engine, such as one on disk."""

    counter: Callable[[Sequence[str]], Counter]
    """further columns → a counter of classes on the quasi-identifiers and these"""
    rows: int
    read: Reader
    """some columns → their cells in the order of the rows"""
    held: ArrowCounter | None = None
    """the rows and their classes, if they are in memory, where repeated counting is cheap"""

    @classmethod
    def of_table(cls, held: ArrowCounter) -> PublishedRows:
        """Return a published table in memory, whose classes are those of the rows that each row is hidden among."""
        return cls(held.refined, held.table.num_rows, in_memory(held.table), held)

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
        """Yield class on the quasi-identifiers × value of a column → rows, in pieces; the last value is missing."""
        values = self.cells(column).values

        def look(pairs: CellPairs) -> ClassValues:
            places = _places(pairs.cells, values) if pairs.places is None else pairs.places
            return ClassValues.count(pairs.of, places, values=len(values) + 1, rows=pairs.rows)

        yield from self.counter(()).by_value(column, look)

    def classes(self) -> Iterable[ClassCells]:
        """Return what is published of the quasi-identifiers in each class, some classes at a time."""
        return (self.held or self.counter(())).by_class(lambda cells: cells)


def taken(held: ArrowCounter, rows: Int64) -> PublishedRows:
    """Return some rows of a table in memory."""
    kept = pa.array(rows)
    who = None if held.who is None else held.who.take(kept)
    known = numbered(held.of_row[rows])
    return PublishedRows.of_table(ArrowCounter(held.table.take(kept), held.names, who=who, known=known))


def _places(cells: pa.Array | None, values: pa.Array) -> Int64:
    found = pc.index_in(cells, value_set=values).cast(pa.int64()).fill_null(len(values))
    places: Int64 = found.to_numpy(zero_copy_only=False)
    return places
