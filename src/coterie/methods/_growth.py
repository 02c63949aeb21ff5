"""Boxes grown from seeds, as `compact` accepts them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from coterie.arrays import Float64, Int32, Int64
from coterie.grouping.index import Index

ALL = 2**62  # leaves of the index: as many as it takes
BATCHES = 128  # into which the acceptance of all boxes falls


class Growth:
    """Boxes that are grown from seeds and accepted, the cheapest first, in batches.

    Boxes that turn out to have lost rows are grown again between two batches, on several threads: an exact order
    would let them be grown one after the other only. Small tables have batches of one.
    """

    def __init__(
        self, index: Index, k: int, *, scales: Float64, reach: int, tries: int, threads: int, lists: SharedLists
    ) -> None:
        self.index, self.k, self.scales, self.tries, self.threads = index, k, scales, tries, threads
        places, attributes = index.nodes.points.shape
        self.near = np.empty((places, reach * k + 1), dtype=np.int32)
        self.near_count = np.zeros(places, dtype=np.int32)
        self.lo = np.zeros((places, attributes), dtype=np.int32)
        self.hi = np.zeros((places, attributes), dtype=np.int32)
        self.keys = np.empty(places, dtype=np.float64)
        self.shared = lists

    def accept(self, seeds: Int32, labels: Int32, groups: int) -> int:
        """Label the rows of accepted boxes, from the number `groups` on; gives back the next number."""
        from coterie.kernels.methods.compact import accept_boxes

        heap_keys = np.empty(len(seeds) + 1, dtype=np.float64)
        heap = np.empty(len(seeds) + 1, dtype=np.int32)
        stale = np.empty(max(1, len(seeds) // BATCHES), dtype=np.int32)
        size, nodes, costs = 0, self.index.nodes, self.index.costs
        with ThreadPoolExecutor(self.threads) as pool:
            while size or len(seeds):
                self._grow(seeds, pool)
                boxes = self.near, self.near_count, self.lo, self.hi, self.keys
                size, lost, groups = accept_boxes(
                    nodes, costs, self.k, *boxes, seeds, heap_keys, heap, size, stale, groups, labels
                )
                seeds = stale[:lost].copy()
                if nodes.free[0] < self.k:
                    break
        return groups

    def _grow(self, seeds: Int32, pool: ThreadPoolExecutor) -> None:
        from coterie.kernels.methods.compact import grow_boxes

        self.shared.renew(seeds, pool, self.threads)
        cuts = _pieces(len(seeds), self.threads)

        def piece(i: int) -> None:
            grow_boxes(
                self.index.nodes, self.index.costs, self.k, self.scales, self.tries,
                self.near, self.near_count, self.lo, self.hi, self.keys,
                self.shared.home, self.shared.lists, self.shared.counts, seeds, cuts[i], cuts[i + 1],
            )  # fmt: skip

        list(pool.map(piece, range(len(cuts) - 1)))


def _pieces(count: int, threads: int) -> Int64:
    """Where to cut so many things for threads that take the next piece when they are done with one."""
    return np.linspace(0, count, min(count, 4 * threads) + 1).astype(np.int64)


class SharedLists:
    """The rows near each leaf of the index, from which the seeds in it choose; none where `wanted` is 0."""

    def __init__(self, index: Index, wanted: int, *, leaves: int, least: int) -> None:
        self.index, self.reach, self.least = index, leaves, least
        places = np.flatnonzero(index.nodes.left < 0).astype(np.int32) if wanted else np.zeros(0, dtype=np.int32)
        self.leaves = places
        number = np.zeros(len(index.nodes.left), dtype=np.int32)
        number[places] = np.arange(len(places), dtype=np.int32)
        self.home = number[index.nodes.leaf]
        self.lists = np.empty((len(places), wanted + 1), dtype=np.int32)
        self.counts = np.zeros(len(places), dtype=np.int32)

    def renew(self, seeds: Int32, pool: ThreadPoolExecutor, threads: int) -> None:
        """Look around again for those leaves of the seeds whose lists have too few free rows left to choose among."""
        from coterie.kernels.search.nearby import list_near_leaves, too_short

        if not len(self.leaves):
            return
        index = self.index
        asked = np.unique(self.home[seeds[index.nodes.point_free[seeds] > 0]])
        asked = asked[too_short(index.nodes, self.lists, self.counts, asked, self.least)]
        cuts = _pieces(len(asked), threads)

        def piece(i: int) -> None:
            list_near_leaves(
                index.nodes, index.costs, self.reach, self.leaves, asked, cuts[i], cuts[i + 1], self.lists, self.counts
            )

        list(pool.map(piece, range(len(cuts) - 1)))
