"""The loops of top-down's cutting: two far-apart rows, and every other row to the side that it costs less.

A part is a range of places. Its rows' codes stand there side by side, in random order, and `rows` names the rows.
"""

from __future__ import annotations

import numpy as np

from coterie.kernels import kernel, part
from coterie.kernels.search.costs import TABLE, point_cost, point_cost_large


@part
def _part_box(costs, points, start, end, lo, hi, active):
    """The box of a part, and the attributes in which its rows differ: small domains first; how many of each."""
    d = points.shape[1]
    for j in range(d):
        lo[j] = points[start, j]
        hi[j] = lo[j]
    for p in range(start + 1, end):
        for j in range(d):
            c = points[p, j]
            lo[j] = min(lo[j], c)
            hi[j] = max(hi[j], c)
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


@part
def _aim(costs, reach, s, j, low, high, part_lo, part_hi):
    """What attribute j costs with each code of the part when its interval on side s is [low, high]."""
    if costs.kind[j] != TABLE:
        return
    base = costs.base[j]
    width = costs.width[j]
    offset = costs.offset[j]
    for c in range(part_lo, part_hi + 1):
        reach[s, base + c] = costs.data[offset + min(low, c) * width + max(high, c)]


@part
def _furthest(costs, points, rows, start, end, place, small, large, reach, lo, hi):
    """The place in a part, other than `place`, whose pair box with it costs most; ties go to the lowest row."""
    base = costs.base
    aimed = reach[0]
    point = points[place]
    for i in range(small.shape[0]):
        j = small[i]
        _aim(costs, reach, 0, j, point[j], point[j], lo[j], hi[j])
    best = -1.0
    found = -1
    for p in range(start, end):
        cost = point_cost(small, base, aimed, points, p, np.inf)
        if large.shape[0] > 0:
            cost += point_cost_large(costs, large, point, point, points, p)
        if cost >= best and p != place and (cost > best or rows[p] < rows[found]):
            best = cost
            found = p
    return found


@kernel
def _deal(costs, points, start, end, seeds, grow, small, large, reach, lo, hi, low, high, side):
    """Put the rows of a part, in their order, where the box with them costs less; how many are on side 0.

    The boxes are those of the seeds, or with `grow` those of all rows on a side so far. Ties go to the side with fewer
    rows, then to side 0.
    """
    base = costs.base
    count = np.ones(2, dtype=np.int64)
    for s in range(2):
        for j in range(points.shape[1]):
            low[s, j] = points[seeds[s], j]
            high[s, j] = low[s, j]
        for i in range(small.shape[0]):
            j = small[i]
            _aim(costs, reach, s, j, low[s, j], high[s, j], lo[j], hi[j])
    reach0, reach1 = reach[0], reach[1]
    for p in range(start, end):
        if p == seeds[0] or p == seeds[1]:
            side[p] = 0 if p == seeds[0] else 1
            continue
        cost0 = point_cost(small, base, reach0, points, p, np.inf)
        cost1 = point_cost(small, base, reach1, points, p, np.inf)
        if large.shape[0] > 0:
            cost0 += point_cost_large(costs, large, low[0], high[0], points, p)
            cost1 += point_cost_large(costs, large, low[1], high[1], points, p)
        s = 0
        if cost1 < cost0 or (cost1 == cost0 and count[1] < count[0]):
            s = 1
        side[p] = s
        count[s] += 1
        if grow:
            for j in range(points.shape[1]):
                c = points[p, j]
                if c < low[s, j] or c > high[s, j]:
                    low[s, j] = min(low[s, j], c)
                    high[s, j] = max(high[s, j], c)
                    _aim(costs, reach, s, j, low[s, j], high[s, j], lo[j], hi[j])
    return count[0]


@part
def _separate(points, rows, start, end, side, spare_points, spare_rows):
    """Reorder a part: side 0 first, both sides in their old order."""
    d = points.shape[1]
    left = start
    right = 0
    for p in range(start, end):
        if side[p] == 0:
            rows[left] = rows[p]
            for j in range(d):
                points[left, j] = points[p, j]
            left += 1
        else:
            spare_rows[right] = rows[p]
            for j in range(d):
                spare_points[right, j] = points[p, j]
            right += 1
    for p in range(right):
        rows[left + p] = spare_rows[p]
        for j in range(d):
            points[left + p, j] = spare_points[p, j]


@kernel
def cut(costs, points, rows, k, seed_rounds, grow, starts, ends, waiting, labels, budget):
    """Cut parts in two again and again, for about `budget` rows' work; how many parts still wait.

    Part i has the places starts[i] to ends[i]; its first row is where the search for seeds begins. A part that is cut
    no more gets that row as its label. Parts wait on a stack.
    """
    n, d = points.shape
    side = np.empty(n, dtype=np.uint8)
    spare_points = np.empty((n, d), dtype=np.int32)
    spare_rows = np.empty(n, dtype=np.int32)
    lo = np.empty(d, dtype=np.int32)
    hi = np.empty(d, dtype=np.int32)
    low = np.empty((2, d), dtype=np.int32)
    high = np.empty((2, d), dtype=np.int32)
    active = np.empty(d, dtype=np.int64)
    seeds = np.empty(2, dtype=np.int64)
    reach = np.empty((2, costs.base[-1]), dtype=np.float64)
    while waiting > 0 and budget > 0:
        waiting -= 1
        start, end = starts[waiting], ends[waiting]
        budget -= end - start
        left = 0
        if end - start > k:
            tables, rest = _part_box(costs, points, start, end, lo, hi, active)
            if tables + rest > 0:  # otherwise all rows are alike
                small, large = active[:tables], active[tables : tables + rest]
                seeds[1] = start
                for _ in range(seed_rounds):
                    seeds[0] = seeds[1]
                    seeds[1] = _furthest(costs, points, rows, start, end, seeds[0], small, large, reach, lo, hi)
                left = _deal(costs, points, start, end, seeds, grow, small, large, reach, lo, hi, low, high, side)
                if left < k and end - start - left < k:
                    left = 0
        if left == 0:
            for p in range(start, end):
                labels[rows[p]] = rows[start]
            continue
        _separate(points, rows, start, end, side, spare_points, spare_rows)
        starts[waiting] = start + left
        ends[waiting] = end
        starts[waiting + 1] = start
        ends[waiting + 1] = start + left
        waiting += 2
    return waiting
