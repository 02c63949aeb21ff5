"""The promise of rings, checked from the published cells.

Where rows are published one by one, there are no classes of k equal rows to count. The promise is another one:

1. Each original row lies inside the boxes of at least k published rows, and each published box holds at least k
   original rows.
2. Not only that: these pairs of rows make a graph that consists of k one-to-one assignments of all rows to all boxes.
   So no pair can be ruled out because the others would not fit any more, and a random choice among the k assignments
   makes all k published rows equally likely for each original row.
3. The assignment that was published is within that graph: every row lies inside the box that is published for it.

This module is given the ring of the rows, the boxes read from the published table, and which row is published with
which box. It counts by itself; that the choice was random and is secret, no table can show.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coterie.arrays import Bool, Int32, Int64
from coterie.verification.verify import Check, Classes, Rule

NAME = "k-anonymity by rows"


class RowCounts(NamedTuple):
    """How many partners rows and boxes have within the ring."""

    holds: Int64
    """box → how many of the k rows that it stands for lie inside it"""
    behind: Int64
    """place → how many of the k boxes that stand for its row hold it"""
    stray: int
    """rows that are published with a box which does not stand for them, or share a box with another row"""


def count_rows(codes: Int32, *, lo: Int32, hi: Int32, start: Int64, back: Int64, k: int) -> RowCounts:
    """Count the pairs of rows and boxes of some rings.

    Args:
        codes: [n, d] the rows' codes, ring after ring, in the order of the rings.
        lo: [n, d] smallest codes of the boxes; box i stands for the row at place i and the k − 1 after it in its ring.
        hi: [n, d] largest codes of the boxes.
        start: Ring → its first place; one more entry at the end.
        back: Place → how many places before it in the ring the box stands that is published for its row; −1: nowhere.
        k: How many rows each box is to hold.
    """
    count = len(codes)
    holds = np.full(count, k, dtype=np.int64)
    behind = np.full(count, k, dtype=np.int64)
    sizes = np.diff(start)
    first, size = np.repeat(start[:-1], sizes), np.repeat(sizes, sizes)
    place = np.arange(count) - first
    broken = np.flatnonzero(~_hold_all(codes, lo=lo, hi=hi, first=first, size=size, k=k))
    # A ring of fewer than k rows would count a row twice: what it lacks is taken off everywhere.
    missing = np.maximum(k - size, 0)
    for step in range(k if len(broken) else 0):
        row = first[broken] + (place[broken] + step) % size[broken]
        outside = ((codes[row] < lo[broken]) | (codes[row] > hi[broken])).any(axis=1) & (step < size[broken])
        holds[broken[outside]] -= 1
        behind -= np.bincount(row[outside], minlength=count)
    taken = np.bincount(first + (place - back) % size, minlength=count)
    stray = int(np.count_nonzero((back < 0) | (back >= k))) + int(np.count_nonzero(taken != 1))
    return RowCounts(holds - missing, behind - missing, stray)


def _hold_all(codes: Int32, *, lo: Int32, hi: Int32, first: Int64, size: Int64, k: int) -> Bool:
    """Box → whether it holds all k rows that it stands for.

    The smallest and largest codes of 1, 2, 4, … rows in a row, and of k rows as two such stretches that overlap.
    """
    place = np.arange(len(codes)) - first

    def after(steps: int) -> Int64:
        ahead: Int64 = first + (place + steps) % size
        return ahead

    low, high, width = codes, codes, 1
    while 2 * width <= k:
        low, high = np.minimum(low, low[after(width)]), np.maximum(high, high[after(width)])
        width *= 2
    rest = after(k - width)
    low, high = np.minimum(low, low[rest]), np.maximum(high, high[rest])
    held: Bool = np.all((lo <= low) & (high <= hi), axis=1)
    return held


def rows_rule(counts: RowCounts, *, k: int, suppressed: Int64) -> Rule:
    """The promise of rings as a check of a published table.

    Args:
        counts: What was counted.
        k: What was asked for.
        suppressed: The published rows that are in no ring; they have to be at least k that look alike.
    """

    def check(classes: Classes) -> Check:
        alike = classes.sizes[classes.of_row[suppressed]]
        return rows_check(summed(counts, k), k=k, alike=int(alike.min()) if len(alike) else None)

    return check


class RowSums(NamedTuple):
    """What was counted in some rings, such that it can be added up over all of them."""

    least: int
    """the fewest partners that a row or a box has; k where all have k"""
    bad: int
    """rows that lie inside fewer than k boxes"""
    stray: int
    """as in `RowCounts`"""

    def joined(self, other: RowSums) -> RowSums:
        """These rings and others together."""
        return RowSums(min(self.least, other.least), self.bad + other.bad, self.stray + other.stray)


def summed(counts: RowCounts, k: int) -> RowSums:
    """What was counted, in three numbers."""
    least = k if len(counts.holds) == 0 else int(min(counts.holds.min(), counts.behind.min()))
    return RowSums(least, int(np.count_nonzero(counts.behind < k)), counts.stray)


def rows_check(sums: RowSums, *, k: int, alike: int | None) -> Check:
    """The promise of rings, from what was counted.

    Args:
        sums: What was counted in all rings.
        k: What was asked for.
        alike: Rows that look like a suppressed one, where some are shown: at least k are wanted.
    """
    found = 0 if sums.stray else max(min(sums.least, sums.least if alike is None else alike), 0)
    passed = found >= k
    return Check(NAME, k, found, passed, _text(sums, k, found=found, passed=passed))


def _text(sums: RowSums, k: int, *, found: int, passed: bool) -> str:
    if passed:
        return (
            f"Each original row could be any of {k:,} published rows, equally likely as long as the random assignment "
            f"stays secret, and each published row any of {k:,} originals. This is a promise about rows with boxes of "
            "their own: rows that are published alike are fewer, and this file alone cannot show it."
        )
    if sums.stray:
        return f"{k}-anonymity by rows is wanted, but {sums.stray:,} rows are published with boxes of other rows."
    return (
        f"{k}-anonymity by rows is wanted, but {sums.bad:,} original rows lie inside fewer than {k} published rows; "
        f"the least is {found:,}."
    )
