"""Grow new sides from the items of a pool, one after another, each from the best of a few seeds."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import inner, part
from coterie.kernels.search.growth import grow_box, new_items, put_code, span_cost

SEEDS = 3  # boxes grown for each side

# Arrays that growing writes to.
#   free: items of the pool that are on no side yet
#   items: the same, for a box to grow over
#   kept: items of the best box so far
#   box: [2, active] its lowest and highest codes
Growing = namedtuple("Growing", "free items kept box")


def new_growing(pooled):
    """Make room for the items of a pool."""
    d, most = pooled.codes.shape
    items = new_items(d, most)._replace(active=pooled.active)
    room = [np.empty(most, dtype=np.int32) for _ in range(2)]
    return Growing(room[0], items, room[1], np.empty((2, d), dtype=np.int32))


@inner
def next_draw(draws, b):
    """Return the next number of a linear congruential sequence, of which the upper bits are used."""
    draws[b] = draws[b] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return np.int64(draws[b] >> np.uint64(33))


@part
def _trim(items, count, rows, k):
    """Give items back that a box of k rows can do without: others can use them. Return how many it still holds."""
    at = count - 1
    while rows > k and at > 0:
        weight = items.weights[items.held[at]]
        if rows - weight >= k:
            rows -= weight
            count -= 1
            items.held[at] = items.held[count]
        at -= 1
    return count, rows


@part
def _place_rest(costs, pooled, active, sides, m, growing, free):
    """Put each remaining item on the side whose loss increases least."""
    codes, edges, sizes = pooled.codes, sides.edges, sides.sizes
    for f in range(free):
        i = growing.free[f]
        weight = pooled.weights[i]
        least = np.inf
        to = 0
        cost_there = 0.0
        for s in range(m):
            cost = 0.0
            for a in range(active):
                j = pooled.active[a]
                cost += span_cost(costs, j, min(edges[s, 0, j], codes[j, i]), max(edges[s, 1, j], codes[j, i]))
            rise = (sizes[s] + weight) * cost - sizes[s] * sides.costs[s]
            if rise < least:
                least = rise
                to = s
                cost_there = cost
        pooled.side[i] = to
        sizes[to] += weight
        sides.costs[to] = cost_there
        for a in range(active):
            j = pooled.active[a]
            edges[to, 0, j] = min(edges[to, 0, j], codes[j, i])
            edges[to, 1, j] = max(edges[to, 1, j], codes[j, i])


@part
def recreate(costs, search, pooled, n, active, rows, before, spare, sides, growing, draws, b):
    """Split the pool into new sides of at least k rows; return how many, 0 if they would cost far too much.

    At least `spare` rows are left over, if possible.
    """
    k, scales, side, items = search.k, search.scales, pooled.side, growing.items
    for i in range(n):
        side[i] = -1
        growing.free[i] = i
        items.weights[i] = pooled.weights[i]
        for a in range(active):
            j = pooled.active[a]
            put_code(costs, search.rough, items, a, j, i, pooled.codes[j, i])
    free, m = n, 0
    loss = 0.0
    while rows >= k and (m == 0 or rows - k >= spare):
        # A side that alone would make the pool cost too much is not grown to its end.
        best, taken, size = (search.worse * before - loss) / k, 0, 0
        for t in range(SEEDS):
            seed = next_draw(draws, b) % free
            scale = scales[0] if t % 2 == 0 else scales[1 + next_draw(draws, b) % (scales.shape[0] - 1)]
            count, held, cost = grow_box(costs, search.rough, scale, items, active, free, seed, k, best)
            if cost < best:
                best = cost
                taken, size = _trim(items, count, held, k)
                for i in range(taken):
                    growing.kept[i] = growing.free[items.held[i]]
                for a in range(active):
                    growing.box[0, a] = items.box[0, a]
                    growing.box[1, a] = items.box[1, a]
        if taken == 0:
            return 0
        for i in range(taken):
            side[growing.kept[i]] = m
        for a in range(active):
            sides.edges[m, 0, pooled.active[a]] = growing.box[0, a]
            sides.edges[m, 1, pooled.active[a]] = growing.box[1, a]
        sides.sizes[m] = size
        sides.costs[m] = best
        loss += size * best
        if loss > search.worse * before:
            return 0
        m += 1
        rows -= size
        left = 0
        for f in range(free):
            i = growing.free[f]
            if side[i] < 0:
                growing.free[left] = i
                items.weights[left] = items.weights[f]
                for a in range(active):
                    items.codes[a, left] = items.codes[a, f]
                    items.spots[a, left] = items.spots[a, f]
                left += 1
        free = left
    _place_rest(costs, pooled, active, sides, m, growing, free)
    loss = 0.0
    for s in range(m):
        loss += sides.sizes[s] * sides.costs[s]
    return m if loss <= search.worse * before else 0
