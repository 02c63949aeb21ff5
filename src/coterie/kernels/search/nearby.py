"""Lists of the rows near each leaf of the index, shared by the seeds in it.

Seeds of one leaf have much the same neighbours: one search of the tree for all of them, from which each picks its own
nearest, finds nearly the same rows as a search from each, in a fraction of the time.
"""

from __future__ import annotations

import numpy as np

from coterie.kernels import loop, part
from coterie.kernels.search.costs import aim_all, point_cost, point_cost_large
from coterie.kernels.search.growth import near_points, push, replace_top
from coterie.kernels.search.rows_index import STACK


def too_short(nodes, lists, counts, asked, least):
    """Which of the asked lists hold fewer than `least` free rows."""
    short = np.empty(asked.shape[0], dtype=np.bool_)
    _too_short(nodes.point_free, lists, counts, asked, least, short)
    return short


@loop
def _too_short(point_free, lists, counts, asked, least, short):
    for at in range(asked.shape[0]):
        left = 0
        for i in range(counts[asked[at]]):
            left += point_free[lists[asked[at], i]]
        short[at] = left < least


def list_near_leaves(nodes, costs, leaves, leaf_nodes, asked, first, last, lists, counts):
    """Make the lists asked[first:last] anew: the places nearest to the box of each leaf's free rows.

    A search looks into `leaves` leaves of the tree at most.
    """
    into = asked[first:last]
    wanted = np.full(len(into), lists.shape[1] - 1, dtype=np.int64)
    list_near_boxes(nodes, costs, leaves, nodes.lo, nodes.hi, leaf_nodes[into], wanted, into, lists, counts)


def list_near_boxes(nodes, costs, leaves, lo, hi, boxes, wanted, into, lists, counts):
    """The places nearest to some boxes that hold so many free rows together: those of boxes[i] go to lists[into[i]].

    None are noted where fewer than one row is wanted.
    """
    room = lists.shape[1]
    reach = np.empty(costs.base[-1], dtype=np.float64)
    stack = np.empty(STACK, dtype=np.int32)
    bounds = np.empty(STACK, dtype=np.float64)
    heap = np.empty(room + 1, dtype=np.float64)
    ids = np.empty(room + 1, dtype=np.int32)
    _list_near_boxes(nodes, costs, leaves, lo, hi, boxes, wanted, into, lists, counts, reach, stack, bounds, heap, ids)


@loop
def _list_near_boxes(nodes, costs, leaves, lo, hi, boxes, wanted, into, lists, counts, reach, stack, bounds, heap, ids):
    for i in range(boxes.shape[0]):
        mine = into[i]
        counts[mine] = 0
        if wanted[i] < 1:
            continue
        low = lo[boxes[i]]
        high = hi[boxes[i]]
        aim_all(costs, reach, low, high)
        count = near_points(nodes, costs, reach, low, high, wanted[i], leaves, heap, ids, stack, bounds)
        for at in range(count):
            lists[mine, at] = ids[at]
        counts[mine] = count


@part
def pick_near(nodes, costs, reach, seed, listed, count, near, heap, ids):
    """Note the places of a list that are nearest to a seed, itself first; gives back how many.

    They hold one row less than `near` has room for, if the list does.
    """
    small, large, base = costs.small, costs.large, costs.base
    points, point_free = nodes.points, nodes.point_free
    point = points[seed]
    aim_all(costs, reach, point, point)
    wanted = near.shape[1] - 1
    size = 0
    held = point_free[seed]
    worst = np.inf if held < wanted else 0.0
    for i in range(count):
        p = listed[i]
        if p == seed or point_free[p] == 0:
            continue
        cost = point_cost(small, base, reach, points, p, worst)
        if large.shape[0] > 0:
            cost += point_cost_large(costs, large, point, point, points, p)
        if cost >= worst:
            continue
        push(heap, ids, size, cost, p)
        size += 1
        held += point_free[p]
        while held - point_free[ids[0]] >= wanted:
            held -= point_free[ids[0]]
            size -= 1
            replace_top(heap, ids, size, heap[size], ids[size])
        if held >= wanted:
            worst = heap[0]
    near[seed, 0] = seed
    for i in range(size):
        near[seed, i + 1] = ids[i]
    return size + 1
