"""Grow new sides from the items of a pool, one after another, each from the best of a few seeds."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import inner, part
from coterie.kernels.improve.pooled import span_cost
from coterie.kernels.search.costs import TABLE, interval_cost

SEEDS = 3  # boxes grown for each side

# Arrays that growing writes to.
#   free: items that are on no side yet
#   work: those that the growing box does not hold
#   held, kept: items of the growing box, and of the best so far
#   shares: [attribute, item] → what the attribute adds to the cost of the box grown to hold the item
#   totals: item → the sum of these
#   box, best_box: [2, attribute] lowest and highest codes
Growing = namedtuple("Growing", "free work held kept shares totals box best_box")


def new_growing(d, most):
    """Allocate space for this many items."""
    return Growing(
        np.empty(most, dtype=np.int32),
        np.empty(most, dtype=np.int32),
        np.empty(most, dtype=np.int32),
        np.empty(most, dtype=np.int32),
        np.empty((d, most), dtype=np.float64),
        np.empty(most, dtype=np.float64),
        np.empty((2, d), dtype=np.int32),
        np.empty((2, d), dtype=np.int32),
    )


@inner
def next_draw(draws, b):
    """Return the next number of a linear congruential sequence, of which the upper bits are used."""
    draws[b] = draws[b] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return np.int64(draws[b] >> np.uint64(33))


@inner
def _share(costs, scale, pooled, growing, j, count, first):
    """Set the shares of attribute j after its interval has changed, and update or start the totals."""
    low, high = growing.box[0, j], growing.box[1, j]
    codes, shares, totals, work = pooled.codes, growing.shares, growing.totals, growing.work
    if costs.kind[j] == TABLE:
        offset, width, data = costs.offset[j], costs.width[j], costs.data
        for f in range(count):
            i = work[f]
            c = codes[j, i]
            share = scale * data[np.uint64(offset + min(low, c) * width + max(high, c))]
            totals[i] += share if first else share - shares[j, i]
            shares[j, i] = share
    else:
        for f in range(count):
            i = work[f]
            c = codes[j, i]
            share = scale * interval_cost(costs, j, min(low, c), max(high, c))
            totals[i] += share if first else share - shares[j, i]
            shares[j, i] = share


@part
def _grow(costs, scales, pooled, active, growing, free, seed, k, limit):
    """Grow a box from a free item, always by the cheapest item, until it has k rows.

    `held` receives its items. Returns the number of items and rows, and the cost: infinite once it reaches `limit`.
    """
    codes, work, totals, held, box = pooled.codes, growing.work, growing.totals, growing.held, growing.box
    count = 0
    for f in range(free):
        i = growing.free[f]
        if i != seed:
            work[count] = i
            totals[i] = 0.0
            count += 1
    for a in range(active):
        j = pooled.active[a]
        box[0, j] = codes[j, seed]
        box[1, j] = codes[j, seed]
        _share(costs, scales[j], pooled, growing, j, count, True)
    held[0] = seed
    items = 1
    rows = pooled.weights[seed]
    cost = 0.0
    while rows < k:
        best = 0
        least = totals[work[0]]
        for f in range(1, count):
            if totals[work[f]] < least:
                least = totals[work[f]]
                best = f
        item = work[best]
        count -= 1
        work[best] = work[count]
        held[items] = item
        items += 1
        rows += pooled.weights[item]
        widened = False
        for a in range(active):
            j = pooled.active[a]
            c = codes[j, item]
            if c < box[0, j] or c > box[1, j]:
                widened = True
                box[0, j] = min(box[0, j], c)
                box[1, j] = max(box[1, j], c)
                _share(costs, scales[j], pooled, growing, j, count, False)
        if widened:
            cost = 0.0
            for a in range(active):
                j = pooled.active[a]
                cost += span_cost(costs, j, box[0, j], box[1, j])
            if cost >= limit:
                return items, rows, np.inf
    at = items - 1
    while rows > k and at > 0:  # items of several rows may be more than it takes: others can use them
        if rows - pooled.weights[held[at]] >= k:
            rows -= pooled.weights[held[at]]
            items -= 1
            held[at] = held[items]
        at -= 1
    return items, rows, cost


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
    k, scales, side = search.k, search.scales, pooled.side
    for i in range(n):
        side[i] = -1
        growing.free[i] = i
    free, m = n, 0
    loss = 0.0
    while rows >= k and (m == 0 or rows - k >= spare):
        best, items, taken = np.inf, 0, 0
        for t in range(SEEDS):
            seed = growing.free[next_draw(draws, b) % free]
            scale = scales[0] if t % 2 == 0 else scales[1 + next_draw(draws, b) % (scales.shape[0] - 1)]
            count, held, cost = _grow(costs, scale, pooled, active, growing, free, seed, k, best)
            if cost < best:
                best, items, taken = cost, count, held
                for i in range(count):
                    growing.kept[i] = growing.held[i]
                for a in range(active):
                    j = pooled.active[a]
                    growing.best_box[0, j] = growing.box[0, j]
                    growing.best_box[1, j] = growing.box[1, j]
        for i in range(items):
            side[growing.kept[i]] = m
        for a in range(active):
            j = pooled.active[a]
            sides.edges[m, 0, j] = growing.best_box[0, j]
            sides.edges[m, 1, j] = growing.best_box[1, j]
        sides.sizes[m] = taken
        sides.costs[m] = best
        loss += taken * best
        if loss > search.worse * before:
            return 0
        m += 1
        rows -= taken
        left = 0
        for f in range(free):
            if side[growing.free[f]] < 0:
                growing.free[left] = growing.free[f]
                left += 1
        free = left
    _place_rest(costs, pooled, active, sides, m, growing, free)
    loss = 0.0
    for s in range(m):
        loss += sides.sizes[s] * sides.costs[s]
    return m if loss <= search.worse * before else 0
