"""A lower bound for the loss of every k-anonymous local recoding of a table.

A group with row r has k − 1 others, and its box costs at least as much as the box of r and any one of them:
so the group costs r at least b(r), the (k − 1)-th smallest pair cost of r. The sum over all rows bounds the loss.

It can be raised. All rows of a group cost the same, so a group with r and s costs at least
max(pair(r, s), b(s)), not only pair(r, s). Hence the group costs r at least the (k − 1)-th smallest of these over
all s, which is again a bound for each row; and so on, round by round.

And it can be turned into prices: numbers for rows that, in any group of k rows, add up to at most its loss. Their
sum is a bound as well, and a row that is expensive to hide may get a higher price if a neighbour gets a lower one
(`pricing.py`). See docs/bound.md for the proofs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from coterie.arrays import Float64, Int64
from coterie.grouping.index import Index, build_index
from coterie.grouping.pricing import Efforts, raise_prices

if TYPE_CHECKING:
    from coterie.measures.measures import Measures
    from coterie.table.grouping import Grouping
    from coterie.table.table import Table

BoundEffort: TypeAlias = Literal["quick", "good", "best"]

ROUNDS = 3
ENDLESS = 10_000
"""rounds, where time ends them"""
QUICK_PLACES = 50_000
"""distinct rows up to which prices are quick to find"""
ROUNDING = 1e-9


def row_bounds(table: Table, k: int, *, index: Index | None = None, rounds: int = ROUNDS, threads: int = 1) -> Float64:
    """Return row → its least cost (weighted NCP, all attributes together) in any group of at least k rows.

    Args:
        table: At least k rows.
        k: The minimum group size.
        index: An index over all rows, all free.
        rounds: How often to raise the bound; each round costs about as much as the first.
        threads: Number of threads; the result does not depend on it.
    """
    index = index or build_index(table)
    bounds = index.neighbour_costs(k - 1, threads=threads)
    for _ in range(rounds):
        raised = index.neighbour_costs(k - 1, threads=threads, floor=bounds)
        if (raised == bounds).all():
            break
        bounds = raised
    return bounds


def sampled_bound(table: Table, k: int, *, rows: Int64) -> float:
    """Estimate the least loss per cell (weighted NCP) of every grouping from some rows.

    Each of them is compared with all others, so for random rows this estimates the bound before it is raised.
    """
    bounds = build_index(table).neighbour_costs_of(rows, k - 1)
    return float(bounds.mean()) / max(table.attributes, 1) if len(bounds) else 0.0


def row_prices(
    table: Table,
    k: int,
    *,
    index: Index | None = None,
    guide: Grouping | None = None,
    threads: int = 1,
    effort: BoundEffort | float = "quick",
    checkpoint: Callable[[], None] = lambda: None,
) -> Float64:
    """Return row → its price: no group of at least k rows loses less than the sum of its rows' prices.

    Args:
        table: At least k rows.
        k: The minimum group size.
        index: An index over all rows, all free.
        guide: Any grouping of the rows: prices begin near its costs. A good one makes the bound higher.
        threads: Number of threads; the result does not depend on it.
        effort: How long to search for high prices, in seconds or by name. "quick" leaves tables with very many distinct
            rows at `row_bounds`. A number of seconds makes the result depend on the machine.
        checkpoint: Called between units of work; may raise.
    """
    index = index or build_index(table)
    bounds = row_bounds(table, k, index=index, threads=threads)
    places = len(index.nodes.points)
    if k < 2 or not bounds.any() or (effort == "quick" and places > QUICK_PLACES):
        return bounds
    prices = np.empty(places)
    prices[index.nodes.position] = bounds
    prices = raise_prices(
        table, index, k, prices, efforts=_efforts(effort, k), guide=guide, threads=threads, checkpoint=checkpoint
    )
    # Sums of floats are not exact.
    priced = np.asarray(prices - ROUNDING * np.abs(prices))[index.nodes.position]
    return priced if priced.sum() > bounds.sum() else bounds


def _efforts(effort: BoundEffort | float, k: int) -> Efforts:
    """Return how often to try. Small groups are soon looked through, so they are tried more often for the same time."""
    few = 10 // k
    if effort == "quick":
        return Efforts(few, 0)
    if effort == "good":
        return Efforts(few + 2, 6)
    if effort == "best":
        return Efforts(few + 4, 60)
    end = time.monotonic() + float(effort)
    return Efforts(few, ENDLESS, lambda: time.monotonic() < end)


def lower_bound(
    table: Table,
    k: int,
    *,
    index: Index | None = None,
    guide: Grouping | None = None,
    threads: int = 1,
    effort: BoundEffort | float = "quick",
    checkpoint: Callable[[], None] = lambda: None,
) -> float:
    """Return the least loss of every grouping into groups of at least k rows: weighted NCP, summed over rows."""
    prices = row_prices(table, k, index=index, guide=guide, threads=threads, effort=effort, checkpoint=checkpoint)
    return float(prices.sum())


def with_bound(measures: Measures, table: Table, *, k: int, threads: int = 1, grouped: bool = True) -> Measures:
    """Return measures with `bound` (per cell, as `gcp`) and `loss_over_bound`, computed on first access.

    The bound is for groups of the rows of the table. A suppressed row costs 1 per cell, which is no less than
    it would cost in any group, so the bound also holds with suppression. Rows published one by one (`grouped` is
    false) may lose less than any grouping, so there is no ratio for them.
    """
    bound = _Bound(table, k, threads)
    late: dict[str, Callable[[], float]] = {"bound": bound.per_cell}
    if grouped:
        late["loss_over_bound"] = partial(bound.ratio, measures["ncp"])
    return measures.with_late(**late)


@dataclass(eq=False)
class _Bound:
    """The bound of a table, computed once on first access, in whichever process."""

    table: Table
    k: int
    threads: int

    @cached_property
    def value(self) -> float:
        return lower_bound(self.table, self.k, threads=self.threads)

    def per_cell(self) -> float:
        return self.value / max(self.table.rows * self.table.attributes, 1)

    def ratio(self, ncp: float) -> float:
        return ncp / self.value if self.value > 0 else (1.0 if ncp == 0 else float("inf"))
