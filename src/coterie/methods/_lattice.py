"""The lattice of generalization levels: all combinations of one level per attribute, and which are k-anonymous.

A node is k-anonymous only if it is so on every subset of the attributes (subset property), and everything above a
k-anonymous node is k-anonymous (generalization property). Both also hold if some rows may stay in small groups.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from coterie.arrays import Bool, Float64, Int64
from coterie.errors import ConfigError, Problem
from coterie.hierarchies.levels import Levels, levels_of
from coterie.methods._method import Run
from coterie.table.table import Table

if TYPE_CHECKING:
    from coterie.kernels.methods.incognito import Packing


# Int64 of the lattices of all subsets together; a byte each.
NODE_LIMIT = 2**28


class Lattice:
    """The levels of a table's attributes, and its distinct rows packed for counting."""

    def __init__(self, table: Table, *, number_levels: int) -> None:
        from coterie.kernels.methods.incognito import pack

        self.levels = [levels_of(domain, number_levels=number_levels) for domain in table.domains]
        self.shape = tuple(len(levels) for levels in self.levels)
        # An attribute with one value has nothing to generalize.
        self.attributes = tuple(j for j, size in enumerate(self.shape) if size > 1)
        self.counted = 0
        """the number of nodes that the last search had to count"""
        total = math.prod(self.shape[j] + 1 for j in self.attributes)
        if total > NODE_LIMIT:
            problem = (
                f"the levels of {len(self.attributes)} columns make {total:,} combinations, more than incognito "
                f"searches ({NODE_LIMIT:,}); take fewer columns, hierarchies with fewer levels, or another method"
            )
            raise ConfigError([Problem("quasi", problem)])
        self.packing, words = _packing(self.levels)
        self.keys = pack(table.distinct.codes, self.packing, words)
        self.counts = table.distinct.counts.astype(np.int64)

    def anonymous(self, k: int, *, allowed: int, run: Run) -> Bool:
        """Return node → whether at most `allowed` rows are in groups of fewer than k; one axis per attribute."""
        self.counted = 0
        before: dict[tuple[int, ...], Bool] = {}
        done, total = 0, 2 ** len(self.attributes) - 1
        with ThreadPoolExecutor(max(run.threads, 1)) as pool:
            for size in range(1, len(self.attributes) + 1):
                subsets = list(combinations(self.attributes, size))
                found: dict[tuple[int, ...], Bool] = {}

                def search(subset: tuple[int, ...], below: dict[tuple[int, ...], Bool] = before) -> tuple[Bool, int]:
                    run.checkpoint()
                    return self._search(subset, below, k, allowed)

                for subset, (anonymous, counted) in zip(subsets, pool.map(search, subsets), strict=True):
                    found[subset] = anonymous
                    self.counted += counted
                    done += 1
                    run.progress("searching levels", done, total)
                before = found
        every = before.get(self.attributes, np.ones((), dtype=np.bool_))
        return every.reshape(self.shape)

    def _search(
        self, subset: tuple[int, ...], below: dict[tuple[int, ...], Bool], k: int, allowed: int
    ) -> tuple[Bool, int]:
        """Search the lattice of some attributes, given those of all subsets that lack one of them."""
        from coterie.kernels.methods.incognito import search

        shape = tuple(self.shape[j] for j in subset)
        candidate = np.ones(shape, dtype=np.bool_)
        if len(subset) > 1:
            for axis in range(len(subset)):
                candidate &= np.expand_dims(below[subset[:axis] + subset[axis + 1 :]], axis)
        anonymous, counted = search(
            self.keys,
            self.counts,
            self.packing,
            np.asarray(subset, dtype=np.int64),
            np.asarray(shape, dtype=np.int64),
            candidate.ravel(),
            k,
            allowed,
        )
        return anonymous.reshape(shape), int(counted)

    def losses(self, node: Int64, costs: Sequence[Float64], *, whole: float, k: int) -> tuple[float, int]:
        """Return the loss of a node with these costs ([level, code] for each attribute), and its discernability."""
        from coterie.kernels.methods.incognito import node_loss

        flat = np.concatenate([cost.ravel() for cost in costs])
        levels = np.ascontiguousarray(node)  # rows of `argwhere` are strided
        loss, discernability = node_loss(self.keys, self.counts, self.packing, levels, flat, whole, k)
        return float(loss), int(discernability)


def minimal(anonymous: Bool) -> Bool:
    """Return node → whether it is k-anonymous and generalizes no other node that is."""
    above = np.zeros_like(anonymous)
    for axis in range(anonymous.ndim):
        upper, lower = np.moveaxis(above, axis, 0), np.moveaxis(anonymous, axis, 0)
        upper[1:] |= lower[:-1]
    return anonymous & ~above


def _packing(levels: Sequence[Levels]) -> tuple[Packing, int]:
    """Assign the attributes' codes to bits of 64-bit words; return the positions and the number of words."""
    from coterie.kernels.methods.incognito import Packing

    widths = [levels_of_one.first.shape[1] for levels_of_one in levels]
    bits = [max((width - 1).bit_length(), 1) for width in widths]
    word, shift, used = [0], [0], bits[0]
    for need in bits[1:]:
        full = used + need > 64
        word.append(word[-1] + full)
        shift.append(0 if full else used)
        used = need if full else used + need
    sizes = [levels_of_one.first.size for levels_of_one in levels]
    packing = Packing(
        word=np.asarray(word, dtype=np.int64),
        shift=np.asarray(shift, dtype=np.uint64),
        mask=np.asarray([2**need - 1 for need in bits], dtype=np.uint64),
        start=np.concatenate([[0], np.cumsum(sizes)])[:-1].astype(np.int64),
        width=np.asarray(widths, dtype=np.int64),
        rep=np.concatenate([levels_of_one.first.ravel() for levels_of_one in levels]).astype(np.uint64),
    )
    return packing, word[-1] + 1
