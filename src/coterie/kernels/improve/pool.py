"""Rows of a pool that lie on one side or another: growing a side, and what it costs when rows come and go.

A pool holds its rows as items (distinct rows with weights), [attribute, item]; `side` says where each item is.
"""

from __future__ import annotations

import numpy as np

from coterie.kernels import inner, part
from coterie.kernels.search.costs import interval_cost
from coterie.kernels.search.growth import add_up, reach_out, start_at


@part
def grow_side(costs, scales, items, weights, n, seed, k, s, side, lo, hi, shares, totals):
    """Side s grows from a seed over the items of side 0, item by item, to at least k rows. Gives back its rows."""
    side[seed] = s
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
        side[best] = s
        held += weights[best]
        if least > totals[seed]:
            reach_out(costs, scales, items, n, best, lo, hi, shares)
            add_up(shares, n, totals)
    return held


@part
def find_edges(items, side, n, s, edges):
    """Per attribute of a side: lowest code, highest, how many items are there, next lowest and next highest."""
    for j in range(items.shape[0]):
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


@part
def leave_and_join(costs, items, edges, s, leaver, joiner):
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


@part
def at_an_edge(items, edges, s, i):
    """Whether a side's box would shrink without this item."""
    for j in range(items.shape[0]):
        c = items[j, i]
        if (c == edges[s, 0, j] and edges[s, 2, j] == 1) or (c == edges[s, 1, j] and edges[s, 3, j] == 1):
            return True
    return False
