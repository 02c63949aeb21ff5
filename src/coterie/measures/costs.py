"""The cost of a published cell, computed directly from the values and the tree.

Methods look costs up in tables made for kernels. Measures judge, so they compute costs independently.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from coterie.arrays import Bool, Float64, Int32
from coterie.errors import ConfigError, Problem
from coterie.hierarchies.tree import Tree

if TYPE_CHECKING:
    from coterie.table.domain import Domain

LeafCounts = Literal["present", "hierarchy"]


class IntervalCosts(NamedTuple):
    """The cost of each of many intervals of one column, from 0 (a single value) to 1 (any value)."""

    ncp: Float64
    """width ÷ range, or leaves under the common ancestor ÷ all leaves"""
    height: Float64
    """width ÷ range, or height of the common ancestor ÷ height of the tree"""
    distortion: Float64
    """width ÷ range, or WHD with uniform or custom level weights"""
    height_distortion: Float64
    """width ÷ range, or WHD with weights 1 ÷ (level − 1)**β"""
    changed: Bool
    """whether the published cell differs from the value"""


def interval_costs(
    domain: Domain,
    *,
    lo: Int32,
    hi: Int32,
    node: Int32 | None = None,
    leaf_counts: LeafCounts = "present",
    beta: float = 1.0,
    level_weights: Sequence[float] | None = None,
) -> IntervalCosts:
    """Compute the costs of the intervals lo … hi of a column's codes.

    `node` gives the tree nodes whose labels are published, −1 or None for the lowest that cover the intervals. A label
    above a single present value says less than the value: it counts by its level, and by all its leaves.
    """
    if domain.tree is None:
        share = _width_shares(domain, lo, hi)
        return IntervalCosts(share, share, share, share, hi > lo)
    tree = domain.tree
    lowest = tree.common_ancestor(lo, hi)
    node = lowest if node is None else np.where(node >= 0, node, lowest)
    changed = tree.leaf_node[tree.first[node]] != node
    steps = int(tree.height[0])
    if leaf_counts == "present":
        under, every = tree.last[node] - tree.first[node] + 1, tree.leaves
    else:
        under, every = tree.whole_size[node], int(tree.whole_size[0])
    uniform = _own_weights(level_weights, steps, domain.name) if level_weights is not None else np.ones(steps)
    by_height = 1.0 / np.arange(1, steps + 1, dtype=np.float64) ** beta
    return IntervalCosts(
        np.where(changed & (under > 1), under / every, 0.0),
        np.where(changed, tree.height[node] / max(steps, 1), 0.0),
        np.where(changed, whd(tree, node, uniform), 0.0),
        np.where(changed, whd(tree, node, by_height), 0.0),
        changed,
    )


def whd(tree: Tree, node: Int32, weights: Float64) -> Float64:
    """Return the weighted hierarchical distance from the lowest level of a tree up to each node.

    `weights[i]` lies between the levels i + 1 and i + 2, the root being level 1. A leaf above the
    lowest level counts as if its value were on every level below as well.
    """
    if len(weights) == 0:
        return np.zeros(len(node))
    below = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
    shares: Float64 = below[tree.depth[node]] / below[0]
    return shares


def _width_shares(domain: Domain, lo: Int32, hi: Int32) -> Float64:
    """Return (hi − lo) ÷ range of the column; 1 if missing values are joined with others."""
    assert domain.numbers is not None
    present = domain.numbers if domain.missing < 0 else domain.numbers[:-1]
    span = float(present[-1] - present[0]) if len(present) else 0.0
    # Missing values have no number: their place is filled so that no NaN arises, then overruled.
    numbers = np.append(present, 0.0) if domain.missing >= 0 else present
    shares = (numbers[hi] - numbers[lo]) / span if span > 0 else np.zeros(len(lo))
    joined = (hi > lo) & (hi == domain.missing)
    return np.where(joined, 1.0, np.where(hi > lo, shares, 0.0))


def _own_weights(weights: Sequence[float], steps: int, column: str) -> Float64:
    own = np.asarray(weights, dtype=np.float64)
    if len(own) != steps or not (np.isfinite(own) & (own >= 0)).all() or (steps and own.sum() <= 0):
        text = f"needs {steps} weights of at least 0, not all 0, from the root downwards; {len(own)} were given"
        raise ConfigError([Problem(f"level_weights.{column}", text)])
    return own
