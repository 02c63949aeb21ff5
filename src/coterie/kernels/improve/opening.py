"""Open a box: found a group for the rows of a promising box, wherever they are, and dissolve groups that it empties.

Where hierarchies decide the cost, a box has room for many rows at no extra cost. Large groups are then improved by
another choice of boxes rather than by exchanging single rows: give one attribute up, and keep another one exact. The
box of a random row's group is varied in that way. Rows inside it that cost more now move there. A group that has lost
too many rows either keeps k of them, or gives up all: the others move to groups whose boxes hold them anyway.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import loop, once, part
from coterie.kernels.improve.opened import draw, move, prepare
from coterie.kernels.improve.polish import TOLERANCE
from coterie.kernels.improve.recreate import next_draw
from coterie.kernels.improve.variation import vary
from coterie.kernels.search.box_members import places_inside
from coterie.kernels.search.costs import box_cost
from coterie.kernels.search.rows_index import inside
from coterie.kernels.search.walk import new_walk

AT_MOST = 1.2  # a box that costs more than this times the one it is varied from is not looked at
DONORS = 100  # groups whose rows lie in the box, at most
KEEP, EMPTY, DISSOLVE = 0, 1, 2  # keep k rows; give all rows that lie in the box; the others leave as well

# Arrays that opening writes to. Groups are counted from the first one of their region.
#   box: [2, attribute] the box to open
#   costly, cheap: rows inside it that cost more now, and those that cost less and can be spared
#   donors: groups of the costly ones; turn: group → the last try in which it was one, or was changed
#   given: group → its costly rows; choice: group → KEEP, EMPTY or DISSOLVE
#   kept, gone: donor → the gain if it keeps k rows, and if it is dissolved
#   moved, origin: rows in the order in which they were moved, and their groups before
#   changed, costs, boxes: groups that were changed, and what they were
#   inside: the places in the box
Room = namedtuple(
    "Room", "box costly cheap donors turn given choice kept gone moved origin changed costs boxes walk inside"
)


def open_boxes(nodes, costs, groups, opened, search, regions, first, last):
    """Try to open boxes in the regions first … last − 1 and update `groups`. Return how many were opened."""
    d = nodes.points.shape[1]
    rows = int(np.diff(regions.starts[first : last + 1]).max(initial=0))
    count = int(np.diff(regions.base[first : last + 1]).max(initial=0))
    room = Room(
        np.empty((2, d), dtype=np.int32),
        np.empty(rows, dtype=np.int32),
        np.empty(rows, dtype=np.int32),
        np.empty(count, dtype=np.int32),
        np.empty(count, dtype=np.int64),
        np.empty(count, dtype=np.int64),
        np.empty(count, dtype=np.int64),
        np.empty(count, dtype=np.float64),
        np.empty(count, dtype=np.float64),
        np.empty(2 * rows, dtype=np.int32),
        np.empty(2 * rows, dtype=np.int32),
        np.empty(count, dtype=np.int32),
        np.empty(count, dtype=np.float64),
        np.empty((count, 2, d), dtype=np.int32),
        new_walk(),
        np.empty(len(nodes.points), dtype=np.int32),
    )
    return _open_boxes(nodes, costs, groups, opened, search, regions, first, last, room)


@once
def _look_inside(nodes, groups, k, region, t, cost, room):
    """Collect the rows of a region inside the box, costly and cheap ones, and the groups of the costly ones."""
    base, end = region
    costly, cheap, donors = 0, 0, 0
    for i in range(places_inside(nodes, room.walk, room.box[0], room.box[1], room.inside)):
        p = room.inside[i]
        for at in range(nodes.row_start[p], nodes.row_start[p + 1]):
            row = nodes.rows[at]
            g = np.int64(groups.labels[row])
            if g < base or g >= end:
                continue
            if groups.costs[g] > cost + TOLERANCE:
                if room.turn[g - base] != t:
                    room.turn[g - base] = t
                    room.given[g - base] = 0
                    room.donors[donors] = g
                    donors += 1
                room.given[g - base] += 1
                room.costly[costly] = row
                costly += 1
            elif groups.sizes[g] > k:
                room.cheap[cheap] = row
                cheap += 1
    return costly, cheap, donors


@part
def _cheapest(nodes, groups, opened, region, row, room, t, but, limit):
    """Return the cheapest other group whose box holds a row, below a limit, or −1. Dissolved groups do not count.

    but: one more group that does not count.
    """
    base, end = region
    p = nodes.position[row]
    best, to = limit, np.int64(-1)
    for g in range(base, end):
        if groups.sizes[g] == 0 or groups.costs[g] >= best or g == but:
            continue
        if room.turn[g - base] == t and room.choice[g - base] == DISSOLVE:
            continue
        if inside(opened.lo[g], opened.hi[g], nodes.points, nodes.points, p):
            best, to = groups.costs[g], np.int64(g)
    return to


@once
def _choose_donations(nodes, groups, opened, k, region, t, cost, donors, room):
    """Choose what each donor does; return how many rows the box gets, and the estimated gain."""
    base, box = region[0], room.box
    total, gain = 0, 0.0
    for i in range(donors):
        room.choice[room.donors[i] - base] = EMPTY
    for i in range(donors):
        g = np.int64(room.donors[i])
        size, given, now = groups.sizes[g], room.given[g - base], groups.costs[g]
        if size - given >= k or size == given:
            total += given
            gain += given * (now - cost)
            continue
        room.kept[i] = (size - k) * (now - cost)
        # More is not worth it: what the estimate leaves out is seldom more than one row's cost.
        left = given * (now - cost) - room.kept[i] + now
        row = groups.first[g]
        while row >= 0 and left > 0.0:
            if not inside(box[0], box[1], nodes.points, nodes.points, nodes.position[row]):
                to = _cheapest(nodes, groups, opened, region, row, room, t, g, np.inf)
                left -= np.inf if to < 0 else groups.costs[to] - now
            row = groups.follower[row]
        room.gone[i] = room.kept[i] + left - now if left > 0.0 else -np.inf
        dissolve = room.gone[i] > room.kept[i]
        room.choice[g - base] = DISSOLVE if dissolve else KEEP
        total += given if dissolve else size - k
        gain += room.gone[i] if dissolve else room.kept[i]
    while total < k:  # too few rows: dissolve the donor where that costs least
        least, chosen = np.inf, -1
        for i in range(donors):
            if room.choice[room.donors[i] - base] == KEEP and room.kept[i] - room.gone[i] < least:
                least, chosen = room.kept[i] - room.gone[i], i
        if chosen < 0:
            break
        g = np.int64(room.donors[chosen])
        room.choice[g - base] = DISSOLVE
        total += room.given[g - base] - (groups.sizes[g] - k)
        gain -= least
    return total, gain


@part
def _note(groups, opened, g, room, changed):
    """Note what a group was before it is changed; return how many are noted."""
    room.changed[changed] = g
    room.costs[changed] = groups.costs[g]
    for j in range(opened.lo.shape[1]):
        room.boxes[changed, 0, j] = opened.lo[g, j]
        room.boxes[changed, 1, j] = opened.hi[g, j]
    return changed + 1


@once
def _found(nodes, costs, groups, opened, k, region, t, found, costly, cheap, donors, start, room):
    """Move rows to the group `found`, and those of dissolved donors elsewhere; the changes are noted in `room`.

    Return how many rows were moved and groups changed, the loss of these before, and whether all rows have a group.
    """
    base = region[0]
    moved, changed, before = 0, 0, 0.0
    for i in range(donors):
        g = np.int64(room.donors[i])
        before += groups.sizes[g] * groups.costs[g]
        changed = _note(groups, opened, g, room, changed)
        if room.choice[g - base] == KEEP:
            room.given[g - base] = groups.sizes[g] - k
    room.turn[found - base] = t
    room.choice[found - base] = EMPTY
    changed = _note(groups, opened, found, room, changed)
    for i in range(costly):
        row = room.costly[(i + start) % costly]
        g = np.int64(groups.labels[row])
        if room.given[g - base] > 0:
            room.given[g - base] -= 1
            room.moved[moved], room.origin[moved] = row, g
            moved += 1
            move(groups, opened, row, found)
    while groups.sizes[found] < k:  # rows that others can spare, from the most expensive groups
        most, chosen = -1.0, -1
        for i in range(cheap):
            g = np.int64(groups.labels[room.cheap[i]])
            if g != found and groups.sizes[g] > k and groups.costs[g] > most:
                most, chosen = groups.costs[g], i
        if chosen < 0:
            return moved, changed, before, False
        g = np.int64(groups.labels[room.cheap[chosen]])
        if room.turn[g - base] != t:
            room.turn[g - base] = t
            room.choice[g - base] = EMPTY
            before += groups.sizes[g] * groups.costs[g]
            changed = _note(groups, opened, g, room, changed)
        room.moved[moved], room.origin[moved] = room.cheap[chosen], g
        moved += 1
        move(groups, opened, room.cheap[chosen], found)
    for i in range(changed):
        g = np.int64(room.changed[i])
        if room.choice[g - base] != DISSOLVE:
            draw(nodes, costs, groups, opened, g)
    for i in range(donors):
        g = np.int64(room.donors[i])
        while room.choice[g - base] == DISSOLVE and groups.first[g] >= 0:
            row = groups.first[g]
            to = _cheapest(nodes, groups, opened, region, row, room, t, -1, np.inf)
            if to < 0:
                return moved, changed, before, False
            if room.turn[to - base] != t:
                room.turn[to - base] = t
                room.choice[to - base] = EMPTY
                before += groups.sizes[to] * groups.costs[to]
                changed = _note(groups, opened, to, room, changed)
            room.moved[moved], room.origin[moved] = row, g
            moved += 1
            move(groups, opened, row, to)
        if groups.sizes[g] == 0:
            groups.costs[g] = 0.0
    return moved, changed, before, True


@once
def _undo(groups, opened, moved, changed, room):
    """Put all rows back, the last one first, and restore boxes and costs."""
    for i in range(moved - 1, -1, -1):
        move(groups, opened, room.moved[i], np.int64(room.origin[i]))
    for i in range(changed):
        g = np.int64(room.changed[i])
        groups.costs[g] = room.costs[i]
        for j in range(opened.lo.shape[1]):
            opened.lo[g, j] = room.boxes[i, 0, j]
            opened.hi[g, j] = room.boxes[i, 1, j]


@loop
def _open_boxes(nodes, costs, groups, opened, search, regions, first, last, room):
    k, draws = search.k, regions.draws
    helped = 0
    for b in range(first, last):
        base, end = regions.base[b], regions.base[b + 1]
        region, span = (base, end), regions.starts[b + 1] - regions.starts[b]
        prepare(nodes, costs, groups, opened, base, end)
        for g in range(base, end):
            room.turn[g - base] = -1
        for t in range(regions.tries[b]):
            row = regions.rows[regions.starts[b] + next_draw(draws, b) % span]
            other = regions.rows[regions.starts[b] + next_draw(draws, b) % span]
            if groups.costs[groups.labels[other]] > groups.costs[groups.labels[row]]:
                row = other
            g = np.int64(groups.labels[row])
            if groups.costs[g] <= 0.0:
                continue
            vary(nodes, costs, opened, g, row, draws, b, room.box)
            cost = box_cost(costs, room.box[0], room.box[1])
            if cost >= AT_MOST * groups.costs[g]:
                continue
            costly, cheap, donors = _look_inside(nodes, groups, k, region, t, cost, room)
            found = base
            while found < end and groups.sizes[found] > 0:
                found += 1
            if costly == 0 or costly + cheap < k or costly > search.most or donors > DONORS or found == end:
                continue
            total, gain = _choose_donations(nodes, groups, opened, k, region, t, cost, donors, room)
            if total + cheap < k or gain < -groups.costs[g]:
                continue
            start = next_draw(draws, b) % costly
            moved, changed, before, complete = _found(
                nodes, costs, groups, opened, k, region, t, found, costly, cheap, donors, start, room
            )  # fmt: skip
            loss = 0.0
            for i in range(changed):
                loss += groups.sizes[room.changed[i]] * groups.costs[room.changed[i]]
            warmth = search.hot + (search.cool - search.hot) * t / regions.tries[b]
            chance = (next_draw(draws, b) + 1.0) / 2.0**31
            if complete and loss < before - TOLERANCE - warmth * np.log(chance):
                helped += 1
            else:
                _undo(groups, opened, moved, changed, room)
    return helped
