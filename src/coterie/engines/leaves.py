"""Turn leaves with exact counts into blocks, joining small ones with a neighbour before anything is published.

Whatever the sample was like, no block has fewer than 2k rows, so each can be grouped on its own; and each block
as one group satisfies every privacy model, so the repair always terminates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from coterie.arrays import Bool, Int32, Int64
from coterie.engines.plan import Plan
from coterie.grouping.promises import models_of
from coterie.privacy.histogram import Groups, sum_pairs

if TYPE_CHECKING:
    from coterie.engines.cuts import CutTree
    from coterie.privacy.model import Model
    from coterie.table.codebook import Codebook


# Partial counts to keep before merging them.
PENDING = 2**21


class LeafCounts:
    """The number of rows in each leaf and, if privacy models need them, of each sensitive value."""

    def __init__(self, leaves: int, book: Codebook) -> None:
        self.rows: Int64 = np.zeros(leaves, dtype=np.int64)
        """leaf → rows"""
        self._sizes = [domain.size for domain in book.sensitive]
        # It only matters whether there are k people: beyond the first k of a leaf, nothing is recorded.
        entity, k = book.config.entity, book.config.k
        self._most = [k if domain.name == entity else None for domain in book.sensitive]
        self._pending: list[list[tuple[Int64, Int64]]] = [[] for _ in self._sizes]
        self._held = 0

    def add(self, leaf: Int32, sensitive: Int32) -> None:
        """Count a batch of rows, by their leaves and sensitive codes."""
        self.rows += np.bincount(leaf, minlength=len(self.rows))
        for j, size in enumerate(self._sizes):
            keys, counts = np.unique(leaf.astype(np.int64) * size + sensitive[:, j], return_counts=True)
            self.add_values(j, keys, counts)

    def add_values(self, column: int, keys: Int64, counts: Int64) -> None:
        """Add counts of pairs of leaf and sensitive value made elsewhere; a key is leaf × domain size + value."""
        self._pending[column].append((keys, counts))
        self._held += len(keys)
        if self._held > PENDING:
            for j in range(len(self._sizes)):
                self._pending[j] = [self.pairs(j)]
            self._held = 0

    def pairs(self, column: int) -> tuple[Int64, Int64]:
        """Return distinct pairs of leaf and value, as ascending keys, and their rows; for people, k of each leaf."""
        parts = self._pending[column]
        if not parts:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        keys, place = np.unique(np.concatenate([keys for keys, _ in parts]), return_inverse=True)
        counts = np.bincount(place, weights=np.concatenate([each for _, each in parts]), minlength=len(keys))
        if (most := self._most[column]) is not None:
            leaf = keys // max(self._sizes[column], 1)
            first = np.arange(len(keys)) - np.searchsorted(leaf, leaf) < most
            keys, counts = keys[first], counts[first]
        return keys, counts.astype(np.int64)


def too_large(counts: LeafCounts, most: int) -> list[int]:
    """Return the leaves that must be cut again."""
    return [int(leaf) for leaf in np.flatnonzero(counts.rows > most)]


def join_leaves(tree: CutTree, counts: LeafCounts, book: Codebook, *, most: int) -> Plan:
    """Join leaves into blocks.

    A block of fewer than 2k rows, or one that violates a privacy model as a whole, is joined with the neighbour
    that the tree separates from it last; it may then have more rows than requested. Blocks are numbered from left to
    right.
    """
    order, depths = tree.order()
    blocks = [[int(leaf)] for leaf in order]
    parted = [int(depth) for depth in depths]
    least = min(2 * book.config.k, book.rows)
    models = tuple(model for model in models_of(book.config) if model.counts != "population")
    while len(blocks) > 1:
        rows = np.array([counts.rows[leaves].sum() for leaves in blocks])
        weak = rows < least
        if not weak.any() and models:
            weak = ~_holding(blocks, counts, book, models)
        if not weak.any():
            break
        blocks, parted = _joined(blocks, parted, weak=weak, rows=rows)
    block_of_leaf = np.zeros(tree.leaves, dtype=np.int32)
    for number, leaves in enumerate(blocks):
        block_of_leaf[leaves] = number
    sizes = np.array([counts.rows[leaves].sum() for leaves in blocks], dtype=np.int64)
    return Plan(book, tree, block_of_leaf, sizes, most)


def _joined(
    blocks: list[list[int]], parted: list[int], *, weak: Bool, rows: Int64
) -> tuple[list[list[int]], list[int]]:
    """Join the deepest weak block in the tree with its nearest neighbour."""

    def choice(at: int) -> tuple[int, int, int]:
        """Return (depth of the border, rows of the other side, border): the largest depth and fewest rows win."""
        sides = []
        if at > 0:
            sides.append((parted[at - 1], -int(rows[at - 1]), -(at - 1)))
        if at < len(blocks) - 1:
            sides.append((parted[at], -int(rows[at + 1]), -at))
        return max(sides)

    chosen = max(choice(int(at)) for at in np.flatnonzero(weak))
    border = -chosen[2]
    joined = [*blocks[:border], blocks[border] + blocks[border + 1], *blocks[border + 2 :]]
    return joined, [*parted[:border], *parted[border + 1 :]]


def _holding(blocks: Sequence[Sequence[int]], counts: LeafCounts, book: Codebook, models: Sequence[Model]) -> Bool:
    """Return block → whether it satisfies every privacy model as one group."""
    number = np.empty(len(counts.rows), dtype=np.int64)
    for at, leaves in enumerate(blocks):
        number[list(leaves)] = at
    sizes = np.bincount(number, weights=counts.rows, minlength=len(blocks)).astype(np.int64)
    columns = {}
    for j, domain in enumerate(book.sensitive):
        keys, rows = counts.pairs(j)
        leaf, value = np.divmod(keys, max(domain.size, 1))
        totals = book.totals[domain.name]
        merged = sum_pairs(number[leaf], value, rows, groups=len(blocks), totals=totals, tree=domain.tree)
        columns[domain.name] = replace(merged, sizes=sizes)  # of people not all pairs are known
    groups = Groups(sizes, columns)
    holds = np.ones(len(blocks), dtype=np.bool_)
    for model in models:
        for column in model.columns(tuple(columns)):
            holds &= model.holds(groups, column)
    return holds
