"""Count the rows of a population that match a published group."""

from __future__ import annotations

import numpy as np

from coterie.kernels import kernel, part
from coterie.kernels.search.rows_index import apart, inside
from coterie.kernels.search.walk import make_walk, offer, pop, set_out


@part
def _rows_inside(nodes, low, high, group, narrowed, stamp, walk):
    """Count the rows in a box and, in narrowed columns, with values stamped with the group's number."""
    lists = False
    for j in range(narrowed.shape[0]):
        lists = lists or narrowed[j]
    found = 0
    top = set_out(walk)
    while top >= 0:
        node, bound, top = pop(walk, top)
        if apart(low, high, nodes.lo, nodes.hi, node):
            continue
        if not lists and inside(low, high, nodes.lo, nodes.hi, node):
            found += nodes.free[node]
            continue
        if nodes.left[node] >= 0:
            for child in range(nodes.left[node], nodes.left[node] + 2):
                top = offer(walk, top, child, bound, bound)
            continue
        for p in range(nodes.start[node], nodes.end[node]):
            held = inside(low, high, nodes.points, nodes.points, p)
            for j in range(narrowed.shape[0]):
                held = held and not (narrowed[j] and stamp[j, nodes.points[p, j]] != group)
            if held:
                found += nodes.point_free[p]
    return found


@kernel
def count_matches(nodes, lo, hi, listed, starts, members, codes, limit):
    """Return group → population rows inside its box and, in columns that list values, with one of the group's values.

    Args:
        nodes: The population, all rows free.
        lo: [groups, d] lower ends of the boxes, in the population's codes.
        hi: Upper ends.
        listed: [d] whether the column is published as the set of the group's values.
        starts: Group → where its rows begin in `members`.
        members: Rows by group.
        codes: [rows, d] in the population's codes.
        limit: Sets of more values than this are published as any value.
    """
    groups, d = lo.shape
    result = np.zeros(groups, dtype=np.int64)
    walk = make_walk()
    low = np.empty(d, dtype=np.int32)
    high = np.empty(d, dtype=np.int32)
    narrowed = np.zeros(d, dtype=np.bool_)
    width = 1
    for j in range(d):
        for p in range(nodes.points.shape[0]):
            width = max(width, nodes.points[p, j] + 1)
        for r in range(codes.shape[0]):
            width = max(width, codes[r, j] + 1)
    stamp = np.full((d, width), -1, dtype=np.int32)
    for g in range(groups):
        for j in range(d):
            low[j] = lo[g, j]
            high[j] = hi[g, j]
            narrowed[j] = False
            if listed[j] and low[j] < high[j]:
                held = 0
                for at in range(starts[g], starts[g + 1]):
                    c = codes[members[at], j]
                    if stamp[j, c] != g:
                        stamp[j, c] = g
                        held += 1
                if held <= limit:
                    narrowed[j] = True
                else:
                    low[j] = 0
                    high[j] = width
        result[g] = _rows_inside(nodes, low, high, g, narrowed, stamp, walk)
    return result
