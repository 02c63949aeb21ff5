"""Rows that no group has taken."""

from __future__ import annotations

import numpy as np

from coterie.kernels import loop
from coterie.kernels.search.costs import box_cost, union_cost


def place_leftovers(costs, codes, labels, lo, hi, sizes, order):
    """Put each unassigned row where the loss of the whole group increases least; ties go to the lowest group.

    Rows are processed in the given order. `labels`, `lo`, `hi` and `sizes` are updated.
    """
    cost = np.empty(lo.shape[0], dtype=np.float64)
    _place_leftovers(costs, codes, labels, lo, hi, sizes, order, cost)


@loop
def _place_leftovers(costs, codes, labels, lo, hi, sizes, order, cost):
    groups, d = lo.shape
    for g in range(groups):
        cost[g] = box_cost(costs, lo[g], hi[g])
    for row in order:
        if labels[row] >= 0:
            continue
        point = codes[row]
        best = np.inf
        chosen = 0
        for g in range(groups):
            new = union_cost(costs, point, point, lo, hi, g, np.inf)
            rise = (sizes[g] + 1) * new - sizes[g] * cost[g]
            if rise < best:
                best = rise
                chosen = g
        labels[row] = chosen
        sizes[chosen] += 1
        for j in range(d):
            lo[chosen, j] = min(lo[chosen, j], point[j])
            hi[chosen, j] = max(hi[chosen, j], point[j])
        cost[chosen] = box_cost(costs, lo[chosen], hi[chosen])
