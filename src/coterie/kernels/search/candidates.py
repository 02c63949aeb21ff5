"""The rows that can be in a group with a given one, by falling price: what the search for violated prices looks at.

The box of a group with a row r is determined by each row's distance to r alone: in a tree, the common ancestor is
the highest of the ancestors that r shares with one of them; for numbers, the interval reaches from the lowest to the
highest. So a candidate is a price and what the box costs if it holds it, in each such direction.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import inner, part
from coterie.kernels.search.costs import aim_all, bound_cost, interval_cost, joined_cost
from coterie.kernels.search.walk import offer, pop, set_out
from coterie.kernels.sorting import sort_pairs

# What is priced.
#   price: place → price of one of its rows
#   rank: place → its place in the order of falling prices
#   least: place → what a group with it costs at least
#   numbers: attribute → whether its costs add up on both sides of a value; a tree's do not
#   whole: attribute → cost of its whole domain
#   few, many: how many candidates to look at for a place, about, before and after those that no group needs are dropped
Priced = namedtuple("Priced", "k price rank least numbers whole few many")

# The places near one, and room to sort them.
#   places, weights, prices: which, how many rows each has to give, and the price of one
#   shares: [candidate, direction] what the box costs in this direction if it holds the candidate
#   alone: candidate → cost of the box that holds nothing else
#   first: attribute → its first direction; one more entry at the end
#   order: the candidates that count, by falling price
#   keys: room for sorting
#   levels, strong, weak: room for `drop_dominated`
Around = namedtuple("Around", "places weights prices shares alone first order keys levels strong weak")

LEVELS = 63  # of a direction that are distinguished, at most
COMPARED = 512  # candidates that one is compared with, at most: to keep one that no group needs does no harm


def new_around(size, numbers):
    """Allocate room for candidates."""
    first = np.concatenate([[0], np.cumsum(1 + numbers)]).astype(np.int64)
    directions = int(first[-1])
    return Around(
        np.empty(size, dtype=np.int32),
        np.empty(size, dtype=np.int64),
        np.empty(size),
        np.empty((size, directions)),
        np.empty(size),
        first,
        np.empty(size, dtype=np.int32),
        np.empty(size),
        np.empty(LEVELS),
        np.empty(size, dtype=np.int64),
        np.empty(size, dtype=np.int64),
    )


@part
def list_candidates(nodes, aimed, walk, priced, place, around):
    """List the places after this one in the order of prices that can be in a violating group with it.

    All rows of such a group have at most its price, and so do the costs of its box. Returns how many there are.
    """
    limit = priced.price[place]
    point = nodes.points[place]
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
            if weight == 0 or priced.rank[p] < priced.rank[place] or priced.least[p] > limit:
                continue
            if joined_cost(aimed, nodes.points, p, limit) > limit:
                continue
            around.places[count] = p
            around.weights[count] = min(weight, priced.k)
            around.prices[count] = priced.price[p]
            _set_shares(aimed.costs, priced, point, nodes.points[p], around, count)
            count += 1
    for c in range(count):
        around.order[c] = c
    _sort_by_price(around, count)
    return count


@inner
def _sort_by_price(around, count):
    for i in range(count):
        around.keys[i] = -around.prices[around.order[i]]
    sort_pairs(around.keys, around.order, count)


@inner
def _set_shares(costs, priced, point, other, around, c):
    """Note what the box of two points costs in each direction."""
    total = 0.0
    for j in range(point.shape[0]):
        at = around.first[j]
        cost = interval_cost(costs, j, min(point[j], other[j]), max(point[j], other[j]))
        around.shares[c, at] = cost
        if priced.numbers[j]:
            around.shares[c, at] = cost if other[j] > point[j] else 0.0
            around.shares[c, at + 1] = cost if other[j] < point[j] else 0.0
        total += cost
    around.alone[c] = total


@part
def drop_dominated(priced, place, around, count):
    """Drop candidates that no group needs; return how many are left, and how often two were compared.

    If k − 1 rows have at least its price, and in no direction a larger share, one of them is not in the group of the
    candidate and can take its place. Those that were dropped have such rows too, so they need not be compared with.
    Near rows have small shares: candidates are compared with the nearest ones first.

    Shares are compared as levels, all directions in one number: each has its bits, and one more that tells whether a
    subtraction borrows from it. A share between two levels counts as the higher one where it is to be small, and as the
    lower one where it is to be large.
    """
    directions = around.shares.shape[1]
    bits = 63 // directions
    most = min((1 << (bits - 1)) - 2, LEVELS)
    if most < 2:
        return count, 0
    guard = 0
    for i in range(count):
        around.keys[i] = around.alone[around.order[i]]
    sort_pairs(around.keys, around.order, count)
    for i in range(count):
        around.strong[i] = 0
        around.weak[i] = 0
    for at in range(directions):
        shift = at * bits
        guard |= 1 << (shift + bits - 1)
        known = 0
        for i in range(count):
            if known < most:
                known = _add_level(around.levels, known, around.shares[around.order[i], at])
        for i in range(count):
            share = around.shares[around.order[i], at]
            low = _level(around.levels, known, share)
            between = low == 0 or around.levels[low - 1] < share
            around.weak[i] |= low << shift
            # The price of the place itself is still to fall: its other rows take nobody's place.
            high = most + 1 if around.places[around.order[i]] == place else low + 1 if between else low
            around.strong[i] |= high << shift
    count, compared = _undominated(priced, around, count, guard)
    _sort_by_price(around, count)
    return count, compared


@inner
def _level(levels, known, share):
    """Return how many levels are at most this share."""
    low, high = 0, known
    while low < high:
        middle = (low + high) // 2
        if levels[middle] <= share:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def _add_level(levels, known, share):
    """Insert a share into the levels unless it is one; return how many there are."""
    at = _level(levels, known, share)
    if at > 0 and levels[at - 1] == share:
        return known
    for i in range(known, at, -1):
        levels[i] = levels[i - 1]
    levels[at] = share
    return known + 1


@part
def _undominated(priced, around, count, guard):
    """Move the candidates that are not dominated to the front; return how many there are, and after how much work."""
    order, strong = around.order, around.strong
    left, compared = 0, 0
    for i in range(count):
        held = 0
        against, price = around.weak[i] | guard, around.prices[order[i]]
        for b in range(min(left, COMPARED)):
            compared += 1
            if (against - strong[b]) & guard == guard and around.prices[order[b]] >= price:
                held += around.weights[order[b]]
                if held >= priced.k - 1:
                    break
        if held < priced.k - 1:
            order[left] = order[i]
            strong[left] = strong[i]
            left += 1
    return left, compared
