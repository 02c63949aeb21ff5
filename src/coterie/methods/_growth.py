"""Grow boxes from seeds, for `compact`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from coterie.arrays import Float64, Int32
from coterie.grouping.blocks import Boxes
from coterie.grouping.index import Index

BATCHES = 128  # into which the acceptance of all boxes falls
BATCH = 256  # boxes of one, at most: in longer ones too many wait for too long, and large tables would lose more


class Growth:
    """Boxes grown from seeds and accepted in batches, the cheapest first.

    Boxes that have lost rows are grown again between batches, on several threads: an exact order
    would force growing them one after another. Small tables have batches of one.
    """

    def __init__(
        self, index: Index, k: int, *, scales: Float64, reach: int, tries: int, threads: int, lists: SharedLists
    ) -> None:
        from coterie.kernels.methods.compact import SeedBoxes, Tries
        from coterie.kernels.search.growth import rough_costs, rough_scales
        from coterie.kernels.search.nearby import NearLists

        self.index, self.k, self.threads, self.shared = index, k, threads, lists
        self.tries = Tries(k, rough_costs(index.costs), rough_scales(scales), tries)
        shape = index.nodes.points.shape
        near = NearLists(np.empty((shape[0], reach * k + 1), dtype=np.int32), np.zeros(shape[0], dtype=np.int32))
        lo, hi = np.zeros(shape, dtype=np.int32), np.zeros(shape, dtype=np.int32)
        self.boxes = SeedBoxes(near, lo, hi, np.empty(shape[0], dtype=np.float64))

    def accept(self, seeds: Int32, labels: Int32, groups: int) -> int:
        """Label the rows of accepted boxes, starting with the number `groups`; return the next number."""
        from coterie.kernels.methods.compact import Queue, accept_boxes
        from coterie.kernels.search.heap import new_heap

        stale = np.empty(max(1, min(len(seeds) // BATCHES, BATCH)), dtype=np.int32)
        queue = Queue(new_heap(len(seeds) + 1), stale)
        size, nodes, costs = 0, self.index.nodes, self.index.costs
        with ThreadPoolExecutor(self.threads) as pool:
            while size or len(seeds):
                self._grow(seeds, pool)
                size, lost, groups = accept_boxes(nodes, costs, self.k, self.boxes, seeds, queue, size, groups, labels)
                seeds = stale[:lost].copy()
                if nodes.free[0] < self.k:
                    break
        return groups

    def boxes_of(self, seeds: Int32) -> Boxes:
        """Return the boxes that seeds would have now, and accept none."""
        with ThreadPoolExecutor(self.threads) as pool:
            self._grow(seeds, pool)
        grown = seeds[np.isfinite(self.boxes.cost[seeds])]
        return Boxes(self.boxes.lo[grown], self.boxes.hi[grown])

    def _grow(self, seeds: Int32, pool: ThreadPoolExecutor) -> None:
        from coterie.kernels.methods.compact import grow_boxes

        self.shared.renew(seeds, pool, self.threads)
        fixed = self.index.nodes, self.index.costs, self.tries, self.boxes, self.shared.home, self.shared.lists
        list(pool.map(lambda some: grow_boxes(*fixed, some), _pieces(seeds, self.threads)))


def _pieces(positions: Int32, threads: int) -> list[Int32]:
    """Divide work into pieces for threads, which take the next piece when done."""
    pieces = 4 * threads if threads > 1 else 1  # a call of a kernel takes some microseconds
    cuts = np.linspace(0, len(positions), min(len(positions), pieces) + 1).astype(np.int64)
    return [positions[start:end] for start, end in pairwise(cuts)]


class SharedLists:
    """The rows near each leaf of the index, from which its seeds choose; empty if `wanted` is 0."""

    def __init__(self, index: Index, wanted: int, *, leaves: int, least: int) -> None:
        from coterie.kernels.search.nearby import NearLists

        self.index, self.reach, self.least = index, leaves, least
        places = np.flatnonzero(index.nodes.left < 0).astype(np.int32) if wanted else np.zeros(0, dtype=np.int32)
        self.leaves = places
        number = np.zeros(len(index.nodes.left), dtype=np.int32)
        number[places] = np.arange(len(places), dtype=np.int32)
        self.home = number[index.nodes.leaf]
        positions = np.empty((len(places), wanted + 1), dtype=np.int32)
        self.lists = NearLists(positions, np.zeros(len(places), dtype=np.int32))

    def renew(self, seeds: Int32, pool: ThreadPoolExecutor, threads: int) -> None:
        """Search again for the leaves whose lists have too few free rows left."""
        from coterie.kernels.search.nearby import list_near_leaves, too_short

        if not len(self.leaves):
            return
        index = self.index
        asked = np.unique(self.home[seeds[index.nodes.point_free[seeds] > 0]])
        asked = asked[too_short(index.nodes, self.lists, asked, self.least)]
        fixed = index.nodes, index.costs, self.reach, self.leaves
        list(pool.map(lambda some: list_near_leaves(*fixed, some, self.lists), _pieces(asked, threads)))
