"""Lists of the rows near each leaf of the index, shared by the seeds in it.

Seeds of one leaf have much the same neighbours: one search of the tree for all of them, from which each picks its own
nearest, finds nearly the same rows as a search from each, in a fraction of the time.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import loop, part
from coterie.kernels.search.costs import Aimed, aim_all, joined_cost, new_reach
from coterie.kernels.search.growth import near_points
from coterie.kernels.search.heap import keep_nearest, new_heap
from coterie.kernels.search.walk import new_walk

# Positions, in lists.
#   positions: [list, entry]
#   counts: list → how many entries it has
NearLists = namedtuple("NearLists", "positions counts")


def too_short(nodes, lists, asked, least):
    """Which of the asked lists hold fewer than `least` free rows."""
    short = np.empty(asked.shape[0], dtype=np.bool_)
    _too_short(nodes.point_free, lists, asked, least, short)
    return short


@loop
def _too_short(point_free, lists, asked, least, short):
    for at in range(asked.shape[0]):
        free = 0
        for i in range(lists.counts[asked[at]]):
            free += point_free[lists.positions[asked[at], i]]
        short[at] = free < least


def list_near_leaves(nodes, costs, leaves, leaf_nodes, asked, lists):
    """Make the asked lists anew: the positions nearest to the box of each leaf's free rows.

    A search looks into `leaves` leaves of the tree at most.
    """
    wanted = np.full(len(asked), lists.positions.shape[1] - 1, dtype=np.int64)
    list_near_boxes(nodes, costs, leaves, NearBoxes(nodes.lo, nodes.hi, leaf_nodes[asked], wanted, asked), lists)


# Boxes for which the nearest positions are to be listed.
#   numbers: which of the boxes, in the order in which they are asked for
#   wanted: how many free rows each needs; below 1, none are listed
#   into: the lists that they are written to
NearBoxes = namedtuple("NearBoxes", "lo hi numbers wanted into")


def list_near_boxes(nodes, costs, leaves, boxes, lists):
    """List the positions nearest to each of the boxes that hold as many free rows together as it wants."""
    heap = new_heap(lists.positions.shape[1] + 1)
    _list_near_boxes(nodes, costs, leaves, boxes, lists, new_reach(costs), heap, new_walk())


@loop
def _list_near_boxes(nodes, costs, leaves, boxes, lists, reach, heap, walk):
    for i in range(boxes.numbers.shape[0]):
        mine = boxes.into[i]
        lists.counts[mine] = 0
        if boxes.wanted[i] < 1:
            continue
        aimed = Aimed(costs, reach, boxes.lo[boxes.numbers[i]], boxes.hi[boxes.numbers[i]])
        aim_all(aimed)
        count = near_points(nodes, aimed, boxes.wanted[i], leaves, heap, walk)
        for at in range(count):
            lists.positions[mine, at] = heap.ids[at]
        lists.counts[mine] = count


@part
def pick_near(nodes, costs, reach, seed, listed, count, near, heap):
    """Note the positions of a list that are nearest to a seed, itself first; gives back how many.

    They hold one row less than `near` has room for, if the list does.
    """
    points, point_free = nodes.points, nodes.point_free
    aimed = Aimed(costs, reach, points[seed], points[seed])
    aim_all(aimed)
    wanted = near.shape[0] - 1
    size = 0
    held = np.int64(point_free[seed])
    worst = np.inf if held < wanted else 0.0
    for i in range(count):
        p = listed[i]
        if p == seed or point_free[p] == 0:
            continue
        cost = joined_cost(aimed, points, p, worst)
        if cost < worst:
            size, held = keep_nearest(heap, size, held, cost, p, point_free, wanted)
            if held >= wanted:
                worst = heap.keys[0]
    near[0] = seed
    for i in range(size):
        near[i + 1] = heap.ids[i]
    return size + 1
