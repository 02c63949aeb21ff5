"""What the order of rows discloses: extracts are often sorted, and a release keeps their order.

If rows are sorted by a column, each value is at least every lower bound above it and at most every upper bound
below it. So running bounds over the published intervals narrow them, often to a single value. The attacker needs no
knowledge of the original: that the bounds never cross says that the rows are sorted.

Rows are looked at a piece at a time, so that a release of any size can be tried. Of rows that are not sorted, the first
piece shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import Int64, UInt64
from coterie.disclosure.labels import Said, read_labels
from coterie.values.notation import CellText, columns_of, distinct_texts
from coterie.wording import count_of, percent_text

# Random orders, of at most this many rows: if one of them fits as well, the order reveals nothing.
DRAWN = 3
DRAWN_ROWS = 2**20
# Cells to try first, which is enough to recognize most columns of categories.
PROBED = 200
_MIX = np.uint64(0x9E3779B97F4A7C15)

Reader = Callable[[Sequence[str]], Iterable[pa.Table]]
"""published columns → their rows in the published order, in pieces; read again for every pass"""


class Bounds(NamedTuple):
    """Row → the ends of a column's published interval, as ranks among all ends."""

    low: Int64
    high: Int64


class OrderLeak(NamedTuple):
    """What the order of rows discloses about one column."""

    column: str
    descending: bool
    narrowed: float
    """share of cells that running bounds narrow"""
    exact_before: float
    """share of cells that are published as one value"""
    exact_after: float
    """share of cells narrowed to one value"""
    below: int
    """rows that share what is left of the quasi-identifiers with fewer than k"""
    k: int

    @property
    def text(self) -> str:
        """The figures in a sentence."""
        return (
            f"Rows are sorted by `{self.column}`: running bounds over the published intervals narrow "
            f"{percent_text(self.narrowed)} of its cells, and raise exactly known ones from "
            f"{percent_text(self.exact_before)} to {percent_text(self.exact_after)}; "
            f"{count_of(self.below, 'row')} fall into classes below k = {self.k:,}"
        )


def in_memory(table: pa.Table) -> Reader:
    """Return a published table in one piece."""
    return lambda _names: [table]


def order_leaks(read: Reader, names: Sequence[str], *, quasi: Sequence[str], k: int) -> tuple[OrderLeak, ...]:
    """Try running bounds on every number and date of a release, in its order; `names` are all of its columns."""
    columns = [_Column(name, columns_of(name, names)) for name in quasi]
    found = []
    for column in columns:
        column.learn(read)
        for descending in (False, True) if column.ends is not None else ():
            column.descending = descending
            ahead = column.smallest_ahead(read)
            if ahead is not None and not column.fits_by_chance():
                found.append(_leak(column, columns, read, ahead, k))
                break
    return tuple(found)


def running_bounds(bounds: Bounds, *, least: int = 0, most: int = 2**62) -> Bounds:
    """Bounds of rows that are sorted ascending; they cross where the rows cannot be.

    `least` is the largest lower bound of the rows before, `most` the smallest upper bound of the rows after.
    """
    low = np.maximum.accumulate(np.maximum(bounds.low, least))
    return Bounds(low, np.minimum.accumulate(np.minimum(bounds.high, most)[::-1])[::-1])


class _Column:
    """A published column, whose distinct cells are numbered as they come."""

    def __init__(self, name: str, published: tuple[str, ...]) -> None:
        self.name, self.published = name, published
        self.descending = False
        self.ends: Bounds | None = None
        """cell → its ends as ranks; None if they are neither numbers nor dates"""
        self.counts: Int64 = np.zeros(0, dtype=np.int64)
        self._number: dict[CellText, int] = {}
        self._last: tuple[pa.Table, Int64] | None = None

    def learn(self, read: Reader) -> None:
        """Read all distinct cells, unless the first ones turn out to be no numbers."""
        for piece in read(self.published):
            of_row = self.cells(piece)
            new = np.bincount(of_row, minlength=len(self._number)).astype(np.int64)
            new[: len(self.counts)] += self.counts
            self.counts = new
            if _ranks(read_labels(list(self._number)[:PROBED], None)) is None:
                return
        self.ends = _ranks(read_labels(list(self._number), None))

    def cells(self, piece: pa.Table) -> Int64:
        """Return row of a piece → its cell."""
        if self._last is None or self._last[0] is not piece:
            of_row, texts, _ = distinct_texts(*(piece.column(each) for each in self.published), name=self.name)
            numbers = np.array([self._number.setdefault(text, len(self._number)) for text in texts], dtype=np.int64)
            self._last = piece, numbers[of_row]
        return self._last[1]

    def bounds(self, cells: Int64) -> Bounds:
        """Return the ends of some cells, such that a sorted column ascends."""
        assert self.ends is not None
        low, high = self.ends.low[cells], self.ends.high[cells]
        top = int(self.ends.high.max(initial=0))
        return Bounds(top - high, top - low) if self.descending else Bounds(low, high)

    def smallest_ahead(self, read: Reader) -> list[int] | None:
        """Piece → the smallest upper bound of the pieces after it; None if the rows are not sorted."""
        least, smallest = 0, []
        for piece in read(self.published):
            bounds = self.bounds(self.cells(piece))
            low = np.maximum.accumulate(np.maximum(bounds.low, least))
            if bool(np.any(low > bounds.high)):
                return None
            least = int(low[-1]) if len(low) else least
            smallest.append(int(bounds.high.min(initial=2**62)))
        return [2**62, *accumulate(smallest[:0:-1], min)][::-1] if smallest else None

    def fits_by_chance(self) -> bool:
        """Return whether other orders would fit too: a few wide intervals can be put in any order."""
        rng = np.random.default_rng(0)
        total = int(self.counts.sum())
        for _ in range(DRAWN):
            if total <= DRAWN_ROWS:
                drawn = rng.permutation(np.repeat(np.arange(len(self.counts)), self.counts))
            else:
                drawn = rng.choice(len(self.counts), DRAWN_ROWS, p=self.counts / total)
            low, high = running_bounds(self.bounds(drawn))
            if bool(np.all(low <= high)):
                return True
        return False


def _ranks(said: Sequence[Said] | None) -> Bounds | None:
    """Cell → its ends among all ends; a missing or suppressed one may be anything. None for categories."""
    if said is None or any(each.ends is None and each.values for each in said):
        return None
    every = sorted({end for each in said if each.ends is not None for end in each.ends})
    rank = {end: place for place, end in enumerate(every)}
    places = [(0, len(every) - 1) if each.ends is None else (rank[each.ends[0]], rank[each.ends[1]]) for each in said]
    return Bounds(*np.array(places, dtype=np.int64).T) if every else None


def _leak(column: _Column, columns: Sequence[_Column], read: Reader, ahead: Sequence[int], k: int) -> OrderLeak:
    """Return what running bounds leave of a sorted column."""
    names = [name for each in columns for name in each.published]
    rows = narrowed = before = after = least = 0
    few = _FewAlike(k)
    for piece, most in zip(read(names), ahead, strict=True):
        if not piece.num_rows:
            continue
        bounds = column.bounds(column.cells(piece))
        low, high = running_bounds(bounds, least=least, most=most)
        narrowed += int(np.count_nonzero((low > bounds.low) | (high < bounds.high)))
        before += int(np.count_nonzero(bounds.low == bounds.high))
        after += int(np.count_nonzero(low == high))
        rows, least = rows + len(low), int(low[-1])
        few.add(low, high, _marks(columns, piece))
    total = max(rows, 1)
    return OrderLeak(column.name, column.descending, narrowed / total, before / total, after / total, few.total, k)


def _marks(columns: Sequence[_Column], piece: pa.Table) -> UInt64:
    """Return row → a hash of its quasi-identifiers' cells."""
    marks = np.zeros(piece.num_rows, dtype=np.uint64)
    for column in columns:
        marks = (marks ^ (column.cells(piece).astype(np.uint64) + np.uint64(1))) * _MIX
        marks ^= marks >> np.uint64(29)
    return marks


class _FewAlike:
    """Counts rows whose mark and narrowed bounds fewer than k share.

    Bounds of sorted rows only grow, so that rows with equal ones stand one after the other: only the last of these
    runs may go on in the next piece.
    """

    def __init__(self, k: int) -> None:
        self._k, self._found = k, 0
        self._ends = (-1, -1)
        self._open: tuple[UInt64, Int64] = np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.int64)

    @property
    def total(self) -> int:
        """Rows so far, if no more come."""
        return self._found + self._few(self._open[1])

    def _few(self, counts: Int64) -> int:
        return int(counts[counts < self._k].sum())

    def add(self, low: Int64, high: Int64, marks: UInt64) -> None:
        """Count the rows of a piece."""
        starts = np.flatnonzero(np.concatenate([[True], (low[1:] != low[:-1]) | (high[1:] != high[:-1])]))
        of_run = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(low)))
        counts = np.ones(len(low), dtype=np.int64)
        if (int(low[0]), int(high[0])) == self._ends:
            of_run = np.concatenate([np.zeros(len(self._open[0]), dtype=np.int64), of_run])
            marks, counts = (np.concatenate(pair) for pair in zip(self._open, (marks, counts), strict=True))
        else:
            self._found += self._few(self._open[1])
        order = np.lexsort((marks, of_run))
        marks, of_run = marks[order], of_run[order]
        first = np.flatnonzero(np.concatenate([[True], (marks[1:] != marks[:-1]) | (of_run[1:] != of_run[:-1])]))
        counts = np.add.reduceat(counts[order], first)
        last = of_run[first] == of_run[-1]
        self._found += self._few(counts[~last])
        self._ends, self._open = (int(low[-1]), int(high[-1])), (marks[first][last], counts[last])
