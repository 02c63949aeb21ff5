"""The loops of k-members: grow a group from each seed."""

from __future__ import annotations

import numpy as np

from coterie.kernels import kernel
from coterie.kernels.search.costs import aim, aim_all
from coterie.kernels.search.neighbours import furthest
from coterie.kernels.search.rows_index import STACK, cheapest, take


@kernel
def grow_groups(nodes, costs, codes, k, seeds, chase):
    """Groups of k rows: from each seed, k − 1 times the free row that makes the box cost least.

    Seeds are the free rows in the order of `seeds`; with `chase`, the first comes from there and each later one is
    the free row furthest from the seed before. Left-over rows keep the label −1.
    """
    n, d = codes.shape
    labels = np.full(n, -1, dtype=np.int32)
    groups = n // k
    lo = np.empty((groups, d), dtype=np.int32)
    hi = np.empty((groups, d), dtype=np.int32)
    reach = np.empty(costs.base[-1], dtype=np.float64)
    stack = np.empty(STACK, dtype=np.int32)
    bounds = np.empty(STACK, dtype=np.float64)
    at = 0
    seed = seeds[0]
    for g in range(groups):
        if chase:
            if g > 0:
                seed = furthest(nodes, costs, reach, codes[seed], stack, bounds)
        else:
            while nodes.taken[seeds[at]]:
                at += 1
            seed = seeds[at]
        row = seed
        low, high = lo[g], hi[g]
        for j in range(d):
            low[j] = codes[row, j]
            high[j] = codes[row, j]
        aim_all(costs, reach, low, high)
        for member in range(k):
            if member > 0:
                row = cheapest(nodes, costs, reach, low, high, stack, bounds)
            take(nodes, row)
            labels[row] = g
            for j in range(d):
                c = codes[row, j]
                if c < low[j] or c > high[j]:
                    low[j] = min(low[j], c)
                    high[j] = max(high[j], c)
                    aim(costs, reach, low, high, j)
    return labels, lo, hi
