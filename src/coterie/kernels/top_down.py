"""The loops of top-down's cutting: two far-apart rows, and every other row to the side that it costs less."""

from __future__ import annotations

import numpy as np

from coterie.kernels import kernel
from coterie.kernels.costs import TABLE, point_cost, point_cost_large


@kernel
def _part_box(costs, codes, order, start, end, lo, hi, active):
    """The box of a part, and the attributes in which its rows differ: small domains first; how many of each."""
    d = codes.shape[1]
    for j in range(d):
        lo[j] = codes[order[start], j]
        hi[j] = lo[j]
    for p in range(start + 1, end):
        row = order[p]
        for j in range(d):
            c = codes[row, j]
            if c < lo[j]:
                lo[j] = c
            elif c > hi[j]:
                hi[j] = c
    small = 0
    for i in range(costs.small.shape[0]):
        j = costs.small[i]
        if lo[j] < hi[j]:
            active[small] = j
            small += 1
    large = 0
    for i in range(costs.large.shape[0]):
        j = costs.large[i]
        if lo[j] < hi[j]:
            active[small + large] = j
            large += 1
    return small, large


@kernel
def _aim(costs, reach, s, j, low, high, part_lo, part_hi):
    """What attribute j costs with each code of the part when its interval on side s is [low, high]."""
    if costs.kind[j] != TABLE:
        return
    base = costs.base[j]
    width = costs.width[j]
    offset = costs.offset[j]
    for c in range(part_lo, part_hi + 1):
        reach[s, base + c] = costs.data[offset + min(low, c) * width + max(high, c)]


@kernel
def _furthest(costs, codes, order, start, end, row, small, large, reach, lo, hi):
    """The row of a part, other than `row`, whose pair box with it costs most; ties go to the lowest row."""
    base = costs.base
    aimed = reach[0]
    point = codes[row]
    for i in range(small.shape[0]):
        j = small[i]
        _aim(costs, reach, 0, j, point[j], point[j], lo[j], hi[j])
    best = -1.0
    found = -1
    for p in range(start, end):
        other = order[p]
        cost = point_cost(small, base, aimed, codes, other, np.inf)
        if large.shape[0] > 0:
            cost += point_cost_large(costs, large, point, point, codes, other)
        if cost >= best and other != row and (cost > best or other < found):
            best = cost
            found = other
    return found


@kernel
def _deal(costs, codes, order, start, end, seeds, small, large, reach, lo, hi, low, high, side):
    """Put the rows of a part, in their order, where the grown box costs less; how many are on side 0.

    Ties go to the side with fewer rows, then to side 0.
    """
    base = costs.base
    count = np.ones(2, dtype=np.int64)
    for s in range(2):
        for j in range(codes.shape[1]):
            low[s, j] = codes[seeds[s], j]
            high[s, j] = low[s, j]
        for i in range(small.shape[0]):
            j = small[i]
            _aim(costs, reach, s, j, low[s, j], high[s, j], lo[j], hi[j])
    reach0, reach1 = reach[0], reach[1]
    for p in range(start, end):
        row = order[p]
        if row == seeds[0] or row == seeds[1]:
            side[p] = 0 if row == seeds[0] else 1
            continue
        cost0 = point_cost(small, base, reach0, codes, row, np.inf)
        cost1 = point_cost(small, base, reach1, codes, row, np.inf)
        if large.shape[0] > 0:
            cost0 += point_cost_large(costs, large, low[0], high[0], codes, row)
            cost1 += point_cost_large(costs, large, low[1], high[1], codes, row)
        s = 0
        if cost1 < cost0 or (cost1 == cost0 and count[1] < count[0]):
            s = 1
        side[p] = s
        count[s] += 1
        for j in range(codes.shape[1]):
            c = codes[row, j]
            if c < low[s, j] or c > high[s, j]:
                low[s, j] = min(low[s, j], c)
                high[s, j] = max(high[s, j], c)
                _aim(costs, reach, s, j, low[s, j], high[s, j], lo[j], hi[j])
    return count[0]


@kernel
def _separate(order, start, end, side, other):
    """Reorder a part: side 0 first, both sides in their old order."""
    left = start
    right = 0
    for p in range(start, end):
        if side[p] == 0:
            order[left] = order[p]
            left += 1
        else:
            other[right] = order[p]
            right += 1
    for p in range(right):
        order[left + p] = other[p]


@kernel
def cut(costs, codes, order, k, seed_rounds, starts, ends, waiting, labels, budget):
    """Cut parts in two again and again, for about `budget` rows' work; how many parts still wait.

    The rows of a part, order[starts[i]:ends[i]], come in random order: the first is where the search for seeds
    begins. A part that is cut no more gets its first row as its label. Parts wait on a stack.
    """
    n, d = codes.shape
    side = np.empty(n, dtype=np.uint8)
    other = np.empty(n, dtype=np.int32)
    lo = np.empty(d, dtype=np.int32)
    hi = np.empty(d, dtype=np.int32)
    low = np.empty((2, d), dtype=np.int32)
    high = np.empty((2, d), dtype=np.int32)
    active = np.empty(d, dtype=np.int64)
    seeds = np.empty(2, dtype=np.int32)
    reach = np.empty((2, costs.base[-1]), dtype=np.float64)
    while waiting > 0 and budget > 0:
        waiting -= 1
        start, end = starts[waiting], ends[waiting]
        budget -= end - start
        left = 0
        if end - start > k:
            tables, rest = _part_box(costs, codes, order, start, end, lo, hi, active)
            if tables + rest > 0:  # otherwise all rows are alike
                small, large = active[:tables], active[tables : tables + rest]
                seeds[1] = order[start]
                for _ in range(seed_rounds):
                    seeds[0] = seeds[1]
                    seeds[1] = _furthest(costs, codes, order, start, end, seeds[0], small, large, reach, lo, hi)
                left = _deal(costs, codes, order, start, end, seeds, small, large, reach, lo, hi, low, high, side)
                if left < k and end - start - left < k:
                    left = 0
        if left == 0:
            for p in range(start, end):
                labels[order[p]] = order[start]
            continue
        _separate(order, start, end, side, other)
        starts[waiting] = start + left
        ends[waiting] = end
        starts[waiting + 1] = start
        ends[waiting + 1] = start + left
        waiting += 2
    return waiting
