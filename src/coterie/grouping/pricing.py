"""Prices of rows whose sum is a lower bound on the loss of every grouping.

Prices are feasible if in no group of k rows they add up to more than these rows' loss. Then
no grouping loses less than the sum of all prices; see docs/bound.md for the proof. Good prices are found on a pool of
boxes, by ascent (`kernels/search/ascent.py`); they are made exact by lowering each price as far as any group of the
table requires (`feasible.py`). The boxes of these groups join the pool, and so on.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coterie.arrays import Float64
from coterie.grouping.feasible import LITTLE, MUCH, feasible_prices
from coterie.grouping.first_prices import first_prices
from coterie.grouping.index import Index
from coterie.grouping.pool import Pool

if TYPE_CHECKING:
    from coterie.table.grouping import Grouping
    from coterie.table.table import Table

OVERSHOOT, OVERSHOOT_ALONE = (0.12, 0.85), (0.2, 0.8)
"""with and without a guide: the share by which prices are raised before they are made feasible again, and what becomes
of it from try to try"""
GUIDED = 3
"""rows of a group from which on a guide pays: prices of pairs are soon as high without it"""
FIRST_REACH, KEPT = 0.3, 0.5
"""how far prices move towards what the pool allows, at first; further once so much of the rise is feasible"""
STEPS = 100
"""of the ascent, in each round"""
AMBITION = 0.03
"""the ascent assumes that the best sum is this much higher than the best found"""
STALLED, LEAST_RISE = 3, 1e-3
"""rounds that together must raise the sum by this share, or the search ends"""
ROUNDING = 1e-12


class Efforts(NamedTuple):
    """How often to try for higher prices."""

    tries: int
    """how often to raise prices and make them feasible again"""
    rounds: int
    """how often, after that, to optimize prices on the violating groups and make them feasible, at most"""
    work: float = np.inf
    """candidates and rows of boxes to look at, about, after which no further round begins"""
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
    search.begin(guide)
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
        self.work = 0

    def begin(self, guide: Grouping | None) -> None:
        """Try prices near the guide's costs, then higher ones, as long as that takes little work."""
        if guide is not None:
            self.pool = Pool(guide.lo, guide.hi)
        if self.k < GUIDED:
            guide = None
        self.checkpoint()
        tried = first_prices(self.table, self.index, self.k, self.best, least=self.least, guide=guide)
        if tried is None:
            return
        overshoot, less = OVERSHOOT_ALONE if guide is None else OVERSHOOT
        tries = self.efforts.tries
        if not self.make_feasible(tried, LITTLE):
            tries += 1  # a poor guide: begin at the start after all
        for _ in range(tries):
            self.make_feasible((1 + overshoot) * np.maximum(self.best, 0.0), LITTLE)
            overshoot *= less

    def make_feasible(self, tried: Float64, work: tuple[int, int], between: Callable[[], None] | None = None) -> bool:
        """Lower prices until they are feasible; keep them if they are the best so far, and return whether they are."""
        lowered, broken, looked = feasible_prices(
            self.table,
            self.index,
            self.k,
            tried,
            least=self.least,
            work=work,
            threads=self.threads,
            checkpoint=between or self.checkpoint,
        )
        self.work += looked
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
        rounds = self.efforts.rounds
        while rounds > 0 and self.work <= self.efforts.work:
            self._between()
            self.pool, boxes = self.pool.listed(self.index, self.best, k=self.k, threads=self.threads)
            if not len(self.pool.lo):
                return
            self._between()
            self.work += STEPS * len(boxes.places)
            aim = ascend(boxes, self.weights, self.best, self.k, STEPS, AMBITION)
            self._between()
            tried = self.best + reach * (aim - self.best)
            hoped = float(self.weights @ tried) - self.sum
            better = self.make_feasible(tried, MUCH, self._between)
            rounds -= better  # one that went too far does not count; three of them in a row end the search
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
