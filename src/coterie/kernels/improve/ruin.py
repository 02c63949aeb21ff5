"""Ruin and recreate: pool a few neighbouring groups, grow new ones from their rows, keep them if they lose less.

Early on, slightly worse groups are kept too, to escape local optima: the temperature limits the difference and
falls to zero. Groups belong to regions. Regions share no groups and have separate random sequences, so that
they can be searched in parallel with the same result.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import loop, once, part
from coterie.kernels.improve.polish import TOLERANCE, polish
from coterie.kernels.improve.pooled import fill, new_pooled, new_sides
from coterie.kernels.improve.recreate import new_growing, next_draw, recreate

LOOKS = 8  # for a row whose group costs something, and around rows of it for other groups
TAKEN = 0.6  # chance of a group nearby to join a pool
FEWER = 8  # one try in so many leaves a group's worth of rows over, to be spread over the others

# The current groups, changed in place; each group's rows as a linked list.
#   first: group → its first row, −1 if it has none
#   follower: row → the next row of its group, −1 at the end
#   labels: row → group, −1 for rows that take no part
#   sizes: group → rows
#   costs: group → cost of one row
Groups = namedtuple("Groups", "first follower labels sizes costs")

# The regions. Those of number b are groups base[b] … base[b + 1] − 1, some of them without rows.
#   starts: region → where its rows begin in `rows`; one more entry at the end
#   tries: region → pools to look at
#   draws: region → state of its random sequence
Regions = namedtuple("Regions", "base starts rows tries draws")

# How groups are searched.
#   rough: the data of costs in whole numbers, by which boxes grow
#   scales: [scale, attribute] factors of these while growing; the first changes nothing
#   portion: equal rows that stay together, at most
#   parties: groups of a pool, at most
#   most: rows of a pool, at most
#   worse: a pool that would cost more than this times what it did is not looked at further
#   hot, cool: temperature at the beginning and at the end
Search = namedtuple("Search", "k rough scales portion parties most worse hot cool")

# Arrays that the search writes to.
#   left, joined: see polish.py
Room = namedtuple("Room", "parties pooled sides growing left joined")


def ruin_and_recreate(nodes, costs, groups, near, search, regions, first, last):
    """Search the regions first … last − 1 and update `groups`. Return how many pools were recreated.

    near: the positions near each position, nearest first.
    """
    d, most = nodes.points.shape[1], search.most
    pooled = new_pooled(d, most)
    room = Room(
        np.empty(search.parties, dtype=np.int32),
        pooled,
        new_sides(d, most // search.k + 1),
        new_growing(pooled),
        np.empty(most, dtype=np.float64),
        np.empty(most // search.k + 1, dtype=np.float64),
    )
    return _ruin_and_recreate(nodes, costs, groups, near, search, regions, first, last, room)


@part
def _choose(nodes, groups, near, search, regions, b, parties):
    """Choose a random group and some of its neighbours; return their number, and their number of rows.

    Of two random rows it is the group of the one that costs more: there is more to gain.
    """
    base, end = regions.base[b], regions.base[b + 1]
    count, rows, row = 0, 0, 0
    for _ in range(LOOKS):
        span = regions.starts[b + 1] - regions.starts[b]
        row = regions.rows[regions.starts[b] + next_draw(regions.draws, b) % span]
        other = regions.rows[regions.starts[b] + next_draw(regions.draws, b) % span]
        if groups.costs[groups.labels[other]] > groups.costs[groups.labels[row]]:
            row = other
        group = groups.labels[row]
        if groups.costs[group] > 0.0 and groups.sizes[group] <= search.most:
            parties[0] = group
            count, rows = 1, groups.sizes[group]
            break
    for look in range(LOOKS if count == 1 else 0):
        if look > 0:  # the rows near this one are mostly of its own group: look around another one of the group
            row = groups.first[parties[0]]
            for _ in range(next_draw(regions.draws, b) % groups.sizes[parties[0]]):
                row = groups.follower[row]
        mine = nodes.position[row]
        for e in range(near.counts[mine]):
            p = near.positions[mine, e]
            held = nodes.row_start[p + 1] - nodes.row_start[p]
            at = nodes.row_start[p] + (next_draw(regions.draws, b) % held if held > 1 else 0)
            other = groups.labels[nodes.rows[at]]
            if other < base or other >= end or rows + groups.sizes[other] > search.most:
                continue
            known = False
            for i in range(count):
                known |= parties[i] == other
            if known or next_draw(regions.draws, b) >= TAKEN * 2.0**31:
                continue
            parties[count] = other
            rows += groups.sizes[other]
            count += 1
            if count == search.parties:
                return count, rows
    return count, rows


@once
def _put_back(groups, pooled, n, sides, m, parties, count, base):
    """Turn the sides into groups: reuse the pooled ones first, then unused ones if there are more sides."""
    spare = base
    for s in range(max(m, count)):
        if s < count:
            group = np.int64(parties[s])
        else:
            while groups.sizes[spare] > 0:
                spare += 1
            group = np.int64(spare)
        groups.first[group] = -1
        groups.sizes[group] = sides.sizes[s] if s < m else 0
        groups.costs[group] = sides.costs[s] if s < m else 0.0
        if s < m:
            for i in range(n):
                if pooled.side[i] == s:
                    for at in range(pooled.first[i], pooled.first[i + 1]):
                        row = pooled.rows[at]
                        groups.follower[row] = groups.first[group]
                        groups.first[group] = row
                        groups.labels[row] = group


@loop
def _ruin_and_recreate(nodes, costs, groups, near, search, regions, first, last, room):
    parties, pooled, sides, k = room.parties, room.pooled, room.sides, search.k
    helped = 0
    for b in range(first, last):
        for t in range(regions.tries[b]):
            count, rows = _choose(nodes, groups, near, search, regions, b, parties)
            if count == 0 or rows < 2 * k:
                continue
            before = 0.0
            for g in range(count):
                before += groups.sizes[parties[g]] * groups.costs[parties[g]]
            n, active = fill(nodes, groups, parties, count, search.portion, pooled)
            spare = k if next_draw(regions.draws, b) % FEWER == 0 else 0
            m = recreate(
                costs, search, pooled, n, active, rows, before, spare, sides, room.growing, regions.draws, b
            )  # fmt: skip
            if m == 0:
                continue
            start = next_draw(regions.draws, b) % n
            loss = polish(costs, pooled, n, active, sides, m, k, start, room.left, room.joined)
            warmth = search.hot + (search.cool - search.hot) * t / regions.tries[b]
            chance = (next_draw(regions.draws, b) + 1.0) / 2.0**31
            if loss < before - TOLERANCE - warmth * np.log(chance):
                _put_back(groups, pooled, n, sides, m, parties, count, regions.base[b])
                helped += 1
    return helped
