"""Rings: rows published one by one, each with the box of k consecutive rows of a ring.

The rows of a group stand in a ring. The *slot* at a place of the ring is the box of the row there and the `span` − 1
rows after it. Each row is published in one of the `span` slots whose boxes hold it, and each slot publishes one row;
which row is in which slot is drawn at random and kept secret.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from coterie.arrays import Int32, Int64


class Held(NamedTuple):
    """The distinct values of one column behind each box: pairs (box, code), ascending."""

    box: Int64
    code: Int64
    counts: Int64
    """box → how many distinct codes it holds; pairs are given only of boxes that hold few enough"""


@dataclass(frozen=True, eq=False)
class Rings:
    """Rings of rows, ring g being group g of a grouping. A slot has the number of its place in `order`."""

    order: Int32
    """place → row, ring after ring"""
    start: Int64
    """ring → its first place; one more entry at the end"""
    span: int
    """how many consecutive rows a slot's box holds"""
    slot_of_row: Int32
    """row → slot that publishes it, −1 for a suppressed row"""
    lo: Int32
    """[slots, d] smallest codes of the boxes"""
    hi: Int32
    """[slots, d] largest codes of the boxes"""

    @property
    def sizes(self) -> Int64:
        """Ring → number of its rows, which is also that of its slots."""
        return np.diff(self.start)

    def values_held(self, codes: Int32, *, at_most: int) -> Held:
        """The distinct codes that the rows behind each slot have in one column, where they are at most so many.

        A value that stands at several places of a window is credited to the last of them: each place stands for a
        stretch of slots, and a pair comes up once.
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
        """Places, with the first and the last slot for which the place's row stands for its code."""
        # Windows run over the end of a ring, so its first span − 1 places are listed once more behind it.
        sizes = self.sizes
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
