"""A k-d tree over distinct rows that tracks which rows are still free, with exact pruning.

Positions are indices in the tree's order of the distinct rows. Each node keeps the tight box of its free rows, their
number and the lowest row number among them. Ties go to the lowest row number.
"""

from __future__ import annotations

from collections import namedtuple
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.kernels import inner, loop, once, part, step
from coterie.kernels.parts import cut_at
from coterie.kernels.search.costs import bound_cost, interval_cost, joined_cost
from coterie.kernels.search.walk import comes_after, nearer_on_top, offer, pop, set_out
from coterie.kernels.sorting import sort_pairs

BUCKET = 8
NO_ROW = np.int32(2**31 - 1)


class Nodes(NamedTuple):
    """The tree and its state, in the form that kernels take."""

    points: npt.NDArray[np.int32]
    """position → codes"""
    leaf: npt.NDArray[np.int32]
    """position → leaf node"""
    start: npt.NDArray[np.int32]
    """node → first position"""
    end: npt.NDArray[np.int32]
    """node → position after its last"""
    left: npt.NDArray[np.int32]
    """node → left child, or −1 for a leaf; the right child is the next node"""
    parent: npt.NDArray[np.int32]
    lo: npt.NDArray[np.int32]
    hi: npt.NDArray[np.int32]
    """node → tight box of its free rows"""
    free: npt.NDArray[np.int32]
    """node → number of free rows"""
    lowest: npt.NDArray[np.int32]
    """node → lowest free row number"""
    point_free: npt.NDArray[np.int32]
    """position → number of free rows"""
    row_start: npt.NDArray[np.int64]
    """position → where its rows begin in `rows`"""
    rows: npt.NDArray[np.int32]
    """row numbers by position, ascending within each"""
    cursor: npt.NDArray[np.int64]
    """position → the position of its lowest free row in `rows`"""
    position: npt.NDArray[np.int32]
    """row → position"""
    taken: npt.NDArray[np.bool_]
    """row → whether it is no longer free"""


@once
def _split(costs, codes, start, end, shape):
    """Cut a node in two: reorder its part of `order` and return where the right part begins.

    The cut is in the attribute whose box side costs most, where the two parts are most nearly equal in size. Flat
    attributes all cost the same as soon as two values meet: of these, those of few values are cut first. They are soon
    exact, so that a leaf of few rows mixes values of the others, and these are what groups do better to give up.
    """
    order, lo, hi, counts, values = shape.order, shape.lo, shape.hi, shape.counts, shape.values
    d = codes.shape[1]
    attribute = 0
    worst = -1.0
    worst_flat = False
    for j in range(d):
        if lo[j] < hi[j]:
            cost = interval_cost(costs, j, lo[j], hi[j])
            flat = interval_cost(costs, j, lo[j], lo[j] + 1) == cost
            fewer = flat and worst_flat and costs.width[j] < costs.width[attribute]
            if cost > worst or (cost == worst and fewer):
                worst = cost
                worst_flat = flat
                attribute = j
    if worst < 0.0:
        return (start + end) // 2  # all alike: any cut is as good
    size = end - start
    low = lo[attribute]
    if hi[attribute] - low < 4 * size:
        width = hi[attribute] - low + 1
        for c in range(width):
            counts[c] = 0
        for p in range(start, end):
            counts[codes[order[p], attribute] - low] += 1
        below = 0
        best = size + 1
        cut = low
        for c in range(width - 1):
            below += counts[c]
            uneven = abs(size - 2 * below)
            if uneven < best:
                best = uneven
                cut = low + c
    else:
        for p in range(size):
            values[p] = codes[order[start + p], attribute]
        sort_pairs(values, order[start:end], size)
        best = size + 1
        cut = low
        for p in range(size - 1):
            if values[p] < values[p + 1]:
                uneven = abs(size - 2 * (p + 1))
                if uneven < best:
                    best = uneven
                    cut = values[p]
    return cut_at(codes, order, start, end, attribute, cut)


# The tree while it is built: order of the distinct rows, position → leaf, arrays by node, and room to work in.
Shape = namedtuple("Shape", "order leaf start end left parent depth counts values lo hi")


def build(costs, codes):
    """Build the tree: the order of the distinct rows, each node's range, left child and parent, and the depth."""
    m, d = codes.shape
    leaf, values = np.empty(m, dtype=np.int32), np.empty(m, dtype=np.int32)
    start, end, left, parent = np.full((4, 2 * m + 1), -1, dtype=np.int32)
    depth, counts = np.zeros(2 * m + 1, dtype=np.int32), np.empty(4 * m + 1, dtype=np.int32)
    lo, hi = np.empty((2, d), dtype=np.int32)
    order = np.arange(m, dtype=np.int32)
    nodes = _build(costs, codes, Shape(order, leaf, start, end, left, parent, depth, counts, values, lo, hi))
    made = (each[:nodes].copy() for each in (start, end, left, parent))
    return order, leaf, *made, depth[:nodes].max()


@loop
def _build(costs, codes, shape):
    order, start, end, lo, hi = shape.order, shape.start, shape.end, shape.lo, shape.hi
    m, d = codes.shape
    start[0] = 0
    end[0] = m
    nodes = 1
    node = 0
    while node < nodes:
        first, last = start[node], end[node]
        if last - first <= BUCKET:
            for p in range(first, last):
                shape.leaf[p] = node
        else:
            for j in range(d):
                lo[j] = codes[order[first], j]
                hi[j] = lo[j]
            for p in range(first + 1, last):
                for j in range(d):
                    c = codes[order[p], j]
                    if c < lo[j]:
                        lo[j] = c
                    elif c > hi[j]:
                        hi[j] = c
            middle = _split(costs, codes, first, last, shape)
            shape.left[node] = nodes
            for child in range(2):
                shape.parent[nodes] = node
                shape.depth[nodes] = shape.depth[node] + 1
                start[nodes] = first if child == 0 else middle
                end[nodes] = middle if child == 0 else last
                nodes += 1
        node += 1
    return nodes


@part
def renew(nodes, node):
    """Update a node's box, count and lowest row from its children or, in a leaf, from its points."""
    d = nodes.points.shape[1]
    free = 0
    lowest = NO_ROW
    first = True
    if nodes.left[node] < 0:
        for p in range(nodes.start[node], nodes.end[node]):
            if nodes.point_free[p] > 0:
                free += nodes.point_free[p]
                lowest = min(lowest, nodes.rows[nodes.cursor[p]])
                for j in range(d):
                    c = nodes.points[p, j]
                    if first or c < nodes.lo[node, j]:
                        nodes.lo[node, j] = c
                    if first or c > nodes.hi[node, j]:
                        nodes.hi[node, j] = c
                first = False
    else:
        for child in range(nodes.left[node], nodes.left[node] + 2):
            if nodes.free[child] > 0:
                free += nodes.free[child]
                lowest = min(lowest, nodes.lowest[child])
                for j in range(d):
                    if first or nodes.lo[child, j] < nodes.lo[node, j]:
                        nodes.lo[node, j] = nodes.lo[child, j]
                    if first or nodes.hi[child, j] > nodes.hi[node, j]:
                        nodes.hi[node, j] = nodes.hi[child, j]
                first = False
    nodes.free[node] = free
    nodes.lowest[node] = lowest


@loop
def fill(nodes):
    """Make all rows free and set every node from its children."""
    for row in range(nodes.taken.shape[0]):
        nodes.taken[row] = False
    for p in range(nodes.points.shape[0]):
        nodes.cursor[p] = nodes.row_start[p]
        nodes.point_free[p] = nodes.row_start[p + 1] - nodes.row_start[p]
    for node in range(nodes.start.shape[0] - 1, -1, -1):
        renew(nodes, node)


@loop
def take(nodes, row):
    """Remove a free row from the tree."""
    nodes.taken[row] = True
    p = nodes.position[row]
    nodes.point_free[p] -= 1
    emptied = nodes.point_free[p] == 0
    was_lowest = nodes.rows[nodes.cursor[p]] == row
    if was_lowest and not emptied:
        at = nodes.cursor[p]
        while nodes.taken[nodes.rows[at]]:
            at += 1
        nodes.cursor[p] = at
    node = nodes.leaf[p]
    while node >= 0:
        if emptied or nodes.lowest[node] == row:
            renew(nodes, node)
        else:
            nodes.free[node] -= 1
        node = nodes.parent[node]


@inner
def inside(lo, hi, node_lo, node_hi, node):
    """Return whether a node's box lies inside [lo, hi]."""
    for j in range(lo.shape[0]):
        if node_lo[node, j] < lo[j] or node_hi[node, j] > hi[j]:
            return False
    return True


@inner
def apart(lo, hi, node_lo, node_hi, node):
    """Return whether a node's box and [lo, hi] are disjoint."""
    for j in range(lo.shape[0]):
        if node_lo[node, j] > hi[j] or node_hi[node, j] < lo[j]:
            return True
    return False


@step
def descend(nodes, node, aimed, walk, top, limit, number):
    """Push the children of a node whose bounds are not above the limit, see walk.py; return the new top."""
    before = top
    for child in range(nodes.left[node], nodes.left[node] + 2):
        if nodes.free[child] > 0:
            top = offer(walk, top, child, bound_cost(aimed, nodes.lo, nodes.hi, child, limit), limit)
    nearer_on_top(walk, top, before, number)
    return top


@loop
def cheapest(nodes, aimed, walk):
    """Return the free row that makes the aimed box cheapest when it joins, the lowest on ties; −1 if none is free."""
    best = np.inf
    best_row = NO_ROW
    if nodes.free[0] == 0:
        return -1
    top = set_out(walk)
    while top >= 0:
        node, bound, top = pop(walk, top)
        if comes_after(bound, nodes.lowest[node], best, best_row):
            continue
        if nodes.left[node] < 0:
            for p in range(nodes.start[node], nodes.end[node]):
                if nodes.point_free[p] > 0:
                    cost = joined_cost(aimed, nodes.points, p, best)
                    if cost <= best:
                        row = nodes.rows[nodes.cursor[p]]
                        if cost < best or row < best_row:
                            best = cost
                            best_row = row
            continue
        before = top
        for child in range(nodes.left[node], nodes.left[node] + 2):
            if nodes.free[child] == 0:
                continue
            bound = bound_cost(aimed, nodes.lo, nodes.hi, child, best)
            if bound > best:
                continue
            if inside(aimed.lo, aimed.hi, nodes.lo, nodes.hi, child):
                # All rows inside the box cost the same: the lowest of them stands for all.
                if bound < best or nodes.lowest[child] < best_row:
                    best = bound
                    best_row = nodes.lowest[child]
            else:
                top = offer(walk, top, child, bound, best)
        nearer_on_top(walk, top, before, nodes.lowest)
    return best_row
