"""Find the nearest and furthest free rows of a row, by pair cost."""

from __future__ import annotations

import numpy as np

from coterie.kernels import kernel, loop, part
from coterie.kernels.search.costs import Aimed, aim_all, bound_cost, joined_cost, make_reach, union_cost
from coterie.kernels.search.heap import Heap, keep_nearest, push, replace_top, sort_heap
from coterie.kernels.search.rows_index import NO_ROW, descend
from coterie.kernels.search.walk import comes_after, make_walk, nearer_on_top, offer, pop, set_out


@part
def neighbour_cost(nodes, aimed, position, others, floor, least, heap, walk):
    """Return the pair cost with the `others`-th nearest free row; copies of the row itself come first, at 0.

    No row counts as nearer than its floor: a position's `floor`, of which a node's `least` is the minimum. The row
    itself is not counted. Infinite if fewer rows are free. `aimed` is set to the row's point.
    """
    own = nodes.point_free[position] - 1
    if own >= others:
        return floor[position]
    wanted = others - own
    aim_all(aimed)
    size, held = 0, 0
    best = np.inf
    top = set_out(walk)
    while top >= 0:
        node, bound, top = pop(walk, top)
        if bound >= best:
            continue
        if nodes.left[node] < 0:
            for p in range(nodes.start[node], nodes.end[node]):
                if nodes.point_free[p] == 0 or p == position:
                    continue
                cost = max(joined_cost(aimed, nodes.points, p, best), floor[p])
                if cost < best:
                    size, held = keep_nearest(heap, size, held, cost, p, nodes.point_free, wanted)
                    if held >= wanted:
                        best = heap.keys[0]
            continue
        before = top
        for child in range(nodes.left[node], nodes.left[node] + 2):
            if nodes.free[child] > 0:
                bound = max(bound_cost(aimed, nodes.lo, nodes.hi, child, best), least[child])
                top = offer(walk, top, child, bound, best)
        nearer_on_top(walk, top, before, nodes.start)
    return max(best, floor[position]) if held >= wanted else np.inf


@kernel
def neighbour_costs(nodes, costs, others, floor, least, first, last):
    """Compute `neighbour_cost` for the positions first … last − 1."""
    result = np.empty(last - first, dtype=np.float64)
    reach = make_reach(costs)
    heap = Heap(np.empty(others + 2, dtype=np.float64), np.empty(others + 2, dtype=np.int32))
    walk = make_walk()
    for position in range(first, last):
        point = nodes.points[position]
        aimed = Aimed(costs, reach, point, point)
        result[position - first] = neighbour_cost(nodes, aimed, position, others, floor, least, heap, walk)
    return result


@kernel
def least_floors(nodes, floor):
    """Return node → smallest floor of the positions below it with free rows; infinite if there are none."""
    least = np.full(nodes.start.shape[0], np.inf, dtype=np.float64)
    for node in range(nodes.start.shape[0] - 1, -1, -1):
        if nodes.left[node] < 0:
            for p in range(nodes.start[node], nodes.end[node]):
                if nodes.point_free[p] > 0:
                    least[node] = min(least[node], floor[p])
        else:
            least[node] = min(least[nodes.left[node]], least[nodes.left[node] + 1])
    return least


@loop
def furthest(nodes, aimed, walk):
    """Return the free row with the highest pair cost to the aimed point, the lowest on ties; −1 if none is free."""
    if nodes.free[0] == 0:
        return -1
    costs, point = aimed.costs, aimed.lo
    aim_all(aimed)
    best = np.inf  # all costs are negated here, so that the furthest is the least
    best_row = NO_ROW
    top = set_out(walk)
    while top >= 0:
        node, bound, top = pop(walk, top)
        if comes_after(bound, nodes.lowest[node], best, best_row):
            continue
        if nodes.left[node] < 0:
            for p in range(nodes.start[node], nodes.end[node]):
                if nodes.point_free[p] > 0:
                    cost = -joined_cost(aimed, nodes.points, p, np.inf)
                    row = nodes.rows[nodes.cursor[p]]
                    if comes_after(best, best_row, cost, row):
                        best = cost
                        best_row = row
            continue
        before = top
        for child in range(nodes.left[node], nodes.left[node] + 2):
            if nodes.free[child] > 0:
                bound = -union_cost(costs, point, point, nodes.lo, nodes.hi, child, np.inf)
                top = offer(walk, top, child, bound, best)
        nearer_on_top(walk, top, before, nodes.lowest)
    return best_row


@loop
def nearest(nodes, aimed, count, near, walk):
    """Find the `count` free rows with the lowest pair costs with the aimed point; ties go to the lowest row.

    Writes them to the heap `near`, nearest first, and returns how many there are: fewer than `count` if fewer rows
    are free. A free row at the point itself is found like any other.
    """
    count = min(count, nodes.free[0])
    if count <= 0:
        return 0
    aim_all(aimed)
    rows, taken = nodes.rows, nodes.taken
    size = np.int64(0)
    worst = np.inf
    worst_row = NO_ROW
    top = set_out(walk)
    while top >= 0:
        node, bound, top = pop(walk, top)
        if comes_after(bound, nodes.lowest[node], worst, worst_row):
            continue
        if nodes.left[node] < 0:
            for p in range(nodes.start[node], nodes.end[node]):
                copies = nodes.point_free[p]
                if copies == 0:
                    continue
                cost = joined_cost(aimed, nodes.points, p, worst)
                at = nodes.cursor[p]
                # Copies cost the same and are in the order of their numbers: after one that is too far, all are.
                while copies > 0 and not comes_after(cost, rows[at], worst, worst_row):
                    row = rows[at]
                    at += 1
                    if taken[row]:
                        continue
                    copies -= 1
                    if size < count:
                        push(near, size, cost, row, True)
                        size += 1
                    else:
                        replace_top(near, size, cost, row, True)
                    if size == count:
                        worst = near.keys[0]
                        worst_row = near.ids[0]
            continue
        top = descend(nodes, node, aimed, walk, top, worst, nodes.lowest)
    sort_heap(near, size)
    return size


def pair_costs(costs, codes, row):
    """Return the pair cost of one row with each row."""
    result = np.empty(codes.shape[0], dtype=np.float64)
    _pair_costs(Aimed(costs, np.empty(costs.base[-1]), codes[row], codes[row]), codes, result)
    return result


@loop
def _pair_costs(aimed, codes, result):
    aim_all(aimed)
    for i in range(codes.shape[0]):
        result[i] = joined_cost(aimed, codes, i, np.inf)
