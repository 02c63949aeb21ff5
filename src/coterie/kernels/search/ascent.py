"""Raise the sum of prices as far as the boxes of a pool allow, by subgradient steps.

A box limits every group of k rows in it at once: the k highest prices in it must not add up to more than k times its
cost. Which rows these are changes from step to step.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import inner, loop, part

# Boxes with at least k rows.
#   start: box → its first entry; one more at the end
#   places: entry → place
#   costs: box → cost of one row
Pool = namedtuple("Pool", "start places costs")

# Room to work in.
#   prices, slope: place → price, subgradient
#   least, chosen: place → least slack of a group with it, and the box of that group
#   slack, lowest: box → slack of its k highest prices, and the lowest of these
#   asked, below: box → rows that chose it, and those of them that are not among the k highest
#   values, rows: room to find the k highest
Ascent = namedtuple("Ascent", "prices slope least chosen slack lowest asked below values rows")


def ascend(pool, weights, prices, k, steps, ambition):
    """Return place → price with about the highest sum that no group in a box of the pool violates.

    For any prices u, v(r) = u(r) + the least of c(G) − mean u over the groups of r is feasible on the pool. Each step
    moves u along a subgradient of the sum of v, as far as would be right if the highest sum were above the highest
    found by a share that falls from `ambition` to 0.
    """
    best = prices.copy()
    _ascend(pool, weights, best, k, steps, ambition, _room(pool, prices))
    return best


def box_slacks(pool, weights, prices, k):
    """Return box → its cost, less the mean of the k highest prices in it."""
    room = _room(pool, prices)
    _slacks(pool, weights, k, room)
    return room.slack


def _room(pool, prices):
    size, boxes = len(prices), len(pool.costs)
    longest = int(np.diff(pool.start).max(initial=0))
    places = [np.zeros(size) for _ in range(2)]
    of_boxes = [np.zeros(boxes) for _ in range(4)]
    chosen = np.zeros(size, dtype=np.int64)
    return Ascent(prices.copy(), *places, chosen, *of_boxes, np.empty(longest), np.empty(longest))


@part
def nth_highest(values, rows, count, wanted):
    """Return the value of the `wanted`-th row by descending value; the arrays are reordered.

    Each value counts as often as it has rows. If they are fewer than wanted, the lowest value is returned.
    """
    first, last = 0, count - 1
    while first < last:
        pivot = values[(first + last) // 2]
        i, j = first, last
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                rows[i], rows[j] = rows[j], rows[i]
                i += 1
                j -= 1
        held = 0.0
        for at in range(first, j + 1):
            held += rows[at]
        if wanted <= held:
            last = j
            continue
        for at in range(j + 1, i):
            held += rows[at]
        if wanted <= held or i > last:
            return pivot
        wanted -= held
        first = i
    return values[first]


@inner
def _set_slack(pool, weights, k, room, b):
    """Set the slack of a box's k highest prices, and the lowest of them."""
    prices = room.prices
    count = 0
    for e in range(pool.start[b], pool.start[b + 1]):
        room.values[count] = prices[pool.places[e]]
        room.rows[count] = weights[pool.places[e]]
        count += 1
    lowest = nth_highest(room.values, room.rows, count, k)
    paid, held = 0.0, 0.0
    for e in range(pool.start[b], pool.start[b + 1]):
        p = pool.places[e]
        if prices[p] > lowest:
            paid += weights[p] * prices[p]
            held += weights[p]
    room.lowest[b] = lowest
    room.slack[b] = pool.costs[b] - (paid + (k - held) * lowest) / k


@loop
def _slacks(pool, weights, k, room):
    """Set for each place the least slack of its groups, and whose box it is."""
    prices = room.prices
    for p in range(prices.shape[0]):
        room.least[p] = np.inf
        room.chosen[p] = -1
    for b in range(pool.costs.shape[0]):
        _set_slack(pool, weights, k, room, b)
        for e in range(pool.start[b], pool.start[b + 1]):
            p = pool.places[e]
            # A row that is not among the k highest takes the place of the lowest of them.
            slack = room.slack[b] + max(room.lowest[b] - prices[p], 0.0) / k
            if slack < room.least[p]:
                room.least[p] = slack
                room.chosen[p] = b


@part
def _slopes(pool, weights, k, room):
    """Set the subgradient: each row asks for the whole of its group with the least slack."""
    slope, asked, below, prices = room.slope, room.asked, room.below, room.prices
    for b in range(asked.shape[0]):
        asked[b] = 0.0
        below[b] = 0.0
    for p in range(slope.shape[0]):
        b = room.chosen[p]
        slope[p] = 0.0
        if b >= 0:
            slope[p] = weights[p]
            asked[b] += weights[p]
            if prices[p] < room.lowest[b]:
                below[b] += weights[p]
                slope[p] -= weights[p] / k
    for b in range(asked.shape[0]):
        if asked[b] == 0.0:
            continue
        held, equal = 0.0, 0.0
        for e in range(pool.start[b], pool.start[b + 1]):
            p = pool.places[e]
            if prices[p] > room.lowest[b]:
                slope[p] -= weights[p] * asked[b] / k
                held += weights[p]
            elif prices[p] == room.lowest[b]:
                equal += weights[p]
        # The rows with the lowest of the k highest prices share what is left of the group.
        left = ((k - held) * asked[b] - below[b]) / (k * equal)
        for e in range(pool.start[b], pool.start[b + 1]):
            p = pool.places[e]
            if prices[p] == room.lowest[b]:
                slope[p] -= weights[p] * left


@loop
def _ascend(pool, weights, best, k, steps, ambition, room):
    size = best.shape[0]
    highest = -np.inf
    for step in range(steps):
        _slacks(pool, weights, k, room)
        value = 0.0
        for p in range(size):
            value += weights[p] * (room.prices[p] + (room.least[p] if room.chosen[p] >= 0 else 0.0))
        if value > highest:
            highest = value
            for p in range(size):
                best[p] = room.prices[p] + (room.least[p] if room.chosen[p] >= 0 else 0.0)
        _slopes(pool, weights, k, room)
        # All rows of a place move together, as far as one of them would.
        norm = 0.0
        for p in range(size):
            norm += room.slope[p] * room.slope[p] / weights[p]
        if norm <= 0.0:
            return
        aim = ambition * (1.0 - step / steps) * abs(highest) + highest - value
        for p in range(size):
            room.prices[p] += aim / norm * room.slope[p] / weights[p]
