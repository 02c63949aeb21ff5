"""The loops that pool several neighbouring groups and part their rows anew into as many."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.kernels import inner, kernel, part
from coterie.kernels.improve.pool import at_an_edge, find_edges, grow_side, leave_and_join
from coterie.kernels.search.costs import aim_all, box_cost
from coterie.kernels.search.growth import ALL, near_points
from coterie.kernels.search.rows_index import STACK
from coterie.kernels.sorting import sort_pairs

TOLERANCE = 1e-9  # gains below this are rounding
CLOSE = 1.05  # a parting that costs no more than this times the best is worth a closer look


class Chains(NamedTuple):
    """The groups as they stand, to be changed in place; each group's rows as a linked list."""

    first: npt.NDArray[np.int32]
    """group → its first row"""
    follower: npt.NDArray[np.int32]
    """row → the next row of its group, −1 at the end"""
    labels: npt.NDArray[np.int32]
    """row → group"""
    lo: npt.NDArray[np.int32]
    hi: npt.NDArray[np.int32]
    """group → box"""
    sizes: npt.NDArray[np.int64]
    """group → rows"""
    costs: npt.NDArray[np.float64]
    """group → cost of one row"""


@inner
def _next(draws):
    """The next number of a random sequence: a linear congruential step, of which the upper bits are used."""
    draws[0] = draws[0] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return np.int64(draws[0] >> np.uint64(33))


@kernel
def _pool(nodes, chains, parties, slot, slots, items, weights):
    """Items of the groups; gives back how many. `slot` maps positions to items."""
    n = 0
    for group in parties:
        row = chains.first[group]
        while row >= 0:
            p = nodes.position[row]
            if slot[p] < 0:
                slot[p] = n
                slots[n] = p
                weights[n] = 0
                for j in range(items.shape[0]):
                    items[j, n] = nodes.points[p, j]
                n += 1
            weights[slot[p]] += 1
            row = chains.follower[row]
    return n


@kernel
def _improve(costs, items, weights, n, k, side, sizes, edges, losses):
    """Move an item to another side, or swap two, while that lowers the loss; `losses` has it by side."""
    m = sizes.shape[0]
    while True:
        best = -TOLERANCE
        one, two, to = -1, -1, -1
        for i in range(n):
            s = np.int64(side[i])
            left_over = sizes[s] - weights[i]
            if left_over < k and not at_an_edge(items, edges, s, i):
                continue
            left = left_over * leave_and_join(costs, items, edges, s, i, -1) - losses[s]
            for t in range(m):
                if t == s:
                    continue
                if left_over >= k:
                    rise = (sizes[t] + weights[i]) * leave_and_join(costs, items, edges, t, -1, i) - losses[t]
                    if left + rise < best:
                        best = left + rise
                        one, two, to = i, -1, t
                if left > -TOLERANCE:
                    continue
                for q in range(n):
                    size = left_over + weights[q]
                    other = sizes[t] - weights[q] + weights[i]
                    if side[q] != t or size < k or other < k:
                        continue
                    gain = size * leave_and_join(costs, items, edges, s, i, q) - losses[s] - losses[t]
                    if gain < best:
                        gain += other * leave_and_join(costs, items, edges, t, q, i)
                        if gain < best:
                            best = gain
                            one, two, to = i, q, t
        if one < 0:
            return
        s = np.int64(side[one])
        side[one] = to
        sizes[s] -= weights[one]
        sizes[to] += weights[one]
        if two >= 0:
            side[two] = s
            sizes[to] -= weights[two]
            sizes[s] += weights[two]
        for changed in (s, np.int64(to)):
            find_edges(items, side, n, changed, edges)
            losses[changed] = sizes[changed] * leave_and_join(costs, items, edges, changed, -1, -1)


@kernel
def _part(costs, scales, items, weights, n, rows, k, draws, plain, side, sizes, lo, hi, shares, totals):
    """Grow all sides but the first from seeds at random; the first gets the rest. False if that is too little."""
    for i in range(n):
        side[i] = 0
    left = rows
    for s in range(1, sizes.shape[0]):
        seed = _next(draws) % n
        while side[seed] != 0:
            seed = (seed + 1) % n
        scale = scales[0] if plain else scales[1 + _next(draws) % (scales.shape[0] - 1)]
        sizes[s] = grow_side(costs, scale, items, weights, n, seed, k, s, side, lo, hi, shares, totals)
        left -= sizes[s]
        if left < k:
            return False
    sizes[0] = left
    return True


@part
def _apply(nodes, chains, parties, slot, side, moved):
    """Make groups of the sides."""
    d = chains.lo.shape[1]
    count = 0
    for group in parties:
        row = chains.first[group]
        while row >= 0:
            moved[count] = row
            count += 1
            row = chains.follower[row]
        chains.first[group] = -1
        chains.sizes[group] = 0
    for i in range(count - 1, -1, -1):
        row = moved[i]
        p = nodes.position[row]
        group = parties[side[slot[p]]]
        for j in range(d):
            c = nodes.points[p, j]
            chains.lo[group, j] = c if chains.sizes[group] == 0 else min(chains.lo[group, j], c)
            chains.hi[group, j] = c if chains.sizes[group] == 0 else max(chains.hi[group, j], c)
        chains.follower[row] = chains.first[group]
        chains.first[group] = row
        chains.labels[row] = group
        chains.sizes[group] += 1


@kernel
def rebuild(nodes, costs, chains, k, scales, tries, choices, neighbours, parties, most, asked, draws):
    """Pool each asked group with others nearby, chosen at random so many times, and part them anew where that helps.

    `chains` is brought up to date; gives back how often it helped. `parties` is as long as the number of groups to be
    pooled; pools of more than `most` rows are left alone. `draws` holds the state of the random sequence.
    """
    d = nodes.points.shape[1]
    m = parties.shape[0]
    reach = np.empty(costs.base[-1], dtype=np.float64)
    stack = np.empty(STACK, dtype=np.int32)
    bounds = np.empty(STACK, dtype=np.float64)
    heap = np.empty(most + 4 * k + 2, dtype=np.float64)
    ids = np.empty(most + 4 * k + 2, dtype=np.int32)
    seen = np.full(chains.sizes.shape[0], -1, dtype=np.int32)
    near = np.empty(neighbours, dtype=np.int32)
    slot = np.full(nodes.points.shape[0], -1, dtype=np.int32)
    slots = np.empty(most, dtype=np.int32)
    items = np.empty((d, most), dtype=np.int32)
    weights = np.empty(most, dtype=np.int64)
    side = np.empty(most, dtype=np.int8)
    best_side = np.empty(most, dtype=np.int8)
    shares = np.empty((d, most), dtype=np.float64)
    totals = np.empty(most, dtype=np.float64)
    low = np.empty(d, dtype=np.int32)
    high = np.empty(d, dtype=np.int32)
    sizes = np.empty(m, dtype=np.int64)
    losses = np.empty(m, dtype=np.float64)
    edges = np.empty((m, 6, d), dtype=np.int32)
    helped = 0
    for group in asked:
        if chains.costs[group] <= 0.0 or chains.sizes[group] > most:
            continue
        aim_all(costs, reach, chains.lo[group], chains.hi[group])
        wanted = chains.sizes[group] + 4 * k
        count = near_points(
            nodes, costs, reach, chains.lo[group], chains.hi[group], wanted, ALL, heap, ids, stack, bounds
        )
        sort_pairs(heap, ids, count)
        found = 0
        seen[group] = group
        for i in range(count):
            for at in range(nodes.row_start[ids[i]], nodes.row_start[ids[i] + 1]):
                other = chains.labels[nodes.rows[at]]
                if found < neighbours and other >= 0 and seen[other] != group:
                    seen[other] = group
                    near[found] = other
                    found += 1
        if found < m - 1:
            continue
        for _ in range(choices):
            parties[0] = group
            for s in range(1, m):  # the first places of `near` are dealt anew
                at = s - 1 + _next(draws) % (found - s + 1)
                near[s - 1], near[at] = near[at], near[s - 1]
                parties[s] = near[s - 1]
            rows = 0
            before = 0.0
            for other in parties:
                rows += chains.sizes[other]
                before += chains.sizes[other] * chains.costs[other]
            if rows > most:
                continue
            n = _pool(nodes, chains, parties, slot, slots, items, weights)
            best = before
            for t in range(tries):
                if n < m or not _part(
                    costs, scales, items, weights, n, rows, k, draws, t % 2 == 0, side, sizes, low, high, shares, totals
                ):
                    continue
                loss = 0.0
                for s in range(m):
                    find_edges(items, side, n, s, edges)
                    losses[s] = sizes[s] * leave_and_join(costs, items, edges, s, -1, -1)
                    loss += losses[s]
                if loss < CLOSE * best:
                    _improve(costs, items, weights, n, k, side, sizes, edges, losses)
                    loss = losses.sum()
                if loss < best - TOLERANCE:
                    best = loss
                    for i in range(n):
                        best_side[i] = side[i]
            if best < before - TOLERANCE:
                helped += 1
                _apply(nodes, chains, parties, slot, best_side, ids)
                for other in parties:
                    chains.costs[other] = box_cost(costs, chains.lo[other], chains.hi[other])
            for i in range(n):
                slot[slots[i]] = -1
            if best < before - TOLERANCE:
                break
    return helped
