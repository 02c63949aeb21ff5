"""The places in boxes, and boxes as wide as their cost allows."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import loop, part
from coterie.kernels.search.ascent import nth_highest
from coterie.kernels.search.costs import interval_cost
from coterie.kernels.search.walk import new_walk, pop, set_out

# The places in each box, those with the highest prices if they are too many.
#   places: [box, entry]; counts: box → entries
Members = namedtuple("Members", "places counts")

# Room for one box: the places in it, and their prices to select from.
Room = namedtuple("Room", "walk inside values rows")


@loop
def widen_boxes(costs, lo, hi):
    """Widen each box as far as it costs no more: in a tree, to all leaves of the common ancestor."""
    for b in range(lo.shape[0]):
        for j in range(lo.shape[1]):
            if lo[b, j] < hi[b, j]:
                cost = interval_cost(costs, j, lo[b, j], hi[b, j])
                lo[b, j] = _widest(costs, j, lo[b, j], hi[b, j], cost, -1)
                hi[b, j] = _widest(costs, j, lo[b, j], hi[b, j], cost, 1)


@part
def _widest(costs, j, lo, hi, cost, side):
    """Return the furthest end on one side that the interval [lo, hi] can have at this cost. Costs never fall."""
    near = lo if side < 0 else hi
    far = 0 if side < 0 else costs.width[j] - 1
    while near != far:
        middle = (near + far + (1 if side > 0 else 0)) // 2
        low, high = (middle, hi) if side < 0 else (lo, middle)
        if interval_cost(costs, j, low, high) <= cost:
            near = middle
        else:
            far = middle - side
    return near


def list_members(nodes, prices, lo, hi, most):
    """Return the places in each box, at most this many: those with the highest prices; on ties, in their order."""
    size = len(prices)
    found = Members(np.zeros((len(lo), most), dtype=np.int32), np.zeros(len(lo), dtype=np.int64))
    room = Room(new_walk(), np.empty(size, dtype=np.int32), np.empty(size), np.empty(size))
    _list_members(nodes, prices, lo, hi, found, room)
    return found


@part
def places_inside(nodes, walk, lo, hi, inside):
    """List the places in a box, in their order; return how many there are."""
    count = 0
    top = set_out(walk)
    while top >= 0:
        node, _, top = pop(walk, top)
        meets, within = True, True
        for j in range(lo.shape[0]):
            if nodes.lo[node, j] > hi[j] or nodes.hi[node, j] < lo[j]:
                meets = False
                break
            within = within and lo[j] <= nodes.lo[node, j] and nodes.hi[node, j] <= hi[j]
        if not meets:
            continue
        if nodes.left[node] >= 0 and not within:
            for child in range(nodes.left[node] + 1, nodes.left[node] - 1, -1):
                top += 1
                walk.stack[top] = child
            continue
        for p in range(nodes.start[node], nodes.end[node]):
            holds = True
            if not within:
                for j in range(lo.shape[0]):
                    if nodes.points[p, j] < lo[j] or nodes.points[p, j] > hi[j]:
                        holds = False
                        break
            if holds:
                inside[count] = p
                count += 1
    return count


@loop
def _list_members(nodes, prices, lo, hi, found, room):
    most = found.places.shape[1]
    for b in range(lo.shape[0]):
        count = places_inside(nodes, room.walk, lo[b], hi[b], room.inside)
        limit, equal = -np.inf, count
        if count > most:
            for i in range(count):
                room.values[i] = prices[room.inside[i]]
                room.rows[i] = 1.0
            limit = nth_highest(room.values, room.rows, count, most)
            equal = most
            for i in range(count):
                if prices[room.inside[i]] > limit:
                    equal -= 1
        kept = 0
        for i in range(count):
            price = prices[room.inside[i]]
            if price > limit or (price == limit and equal > 0):
                if price == limit:
                    equal -= 1
                found.places[b, kept] = room.inside[i]
                kept += 1
        found.counts[b] = kept
