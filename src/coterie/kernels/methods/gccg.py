"""The loop of GCCG: the first free row and its nearest, class after class."""

from __future__ import annotations

import numpy as np

from coterie.kernels import kernel
from coterie.kernels.search.neighbours import nearest
from coterie.kernels.search.rows_index import STACK, take


@kernel
def gather(nodes, costs, codes, k, labels, first, last):
    """Classes first … last − 1: each is the lowest free row, its centre, with the k − 1 free rows nearest to that."""
    reach = np.empty(costs.base[-1], dtype=np.float64)
    near_costs = np.empty(k, dtype=np.float64)
    near_rows = np.empty(k, dtype=np.int32)
    stack = np.empty(STACK, dtype=np.int32)
    bounds = np.empty(STACK, dtype=np.float64)
    for g in range(first, last):
        centre = nodes.lowest[0]
        take(nodes, centre)
        labels[centre] = g
        found = nearest(nodes, costs, reach, codes[centre], k - 1, near_costs, near_rows, stack, bounds)
        for i in range(found):
            take(nodes, near_rows[i])
            labels[near_rows[i]] = g
