"""The loops of the local search: pool two groups and part their rows anew.

A pool holds its rows as items (distinct rows with weights), [attribute, item]. `side` says where each item goes.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import loop, once, step
from coterie.kernels.improve.pool import (
    at_an_edge,
    clear,
    find_edges,
    grow_side,
    leave_and_join,
    new_pool,
    note_best,
    put_into,
)
from coterie.kernels.search.costs import Aimed, aim_all, new_reach
from coterie.kernels.search.growth import ALL, near_points
from coterie.kernels.search.heap import new_heap
from coterie.kernels.search.walk import new_walk
from coterie.kernels.sorting import sort_pairs

TOLERANCE = 1e-9  # gains below this are rounding


# The groups as they stand, as kernels take them.
#   members: row numbers by group
#   starts: group → where its rows begin in `members`; one more entry at the end
#   labels: row → group
#   lo, hi: group → box
#   costs: group → cost of one row
Pools = namedtuple("Pools", "members starts labels lo hi costs")


# How groups are parted anew.
#   scales: [scale, attribute] factors of the costs while choosing; all 1 in the first
#   tries: how many ways to part a pool are tried
#   neighbours: how many groups nearby are looked at
Parting = namedtuple("Parting", "k scales tries neighbours")


# Arrays that the search for partners writes to.
#   seen: group → for which group it was last tried as a partner
Room = namedtuple("Room", "sides partners gains reach heap walk pool seen")


@once
def _fill(nodes, pools, one, two, pool):
    """Put the rows of two groups (of one, if both are the same) into the pool; gives back how many items they are."""
    n = 0
    for turn in range(1 if one == two else 2):
        group = one if turn == 0 else two
        for at in range(pools.starts[group], pools.starts[group + 1]):
            n = put_into(pool, nodes, pools.members[at], n)
    return n


@once
def _improve(costs, pool, n, k):
    """Move or swap items between the sides while that lowers the loss; gives back the loss.

    An item that lies inside its side's box leaves it as it is, so one of two swapped items is at an edge.
    """
    codes, weights, side, sizes, edges = pool.items.codes, pool.items.weights, pool.side, pool.sizes, pool.edges
    while True:
        now = _loss(costs, pool, n)
        best = now - TOLERANCE
        one = -1
        two = -1
        for i in range(n):
            s = side[i]
            joined = leave_and_join(costs, codes, edges, 1 - s, -1, i)
            at_edge = at_an_edge(codes, edges, s, i)
            if sizes[s] - weights[i] >= k:
                loss = (sizes[s] - weights[i]) * leave_and_join(costs, codes, edges, s, i, -1)
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
                loss = size * leave_and_join(costs, codes, edges, s, i, q)
                if loss < best:
                    loss += other * leave_and_join(costs, codes, edges, 1 - s, q, i)
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


@step
def _loss(costs, pool, n):
    """What the two sides lose, whose edges are found on the way."""
    for s in range(2):
        find_edges(pool.items.codes, pool.side, n, s, pool.edges)
    loss = 0.0
    for s in range(2):
        loss += pool.sizes[s] * leave_and_join(costs, pool.items.codes, pool.edges, s, -1, -1)
    return loss


@once
def _repart(nodes, costs, pools, parting, one, two, pool):
    """The best way found to part the rows of two groups (or one large group); gives back its gain and the items.

    `pool.best_side` holds it, by item; the pool must be cleared by the caller.
    """
    n = _fill(nodes, pools, one, two, pool)
    rows = 0
    for i in range(n):
        rows += pool.items.weights[i]
    before = (pools.starts[one + 1] - pools.starts[one]) * pools.costs[one]
    if one != two:
        before += (pools.starts[two + 1] - pools.starts[two]) * pools.costs[two]
    best = before
    scales, k = parting.scales, parting.k
    for t in range(parting.tries):
        scale = scales[0] if t % 2 == 0 else scales[1 + (one * 31 + two * 17 + t) % (scales.shape[0] - 1)]
        for i in range(n):
            pool.side[i] = 0
        held = grow_side(costs, scale, pool.items, pool.side, n, (t * n) // parting.tries, k, 1)
        if held < k or rows - held < k:
            continue
        pool.sizes[0] = rows - held
        pool.sizes[1] = held
        loss = _loss(costs, pool, n)
        if loss < 1.05 * best:  # worth a closer look
            loss = _improve(costs, pool, n, k)
        if loss < best - TOLERANCE:
            best = loss
            note_best(pool, n)
    return before - best, n


def propose(nodes, costs, pools, parting, asked, sides):
    """For each asked group: the partner with which a new parting gains most, and that gain.

    The partner is the group itself where it is large enough to be parted alone. Gain 0 means that none was found.
    Partners are the groups of the rows that would cost this group's box least. sides[at, i] gets the side of the i-th
    row of the pool: first the group's rows, then its partner's. Pools have at most as many rows as that is wide.
    """
    most = sides.shape[1]
    partners = np.full(len(asked), -1, dtype=np.int32)
    gains = np.zeros(len(asked), dtype=np.float64)
    seen = np.full(pools.costs.shape[0], -1, dtype=np.int32)
    heap, pool = new_heap(most + 4 * parting.k + 2), new_pool(nodes, 2, most)
    room = Room(sides, partners, gains, new_reach(costs), heap, new_walk(), pool, seen)
    _propose(nodes, costs, pools, parting, asked, room)
    return partners, gains


@loop
def _propose(nodes, costs, pools, parting, asked, room):
    sides, partners, gains, reach, heap, walk, pool, seen = room
    most = sides.shape[1]
    k = parting.k
    members, starts, labels, group_costs = pools.members, pools.starts, pools.labels, pools.costs
    row_start, rows, position = nodes.row_start, nodes.rows, nodes.position
    for at in range(asked.shape[0]):
        group = asked[at]
        size = starts[group + 1] - starts[group]
        if group_costs[group] <= 0.0 or size > most:
            continue
        aimed = Aimed(costs, reach, pools.lo[group], pools.hi[group])
        aim_all(aimed)
        count = near_points(nodes, aimed, size + 4 * k, ALL, heap, walk)
        sort_pairs(heap.keys, heap.ids, count)
        seen[group] = group
        tried = 0
        entry = 0
        row = row_start[heap.ids[0]]
        other = group if size >= 2 * k else -1  # a large group is parted alone first
        while tried < parting.neighbours:
            while other < 0 and entry < count:  # the next group nearby
                if row == row_start[heap.ids[entry] + 1]:
                    entry += 1
                    if entry < count:
                        row = row_start[heap.ids[entry]]
                    continue
                other = labels[rows[row]]
                row += 1
                if other >= 0 and (seen[other] == group or size + starts[other + 1] - starts[other] > most):
                    other = -1
            if other < 0:
                break
            seen[other] = group
            tried += 1
            gain, n = _repart(nodes, costs, pools, parting, group, other, pool)
            if gain > gains[at]:
                gains[at] = gain
                partners[at] = other
                for i in range(size):
                    sides[at, i] = pool.best_side[pool.item_at[position[members[starts[group] + i]]]]
                if other != group:
                    for i in range(starts[other + 1] - starts[other]):
                        sides[at, size + i] = pool.best_side[pool.item_at[position[members[starts[other] + i]]]]
            clear(pool, n)
            other = -1
