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
Around = namedtuple("Around", "places weights prices shares first keys order")

# Branches that wait: what the box costs at least and at most in each direction, the most that can be found there, and
# the direction and width at which the branch is split.
Branches = namedtuple("Branches", "floor cap bound widest reached")

# What was found.
#   lowered: place → price after the repair
#   group_places, group_counts: [place, entry] the group that broke the rule most; counts are 0 behind its end
Found = namedtuple("Found", "lowered group_places group_counts")

# Room to search.
#   seen: direction → how far the group closed last reaches
#   group, taken: its candidates, and how many rows of each
Room = namedtuple("Room", "around branches heap reach walk seen group taken")


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
def _sort(priced, room, count, floor, cap):
    """Put the candidates of a branch in the order of what they cost the box; return how many there are."""
    around = room.around
    n = 0
    for c in range(count):
        fits = True
        for at in range(around.shares.shape[0]):
            if around.shares[at, c] > cap[at]:
                fits = False
                break
        if fits:
            around.keys[n] = _cost_of(priced, around, around.shares, c, floor)
            around.order[n] = c
            n += 1
    sort_pairs(around.keys, around.order, n)
    return n


@part
def _sweep(priced, own, room, n, upto):
    """Bound how far prices exceed costs in a branch whose candidates are sorted.

    `own` is the price of the row that all groups hold. The bound takes, for each cost of the box, the highest prices
    among the candidates that cost no more. Returns the bound, the candidate that closes its group, and how many
    candidates come before the first one behind which no group breaks the rule. If `upto` is not −1, the sweep ends with
    that candidate, the heap holds the group, and the result is the weight that the group has too much at the top of
    the heap, the size of the heap, and how many candidates were looked at.
    """
    around, heap, prices = room.around, room.heap, room.around.prices
    wanted = priced.k - 1
    most, closes = -np.inf, -1
    size, held, useful = 0, 0, 0
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
            if excess > TOLERANCE:
                useful = i + 1
        if c == upto:
            return float(held - wanted), size, i + 1
    return most, closes, useful


@part
def _trim(priced, own, room, count):
    """Drop the candidates that cost too much to be in any group that breaks the rule; return how many are left."""
    around, branches = room.around, room.branches
    for at in range(around.shares.shape[0]):
        branches.floor[0, at] = 0.0
        branches.cap[0, at] = np.inf
    n = _sort(priced, room, count, branches.floor[0], branches.cap[0])
    useful = _sweep(priced, own, room, n, -1)[2]
    for c in range(count):
        room.taken[c] = 0
    for i in range(useful):
        room.taken[around.order[i]] = 1
    left = 0
    for c in range(count):
        if room.taken[c] == 1:
            around.places[left] = around.places[c]
            around.weights[left] = around.weights[c]
            around.prices[left] = around.prices[c]
            for at in range(around.shares.shape[0]):
                around.shares[at, left] = around.shares[at, c]
            left += 1
    return left


@part
def _close(priced, own, room, n, closes):
    """Note the group that ends with this candidate and how far it reaches; return its excess, and its entries."""
    around, heap = room.around, room.heap
    spare, size, _ = _sweep(priced, own, room, n, closes)
    for at in range(around.shares.shape[0]):
        room.seen[at] = 0.0
    total = own
    for i in range(size):
        c = heap.ids[i]
        taken = around.weights[c] - (int(spare) if i == 0 else 0)
        room.group[i] = c
        room.taken[i] = taken
        total += taken * around.prices[c]
        if taken > 0:
            for at in range(around.shares.shape[0]):
                room.seen[at] = max(room.seen[at], around.shares[at, c])
    cost = 0.0
    for j in range(priced.whole.shape[0]):
        side = 0.0
        for at in range(around.first[j], around.first[j + 1]):
            side += room.seen[at]
        cost += min(side, priced.whole[j])
    return total - priced.k * cost, size


@part
def _note(place, room, size, found):
    """Keep the group that was closed last as the one of this place; return how many rows of the place it holds."""
    around = room.around
    copies, entries = 1, 0
    for i in range(size):
        c = room.group[i]
        if room.taken[i] == 0:
            continue
        if around.places[c] == place:
            copies += room.taken[i]
        else:
            found.group_places[place, entries] = around.places[c]
            found.group_counts[place, entries] = room.taken[i]
            entries += 1
    found.group_places[place, entries] = place
    found.group_counts[place, entries] = copies
    for e in range(entries + 1, found.group_counts.shape[1]):
        found.group_counts[place, e] = 0
    return copies


@part
def _look(priced, own, room, count, top, best):
    """Look at the branch on top; return its bound, its group's excess and size, or −1 for the size if that is needless.

    Where the branch can still hold more than its group does, how it is to be split is noted.
    """
    around, branches = room.around, room.branches
    floor = branches.floor[top]
    n = _sort(priced, room, count, floor, branches.cap[top])
    bound, closes, _ = _sweep(priced, own, room, n, -1)
    branches.bound[top] = bound
    if bound <= best:
        return bound, best, -1
    value, size = _close(priced, own, room, n, closes)
    # The direction in which the box is wider than where it was closed: either it is that wide, or narrower.
    widest, gap = -1, 0.0
    for at in range(around.shares.shape[0]):
        lack = room.seen[at] - max(around.shares[at, closes], floor[at])
        if lack > gap:
            widest, gap = at, lack
    branches.widest[top] = widest
    if widest >= 0:
        branches.reached[top] = room.seen[widest]
    return bound, value, size


@part
def _worst(priced, place, own, room, count, found):
    """Return how far prices exceed costs at most in any group of this place, and how many rows of it that group holds.

    The branch with the highest bound is split first, so that little is left above the best group if the search is cut
    short; a bound is as valid as a group. The group is noted.
    """
    branches = room.branches
    directions = room.around.shares.shape[0]
    for at in range(directions):
        branches.floor[0, at] = 0.0
        branches.cap[0, at] = np.inf
    best, copies, settled = 0.0, 1, 0.0
    bound, value, size = _look(priced, own, room, count, 0, best)
    if bound <= TOLERANCE:
        return 0.0, 1
    if value > best:
        best = value
        copies = _note(place, room, size, found)
    opened, looked = 1, 1
    while opened > 0:
        top = 0
        for i in range(1, opened):
            if branches.bound[i] > branches.bound[top]:
                top = i
        bound = branches.bound[top]
        if bound <= max(best, settled) + TOLERANCE or looked >= BRANCHES or looked * count > WORK:
            return max(best, settled, bound), copies
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
        last = opened
        opened += 1
        for child in (last, top):
            bound, value, size = _look(priced, own, room, count, child, best + TOLERANCE)
            looked += 1
            if size >= 0 and value > best:
                best = value
                copies = _note(place, room, size, found)
            if bound <= best + TOLERANCE or (size >= 0 and value >= bound - TOLERANCE):
                opened -= 1
                _move(branches, opened, child)
    return max(best, settled), copies


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
    )
    depth = BRANCHES + 3
    branches = Branches(
        np.empty((depth, directions)),
        np.empty((depth, directions)),
        np.empty(depth),
        np.empty(depth, dtype=np.int64),
        np.empty(depth),
    )
    heap, seen = heaps.new_heap(size + 1), np.empty(directions)
    members = np.empty(size + 1, dtype=np.int64), np.empty(size + 1, dtype=np.int64)
    room = Room(around, branches, heap, new_reach(costs), new_walk(), seen, *members)
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
        count = _trim(priced, own, room, count)
        if count == 0:
            continue
        for again in range(REPEATS):
            excess, copies = _worst(priced, place, own, room, count, found)
            if excess <= TOLERANCE:
                break
            # All rows of the place get cheaper by the same: with several of them in the group, less will do there; a
            # group with fewer may ask for more. In the end, what is enough with one of them is enough.
            own -= excess if again == REPEATS - 1 else excess / copies
            if copies == 1:  # every group of the place has got cheaper by as much
                break
            for c in range(count):
                if room.around.places[c] == place:
                    room.around.prices[c] = own
        found.lowered[place] = own
