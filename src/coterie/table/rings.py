"""Rings: a recoding that publishes rows one by one, each with the box of k consecutive rows of a ring.

The rows of a group form a ring. The *slot* at a place of the ring is the box of the row there and the `span` − 1
rows after it. Each row is published in one of the `span` slots whose boxes contain it, and each slot publishes one row;
the assignment of rows to slots is random and kept secret.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from coterie.arrays import Int32, Int64
from coterie.table.grouping import Grouping, Held, OneByOne


@dataclass(frozen=True, eq=False)
class Rings(Grouping):
    """Groups whose rows form rings; ring g is group g. A slot has the number of its place in `order`."""

    by_rows: ClassVar[bool] = True

    order: Int32 = field(kw_only=True)
    """place → row, ring after ring"""
    start: Int64 = field(kw_only=True)
    """ring → its first place; one more entry at the end"""
    span: int = field(kw_only=True)
    """how many consecutive rows a slot's box holds"""
    slot_of_row: Int32 = field(kw_only=True)
    """row → slot that publishes it, −1 for a suppressed row"""
    slot_lo: Int32 = field(kw_only=True)
    """[slots, d] smallest codes of the boxes"""
    slot_hi: Int32 = field(kw_only=True)
    """[slots, d] largest codes of the boxes"""

    @cached_property
    def _shown(self) -> Grouping:
        return Grouping(self.slot_of_row, self.slot_lo, self.slot_hi)

    def published_boxes(self) -> Grouping:
        """Return row → slot → box."""
        return self._shown

    def boxes_around(self, row: int) -> tuple[Int32, Int32]:
        """Return the boxes of all slots that may publish a row."""
        ring = self.labels[row]
        first, size = self.start[ring], np.diff(self.start)[ring]
        place = int(np.flatnonzero(self.order[first : first + size] == row)[0])
        slots = first + (place - np.arange(self.span)) % size
        return self.slot_lo[slots], self.slot_hi[slots]

    def counts_for_judge(self, codes: Int32) -> OneByOne:
        """Return the rows in ring order, and the row published in each slot."""
        inside = np.zeros(len(codes), dtype=np.int64)
        inside[self.order] = 1
        rank = np.cumsum(inside) - 1
        in_slot = np.zeros(len(self.order), dtype=np.int64)
        in_slot[self.slot_of_row[self.order]] = self.order
        return OneByOne(codes[self.order], self.start.astype(np.int64), self._steps_back(), rank[in_slot])

    def _steps_back(self) -> Int64:
        """Return place → how many places before it the slot of its row is, around its ring; −1 if in another ring."""
        sizes = np.diff(self.start)
        first, size = np.repeat(self.start[:-1], sizes), np.repeat(sizes, sizes)
        slot = self.slot_of_row[self.order].astype(np.int64)
        within = (first <= slot) & (slot < first + size)
        return np.where(within, (np.arange(len(slot)) - slot) % size, -1)

    def values_held(self, codes: Int32, *, at_most: int) -> Held:
        """Return the distinct codes of one column behind each slot, if there are at most this many.

        A value at several places of a window is credited to the last of them: each place stands for a
        range of slots, and a pair occurs once.
        """
        place, first, last = self._credited(codes)
        begin, after = (np.bincount(at, minlength=len(self.order) + 1) for at in (first, last + 1))
        counts = np.cumsum(begin - after)[:-1]
        few = counts <= at_most
        # Without the other slots, a stretch of slots is a stretch still.
        rank = np.concatenate([[0], np.cumsum(few)])
        length = rank[last + 1] - rank[first]
        step = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
        box = np.flatnonzero(few)[np.repeat(rank[first], length) + step]
        code = np.repeat(codes[self.order[place]].astype(np.int64), length)
        sorted_pairs = np.lexsort((code, box))
        return Held(box[sorted_pairs], code[sorted_pairs], counts)

    def _credited(self, codes: Int32) -> tuple[Int64, Int64, Int64]:
        """Return places, with the first and the last slot for which the place's row stands for its code."""
        # Windows run over the end of a ring, so its first span − 1 places are listed once more behind it.
        sizes = np.diff(self.start)
        lengths = sizes + self.span - 1
        begin = np.cumsum(lengths) - lengths
        ring = np.repeat(np.arange(len(sizes)), lengths)
        offset = np.arange(lengths.sum()) - begin[ring]
        place = self.start[ring] + offset % sizes[ring]
        code = codes[self.order[place]].astype(np.int64)
        by_code = np.lexsort((offset, code, ring))
        same = (np.diff(code[by_code]) == 0) & (np.diff(ring[by_code]) == 0)
        before = np.full(len(code), -1, dtype=np.int64)  # the offset at which the code stood before
        before[by_code[1:][same]] = offset[by_code[:-1][same]]
        first = np.maximum(np.maximum(offset - self.span, before) + 1, 0)
        last = np.minimum(offset, sizes[ring] - 1)
        used = first <= last
        return place[used], (self.start[ring] + first)[used], (self.start[ring] + last)[used]
