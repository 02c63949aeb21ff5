"""Cut a large table into blocks: a decision tree over codes, built from a sample.

A cut costs the loss of the groups that it cuts through. So the rows of the sample are grouped first, and each cut is
placed where it splits the rows most evenly with the fewest rows in groups on both sides. Where a hierarchy
separates values near its root, groups hardly ever straddle; in the middle of a number they often do.

Cuts are on codes, which all values of the table have, so that rows unlike any in the sample have a place too. Rows
that are equal in every code are split by row number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coterie.arrays import Bool, Int32, Int64
from coterie.table.grouping import tight_boxes

if TYPE_CHECKING:
    from coterie.table.codebook import Codebook


SAMPLE = 2**16
"""the approximate maximum number of rows of a sample"""
BY_ROW = -1
"""the attribute of a cut by row number"""
FULL = 0.9  # of the rows that a block may have: a sample may be mistaken by as much
SMALLEST = 8  # blocks are not made smaller than the largest size by more than this factor, if that can be avoided
LEAST_K = 2  # groups of a sample have fewer rows than those of the table, as it has fewer


def sample_share(rows: int) -> float:
    """Return the share of a table's rows in its sample."""
    return min(1.0, SAMPLE / max(rows, 1))


def in_sample(rows: Int64, share: float) -> Bool:
    """Return row number → whether the row is in the sample, by a hash that is independent of row order."""
    if share >= 1.0:
        return np.ones(len(rows), dtype=np.bool_)
    mixed = rows.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    chosen: Bool = mixed < np.uint64(int(share * 2.0**64))
    return chosen


@dataclass(frozen=True, eq=False)
class CutTree:
    """A binary tree of cuts. A row goes left if its code (or its number) is below the cut, right otherwise."""

    attribute: Int32
    """node → quasi-identifier, or BY_ROW"""
    cut: Int64
    left: Int32
    """node → its left child, the right one follows; −1 for a leaf"""
    leaf: Int32
    """node → number of the leaf, −1 for others"""

    @classmethod
    def of(cls, attribute: list[int], cut: list[int], left: list[int], leaf: list[int]) -> CutTree:
        """Return the tree with these nodes."""
        small = (np.array(each, dtype=np.int32) for each in (left, leaf))
        return cls(np.array(attribute, dtype=np.int32), np.array(cut, dtype=np.int64), *small)

    @classmethod
    def single(cls) -> CutTree:
        """Return a tree without cuts."""
        return cls.of([0], [0], [-1], [0])

    @classmethod
    def by_row(cls, number: int) -> CutTree:
        """Return a tree that separates the rows below a number from the others."""
        return cls.of([BY_ROW, 0, 0], [number, 0, 0], [1, -1, -1], [-1, 0, 1])

    @property
    def leaves(self) -> int:
        """The number of leaves."""
        return int(self.leaf.max()) + 1

    def leaf_of(self, codes: Int32, rows: Int64) -> Int32:
        """Return row → leaf, from the rows' codes and numbers."""
        node = np.zeros(len(codes), dtype=np.int32)
        active = np.arange(len(codes))
        while len(active := active[self.left[node[active]] >= 0]):
            at = node[active]
            attribute = self.attribute[at]
            value = codes[active, attribute].astype(np.int64)
            by_row = attribute == BY_ROW
            if by_row.any():
                value[by_row] = rows[active[by_row]]
            node[active] = self.left[at] + (value >= self.cut[at])
        return self.leaf[node]

    def replace_leaf(self, leaf: int, subtree: CutTree) -> CutTree:
        """Return the tree with a leaf cut further. Its first leaf keeps its number, the others follow the last."""
        node = int(np.flatnonzero(self.leaf == leaf)[0])
        nodes = len(self.leaf)
        # The root of the subtree takes the place of the leaf, its other nodes come last.
        shift = nodes - 1
        left = np.where(subtree.left >= 0, subtree.left + shift, -1).astype(np.int32)
        numbers = np.where(subtree.leaf > 0, subtree.leaf + self.leaves - 1, subtree.leaf)
        numbers = np.where(subtree.leaf == 0, leaf, numbers).astype(np.int32)
        parts = []
        for old, new in (
            (self.attribute, subtree.attribute),
            (self.cut, subtree.cut),
            (self.left, left),
            (self.leaf, numbers),
        ):
            joined = np.concatenate([old, new[1:]])
            joined[node] = new[0]
            parts.append(joined)
        return CutTree(*parts)

    def order(self) -> tuple[Int32, Int32]:
        """Return the leaves from left to right, and the depth at which the tree separates each from the next."""
        found: list[int] = []
        depths: list[int] = []
        waiting = [(0, 0, -1)]
        while waiting:
            node, depth, before = waiting.pop()
            if self.left[node] < 0:
                found.append(int(self.leaf[node]))
                depths.append(before)
                continue
            one = int(self.left[node])
            waiting += [(one + 1, depth + 1, depth), (one, depth + 1, before)]
        return np.asarray(found, dtype=np.int32), np.asarray(depths[1:], dtype=np.int32)


def plant(codes: Int32, rows: Int64, book: Codebook, *, expected: int, most: int, threads: int = 1) -> CutTree:
    """Build a tree that cuts a table, or a leaf of another tree, into leaves of at most about `most` rows.

    It is given the codes and numbers of a sample, in row order, that represents `expected` rows. The tree does not
    depend on the number of threads.
    """
    if expected <= most or len(codes) < 2:
        return CutTree.single()
    scale = expected / len(codes)
    labels = _sample_groups(codes, book, scale, threads)
    limit = most if scale == 1.0 else FULL * most
    attribute, cut, left, leaf = [0], [0], [-1], [-1]
    waiting = [(0, np.arange(len(codes)))]
    leaves = 0
    while waiting:
        node, inside = waiting.pop()
        if len(inside) * scale <= limit or len(inside) < 2:
            leaf[node] = leaves
            leaves += 1
            continue
        by_row = BY_ROW, int(rows[inside[len(inside) // 2]])
        chosen, at = _best_cut(codes[inside], labels[inside], scale, k=book.config.k, most=most) or by_row
        first = len(left)
        attribute[node], cut[node], left[node] = chosen, at, first
        for column, blank in ((attribute, 0), (cut, 0), (left, -1), (leaf, -1)):
            column += [blank, blank]
        value = rows[inside] if chosen == BY_ROW else codes[inside, chosen]
        waiting += [(first + 1, inside[value >= at]), (first, inside[value < at])]
    return CutTree.of(attribute, cut, left, leaf)


def _sample_groups(codes: Int32, book: Codebook, scale: float, threads: int) -> Int32:
    """Return row of the sample → group, of about as many rows as a group of the table has in the sample."""
    from coterie.methods._method import Run
    from coterie.methods.compact import grow_groups
    from coterie.table.table import Table

    k = min(max(LEAST_K, round(book.config.k / scale)), book.config.k, len(codes))
    table = Table(np.ascontiguousarray(codes), book.domains, leaf_counts=book.config.leaf_counts)
    return grow_groups(table, k, Run(seed=book.config.seed, threads=threads)).labels


def _best_cut(codes: Int32, labels: Int32, scale: float, *, k: int, most: int) -> tuple[int, int] | None:
    """Return the attribute and the code with the fewest rows in straddling groups for what is cut there, if any."""
    groups, of_row = np.unique(labels, return_inverse=True)
    lo, hi = tight_boxes(codes, of_row.astype(np.int32), len(groups))
    sizes = np.bincount(of_row, minlength=len(groups))
    for least in (max(4 * k, most / SMALLEST), 4 * k):
        found = [_cut_of(codes[:, j], lo[:, j], hi[:, j], sizes, least=least / scale) for j in range(codes.shape[1])]
        cuts = [(each[1], j, each[0]) for j, each in enumerate(found) if each is not None]
        if cuts:
            return min(cuts)[1:]
    return None


def _cut_of(values: Int32, lo: Int32, hi: Int32, sizes: Int64, *, least: float) -> tuple[int, float] | None:
    """Return the best cut of one attribute and its score: rows of straddling groups per bit of information."""
    present, counts = np.unique(values, return_counts=True)
    if len(present) < 2:
        return None
    below = np.cumsum(counts)[:-1]
    across = np.zeros(len(present), dtype=np.int64)
    np.add.at(across, np.searchsorted(present, lo), sizes)
    np.subtract.at(across, np.searchsorted(present, hi), sizes)
    across = np.cumsum(across)[:-1]
    fine = np.flatnonzero(np.minimum(below, len(values) - below) >= max(least, 1.0))
    if not len(fine):
        return None
    share = below[fine] / len(values)
    scores = (across[fine] + 1.0) / -(share * np.log2(share) + (1.0 - share) * np.log2(1.0 - share))
    best = int(np.argmin(scores))
    return int(present[fine[best] + 1]), float(scores[best])
