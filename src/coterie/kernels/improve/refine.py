"""The loops of the local search: pool two groups and part their rows anew.

A pool holds its rows as items (distinct rows with weights), [attribute, item]. `side` says where each item goes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.kernels import loop, once
from coterie.kernels.improve.pool import at_an_edge, find_edges, grow_side, leave_and_join
from coterie.kernels.search.costs import aim_all
from coterie.kernels.search.growth import ALL, near_points
from coterie.kernels.search.rows_index import STACK
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


@once
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


@once
def _improve(costs, items, weights, n, k, side, sizes, edges):
    """Move or swap items between the sides while that lowers the loss; gives back the loss.

    An item that lies inside its side's box leaves it as it is, so one of two swapped items is at an edge.
    """
    while True:
        for s in range(2):
            find_edges(items, side, n, s, edges)
        now = 0.0
        for s in range(2):
            now += sizes[s] * leave_and_join(costs, items, edges, s, -1, -1)
        best = now - TOLERANCE
        one = -1
        two = -1
        for i in range(n):
            s = side[i]
            joined = leave_and_join(costs, items, edges, 1 - s, -1, i)
            at_edge = at_an_edge(items, edges, s, i)
            if sizes[s] - weights[i] >= k:
                loss = (sizes[s] - weights[i]) * leave_and_join(costs, items, edges, s, i, -1)
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
                loss = size * leave_and_join(costs, items, edges, s, i, q)
                if loss < best:
                    loss += other * leave_and_join(costs, items, edges, 1 - s, q, i)
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


@once
def _repart(
    nodes, costs, pools, k, scales, tries, one, two, slot, slots, items, weights, side, best_side, shares, totals,
    low, high, sizes, edges,
):  # fmt: skip
    """The best way found to part the rows of two groups (or one large group); gives back its gain and the items.

    `best_side` holds it, by item; `slot` still maps positions to items and must be cleared by the caller.
    """
    n = _pool(nodes, pools, one, two, slot, slots, items, weights)
    rows = 0
    for i in range(n):
        rows += weights[i]
    before = (pools.starts[one + 1] - pools.starts[one]) * pools.costs[one]
    if one != two:
        before += (pools.starts[two + 1] - pools.starts[two]) * pools.costs[two]
    best = before
    for t in range(tries):
        scale = scales[0] if t % 2 == 0 else scales[1 + (one * 31 + two * 17 + t) % (scales.shape[0] - 1)]
        seed = (t * n) // tries
        for i in range(n):
            side[i] = 0
        held = grow_side(costs, scale, items, weights, n, seed, k, 1, side, low, high, shares, totals)
        if held < k or rows - held < k:
            continue
        sizes[0] = rows - held
        sizes[1] = held
        for s in range(2):
            find_edges(items, side, n, s, edges)
        loss = 0.0
        for s in range(2):
            loss += sizes[s] * leave_and_join(costs, items, edges, s, -1, -1)
        if loss < 1.05 * best:  # worth a closer look
            loss = _improve(costs, items, weights, n, k, side, sizes, edges)
        if loss < best - TOLERANCE:
            best = loss
            for i in range(n):
                best_side[i] = side[i]
    return before - best, n


def propose(nodes, costs, pools, k, scales, tries, neighbours, asked, first, last, sides):
    """For the groups asked[first:last]: the partner with which a new parting gains most, and that gain.

    The partner is the group itself where it is large enough to be parted alone. Gain 0 means that none was found.
    Partners are the groups of the rows that would cost this group's box least. sides[at, i] gets the side of the i-th
    row of the pool: first the group's rows, then its partner's. Pools have at most as many rows as that is wide.
    """
    d = nodes.points.shape[1]
    most = sides.shape[1]
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
    seen = np.full(pools.costs.shape[0], -1, dtype=np.int32)
    heap = np.empty(most + 4 * k + 2, dtype=np.float64)
    ids = np.empty(most + 4 * k + 2, dtype=np.int32)
    lo = np.empty(d, dtype=np.int32)
    hi = np.empty(d, dtype=np.int32)
    sizes = np.empty(2, dtype=np.int64)
    edges = np.empty((2, 6, d), dtype=np.int32)
    _propose(
        nodes, costs, pools, k, scales, tries, neighbours, asked, first, last, sides, partners, gains,
        reach, stack, bounds, slot, slots, items, weights, side, best_side, shares, totals, seen, heap, ids,
        lo, hi, sizes, edges,
    )  # fmt: skip
    return partners, gains


@loop
def _propose(
    nodes, costs, pools, k, scales, tries, neighbours, asked, first, last, sides, partners, gains,
    reach, stack, bounds, slot, slots, items, weights, side, best_side, shares, totals, seen, heap, ids,
    lo, hi, sizes, edges,
):  # fmt: skip
    most = sides.shape[1]
    members, starts, labels, group_costs = pools.members, pools.starts, pools.labels, pools.costs
    row_start, rows, position = nodes.row_start, nodes.rows, nodes.position
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
                nodes, costs, pools, k, scales, tries, group, other, slot, slots, items, weights, side, best_side,
                shares, totals, lo, hi, sizes, edges,
            )  # fmt: skip
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
