"""Kernels of k-members: grow a group from each seed."""

from __future__ import annotations

import numpy as np

from coterie.kernels import kernel
from coterie.kernels.search.costs import Aimed, aim_all, make_reach, widen
from coterie.kernels.search.neighbours import furthest
from coterie.kernels.search.rows_index import cheapest, take
from coterie.kernels.search.walk import make_walk


@kernel
def grow_groups(nodes, costs, codes, k, seeds, chase):
    """Form groups of k rows: from each seed, add k − 1 times the free row that makes the box cheapest.

    Seeds are the free rows in the order of `seeds`; with `chase`, only the first is, and each later one is
    the free row furthest from the previous seed. Remaining rows keep the label −1.
    """
    n, d = codes.shape
    labels = np.full(n, -1, dtype=np.int32)
    groups = n // k
    lo = np.empty((groups, d), dtype=np.int32)
    hi = np.empty((groups, d), dtype=np.int32)
    reach = make_reach(costs)
    walk = make_walk()
    at = 0
    seed = seeds[0]
    for g in range(groups):
        if chase:
            if g > 0:
                seed = furthest(nodes, Aimed(costs, reach, codes[seed], codes[seed]), walk)
        else:
            while nodes.taken[seeds[at]]:
                at += 1
            seed = seeds[at]
        row = seed
        for j in range(d):
            lo[g, j] = codes[row, j]
            hi[g, j] = codes[row, j]
        aimed = Aimed(costs, reach, lo[g], hi[g])
        aim_all(aimed)
        for member in range(k):
            if member > 0:
                row = cheapest(nodes, aimed, walk)
            take(nodes, row)
            labels[row] = g
            widen(aimed, codes, row)
    return labels, lo, hi
