"""The distance between the sensitive values of a group and of the whole table: Li, Li, Venkatasubramanian 2007.

The earth mover's distance between two distributions is the least work that turns one into the other, for a given
distance between values. Three such distances give three formulas (sections 4.1 and 4.2 of the paper):

* equal: all values are 1 apart. Half the sum of the differences of the shares.
* ordered: |i − j| / (m − 1) for the i-th and j-th of m values. The sum of the differences of the cumulative shares,
  divided by m − 1. Missing values come after the largest value.
* hierarchical: height of the lowest common ancestor ÷ height of the hierarchy. Give the edge above a node the
  weight (height of its parent − its height) / 2; the path between two leaves is then as long as their distance, and
  the least work is the sum over all edges of weight · difference of the shares below.

Each is returned as integers (numerator, denominator) per group, so that it can be compared exactly.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from coterie.arrays import Float64, Int64
from coterie.privacy.exact import SAFE, Whole
from coterie.privacy.histogram import Histogram

Distance = Literal["equal", "ordered", "hierarchical"]


class Ratio(NamedTuple):
    """A fraction of integers per group."""

    numerator: Whole
    denominator: Whole

    def floats(self) -> Float64:
        """Return the fractions as floats, for display."""
        return np.asarray(self.numerator / self.denominator, dtype=np.float64)


def distance(histogram: Histogram, kind: Distance) -> Ratio:
    """Return group → distance of its sensitive values from those of the whole table."""
    return {"equal": _equal, "ordered": _ordered, "hierarchical": _hierarchical}[kind](histogram)


def _numbers(histogram: Histogram, factor: int, *arrays: Int64) -> list[Whole]:
    """Return arrays in a type that fits factor · group size · rows."""
    fits = factor * int(histogram.sizes.max(initial=1)) * histogram.rows < SAFE
    return [array if fits else array.astype(object) for array in arrays]


def _equal(histogram: Histogram) -> Ratio:
    n = histogram.rows
    count, total, sizes = _numbers(histogram, 4, histogram.count, histogram.totals[histogram.value], histogram.sizes)
    expected = total * sizes[histogram.group]
    # A value that the group lacks differs by its whole share; all shares together are n · size.
    work = histogram.sum(np.abs(count * n - expected) - expected) + sizes * n
    return Ratio(work, 2 * n * sizes)


def _ordered(histogram: Histogram) -> Ratio:
    present = np.flatnonzero(histogram.totals)
    m, n = len(present), histogram.rows
    if m < 2:
        return Ratio(np.zeros_like(histogram.sizes), np.ones_like(histogram.sizes))
    up_to = np.cumsum(histogram.totals[present])
    sizes, before = _numbers(histogram, 4 * m, histogram.sizes, np.concatenate([[0], np.cumsum(up_to)]))
    # A group's cumulative count is a staircase: it rises at the values of the group, so that each of them
    # begins a stretch [start, end) of values in which it stays the same.
    start = np.searchsorted(present, histogram.value)
    last = histogram.starts[1:] - 1
    end = np.append(start[1:], m)
    end[last] = m
    running = np.cumsum(histogram.count)
    held = running - (running[last] - histogram.sizes)[histogram.group]
    size = sizes[histogram.group]
    held_n = held.astype(size.dtype) * n
    # Cumulative totals rise within a stretch: up to `turn` the group is ahead of the table, from there behind.
    level = (held_n // size).astype(np.int64)
    turn = np.clip(np.searchsorted(up_to, level, side="right"), start, end)
    work = held_n * (2 * turn - start - end) + size * (before[end] - 2 * before[turn] + before[start])
    first = start[histogram.starts[:-1]]
    return Ratio(histogram.sum(work) + sizes * before[first], (m - 1) * n * sizes)


def _hierarchical(histogram: Histogram) -> Ratio:
    tree = histogram.tree
    if tree is None:
        raise ValueError("the column has no hierarchy")
    height, n = int(tree.height[0]), histogram.rows
    if height == 0:
        return Ratio(np.zeros_like(histogram.sizes), np.ones_like(histogram.sizes))
    edge = np.zeros(tree.nodes, dtype=np.int64)
    edge[1:] = tree.height[tree.parent[1:]] - tree.height[1:]
    below = np.concatenate([[0], np.cumsum(histogram.totals)])
    totals = below[tree.last + 1] - below[tree.first]
    weighted, sizes = _numbers(histogram, 4 * height, edge * totals, histogram.sizes)
    # Edges below which a group has nothing differ by the table's whole share; the others are put right below.
    work = sizes * int(weighted.sum())
    node = tree.leaf_node[histogram.value].astype(np.int64)
    group, count = histogram.group, histogram.count
    depth = tree.depth[node]
    for level in range(int(tree.depth.max(initial=0)), 0, -1):
        at = np.flatnonzero(depth == level)
        if len(at):
            keys, inverse = np.unique(group[at] * tree.nodes + node[at], return_inverse=True)
            counts = np.bincount(inverse, weights=count[at]).astype(np.int64)
            groups, nodes = np.divmod(keys, tree.nodes)
            expected = totals[nodes].astype(sizes.dtype) * sizes[groups]
            extra = (np.abs(counts.astype(sizes.dtype) * n - expected) - expected) * edge[nodes]
            np.add.at(work, groups, extra)
            rest = np.flatnonzero(depth < level)
            group, count = np.append(group[rest], groups), np.append(count[rest], counts)
            node = np.append(node[rest], tree.parent[nodes])
            depth = tree.depth[node]
    return Ratio(work, 2 * height * n * sizes)
