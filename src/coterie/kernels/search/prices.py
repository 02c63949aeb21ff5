"""Find the worst price violation around each place: a group of k rows whose prices exceed its cost.

Prices are one number for each place (distinct row). They are feasible if in no group of k rows the prices
add up to more than k times the cost of its box. A place is only examined with the places after it in the order of
descending prices: a group's violation is found at its first place, and there every row has at most
that place's price, so all of them lie nearer to it than the price.

The box of a group with a row r is determined by each row's distance to r alone: in a tree, the common ancestor is
the highest of the ancestors that r shares with one of them; for numbers, the interval reaches from the lowest to the
highest. Branch and bound over the box's cost in each such direction finds the group with the worst violation.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import inner, loop, part
from coterie.kernels.search import heap as heaps
from coterie.kernels.search.costs import Aimed, aim_all, bound_cost, interval_cost, joined_cost, new_reach
from coterie.kernels.search.walk import new_walk, offer, pop, set_out
from coterie.kernels.sorting import sort_pairs

BRANCHES = 256  # looked at for each place, at most; what is left is judged by its bound, which is valid too
WORK = 200_000  # candidates that are looked at for each place, about
REPEATS = 4  # steps in which a price is lowered, at most
TOLERANCE = 1e-12

# What is priced.
#   price: place → price of one of its rows
#   rank: place → its place in the order of falling prices
#   numbers: attribute → whether its costs add up on both sides of a value; a tree's do not
#   whole: attribute → cost of its whole domain
Priced = namedtuple("Priced", "k price rank numbers whole")

# The places near one, and room to search them.
#   places, weights, prices: which, how many rows each has to give, and the price of one
#   shares: [direction, candidate] what the box costs in this direction if it holds the candidate
#   first: attribute → its first direction; one more entry at the end
#   keys, order: room for sorting
#   member: candidate → how many of its rows are in the group that was found last
Around = namedtuple("Around", "places weights prices shares first keys order member")

# Branches that wait: what the box costs at least and at most in each direction, and the most that can be found there.
Branches = namedtuple("Branches", "floor cap bound")

# What was found.
#   lowered: place → price after the repair
#   group_places, group_counts: [place, entry] the group that broke the rule most; counts are 0 behind its end
Found = namedtuple("Found", "lowered group_places group_counts")

Room = namedtuple("Room", "around branches heap reach walk seen")


@inner
def _cost_of(priced, around, shares, c, floor):
    """Return the least cost of the box if it contains candidate c."""
    total = 0.0
    for j in range(priced.whole.shape[0]):
        cost = 0.0
        for at in range(around.first[j], around.first[j + 1]):
            cost += max(shares[at, c], floor[at])
        total += min(cost, priced.whole[j])
    return total


@part
def _list_around(nodes, costs, priced, place, room):
    """List the places that can be in a violating group with this one; return how many."""
    around, walk = room.around, room.walk
    limit = priced.price[place]
    point = nodes.points[place]
    aimed = Aimed(costs, room.reach, point, point)
    aim_all(aimed)
    count = 0
    top = set_out(walk)
    while top >= 0:
        node, _, top = pop(walk, top)
        if nodes.left[node] >= 0:
            for child in range(nodes.left[node], nodes.left[node] + 2):
                top = offer(walk, top, child, bound_cost(aimed, nodes.lo, nodes.hi, child, limit), limit)
            continue
        for p in range(nodes.start[node], nodes.end[node]):
            weight = nodes.row_start[p + 1] - nodes.row_start[p] - (1 if p == place else 0)
            if weight == 0 or (priced.rank[p] < priced.rank[place]):
                continue
            if joined_cost(aimed, nodes.points, p, limit) > limit:
                continue
            around.places[count] = p
            around.weights[count] = min(weight, priced.k)
            around.prices[count] = priced.price[p]
            for j in range(point.shape[0]):
                at = around.first[j]
                c = nodes.points[p, j]
                cost = interval_cost(costs, j, min(point[j], c), max(point[j], c))
                around.shares[at, count] = cost
                if priced.numbers[j]:
                    around.shares[at, count] = cost if c > point[j] else 0.0
                    around.shares[at + 1, count] = cost if c < point[j] else 0.0
            count += 1
    return count


@part
def _sweep(priced, own, room, count, floor, cap, upto):
    """Return a bound on the largest violation in a branch, and the candidate that closes that group.

    `own` is the price of the row that all groups share. Candidates are ordered by their cost to the box. If `upto` is
    not −1 the group ends with that candidate, and `member` is set.
    """
    around, heap, prices = room.around, room.heap, room.around.prices
    directions = around.shares.shape[0]
    n = 0
    for c in range(count):
        fits = True
        for at in range(directions):
            if around.shares[at, c] > cap[at]:
                fits = False
                break
        if fits:
            around.keys[n] = _cost_of(priced, around, around.shares, c, floor)
            around.order[n] = c
            n += 1
    sort_pairs(around.keys, around.order, n)
    wanted = priced.k - 1
    most, closes = -np.inf, -1
    size, held = 0, 0
    total = 0.0
    for i in range(n):
        c = around.order[i]
        heaps.push(heap, size, -prices[c], c, True)
        size += 1
        held += around.weights[c]
        total += around.weights[c] * prices[c]
        while held - around.weights[heap.ids[0]] >= wanted:
            out = heap.ids[0]
            held -= around.weights[out]
            total -= around.weights[out] * prices[out]
            heaps.pop(heap, size, True)
            size -= 1
        if held >= wanted:
            excess = own + total - (held - wanted) * prices[heap.ids[0]] - priced.k * around.keys[i]
            if excess > most:
                most, closes = excess, c
        if c == upto:
            break
    if upto >= 0:
        for c in range(count):
            around.member[c] = 0
        for i in range(size):
            around.member[heap.ids[i]] = around.weights[heap.ids[i]]
        around.member[heap.ids[0]] -= held - wanted
    return most, closes


@part
def _judge(priced, own, room, count):
    """Return by how much the prices of the last group found exceed its cost."""
    around = room.around
    total = own
    for at in range(around.shares.shape[0]):
        room.seen[at] = 0.0
    for c in range(count):
        if around.member[c] > 0:
            total += around.member[c] * around.prices[c]
            for at in range(around.shares.shape[0]):
                room.seen[at] = max(room.seen[at], around.shares[at, c])
    cost = 0.0
    for j in range(priced.whole.shape[0]):
        side = 0.0
        for at in range(around.first[j], around.first[j + 1]):
            side += room.seen[at]
        cost += min(side, priced.whole[j])
    return total - priced.k * cost


@part
def _worst(priced, place, own, room, count, found):
    """Return the largest violation in any group of this place, and how many rows of the place are in that group.

    The group itself is stored.
    """
    around, branches = room.around, room.branches
    directions = around.shares.shape[0]
    for at in range(directions):
        branches.floor[0, at] = 0.0
        branches.cap[0, at] = np.inf
    branches.bound[0] = np.inf
    top, looked = 0, 0
    best, copies = 0.0, 1
    left_over = 0.0
    while top >= 0:
        floor, cap = branches.floor[top], branches.cap[top]
        if branches.bound[top] <= best + TOLERANCE:
            top -= 1
            continue
        looked += 1
        if looked > BRANCHES or looked * count > WORK or top + 2 >= branches.bound.shape[0]:
            left_over = max(left_over, branches.bound[top])
            top -= 1
            continue
        bound, closes = _sweep(priced, own, room, count, floor, cap, -1)
        if bound <= best + TOLERANCE:
            top -= 1
            continue
        _sweep(priced, own, room, count, floor, cap, closes)
        value = _judge(priced, own, room, count)
        if value > best:
            best = value
            copies = 1
            entries = 0
            for c in range(count):
                if around.member[c] > 0:
                    if around.places[c] == place:
                        copies += around.member[c]
                    else:
                        found.group_places[place, entries] = around.places[c]
                        found.group_counts[place, entries] = around.member[c]
                        entries += 1
            found.group_places[place, entries] = place
            found.group_counts[place, entries] = copies
            for e in range(entries + 1, found.group_counts.shape[1]):
                found.group_counts[place, e] = 0
        if value >= bound - TOLERANCE:
            top -= 1
            continue
        # The direction in which the box is wider than where it was closed: either it is that wide, or narrower.
        widest, gap = -1, -1.0
        for at in range(directions):
            lack = room.seen[at] - max(around.shares[at, closes], floor[at])
            if lack > gap:
                widest, gap = at, lack
        if gap <= 0.0:  # rounding: nothing to tell apart
            left_over = max(left_over, bound)
            top -= 1
            continue
        reached = room.seen[widest]
        for at in range(directions):
            branches.floor[top + 1, at] = floor[at]
            branches.cap[top + 1, at] = cap[at]
        branches.bound[top] = bound
        branches.bound[top + 1] = bound
        branches.floor[top, widest] = reached
        branches.cap[top + 1, widest] = np.nextafter(reached, -1.0)
        top += 1
    return max(best, left_over), copies


def lower_prices(nodes, costs, priced, places, found):
    """Lower the prices of some places, each as far as its groups with places of higher rank require.

    If the prices of all places are lowered, each computed from the original prices, the result is feasible.
    """
    first = np.concatenate([[0], np.cumsum(1 + priced.numbers)]).astype(np.int64)
    directions, size = int(first[-1]), nodes.points.shape[0]
    around = Around(
        np.empty(size, dtype=np.int32),
        np.empty(size, dtype=np.int64),
        np.empty(size, dtype=np.float64),
        np.empty((directions, size), dtype=np.float64),
        first,
        np.empty(size, dtype=np.float64),
        np.empty(size, dtype=np.int32),
        np.empty(size, dtype=np.int64),
    )
    depth = BRANCHES + 2
    branches = Branches(np.empty((depth, directions)), np.empty((depth, directions)), np.empty(depth))
    room = Room(around, branches, heaps.new_heap(size + 1), new_reach(costs), new_walk(), np.empty(directions))
    _lower_prices(nodes, costs, priced, places, found, room)


@loop
def _lower_prices(nodes, costs, priced, places, found, room):
    for place in places:
        found.group_counts[place, 0] = 0
        found.lowered[place] = priced.price[place]
        if priced.price[place] <= 0.0:
            continue
        count = _list_around(nodes, costs, priced, place, room)
        held = 1
        for c in range(count):
            held += room.around.weights[c]
        if held < priced.k:
            continue
        own = priced.price[place]
        for again in range(REPEATS):
            excess, copies = _worst(priced, place, own, room, count, found)
            if excess <= TOLERANCE:
                break
            # All rows of the place get cheaper by the same: with several of them in the group, less will do there; a
            # group with fewer may ask for more. In the end, what is enough with one of them is enough.
            own -= excess if again == REPEATS - 1 else excess / copies
            for c in range(count):
                if room.around.places[c] == place:
                    room.around.prices[c] = own
        found.lowered[place] = own
