"""Nearest and furthest free rows of a row, by the cost of the pair's box."""

from __future__ import annotations

import numpy as np

from coterie.kernels import inner, kernel, loop, part
from coterie.kernels.search.costs import aim_all, point_cost, point_cost_large, touch_cost, touch_cost_large, union_cost
from coterie.kernels.search.rows_index import NO_ROW, STACK


@part
def _sift_down(heap, counts, size):
    """Restore the max-heap after its top has changed."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        if child + 1 < size and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= heap[at]:
            return
        heap[at], heap[child] = heap[child], heap[at]
        counts[at], counts[child] = counts[child], counts[at]
        at = child


@kernel
def _push(heap, counts, size, cost, count):
    """Add an entry to the max-heap of `size` entries."""
    heap[size] = cost
    counts[size] = count
    at = size
    while at > 0 and heap[(at - 1) // 2] < heap[at]:
        up = (at - 1) // 2
        heap[at], heap[up] = heap[up], heap[at]
        counts[at], counts[up] = counts[up], counts[at]
        at = up


@part
def neighbour_cost(nodes, costs, reach, position, others, floor, least, heap, counts, stack, bounds):
    """The cost of the pair's box with the `others`-th nearest free row; copies of the row itself come first, at 0.

    No row counts as nearer than its floor: a position's `floor`, of which a node's `least` is the smallest. The row
    itself is not counted. Infinite if fewer rows are free.
    """
    own = nodes.point_free[position] - 1
    if own >= others:
        return floor[position]
    wanted = others - own
    point = nodes.points[position]
    aim_all(costs, reach, point, point)
    small, large, base = costs.small, costs.large, costs.base
    left, start, end, free = nodes.left, nodes.start, nodes.end, nodes.free
    node_lo, node_hi, points, point_free = nodes.lo, nodes.hi, nodes.points, nodes.point_free
    size = 0
    held = 0
    best = np.inf
    top = 0
    stack[0] = 0
    bounds[0] = 0.0
    while top >= 0:
        node = stack[top]
        bound = bounds[top]
        top -= 1
        if bound >= best:
            continue
        if left[node] < 0:
            for p in range(start[node], end[node]):
                copies = point_free[p]
                if copies == 0 or p == position:
                    continue
                cost = point_cost(small, base, reach, points, p, best)
                if large.shape[0] > 0:
                    cost += point_cost_large(costs, large, point, point, points, p)
                cost = max(cost, floor[p])
                if cost >= best:
                    continue
                _push(heap, counts, size, cost, copies)
                size += 1
                held += copies
                while held - counts[0] >= wanted:
                    held -= counts[0]
                    size -= 1
                    heap[0] = heap[size]
                    counts[0] = counts[size]
                    _sift_down(heap, counts, size)
                if held >= wanted:
                    best = heap[0]
            continue
        one = left[node]
        two = one + 1
        bound_one = np.inf
        bound_two = np.inf
        if free[one] > 0:
            bound_one = touch_cost(small, base, reach, point, node_lo, node_hi, one, best)
            if large.shape[0] > 0:
                bound_one += touch_cost_large(costs, large, point, point, node_lo, node_hi, one)
            bound_one = max(bound_one, least[one])
        if free[two] > 0:
            bound_two = touch_cost(small, base, reach, point, node_lo, node_hi, two, best)
            if large.shape[0] > 0:
                bound_two += touch_cost_large(costs, large, point, point, node_lo, node_hi, two)
            bound_two = max(bound_two, least[two])
        if bound_two < bound_one:
            one, two = two, one
            bound_one, bound_two = bound_two, bound_one
        if bound_two < best:
            top += 1
            stack[top] = two
            bounds[top] = bound_two
        if bound_one < best:
            top += 1
            stack[top] = one
            bounds[top] = bound_one
    return max(best, floor[position]) if held >= wanted else np.inf


@kernel
def neighbour_costs(nodes, costs, others, floor, least, first, last):
    """`neighbour_cost` for the positions first … last − 1."""
    result = np.empty(last - first, dtype=np.float64)
    reach = np.empty(costs.base[-1], dtype=np.float64)
    heap = np.empty(others + 2, dtype=np.float64)
    counts = np.empty(others + 2, dtype=np.int64)
    stack = np.empty(STACK, dtype=np.int32)
    bounds = np.empty(STACK, dtype=np.float64)
    for position in range(first, last):
        result[position - first] = neighbour_cost(
            nodes, costs, reach, position, others, floor, least, heap, counts, stack, bounds
        )
    return result


@kernel
def least_floors(nodes, floor):
    """Node → smallest floor of the positions below it that hold free rows; infinite if there are none."""
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
def furthest(nodes, costs, reach, point, stack, bounds):
    """The free row whose pair box with a point costs most; ties go to the lowest row. −1 if none is free."""
    best = -1.0
    best_row = NO_ROW
    if nodes.free[0] == 0:
        return -1
    aim_all(costs, reach, point, point)
    small, large, base = costs.small, costs.large, costs.base
    left, start, end, free = nodes.left, nodes.start, nodes.end, nodes.free
    node_lo, node_hi, points, point_free = nodes.lo, nodes.hi, nodes.points, nodes.point_free
    lowest, rows, cursor = nodes.lowest, nodes.rows, nodes.cursor
    top = 0
    stack[0] = 0
    bounds[0] = np.inf
    while top >= 0:
        node = stack[top]
        bound = bounds[top]
        top -= 1
        if bound < best or (bound == best and lowest[node] > best_row):
            continue
        if left[node] < 0:
            for p in range(start[node], end[node]):
                if point_free[p] > 0:
                    cost = point_cost(small, base, reach, points, p, np.inf)
                    if large.shape[0] > 0:
                        cost += point_cost_large(costs, large, point, point, points, p)
                    row = rows[cursor[p]]
                    if cost > best or (cost == best and row < best_row):
                        best = cost
                        best_row = row
            continue
        one = left[node]
        two = one + 1
        bound_one = -1.0
        bound_two = -1.0
        if free[one] > 0:
            bound_one = union_cost(costs, point, point, node_lo, node_hi, one, np.inf)
        if free[two] > 0:
            bound_two = union_cost(costs, point, point, node_lo, node_hi, two, np.inf)
        if bound_two > bound_one or (bound_two == bound_one and lowest[two] < lowest[one]):
            one, two = two, one
            bound_one, bound_two = bound_two, bound_one
        if bound_two >= best and bound_two >= 0.0:
            top += 1
            stack[top] = two
            bounds[top] = bound_two
        if bound_one >= best and bound_one >= 0.0:
            top += 1
            stack[top] = one
            bounds[top] = bound_one
    return best_row


@inner
def _further(cost, row, other_cost, other_row):
    """Whether a row comes after another: it costs more or, at the same cost, has the higher number."""
    return cost > other_cost or (cost == other_cost and row > other_row)


@part
def _sink(near_costs, near_rows, size):
    """Restore the max-heap of rows after its top has changed."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        right = child + 1
        if right < size and _further(near_costs[right], near_rows[right], near_costs[child], near_rows[child]):
            child = right
        if not _further(near_costs[child], near_rows[child], near_costs[at], near_rows[at]):
            return
        near_costs[at], near_costs[child] = near_costs[child], near_costs[at]
        near_rows[at], near_rows[child] = near_rows[child], near_rows[at]
        at = child


@part
def _rise(near_costs, near_rows, at):
    """Restore the max-heap of rows after an entry was put at its end."""
    while at > 0:
        up = (at - 1) // 2
        if not _further(near_costs[at], near_rows[at], near_costs[up], near_rows[up]):
            return
        near_costs[at], near_costs[up] = near_costs[up], near_costs[at]
        near_rows[at], near_rows[up] = near_rows[up], near_rows[at]
        at = up


@kernel
def nearest(nodes, costs, reach, point, count, near_costs, near_rows, stack, bounds):
    """The `count` free rows whose pair boxes with a point cost least; ties go to the lowest row.

    Writes them to `near_costs` and `near_rows`, nearest first, and gives back how many there are: fewer than `count`
    if fewer rows are free. A free row at the point itself is found as any other.
    """
    count = min(count, nodes.free[0])
    if count <= 0:
        return 0
    aim_all(costs, reach, point, point)
    small, large, base = costs.small, costs.large, costs.base
    left, start, end, free, lowest = nodes.left, nodes.start, nodes.end, nodes.free, nodes.lowest
    node_lo, node_hi, points, point_free = nodes.lo, nodes.hi, nodes.points, nodes.point_free
    rows, cursor, taken = nodes.rows, nodes.cursor, nodes.taken
    size = np.int64(0)  # a plain 0 would compile the heap's parts twice: for the constant and for a number
    worst = np.inf
    worst_row = NO_ROW
    top = 0
    stack[0] = 0
    bounds[0] = 0.0
    while top >= 0:
        node = stack[top]
        bound = bounds[top]
        top -= 1
        if _further(bound, lowest[node], worst, worst_row):
            continue
        if left[node] < 0:
            for p in range(start[node], end[node]):
                copies = point_free[p]
                if copies == 0:
                    continue
                cost = point_cost(small, base, reach, points, p, worst)
                if large.shape[0] > 0:
                    cost += point_cost_large(costs, large, point, point, points, p)
                at = cursor[p]
                # Copies cost the same and stand in the order of their numbers: after one that is too far, all are.
                while copies > 0 and not _further(cost, rows[at], worst, worst_row):
                    row = rows[at]
                    at += 1
                    if taken[row]:
                        continue
                    copies -= 1
                    if size < count:
                        near_costs[size] = cost
                        near_rows[size] = row
                        _rise(near_costs, near_rows, size)
                        size += 1
                    else:
                        near_costs[0] = cost
                        near_rows[0] = row
                        _sink(near_costs, near_rows, size)
                    if size == count:
                        worst = near_costs[0]
                        worst_row = near_rows[0]
            continue
        one = left[node]
        two = one + 1
        bound_one = np.inf
        bound_two = np.inf
        if free[one] > 0:
            bound_one = touch_cost(small, base, reach, point, node_lo, node_hi, one, worst)
            if large.shape[0] > 0:
                bound_one += touch_cost_large(costs, large, point, point, node_lo, node_hi, one)
        if free[two] > 0:
            bound_two = touch_cost(small, base, reach, point, node_lo, node_hi, two, worst)
            if large.shape[0] > 0:
                bound_two += touch_cost_large(costs, large, point, point, node_lo, node_hi, two)
        if bound_two < bound_one or (bound_two == bound_one and lowest[two] < lowest[one]):
            one, two = two, one
            bound_one, bound_two = bound_two, bound_one
        if bound_two <= worst and bound_two < np.inf:
            top += 1
            stack[top] = two
            bounds[top] = bound_two
        if bound_one <= worst and bound_one < np.inf:
            top += 1
            stack[top] = one
            bounds[top] = bound_one
    for last in range(size - 1, 0, -1):
        near_costs[0], near_costs[last] = near_costs[last], near_costs[0]
        near_rows[0], near_rows[last] = near_rows[last], near_rows[0]
        _sink(near_costs, near_rows, last)
    return size


@kernel
def pair_costs(costs, codes, row):
    """Cost of the pair's box of one row with each of all rows."""
    n = codes.shape[0]
    reach = np.empty(costs.base[-1], dtype=np.float64)
    point = codes[row]
    aim_all(costs, reach, point, point)
    small, large, base = costs.small, costs.large, costs.base
    result = np.empty(n, dtype=np.float64)
    for i in range(n):
        cost = point_cost(small, base, reach, codes, i, np.inf)
        if large.shape[0] > 0:
            cost += point_cost_large(costs, large, point, point, codes, i)
        result[i] = cost
    return result
