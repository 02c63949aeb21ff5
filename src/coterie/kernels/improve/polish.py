"""Move single items of a pool to another side, or swap two, while that reduces the loss."""

from __future__ import annotations

import numpy as np

from coterie.kernels import inner, part
from coterie.kernels.edges import without
from coterie.kernels.improve.pooled import cost_with, draw_side

TOLERANCE = 1e-9  # gains below this are rounding


@part
def _renew(costs, pooled, n, active, sides, s, left):
    """Redraw a side, and compute its cost without each of its items."""
    count = draw_side(costs, pooled, n, active, sides, s)
    for at in range(count):
        i = pooled.keys[at]
        alone = False  # at an edge that no other item holds
        for a in range(active):
            low, high = without(sides.edges, s, pooled.active[a], pooled.codes[pooled.active[a], i])
            if low != sides.edges[s, 0, pooled.active[a]] or high != sides.edges[s, 1, pooled.active[a]]:
                alone = True
                break
        left[i] = cost_with(costs, pooled, active, sides, s, i, -1, np.inf) if alone else sides.costs[s]


@inner
def _joined_limit(sides, k, s, t, weight, left, roomy):
    """Return what a side may cost with an item of another one if moving or swapping that is to gain anything."""
    sizes, now = sides.sizes, sides.costs
    both = sizes[s] * now[s] + sizes[t] * now[t] - TOLERANCE
    rest = sizes[s] - weight
    limit = (both - max(k, rest + 1) * left) / k  # a swap leaves both sides k rows at least
    if roomy:
        limit = max(limit, (both - rest * left) / (sizes[t] + weight))
    return limit


@part
def _best_move(pooled, sides, m, i, left, joined, best):
    """Return the best side for item i if moving gains more than `best`: the gain and the side, or −1."""
    s, weight = pooled.side[i], pooled.weights[i]
    sizes, now = sides.sizes, sides.costs
    saved = sizes[s] * now[s] - (sizes[s] - weight) * left[i]
    to = -1
    for t in range(m):
        gain = saved + sizes[t] * now[t] - (sizes[t] + weight) * joined[t]
        if t != s and gain > best:
            best = gain
            to = t
    return best, to


@part
def _best_swap(costs, pooled, n, active, sides, k, i, left, joined, best):
    """Return the best swap for item i if it gains more than `best`: the gain and the other item, or −1."""
    side, weights, sizes, now = pooled.side, pooled.weights, sides.sizes, sides.costs
    s = side[i]
    rest = sizes[s] - weights[i]
    loss = sizes[s] * now[s]
    partner = -1
    for q in range(n):
        t = side[q]
        size = rest + weights[q]
        other = sizes[t] - weights[q] + weights[i]
        if t == s or size < k or other < k:
            continue
        both = loss + sizes[t] * now[t]
        inner = left[q] >= now[t]  # the side's box stays as it is without q
        # With i there, q's leaving saves no more than it does now.
        least = max(left[q], joined[t] - (now[t] - left[q]))
        limit = (both - best - other * least) / size
        if left[i] >= limit:
            continue
        cost = cost_with(costs, pooled, active, sides, s, i, q, limit)
        if cost >= limit:
            continue
        limit = (both - best - size * cost) / other
        other_cost = joined[t] if inner else cost_with(costs, pooled, active, sides, t, q, i, limit)
        if other_cost < limit:
            best = both - size * cost - other * other_cost
            partner = q
    return best, partner


@part
def polish(costs, pooled, n, active, sides, m, k, start, left, joined):
    """Move and swap items in turn from `start` until none of them gains; return the loss.

    `left` gets the cost of each item's side without it, `joined` that of each other side with the item that is looked
    at, or less where that is too much to gain anything. An item that lies inside its side's box leaves it as it is, so
    that one of two swapped items is at an edge.
    """
    side, weights, sizes = pooled.side, pooled.weights, sides.sizes
    for s in range(m):
        _renew(costs, pooled, n, active, sides, s, left)
    quiet = 0
    i = start
    while quiet < n:
        i = i + 1 if i + 1 < n else 0
        quiet += 1
        s = np.int64(side[i])
        gain = TOLERANCE
        to = -1
        partner = -1
        roomy = sizes[s] - weights[i] >= k
        at_edge = left[i] < sides.costs[s]
        if not roomy and not at_edge:
            continue
        for t in range(m):
            if t != s:
                limit = _joined_limit(sides, k, s, t, weights[i], left[i], roomy)
                joined[t] = cost_with(costs, pooled, active, sides, t, -1, i, limit)
        if roomy:
            gain, to = _best_move(pooled, sides, m, i, left, joined, gain)
        if at_edge:
            gain, partner = _best_swap(costs, pooled, n, active, sides, k, i, left, joined, gain)
        if partner >= 0:
            to = np.int64(side[partner])
            side[partner] = s
            sizes[s] += weights[partner]
            sizes[to] -= weights[partner]
        if to >= 0:
            side[i] = to
            sizes[s] -= weights[i]
            sizes[to] += weights[i]
            _renew(costs, pooled, n, active, sides, s, left)
            _renew(costs, pooled, n, active, sides, to, left)
            quiet = 0
    loss = 0.0
    for s in range(m):
        loss += sizes[s] * sides.costs[s]
    return loss
