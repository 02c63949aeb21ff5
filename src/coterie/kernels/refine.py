"""The loops of the local search: pool two groups and part their rows anew.

A pool holds its rows as items (distinct rows with weights), [attribute, item]. `side` says where each item goes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.kernels import inner, kernel
from coterie.kernels.costs import aim_all, interval_cost
from coterie.kernels.growth import ALL, add_up, near_points, reach_out, start_at
from coterie.kernels.index import STACK
from coterie.kernels.sorting import sort_pairs

TOLERANCE = 1e-9  # gains below this are rounding


class Pools(NamedTuple):
    """The groups as they stand, as kernels take them."""

    members: npt.NDArray[np.int32]
    """row numbers by group"""
    starts: npt.NDArray[np.int64]
    """group → where its rows begin in `members`; one more entry at the end"""
    labels: npt.NDArray[np.int32]
    """row → group"""
    lo: npt.NDArray[np.int32]
    hi: npt.NDArray[np.int32]
    """group → box"""
    costs: npt.NDArray[np.float64]
    """group → cost of one row"""


@kernel
def _pool(nodes, pools, one, two, slot, slots, items, weights):
    """Items of two groups (of one, if both are the same); gives back how many. `slot` maps positions to items."""
    d = items.shape[0]
    n = 0
    for turn in range(1 if one == two else 2):
        group = one if turn == 0 else two
        for at in range(pools.starts[group], pools.starts[group + 1]):
            p = nodes.position[pools.members[at]]
            if slot[p] < 0:
                slot[p] = n
                slots[n] = p
                weights[n] = 0
                for j in range(d):
                    items[j, n] = nodes.points[p, j]
                n += 1
            weights[slot[p]] += 1
    return n


@kernel
def _part(costs, scales, items, weights, n, seed, k, side, lo, hi, shares, totals):
    """Side 1 grows from a seed, item by item, to at least k rows; the rest is side 0. Gives back side 1's rows."""
    for i in range(n):
        side[i] = 0
    side[seed] = 1
    held = weights[seed]
    start_at(costs, scales, items, n, seed, lo, hi, shares)
    add_up(shares, n, totals)
    while held < k:
        best = -1
        least = np.inf
        for i in range(n):
            if side[i] == 0 and totals[i] < least:
                least = totals[i]
                best = i
        if best < 0:
            return held
        side[best] = 1
        held += weights[best]
        if least > totals[seed]:
            reach_out(costs, scales, items, n, best, lo, hi, shares)
            add_up(shares, n, totals)
    return held


@kernel
def _edges(items, side, n, edges):
    """Per side and attribute: lowest code, highest, how many items are there, next lowest and next highest."""
    d = items.shape[0]
    for s in range(2):
        for j in range(d):
            lowest, highest, at_low, at_high = 2**31 - 1, -1, 0, 0
            next_low, next_high = 2**31 - 1, -1
            for i in range(n):
                if side[i] != s:
                    continue
                c = items[j, i]
                if c < lowest:
                    next_low = lowest
                    lowest = c
                    at_low = 1
                elif c == lowest:
                    at_low += 1
                elif c < next_low:
                    next_low = c
                if c > highest:
                    next_high = highest
                    highest = c
                    at_high = 1
                elif c == highest:
                    at_high += 1
                elif c > next_high:
                    next_high = c
            edges[s, 0, j] = lowest
            edges[s, 1, j] = highest
            edges[s, 2, j] = at_low
            edges[s, 3, j] = at_high
            edges[s, 4, j] = next_low
            edges[s, 5, j] = next_high


@inner
def _without(edges, s, j, c):
    """The interval of a side when an item with the code c leaves it (empty, lowest > highest, if it was alone)."""
    low = edges[s, 0, j]
    high = edges[s, 1, j]
    if c == low and edges[s, 2, j] == 1:
        low = edges[s, 4, j]
    if c == high and edges[s, 3, j] == 1:
        high = edges[s, 5, j]
    return low, high


@kernel
def _leave_and_join(costs, items, edges, s, leaver, joiner):
    """Cost of a side when an item leaves and another joins it; −1 stands for no item."""
    total = 0.0
    for j in range(items.shape[0]):
        low, high = edges[s, 0, j], edges[s, 1, j]
        if leaver >= 0:
            low, high = _without(edges, s, j, items[j, leaver])
        if joiner >= 0:
            low = min(low, items[j, joiner])
            high = max(high, items[j, joiner])
        if low < high:
            total += interval_cost(costs, j, low, high)
    return total


@kernel
def _at_an_edge(items, edges, s, i):
    """Whether a side's box would shrink without this item."""
    for j in range(items.shape[0]):
        c = items[j, i]
        if (c == edges[s, 0, j] and edges[s, 2, j] == 1) or (c == edges[s, 1, j] and edges[s, 3, j] == 1):
            return True
    return False


@kernel
def _improve(costs, items, weights, n, k, side, sizes, edges):
    """Move or swap items between the sides while that lowers the loss; gives back the loss.

    An item that lies inside its side's box leaves it as it is, so one of two swapped items is at an edge.
    """
    while True:
        _edges(items, side, n, edges)
        now = 0.0
        for s in range(2):
            now += sizes[s] * _leave_and_join(costs, items, edges, s, -1, -1)
        best = now - TOLERANCE
        one = -1
        two = -1
        for i in range(n):
            s = side[i]
            joined = _leave_and_join(costs, items, edges, 1 - s, -1, i)
            at_edge = _at_an_edge(items, edges, s, i)
            if sizes[s] - weights[i] >= k:
                loss = (sizes[s] - weights[i]) * _leave_and_join(costs, items, edges, s, i, -1)
                loss += (sizes[1 - s] + weights[i]) * joined
                if loss < best:
                    best = loss
                    one = i
                    two = -1
            if not at_edge:
                continue
            for q in range(n):
                if side[q] == s:
                    continue
                size = sizes[s] - weights[i] + weights[q]
                other = sizes[1 - s] - weights[q] + weights[i]
                if size < k or other < k:
                    continue
                loss = size * _leave_and_join(costs, items, edges, s, i, q)
                if loss < best:
                    loss += other * _leave_and_join(costs, items, edges, 1 - s, q, i)
                    if loss < best:
                        best = loss
                        one = i
                        two = q
        if one < 0:
            return now
        for i in (one, two):
            if i >= 0:
                s = side[i]
                side[i] = 1 - s
                sizes[s] -= weights[i]
                sizes[1 - s] += weights[i]


@kernel
def _repart(
    nodes, costs, pools, k, scales, tries, one, two, slot, slots, items, weights, side, best_side, shares, totals
):
    """The best way found to part the rows of two groups (or one large group); gives back its gain and the items.

    `best_side` holds it, by item; `slot` still maps positions to items and must be cleared by the caller.
    """
    d = items.shape[0]
    n = _pool(nodes, pools, one, two, slot, slots, items, weights)
    rows = 0
    for i in range(n):
        rows += weights[i]
    before = (pools.starts[one + 1] - pools.starts[one]) * pools.costs[one]
    if one != two:
        before += (pools.starts[two + 1] - pools.starts[two]) * pools.costs[two]
    low = np.empty(d, dtype=np.int32)
    high = np.empty(d, dtype=np.int32)
    sizes = np.empty(2, dtype=np.int64)
    edges = np.empty((2, 6, d), dtype=np.int32)
    best = before
    for t in range(tries):
        scale = scales[0] if t % 2 == 0 else scales[1 + (one * 31 + two * 17 + t) % (scales.shape[0] - 1)]
        seed = (t * n) // tries
        held = _part(costs, scale, items, weights, n, seed, k, side, low, high, shares, totals)
        if held < k or rows - held < k:
            continue
        sizes[0] = rows - held
        sizes[1] = held
        _edges(items, side, n, edges)
        loss = 0.0
        for s in range(2):
            loss += sizes[s] * _leave_and_join(costs, items, edges, s, -1, -1)
        if loss < 1.05 * best:  # worth a closer look
            loss = _improve(costs, items, weights, n, k, side, sizes, edges)
        if loss < best - TOLERANCE:
            best = loss
            for i in range(n):
                best_side[i] = side[i]
    return before - best, n


@kernel
def propose(nodes, costs, pools, k, scales, tries, neighbours, asked, first, last, sides):
    """For the groups asked[first:last]: the partner with which a new parting gains most, and that gain.

    The partner is the group itself where it is large enough to be parted alone. Gain 0 means that none was found.
    Partners are the groups of the rows that would cost this group's box least. sides[at, i] gets the side of the i-th
    row of the pool: first the group's rows, then its partner's. Pools have at most as many rows as that is wide.
    """
    d = nodes.points.shape[1]
    most = sides.shape[1]
    members, starts, labels, group_costs = pools.members, pools.starts, pools.labels, pools.costs
    row_start, rows, position = nodes.row_start, nodes.rows, nodes.position
    partners = np.full(last - first, -1, dtype=np.int32)
    gains = np.zeros(last - first, dtype=np.float64)
    reach = np.empty(costs.base[-1], dtype=np.float64)
    stack = np.empty(STACK, dtype=np.int32)
    bounds = np.empty(STACK, dtype=np.float64)
    slot = np.full(nodes.points.shape[0], -1, dtype=np.int32)
    slots = np.empty(most, dtype=np.int32)
    items = np.empty((d, most), dtype=np.int32)
    weights = np.empty(most, dtype=np.int64)
    side = np.empty(most, dtype=np.int8)
    best_side = np.empty(most, dtype=np.int8)
    shares = np.empty((d, most), dtype=np.float64)
    totals = np.empty(most, dtype=np.float64)
    seen = np.full(group_costs.shape[0], -1, dtype=np.int32)
    heap = np.empty(most + 4 * k + 2, dtype=np.float64)
    ids = np.empty(most + 4 * k + 2, dtype=np.int32)
    for at in range(first, last):
        group = asked[at]
        size = starts[group + 1] - starts[group]
        if group_costs[group] <= 0.0 or size > most:
            continue
        low = pools.lo[group]
        high = pools.hi[group]
        aim_all(costs, reach, low, high)
        count = near_points(nodes, costs, reach, low, high, size + 4 * k, ALL, heap, ids, stack, bounds)
        sort_pairs(heap, ids, count)
        seen[group] = group
        tried = 0
        place = 0
        row = row_start[ids[0]]
        other = group if size >= 2 * k else -1  # a large group is parted alone first
        while tried < neighbours:
            while other < 0 and place < count:  # the next group nearby
                if row == row_start[ids[place] + 1]:
                    place += 1
                    if place < count:
                        row = row_start[ids[place]]
                    continue
                other = labels[rows[row]]
                row += 1
                if other >= 0 and (seen[other] == group or size + starts[other + 1] - starts[other] > most):
                    other = -1
            if other < 0:
                break
            seen[other] = group
            tried += 1
            gain, n = _repart(
                nodes,
                costs,
                pools,
                k,
                scales,
                tries,
                group,
                other,
                slot,
                slots,
                items,
                weights,
                side,
                best_side,
                shares,
                totals,
            )
            if gain > gains[at - first]:
                gains[at - first] = gain
                partners[at - first] = other
                for i in range(size):
                    sides[at, i] = best_side[slot[position[members[starts[group] + i]]]]
                if other != group:
                    for i in range(starts[other + 1] - starts[other]):
                        sides[at, size + i] = best_side[slot[position[members[starts[other] + i]]]]
            for i in range(n):
                slot[slots[i]] = -1
            other = -1
    return partners, gains
