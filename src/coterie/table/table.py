"""Table: rows as integer codes, the input of every method."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from coterie.arrays import Int32, Int64
from coterie.errors import DataError
from coterie.settings.fields.missing import LeafCounts
from coterie.table.costs import Measure, cost_arrays
from coterie.table.domain import Domain
from coterie.table.grouping import by_label

if TYPE_CHECKING:
    from coterie.grouping.population import Populations
    from coterie.kernels.search.costs import CostArrays

__all__ = ["Distinct", "Domain", "Table"]

# Row numbers are int32 in the kernels.
ROW_LIMIT = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Distinct:
    """The distinct rows of a table, numbered in order of first appearance."""

    codes: Int32
    """[m, d]"""
    of_row: Int32
    """row → distinct row"""
    start: Int64
    """distinct row → where its rows begin in `rows`; one more entry at the end"""
    rows: Int32
    """row numbers by distinct row, ascending within each"""

    @property
    def counts(self) -> Int32:
        """Distinct row → number of equal rows."""
        return np.diff(self.start).astype(np.int32)

    @property
    def first_row(self) -> Int32:
        """Distinct row → the first equal row."""
        first: Int32 = self.rows[self.start[:-1]]
        return first

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True, eq=False)
class Table:
    """The quasi-identifiers of n rows as codes, with the sensitive attributes."""

    codes: Int32
    """[n, d], C-contiguous"""
    domains: tuple[Domain, ...]
    sensitive_codes: Int32 = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int32))
    """[n, s]"""
    sensitive: tuple[Domain, ...] = ()
    leaf_counts: LeafCounts = "present"
    populations: Populations | None = None
    """population tables in the codes of this one, for k-map"""
    sensitive_totals: tuple[Int64, ...] | None = None
    """sensitive attribute → value → rows of the whole table, if this one is a part of it"""

    def __post_init__(self) -> None:
        if self.codes.dtype != np.int32 or self.codes.ndim != 2 or not self.codes.flags.c_contiguous:
            raise TypeError("codes must be a C-contiguous int32 array of two dimensions")
        if len(self.codes) > ROW_LIMIT:
            raise DataError(
                f"The table has {len(self.codes):,} rows; the limit is {ROW_LIMIT:,}.",
                hint="Split it into several files.",
            )

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.codes)

    def with_populations(self, populations: Populations | None) -> Table:
        """Return the same rows with other population tables, keeping what was computed about the rows."""
        other = replace(self, populations=populations)
        vars(other).update({name: vars(self)[name] for name in ("costs", "distinct") if name in vars(self)})
        return other

    @property
    def attributes(self) -> int:
        """The number of quasi-identifiers."""
        return len(self.domains)

    @cached_property
    def costs(self) -> CostArrays:
        """Weighted NCP of intervals, for kernels."""
        return self.costs_of(Measure("ncp", self.leaf_counts))

    def costs_of(self, measure: Measure) -> CostArrays:
        """Return weighted interval costs by another measure, for kernels."""
        return cost_arrays(self.domains, measure)

    @cached_property
    def distinct(self) -> Distinct:
        """The distinct rows."""
        from coterie.kernels.distinct import distinct_rows

        of_row, first = distinct_rows(self.codes)
        start = np.zeros(len(first) + 1, dtype=np.int64)
        np.cumsum(np.bincount(of_row, minlength=len(first)), out=start[1:])
        rows = by_label(of_row).astype(np.int32)
        return Distinct(np.ascontiguousarray(self.codes[first]), of_row, start, rows)
