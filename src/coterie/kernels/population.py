"""How many rows of a population match what a group is published as."""

from __future__ import annotations

import numpy as np

from coterie.kernels import kernel
from coterie.kernels.search.rows_index import STACK


@kernel
def count_matches(nodes, lo, hi, listed, starts, members, codes, limit):
    """Group → rows of a population inside its box and, in columns that list values, with one that the group holds.

    Args:
        nodes: The population, all rows free.
        lo: [groups, d] lower ends of the boxes, in the population's codes.
        hi: Upper ends.
        listed: [d] whether the column is published as the set of values that the group holds.
        starts: Group → where its rows begin in `members`.
        members: Rows by group.
        codes: [rows, d] in the population's codes.
        limit: Sets of more values than this are published as any value.
    """
    groups, d = lo.shape
    result = np.zeros(groups, dtype=np.int64)
    stack = np.empty(STACK, dtype=np.int32)
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
        lists = False
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
                    lists = True
                else:
                    low[j] = 0
                    high[j] = width
        top = 0
        stack[0] = 0
        while top >= 0:
            node = stack[top]
            top -= 1
            apart = False
            within = True
            for j in range(d):
                if nodes.lo[node, j] > high[j] or nodes.hi[node, j] < low[j]:
                    apart = True
                    break
                if nodes.lo[node, j] < low[j] or nodes.hi[node, j] > high[j]:
                    within = False
            if apart:
                continue
            if within and not lists:
                result[g] += nodes.free[node]
                continue
            if nodes.left[node] >= 0:
                stack[top + 1] = nodes.left[node]
                stack[top + 2] = nodes.left[node] + 1
                top += 2
                continue
            for p in range(nodes.start[node], nodes.end[node]):
                inside = True
                for j in range(d):
                    c = nodes.points[p, j]
                    if c < low[j] or c > high[j] or (narrowed[j] and stamp[j, c] != g):
                        inside = False
                        break
                if inside:
                    result[g] += nodes.point_free[p]
    return result
