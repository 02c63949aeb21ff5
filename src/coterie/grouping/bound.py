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
from typing import TYPE_CHECKING

import numpy as np

from coterie.arrays import Float64, Int64
from coterie.grouping.index import Index, build_index
from coterie.grouping.pricing import GUIDED, Efforts, raise_prices

if TYPE_CHECKING:
    from coterie.table.grouping import Grouping
    from coterie.table.table import Table

ROUNDS, QUICK_ROUNDS = 3, 1
"""in which the bound is raised: alone, and where prices begin"""
EFFORTS = {"quick": 0, "good": 4, "best": 60}
"""rounds, at most"""
MOST_WORK = 20_000_000_000
"""candidates to look at, about, after which no further round begins: some minutes"""
ENDLESS = 10_000
"""rounds, where time ends them"""
QUICK_PLACES = 400_000
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
    guide: Callable[[], Grouping] | None = None,
    threads: int = 1,
    effort: str | float = "quick",
    checkpoint: Callable[[], None] = lambda: None,
) -> Float64:
    """Return row → its price: no group of at least k rows loses less than the sum of its rows' prices.

    Args:
        table: At least k rows.
        k: The minimum group size.
        index: An index over all rows, all free.
        guide: Makes any grouping of the rows: prices begin near its costs. A good one makes the bound higher.
        threads: Number of threads; the result does not depend on it.
        effort: How long to search for high prices: quick, good, best, or a number of seconds. "quick" leaves tables
            with very many distinct rows at `row_bounds`. With seconds, the result depends on the machine; otherwise
            the search ends after a certain amount of work, which is the same everywhere.
        checkpoint: Called between units of work; may raise.
    """
    index = index or build_index(table)
    places = len(index.nodes.points)
    only_raised = k < 2 or (effort == "quick" and places > QUICK_PLACES)
    bounds = row_bounds(table, k, index=index, rounds=ROUNDS if only_raised else QUICK_ROUNDS, threads=threads)
    if only_raised or not bounds.any():
        return bounds
    prices = np.empty(places)
    prices[index.nodes.position] = bounds
    prices = raise_prices(
        table,
        index,
        k,
        prices,
        efforts=_efforts(effort, k, sum(domain.tree is None for domain in table.domains)),
        guide=guide() if guide and (k >= GUIDED or effort != "quick") else None,
        threads=threads,
        checkpoint=checkpoint,
    )
    # Sums of floats are not exact.
    priced = np.asarray(prices - ROUNDING * np.abs(prices))[index.nodes.position]
    if effort != "quick":
        bounds = row_bounds(table, k, index=index, threads=threads)
    return priced if priced.sum() > bounds.sum() else bounds


def _efforts(effort: str | float, k: int, numbers: int) -> Efforts:
    """Return how often to try. Small groups are soon looked through, so they are tried more often for the same time.

    Every column of numbers is searched in two directions with many steps each, which takes longer.
    """
    tries = 12 // k // max(numbers, 1)
    if effort in EFFORTS:
        return Efforts(tries, EFFORTS[str(effort)], MOST_WORK)
    end = time.monotonic() + float(effort)
    return Efforts(tries, ENDLESS, goes_on=lambda: time.monotonic() < end)


def lower_bound(
    table: Table,
    k: int,
    *,
    index: Index | None = None,
    guide: Callable[[], Grouping] | None = None,
    threads: int = 1,
    effort: str | float = "quick",
    checkpoint: Callable[[], None] = lambda: None,
) -> float:
    """Return the least loss of every grouping into groups of at least k rows: weighted NCP, summed over rows."""
    prices = row_prices(table, k, index=index, guide=guide, threads=threads, effort=effort, checkpoint=checkpoint)
    return float(prices.sum())
