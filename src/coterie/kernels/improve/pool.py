"""Rows of a pool that lie on one side or another: growing a side, and what it costs when rows come and go.

A pool holds its rows as items (distinct rows with weights), [attribute, item]; `side` says where each item is.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import inner, part, step
from coterie.kernels.edges import NO_EDGE, set_edge, with_code, without
from coterie.kernels.search.costs import interval_cost
from coterie.kernels.search.growth import add_up, new_items, reach_out, start_at

# The rows of some groups as items, and a way to part them.
#   item_at: position → item, −1 if no row of the pool is there
#   positions: item → position
#   side: item → side
#   best_side: item → side, in the best way found so far
#   sizes: side → rows
#   edges: [side, 6, attribute], see edges.py
Pool = namedtuple("Pool", "items item_at positions side best_side sizes edges")


def new_pool(nodes, sides, most):
    """Room for a pool of at most so many items, parted into so many sides."""
    d = nodes.points.shape[1]
    side = np.empty(most, dtype=np.int8)
    return Pool(
        new_items(d, most),
        np.full(nodes.points.shape[0], -1, dtype=np.int32),
        np.empty(most, dtype=np.int32),
        side,
        side.copy(),
        np.empty(sides, dtype=np.int64),
        np.empty((sides, 6, d), dtype=np.int32),
    )


@inner
def put_into(pool, nodes, row, n):
    """Put a row into a pool of n items; gives back how many they are now."""
    p = nodes.position[row]
    if pool.item_at[p] < 0:
        pool.item_at[p] = n
        pool.positions[n] = p
        pool.items.weights[n] = 0
        for j in range(nodes.points.shape[1]):
            pool.items.codes[j, n] = nodes.points[p, j]
        n += 1
    pool.items.weights[pool.item_at[p]] += 1
    return n


@step
def clear(pool, n):
    """Take all items out of a pool."""
    for i in range(n):
        pool.item_at[pool.positions[i]] = -1


@step
def note_best(pool, n):
    """Remember how the items are parted."""
    for i in range(n):
        pool.best_side[i] = pool.side[i]


@part
def grow_side(costs, scales, items, side, n, seed, k, s):
    """Side s grows from a seed over the items of side 0, item by item, to at least k rows. Gives back its rows."""
    weights, totals = items.weights, items.totals
    side[seed] = s
    held = weights[seed]
    start_at(costs, scales, items, n, seed)
    add_up(items.shares, n, totals)
    while held < k:
        best = -1
        least = np.inf
        for i in range(n):
            if side[i] == 0 and totals[i] < least:
                least = totals[i]
                best = i
        if best < 0:
            return held
        side[best] = s
        held += weights[best]
        if least > totals[seed]:
            reach_out(costs, scales, items, n, best)
            add_up(items.shares, n, totals)
    return held


@part
def find_edges(items, side, n, s, edges):
    """The edges of a side, see edges.py."""
    for j in range(items.shape[0]):
        edge = NO_EDGE
        for i in range(n):
            if side[i] == s:
                edge = with_code(edge, items[j, i])
        set_edge(edges, s, j, edge)


@part
def leave_and_join(costs, items, edges, s, leaver, joiner):
    """Cost of a side when an item leaves and another joins it; −1 stands for no item."""
    total = 0.0
    for j in range(items.shape[0]):
        low, high = edges[s, 0, j], edges[s, 1, j]
        if leaver >= 0:
            low, high = without(edges, s, j, items[j, leaver])
        if joiner >= 0:
            low = min(low, items[j, joiner])
            high = max(high, items[j, joiner])
        if low < high:
            total += interval_cost(costs, j, low, high)
    return total


@part
def at_an_edge(items, edges, s, i):
    """Whether a side's box would shrink without this item."""
    for j in range(items.shape[0]):
        c = items[j, i]
        if (c == edges[s, 0, j] and edges[s, 2, j] == 1) or (c == edges[s, 1, j] and edges[s, 3, j] == 1):
            return True
    return False
