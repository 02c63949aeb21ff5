"""Boxes that limit prices: those of groupings, and those of groups that violated prices.

A box stands for every group of k rows in it. There are far fewer boxes that matter than groups.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coterie.arrays import Float64, Int32
from coterie.grouping.index import Index

if TYPE_CHECKING:
    from coterie.kernels.search import ascent
    from coterie.kernels.search.box_members import Members

MEMBERS = 3
"""rows of a box that count, in units of k: those with the highest prices"""
MORE = 8
"""and as many in addition: small groups would otherwise change too much from step to step"""
ENTRIES = 8_000_000
"""rows of all boxes together, at most; beyond that, boxes that bind least are dropped"""
PIECES = 8


class Pool(NamedTuple):
    """Boxes of at least k rows."""

    lo: Int32
    hi: Int32
    """[box, attribute] codes"""

    @classmethod
    def empty(cls, attributes: int) -> Pool:
        """Return a pool without boxes."""
        return cls(*np.zeros((2, 0, attributes), dtype=np.int32))

    def joined(self, index: Index, other: Pool) -> Pool:
        """Return the boxes of both, as wide as their costs allow, each once."""
        from coterie.kernels.search.box_members import widen_boxes

        lo, hi = (np.concatenate(ends).astype(np.int32) for ends in zip(self, other, strict=True))
        widen_boxes(index.costs, lo, hi)
        boxes = np.unique(np.concatenate([lo, hi], axis=1), axis=0)
        return Pool(*(np.ascontiguousarray(ends) for ends in np.split(boxes, 2, axis=1)))

    def listed(
        self, index: Index, prices: Float64, *, k: int, entries: int = ENTRIES, threads: int = 1
    ) -> tuple[Pool, ascent.Pool]:
        """Return the pool with the places in its boxes, as kernels take it.

        Boxes of fewer than k rows limit nothing and are dropped. If there are more entries than allowed, so is the
        half of the boxes whose costs are furthest above the prices in them.
        """
        from coterie.kernels.search import ascent
        from coterie.kernels.search.costs import box_costs

        weights = np.diff(index.nodes.row_start).astype(np.float64)
        members = self._members(index, prices, MEMBERS * k + MORE, threads)
        used = np.arange(members.places.shape[1]) < members.counts[:, None]
        enough = (weights[members.places] * used).sum(axis=1) >= k
        pool, places, used, counts = self._only(enough), members.places[enough], used[enough], members.counts[enough]
        costs = box_costs(index.costs, pool.lo, pool.hi)
        listed = ascent.Pool(np.append(0, np.cumsum(counts)), places[used], costs)
        if len(listed.places) <= entries:
            return pool, listed
        slacks = ascent.box_slacks(listed, weights, prices, k)
        kept = np.zeros(len(slacks), dtype=np.bool_)
        kept[np.argsort(slacks, kind="stable")[: (len(slacks) + 1) // 2]] = True
        counts = counts[kept]
        return pool._only(kept), ascent.Pool(np.append(0, np.cumsum(counts)), places[kept][used[kept]], costs[kept])

    def _only(self, boxes: np.ndarray) -> Pool:
        return Pool(np.ascontiguousarray(self.lo[boxes]), np.ascontiguousarray(self.hi[boxes]))

    def _members(self, index: Index, prices: Float64, most: int, threads: int) -> Members:
        """List the places in each box, those with the highest prices."""
        from coterie.kernels.search.box_members import Members, list_members

        cuts = np.linspace(0, len(self.lo), PIECES + 1).astype(np.int64)
        most = min(most, len(prices))

        def piece(first: int, last: int) -> Members:
            return Members(*list_members(index.nodes, prices, self.lo[first:last], self.hi[first:last], most))

        with ThreadPoolExecutor(max(threads, 1)) as workers:
            found = list(workers.map(piece, cuts[:-1], cuts[1:]))
        return Members(*(np.concatenate(parts) for parts in zip(*found, strict=True)))
