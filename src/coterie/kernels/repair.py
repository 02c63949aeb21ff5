"""Kernels of the repair: the nearest groups of a group, and the rows that could be exchanged with its own."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import inner, kernel, loop, part, step
from coterie.kernels.edges import NO_EDGE, set_edge, with_code, without
from coterie.kernels.search.costs import Aimed, aim_all, bound_cost, joined_cost, new_reach, union_cost
from coterie.kernels.search.heap import new_heap
from coterie.kernels.search.walk import nearer_on_top, new_walk, offer, pop, set_out

ABSENT, RARE = 0, 1


@inner
def _insert(rises, partners, held, rise, group):
    """Insert an entry into a list sorted by rise, then by group; return its new length."""
    most = rises.shape[0]
    if held == most:
        if rise > rises[most - 1] or (rise == rises[most - 1] and group > partners[most - 1]):
            return held
        at = most - 1
    else:
        at = held
        held += 1
    while at > 0 and (rises[at - 1] > rise or (rises[at - 1] == rise and partners[at - 1] > group)):
        rises[at] = rises[at - 1]
        partners[at] = partners[at - 1]
        at -= 1
    rises[at] = rise
    partners[at] = group
    return held


def nearest_groups(costs, tree, slots, most):
    """Find, for the group in each of these slots, the `most` others whose merging increases the total loss least.

    Groups are identified by `tree.lowest`. Sorted by rise, then by group number; −1 where there are no more.
    """
    partners = np.full((slots.shape[0], most), -1, dtype=np.int32)
    rises = np.full((slots.shape[0], most), np.inf, dtype=np.float64)
    _nearest_groups(costs, tree, slots, partners, rises, new_walk())
    return partners, rises


@loop
def _nearest_groups(costs, tree, slots, partners, rises, walk):
    last = rises.shape[1] - 1
    for i in range(slots.shape[0]):
        slot = slots[i]
        low, high, size, own = tree.lo[slot], tree.hi[slot], tree.size[slot], tree.cost[slot]
        rise_of = rises[i]
        held = 0
        top = set_out(walk)
        while top >= 0:
            node, bound, top = pop(walk, top)
            if bound > rise_of[last]:
                continue
            if tree.left[node] < 0:
                for other in range(tree.start[node], tree.end[node]):
                    if other != slot:
                        new = union_cost(costs, low, high, tree.lo, tree.hi, other, np.inf)
                        rise = size * (new - own) + tree.size[other] * (new - tree.cost[other])
                        held = _insert(rise_of, partners[i], held, rise, tree.lowest[other])
                continue
            before = top
            for child in range(tree.left[node], tree.left[node] + 2):
                new = union_cost(costs, low, high, tree.node_lo, tree.node_hi, child, np.inf)
                rise = size * (new - own) + tree.node_size[child] * max(new - tree.node_most[child], 0.0)
                top = offer(walk, top, child, rise, rise_of[last])
            nearer_on_top(walk, top, before, tree.start)


# The current groups.
#   labels: row → group, −1 for none
#   lo, hi: group → box
#   sizes: group → rows
#   costs: group → cost of one row
#   starts: group → where its rows begin in `members`
#   members: rows by group
#   sound: group → whether it holds to all models
Groups = namedtuple("Groups", "labels lo hi sizes costs starts members sound")


@part
def _helpful_rows(nodes, aimed, groups, group, values, tally, below, near, walk):
    """Find the rows of sound groups that make the aimed box cheapest; sorted by cost, then row number.

    Only rows with values that occur fewer than `below` times in the box's group (`tally`). Returns how many
    were found; `near`, a sorted list, receives them.
    """
    most = near.ids.shape[0]
    for i in range(most):
        near.keys[i] = np.inf
    held = 0
    top = set_out(walk)
    while top >= 0:
        node, bound, top = pop(walk, top)
        if bound > near.keys[most - 1]:
            continue
        if nodes.left[node] < 0:
            for p in range(nodes.start[node], nodes.end[node]):
                cost = joined_cost(aimed, nodes.points, p, near.keys[most - 1])
                if cost > near.keys[most - 1]:
                    continue
                taken = 0
                for at in range(nodes.row_start[p], nodes.row_start[p + 1]):
                    row = nodes.rows[at]
                    other = groups.labels[row]
                    if other >= 0 and other != group and groups.sound[other] and tally[values[row]] < below:
                        held = _insert(near.keys, near.ids, held, cost, row)
                        taken += 1
                        if taken == most:  # later rows here have larger numbers and the same cost
                            break
            continue
        before = top
        for child in range(nodes.left[node], nodes.left[node] + 2):
            bound = bound_cost(aimed, nodes.lo, nodes.hi, child, near.keys[most - 1])
            top = offer(walk, top, child, bound, near.keys[most - 1])
        nearer_on_top(walk, top, before, nodes.start)
    return held


@part
def _find_edges(codes, groups, group, edges, s):
    """Store the edges of a group, see edges.py, as those of set s."""
    for j in range(codes.shape[1]):
        edge = NO_EDGE
        for at in range(groups.starts[group], groups.starts[group + 1]):
            edge = with_code(edge, codes[groups.members[at], j])
        set_edge(edges, s, j, edge)


@step
def _leave(codes, edges, s, row, lo, hi):
    """Set [lo, hi] to the box of set s, which has at least two rows, without one of them."""
    for j in range(codes.shape[1]):
        lo[s, j], hi[s, j] = without(edges, s, j, codes[row, j])


@inner
def _keep(options, rises, held, rise, row, other):
    """Insert an exchange (incoming row, outgoing row; −1 for none) into a sorted list; return its new length."""
    most = rises.shape[0]
    if held == most:
        if rise >= rises[most - 1]:
            return held
        at = most - 1
    else:
        at = held
        held += 1
    while at > 0 and rises[at - 1] > rise:
        rises[at] = rises[at - 1]
        options[at, 0] = options[at - 1, 0]
        options[at, 1] = options[at - 1, 1]
        at -= 1
    rises[at] = rise
    options[at, 0] = row
    options[at, 1] = other
    return held


# How far the search for exchanges goes.
#   spans: the largest number of values of a sensitive column
#   look: nearest rows to look at
#   most: exchanges to find, for each group
Limits = namedtuple("Limits", "k spans look most")


# Arrays that the search for exchanges writes to.
#   tally: value → rows of the asked group that have it
#   lo, hi: the asked group and the other one, each without the row that leaves
Room = namedtuple("Room", "options rises reach near walk tally edges lo hi")


def exchanges(nodes, costs, codes, groups, values, asked, rules, limits):
    """Find, for each given group, the cheapest exchanges that bring in a value it needs.

    A row of a sound group moves in, if that group has more than k rows, or is swapped with a row of the given
    group whose value is not scarce there. `values` is [s, n]; `asked[i]` needs values of column rules[i, 0]: absent
    ones (rules[i, 1] = ABSENT) or all but the most frequent (RARE). Returns (incoming row, outgoing row or −1)
    and the increase of the total loss; −1 and infinity where there are no more.
    """
    d = codes.shape[1]
    room = Room(
        np.full((len(asked), limits.most, 2), -1, dtype=np.int32),
        np.full((len(asked), limits.most), np.inf, dtype=np.float64),
        new_reach(costs),
        new_heap(limits.look),
        new_walk(),
        np.zeros(limits.spans, dtype=np.int64),
        np.empty((2, 6, d), dtype=np.int32),
        *np.empty((2, 2, d), dtype=np.int32),
    )
    _exchanges(nodes, costs, codes, groups, values, asked, rules, limits.k, room)
    return room.options, room.rises


@loop
def _exchanges(nodes, costs, codes, groups, values, asked, rules, k, room):
    members, sizes, tally = groups.members, groups.sizes, room.tally
    for i in range(asked.shape[0]):
        g = asked[i]
        of_column = values[rules[i, 0]]
        begin, stop = groups.starts[g], groups.starts[g + 1]
        largest = 0
        for at in range(begin, stop):
            v = of_column[members[at]]
            tally[v] += 1
            largest = max(largest, tally[v])
        below = 1 if rules[i, 1] == ABSENT else largest
        aimed = Aimed(costs, room.reach, groups.lo[g], groups.hi[g])
        aim_all(aimed)
        found = _helpful_rows(nodes, aimed, groups, g, of_column, tally, below, room.near, room.walk)
        _find_edges(codes, groups, g, room.edges, 0)
        held = 0
        for f in range(found):
            row = room.near.ids[f]
            other = groups.labels[row]
            total = sizes[g] * groups.costs[g] + sizes[other] * groups.costs[other]
            _find_edges(codes, groups, other, room.edges, 1)
            _leave(codes, room.edges, 1, row, room.lo, room.hi)
            # The first turn of this loop is for moving in alone, the others for changing places with a member.
            for at in range(begin - 1, stop):
                moves = 1 if at < begin else 0
                goes = np.int32(-1)
                if moves == 1:
                    if sizes[other] <= k:
                        continue
                    for j in range(codes.shape[1]):  # assigning whole rows would compile Numba's texts for errors
                        room.lo[0, j] = aimed.lo[j]
                        room.hi[0, j] = aimed.hi[j]
                    stays = members[groups.starts[other]]
                    if stays == row:
                        stays = members[groups.starts[other] + 1]
                else:
                    goes = members[at]
                    v = of_column[goes]
                    if (tally[v] < 2) if rules[i, 1] == ABSENT else (tally[v] < largest):
                        continue
                    _leave(codes, room.edges, 0, goes, room.lo, room.hi)
                    stays = goes
                rise = -total
                for s in range(2):
                    joins = row if s == 0 else stays
                    after = sizes[g] + moves if s == 0 else sizes[other] - moves
                    rise += after * union_cost(costs, room.lo[s], room.hi[s], codes, codes, joins, np.inf)
                held = _keep(room.options[i], room.rises[i], held, rise, row, goes)
        for at in range(begin, stop):  # values may be as many as rows: only those that were counted are reset
            tally[of_column[members[at]]] = 0


@kernel
def choose(first, second, groups):
    """Accept options in order, each unless one of its two groups is already taken."""
    taken = np.zeros(groups, dtype=np.bool_)
    chosen = np.zeros(first.shape[0], dtype=np.bool_)
    for i in range(first.shape[0]):
        if not taken[first[i]] and not taken[second[i]]:
            taken[first[i]] = True
            taken[second[i]] = True
            chosen[i] = True
    return chosen
