"""Kernels of compact: the cheapest box of k rows first, from a lazy heap."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import loop, once, part
from coterie.kernels.search import heap as heaps
from coterie.kernels.search.costs import Aimed, aim_all, new_reach
from coterie.kernels.search.growth import ALL, close_box, grow_box, near_points, new_items, put_code
from coterie.kernels.search.heap import new_heap
from coterie.kernels.search.nearby import pick_near
from coterie.kernels.search.rows_index import apart, inside, renew
from coterie.kernels.search.walk import new_walk, offer, pop, set_out

# How boxes are grown.
#   rough: the data of costs in whole numbers, by which boxes grow
#   scales: [scale, attribute] factors of these; the first changes nothing
#   count: how many scales each box is tried with
Tries = namedtuple("Tries", "k rough scales count")


# The boxes grown so far, by seed: a position of the index.
#   near: positions that were near when the seed last looked around
#   cost: infinite where there is no such box
SeedBoxes = namedtuple("SeedBoxes", "near lo hi cost")


# Arrays that growing boxes writes to.
Room = namedtuple("Room", "reach walk heap items")


@once
def _look_around(nodes, costs, boxes, seed, room):
    """Collect the positions nearest to a seed, including itself."""
    point = nodes.points[seed]
    aimed = Aimed(costs, room.reach, point, point)
    aim_all(aimed)
    near = boxes.near.positions
    wanted = near.shape[1] - 1
    count = near_points(nodes, aimed, wanted, ALL, room.heap, room.walk)
    noted = False
    for i in range(count):
        near[seed, i] = room.heap.ids[i]
        noted |= room.heap.ids[i] == seed
    if not noted:  # where columns weigh nothing, others are as near; fewer than `wanted` + 1 were found
        near[seed, count] = seed
        count += 1
    boxes.near.counts[seed] = count


@once
def _best_box(nodes, costs, tries, boxes, seed, items):
    """Grow a box from a seed over its collected neighbours, several times with other scales; keep the cheapest.

    The first try has scale 1. Sets the seed's box and returns its cost, infinite if there are fewer than k rows.
    """
    points, near = nodes.points, boxes.near.positions
    n = 0
    at = -1
    for i in range(boxes.near.counts[seed]):
        p = near[seed, i]
        if nodes.point_free[p] > 0:
            if p == seed:
                at = n
            items.weights[n] = nodes.point_free[p]
            items.held[n] = p
            n += 1
    active = 0
    for j in range(points.shape[1]):
        differ = False
        for i in range(n):
            c = points[items.held[i], j]
            put_code(costs, tries.rough, items, active, j, i, c)
            differ |= c != points[seed, j]
        boxes.lo[seed, j] = points[seed, j]
        boxes.hi[seed, j] = points[seed, j]
        if differ:
            items.active[active] = j
            active += 1
    best = np.inf
    for t in range(tries.count):
        scale = tries.scales[0] if t == 0 else tries.scales[1 + (seed * 31 + t) % (tries.scales.shape[0] - 1)]
        cost = grow_box(costs, tries.rough, scale, items, active, n, at, tries.k, best)[2]
        if cost < best:
            best = cost
            for a in range(active):
                boxes.lo[seed, items.active[a]] = items.box[0, a]
                boxes.hi[seed, items.active[a]] = items.box[1, a]
    return best


@once
def _held(nodes, boxes, seed):
    """Count the free rows among a seed's collected neighbours that lie in its box."""
    held = 0
    for i in range(boxes.near.counts[seed]):
        p = boxes.near.positions[seed, i]
        if nodes.point_free[p] > 0 and inside(boxes.lo[seed], boxes.hi[seed], nodes.points, nodes.points, p):
            held += nodes.point_free[p]
    return held


@part
def take_all(nodes, low, high, label, labels, walk, visited):
    """Label every free row in the box [low, high] and remove it from the tree.

    Nodes are updated once, bottom-up, after all rows are removed. Those below an empty node are left
    unchanged: nothing looks below it.
    """
    count = 0
    top = set_out(walk)
    while top >= 0:
        node, bound, top = pop(walk, top)
        if nodes.free[node] == 0 or apart(low, high, nodes.lo, nodes.hi, node):
            continue
        whole = inside(low, high, nodes.lo, nodes.hi, node)
        if nodes.left[node] < 0 or whole:
            for p in range(nodes.start[node], nodes.end[node]):
                if nodes.point_free[p] > 0 and inside(low, high, nodes.points, nodes.points, p):
                    nodes.point_free[p] = 0
                    for at in range(nodes.cursor[p], nodes.row_start[p + 1]):
                        row = nodes.rows[at]
                        if not nodes.taken[row]:
                            nodes.taken[row] = True
                            labels[row] = label
        else:
            for child in range(nodes.left[node] + 1, nodes.left[node] - 1, -1):
                top = offer(walk, top, child, bound, bound)
        if whole:
            nodes.free[node] = 0
        else:
            visited[count] = node
            count += 1
    for i in range(count - 1, -1, -1):
        renew(nodes, visited[i])


def grow_boxes(nodes, costs, tries, boxes, home, lists, seeds):
    """Grow the boxes of some seeds over the free rows; `boxes` receives them, with infinite costs if none is left.

    Seeds pick their neighbours from the list of their leaf, home[seed]; without lists, each searches the tree. Seeds
    are independent, so several threads may share them.
    """
    room = max(boxes.near.positions.shape[1], lists.positions.shape[1]) + 1
    arrays = Room(new_reach(costs), new_walk(), new_heap(room), new_items(nodes.points.shape[1], room))
    _grow_boxes(nodes, costs, tries, boxes, home, lists, seeds, arrays)


@loop
def _grow_boxes(nodes, costs, tries, boxes, home, lists, seeds, room):
    near = boxes.near
    for at in range(seeds.shape[0]):
        seed = np.int64(seeds[at])
        if nodes.point_free[seed] == 0:  # taken by a box that was accepted later in the same batch
            boxes.cost[seed] = np.inf
            continue
        if nodes.point_free[seed] >= tries.k:
            near.counts[seed] = 1
            near.positions[seed, 0] = seed
        elif lists.counts.shape[0] > 0:
            mine = home[seed]
            near.counts[seed] = pick_near(
                nodes, costs, room.reach, seed, lists.positions[mine], lists.counts[mine], near.positions[seed],
                room.heap,
            )  # fmt: skip
        else:
            free = 0
            for i in range(near.counts[seed]):
                free += nodes.point_free[near.positions[seed, i]]
            # Too few of the noted neighbours are free to choose among: look around again.
            if 4 * free < 5 * tries.k:
                _look_around(nodes, costs, boxes, seed, room)
        boxes.cost[seed] = _best_box(nodes, costs, tries, boxes, seed, room.items)


# Boxes that wait for their turn, and those whose turn came too late.
#   heap: seeds by cost, both negated: the cheapest first, of equal ones the lowest
#   stale: seeds of boxes that have lost rows to others, to be grown again
Queue = namedtuple("Queue", "heap stale")


# Arrays that accepting boxes writes to.
Taking = namedtuple("Taking", "box visited walk")


def accept_boxes(nodes, costs, k, boxes, grown, queue, size, groups, labels):
    """Inspect the cheapest boxes, as many as may be stale; count the remaining entries, stale ones and groups.

    The `grown` seeds first join the queue of `size` entries. A box that has lost rows to others is stale. Any other is
    accepted, and rows inside it join at no cost.
    """
    box = np.empty((2, boxes.lo.shape[1]), dtype=np.int32)
    room = Taking(box, np.empty(nodes.start.shape[0], dtype=np.int32), new_walk())
    return _accept_boxes(nodes, costs, k, boxes, grown, queue, size, groups, labels, room)


@loop
def _accept_boxes(nodes, costs, k, boxes, grown, queue, size, groups, labels, room):
    box, visited, walk = room
    low, high = box[0], box[1]
    for i in range(grown.shape[0]):
        seed = grown[i]
        if boxes.cost[seed] < np.inf:
            heaps.push(queue.heap, size, -boxes.cost[seed], -seed, True)
            size += 1
    lost = 0
    looked = 0
    while size > 0 and looked < queue.stale.shape[0] and nodes.free[0] >= k:
        seed = -heaps.pop(queue.heap, size, True)
        size -= 1
        if nodes.point_free[seed] == 0:
            continue
        looked += 1
        if _held(nodes, boxes, seed) < k:
            queue.stale[lost] = seed
            lost += 1
            continue
        for j in range(low.shape[0]):
            low[j] = boxes.lo[seed, j]
            high[j] = boxes.hi[seed, j]
        close_box(costs, low, high)
        take_all(nodes, low, high, groups, labels, walk, visited)
        groups += 1
    return size, lost, groups
