"""A hierarchy bound to the values of a column, as flat arrays.

Leaves are numbered depth-first. The lowest common ancestor of any set of leaves is therefore that of its smallest
and its largest code, and a group of rows is an interval [lo, hi] of codes, for categories and numbers alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from coterie.arrays import Float64, Int32


@dataclass(frozen=True, eq=False)
class Tree:
    """A rooted tree whose leaves are the codes 0 … leaves − 1. Nodes are in depth-first order; node 0 is the root.

    The tree contains only the values present in a column; `height` and `whole_size` describe the whole hierarchy
    that it was cut from, so measures over either are possible.
    """

    labels: tuple[str, ...]
    """node → label"""
    parent: Int32
    """node → parent node, −1 for the root"""
    first: Int32
    """node → smallest leaf code below it"""
    last: Int32
    """node → largest leaf code below it, inclusive"""
    leaf_node: Int32
    """leaf code → node"""
    depth: Int32
    """node → edges up to the root"""
    height: Int32
    """node → edges down to the deepest leaf of the whole hierarchy below it"""
    whole_size: Int32
    """node → number of leaves of the whole hierarchy beneath it"""
    weight: Float64 | None = None
    """node → weights of itself and all nodes beneath it, if the hierarchy has weights"""
    whole_weight: Float64 | None = None
    """node → the same over the whole hierarchy"""

    @property
    def leaves(self) -> int:
        """The number of leaves, that is, of codes."""
        return len(self.leaf_node)

    def sizes(self, *, whole: bool) -> Float64:
        """Return node → its size for NCP: leaves beneath it, or weights; of the values present, or the whole tree.

        A node's size is at least that of each node beneath it, whatever the weights: they are not negative.
        """
        weights, leaves = (self.whole_weight, self.whole_size) if whole else (self.weight, self.last - self.first + 1)
        return np.asarray(leaves if weights is None else weights, dtype=np.float64)

    @property
    def nodes(self) -> int:
        """The number of nodes, including leaves."""
        return len(self.labels)

    @cached_property
    def gap_node(self) -> Int32:
        """The lowest common ancestor of the codes c and c + 1, for each gap c."""
        gaps = np.zeros(max(self.leaves - 1, 0), dtype=np.int32)
        # An inner node owns the gaps between its children. Nodes are in depth-first order, so a later
        # child starts right after its elder sibling's last leaf.
        later = np.flatnonzero(self.first > self.first[np.maximum(self.parent, 0)])
        gaps[self.first[later] - 1] = self.parent[later]
        return gaps

    @cached_property
    def _shallowest(self) -> list[Int32]:
        """Sparse table: level j has, for each gap, the shallowest node of the 2**j gaps from there."""
        levels = [self.gap_node]
        width = 1
        while 2 * width <= len(self.gap_node):
            before = levels[-1]
            left, right = before[:-width], before[width:]
            levels.append(np.where(self.depth[left] <= self.depth[right], left, right).astype(np.int32))
            width *= 2
        return levels

    def common_ancestor(self, lo: npt.ArrayLike, hi: npt.ArrayLike) -> Int32:
        """Return the lowest common ancestor of the leaves lo … hi, for arrays of intervals; the leaf if lo = hi."""
        lo = np.atleast_1d(np.asarray(lo, dtype=np.int64))
        hi = np.atleast_1d(np.asarray(hi, dtype=np.int64))
        result: Int32 = self.leaf_node[lo].copy()
        wide = np.flatnonzero(hi > lo)
        if len(wide):
            length = hi[wide] - lo[wide]
            level = np.frexp(length.astype(np.float64))[1] - 1
            found = np.empty(len(wide), dtype=np.int32)
            for step in np.unique(level):
                at = np.flatnonzero(level == step)
                rows = self._shallowest[step]
                left = rows[lo[wide[at]]]
                right = rows[hi[wide[at]] - (1 << int(step))]
                found[at] = np.where(self.depth[left] <= self.depth[right], left, right)
            result[wide] = found
        return result

    def ancestor_at(self, depth: int) -> Int32:
        """Return leaf code → its ancestor at this depth, or the leaf itself if it is not that deep."""
        node = self.leaf_node.copy()
        while True:
            deeper = self.depth[node] > depth
            if not deeper.any():
                return node
            node[deeper] = self.parent[node[deeper]]


def subtree_sums(parent: Sequence[int] | Int32, own: Float64) -> Float64:
    """Return node → sum over itself and all nodes beneath it; parents come before their children.

    Children are added one by one: rounding never makes a node less than one of its children.
    """
    sums = own.tolist()
    for node in range(len(sums) - 1, 0, -1):
        sums[parent[node]] += sums[node]
    return np.asarray(sums, dtype=np.float64)
