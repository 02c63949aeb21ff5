"""A whole hierarchy as a tree, and its restriction to the values of a column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from sys import float_info

import numpy as np
import numpy.typing as npt

from coterie.arrays import Bool, Float64, Int32, Int64
from coterie.errors import HierarchyError, Problem
from coterie.hierarchies.tree import Tree, subtree_sums

ROOT = "*"


@dataclass(frozen=True)
class WholeTree:
    """Every node of a hierarchy in depth-first order, the root first."""

    labels: tuple[str, ...]
    """node → label"""
    parent: tuple[int, ...]
    """node → parent, −1 for the root"""
    weights: tuple[tuple[str, float], ...] = ()
    """labels with a weight of their own for NCP; other leaves weigh 1, other inner nodes 0"""

    @property
    def root(self) -> str:
        """The root's label."""
        return self.labels[0]

    @cached_property
    def _is_inner(self) -> Bool:
        inner = np.zeros(len(self.labels), dtype=np.bool_)
        inner[list(self.parent[1:])] = True
        inner[0] = True
        return inner

    @cached_property
    def leaf_of(self) -> dict[str, int]:
        """Label → node, for the leaves, in depth-first order."""
        return {self.labels[node]: node for node in np.flatnonzero(~self._is_inner).tolist()}

    @cached_property
    def inner_labels(self) -> frozenset[str]:
        """Labels of the inner nodes, including the root's."""
        return frozenset(self.labels[node] for node in np.flatnonzero(self._is_inner).tolist())

    @cached_property
    def depths(self) -> Int32:
        """Node → edges up to the root."""
        depths = [0] * len(self.labels)
        for node in range(1, len(depths)):
            depths[node] = depths[self.parent[node]] + 1
        return np.asarray(depths, dtype=np.int32)

    @cached_property
    def heights(self) -> Int32:
        """Node → edges down to its deepest leaf."""
        return np.asarray(self._highest([0] * len(self.labels), step=1), dtype=np.int32)

    @cached_property
    def _ends(self) -> Int64:
        """Node → the node after the last one below it."""
        return np.asarray(self._highest(list(range(1, len(self.labels) + 1)), step=0), dtype=np.int64)

    def _highest(self, values: list[int], *, step: int) -> list[int]:
        """Return node → the largest of its value and those below it, each plus a step per edge."""
        for node in range(len(values) - 1, 0, -1):
            values[self.parent[node]] = max(values[self.parent[node]], values[node] + step)
        return values

    @cached_property
    def sizes(self) -> Int32:
        """Node → number of leaves below it; 1 for a leaf."""
        return self._beneath(~self._is_inner)[1]

    @cached_property
    def node_weights(self) -> Float64 | None:
        """Node → weight; None if no label has one."""
        if not self.weights:
            return None
        own = dict(self.weights)
        usual = np.where(self._is_inner, 0.0, 1.0).tolist()
        return np.asarray([own.get(label, each) for label, each in zip(self.labels, usual, strict=True)])

    def weighted(self, weights: Mapping[str, float]) -> WholeTree:
        """Return the tree with weights of some labels, which count in NCP.

        Raises:
            HierarchyError: A weight is not a number, too small, too large, or of a label that names no node or several.
        """
        named = Counter(self.labels)
        problems = []
        for label, weight in weights.items():
            number = isinstance(weight, int | float) and not isinstance(weight, bool) and weight <= float_info.max
            if named[label] != 1:
                found = "no label of the hierarchy" if not named[label] else "the label of a group and of a value"
                problems.append(Problem(f'weight of "{label}"', f"this is {found}"))
            elif not number or weight < 0 or (weight == 0 and label not in self.inner_labels):
                problems.append(Problem(f'weight of "{label}"', "must be a number above 0, or 0 for a group"))
        if problems:
            raise HierarchyError(problems)
        if not np.isfinite(sum(map(float, weights.values()))):
            raise HierarchyError([Problem("weights", "add up to more than a number can hold; divide all of them")])
        return replace(self, weights=tuple((label, float(weight)) for label, weight in weights.items()))

    def _beneath(self, marked: Bool) -> tuple[Int32, Int32]:
        """Return node → how many marked nodes precede it, and how many are it or below it."""
        before = np.concatenate(([0], np.cumsum(marked))).astype(np.int32)
        return before[:-1], before[self._ends] - before[:-1]

    def path(self, node: int) -> list[str]:
        """Return the labels from a node up to the root."""
        path = []
        while node >= 0:
            path.append(self.labels[node])
            node = self.parent[node]
        return path

    def restrict(self, leaves: npt.ArrayLike | None = None, *, missing: bool = False) -> tuple[Tree, Int32]:
        """Return the tree over some leaves only, by default all, and node → code (−1 for all other nodes).

        For missing values, one more leaf is added under the root, labelled "": the last code.
        """
        if missing:
            every = np.flatnonzero(~self._is_inner) if leaves is None else np.asarray(leaves, dtype=np.int64)
            more = replace(self, labels=(*self.labels, ""), parent=(*self.parent, 0))
            tree, codes = more.restrict(np.append(every, len(self.labels)))
            return tree, codes[:-1]
        marked = ~self._is_inner
        if leaves is not None:
            marked = np.zeros(len(self.labels), dtype=np.bool_)
            marked[np.asarray(leaves, dtype=np.int64)] = True
        before, count = self._beneath(marked)
        keep = count > 0
        keep[0] = True
        kept = np.flatnonzero(keep)
        place = np.cumsum(keep, dtype=np.int32) - 1
        parent = place[np.asarray(self.parent, dtype=np.int64)[kept]]
        parent[0] = -1
        tree = Tree(
            labels=tuple([self.labels[node] for node in kept.tolist()]),
            parent=parent,
            first=before[kept],
            last=before[kept] + count[kept] - 1,
            leaf_node=place[marked],
            depth=self.depths[kept],
            height=self.heights[kept],
            whole_size=self.sizes[kept],
        )
        if (weights := self.node_weights) is not None:
            present = np.where(self._is_inner, weights, np.where(marked, weights, 0.0))[kept]
            tree = replace(
                tree,
                weight=subtree_sums(parent, present),
                whole_weight=subtree_sums(self.parent, weights)[kept],
            )
        return tree, np.where(marked, before, -1).astype(np.int32)


def grow_sorted(paths: Iterable[tuple[str, ...]]) -> tuple[WholeTree, list[int]]:
    """Return the tree of the paths that a rule made, and the leaf of each.

    Each path goes from a value up to just below the root. Paths that share their upper part are adjacent, and
    no label occurs in two places, so there is nothing to check and no label to look up.
    """
    labels, parent = [ROOT], [-1]
    leaves: list[int] = []
    above: tuple[str, ...] = ()
    before: tuple[str, ...] | None = None
    nodes = [0]
    for path in paths:
        if path == before:
            leaves.append(leaves[-1])
            continue
        before, inner = path, path[:0:-1]
        shared = 0
        for old, new in zip(above, inner, strict=False):
            if old != new:
                break
            shared += 1
        del nodes[shared + 1 :]
        for label in inner[shared:]:
            parent.append(nodes[-1])
            nodes.append(len(labels))
            labels.append(label)
        above = inner
        leaves.append(len(labels))
        parent.append(nodes[-1])
        labels.append(path[0])
    return WholeTree(tuple(labels), tuple(parent)), leaves
