"""Gap costs: the papers' measures as costs of code intervals, laid out for the kernels.

The cost of an interval is the *sum* of its gaps (numbers) or the *maximum* of its gaps (trees). NCP, height ratio and
WHD are three choices of gaps:

* `ncp`     numbers (hi − lo) / range; trees size(u) / size(tree), leaves or weights, for the lowest common ancestor u,
* `height`  the same for numbers; trees height(u) / height(tree),
* `whd`     the same for numbers; trees the weights from u's level down to the leaves ÷ the weights of all levels.

Joining missing values with others costs as much as the whole domain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from coterie.arrays import Float64, Int32
from coterie.hierarchies.tree import Tree
from coterie.settings.fields.missing import LeafCounts

if TYPE_CHECKING:
    from coterie.kernels.search.costs import CostArrays
    from coterie.table.domain import Domain


# A square table for this many values takes 2 MB; a larger one would not stay in the cache.
TABLE_LIMIT = 512


@dataclass(frozen=True)
class Measure:
    """Which gaps to use: `name` as above; leaf counts for `ncp`; weights per level for `whd`."""

    name: Literal["ncp", "height", "whd"] = "ncp"
    leaf_counts: LeafCounts = "present"
    beta: float | None = None
    """whd: weight 1 / (j − 1)**beta between the levels j and j − 1, the root being level 1; None = all weights 1"""
    level_weights: tuple[float, ...] | None = None
    """whd: custom weights, from the root downwards"""
    column_weights: tuple[tuple[str, tuple[float, ...]], ...] = ()
    """whd: custom weights of single columns, which override the others"""

    def of(self, column: str) -> Measure:
        """Return the measure for one column, with that column's own weights if it has any."""
        own = dict(self.column_weights).get(column)
        return self if own is None else replace(self, level_weights=own)

    def node_costs(self, tree: Tree) -> Float64:
        """Return tree node → cost of a cell with its label (0 for leaves, and for NCP above a single leaf)."""
        if self.name == "ncp":
            whole = self.leaf_counts == "hierarchy"
            sizes = tree.sizes(whole=whole)
            single = tree.whole_size == 1 if whole else tree.last == tree.first
            share = np.where(single, 0.0, sizes / max(sizes[0], np.finfo(np.float64).tiny))
        elif self.name == "height":
            share = tree.height / max(int(tree.height[0]), 1)
        else:
            share = self._level_shares(int(tree.height[0]))[tree.depth]
        costs = np.asarray(share, dtype=np.float64).copy()
        costs[tree.leaf_node] = 0.0
        return costs

    def _level_shares(self, height: int) -> Float64:
        """Return depth of a node → weights from there down to the deepest leaves ÷ the weights of all levels."""
        weights = level_weights(height, beta=self.beta, own=self.level_weights)
        below = np.concatenate([np.cumsum(weights[::-1])[::-1], [0.0]])
        return below / below[0] if height else np.zeros(1)


def level_weights(height: int, *, beta: float | None = None, own: Sequence[float] | None = None) -> Float64:
    """Return WHD weights of a tree of this height, from the root down: entry i is between levels i + 1 and i + 2."""
    if own is not None:
        if len(own) < height:
            raise ValueError(f"{len(own)} level weights were given for a hierarchy of {height} levels below its root")
        return np.asarray(own[:height], dtype=np.float64)
    steps = np.arange(1, height + 1, dtype=np.float64)
    return np.ones(height) if beta is None else 1.0 / steps**beta


def cost_arrays(domains: Sequence[Domain], measure: Measure | None = None) -> CostArrays:
    """Return the weighted costs of all domains in the form that kernels take."""
    from coterie.kernels.search.costs import NUMBER, TABLE, TREE, CostArrays

    measure = measure or Measure()
    kinds, spans, parts = [], [], []
    for domain in domains:
        span = 1.0
        if domain.tree is None:
            numbers, span = _numbers(domain)
            small = domain.size <= TABLE_LIMIT
            kinds.append(TABLE if small else NUMBER)
            apart = domain.weight * ((numbers[None, :] - numbers[:, None]) / span) if small else numbers
            parts.append(np.minimum(apart, domain.weight).ravel() if small else numbers)
        else:
            gaps = domain.weight * measure.of(domain.name).node_costs(domain.tree)[domain.tree.gap_node]
            small = domain.size <= TABLE_LIMIT
            kinds.append(TABLE if small else TREE)
            parts.append(_tree_table(gaps, domain.size) if small else _range_maxima(gaps, domain.size))
        spans.append(span)
    sizes = [len(part) for part in parts]
    return CostArrays(
        kind=np.asarray(kinds, dtype=np.int64),
        offset=np.concatenate([[0], np.cumsum(sizes)])[:-1].astype(np.int64),
        width=np.asarray([domain.size for domain in domains], dtype=np.int64),
        span=np.asarray(spans, dtype=np.float64),
        weight=np.asarray([domain.weight for domain in domains], dtype=np.float64),
        data=np.concatenate([*parts, np.zeros(1)]),
        small=np.asarray([j for j, kind in enumerate(kinds) if kind == TABLE], dtype=np.int64),
        large=np.asarray([j for j, kind in enumerate(kinds) if kind != TABLE], dtype=np.int64),
        base=np.cumsum([0] + [d.size if kind == TABLE else 0 for d, kind in zip(domains, kinds, strict=True)]),
    )


def _numbers(domain: Domain) -> tuple[Float64, float]:
    """Return distances from the smallest value, with missing twice the range away, and the range (1 if it is 0)."""
    assert domain.numbers is not None
    numbers = domain.numbers.copy()
    present = numbers if domain.missing < 0 else numbers[:-1]
    span = float(present[-1]) if len(present) and present[-1] > 0 else 1.0
    if domain.missing >= 0:
        numbers[-1] = 2.0 * span
    return numbers, span


def _tree_table(gaps: Float64, size: int) -> Float64:
    table = np.zeros((size, size))
    for lo in range(size - 1):
        table[lo, lo + 1 :] = np.maximum.accumulate(gaps[lo:])
    return table.ravel()


def _range_maxima(gaps: Float64, size: int) -> Float64:
    """Build a sparse table: row j has, for each code, the largest of the 2**j gaps from there. Rows are `size` wide."""
    levels = [np.append(gaps, 0.0)]
    width = 1
    while 2 * width <= len(gaps):
        before = levels[-1]
        level = before.copy()
        level[:-width] = np.maximum(before[:-width], before[width:])
        levels.append(level)
        width *= 2
    return np.concatenate(levels)


def interval_costs(
    domain: Domain, lo: Int32, hi: Int32, measure: Measure | None = None, *, node: Int32 | None = None
) -> Float64:
    """Return the unweighted costs of many intervals of one domain, computed without kernels.

    `node` gives the tree nodes whose labels are published, −1 or None for the lowest that cover the intervals.
    """
    measure = measure or Measure()
    if domain.tree is not None:
        lowest = domain.tree.common_ancestor(lo, hi)
        published = lowest if node is None else np.where(node >= 0, node, lowest)
        return measure.of(domain.name).node_costs(domain.tree)[published]
    numbers, span = _numbers(domain)
    return np.minimum((numbers[hi] - numbers[lo]) / span, 1.0)
