"""The loops of compact: the cheapest box of k rows first, from a lazy heap."""

from __future__ import annotations

import numpy as np

from coterie.kernels import inner, loop, once, part
from coterie.kernels.search.costs import aim_all
from coterie.kernels.search.growth import ALL, close_box, grow_box, near_points
from coterie.kernels.search.nearby import pick_near
from coterie.kernels.search.rows_index import STACK, inside, renew


@inner
def _push(keys, seeds, size, key, seed):
    """Add an entry to the min-heap of `size` entries; equal keys go by the lower seed."""
    at = size
    while at > 0:
        up = (at - 1) // 2
        if keys[up] < key or (keys[up] == key and seeds[up] < seed):
            break
        keys[at] = keys[up]
        seeds[at] = seeds[up]
        at = up
    keys[at] = key
    seeds[at] = seed


@inner
def _pop(keys, seeds, size):
    """Take the first seed out of the min-heap of `size` entries."""
    first = seeds[0]
    last = size - 1
    key = keys[last]
    seed = seeds[last]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= last:
            break
        right = child + 1
        if right < last and (keys[right] < keys[child] or (keys[right] == keys[child] and seeds[right] < seeds[child])):
            child = right
        if key < keys[child] or (key == keys[child] and seed < seeds[child]):
            break
        keys[at] = keys[child]
        seeds[at] = seeds[child]
        at = child
    keys[at] = key
    seeds[at] = seed
    return first


@once
def _look_around(nodes, costs, reach, seed, near, near_count, heap, ids, stack, bounds):
    """Note the positions nearest to a seed, itself among them."""
    point = nodes.points[seed]
    aim_all(costs, reach, point, point)
    wanted = near.shape[1] - 1
    count = near_points(nodes, costs, reach, point, point, wanted, ALL, heap, ids, stack, bounds)
    noted = False
    for i in range(count):
        near[seed, i] = ids[i]
        noted |= ids[i] == seed
    if not noted:  # where columns weigh nothing, others are as near; fewer than `wanted` + 1 were found
        near[seed, count] = seed
        count += 1
    near_count[seed] = count


@once
def _best_box(
    nodes, costs, k, scales, tries, seed, near, near_count, lo, hi, items, weights, shares, totals, low, high
):
    """Grow a box from a seed over its noted neighbours, several times with other scales; keep the cheapest.

    The first try has scale 1. Sets lo[seed] and hi[seed] and gives back the cost, infinite if k rows are not there.
    """
    d = low.shape[0]
    n = 0
    at = -1
    for i in range(near_count[seed]):
        p = near[seed, i]
        if nodes.point_free[p] > 0:
            if p == seed:
                at = n
            weights[n] = nodes.point_free[p]
            for j in range(d):
                items[j, n] = nodes.points[p, j]
            n += 1
    best = np.inf
    for t in range(tries):
        scale = scales[0] if t == 0 else scales[1 + (seed * 31 + t) % (scales.shape[0] - 1)]
        cost = grow_box(costs, scale, items, weights, n, at, k, best, low, high, shares, totals)
        if cost < best:
            best = cost
            for j in range(d):
                lo[seed, j] = low[j]
                hi[seed, j] = high[j]
    return best


@once
def _held(nodes, near, near_count, seed, lo, hi):
    """Free rows among a seed's noted neighbours that lie in its box."""
    points = nodes.points
    point_free = nodes.point_free
    held = 0
    for i in range(near_count[seed]):
        p = near[seed, i]
        if point_free[p] > 0:
            within = True
            for j in range(lo.shape[1]):
                c = points[p, j]
                if c < lo[seed, j] or c > hi[seed, j]:
                    within = False
                    break
            if within:
                held += point_free[p]
    return held


@part
def take_all(nodes, low, high, label, labels, stack, visited):
    """Give every free row in the box [low, high] a label, and take it out of the tree.

    Nodes are brought up to date once, from the bottom, after all rows are gone. Those below a node that has become
    empty are left as they are: nothing looks below an empty node.
    """
    left, start, end, free = nodes.left, nodes.start, nodes.end, nodes.free
    node_lo, node_hi, points, point_free = nodes.lo, nodes.hi, nodes.points, nodes.point_free
    d = low.shape[0]
    count = 0
    top = 0
    stack[0] = 0
    while top >= 0:
        node = stack[top]
        top -= 1
        apart = free[node] == 0
        for j in range(d):
            if node_lo[node, j] > high[j] or node_hi[node, j] < low[j]:
                apart = True
                break
        if apart:
            continue
        whole = inside(low, high, node_lo, node_hi, node)
        if left[node] < 0 or whole:
            for p in range(start[node], end[node]):
                if point_free[p] == 0:
                    continue
                within = True
                for j in range(d):
                    if points[p, j] < low[j] or points[p, j] > high[j]:
                        within = False
                        break
                if within:
                    point_free[p] = 0
                    for at in range(nodes.cursor[p], nodes.row_start[p + 1]):
                        row = nodes.rows[at]
                        if not nodes.taken[row]:
                            nodes.taken[row] = True
                            labels[row] = label
        else:
            top += 1
            stack[top] = left[node] + 1
            top += 1
            stack[top] = left[node]
        if whole:
            free[node] = 0
        else:
            visited[count] = node
            count += 1
    for i in range(count - 1, -1, -1):
        renew(nodes, visited[i])


def grow_boxes(nodes, costs, k, scales, tries, near, near_count, lo, hi, keys, home, lists, counts, seeds, first, last):
    """Grow the boxes of seeds[first:last] over the rows still free; `keys` gets their costs, infinite if none is left.

    Seeds pick their neighbours from the list of their leaf, lists[home[seed]]; without lists, each searches the tree.
    Seeds are independent of each other, so that several threads may work on parts of them.
    """
    d = nodes.points.shape[1]
    room = max(near.shape[1], lists.shape[1]) + 1
    reach = np.empty(costs.base[-1], dtype=np.float64)
    stack = np.empty(STACK, dtype=np.int32)
    bounds = np.empty(STACK, dtype=np.float64)
    heap = np.empty(room, dtype=np.float64)
    ids = np.empty(room, dtype=np.int32)
    items = np.empty((d, room), dtype=np.int32)
    weights = np.empty(room, dtype=np.int64)
    shares = np.empty((d, room), dtype=np.float64)
    totals = np.empty(room, dtype=np.float64)
    low = np.empty(d, dtype=np.int32)
    high = np.empty(d, dtype=np.int32)
    _grow_boxes(
        nodes, costs, k, scales, tries, near, near_count, lo, hi, keys, home, lists, counts, seeds, first, last,
        reach, stack, bounds, heap, ids, items, weights, shares, totals, low, high,
    )  # fmt: skip


@loop
def _grow_boxes(
    nodes, costs, k, scales, tries, near, near_count, lo, hi, keys, home, lists, counts, seeds, first, last,
    reach, stack, bounds, heap, ids, items, weights, shares, totals, low, high,
):  # fmt: skip
    for at in range(first, last):
        seed = np.int64(seeds[at])
        if nodes.point_free[seed] == 0:  # taken by a box that was accepted later in the same batch
            keys[seed] = np.inf
            continue
        if nodes.point_free[seed] >= k:
            near_count[seed] = 1
            near[seed, 0] = seed
        elif lists.shape[0] > 0:
            mine = home[seed]
            near_count[seed] = pick_near(nodes, costs, reach, seed, lists[mine], counts[mine], near, heap, ids)
        else:
            left = 0
            for i in range(near_count[seed]):
                left += nodes.point_free[near[seed, i]]
            # Too few of the noted neighbours are free to choose among: look around again.
            if 4 * left < 5 * k:
                _look_around(nodes, costs, reach, seed, near, near_count, heap, ids, stack, bounds)
        keys[seed] = _best_box(
            nodes, costs, k, scales, tries, seed, near, near_count, lo, hi, items, weights, shares, totals, low, high
        )


def accept_boxes(nodes, costs, k, near, near_count, lo, hi, keys, grown, heap_keys, heap, size, stale, groups, labels):
    """Look at the cheapest boxes, as many as `stale` has room for; gives back entries left, stale ones, groups so far.

    The `grown` seeds join the heap of `size` entries first. A box that has lost rows to others is stale: its seed is
    noted in `stale`, to be grown again. Any other is accepted, and rows inside it join it at no cost.
    """
    d = lo.shape[1]
    stack = np.empty(STACK, dtype=np.int32)
    visited = np.empty(nodes.start.shape[0], dtype=np.int32)
    low = np.empty(d, dtype=np.int32)
    high = np.empty(d, dtype=np.int32)
    return _accept_boxes(
        nodes, costs, k, near, near_count, lo, hi, keys, grown, heap_keys, heap, size, stale, groups, labels,
        stack, visited, low, high,
    )  # fmt: skip


@loop
def _accept_boxes(
    nodes, costs, k, near, near_count, lo, hi, keys, grown, heap_keys, heap, size, stale, groups, labels,
    stack, visited, low, high,
):  # fmt: skip
    d = lo.shape[1]
    for i in range(grown.shape[0]):
        seed = grown[i]
        if keys[seed] < np.inf:
            _push(heap_keys, heap, size, keys[seed], seed)
            size += 1
    lost = 0
    looked = 0
    while size > 0 and looked < stale.shape[0] and nodes.free[0] >= k:
        seed = _pop(heap_keys, heap, size)
        size -= 1
        if nodes.point_free[seed] == 0:
            continue
        looked += 1
        if _held(nodes, near, near_count, seed, lo, hi) < k:
            stale[lost] = seed
            lost += 1
            continue
        for j in range(d):
            low[j] = lo[seed, j]
            high[j] = hi[seed, j]
        close_box(costs, low, high)
        take_all(nodes, low, high, groups, labels, stack, visited)
        groups += 1
    return size, lost, groups
