"""Prices to begin with: near the costs of a grouping, and as high as can be made feasible with little work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coterie.arrays import Float64
from coterie.grouping.feasible import LITTLE, try_prices
from coterie.grouping.index import Index

if TYPE_CHECKING:
    from coterie.table.grouping import Grouping
    from coterie.table.table import Table

SUMS = tuple(1.06**step for step in range(1, 14))
"""sums to try, in units of the sum at the start"""
KEPT = 0.95
"""share of a sum that should be feasible: where it is less, lower prices give nearly as much, sooner"""
MOST = 0.9
"""and at most this share of the guide's loss"""
SAMPLE = 384
"""places to try them on"""
EACH, MOST_EACH, ALL = 400, 10_000, 400_000_000
"""candidates to look at: so many for each row of a group, but no more for a place on average, nor for all places"""


def first_prices(
    table: Table, index: Index, k: int, start: Float64, *, least: Float64, guide: Grouping | None
) -> Float64 | None:
    """Return place → price, not yet feasible, or None if even low prices would take too much work.

    The higher prices are, the more groups violate them and the longer the search for these takes, by far the most with
    several columns of numbers. So a sample of places shows how high to begin: it decides what is tried, not what holds.
    """
    weights = np.diff(index.nodes.row_start).astype(np.float64)
    shape, loss = _shape(index, guide, start)
    size = len(start)
    places = np.unique(np.linspace(0, size - 1, min(SAMPLE, size)).astype(np.int32))
    allowed = min(EACH * k, MOST_EACH, ALL / size)
    prices = None
    for times in SUMS:
        tried = shape * min(times * float(weights @ start), MOST * loss)
        lowered, work = try_prices(table, index, k, tried, least=least, work=LITTLE, places=places)
        kept = weights[places] @ lowered >= KEPT * (weights[places] @ tried[places])
        if work.mean() > allowed or not (kept or prices is None):
            break
        prices = tried
    return prices


def _shape(index: Index, guide: Grouping | None, start: Float64) -> tuple[Float64, float]:
    """Return place → share of all prices, halfway between the start and the guide's costs, and the guide's loss.

    What a group of the guide costs is divided among its rows in proportion to their prices at the start.
    """
    from coterie.kernels.search.costs import box_costs

    weights = np.diff(index.nodes.row_start)
    alone = start[index.nodes.position]
    least = float(alone.sum())
    if guide is None:
        return start / least, np.inf
    costs = alone.copy()  # rows that the guide suppresses keep to their start
    kept = guide.labels >= 0
    groups = guide.labels[kept]
    shares = alone[kept] + 1e-3 * start.mean()
    of_group = np.bincount(groups, weights=shares, minlength=guide.groups)
    losses = guide.sizes * box_costs(index.costs, guide.lo, guide.hi)
    costs[kept] = shares / of_group[groups] * losses[groups]
    guided = np.bincount(index.nodes.position, weights=costs, minlength=len(start)) / weights
    loss = float(costs.sum())
    return (0.5 * (guided / loss + start / least), loss) if loss > 0 else (start / least, np.inf)
