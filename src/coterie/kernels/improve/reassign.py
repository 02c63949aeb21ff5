"""Assign the rows of a region to its groups at the least loss, while all boxes stay as they are.

A row may be in any group whose box holds it, and costs there what everyone in that group costs; every group keeps k
rows. So a row can be had for a cheaper group even if its own group has none to spare: that is refilled by a row from a
third group, and so on, until one can spare a row. In such a chain all groups but the first and the last keep
their size. What it gains is the cost of the first minus that of the last, however long it is.

Groups take rows in the order of their cost, the cheapest first. From each the search goes backwards over all groups
that it could get a row from, directly or by a chain, until it meets a more expensive one with more than k rows. If
there is none, there never will be: a chain that ends elsewhere cannot pass through any of these groups, or it could
have ended here. Hence they need not be looked at again, and one pass gives the least loss of all assignments.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import loop, once, part
from coterie.kernels.improve.opened import draw, move, prepare
from coterie.kernels.improve.polish import TOLERANCE
from coterie.kernels.search.box_members import places_inside
from coterie.kernels.search.walk import new_walk
from coterie.kernels.sorting import sort_pairs

# Arrays that reassigning writes to. Groups are counted from the first one of their region.
#   order, keys: groups by cost
#   queue: groups that a search has reached
#   seen: group → the last search that has reached it; DONE: no search needs to
#   taker, row: group → the group that it gives a row to, in the search at hand, and the row
#   changed: group → whether its rows are others now
#   inside: the places in a box
Chains = namedtuple("Chains", "order keys queue seen taker row changed walk inside")

DONE = -1


def reassign(nodes, costs, groups, opened, k, regions, first, last):
    """Reassign rows in the regions first … last − 1 and update `groups`. Return how many chains that took."""
    count = int(np.diff(regions.base[first : last + 1]).max(initial=0))
    chains = Chains(
        np.empty(count, dtype=np.int32),
        np.empty(count, dtype=np.float64),
        np.empty(count, dtype=np.int32),
        np.empty(count, dtype=np.int64),
        np.empty(count, dtype=np.int32),
        np.empty(count, dtype=np.int32),
        np.empty(count, dtype=np.bool_),
        new_walk(),
        np.empty(len(nodes.points), dtype=np.int32),
    )
    return _reassign(nodes, costs, groups, opened, k, regions, first, last, chains)


@part
def _givers(nodes, groups, opened, k, region, taker, g, count, search, chains):
    """Add the groups that have rows in the box of g to the queue. Return one that can spare a row, or −1; their number.

    taker: the group at the end of the chain, which must be cheaper.
    """
    base, end = region
    seen, held = chains.seen, places_inside(nodes, chains.walk, opened.lo[g], opened.hi[g], chains.inside)
    for i in range(held):
        p = chains.inside[i]
        for at in range(nodes.row_start[p], nodes.row_start[p + 1]):
            row = nodes.rows[at]
            other = np.int64(groups.labels[row])
            if other < base or other >= end or seen[other - base] == search or seen[other - base] == DONE:
                continue
            seen[other - base] = search
            chains.taker[other - base] = g
            chains.row[other - base] = row
            if groups.sizes[other] > k and groups.costs[other] > groups.costs[taker] + TOLERANCE:
                return other, count
            chains.queue[count] = other
            count += 1
    return np.int64(-1), count


@part
def _find_chain(nodes, groups, opened, k, region, taker, search, chains):
    """Return the first group of a chain that ends at `taker`, or −1 if there is none that gains anything."""
    base = region[0]
    chains.queue[0] = taker
    chains.seen[taker - base] = search
    at, count = 0, 1
    while at < count:
        g = np.int64(chains.queue[at])
        found, count = _givers(nodes, groups, opened, k, region, taker, g, count, search, chains)
        if found >= 0:
            return found
        at += 1
    for i in range(count):
        chains.seen[chains.queue[i] - base] = DONE
    return np.int64(-1)


@once
def _in_order(groups, region, chains):
    """Sort the groups of a region by their cost; return how many there are."""
    base, end = region
    count = 0
    for g in range(base, end):
        chains.seen[g - base] = 0
        chains.changed[g - base] = False
        if groups.sizes[g] > 0:
            chains.order[count] = g
            chains.keys[count] = groups.costs[g]
            count += 1
    sort_pairs(chains.keys, chains.order, count)
    return count


@loop
def _reassign(nodes, costs, groups, opened, k, regions, first, last, chains):
    found = 0
    for b in range(first, last):
        base, end = regions.base[b], regions.base[b + 1]
        prepare(nodes, costs, groups, opened, base, end)
        search = 0
        for i in range(_in_order(groups, (base, end), chains)):
            taker = np.int64(chains.order[i])
            while chains.seen[taker - base] != DONE:
                search += 1
                g = _find_chain(nodes, groups, opened, k, (base, end), taker, search, chains)
                found += g >= 0
                while g >= 0 and g != taker:
                    to = np.int64(chains.taker[g - base])
                    move(groups, opened, chains.row[g - base], to)
                    chains.changed[g - base] = True
                    chains.changed[to - base] = True
                    g = to
        for g in range(base, end):
            if chains.changed[g - base]:  # without the rows that have left, some boxes are smaller
                draw(nodes, costs, groups, opened, g)
    return found
