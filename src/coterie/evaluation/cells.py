"""The meaning of published cells, each spread evenly over its possible values.

A cell is a value, an interval, a set, a hierarchy label or `*`. A reader who knows only the release
considers every value that a cell admits equally likely. This module defines that one assumption, which queries,
learning and distributions share:

* integers and dates: every integer (day, second, …) in the interval is equally likely;
* other numbers: the length of the interval counts;
* categories: every value present in the table under the published label, or in the published set;
* a cell that could also be missing: missing counts as one more distinct value.

In an original table every cell is a single value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coterie.arrays import Bool, Float64, Int32, Int64, Integers
from coterie.values.axis import axis_of

if TYPE_CHECKING:
    from coterie.table.domain import Domain


class Span(NamedTuple):
    """A range of numbers, as distances from the column's smallest value."""

    low: float
    high: float
    low_open: bool = False
    """whether the lower end is excluded"""
    high_open: bool = False


@dataclass(frozen=True, eq=False)
class Predicate:
    """A condition on one column: the values that satisfy it."""

    column: str
    mask: Bool
    """code → whether the value satisfies it"""
    spans: tuple[Span, ...] | None = None
    """numbers only: the same as disjoint ranges, for values that are not in the original"""


@dataclass(frozen=True, eq=False)
class Cells:
    """One column: its distinct cells, the values that each admits, and the cell of each row."""

    domain: Domain
    of_row: Int64
    """row → distinct cell"""
    lo: Int32
    """cell → smallest code that it admits"""
    hi: Int32
    """cell → largest code"""
    low: Float64
    """numbers: cell → smallest number, as the distance from the column's smallest; NaN if it can only be missing"""
    high: Float64
    """numbers: cell → largest number"""
    blank: Float64
    """numbers: cell → probability that it is missing"""
    set_of: Int64
    """cell → its set in `sets`, or −1: then it admits all codes from lo to hi"""
    sets: Sequence[Int64] = ()
    """sets of codes"""

    @property
    def count(self) -> int:
        """The number of distinct cells."""
        return len(self.lo)

    @cached_property
    def rows(self) -> Int64:
        """Cell → number of rows with it."""
        return np.bincount(self.of_row, minlength=self.count)

    @cached_property
    def exact(self) -> Bool:
        """Cell → whether it is a single value."""
        return np.asarray((self.lo == self.hi) & (self.set_of < 0))

    @cached_property
    def root(self) -> Bool:
        """Cell → whether it admits every value of a column with more than one."""
        return np.asarray((self.lo == 0) & (self.hi == self.domain.size - 1) & (self.set_of < 0) & ~self.exact)

    @cached_property
    def whole(self) -> bool:
        """For numbers: whether only integers are counted."""
        return is_whole(self.domain)

    def share(self, predicate: Predicate) -> Float64:
        """Return cell → probability, 0 to 1, that a value of it satisfies the predicate."""
        if predicate.spans is None:
            return self.mean_over_codes(predicate.mask.astype(np.float64))
        found = np.zeros(self.count)
        for span in predicate.spans:
            found += self._overlap(span)[0]
        found = np.minimum(found, 1.0)
        if self.domain.missing < 0:
            return found
        return (1.0 - self.blank) * found + self.blank * float(predicate.mask[self.domain.missing])

    def moment(self, predicate: Predicate | None, values: Float64) -> Float64:
        """Return cell → expected number where the predicate holds and 0 elsewhere: a row's contribution to a sum.

        Args:
            predicate: On this column; None for no condition.
            values: Code → number, NaN for missing values, which add nothing.
        """
        numbers = np.nan_to_num(values, nan=0.0)
        if self.domain.kind != "number":
            return self.mean_over_codes(numbers if predicate is None else np.where(predicate.mask, numbers, 0.0))
        base = float(numbers[0])
        if predicate is None:
            middle = np.nan_to_num((self.low + self.high) / 2) + base
            return np.where(self.blank < 1.0, (1.0 - self.blank) * middle, 0.0)
        found = np.zeros(self.count)
        for span in predicate.spans or ():
            share, middle = self._overlap(span)
            found += share * (middle + base)
        return (1.0 - self.blank) * found

    def middle(self) -> Float64:
        """Return, for numbers, cell → its midpoint as a distance from the smallest value; NaN if surely missing."""
        return (self.low + self.high) / 2

    def mean_over_codes(self, weights: Float64) -> Float64:
        """Return cell → mean weight of the codes that it admits."""
        before = np.concatenate([[0.0], np.cumsum(weights)])
        found: Float64 = (before[self.hi + 1] - before[self.lo]) / (self.hi - self.lo + 1)
        # Differences of sums have rounding errors; single values must be exact.
        found[self.exact] = weights[self.lo[self.exact]]
        if self.sets:
            sizes = np.asarray([len(codes) for codes in self.sets], dtype=np.int64)
            starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
            means = np.add.reduceat(weights[np.concatenate(self.sets)], starts) / sizes
            is_set = self.set_of >= 0
            found[is_set] = means[self.set_of[is_set]]
        return found

    def _overlap(self, span: Span) -> tuple[Float64, Float64]:
        """Return cell → its share inside the span, and the midpoint of that part (0 if there is none)."""
        above = self.low > span.low if span.low_open else self.low >= span.low
        below = self.high < span.high if span.high_open else self.high <= span.high
        point = self.low == self.high
        start, end, unit = span.low, span.high, 0.0
        if self.whole:
            start = np.floor(start) + 1.0 if span.low_open else np.ceil(start)
            end = np.ceil(end) - 1.0 if span.high_open else np.floor(end)
            unit = 1.0
        first, last = np.maximum(start, self.low), np.minimum(end, self.high)
        length = np.where(last >= first, last - first + unit, 0.0)
        width = np.where(point, 1.0, self.high - self.low + unit)
        share = np.where(point, (above & below).astype(np.float64), length / width)
        middle = np.where(point, self.low, (first + last) / 2)
        inside = share > 0.0
        return np.where(inside, share, 0.0), np.where(inside, middle, 0.0)


def is_whole(domain: Domain) -> bool:
    """Return whether a column has integers, or dates, which are integers in days or smaller units."""
    return domain.numbers is not None and axis_of(domain).whole


def present_numbers(domain: Domain) -> Float64:
    """Return code → distance from the smallest value, without the code of missing values."""
    assert domain.numbers is not None
    return domain.numbers if domain.missing < 0 else domain.numbers[:-1]


def inside(numbers: Float64, spans: Sequence[Span]) -> Bool:
    """Return number → whether it lies in one of these spans."""
    mask = np.zeros(len(numbers), dtype=np.bool_)
    for span in spans:
        above = numbers > span.low if span.low_open else numbers >= span.low
        mask |= above & (numbers < span.high if span.high_open else numbers <= span.high)
    return mask


def span_predicate(domain: Domain, spans: Sequence[Span]) -> Predicate:
    """Return the condition that a number lies in one of these disjoint spans."""
    found = codes_predicate(domain, np.flatnonzero(inside(present_numbers(domain), spans)))
    return replace(found, spans=tuple(spans))


def codes_predicate(domain: Domain, codes: Integers | Sequence[int] | slice) -> Predicate:
    """Return the condition that a value is one of these codes."""
    mask = np.zeros(domain.size, dtype=np.bool_)
    mask[codes] = True
    return Predicate(domain.name, mask)


def original_cells(domain: Domain, codes: Integers) -> Cells:
    """Return the cells of an original column: each code is a cell that admits only itself."""
    every = np.arange(domain.size, dtype=np.int32)
    numbers = np.full(domain.size, np.nan) if domain.numbers is None else domain.numbers
    return Cells(
        domain,
        codes.astype(np.int64),
        every,
        every,
        numbers,
        numbers,
        (every == domain.missing).astype(np.float64),
        np.full(domain.size, -1, dtype=np.int64),
    )
