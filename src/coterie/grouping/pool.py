"""Groups that limit prices: those of groupings, and those that violated prices."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coterie.arrays import Float64, Int32, Int64
from coterie.grouping.index import Index

if TYPE_CHECKING:
    from coterie.kernels.search import ascent
    from coterie.table.grouping import Grouping


class Pool(NamedTuple):
    """Groups of at least k rows, as entries (place, rows of it), group by group."""

    places: Int64
    counts: Float64
    group: Int64
    """entry → group"""
    costs: Float64
    """group → cost of one row"""
    sizes: Float64
    """group → rows"""

    @classmethod
    def empty(cls) -> Pool:
        """Return a pool without groups."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))

    @classmethod
    def of_grouping(cls, index: Index, grouping: Grouping) -> Pool:
        """Return the groups of a grouping."""
        from coterie.kernels.search.costs import box_costs

        kept = grouping.labels >= 0
        places = len(index.nodes.points)
        entries = grouping.labels[kept].astype(np.int64) * places + index.nodes.position[kept]
        entries, counts = np.unique(entries, return_counts=True)
        costs = box_costs(index.costs, grouping.lo, grouping.hi)
        group, place = np.divmod(entries, places)
        return cls(place, counts.astype(np.float64), group, costs, grouping.sizes.astype(np.float64))

    @classmethod
    def of_groups(cls, index: Index, places: Int32, counts: Int32) -> Pool:
        """Return groups given as [group, entry] places and rows of each; 0 rows behind the end of a group."""
        from coterie.kernels.search.costs import box_costs

        used = counts[:, 0] > 0
        places, counts = places[used], counts[used]
        rows = counts > 0
        group = np.repeat(np.arange(len(places)), rows.sum(axis=1))
        place = places[rows].astype(np.int64)
        begins = np.searchsorted(group, np.arange(len(places)))
        points = index.nodes.points[place]
        low, high = (
            np.ascontiguousarray(end.reduceat(points, begins, axis=0)) if len(begins) else points
            for end in (np.minimum, np.maximum)
        )
        costs = box_costs(index.costs, low, high)
        sizes = counts.sum(axis=1).astype(np.float64)
        return cls(place, counts[rows].astype(np.float64), group, costs, sizes)

    def joined(self, other: Pool) -> Pool:
        """Return the groups of both."""
        return Pool(
            np.concatenate([self.places, other.places]),
            np.concatenate([self.counts, other.counts]),
            np.concatenate([self.group, other.group + len(self.costs)]),
            np.concatenate([self.costs, other.costs]),
            np.concatenate([self.sizes, other.sizes]),
        )

    def tightest(self, prices: Float64, entries: int) -> Pool:
        """Return the pool or, if it has more entries than these, the half of it whose costs are nearest to prices."""
        if len(self.places) <= entries:
            return self
        paid = np.bincount(self.group, weights=prices[self.places] * self.counts, minlength=len(self.costs))
        order = np.argsort(self.costs - paid / self.sizes, kind="stable")
        keeps = np.zeros(len(self.costs), dtype=np.bool_)
        keeps[order[: (len(order) + 1) // 2]] = True
        of_entry = keeps[self.group]
        number = np.cumsum(keeps) - 1
        return Pool(
            self.places[of_entry],
            self.counts[of_entry],
            number[self.group[of_entry]],
            self.costs[keeps],
            self.sizes[keeps],
        )

    def arrays(self) -> ascent.Pool:
        """Return the pool as kernels take it."""
        from coterie.kernels.search import ascent

        start = np.searchsorted(self.group, np.arange(len(self.costs) + 1)).astype(np.int64)
        return ascent.Pool(start, self.places, self.counts, self.costs, self.sizes)
