"""Count a published table in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
import pyarrow as pa

from coterie.arrays import Int64, in_threads
from coterie.verification.cells import MARK, ColumnCells, TableCells, equal_rows, first_rows, is_text, read_cells
from coterie.verification.counts import CellCounts, CellPairs, ClassCells, PeopleCounts, SizeCounts

Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class ArrowCounter:
    """A published table in memory, in one piece; classes are numbered by their first rows."""

    table: pa.Table
    names: Sequence[str]
    """the published columns of the quasi-identifiers"""
    roots: Mapping[str, str] = field(default_factory=dict)
    """column → the text of a suppressed cell if that is not `*`"""
    who: pa.ChunkedArray | None = None
    """row → person"""
    known: tuple[Int64, int] | None = None
    """row → class and the number of classes, if already known"""
    known_cells: TableCells | None = None
    """what was read of the table already, if anything"""

    @cached_property
    def _read(self) -> TableCells:
        return TableCells(self.table) if self.known_cells is None else self.known_cells

    @cached_property
    def columns(self) -> list[ColumnCells]:
        """The cells of the quasi-identifiers."""
        return list(in_threads(self._read.__getitem__, self.names))

    @cached_property
    def classes(self) -> tuple[Int64, int]:
        """Row → class, and the number of classes."""
        return equal_rows(self.columns) if self.known is None else self.known

    def refined(self, columns: Sequence[str]) -> ArrowCounter:
        """Return a counter of the classes on these columns too, which knows no cells of the quasi-identifiers."""
        classes = equal_rows([self._read[name] for name in columns], self.classes) if columns else self.classes
        return replace(self, names=(), known=classes, known_cells=self._read)

    @property
    def of_row(self) -> Int64:
        """Row → class."""
        return self.classes[0]

    @cached_property
    def rows(self) -> Int64:
        """Class → number of rows."""
        return np.bincount(self.of_row, minlength=self.classes[1]).astype(np.int64)

    @cached_property
    def _first(self) -> Int64:
        """Class → its first row."""
        return first_rows(*self.classes)

    def sizes(self) -> SizeCounts:
        """Return the sizes of the classes, one by one."""
        missing, blank = np.zeros_like(self.rows), np.ones(len(self.rows), dtype=np.bool_)
        for name, cells in zip(self.names, self.columns, strict=True):
            shown = ColumnCells(cells.values, cells.of_row[self._first])
            missing += shown.missing * self.rows
            blank &= shown.suppressed(self.roots.get(name, MARK))
        marked = any(is_text(cells.values.type) for cells in self.columns)
        return SizeCounts(self.rows, np.ones_like(self.rows), missing, blank, marked)

    def people(self) -> PeopleCounts | None:
        """Return the number of people in each class, if rows are known to be of people."""
        if self.who is None:
            return None
        who = read_cells(self.who, name="entity")
        pairs = pa.array(self.of_row * (len(who.values) + 1) + who.of_row).unique().to_numpy(zero_copy_only=False)
        people = np.bincount(pairs // (len(who.values) + 1), minlength=len(self.rows)).astype(np.int64)
        return PeopleCounts(people, self.rows, np.ones_like(self.rows))

    def cells(self, column: str) -> CellCounts:
        """Return the distinct cells of a sensitive attribute."""
        values, of_row = self._read[column]
        rows = np.bincount(of_row, minlength=len(values) + 1).astype(np.int64)
        return CellCounts(values, rows[:-1], int(rows[-1]))

    def by_value(self, column: str, look: Callable[[CellPairs], Found]) -> Iterator[Found]:
        """Yield all rows with their sensitive values, as one piece; nothing if there are none."""
        if len(self.of_row):
            yield look(CellPairs(self.of_row, None, self._read[column].of_row, None))

    def by_class(self, look: Callable[[ClassCells], Found]) -> Iterator[Found]:
        """Yield the first row of every class, as one piece; nothing if there are none."""
        if len(self.of_row):
            yield look(ClassCells(self.table.select(list(self.names)).take(pa.array(self._first)), self.rows))
