"""Generalization levels: an attribute's own values at the bottom, its root at the top.

At one level, a code stands for an interval of codes. A tree is cut at one depth, counted from its root, so in a
ragged tree a value stays itself until the cut reaches it. A number without a hierarchy is cut into equal
intervals: 2, 4, 8, … over its range. Intervals of one level lie within those of the level above.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coterie.arrays import Int32
from coterie.hierarchies.tree import Tree

if TYPE_CHECKING:
    from coterie.table.domain import Domain


@dataclass(frozen=True, eq=False)
class Levels:
    """The levels of one attribute, lowest first, without levels that group values exactly as the one below."""

    heights: tuple[int, ...]
    """level → its height: 0 for the values themselves, the hierarchy's height for the root"""
    first: Int32
    """[level, code] → smallest code of its interval"""
    last: Int32
    """[level, code] → largest code of its interval"""
    node: Int32 | None
    """trees only: [level, code] → tree node"""

    def __len__(self) -> int:
        return len(self.heights)


def levels_of(domain: Domain, *, number_levels: int) -> Levels:
    """Return an attribute's levels; a number without a hierarchy has `number_levels` between value and root."""
    if domain.tree is not None:
        return _tree_levels(domain.tree)
    return _number_levels(domain, number_levels)


def _tree_levels(tree: Tree) -> Levels:
    height = int(tree.height[0])
    nodes = np.array([tree.ancestor_at(height - level) for level in range(height + 1)], dtype=np.int32)
    return _without_repeats(tree.first[nodes], tree.last[nodes], nodes)


def _number_levels(domain: Domain, between: int) -> Levels:
    assert domain.numbers is not None
    size = domain.size
    present = domain.numbers if domain.missing < 0 else domain.numbers[:-1]
    every = np.arange(size, dtype=np.int32)
    first, last = [every], [every]
    span = float(present[-1]) if len(present) and present[-1] > 0 else 1.0
    for step in range(between, 0, -1):
        # Scaling by a power of two is exact: an interval never straddles one of the level above.
        parts = 2.0**step
        place = np.minimum(np.floor(present / span * parts), parts - 1)
        low = np.searchsorted(place, place, side="left")
        high = np.searchsorted(place, place, side="right") - 1
        # A missing value, always the last code, stays itself below the root.
        first.append(np.append(low, every[len(present) :]).astype(np.int32))
        last.append(np.append(high, every[len(present) :]).astype(np.int32))
    first.append(np.zeros(size, dtype=np.int32))
    last.append(np.full(size, size - 1, dtype=np.int32))
    return _without_repeats(np.array(first), np.array(last), None)


def _without_repeats(first: Int32, last: Int32, node: Int32 | None) -> Levels:
    new = [level for level in range(len(first)) if level == 0 or (first[level] != first[level - 1]).any()]
    return Levels(
        tuple(new),
        np.ascontiguousarray(first[new]),
        np.ascontiguousarray(last[new]),
        None if node is None else np.ascontiguousarray(node[new]),
    )
