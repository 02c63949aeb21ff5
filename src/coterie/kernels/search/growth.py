"""Growing a box over a handful of rows near its seed, held in small arrays of their own."""

from __future__ import annotations

import numpy as np

from coterie.kernels import inner, part
from coterie.kernels.search.costs import (
    TABLE,
    box_cost,
    interval_cost,
    point_cost,
    point_cost_large,
    touch_cost,
    touch_cost_large,
)

ALL = 2**62  # leaves of the index to look into: as many as it takes


@inner
def push(heap, ids, size, cost, p):
    """Add an entry to the max-heap of `size` entries."""
    at = size
    while at > 0:
        up = (at - 1) // 2
        if heap[up] >= cost:
            break
        heap[at] = heap[up]
        ids[at] = ids[up]
        at = up
    heap[at] = cost
    ids[at] = p


@inner
def replace_top(heap, ids, size, cost, p):
    """Put an entry in place of the top of the max-heap, which then has `size` entries."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= cost:
            break
        heap[at] = heap[child]
        ids[at] = ids[child]
        at = child
    heap[at] = cost
    ids[at] = p


@part
def near_points(nodes, costs, reach, lo, hi, wanted, leaves, heap, ids, stack, bounds):
    """The positions nearest to an aimed box that hold at least `wanted` free rows together, in no order.

    Writes them to `ids`, with their costs in `heap`, and gives back how many they are (at most `wanted` + 1). Looks
    into so many leaves of the tree at most once it has enough: the likeliest first, so that few give near ones mostly.
    """
    small, large, base = costs.small, costs.large, costs.base
    left, start, end, free = nodes.left, nodes.start, nodes.end, nodes.free
    node_lo, node_hi, points, point_free = nodes.lo, nodes.hi, nodes.points, nodes.point_free
    size = 0
    held = 0
    worst = np.inf
    top = 0
    stack[0] = 0
    bounds[0] = 0.0
    while top >= 0:
        node = stack[top]
        bound = bounds[top]
        top -= 1
        if bound >= worst or (leaves <= 0 and held >= wanted):
            continue
        if left[node] < 0:
            leaves -= 1
            for p in range(start[node], end[node]):
                copies = point_free[p]
                if copies == 0:
                    continue
                cost = point_cost(small, base, reach, points, p, worst)
                if large.shape[0] > 0:
                    cost += point_cost_large(costs, large, lo, hi, points, p)
                if cost >= worst:
                    continue
                push(heap, ids, size, cost, p)
                size += 1
                held += copies
                while held - point_free[ids[0]] >= wanted:
                    held -= point_free[ids[0]]
                    size -= 1
                    replace_top(heap, ids, size, heap[size], ids[size])
                if held >= wanted:
                    worst = heap[0]
            continue
        one = left[node]
        two = one + 1
        bound_one = np.inf
        bound_two = np.inf
        if free[one] > 0:
            bound_one = touch_cost(small, base, reach, lo, node_lo, node_hi, one, worst)
            if large.shape[0] > 0:
                bound_one += touch_cost_large(costs, large, lo, hi, node_lo, node_hi, one)
        if free[two] > 0:
            bound_two = touch_cost(small, base, reach, lo, node_lo, node_hi, two, worst)
            if large.shape[0] > 0:
                bound_two += touch_cost_large(costs, large, lo, hi, node_lo, node_hi, two)
        if bound_two < bound_one:
            one, two = two, one
            bound_one, bound_two = bound_two, bound_one
        if bound_two < worst:
            top += 1
            stack[top] = two
            bounds[top] = bound_two
        if bound_one < worst:
            top += 1
            stack[top] = one
            bounds[top] = bound_one
    return size


@inner
def _shares(costs, scale, items, n, j, low, high, shares):
    """What attribute j adds to the cost of the box for each item, its interval being [low, high] now."""
    if costs.kind[j] == TABLE:
        offset = costs.offset[j]
        width = costs.width[j]
        data = costs.data
        for i in range(n):
            c = items[j, i]
            shares[j, i] = scale * data[np.uint64(offset + min(low, c) * width + max(high, c))]
    else:
        for i in range(n):
            c = items[j, i]
            shares[j, i] = scale * interval_cost(costs, j, min(low, c), max(high, c))


@part
def start_at(costs, scales, items, n, seed, lo, hi, shares):
    """Make [lo, hi] the box of one item."""
    for j in range(lo.shape[0]):
        lo[j] = items[j, seed]
        hi[j] = items[j, seed]
        _shares(costs, scales[j], items, n, j, lo[j], hi[j], shares)


@part
def reach_out(costs, scales, items, n, item, lo, hi, shares):
    """Grow [lo, hi] to hold one more item."""
    for j in range(lo.shape[0]):
        c = items[j, item]
        if c < lo[j] or c > hi[j]:
            lo[j] = min(lo[j], c)
            hi[j] = max(hi[j], c)
            _shares(costs, scales[j], items, n, j, lo[j], hi[j], shares)


@part
def add_up(shares, n, totals):
    """Item → cost of the box grown to hold it: its shares added in the order of the attributes."""
    for i in range(n):
        totals[i] = shares[0, i]
    for j in range(1, shares.shape[0]):
        for i in range(n):
            totals[i] += shares[j, i]


@part
def grow_box(costs, scales, items, weights, n, seed, k, limit, lo, hi, shares, totals):
    """Grow [lo, hi] from an item, by the item that costs it least each time, until it holds k rows.

    Whatever the box holds at no further cost counts at once, and the box is widened to hold it in the end: it may lie
    outside, under the same ancestor or apart in a column that weighs nothing. Attributes are scaled by `scales` while
    choosing. Gives back the true cost of the box: infinite if it reaches `limit`, or if the items hold fewer than k
    rows.
    """
    start_at(costs, scales, items, n, seed, lo, hi, shares)
    while True:
        add_up(shares, n, totals)
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
                        lo[j] = min(lo[j], items[j, i])
                        hi[j] = max(hi[j], items[j, i])
            return box_cost(costs, lo, hi)
        if best < 0:
            return np.inf
        reach_out(costs, scales, items, n, best, lo, hi, shares)
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
