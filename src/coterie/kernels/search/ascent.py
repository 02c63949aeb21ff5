"""Raise the sum of prices as far as the groups of a pool allow, by subgradient steps."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import loop, part

# Groups of at least k rows.
#   start: group → its first entry; one more at the end
#   places, counts: entry → place, and how many rows of it the group holds
#   costs, sizes: group → cost of one row, rows
Pool = namedtuple("Pool", "start places counts costs sizes")

# Room to work in.
#   prices, slope: place → price, subgradient
#   least, chosen: place → least slack of a group with it, and which group
#   asked: group → how much of it the places choose
Ascent = namedtuple("Ascent", "prices slope least chosen asked")


def ascend(pool, weights, prices, steps, ambition):
    """Return place → price with about the highest sum that no group of the pool violates.

    For any prices u, v(r) = u(r) + the least of c(G) − mean u over the groups of r is feasible on the pool. Each step
    moves u along a subgradient of the sum of v, as far as would be right if the highest sum were above the highest
    found by a share that falls from `ambition` to 0.
    """
    size, best = len(prices), prices.copy()
    room = Ascent(
        prices.copy(),
        np.zeros(size),
        np.zeros(size),
        np.zeros(size, dtype=np.int64),
        np.zeros(len(pool.costs)),
    )
    _ascend(pool, weights, best, steps, ambition, room)
    return best


@part
def _slacks(pool, room):
    """Set for each place the least slack of its groups, and which group has it."""
    for p in range(room.least.shape[0]):
        room.least[p] = np.inf
        room.chosen[p] = -1
    for g in range(pool.costs.shape[0]):
        paid = 0.0
        for e in range(pool.start[g], pool.start[g + 1]):
            paid += pool.counts[e] * room.prices[pool.places[e]]
        slack = pool.costs[g] - paid / pool.sizes[g]
        for e in range(pool.start[g], pool.start[g + 1]):
            p = pool.places[e]
            if slack < room.least[p]:
                room.least[p] = slack
                room.chosen[p] = g


@part
def _slopes(pool, weights, room):
    """Set the subgradient: each row asks for the whole of its group with the least slack."""
    slope, asked = room.slope, room.asked
    for g in range(asked.shape[0]):
        asked[g] = 0.0
    for p in range(slope.shape[0]):
        slope[p] = 0.0
        if room.chosen[p] >= 0:
            slope[p] = weights[p]
            asked[room.chosen[p]] += weights[p]
    for g in range(asked.shape[0]):
        if asked[g] > 0.0:
            for e in range(pool.start[g], pool.start[g + 1]):
                slope[pool.places[e]] -= pool.counts[e] * asked[g] / pool.sizes[g]


@loop
def _ascend(pool, weights, best, steps, ambition, room):
    size = best.shape[0]
    highest = -np.inf
    for step in range(steps):
        _slacks(pool, room)
        value = 0.0
        for p in range(size):
            if room.chosen[p] >= 0:
                value += weights[p] * (room.prices[p] + room.least[p])
        if value > highest:
            highest = value
            for p in range(size):
                best[p] = room.prices[p] + (room.least[p] if room.chosen[p] >= 0 else 0.0)
        _slopes(pool, weights, room)
        norm = 0.0
        for p in range(size):
            norm += room.slope[p] * room.slope[p]
        if norm <= 0.0:
            return
        aim = ambition * (1.0 - step / steps) * abs(highest) + highest - value
        for p in range(size):
            room.prices[p] += aim / norm * room.slope[p]
