"""Prices of rows whose sum is a lower bound on the loss of every grouping.

Prices are feasible if in no group of k rows they add up to more than these rows' loss. Then
no grouping loses less than the sum of all prices; see docs/bound.md for the proof. Good prices are found on a pool of
boxes, by ascent (`kernels/search/ascent.py`); they are made exact by lowering each price as far as any group of the
table requires (`kernels/search/prices.py`). The boxes of these groups join the pool, and so on.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coterie.arrays import Float64, Int32
from coterie.grouping.index import Index
from coterie.grouping.pool import Pool

if TYPE_CHECKING:
    from coterie.table.grouping import Grouping
    from coterie.table.table import Table

OVERSHOOT = (0.12, 0.85)
"""the share by which prices are raised before they are made feasible again, and what becomes of it from try to try"""
LIKELY, MOST = 0.35, 1.45
"""where the best sum of prices is likely to lie: part of the way from the start to a grouping's loss, within limits"""
MANY = 30
"""rows of a group from which prices far too high take long to lower"""
FIRST_REACH, KEPT = 0.3, 0.5
"""how far prices move towards what the pool allows, at first; further once so much of the rise is feasible"""
STEPS = 100
"""of the ascent, in each round"""
AMBITION = 0.03
"""the ascent assumes that the best sum is this much higher than the best found"""
SLOTS = 3
"""groups noted for each place"""
WAVES, PIECES = 16, 8
"""in which prices are made feasible: one after another, and at the same time"""
LITTLE, MUCH = (20_000, 50_000), (100_000, 1_000_000)
"""candidates to look at for one place, before and after those that no group needs are dropped"""
STALLED, LEAST_RISE = 3, 1e-3
"""rounds that together must raise the sum by this share, or the search ends"""
ROUNDING = 1e-12


class Efforts(NamedTuple):
    """How often to try for higher prices."""

    tries: int
    """how often to raise prices and make them feasible again"""
    rounds: int
    """how often, after that, to optimize prices on the violating groups and make them feasible"""
    goes_on: Callable[[], bool] = lambda: True
    """whether there is time to go on with another round"""


class _TimeUpError(Exception):
    """There is no time for the rest of a round."""


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
    search = _Search(table, index, k, start, efforts, threads, checkpoint)
    tried, tries = search.begin(guide), efforts.tries
    for turn in count(1):
        if not search.make_feasible(tried, LITTLE) and turn == 1:
            tries += 1  # a poor guide: begin at the start after all
        if turn > tries:
            break
        tried = (1 + OVERSHOOT[0] * OVERSHOOT[1] ** (turn - 1)) * np.maximum(search.best, 0.0)
    with suppress(_TimeUpError):
        search.optimize()
    return search.best


class _Search:
    """The best feasible prices so far, and the boxes that limit them."""

    def __init__(
        self,
        table: Table,
        index: Index,
        k: int,
        start: Float64,
        efforts: Efforts,
        threads: int,
        checkpoint: Callable[[], None],
    ) -> None:
        self.table, self.index, self.k = table, index, k
        self.efforts, self.threads, self.checkpoint = efforts, threads, checkpoint
        self.weights = np.diff(index.nodes.row_start).astype(np.float64)
        self.least = start * (1 - ROUNDING)
        self.best, self.sum = start, float(self.weights @ start)
        self.pool = Pool.empty(table.attributes)

    def begin(self, guide: Grouping | None) -> Float64:
        """Return the prices to try first."""
        if guide is None:
            return np.asarray((1.5 if self.k < MANY else 1.2) * self.best)
        self.pool = Pool(guide.lo, guide.hi)
        return _guess(self.index, guide, self.best)

    def make_feasible(self, tried: Float64, work: tuple[int, int], between: Callable[[], None] | None = None) -> bool:
        """Lower prices until they are feasible; keep them if they are the best so far, and return whether they are."""
        lowered, broken = feasible_prices(
            self.table,
            self.index,
            self.k,
            tried,
            least=self.least,
            work=work,
            threads=self.threads,
            checkpoint=between or self.checkpoint,
        )
        if self.efforts.rounds:
            self.pool = self.pool.joined(self.index, broken)
        total = float(self.weights @ lowered)
        better = total > self.sum
        if better:
            self.best, self.sum = lowered, total
        return better

    def optimize(self) -> None:
        """Move prices towards the best ones on the pool, round by round."""
        from coterie.kernels.search.ascent import ascend

        reach, sums = FIRST_REACH, [self.sum]
        for _ in range(self.efforts.rounds):
            self._between()
            self.pool, boxes = self.pool.listed(self.index, self.best, k=self.k, threads=self.threads)
            if not len(self.pool.lo):
                return
            self._between()
            aim = ascend(boxes, self.weights, self.best, self.k, STEPS, AMBITION)
            self._between()
            tried = self.best + reach * (aim - self.best)
            hoped = float(self.weights @ tried) - self.sum
            better = self.make_feasible(tried, MUCH, self._between)
            if not better:
                reach *= 0.5
            elif self.sum - sums[-1] >= KEPT * hoped:
                reach = min(1.0, 1.5 * reach)
            sums.append(self.sum)
            if len(sums) > STALLED and self.sum - sums[-1 - STALLED] <= LEAST_RISE * abs(self.sum):
                return

    def _between(self) -> None:
        self.checkpoint()
        if not self.efforts.goes_on():
            raise _TimeUpError


def _guess(index: Index, guide: Grouping, start: Float64) -> Float64:
    """Return place → price to begin with: halfway between the start and the guide's costs, both at a likely sum.

    What a group of the guide costs is divided among its rows in proportion to their prices at the start.
    """
    from coterie.kernels.search.costs import box_costs

    place = index.nodes.position
    alone = start[place]
    costs = alone.copy()  # rows that the guide suppresses keep to their start
    kept = guide.labels >= 0
    groups = guide.labels[kept]
    shares = alone[kept] + 1e-3 * start.mean()
    of_group = np.bincount(groups, weights=shares, minlength=guide.groups)
    losses = guide.sizes * box_costs(index.costs, guide.lo, guide.hi)
    costs[kept] = shares / of_group[groups] * losses[groups]
    guided = np.bincount(place, weights=costs, minlength=len(start)) / np.diff(index.nodes.row_start)
    least, loss = float(alone.sum()), float(costs.sum())
    likely = min(least + LIKELY * (loss - least), MOST * least)
    return 0.5 * likely * (guided / loss + start / least) if loss > least > 0 else start


def feasible_prices(
    table: Table,
    index: Index,
    k: int,
    prices: Float64,
    *,
    least: Float64,
    work: tuple[int, int] = MUCH,
    threads: int = 1,
    checkpoint: Callable[[], None] = lambda: None,
) -> tuple[Float64, Pool]:
    """Lower prices until they are feasible; also return the boxes of groups that violate them, or nearly.

    Low prices are lowered first, wave by wave: rows with higher prices then need to be lowered less.

    Args:
        table: The rows.
        index: An index over all rows.
        k: The minimum group size.
        prices: Place → price of one of its rows, any number.
        least: Place → what any group with it costs at least.
        work: How many candidates to look at for one place, about, before and after those that no group needs are
            dropped. If that is too few, its price is lower than necessary.
        threads: Number of threads; the result does not depend on it.
        checkpoint: Called between waves; may raise.
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
    priced = Priced(k, current, rank, least, numbers, whole, *work)
    lo, hi = np.zeros((2, size, SLOTS, table.attributes), dtype=np.int32)
    found = Found(prices.copy(), lo, hi, np.zeros(size, dtype=np.int64))

    def piece(places: Int32) -> None:
        lower_prices(index.nodes, index.costs, priced, places, found)

    with ThreadPoolExecutor(max(threads, 1)) as workers:
        for wave in np.array_split(order[::-1].astype(np.int32), min(WAVES, size)):
            checkpoint()
            list(workers.map(piece, [np.ascontiguousarray(wave[i::PIECES]) for i in range(min(PIECES, len(wave)))]))
            current[wave] = found.lowered[wave]
    used = np.arange(SLOTS) < found.noted[:, None]
    return found.lowered, Pool(lo[used], hi[used])
