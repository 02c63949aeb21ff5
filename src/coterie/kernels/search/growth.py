"""Growing a box over a handful of rows, held in small arrays of their own.

Growing chooses by rough costs in whole numbers, which are quick to add up and leave no rounding behind; what a box
costs is exact.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import inner, part
from coterie.kernels.search.costs import NUMBER, TABLE, box_costs, interval_cost, joined_cost
from coterie.kernels.search.heap import keep_nearest
from coterie.kernels.search.rows_index import descend
from coterie.kernels.search.walk import pop, set_out

ALL = 2**62  # leaves of the index to look into: as many as it takes


@part
def near_points(nodes, aimed, wanted, leaves, heap, walk):
    """Find the positions nearest to an aimed box that together have at least `wanted` free rows, unordered.

    Writes them to the heap, with their costs, and returns their number (at most `wanted` + 1). Once it has enough, it
    visits at most this many leaves of the tree, the likeliest first, so that few leaves give mostly near ones.
    """
    size, held = 0, 0
    worst = np.inf
    top = set_out(walk)
    while top >= 0:
        node, bound, top = pop(walk, top)
        if bound >= worst or (leaves <= 0 and held >= wanted):
            continue
        if nodes.left[node] < 0:
            leaves -= 1
            for p in range(nodes.start[node], nodes.end[node]):
                if nodes.point_free[p] == 0:
                    continue
                cost = joined_cost(aimed, nodes.points, p, worst)
                if cost < worst:
                    size, held = keep_nearest(heap, size, held, cost, p, nodes.point_free, wanted)
                    if held >= wanted:
                        worst = heap.keys[0]
            continue
        top = descend(nodes, node, aimed, walk, top, worst, nodes.start)
    return size


ROUGH = 2**20  # the rough cost of all attributes' whole domains
PLAIN = 2**8  # the scale that changes nothing
HELD = 2**30  # above all rough costs times scales

# A handful of rows, and the box that grows over them. Only active attributes, in which they differ, are looked at.
#   codes: [active, item]
#   spots: [active, item] → where a number is on the scale of rough costs; unset for other attributes
#   weights: item → rows
#   active: their attributes
#   held: items of the box
#   shares: [active, item] → what the attribute adds to the rough cost of the box grown to hold the item
#   totals: item → the sum of these; HELD or about as much once the box holds it
#   box: [2, active] lowest and highest codes
Items = namedtuple("Items", "codes spots weights active held shares totals box")


def new_items(d, room):
    """Make room for so many items."""
    return Items(
        np.empty((d, room), dtype=np.int32),
        np.empty((d, room), dtype=np.int32),
        np.empty(room, dtype=np.int64),
        np.empty(d, dtype=np.int64),
        np.empty(room, dtype=np.int32),
        np.empty((d, room), dtype=np.int32),
        np.empty(room, dtype=np.int32),
        np.empty((2, d), dtype=np.int32),
    )


def rough_costs(costs):
    """Return the data of costs in whole numbers; numbers become what they cost from the lowest on."""
    last = costs.width[None].astype(np.int32) - 1
    whole = box_costs(costs, np.zeros_like(last), last)[0]
    unit = ROUGH / whole if whole > 0.0 else 0.0
    rough = np.empty(len(costs.data), dtype=np.int32)
    ends = np.append(costs.offset[1:], len(costs.data))
    for kind, start, end, span, weight in zip(costs.kind, costs.offset, ends, costs.span, costs.weight, strict=True):
        data = costs.data[start:end]
        if kind == NUMBER:
            data = np.minimum((data - data[:1]) / span, 1.0) * weight
        rough[start:end] = data * unit
    return rough


def rough_scales(scales):
    """Return factors of rough costs, in units of PLAIN."""
    return np.maximum(scales * PLAIN, 1.0).astype(np.int32)


@inner
def put_code(costs, rough, items, a, j, i, c):
    """Set the code of an item in attribute j, the active one of number a."""
    items.codes[a, i] = c
    if costs.kind[j] == NUMBER:
        items.spots[a, i] = rough[costs.offset[j] + c]


@inner
def span_cost(costs, j, lo, hi):
    """Return the cost of an interval of attribute j."""
    if costs.kind[j] == TABLE:
        return costs.data[np.uint64(costs.offset[j] + lo * costs.width[j] + hi)]
    return interval_cost(costs, j, lo, hi)


@inner
def _rough_cost(costs, rough, j, lo, hi):
    """Return the rough cost of an interval of attribute j, a large tree."""
    offset = costs.offset[j]
    if lo == hi:
        return np.int64(0)
    level = 0
    while (2 << level) <= hi - lo:
        level += 1
    row = offset + level * costs.width[j]
    return np.int64(max(rough[row + lo], rough[row + hi - (1 << level)]))


@inner
def _share(costs, rough, scale, items, a, n, fresh):
    """Bring the shares of an active attribute, and the totals, up to date, after its interval has changed.

    fresh: it has no shares yet.
    """
    j, low, high = items.active[a], np.int64(items.box[0, a]), np.int64(items.box[1, a])
    codes, spots, shares, totals = items.codes[a], items.spots[a], items.shares[a], items.totals
    offset, width = costs.offset[j], costs.width[j]
    if costs.kind[j] == TABLE:
        for i in range(n):
            c = np.int64(codes[i])
            share = np.int32(scale * rough[np.uint64(offset + min(low, c) * width + max(high, c))])
            totals[i] += share if fresh else np.int32(share - shares[i])
            shares[i] = share
    elif costs.kind[j] == NUMBER:  # nothing to look up: several items are compared at once
        start, end = rough[offset + low], rough[offset + high]
        for i in range(n):
            share = np.int32(scale * (max(end, spots[i]) - min(start, spots[i])))
            totals[i] += share if fresh else np.int32(share - shares[i])
            shares[i] = share
    else:
        for i in range(n):
            c = np.int64(codes[i])
            share = np.int32(scale * _rough_cost(costs, rough, j, min(low, c), max(high, c)))
            totals[i] += share if fresh else np.int32(share - shares[i])
            shares[i] = share


@inner
def _hold(items, active, count, i):
    """Let the box hold an item, which need not lie inside: it may be under the same ancestors."""
    box = items.box
    for a in range(active):
        box[0, a] = min(box[0, a], items.codes[a, i])
        box[1, a] = max(box[1, a], items.codes[a, i])
    items.held[count] = i
    items.totals[i] = HELD
    return items.weights[i]


@part
def grow_box(costs, rough, scales, items, active, n, seed, k, limit):
    """Grow the box of one item, by the item that costs it least each time, until it holds k rows.

    Whatever costs it nothing more joins at once. Return how many items and rows it holds, and its true cost:
    infinite if it reaches `limit`, or if all items together have fewer than k rows.
    """
    codes, shares, totals, box = items.codes, items.shares, items.totals, items.box
    for i in range(n):
        totals[i] = 0
    for a in range(active):
        box[0, a] = codes[a, seed]
        box[1, a] = codes[a, seed]
        _share(costs, rough, scales[items.active[a]], items, a, n, True)
    rows, count = _hold(items, active, 0, seed), 1
    now = np.int64(0)
    while rows < k:
        least = np.int32(HELD >> 1)
        for i in range(n):  # by itself, so that several items are compared at once
            least = min(least, totals[i])
        best = -1
        if least <= now:
            for i in range(n):
                if totals[i] <= now:
                    rows += _hold(items, active, count, i)
                    count += 1
                    if rows >= k:
                        break
            continue
        for i in range(n):
            if totals[i] == least and (best < 0 or items.weights[i] > items.weights[best]):
                best = i
        if best < 0:
            return count, rows, np.inf
        now = np.int64(0)
        cost = 0.0
        for a in range(active):
            c = codes[a, best]
            if c < box[0, a] or c > box[1, a]:
                box[0, a] = min(box[0, a], c)
                box[1, a] = max(box[1, a], c)
                _share(costs, rough, scales[items.active[a]], items, a, n, False)
            now += shares[a, best]
            cost += span_cost(costs, items.active[a], box[0, a], box[1, a])
        if cost >= limit:
            return count, rows, np.inf
        rows += _hold(items, active, count, best)
        count += 1
    cost = 0.0
    for a in range(active):
        cost += span_cost(costs, items.active[a], box[0, a], box[1, a])
    return count, rows, cost if cost < limit else np.inf


@part
def close_box(costs, lo, hi):
    """Widen a box as far as that costs nothing: to all values under the ancestors that are published anyway."""
    for j in range(lo.shape[0]):
        if lo[j] == hi[j] or costs.kind[j] != TABLE:
            continue
        offset = costs.offset[j]
        width = costs.width[j]
        now = costs.data[offset + lo[j] * width + hi[j]]
        while lo[j] > 0 and costs.data[offset + (lo[j] - 1) * width + hi[j]] == now:
            lo[j] -= 1
        while hi[j] < width - 1 and costs.data[offset + lo[j] * width + hi[j] + 1] == now:
            hi[j] += 1
