"""The recodings besides plain groups: levels of whole columns, and rings of rows that are published one by one.

`grouping` says what a recoding is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import numpy as np

from coterie.arrays import Int32, Int64
from coterie.errors import ConfigError, Problem
from coterie.table.grouping import Grouping, Held

if TYPE_CHECKING:
    from coterie.table.domain import Domain

NO_CELLS = "cells cannot be suppressed where rows are published one by one; choose another method"


@dataclass(frozen=True, eq=False)
class Levels(Grouping):
    """Groups of rows that are equal at one level of the hierarchy for each whole column.

    A node with one child only among the values present holds the same codes as the child: the level decides which of
    the two is published.
    """

    recoding: ClassVar[Literal["local", "global", "per-row"]] = "global"
    tight: ClassVar[bool] = False
    in_blocks: ClassVar[str] = "chose levels for each block separately; they may differ from block to block"

    nodes: Int32 = field(kw_only=True)
    """[groups, d] the tree nodes to publish, −1 for numbers"""

    def chosen_nodes(self) -> Int32:
        """Return the nodes at the levels."""
        return self.nodes

    def with_stars(self, starred: Mapping[int, Int32], domains: Sequence[Domain]) -> Grouping:
        """Widen boxes to the whole domain, and publish its root."""
        nodes = self.nodes.copy()
        for at, groups in starred.items():
            if domains[at].tree is not None:
                nodes[groups, at] = 0
        wide = super().with_stars(starred, domains)
        return Levels(wide.labels, wide.lo, wide.hi, nodes=nodes)

    def regrouped(self, changed: Grouping, *, same: Int64, domains: Sequence[Domain]) -> Grouping:
        """Return the groups with the nodes of the levels where nothing was changed, and the lowest nodes elsewhere."""
        nodes = np.full(changed.lo.shape, -1, dtype=np.int32)
        for at, domain in enumerate(domains):
            if domain.tree is not None:
                nodes[:, at] = domain.tree.common_ancestor(changed.lo[:, at], changed.hi[:, at])
        nodes[same >= 0] = self.nodes[same[same >= 0]]
        return Levels(changed.labels, changed.lo, changed.hi, nodes=nodes)


class OneByOne(NamedTuple):
    """Rows that are published one by one, as far as their check needs them: each is at a place of a ring."""

    codes: Int32
    """[places, d] the rows' codes, ring after ring"""
    start: Int64
    """ring → its first place; one more entry at the end"""
    back: Int64
    """place → how many places before it stands the slot of its row"""
    rank: Int64
    """slot → which of the rows that are in rings is published in it, by row number"""


@dataclass(frozen=True, eq=False)
class Rings(Grouping):
    """Groups whose rows form rings, each row published with the box of k consecutive rows of its ring.

    Ring g is group g. The *slot* at a place of the ring is the box of the row there and the `span` − 1 rows after it.
    Each row is published in one of the `span` slots whose boxes contain it, and each slot publishes one row; the
    assignment of rows to slots is random and kept secret. A slot has the number of its place in `order`.
    """

    recoding: ClassVar[Literal["local", "global", "per-row"]] = "per-row"
    by_rows: ClassVar[bool] = True
    tight: ClassVar[bool] = False
    unit: ClassVar[Literal["group", "ring"]] = "ring"

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

    def with_stars(self, starred: Mapping[int, Int32], domains: Sequence[Domain]) -> Grouping:
        """Raise a ConfigError: a cell is published with the boxes of several rows."""
        raise ConfigError([Problem("suppress_cells", NO_CELLS)])

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


KINDS: dict[str, type[Grouping]] = {kind.recoding: kind for kind in (Grouping, Levels, Rings)}
