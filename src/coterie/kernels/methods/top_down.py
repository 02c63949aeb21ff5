"""Kernels of top-down's cuts: two far-apart rows, and every other row to the side where it adds less.

A part is a range of places. Its rows' codes are stored there contiguously, in random order; `rows` has the row numbers.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import loop, part
from coterie.kernels.parts import SEED, assignment_cost, push_halves, separate
from coterie.kernels.search.costs import TABLE, Aimed, for_attributes, joined_cost

# Arrays that cutting writes to.
#   lo, hi: the box of the part
#   active: the attributes in which its rows differ, small domains first
#   low, high: side → box
#   reach: [side, …], see costs.Aimed
Work = namedtuple("Work", "lo hi active seeds low high reach side spare_points spare_rows")


@part
def _part_box(costs, points, start, end, work):
    """Find the box of a part and the attributes in which its rows differ, small domains first; count each kind."""
    lo, hi, active = work.lo, work.hi, work.active
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
def _aim(aimed, j, part_lo, part_hi):
    """Compute the cost of attribute j with each code of the part for the aimed box's interval."""
    costs = aimed.costs
    if costs.kind[j] != TABLE:
        return
    base = costs.base[j]
    width = costs.width[j]
    offset = costs.offset[j]
    low, high = aimed.lo[j], aimed.hi[j]
    for c in range(part_lo[j], part_hi[j] + 1):
        aimed.reach[base + c] = costs.data[offset + min(low, c) * width + max(high, c)]


@part
def _furthest(costs, points, rows, start, end, seed, work):
    """Return the row in a part, other than the seed, with the highest pair cost; ties go to the lowest row."""
    aimed = Aimed(costs, work.reach[0], points[seed], points[seed])
    for i in range(costs.small.shape[0]):
        _aim(aimed, costs.small[i], work.lo, work.hi)
    best = -1.0
    found = -1
    for p in range(start, end):
        cost = joined_cost(aimed, points, p, np.inf)
        if cost >= best and p != seed and (cost > best or rows[p] < rows[found]):
            best = cost
            found = p
    return found


@part
def _deal(costs, points, start, end, rule, work):
    """Put the rows of a part, in order, on the side where they count for less; return the size of side 0.

    The boxes are those of all rows on a side so far, or those of the seeds with the rule SEED. Ties go to the side with
    fewer rows, then to side 0.
    """
    seeds, low, high, side = work.seeds, work.low, work.high, work.side
    first = Aimed(costs, work.reach[0], low[0], high[0])
    second = Aimed(costs, work.reach[1], low[1], high[1])
    for s in range(2):
        for j in range(points.shape[1]):
            low[s, j] = points[seeds[s], j]
            high[s, j] = low[s, j]
    for i in range(costs.small.shape[0]):
        _aim(first, costs.small[i], work.lo, work.hi)
        _aim(second, costs.small[i], work.lo, work.hi)
    on_first, on_second = 1, 1
    first_cost, second_cost = 0.0, 0.0
    for p in range(start, end):
        if p == seeds[0] or p == seeds[1]:
            side[p] = 0 if p == seeds[0] else 1
            continue
        with_first = joined_cost(first, points, p, np.inf)
        with_second = joined_cost(second, points, p, np.inf)
        cost = assignment_cost(rule, with_first, first_cost, on_first)
        other = assignment_cost(rule, with_second, second_cost, on_second)
        s = 0
        if other < cost or (other == cost and on_second < on_first):
            s = 1
            on_second += 1
            second_cost = with_second
        else:
            on_first += 1
            first_cost = with_first
        side[p] = s
        if rule != SEED:
            for j in range(points.shape[1]):
                c = points[p, j]
                if c < low[s, j] or c > high[s, j]:
                    low[s, j] = min(low[s, j], c)
                    high[s, j] = max(high[s, j], c)
                    _aim(Aimed(costs, work.reach[s], low[s], high[s]), j, work.lo, work.hi)
    return on_first


# How parts are cut, and those that wait.
#   rule: see kernels/parts.py
Cutting = namedtuple("Cutting", "k seed_rounds rule starts ends")


def cut(costs, points, rows, cutting, waiting, labels, budget):
    """Cut parts in two repeatedly, for about `budget` rows' work; return how many parts are waiting.

    Part i is starts[i] … ends[i] − 1; the search for seeds begins at its first row. A part that is not cut further
    gets that row as its label. Parts wait on a stack.
    """
    n, d = points.shape
    lo, hi = np.empty((2, d), dtype=np.int32)
    low, high = np.empty((2, 2, d), dtype=np.int32)
    reach = np.empty((2, costs.base[-1]), dtype=np.float64)
    active, seeds = np.empty(d, dtype=np.int64), np.empty(2, dtype=np.int64)
    side, spare, spare_rows = np.empty(n, dtype=np.int8), np.empty_like(points), np.empty_like(rows)
    work = Work(lo, hi, active, seeds, low, high, reach, side, spare, spare_rows)
    return _cut(costs, points, rows, cutting, waiting, labels, budget, work)


@loop
def _cut(costs, points, rows, cutting, waiting, labels, budget, work):
    starts, ends, k, seeds = cutting.starts, cutting.ends, cutting.k, work.seeds
    while waiting > 0 and budget > 0:
        waiting -= 1
        start, end = starts[waiting], ends[waiting]
        budget -= end - start
        first = 0
        if end - start > k:
            tables, rest = _part_box(costs, points, start, end, work)
            if tables + rest > 0:  # otherwise all rows are alike
                small, large = work.active[:tables], work.active[tables : tables + rest]
                differing = for_attributes(costs, small, large)
                seeds[1] = start
                for _ in range(cutting.seed_rounds):
                    seeds[0] = seeds[1]
                    seeds[1] = _furthest(differing, points, rows, start, end, seeds[0], work)
                first = _deal(differing, points, start, end, cutting.rule, work)
                if first < k and end - start - first < k:
                    first = 0
        if first == 0:
            for p in range(start, end):
                labels[rows[p]] = rows[start]
            continue
        separate(points, rows, start, end, work.side, work.spare_points, work.spare_rows)
        waiting = push_halves(starts, ends, waiting - 1, start, start + first, end) + 1
    return waiting
