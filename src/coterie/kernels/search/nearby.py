"""Lists of the rows near each leaf of the index, shared by its seeds.

Seeds of one leaf have similar neighbours: one search of the tree for all of them, from which each picks its own
nearest, finds nearly the same rows as separate searches, in a fraction of the time.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import loop, part
from coterie.kernels.search.costs import Aimed, aim_all, joined_cost, new_reach
from coterie.kernels.search.growth import near_points
from coterie.kernels.search.heap import keep_nearest, new_heap
from coterie.kernels.search.walk import new_walk
from coterie.kernels.sorting import sort_pairs

# Positions, in lists.
#   positions: [list, entry]
#   counts: list → how many entries it has
NearLists = namedtuple("NearLists", "positions counts")

NEAR_LEAVES = 64  # visited for the places near a place: with several columns of numbers, all would take very long


def too_short(nodes, lists, asked, least):
    """Return which of these lists have fewer than `least` free rows."""
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
    """Rebuild these lists: the positions nearest to the box of each leaf's free rows.

    A search visits at most `leaves` leaves of the tree.
    """
    heap = new_heap(lists.positions.shape[1] + 1)
    _list_near_leaves(nodes, costs, leaves, leaf_nodes, asked, lists, new_reach(costs), heap, new_walk())


@loop
def _list_near_leaves(nodes, costs, leaves, leaf_nodes, asked, lists, reach, heap, walk):
    for mine in asked:
        leaf = leaf_nodes[mine]
        aimed = Aimed(costs, reach, nodes.lo[leaf], nodes.hi[leaf])
        aim_all(aimed)
        count = near_points(nodes, aimed, lists.positions.shape[1] - 1, leaves, heap, walk)
        for at in range(count):
            lists.positions[mine, at] = heap.ids[at]
        lists.counts[mine] = count


@part
def pick_near(nodes, costs, reach, seed, listed, count, near, heap):
    """Collect the positions of a list that are nearest to a seed, itself first; return how many.

    They have one row less than `near` has space for, if the list does.
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


def list_near_places(nodes, costs, first, last, lists):
    """List the positions nearest to each of the positions first … last − 1, nearest first, including itself."""
    heap = new_heap(lists.positions.shape[1] + 1)
    _list_near_places(nodes, costs, first, last, lists, new_reach(costs), heap, new_walk())


@loop
def _list_near_places(nodes, costs, first, last, lists, reach, heap, walk):
    for place in range(first, last):
        aimed = Aimed(costs, reach, nodes.points[place], nodes.points[place])
        aim_all(aimed)
        count = near_points(nodes, aimed, lists.positions.shape[1] - 1, NEAR_LEAVES, heap, walk)
        sort_pairs(heap.keys, heap.ids, count)
        for at in range(count):
            lists.positions[place, at] = heap.ids[at]
        lists.counts[place] = count
