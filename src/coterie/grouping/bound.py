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

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from coterie.arrays import Float64, Int64
from coterie.grouping.index import Index, build_index
from coterie.grouping.pricing import raise_prices

if TYPE_CHECKING:
    from coterie.measures.measures import Measures
    from coterie.table.table import Table

BoundEffort: TypeAlias = Literal["quick", "good", "best"]

ROUNDS = 3
TRIES: dict[BoundEffort, tuple[int, int]] = {"quick": (3, 0), "good": (6, 8), "best": (8, 60)}
"""how often to raise prices and make them feasible; and how often to optimize them on the violating groups"""
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
    threads: int = 1,
    effort: BoundEffort = "quick",
    checkpoint: Callable[[], None] = lambda: None,
) -> Float64:
    """Return row → its price: no group of at least k rows loses less than the sum of its rows' prices.

    Args:
        table: At least k rows.
        k: The minimum group size.
        index: An index over all rows, all free.
        threads: Number of threads; the result does not depend on it.
        effort: How long to search for high prices: "quick" leaves tables with very many distinct rows at `row_bounds`.
        checkpoint: Called between units of work; may raise.
    """
    index = index or build_index(table)
    bounds = row_bounds(table, k, index=index, threads=threads)
    places = len(index.nodes.points)
    if k < 2 or not bounds.any() or (effort == "quick" and places > QUICK_PLACES):
        return bounds
    prices = np.empty(places)
    prices[index.nodes.position] = bounds
    tries, rounds = TRIES[effort]
    prices = raise_prices(table, index, k, prices, tries=tries, rounds=rounds, threads=threads, checkpoint=checkpoint)
    # Sums of floats are not exact.
    priced = np.asarray(prices - ROUNDING * np.abs(prices))[index.nodes.position]
    return priced if priced.sum() > bounds.sum() else bounds


def lower_bound(
    table: Table,
    k: int,
    *,
    index: Index | None = None,
    threads: int = 1,
    effort: BoundEffort = "quick",
    checkpoint: Callable[[], None] = lambda: None,
) -> float:
    """Return the least loss of every grouping into groups of at least k rows: weighted NCP, summed over rows."""
    return float(row_prices(table, k, index=index, threads=threads, effort=effort, checkpoint=checkpoint).sum())


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
