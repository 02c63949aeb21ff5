"""Kernels of NH before its rings: cut the table greedily into parts, and order the rows of each part as a tour."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import inner, kernel, loop, part
from coterie.kernels.parts import SEED, assignment_cost, push_halves, separate
from coterie.kernels.search.costs import Aimed, aim_all, box_cost, make_reach, union_cost
from coterie.kernels.search.rows_index import cheapest, take
from coterie.kernels.search.walk import make_walk
from coterie.kernels.sorting import sort_pairs

ROUNDS = 3  # of looking for the row furthest from the last one, after which two rows are far apart


# The rows, in an order in which those of a part lie side by side, and the two sides that a part is cut into.
#   order: which row stands where
#   lo, hi: side → box
#   far: [side, row] → cost of its pair with the side's seed
Halves = namedtuple("Halves", "codes order side best_side lo hi far ranked spare spare_order")


@inner
def _grow(halves, row, s):
    codes, lo, hi = halves.codes, halves.lo, halves.hi
    for j in range(codes.shape[1]):
        c = codes[row, j]
        if c < lo[s, j]:
            lo[s, j] = c
        if c > hi[s, j]:
            hi[s, j] = c


@inner
def _set_box(halves, row, s):
    for j in range(halves.codes.shape[1]):
        halves.lo[s, j] = halves.codes[row, j]
        halves.hi[s, j] = halves.codes[row, j]


@part
def _distances(costs, halves, start, end, seed, s, result):
    """Compute each row's pair cost with a seed row, using the box of side s as scratch space."""
    _set_box(halves, seed, s)
    for r in range(start, end):
        result[r] = union_cost(costs, halves.lo[s], halves.hi[s], halves.codes, halves.codes, r, np.inf)


@part
def _sort(far, start, end, ranked):
    """List the rows of a part by distance, first in `ranked`; ties keep their order.

    The distances are sorted with them, from the beginning.
    """
    m = end - start
    for i in range(m):
        far[i] = far[start + i]
        ranked[i] = start + i
    sort_pairs(far, ranked, m)


@part
def _far_apart(costs, halves, start, end, row):
    """Find two rows far apart: the furthest from `row`, the furthest from that one, and so on; return the last two.

    Ties go to the first row. Returns −1 if no row differs from `row`: then all rows are equal.
    """
    far = halves.far[0]
    one, two = row, row
    for _ in range(ROUNDS):
        one = two
        _distances(costs, halves, start, end, one, 0, far)
        worst = 0.0
        for r in range(start, end):
            if far[r] > worst:
                worst = far[r]
                two = r
        if worst == 0.0:
            return -1, -1
    return one, two


@part
def _take_sides(costs, halves, start, end, one, two, rule):
    """Assign each row to the side where it counts for less, most decided rows first. Return the size of the first side.

    Boxes grow with their rows, unless the rule is SEED. Ties go to the smaller side, then to the first; equally
    decided rows keep their order.
    """
    codes, lo, hi, far = halves.codes, halves.lo, halves.hi, halves.far
    on_first, on_second = 1, 1
    first_cost, second_cost = 0.0, 0.0
    _distances(costs, halves, start, end, one, 0, far[0])
    _distances(costs, halves, start, end, two, 1, far[1])
    for r in range(start, end):
        far[0, r] = -abs(far[0, r] - far[1, r])
    _sort(far[0], start, end, halves.ranked)
    for i in range(end - start):
        r = halves.ranked[i]
        if r in (one, two):
            halves.side[r] = 0 if r == one else 1
            continue
        with_first = union_cost(costs, lo[0], hi[0], codes, codes, r, np.inf)
        with_second = union_cost(costs, lo[1], hi[1], codes, codes, r, np.inf)
        first = assignment_cost(rule, with_first, first_cost, on_first)
        second = assignment_cost(rule, with_second, second_cost, on_second)
        s = 0
        if second < first or (second == first and on_second < on_first):
            s = 1
            on_second += 1
            second_cost = with_second
        else:
            on_first += 1
            first_cost = with_first
        halves.side[r] = s
        if rule != SEED:
            _grow(halves, r, s)
    return on_first


@part
def _borrow(costs, halves, start, end, many, needy, seed):
    """Move to the side with too few rows the required number of rows nearest to its seed.

    Ties go to the first row.
    """
    far = halves.far[0]
    _distances(costs, halves, start, end, seed, needy, far)
    for r in range(start, end):
        if halves.side[r] == needy:
            far[r] = np.inf
    _sort(far, start, end, halves.ranked)
    for i in range(many):
        halves.side[halves.ranked[i]] = needy


@part
def _sides_cost(costs, halves, start, end):
    """Return the cost of all rows if each side is published as its box."""
    total = 0.0
    for s in range(2):
        count = 0
        for r in range(start, end):
            if halves.side[r] == s:
                if count == 0:
                    _set_box(halves, r, s)
                _grow(halves, r, s)
                count += 1
        total += count * box_cost(costs, halves.lo[s], halves.hi[s])
    return total


def greedy_parts(costs, rows, size, tries, rule, draws):
    """Return row → part. Parts have at least `size` rows; in those of 2 · size rows or more, all rows are equal.

    A part is cut in two around two rows that are far apart; the cheapest of several tries is kept. Each
    try starts from a row picked by the next of `draws`, numbers from [0, 1).
    """
    n, d = rows.shape
    lo, hi = np.empty((2, 2, d), dtype=np.int32)
    side, best_side = np.empty((2, n), dtype=np.int8)
    ranked, spare_order, labels = np.empty((3, n), dtype=np.int32)
    far, spare = np.empty((2, n), dtype=np.float64), np.empty((n, d), dtype=np.int32)
    order = np.arange(n, dtype=np.int32)
    halves = Halves(rows.copy(), order, side, best_side, lo, hi, far, ranked, spare, spare_order)
    starts, ends = np.empty((2, n // size + 2), dtype=np.int64)
    _greedy_parts(costs, halves, size, tries, rule, draws, starts, ends, labels)
    return labels


@loop
def _greedy_parts(costs, halves, size, tries, rule, draws, starts, ends, labels):
    starts[0] = 0
    ends[0] = labels.shape[0]
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
                one, two = _far_apart(costs, halves, start, end, row)
                if one < 0:
                    break
                first = _take_sides(costs, halves, start, end, one, two, rule)
                if first < size:
                    _borrow(costs, halves, start, end, size - first, 0, one)
                elif m - first < size:
                    _borrow(costs, halves, start, end, size - m + first, 1, two)
                cost = _sides_cost(costs, halves, start, end)
                if cost < best:
                    best = cost
                    for r in range(start, end):
                        halves.best_side[r] = halves.side[r]
        if best == np.inf:
            for r in range(start, end):
                labels[halves.order[r]] = parts
            parts += 1
            continue
        # Both sides keep their order, so rows of a part are always in the order of their numbers.
        middle = separate(halves.codes, halves.order, start, end, halves.best_side, halves.spare, halves.spare_order)
        top = push_halves(starts, ends, top, start, middle, end)


def tours(costs, points, start, limit):
    """Order points by a walk through each part, always to the nearest unvisited point.

    Part g has the points start[g] … start[g + 1] − 1 and its walk begins with the first. Ties go to the first point.
    Parts of more than `limit` points keep their order.
    """
    order = np.arange(points.shape[0], dtype=np.int32)
    _tours(costs, points, start, limit, order)
    return order


@loop
def _tours(costs, points, start, limit, order):
    for g in range(start.shape[0] - 1):
        first, end = start[g], start[g + 1]
        if end - first > limit:
            continue
        for at in range(first + 1, end):
            here = points[order[at - 1]]
            best = np.inf
            found = at
            for p in range(at, end):
                cost = union_cost(costs, here, here, points, points, order[p], np.inf)
                if cost < best:
                    best = cost
                    found = p
            chosen = order[found]
            for p in range(found, at, -1):  # the others keep their order, for ties
                order[p] = order[p - 1]
            order[at] = chosen


@kernel
def long_tour(nodes, costs, points):
    """Walk through one large part in the same way, finding each step in an index of its points."""
    order = np.empty(points.shape[0], dtype=np.int32)
    reach = make_reach(costs)
    walk = make_walk()
    point = np.int32(0)
    for at in range(points.shape[0]):
        if at > 0:
            aimed = Aimed(costs, reach, points[point], points[point])
            aim_all(aimed)
            point = cheapest(nodes, aimed, walk)
        take(nodes, point)
        order[at] = point
    return order
