"""Ends of intervals rounded outward: what is published is wider than the rows, so that its ends are nobody's values.

The lower end goes down to a multiple of the step, the upper end up to one, and no interval is narrower than a step: a
single value that is a multiple itself becomes the interval up to the next one. Boxes are widened to all values that the
published interval admits, so that every measure counts what is published. What is rounded already stays as it is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa

from coterie.arrays import Bool, Int32
from coterie.values.scalars import EXACT, decimal_text, parse_number

if TYPE_CHECKING:
    from coterie.table.domain import Domain
    from coterie.table.grouping import Grouping


class RoundedEnds(NamedTuple):
    """Code → the ends of the interval that it would be published as by itself; missing values have none."""

    low: list[Decimal]
    high: list[Decimal]
    exact: Bool
    """whether the value is a multiple of the step: its upper end is its own only in an interval that begins below it"""
    first: Int32
    """the smallest code that the lower end admits"""
    last: Int32
    """the largest code that the upper end admits"""
    alone: Int32
    """the largest code that the interval of this value alone admits"""


# Cached, since ends are needed repeatedly; freed with their columns.
_KNOWN: WeakKeyDictionary[Domain, RoundedEnds] = WeakKeyDictionary()


def rounded_ends(domain: Domain) -> RoundedEnds:
    """Return the rounded ends of every value of a column that has a step."""
    if domain not in _KNOWN:
        _KNOWN[domain] = _rounded(domain)
    return _KNOWN[domain]


def _rounded(domain: Domain) -> RoundedEnds:
    assert domain.step is not None
    values = domain.values if domain.missing < 0 else domain.values[:-1]
    numbers = [_number(text) for text in values.cast(pa.string()).to_pylist()]
    low = [_down(number, domain.step) for number in numbers]
    exact = np.array([number == below for number, below in zip(numbers, low, strict=True)], dtype=np.bool_)
    high = [below if same else EXACT.add(below, domain.step) for below, same in zip(low, exact, strict=True)]
    first = [bisect_left(numbers, end) for end in low]
    last = [bisect_right(numbers, end) - 1 for end in high]
    alone = [bisect_right(numbers, EXACT.add(end, domain.step)) - 1 for end in low]
    return RoundedEnds(low, high, exact, *(np.array(each, dtype=np.int32) for each in (first, last, alone)))


def _number(text: str) -> Decimal:
    number = parse_number(text)
    assert number is not None
    return number


def _down(number: Decimal, step: Decimal) -> Decimal:
    units = EXACT.divide_int(number, step)
    below = EXACT.multiply(units, step)
    # `divide_int` rounds towards 0.
    return EXACT.subtract(below, step) if below > number else below


def ends_of(domain: Domain, lo: int, hi: int) -> tuple[Decimal, Decimal]:
    """Return the ends of what is published of an interval of codes, none of which is missing."""
    found = rounded_ends(domain)
    low, high = found.low[lo], found.high[hi]
    assert domain.step is not None
    return low, EXACT.add(high, domain.step) if low == high else high


def end_texts(domain: Domain, lo: Int32, hi: Int32) -> tuple[list[str], list[str]]:
    """Return the texts of both ends of many intervals."""
    pairs = [ends_of(domain, *pair) for pair in zip(lo.tolist(), hi.tolist(), strict=True)]
    return [decimal_text(low) for low, _ in pairs], [decimal_text(high) for _, high in pairs]


def round_outward(grouping: Grouping, domains: Sequence[Domain]) -> Grouping:
    """Widen boxes to all values that their rounded intervals admit."""
    if all(domain.step is None for domain in domains):
        return grouping
    lo, hi = grouping.lo.copy(), grouping.hi.copy()
    for at, domain in enumerate(domains):
        if domain.step is None:
            continue
        # Missing values are not rounded; groups with them are already `*`.
        known = np.flatnonzero(hi[:, at] != domain.missing)
        ends = rounded_ends(domain)
        low, high = lo[known, at], hi[known, at]
        single = ends.exact[high] & (ends.first[low] == ends.first[high])
        lo[known, at] = ends.first[low]
        hi[known, at] = np.where(single, ends.alone[high], ends.last[high])
    return replace(grouping, lo=lo, hi=hi)
