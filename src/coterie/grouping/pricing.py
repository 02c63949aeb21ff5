"""Prices of rows whose sum is a lower bound on the loss of every grouping.

Prices are feasible if in no group of k rows they add up to more than these rows' loss. Then
no grouping loses less than the sum of all prices; see docs/bound.md for the proof. Good prices are found on a pool of
groups, by ascent; they are made exact by lowering each price as far as any group of the table requires
(`kernels/search/prices.py`). These groups join the pool, and so on.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coterie.arrays import Float64, Int32, Int64
from coterie.grouping.index import Index

if TYPE_CHECKING:
    from coterie.table.grouping import Grouping
    from coterie.table.table import Table

OVERSHOOT = (0.12, 0.85)
"""the share by which prices are raised before they are made feasible again, and what becomes of it from try to try"""
LIKELY, MOST = 0.35, 1.45
"""where the best sum of prices is likely to lie: part of the way from the start to a grouping's loss, within limits"""
MANY = 30
"""rows of a group from which prices far too high take long to lower"""
FIRST_REACH = 0.3
"""how far prices initially move towards what the pool allows"""
STEPS = 60
"""of the ascent, in each round"""
WAVES, PIECES = 16, 8
"""in which prices are made feasible: one after another, and at the same time"""
MUCH = 2_000_000
"""rows to look at for one place"""
ROUNDING = 1e-12
AMBITION = 0.03
"""the ascent assumes that the best sum is this much higher than the best found"""


class Efforts(NamedTuple):
    """How often to try for higher prices."""

    tries: int
    """how often to raise prices and make them feasible again"""
    rounds: int
    """how often, after that, to optimize prices on the violating groups and make them feasible"""
    goes_on: Callable[[], bool] = lambda: True
    """whether there is time for another round"""


class _Pool(NamedTuple):
    """Groups of at least k rows, as entries (place, rows of it)."""

    places: Int64
    counts: Float64
    group: Int64
    """entry → group"""
    costs: Float64
    """group → cost of one row"""
    sizes: Float64
    """group → rows"""


def raise_prices(
    table: Table,
    index: Index,
    k: int,
    start: Float64,
    *,
    efforts: Efforts,
    guide: Grouping | None = None,
    threads: int = 1,
    checkpoint: Callable[[], None] = lambda: None,
) -> Float64:
    """Return place → feasible price of one of its rows, with a sum at least as high as that of the start.

    Args:
        table: The rows.
        index: An index over all rows.
        k: The minimum group size.
        start: Place → feasible price.
        efforts: How often to try.
        guide: Any grouping of the rows. The better it is, the nearer the first prices are to the best ones.
        threads: Number of threads; the result does not depend on it.
        checkpoint: Called between units of work; may raise.
    """
    weights = np.diff(index.nodes.row_start).astype(np.float64)
    best, reach, tries = start, FIRST_REACH, efforts.tries
    least = start * (1 - ROUNDING)
    if guide is None:
        pool, tried = _NOTHING, (1.5 if k < MANY else 1.2) * start
    else:
        pool = _pool_of_grouping(table, index, guide)
        tried = _guess(pool, weights, start)
    for turn in count(1):
        checkpoint()
        lowered, broken = feasible_prices(table, index, k, tried, least=least, threads=threads)
        if efforts.rounds:
            pool = _joined(pool, _pool_of(index, broken, k))
        better = weights @ lowered > weights @ best
        if better:
            best = lowered
        elif turn == 1:  # a poor guide: begin at the start after all
            tries += 1
        if turn > tries + 1:
            reach = min(1.0, 1.5 * reach) if better else 0.5 * reach
        checkpoint()
        if turn <= tries:
            tried = (1 + OVERSHOOT[0] * OVERSHOOT[1] ** (turn - 1)) * np.maximum(best, 0.0)
        elif turn <= tries + efforts.rounds and len(pool.costs) and efforts.goes_on():
            tried = best + reach * (_ascend(pool, weights, best) - best)
        else:
            break
    return best


def _guess(pool: _Pool, weights: Float64, start: Float64) -> Float64:
    """Return place → price to begin with: halfway between the start and the guide's costs, both at a likely sum.

    What a group of the guide costs is divided among its rows in proportion to their prices at the start.
    """
    floor = start + 1e-3 * start.mean()
    shares = floor[pool.places] * pool.counts
    of_group = np.bincount(pool.group, weights=shares, minlength=len(pool.costs))
    costs = (shares / of_group[pool.group]) * (pool.sizes * pool.costs)[pool.group]
    held = np.bincount(pool.places, weights=pool.counts, minlength=len(start))
    # Rows that the guide suppresses keep to their start.
    guided = (np.bincount(pool.places, weights=costs, minlength=len(start)) + (weights - held) * start) / weights
    least, loss = float(weights @ start), float(weights @ guided)
    likely = min(least + LIKELY * (loss - least), MOST * least)
    return 0.5 * likely * (guided / loss + start / least) if loss > least > 0 else start


def feasible_prices(
    table: Table, index: Index, k: int, prices: Float64, *, least: Float64, work: int = MUCH, threads: int = 1
) -> tuple[Float64, tuple[Int32, Int32]]:
    """Lower prices until they are feasible; also return the worst violating group of each place.

    Low prices are lowered first, wave by wave: rows with higher prices then need to be lowered less.

    Args:
        table: The rows.
        index: An index over all rows.
        k: The minimum group size.
        prices: Place → price of one of its rows, any number.
        least: Place → what any group with it costs at least.
        work: About how many rows to look at for one place. If that is too few, its price is lower than necessary.
        threads: Number of threads; the result does not depend on it.
    """
    from coterie.kernels.search.candidates import Priced
    from coterie.kernels.search.costs import box_costs
    from coterie.kernels.search.prices import Found, lower_prices

    size = len(prices)
    rank = np.empty(size, dtype=np.int64)
    order = np.lexsort((np.arange(size), -prices))
    rank[order] = np.arange(size)
    numbers = np.asarray([domain.tree is None for domain in table.domains], dtype=np.int64)
    # Boxes that are wide in one attribute only.
    wide = np.diag([domain.size - 1 for domain in table.domains]).astype(np.int32)
    whole = box_costs(index.costs, np.zeros_like(wide), wide)
    current = prices.copy()
    priced = Priced(k, current, rank, least, numbers, whole)
    shape = (size, min(k, size))
    found = Found(prices.copy(), np.zeros(shape, dtype=np.int32), np.zeros(shape, dtype=np.int32))

    def piece(places: Int32) -> None:
        lower_prices(index.nodes, index.costs, priced, places, found, work)

    with ThreadPoolExecutor(max(threads, 1)) as workers:
        for wave in np.array_split(order[::-1].astype(np.int32), min(WAVES, size)):
            list(workers.map(piece, [np.ascontiguousarray(wave[i::PIECES]) for i in range(min(PIECES, len(wave)))]))
            current[wave] = found.lowered[wave]
    return found.lowered, (found.group_places, found.group_counts)


def _pool_of(index: Index, broken: tuple[Int32, Int32], k: int) -> _Pool:
    """Return the violating groups."""
    from coterie.kernels.search.costs import box_costs

    places, counts = broken
    used = counts[:, 0] > 0
    places, counts = places[used], counts[used]
    rows = counts > 0
    points = index.nodes.points[places]
    low = np.where(rows[:, :, None], points, np.iinfo(np.int32).max).min(axis=1, initial=np.iinfo(np.int32).max)
    high = np.where(rows[:, :, None], points, -1).max(axis=1, initial=-1)
    costs = box_costs(index.costs, np.ascontiguousarray(low), np.ascontiguousarray(high))
    group = np.repeat(np.arange(len(places)), rows.sum(axis=1))
    sizes = np.full(len(places), float(k))
    return _Pool(places[rows].astype(np.int64), counts[rows].astype(np.float64), group, costs, sizes)


def _pool_of_grouping(table: Table, index: Index, grouping: Grouping) -> _Pool:
    """Return the groups of a grouping."""
    from coterie.kernels.search.costs import box_costs

    kept = grouping.labels >= 0
    places = len(index.nodes.points)
    entries = grouping.labels[kept].astype(np.int64) * places + index.nodes.position[kept]
    entries, counts = np.unique(entries, return_counts=True)
    costs = box_costs(index.costs, grouping.lo, grouping.hi)
    group, place = np.divmod(entries, places)
    return _Pool(place, counts.astype(np.float64), group, costs, grouping.sizes.astype(np.float64))


_NOTHING = _Pool(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))


def _joined(one: _Pool, two: _Pool) -> _Pool:
    return _Pool(
        np.concatenate([one.places, two.places]),
        np.concatenate([one.counts, two.counts]),
        np.concatenate([one.group, two.group + len(one.costs)]),
        np.concatenate([one.costs, two.costs]),
        np.concatenate([one.sizes, two.sizes]),
    )


def _ascend(pool: _Pool, weights: Float64, start: Float64) -> Float64:
    """Find prices with about the highest sum that no group of the pool violates, by subgradient steps.

    For any prices u, v(r) = u(r) + the least of c(G) − mean u over the groups of r is feasible.
    """
    order = np.argsort(pool.places, kind="stable")
    present, begins = np.unique(pool.places[order], return_index=True)
    entries = np.arange(len(order))
    prices, best, highest = start.copy(), start, -np.inf
    for step in range(STEPS):
        means = (
            np.bincount(pool.group, weights=prices[pool.places] * pool.counts, minlength=len(pool.costs)) / pool.sizes
        )
        slack = (pool.costs - means)[pool.group][order]
        least = np.minimum.reduceat(slack, begins)
        raised = prices.copy()
        raised[present] += least
        value = float(weights[present] @ raised[present])
        if value > highest:
            highest, best = value, raised
        of_place = np.repeat(np.arange(len(present)), np.diff(np.append(begins, len(order))))
        chosen = np.minimum.reduceat(np.where(slack == least[of_place], entries, len(order)), begins)
        asked = np.bincount(pool.group[order[chosen]], weights=weights[present], minlength=len(pool.costs)) / pool.sizes
        spent = np.bincount(pool.places, weights=pool.counts * asked[pool.group], minlength=len(prices))
        slope = -spent.astype(np.float64)
        slope[present] += weights[present]
        norm = float(slope @ slope)
        if norm <= 0:
            break
        aim = AMBITION * (1.0 - step / STEPS) * abs(highest) + highest - value
        prices = prices + aim / norm * slope
    return best
