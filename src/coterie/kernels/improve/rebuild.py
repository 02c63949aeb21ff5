"""The loops that pool several neighbouring groups and part their rows anew into as many."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import inner, loop, once, part
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
from coterie.kernels.search.costs import Aimed, aim_all, box_cost, new_reach
from coterie.kernels.search.growth import ALL, near_points
from coterie.kernels.search.heap import new_heap
from coterie.kernels.search.walk import new_walk
from coterie.kernels.sorting import sort_pairs

TOLERANCE = 1e-9  # gains below this are rounding
CLOSE = 1.05  # a parting that costs no more than this times the best is worth a closer look


# The groups as they stand, to be changed in place; each group's rows as a linked list.
#   first: group → its first row
#   follower: row → the next row of its group, −1 at the end
#   labels: row → group
#   lo, hi: group → box
#   sizes: group → rows
#   costs: group → cost of one row
Chains = namedtuple("Chains", "first follower labels lo hi sizes costs")


# How groups are rebuilt.
#   scales: [scale, attribute] factors of the costs while choosing; all 1 in the first
#   tries: how many ways to part a pool are tried
#   choices: how often other groups are chosen, for each group
#   neighbours: among how many
#   most: pools of more rows are left alone
Rebuilding = namedtuple("Rebuilding", "k scales tries choices neighbours most")


@inner
def _next(draws):
    """The next number of a random sequence: a linear congruential step, of which the upper bits are used."""
    draws[0] = draws[0] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return np.int64(draws[0] >> np.uint64(33))


@part
def _fill(nodes, chains, parties, pool):
    """Put the rows of the groups into the pool; gives back how many items they are."""
    n = 0
    for group in parties:
        row = chains.first[group]
        while row >= 0:
            n = put_into(pool, nodes, row, n)
            row = chains.follower[row]
    return n


@part
def _improve(costs, pool, n, k, losses):
    """Move an item to another side, or swap two, while that lowers the loss; `losses` has it by side."""
    codes, weights, side, sizes, edges = pool.items.codes, pool.items.weights, pool.side, pool.sizes, pool.edges
    m = sizes.shape[0]
    while True:
        best = -TOLERANCE
        one, two, to = -1, -1, -1
        for i in range(n):
            s = np.int64(side[i])
            rest = sizes[s] - weights[i]
            if rest < k and not at_an_edge(codes, edges, s, i):
                continue
            fall = rest * leave_and_join(costs, codes, edges, s, i, -1) - losses[s]
            for t in range(m):
                if t == s:
                    continue
                if rest >= k:
                    rise = (sizes[t] + weights[i]) * leave_and_join(costs, codes, edges, t, -1, i) - losses[t]
                    if fall + rise < best:
                        best = fall + rise
                        one, two, to = i, -1, t
                if fall > -TOLERANCE:
                    continue
                for q in range(n):
                    size = rest + weights[q]
                    other = sizes[t] - weights[q] + weights[i]
                    if side[q] != t or size < k or other < k:
                        continue
                    gain = size * leave_and_join(costs, codes, edges, s, i, q) - losses[s] - losses[t]
                    if gain < best:
                        gain += other * leave_and_join(costs, codes, edges, t, q, i)
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
            find_edges(codes, side, n, changed, edges)
            losses[changed] = sizes[changed] * leave_and_join(costs, codes, edges, changed, -1, -1)


@part
def _part(costs, rebuilding, pool, n, rows, plain, draws):
    """Grow all sides but the first from seeds at random; the first gets the rest. False if that is too little."""
    scales, k = rebuilding.scales, rebuilding.k
    side, sizes = pool.side, pool.sizes
    for i in range(n):
        side[i] = 0
    rest = rows
    for s in range(1, sizes.shape[0]):
        seed = _next(draws) % n
        while side[seed] != 0:
            seed = (seed + 1) % n
        scale = scales[0] if plain else scales[1 + _next(draws) % (scales.shape[0] - 1)]
        sizes[s] = grow_side(costs, scale, pool.items, side, n, seed, k, s)
        rest -= sizes[s]
        if rest < k:
            return False
    sizes[0] = rest
    return True


@part
def _apply(nodes, chains, parties, pool, moved):
    """Make groups of the sides of the best parting."""
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
        group = parties[pool.best_side[pool.item_at[p]]]
        for j in range(d):
            c = nodes.points[p, j]
            chains.lo[group, j] = c if chains.sizes[group] == 0 else min(chains.lo[group, j], c)
            chains.hi[group, j] = c if chains.sizes[group] == 0 else max(chains.hi[group, j], c)
        chains.follower[row] = chains.first[group]
        chains.first[group] = row
        chains.labels[row] = group
        chains.sizes[group] += 1


# Arrays that rebuilding writes to.
#   parties: the groups that are pooled
#   near: groups nearby
#   seen: group → for which group it was last found nearby
#   losses: side → loss
Room = namedtuple("Room", "parties near seen losses reach heap walk pool")


def rebuild(nodes, costs, chains, rebuilding, parties, asked, draws):
    """Pool each asked group with others nearby, chosen at random so many times, and part them anew where that helps.

    `chains` is brought up to date; gives back how often it helped. So many groups are pooled as there are to be
    `parties`. `draws` holds the state of the random sequence.
    """
    room = Room(
        np.empty(parties, dtype=np.int32),
        np.empty(rebuilding.neighbours, dtype=np.int32),
        np.full(chains.sizes.shape[0], -1, dtype=np.int32),
        np.empty(parties, dtype=np.float64),
        new_reach(costs),
        new_heap(rebuilding.most + 4 * rebuilding.k + 2),
        new_walk(),
        new_pool(nodes, parties, rebuilding.most),
    )
    return _rebuild(nodes, costs, chains, rebuilding, asked, draws, room)


@once
def _list_near(nodes, costs, chains, group, wanted, room):
    """Note the groups of the rows that would cost this group's box least, nearest first; gives back how many."""
    aimed = Aimed(costs, room.reach, chains.lo[group], chains.hi[group])
    aim_all(aimed)
    count = near_points(nodes, aimed, wanted, ALL, room.heap, room.walk)
    sort_pairs(room.heap.keys, room.heap.ids, count)
    found = 0
    room.seen[group] = group
    for i in range(count):
        p = room.heap.ids[i]
        for at in range(nodes.row_start[p], nodes.row_start[p + 1]):
            other = chains.labels[nodes.rows[at]]
            if found < room.near.shape[0] and other >= 0 and room.seen[other] != group:
                room.seen[other] = group
                room.near[found] = other
                found += 1
    return found


@once
def _best_parting(costs, rebuilding, n, rows, before, draws, room):
    """Part the pool in several ways; gives back the loss of the best, which is noted, or the loss before."""
    pool, losses = room.pool, room.losses
    m = losses.shape[0]
    best = before
    for t in range(rebuilding.tries):
        if n < m or not _part(costs, rebuilding, pool, n, rows, t % 2 == 0, draws):
            continue
        loss = 0.0
        for s in range(m):
            find_edges(pool.items.codes, pool.side, n, s, pool.edges)
            losses[s] = pool.sizes[s] * leave_and_join(costs, pool.items.codes, pool.edges, s, -1, -1)
            loss += losses[s]
        if loss < CLOSE * best:
            _improve(costs, pool, n, rebuilding.k, losses)
            loss = 0.0
            for s in range(m):
                loss += losses[s]
        if loss < best - TOLERANCE:
            best = loss
            note_best(pool, n)
    return best


@loop
def _rebuild(nodes, costs, chains, rebuilding, asked, draws, room):
    parties, near, pool = room.parties, room.near, room.pool
    m = parties.shape[0]
    helped = 0
    for group in asked:
        if chains.costs[group] <= 0.0 or chains.sizes[group] > rebuilding.most:
            continue
        found = _list_near(nodes, costs, chains, group, chains.sizes[group] + 4 * rebuilding.k, room)
        if found < m - 1:
            continue
        for _ in range(rebuilding.choices):
            parties[0] = group
            for s in range(1, m):  # the first entries of `near` are dealt anew
                at = s - 1 + _next(draws) % (found - s + 1)
                near[s - 1], near[at] = near[at], near[s - 1]
                parties[s] = near[s - 1]
            rows = 0
            before = 0.0
            for other in parties:
                rows += chains.sizes[other]
                before += chains.sizes[other] * chains.costs[other]
            if rows > rebuilding.most:
                continue
            n = _fill(nodes, chains, parties, pool)
            best = _best_parting(costs, rebuilding, n, rows, before, draws, room)
            better = best < before - TOLERANCE
            if better:
                helped += 1
                _apply(nodes, chains, parties, pool, room.heap.ids)
                for other in parties:
                    chains.costs[other] = box_cost(costs, chains.lo[other], chains.hi[other])
            clear(pool, n)
            if better:
                break
    return helped
