"""The loops of NH before its rings: cut the table greedily into parts, and order the rows of each part as a tour."""

from __future__ import annotations

import numpy as np

from coterie.kernels import inner, kernel, part
from coterie.kernels.search.costs import aim_all, interval_cost
from coterie.kernels.search.rows_index import STACK, cheapest, take
from coterie.kernels.sorting import sort_pairs

ROUNDS = 3  # of looking for the row furthest from the last one, after which two rows are far apart


@inner
def _grown_cost(costs, small, large, data, offset, width, codes, row, lo, hi, box):
    """Cost of a box grown to hold a row. `small` … `width` are taken out of `costs` by the caller, for speed."""
    total = 0.0
    for i in range(small.shape[0]):
        j = small[i]
        c = codes[row, j]
        total += data[np.uint64(offset[j] + min(lo[box, j], c) * width[j] + max(hi[box, j], c))]
    more = 0.0
    for i in range(large.shape[0]):
        j = large[i]
        c = codes[row, j]
        more += interval_cost(costs, j, min(lo[box, j], c), max(hi[box, j], c))
    return total + more


@inner
def _grow(codes, row, lo, hi, box):
    for j in range(codes.shape[1]):
        c = codes[row, j]
        if c < lo[box, j]:
            lo[box, j] = c
        if c > hi[box, j]:
            hi[box, j] = c


@inner
def _set_box(codes, row, lo, hi, box):
    for j in range(codes.shape[1]):
        lo[box, j] = codes[row, j]
        hi[box, j] = codes[row, j]


@part
def _distances(costs, codes, start, end, seed, lo, hi, box, result):
    """Row of a part → cost of its pair with a seed row, whose box is set on the way."""
    small, large, data, offset, width = costs.small, costs.large, costs.data, costs.offset, costs.width
    _set_box(codes, seed, lo, hi, box)
    for r in range(start, end):
        result[r] = _grown_cost(costs, small, large, data, offset, width, codes, r, lo, hi, box)


@part
def _sort(far, start, end, ranked):
    """List the rows of a part by their distances, in the first places of `ranked`; equal ones in their order.

    The distances are sorted with them, from the first place on.
    """
    m = end - start
    for i in range(m):
        far[i] = far[start + i]
        ranked[i] = start + i
    sort_pairs(far, ranked, m)


@part
def _far_apart(costs, codes, start, end, row, lo, hi, far):
    """Two rows far apart: the furthest from `row`, the furthest from that one, and so on; the last two of these.

    Ties go to the first row. −1 if no row is away from `row`: then all rows are alike.
    """
    one, two = row, row
    for _ in range(ROUNDS):
        one = two
        _distances(costs, codes, start, end, one, lo, hi, 0, far)
        worst = 0.0
        for r in range(start, end):
            if far[r] > worst:
                worst = far[r]
                two = r
        if worst == 0.0:
            return -1, -1
    return one, two


@kernel
def _take_sides(costs, codes, start, end, one, two, lo, hi, far, ranked, side):
    """Each row to the side whose box costs less with it, the most decided rows first. How many are on the first side.

    Boxes grow with the rows they take. Ties go to the smaller side, then to the first; rows as decided as each other
    come in their order.
    """
    small, large, data, offset, width = costs.small, costs.large, costs.data, costs.offset, costs.width
    count = np.zeros(2, dtype=np.int64)
    cost = np.empty(2, dtype=np.float64)
    _distances(costs, codes, start, end, one, lo, hi, 0, far[0])
    _distances(costs, codes, start, end, two, lo, hi, 1, far[1])
    for r in range(start, end):
        far[0, r] = -abs(far[0, r] - far[1, r])
    _sort(far[0], start, end, ranked)
    for i in range(end - start):
        r = ranked[i]
        for box in range(2):
            cost[box] = _grown_cost(costs, small, large, data, offset, width, codes, r, lo, hi, box)
        chosen = 0
        if r == two or (r != one and (cost[1] < cost[0] or (cost[1] == cost[0] and count[1] < count[0]))):
            chosen = 1
        side[r] = chosen
        count[chosen] += 1
        _grow(codes, r, lo, hi, chosen)
    return count[0]


@part
def _borrow(costs, codes, start, end, many, needy, seed, lo, hi, far, ranked, side):
    """Give the needy side, which has too few rows, the so many rows of the other that are nearest to its seed.

    Ties go to the first row.
    """
    _distances(costs, codes, start, end, seed, lo, hi, needy, far)
    for r in range(start, end):
        if side[r] == needy:
            far[r] = np.inf
    _sort(far, start, end, ranked)
    for i in range(many):
        side[ranked[i]] = needy


@part
def _sides_cost(costs, codes, start, end, lo, hi, side):
    """What all rows cost if each side is published as its box."""
    small, large, data, offset, width = costs.small, costs.large, costs.data, costs.offset, costs.width
    total = 0.0
    for box in range(2):
        count = 0
        last = start
        for r in range(start, end):
            if side[r] == box:
                if count == 0:
                    _set_box(codes, r, lo, hi, box)
                _grow(codes, r, lo, hi, box)
                count += 1
                last = r
        # A box grown to hold a row that it holds costs what it costs.
        total += count * _grown_cost(costs, small, large, data, offset, width, codes, last, lo, hi, box)
    return total


@part
def _part(codes, order, start, end, side, spare, spare_order):
    """Move the rows of the first side before those of the second, which begin at the place given back.

    Both keep their order, so rows of a part are always in the order of their numbers.
    """
    left = start
    right = 0
    for r in range(start, end):
        if side[r] == 0:
            order[left] = order[r]
            for j in range(codes.shape[1]):
                codes[left, j] = codes[r, j]
            left += 1
        else:
            spare_order[right] = order[r]
            for j in range(codes.shape[1]):
                spare[right, j] = codes[r, j]
            right += 1
    for r in range(right):
        order[left + r] = spare_order[r]
        for j in range(codes.shape[1]):
            codes[left + r, j] = spare[r, j]
    return left


@kernel
def greedy_parts(costs, rows, size, tries, draws):
    """Row → part. Parts of at least `size` rows; in those of 2 · size rows or more, all rows are alike.

    A part is cut in two around two rows that are far apart; of several tries, the one that costs least is kept. Each
    try starts from a row that the next of `draws`, numbers from [0, 1), picks.
    """
    n, d = rows.shape
    codes = rows.copy()  # moved with the rows, so that those of a part lie side by side
    order = np.arange(n).astype(np.int32)
    spare = np.empty((n, d), dtype=np.int32)
    spare_order = np.empty(n, dtype=np.int32)
    labels = np.empty(n, dtype=np.int32)
    side = np.empty(n, dtype=np.int8)
    best_side = np.empty(n, dtype=np.int8)
    starts = np.empty(n // size + 2, dtype=np.int64)
    ends = np.empty(n // size + 2, dtype=np.int64)
    lo = np.empty((2, d), dtype=np.int32)
    hi = np.empty((2, d), dtype=np.int32)
    far = np.empty((2, n), dtype=np.float64)
    ranked = np.empty(n, dtype=np.int32)
    starts[0] = 0
    ends[0] = n
    top = 0
    parts = 0
    drawn = 0
    while top >= 0:
        start, end = starts[top], ends[top]
        top -= 1
        m = end - start
        best = np.inf
        if m >= 2 * size:
            for _ in range(tries):
                row = start + np.int64(draws[drawn] * m)
                drawn += 1
                one, two = _far_apart(costs, codes, start, end, row, lo, hi, far[0])
                if one < 0:
                    break
                first = _take_sides(costs, codes, start, end, one, two, lo, hi, far, ranked, side)
                if first < size:
                    _borrow(costs, codes, start, end, size - first, 0, one, lo, hi, far[0], ranked, side)
                elif m - first < size:
                    _borrow(costs, codes, start, end, size - m + first, 1, two, lo, hi, far[0], ranked, side)
                cost = _sides_cost(costs, codes, start, end, lo, hi, side)
                if cost < best:
                    best = cost
                    best_side[start:end] = side[start:end]
        if best == np.inf:
            for r in range(start, end):
                labels[order[r]] = parts
            parts += 1
            continue
        left = _part(codes, order, start, end, best_side, spare, spare_order)
        starts[top + 1] = left
        ends[top + 1] = end
        starts[top + 2] = start
        ends[top + 2] = left
        top += 2
    return labels


@kernel
def tours(costs, points, start, limit):
    """Points in the order in which a walk through each part meets them, always to the nearest point not yet met.

    Part g has the points start[g] … start[g + 1] − 1 and its walk begins with the first. Ties go to the first point.
    Parts of more than `limit` points are left in their order.
    """
    small, large, data, offset, width = costs.small, costs.large, costs.data, costs.offset, costs.width
    order = np.arange(points.shape[0]).astype(np.int32)
    for g in range(start.shape[0] - 1):
        first, end = start[g], start[g + 1]
        if end - first > limit:
            continue
        for at in range(first + 1, end):
            here = order[at - 1]
            best = np.inf
            place = at
            for p in range(at, end):
                cost = _grown_cost(costs, small, large, data, offset, width, points, order[p], points, points, here)
                if cost < best:
                    best = cost
                    place = p
            chosen = order[place]
            for p in range(place, at, -1):  # the others keep their order, for ties
                order[p] = order[p - 1]
            order[at] = chosen
    return order


@kernel
def long_tour(nodes, costs, points):
    """The same walk through one large part, each step found in an index of its points."""
    order = np.empty(points.shape[0], dtype=np.int32)
    reach = np.empty(costs.base[-1], dtype=np.float64)
    stack = np.empty(STACK, dtype=np.int32)
    bounds = np.empty(STACK, dtype=np.float64)
    point = np.int32(0)
    for at in range(points.shape[0]):
        if at > 0:
            here = points[point]
            aim_all(costs, reach, here, here)
            point = cheapest(nodes, costs, reach, here, here, stack, bounds)
        take(nodes, point)
        order[at] = point
    return order
