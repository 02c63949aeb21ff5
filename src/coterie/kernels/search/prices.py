"""Find the worst price violation around each place: a group of k rows whose prices exceed its cost.

Prices are one number for each place (distinct row). They are feasible if in no group of k rows the prices
add up to more than k times the cost of its box. A place is only examined with the places after it in the order of
descending prices: a group's violation is found at its first place, and there every row has at most
that place's price, so all of them lie nearer to it than the price.

Branch and bound over the box's cost in each direction (`candidates.py`) finds the group with the worst violation.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import inner, loop, part
from coterie.kernels.search import heap as heaps
from coterie.kernels.search.candidates import drop_dominated, list_candidates, new_around
from coterie.kernels.search.costs import Aimed, new_reach
from coterie.kernels.search.walk import new_walk

BRANCHES = 2048  # looked at for each place, at most; what is left is judged by its bound, which is valid too
REPEATS = 4  # steps in which a price is lowered, at most
COMPARISONS = 8  # of two candidates, that are as much work as a look at one
TOLERANCE = 1e-12
ABOVE = 1.0 + 1e-12  # limits are rounded up
NEARLY = 0.1  # groups whose prices are below their costs by no more than this share are noted as well

# Branches that wait: what the box costs at least and at most in each direction, the most that can be found there, the
# direction and width at which the branch is split, and the cost from which on a candidate can be in no better group.
Branches = namedtuple("Branches", "floor cap bound widest reached limit")

# What was found.
#   lowered: place → price after the repair
#   lo, hi: [place, slot, attribute] boxes of the last groups that were found, each worse than the one before: the worst
#     violation is among them
#   noted: place → how many groups were found
#   looked: place → how many candidates were looked at: how much work it was; comparisons count as well
Found = namedtuple("Found", "lowered lo hi noted looked")

# Room to search.
#   used: candidate → how many of its rows are in the group at hand
#   group, taken: the best group of a branch: its candidates, and how many rows of each
#   seen: direction → how far that group reaches
#   looked: how many candidates were looked at for a place
Room = namedtuple("Room", "around branches heap reach walk used group taken seen looked")


@inner
def _cost_of(priced, around, c, floor):
    """Return the least cost of the box if it contains candidate c."""
    total = 0.0
    for j in range(priced.whole.shape[0]):
        at = around.first[j]
        cost = max(around.shares[c, at], floor[at])
        if priced.numbers[j]:
            cost = min(cost + max(around.shares[c, at + 1], floor[at + 1]), priced.whole[j])
        total += cost
    return total


@part
def _cost_of_box(priced, around, sides):
    """Return the cost of the box that reaches this far in each direction."""
    total = 0.0
    for j in range(priced.whole.shape[0]):
        side = 0.0
        for at in range(around.first[j], around.first[j + 1]):
            side += sides[at]
        total += min(side, priced.whole[j])
    return total


@inner
def _fits(around, c, cap):
    for at in range(cap.shape[0]):
        if around.shares[c, at] > cap[at]:
            return False
    return True


@part
def _bound(priced, own, least, room, count, floor, cap, limit, best):
    """Bound how far prices exceed costs in a branch: for each cost of the box, the highest prices that cost no more.

    `own` is the price of the row that all groups hold, `least` what each of them costs at least. The highest prices
    come first, whatever they cost; then those that cost most make room for the next ones, which cost less, and so on
    until nothing better than `best` can follow. Candidates that cost `limit` or more can be in no better group.

    Returns the bound, the candidate that costs the box so much, the size of the group, which is noted, and a new limit.
    """
    around, heap, order, used = room.around, room.heap, room.around.order, room.used
    wanted = priced.k - 1
    least = max(least, _cost_of_box(priced, around, floor))
    size, held, at, spent = 0, 0, 0, 0
    before, entered = limit, -1.0
    total = 0.0
    bound, closes, entries = -np.inf, -1, 0
    while True:
        while held < wanted and at < count:
            c = order[at]
            if around.alone[c] < limit and _fits(around, c, cap):
                cost = _cost_of(priced, around, c, floor)
                if cost < limit:
                    take = min(around.weights[c] - spent, wanted - held)
                    if spent == 0:
                        heaps.push(heap, size, cost, c, False)
                        size += 1
                        used[c] = 0
                    used[c] += take
                    held += take
                    total += take * around.prices[c]
                    spent += take
                    if spent < around.weights[c]:
                        break
            at += 1
            spent = 0
        if held < wanted:
            break
        limit = heap.keys[0]
        excess = own + total - priced.k * limit
        if excess > bound:
            bound, closes, entries = excess, np.int64(heap.ids[0]), size
            for i in range(size):
                room.group[i] = heap.ids[i]
                room.taken[i] = used[heap.ids[i]]
        # A group with a candidate that costs more gets at most these prices, and loses more.
        if entered < 0.0 and excess > best:
            entered = min(before, ABOVE * (own + total - best) / priced.k)
        before = limit
        if own + total - priced.k * least <= max(best, bound):
            break
        while size > 0 and heap.keys[0] >= limit:
            c = heaps.pop(heap, size, False)
            size -= 1
            held -= used[c]
            total -= used[c] * around.prices[c]
            if spent > 0 and c == order[at]:  # its other rows cost as much
                at += 1
                spent = 0
    room.looked[0] += at
    return bound, closes, entries, entered


@part
def _excess(priced, own, room, size):
    """Return how far prices exceed costs in the branch's group, and its cost; note how far it reaches."""
    around = room.around
    for at in range(around.shares.shape[1]):
        room.seen[at] = 0.0
    total = own
    for i in range(size):
        c = room.group[i]
        total += room.taken[i] * around.prices[c]
        for at in range(around.shares.shape[1]):
            room.seen[at] = max(room.seen[at], around.shares[c, at])
    cost = priced.k * _cost_of_box(priced, around, room.seen)
    return total - cost, cost


@part
def _note(points, place, room, size, found):
    """Keep the box of the branch's group for this place; return how many rows of the place the group holds."""
    around = room.around
    slot = found.noted[place] % found.lo.shape[1]
    lo, hi = found.lo[place, slot], found.hi[place, slot]
    found.noted[place] += 1
    for j in range(lo.shape[0]):
        lo[j] = points[place, j]
        hi[j] = points[place, j]
    copies = 1
    for i in range(size):
        p = around.places[room.group[i]]
        if p == place:
            copies += room.taken[i]
        for j in range(lo.shape[0]):
            lo[j] = min(lo[j], points[p, j])
            hi[j] = max(hi[j], points[p, j])
    return copies


@part
def _look(priced, place, own, room, count, top, best):
    """Look at the branch on top; return its bound, its group's excess, cost and size: −1 if that is needless.

    Where the branch can still hold more than its group does, how it is to be split is noted.
    """
    around, branches = room.around, room.branches
    floor = branches.floor[top]
    bound, closes, size, limit = _bound(
        priced, own, priced.least[place], room, count, floor, branches.cap[top], branches.limit[top], best
    )
    branches.bound[top] = bound
    if bound <= best:
        return bound, best, 0.0, -1
    branches.limit[top] = limit
    value, cost = _excess(priced, own, room, size)
    # The direction in which the box is wider than where it was closed: either it is that wide, or narrower.
    widest, gap = -1, 0.0
    for at in range(around.shares.shape[1]):
        lack = room.seen[at] - max(around.shares[closes, at], floor[at])
        if lack > gap:
            widest, gap = at, lack
    branches.widest[top] = widest
    if widest >= 0:
        branches.reached[top] = room.seen[widest]
    return bound, value, cost, size


@part
def _worst(priced, points, place, own, room, count, found, work):
    """Return how far prices exceed costs at most in any group of this place, and how many rows of it that group holds.

    The branch with the highest bound is split first, so that little is left above the best group if the search is cut
    short, once it has looked at about `work` candidates; a bound is as valid as a group. The group is noted. Also
    returns whether the search was cut short, and how many candidates are left: prices only fall, so those that can be
    in no violating group now need not be looked at again.
    """
    branches = room.branches
    directions = room.around.shares.shape[1]
    for at in range(directions):
        branches.floor[0, at] = 0.0
        branches.cap[0, at] = np.inf
    branches.limit[0] = np.inf
    room.looked[0] = 0
    best, copies, settled = 0.0, 1, 0.0
    bound, value, cost, size = _look(priced, place, own, room, count, 0, TOLERANCE)
    if bound <= TOLERANCE:
        return 0.0, 1, False, count
    count = _drop_costly(room.around, count, branches.limit[0])
    noted = -np.inf
    if value > -NEARLY * cost:
        noted = value
        copies = _note(points, place, room, size, found)
        best = max(best, value)
    opened, looked = 1, 1
    while opened > 0:
        top = 0
        for i in range(1, opened):
            if branches.bound[i] > branches.bound[top]:
                top = i
        bound = branches.bound[top]
        if bound <= max(best, settled) + TOLERANCE:
            return max(best, settled, bound), copies, False, count
        if looked >= BRANCHES or room.looked[0] > work:
            return max(best, settled, bound), copies, True, count
        widest = branches.widest[top]
        if widest < 0:  # rounding: nothing to tell apart
            settled = max(settled, bound)
            opened -= 1
            _move(branches, opened, top)
            continue
        # One child goes into its parent's place, the other behind all.
        reached = branches.reached[top]
        for at in range(directions):
            branches.floor[opened, at] = branches.floor[top, at]
            branches.cap[opened, at] = branches.cap[top, at]
        branches.floor[top, widest] = reached
        branches.cap[opened, widest] = np.nextafter(reached, -1.0)
        branches.limit[opened] = branches.limit[top]
        last = opened
        opened += 1
        for child in (last, top):
            bound, value, cost, size = _look(priced, place, own, room, count, child, best + TOLERANCE)
            looked += 1
            if size >= 0 and value > max(noted, -NEARLY * cost):
                noted = value
                copies = _note(points, place, room, size, found)
                best = max(best, value)
            if bound <= best + TOLERANCE or (size >= 0 and value >= bound - TOLERANCE):
                opened -= 1
                _move(branches, opened, child)
    return max(best, settled), copies, False, count


@part
def _drop_costly(around, count, limit):
    """Drop the candidates that cost the limit or more, and return how many are left."""
    left = 0
    for i in range(count):
        c = around.order[i]
        if around.alone[c] < limit:
            around.order[left] = c
            left += 1
    return left


@inner
def _move(branches, one, to):
    """Put a branch in the place of another."""
    if one != to:
        for at in range(branches.floor.shape[1]):
            branches.floor[to, at] = branches.floor[one, at]
            branches.cap[to, at] = branches.cap[one, at]
        branches.bound[to] = branches.bound[one]
        branches.widest[to] = branches.widest[one]
        branches.reached[to] = branches.reached[one]
        branches.limit[to] = branches.limit[one]


def lower_prices(nodes, costs, priced, places, found):
    """Lower the prices of some places, each as far as its groups with places of higher rank require.

    If the prices of all places are lowered, each computed from prices no lower than the others get, the result is
    feasible. If a search is cut short, the price falls further than necessary.
    """
    size = nodes.points.shape[0]
    around = new_around(size, priced.numbers)
    directions, depth = around.shares.shape[1], BRANCHES + 3
    branches = Branches(
        np.empty((depth, directions)),
        np.empty((depth, directions)),
        np.empty(depth),
        np.empty(depth, dtype=np.int64),
        np.empty(depth),
        np.empty(depth),
    )
    members = [np.empty(size + 1, dtype=np.int64) for _ in range(3)]
    looked = np.zeros(1, dtype=np.int64)
    heap, reach = heaps.new_heap(size + 1), new_reach(costs)
    room = Room(around, branches, heap, reach, new_walk(), *members, np.empty(directions), looked)
    _lower_prices(nodes, costs, priced, places, found, room)


@part
def _lower_own(around, place, count, own):
    """Set the price of the place itself, and move it to where it now belongs among the candidates."""
    order = around.order
    for i in range(count):
        c = order[i]
        if around.places[c] == place:
            around.prices[c] = own
            while i + 1 < count and around.prices[order[i + 1]] > own:
                order[i] = order[i + 1]
                i += 1
            order[i] = c
            return


@loop
def _lower_prices(nodes, costs, priced, places, found, room):
    for place in places:
        own = priced.price[place]
        found.lowered[place] = own
        if own <= 0.0:
            continue
        aimed = Aimed(costs, room.reach, nodes.points[place], nodes.points[place])
        count = list_candidates(nodes, aimed, room.walk, priced, place, room.around)
        found.looked[place] = count
        work = priced.few
        for again in range(REPEATS):
            excess, copies, cut, count = _worst(priced, nodes.points, place, own, room, count, found, work)
            found.looked[place] += room.looked[0]
            if cut and work < priced.many:
                count, compared = drop_dominated(priced, place, room.around, count)
                found.looked[place] += compared // COMPARISONS
                work = priced.many
                excess, copies, cut, count = _worst(priced, nodes.points, place, own, room, count, found, work)
                found.looked[place] += room.looked[0]
            if excess <= TOLERANCE:
                break
            # All rows of the place get cheaper by the same: with several of them in the group, less will do there; a
            # group with fewer may ask for more. In the end, what is enough with one of them is enough.
            own -= excess if again == REPEATS - 1 else excess / copies
            if copies == 1:  # every group of the place has got cheaper by as much
                break
            _lower_own(room.around, place, count, own)
        found.lowered[place] = own
