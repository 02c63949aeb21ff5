"""Kernels of bottom-up: one round of merging, and splitting of groups that have become too large."""

from __future__ import annotations

import numpy as np

from coterie.kernels import kernel, part
from coterie.kernels.search.costs import Aimed, aim_all, box_cost, joined_cost, make_reach
from coterie.kernels.search.groups_index import MANY, WHOLE, empty, grow, nearest
from coterie.kernels.search.walk import make_walk


@kernel
def merge_round(tree, costs, small, grown, into):
    """Merge each group in the slots `small`, in turn, with the group that gives the cheapest result.

    Groups that have absorbed others in this round (`grown`) are left alone. `into[slot]` becomes the
    slot of the group that absorbed it.
    """
    size, lowest = tree.size, tree.lowest
    walk = make_walk()
    for i in range(small.shape[0]):
        one = np.int64(small[i])
        if grown[one]:
            continue
        two, _ = nearest(tree, costs, one, WHOLE, MANY, MANY, walk)
        if two < 0:
            continue
        into[one] = two
        grown[two] = True
        rows = size[one] + size[two]
        empty(tree, one)
        grow(tree, costs, two, one, rows, min(lowest[one], lowest[two]))


@part
def _pair_costs(costs, reach, codes, rows, row, result):
    """Compute the pair cost of a row with each of some rows; return the position of the largest, the first on ties."""
    aimed = Aimed(costs, reach, codes[row], codes[row])
    aim_all(aimed)
    furthest = 0
    for p in range(rows.shape[0]):
        result[p] = joined_cost(aimed, codes, rows[p], np.inf)
        if result[p] > result[furthest]:
            furthest = p
    return furthest


@part
def _sorted_order(keys, order, spare):
    """Fill `order` with the positions of the keys in ascending order, stably, by a plain merge sort."""
    n = keys.shape[0]
    for p in range(n):
        order[p] = p
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            middle, end = min(start + width, n), min(start + 2 * width, n)
            one, two = start, middle
            for p in range(start, end):
                if two == end or (one < middle and keys[order[one]] <= keys[order[two]]):
                    spare[p] = order[one]
                    one += 1
                else:
                    spare[p] = order[two]
                    two += 1
        for p in range(n):
            order[p] = spare[p]
        width *= 2


@part
def _penalties(costs, codes, rows, order, first, step, low, high, result):
    """Set result[i] to the penalty (number times cost) of the i + 1 rows at first, first + step, … in this order."""
    for i in range(order.shape[0]):
        row = rows[order[first + i * step]]
        for j in range(codes.shape[1]):
            c = codes[row, j]
            low[j] = c if i == 0 else min(low[j], c)
            high[j] = c if i == 0 else max(high[j], c)
        result[i] = (i + 1) * box_cost(costs, low, high)


@kernel
def _cut(costs, reach, codes, rows, k, low, high):
    """Cut ascending rows in two, left part first, both ascending. Return its size, or 0 if every cut is free.

    Rows are ordered from one far row to another: by the difference between their pair costs with the two.
    Both parts have at least k rows, and together allow as many groups of k as the whole.
    """
    n = rows.shape[0]
    ahead = np.empty(n, dtype=np.float64)
    behind = np.empty(n, dtype=np.float64)
    u = _pair_costs(costs, reach, codes, rows, rows[0], ahead)
    if ahead[u] == 0.0:
        return 0
    v = _pair_costs(costs, reach, codes, rows, rows[u], ahead)
    _pair_costs(costs, reach, codes, rows, rows[v], behind)
    for p in range(n):
        ahead[p] -= behind[p]
    order = np.empty(n, dtype=np.int64)
    spare = np.empty(n, dtype=np.int64)
    _sorted_order(ahead, order, spare)
    _penalties(costs, codes, rows, order, np.int64(0), np.int64(1), low, high, ahead)
    _penalties(costs, codes, rows, order, np.int64(n - 1), np.int64(-1), low, high, behind)
    best = np.inf
    cut = 0
    for s in range(k, n - k + 1):
        if s // k + (n - s) // k == n // k:
            penalty = ahead[s - 1] + behind[n - s - 1]
            if penalty < best:
                best = penalty
                cut = s
    # Each row's side, then the rows of either side in their old order.
    for p in range(n):
        behind[order[p]] = 0.0 if p < cut else 1.0
        spare[p] = rows[p]
    left = 0
    right = cut
    for p in range(n):
        if behind[p] == 0.0:
            rows[left] = spare[p]
            left += 1
        else:
            rows[right] = spare[p]
            right += 1
    return cut


@kernel
def split_groups(costs, codes, rows, starts, k, labels):
    """Split groups of 2k rows or more, `rows[starts[g]:starts[g + 1]]` ascending; label rows and count groups."""
    d = codes.shape[1]
    reach = make_reach(costs)
    low = np.empty(d, dtype=np.int32)
    high = np.empty(d, dtype=np.int32)
    ends = np.empty(rows.shape[0] // k + 2, dtype=np.int64)  # of the parts still to come, the next one last
    groups = 0
    for g in range(starts.shape[0] - 1):
        start = starts[g]
        ends[0] = starts[g + 1]
        top = 0
        while top >= 0:
            end = ends[top]
            if end - start >= 2 * k:
                left = _cut(costs, reach, codes, rows[start:end], k, low, high)
                if left > 0:
                    top += 1
                    ends[top] = start + left
                    continue
                while end - start >= 2 * k:  # all of these cost nothing together: k at a time, by row number
                    for p in range(start, start + k):
                        labels[rows[p]] = groups
                    groups += 1
                    start += k
            for p in range(start, end):
                labels[rows[p]] = groups
            groups += 1
            start = end
            top -= 1
    return groups
