"""Grow a box over a few rows near its seed, stored in small separate arrays."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import inner, part
from coterie.kernels.search.costs import TABLE, box_cost, interval_cost, joined_cost
from coterie.kernels.search.heap import keep_nearest
from coterie.kernels.search.rows_index import descend
from coterie.kernels.search.walk import pop, set_out

ALL = 2**62  # leaves of the index to look into: as many as it takes


@part
def near_points(nodes, aimed, wanted, leaves, heap, walk):
    """Find the positions nearest to an aimed box that together have at least `wanted` free rows, unordered.

    Writes them to the heap, with their costs, and returns their number (at most `wanted` + 1). Once it has enough, it
    visits at most this many leaves of the tree, the likeliest first, so that few leaves give mostly near ones.
    """
    size, held = 0, 0
    worst = np.inf
    top = set_out(walk)
    while top >= 0:
        node, bound, top = pop(walk, top)
        if bound >= worst or (leaves <= 0 and held >= wanted):
            continue
        if nodes.left[node] < 0:
            leaves -= 1
            for p in range(nodes.start[node], nodes.end[node]):
                if nodes.point_free[p] == 0:
                    continue
                cost = joined_cost(aimed, nodes.points, p, worst)
                if cost < worst:
                    size, held = keep_nearest(heap, size, held, cost, p, nodes.point_free, wanted)
                    if held >= wanted:
                        worst = heap.keys[0]
            continue
        top = descend(nodes, node, aimed, walk, top, worst, nodes.start)
    return size


# A handful of distinct rows, and the box that grows over them.
#   codes: [attribute, item]
#   weights: item → rows
#   shares: [attribute, item] → what the attribute adds to the cost of the box grown to hold the item
#   totals: item → the sum of these
Items = namedtuple("Items", "codes weights lo hi shares totals")


def new_items(d, room):
    """Allocate space for this many items."""
    codes = np.empty((d, room), dtype=np.int32)
    weights = np.empty(room, dtype=np.int64)
    lo = np.empty(d, dtype=np.int32)
    hi = np.empty(d, dtype=np.int32)
    return Items(codes, weights, lo, hi, np.empty((d, room), dtype=np.float64), np.empty(room, dtype=np.float64))


@inner
def _set_shares(costs, scale, items, n, j):
    """Set the shares of attribute j after its interval has changed."""
    low, high = items.lo[j], items.hi[j]
    codes, shares = items.codes, items.shares
    if costs.kind[j] == TABLE:
        offset = costs.offset[j]
        width = costs.width[j]
        data = costs.data
        for i in range(n):
            c = codes[j, i]
            shares[j, i] = scale * data[np.uint64(offset + min(low, c) * width + max(high, c))]
    else:
        for i in range(n):
            c = codes[j, i]
            shares[j, i] = scale * interval_cost(costs, j, min(low, c), max(high, c))


@part
def start_at(costs, scales, items, n, seed):
    """Set the box to that of one item."""
    for j in range(items.lo.shape[0]):
        items.lo[j] = items.codes[j, seed]
        items.hi[j] = items.codes[j, seed]
        _set_shares(costs, scales[j], items, n, j)


@part
def reach_out(costs, scales, items, n, item):
    """Extend the box to one more item."""
    for j in range(items.lo.shape[0]):
        c = items.codes[j, item]
        if c < items.lo[j] or c > items.hi[j]:
            items.lo[j] = min(items.lo[j], c)
            items.hi[j] = max(items.hi[j], c)
            _set_shares(costs, scales[j], items, n, j)


@part
def add_up(shares, n, totals):
    """Return item → cost of the box extended to it: its shares added in the order of the attributes."""
    for i in range(n):
        totals[i] = shares[0, i]
    for j in range(1, shares.shape[0]):
        for i in range(n):
            totals[i] += shares[j, i]


@part
def grow_box(costs, scales, items, n, seed, k, limit):
    """Grow the box of one item, always by the cheapest item, until it has k rows.

    Items that the box can include at no cost count at once, and the box is finally widened to them: they may lie
    outside, under the same ancestor or apart in a column with weight 0. Attributes are scaled by `scales` while
    choosing. Returns the true cost of the box: infinite if it reaches `limit`, or if the items have fewer than k
    rows.
    """
    codes, weights, totals, lo, hi = items.codes, items.weights, items.totals, items.lo, items.hi
    start_at(costs, scales, items, n, seed)
    while True:
        add_up(items.shares, n, totals)
        now = totals[seed]
        held = 0
        best = -1
        least = np.inf
        for i in range(n):
            cost = totals[i]
            if cost <= now:
                held += weights[i]
            elif cost < least or (cost == least and weights[i] > weights[best]):
                least = cost
                best = i
        if held >= k:
            for i in range(n):
                if totals[i] <= now:
                    for j in range(lo.shape[0]):
                        lo[j] = min(lo[j], codes[j, i])
                        hi[j] = max(hi[j], codes[j, i])
            return box_cost(costs, lo, hi)
        if best < 0:
            return np.inf
        reach_out(costs, scales, items, n, best)
        if box_cost(costs, lo, hi) >= limit:
            return np.inf


@part
def close_box(costs, lo, hi):
    """Widen a box as far as that costs nothing: to all values under the ancestors that are published anyway."""
    for j in range(lo.shape[0]):
        if lo[j] == hi[j] or costs.kind[j] != TABLE:
            continue
        offset = costs.offset[j]
        width = costs.width[j]
        now = costs.data[offset + lo[j] * width + hi[j]]
        while lo[j] > 0 and costs.data[offset + (lo[j] - 1) * width + hi[j]] == now:
            lo[j] -= 1
        while hi[j] < width - 1 and costs.data[offset + lo[j] * width + hi[j] + 1] == now:
            hi[j] += 1
