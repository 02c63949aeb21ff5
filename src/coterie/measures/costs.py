"""The cost of a published cell, computed directly from the values and the tree.

Methods look costs up in tables made for kernels. Measures judge, so they compute costs independently.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coterie.arrays import Bool, Float64, Int32, Int64
from coterie.errors import ConfigError, Problem
from coterie.hierarchies.tree import Tree
from coterie.settings.fields.missing import LeafCounts

if TYPE_CHECKING:
    from coterie.table.domain import Domain


class IntervalCosts(NamedTuple):
    """The cost of each of many intervals of one column, from 0 (a single value) to 1 (any value)."""

    ncp: Float64
    """width ÷ range, or leaves (weights) under the common ancestor ÷ all"""
    changed: Bool
    """whether the published cell differs from the value"""
    distortion: Float64
    """width ÷ range, or WHD with uniform or custom level weights"""
    height_distortion: Float64
    """width ÷ range, or WHD with weights 1 ÷ (level − 1)**β"""
    height_loss: Float64
    """width ÷ range, or height of the common ancestor ÷ height of the tree"""
    set_loss: Float64
    """(values left open − 1) ÷ (values of the column − 1)"""
    left_open: Float64
    """`set_loss` of cells that are sets, `ncp` of all others: what a reader cannot tell"""


def interval_costs(
    domain: Domain,
    *,
    lo: Int32,
    hi: Int32,
    node: Int32 | None = None,
    listed: Int64 | None = None,
    leaf_counts: LeafCounts = "present",
    beta: float = 1.0,
    level_weights: Sequence[float] | None = None,
) -> IntervalCosts:
    """Compute the costs of the intervals lo … hi of a column's codes.

    `node` gives the tree nodes whose labels are published, −1 or None for the lowest that cover the intervals. A label
    above a single present value says less than the value: it counts by its level, and by all its leaves.
    `listed` gives the number of values in the published sets, 0 or None for cells that are not sets.
    """
    if domain.tree is None:
        share, width = _width_shares(domain, lo, hi), np.where(_joins_missing(domain, lo, hi), domain.size, hi - lo + 1)
        return _with_open_shares(domain, width, listed, (share, hi > lo, share, share, share))
    tree = domain.tree
    lowest = tree.common_ancestor(lo, hi)
    node = lowest if node is None else np.where(node >= 0, node, lowest)
    changed = tree.leaf_node[tree.first[node]] != node
    steps, beneath = int(tree.height[0]), tree.last[node] - tree.first[node] + 1
    if leaf_counts == "present":
        leaves, sizes = beneath, tree.last - tree.first + 1 if tree.weight is None else tree.weight
    else:
        leaves, sizes = tree.whole_size[node], tree.whole_size if tree.whole_weight is None else tree.whole_weight
    uniform = _own_weights(level_weights, steps, domain.name) if level_weights is not None else np.ones(steps)
    by_height = 1.0 / np.arange(1, steps + 1, dtype=np.float64) ** beta
    costs = (
        np.where(changed & (leaves > 1), sizes[node] / sizes[0], 0.0),
        changed,
        np.where(changed, whd(tree, node, uniform), 0.0),
        np.where(changed, whd(tree, node, by_height), 0.0),
        np.where(changed, tree.height[node] / max(steps, 1), 0.0),
    )
    return _with_open_shares(domain, beneath, listed, costs)


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
    # Missing values have no number: a placeholder avoids NaN and is overwritten below.
    numbers = np.append(present, 0.0) if domain.missing >= 0 else present
    shares = (numbers[hi] - numbers[lo]) / span if span > 0 else np.zeros(len(lo))
    return np.where(_joins_missing(domain, lo, hi), 1.0, np.where(hi > lo, shares, 0.0))


def _joins_missing(domain: Domain, lo: Int32, hi: Int32) -> Bool:
    joined: Bool = (hi > lo) & (hi == domain.missing)
    return joined


def _with_open_shares(
    domain: Domain, between: Int64, listed: Int64 | None, costs: tuple[Float64, Bool, Float64, Float64, Float64]
) -> IntervalCosts:
    """Add the share of other values left open: members of a set, or all between ends or under a label."""
    sets = np.zeros(len(between), dtype=np.bool_) if listed is None else listed > 0
    values = between if listed is None else np.where(sets, listed, between)
    shares: Float64 = (values - 1) / max(domain.size - 1, 1)
    return IntervalCosts(*costs, shares, np.where(sets, shares, costs[0]))


def _own_weights(weights: Sequence[float], steps: int, column: str) -> Float64:
    own = np.asarray(weights, dtype=np.float64)
    if len(own) != steps or not (np.isfinite(own) & (own >= 0)).all() or (steps and own.sum() <= 0):
        text = f"needs {steps} weights of at least 0, not all 0, from the root downwards; {len(own)} were given"
        raise ConfigError([Problem(f"level_weights.{column}", text)])
    return own
