"""The rows of a few neighbouring groups, pooled to be regrouped, and the sides they are split into.

Items are equal rows of one group: many of them move together, in portions of a few. Only attributes
in which the items differ matter; in all others every side costs nothing.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import part
from coterie.kernels.edges import NO_EDGE, set_edge, with_code, without
from coterie.kernels.search.growth import span_cost
from coterie.kernels.sorting import sort_pairs

# The pooled rows.
#   rows: by item
#   first: item → where its rows begin; one more entry at the end
#   weights: item → how many they are
#   codes: [attribute, item]
#   active: the attributes in which items differ; as many are in use as `fill` has said
#   side: item → side, −1 while it is on none
#   keys: room for sorting, and for the items of a side
Pooled = namedtuple("Pooled", "rows first weights codes active side keys")

# The sides.
#   sizes: side → rows
#   costs: side → cost of one row
#   edges: [side, 6, attribute], see edges.py; set for active attributes only
Sides = namedtuple("Sides", "sizes costs edges")


def new_pooled(d, most):
    """Allocate a pool for this many rows."""
    return Pooled(
        np.empty(most, dtype=np.int32),
        np.empty(most + 1, dtype=np.int32),
        np.empty(most, dtype=np.int64),
        np.empty((d, most), dtype=np.int32),
        np.empty(d, dtype=np.int64),
        np.empty(most, dtype=np.int32),
        np.empty(most, dtype=np.int32),
    )


def new_sides(d, most):
    """Allocate this many sides."""
    return Sides(
        np.empty(most, dtype=np.int64),
        np.empty(most, dtype=np.float64),
        np.empty((most, 6, d), dtype=np.int32),
    )


@part
def fill(nodes, groups, parties, count, portion, pooled):
    """Pool the rows of some groups; return the number of items and active attributes."""
    points, position = nodes.points, nodes.position
    rows, first, codes = pooled.rows, pooled.first, pooled.codes
    n = 0
    held = 0
    for g in range(count):
        start = held
        row = groups.first[parties[g]]
        while row >= 0:
            rows[held] = row
            pooled.keys[held] = position[row]
            held += 1
            row = groups.follower[row]
        if portion > 1:
            sort_pairs(pooled.keys[start:held], rows[start:held], held - start)
        for at in range(start, held):
            p = pooled.keys[at]
            if at > start and portion > 1 and p == pooled.keys[at - 1] and at - first[n - 1] < portion:
                pooled.weights[n - 1] += 1
                continue
            first[n] = at
            pooled.weights[n] = 1
            for j in range(codes.shape[0]):
                codes[j, n] = points[p, j]
            n += 1
    first[n] = held
    active = 0
    for j in range(codes.shape[0]):
        for i in range(1, n):
            if codes[j, i] != codes[j, 0]:
                pooled.active[active] = j
                active += 1
                break
    return n, active


@part
def draw_side(costs, pooled, n, active, sides, s):
    """Set the edges, box and cost of a side from its items; `keys` gets these. Return how many they are."""
    members, count = pooled.keys, 0
    for i in range(n):
        if pooled.side[i] == s:
            members[count] = i
            count += 1
    total = 0.0
    for a in range(active):
        j = pooled.active[a]
        edge = NO_EDGE
        for at in range(count):
            edge = with_code(edge, pooled.codes[j, members[at]])
        set_edge(sides.edges, s, j, edge)
        total += span_cost(costs, j, edge[0], edge[1])
    sides.costs[s] = total
    return count


@part
def cost_with(costs, pooled, active, sides, s, leaver, joiner, limit):
    """Return a side's cost after one item leaves and another joins; −1 means no item. Stops early above `limit`."""
    total = 0.0
    codes, edges = pooled.codes, sides.edges
    for a in range(active):
        j = pooled.active[a]
        low, high = edges[s, 0, j], edges[s, 1, j]
        if leaver >= 0:
            low, high = without(edges, s, j, codes[j, leaver])
        if joiner >= 0:
            low = min(low, codes[j, joiner])
            high = max(high, codes[j, joiner])
        if low < high:
            total += span_cost(costs, j, low, high)
            if total >= limit:
                return total
    return total
