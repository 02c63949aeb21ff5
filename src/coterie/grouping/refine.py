"""Local search that reduces the loss of any grouping, and never increases it: ruin and recreate.

A random row's group is pooled with a few of its neighbours, and new groups are grown from the pool's
rows; single rows then move and swap while that helps. The new groups are kept if they lose less, and at first
also if they lose a little more: the temperature, a small share of a group's average loss, falls to zero. Where
hierarchies decide the cost, groups are also founded for the rows of promising boxes, wherever they are, and others
dissolved (`opening.py`): pools exchange rows, and seldom find another choice of boxes. A label covers more rows than
those of its group, so that boxes overlap: every second round, up to the last one, ends with the best assignment of all
rows to the boxes at hand (`reassign.py`).

The groups are cut into regions of near ones, which are searched in parallel, each with its own random sequence, so
that the result is the same on any number of threads. Every round cuts elsewhere, so that a border in one round
lies inside a region in others. With privacy models, regions are small: after each round the groups that have
changed are tested, and regions with a violation are restored.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from coterie.arrays import Bool, Float64, Int32, Int64
from coterie.grouping.index import Index, build_index
from coterie.grouping.regions import cut_into_regions
from coterie.table.grouping import Grouping

if TYPE_CHECKING:
    from coterie.kernels.improve.opened import Open
    from coterie.kernels.search.nearby import NearLists
    from coterie.methods._method import Run
    from coterie.privacy.model import Model
    from coterie.table.table import Table

Allowed: TypeAlias = Callable[[Int32, Int64], Bool]
"""(row → group, changed groups) → whether each of them satisfies the privacy models"""

ROUNDS = (6, 24)
"""at least and at most; in between, as many as pools per group: every round cuts the whole table again, which a short
search would spend more time on than it gains"""
REGION_ROWS = 16_384
TESTED_ROUNDS = 36
TESTED_GROUPS = 8
"""groups of a region in which models are tested: a violation costs the region its gain of the round"""
NEAR = (6, 24)
"""places near each place, among whose groups a pool is chosen: this many more than k, and the maximum. The groups of
more distant ones seldom have anything to exchange: without them, small groups gain more, and sooner."""
LEAST_POOLS = 256
"""the minimum number of pools, however few the groups"""
PORTIONS = 16
"""the minimum number of portions of k into which equal rows of a group are divided: a portion stays together"""
PARTIES = 6
"""groups of a pool, at most"""
FEW_PARTIES = 3
"""the same for large groups: many of their rows together are seldom grown into better groups, at a far higher price"""
LARGE_K = 16
WORSE = 0.5
"""pools that would cost more than 1 + this ÷ √k times as before are discarded: large groups vary less"""
HEAT = 0.005
"""the initial temperature, as a share of a group's average loss"""
COLD = 0.1
"""share of the final rounds in which nothing worse is kept"""
OPENS = 2.0
"""boxes to open, for each pool"""
OPEN_HEAT = 4.0
"""the temperature of opening, for 1 of pooling: it changes more rows at once"""
REASSIGN_EVERY = 2
"""rounds for each reassignment: after every round it would take up to a tenth of the time, for no lower loss"""
OPEN_K = 4
"""the minimum k for opening and reassigning: smaller groups have too few rows to choose a box for"""


@dataclass(frozen=True)
class Effort:
    """How hard the search tries."""

    pools: float = 8.0
    """pools per group"""


def keeps(table: Table, models: Sequence[Model], k: int) -> Allowed | None:
    """Return which groups satisfy the models; None if there are none."""
    if not models:
        return None
    from coterie.grouping.repair.state import Aim

    aim = Aim(table, tuple(models), k)

    def allowed(labels: Int32, groups: Int64) -> Bool:
        holds = aim.assess(aim.count(labels, int(labels.max()) + 1)).holds
        return np.asarray(holds[groups], dtype=np.bool_)

    return allowed


def refine(
    table: Table,
    grouping: Grouping,
    *,
    k: int,
    run: Run,
    effort: Effort | None = None,
    allowed: Allowed | None = None,
    index: Index | None = None,
) -> Grouping:
    """Return a grouping of the same rows with at most the same loss; suppressed rows stay suppressed.

    Args:
        table: The rows.
        grouping: The grouping to improve. Every group has at least k rows and satisfies the privacy models.
        k: The minimum group size.
        run: Seed, threads, deadline.
        effort: How hard to try.
        allowed: Returns which of the changed groups satisfy the privacy models; a violating change is undone.
        index: An index over the table's rows to use, all rows free.
    """
    effort = effort or Effort()
    best, labels = grouping, grouping.labels
    search = _Search(table, index or build_index(table), k, run, allowed)
    pools = max(effort.pools, LEAST_POOLS / max(grouping.groups, 1))
    rounds = min(max(math.ceil(pools), ROUNDS[0]), ROUNDS[1]) if allowed is None else TESTED_ROUNDS
    least = start = search.loss(grouping)
    began = time.monotonic()
    for turn in range(rounds):
        run.checkpoint()
        run.progress("refine", turn, rounds)
        if least <= 0 or run.out_of_time:
            break
        done = turn / rounds
        if run.deadline is not None:  # time may be up before the rounds are: it must be cold by then
            done = max(done, (time.monotonic() - began) / max(run.deadline - began, 1e-9))
        heat = HEAT * start / max(grouping.groups, 1)
        heats = heat * _warmth(done), heat * _warmth(done + 1 / rounds)
        labels = search.round(labels, pools / rounds, heats, reassigns=(rounds - 1 - turn) % REASSIGN_EVERY == 0)
        found = Grouping.of(table.codes, labels)
        loss = search.loss(found)
        if loss < least:
            best, least = found, loss
    return best


def _warmth(done: float) -> float:
    """Return the remaining share of the initial temperature."""
    return max(0.0, 1.0 - done / (1.0 - COLD))


class _Search:
    def __init__(self, table: Table, index: Index, k: int, run: Run, allowed: Allowed | None) -> None:
        self.table, self.index, self.k, self.run, self.allowed = table, index, k, run, allowed
        from coterie.kernels.search.growth import rough_costs, rough_scales

        self.rough = rough_costs(index.costs)
        self.scales = rough_scales(attribute_scales(table.attributes, run))
        # Larger groups stay as they are: they are many equal rows, mostly.
        self.most = 8 * k + 64
        self.rng = run.rng()
        # Models are tested in regions of few groups, where there is hardly another box to choose.
        trees = [domain.tree is not None for domain in table.domains]
        self.boxes_overlap = allowed is None and any(trees) and k >= OPEN_K
        # A tight interval of numbers has no room for further rows; small groups that have any gain more from pools.
        self.opens = OPENS if k >= LARGE_K or all(trees) else 0.0

    def _opened(self, groups: int) -> Open:
        """Make room for the boxes of this many groups."""
        from coterie.kernels.improve.opened import Open

        shape = (groups, self.table.attributes)
        lo, hi = np.zeros(shape, dtype=np.int32), np.zeros(shape, dtype=np.int32)
        return Open(lo, hi, np.empty(self.table.rows, dtype=np.int32))

    def loss(self, grouping: Grouping) -> float:
        """Return the loss of all rows in groups."""
        from coterie.kernels.search.costs import box_costs

        return float((grouping.sizes * box_costs(self.index.costs, grouping.lo, grouping.hi)).sum())

    @cached_property
    def near(self) -> NearLists:
        """The places near each place, nearest first."""
        from coterie.kernels.search.nearby import NearLists, list_near_places

        size = len(self.index.nodes.points)
        shape = (size, min(self.k + NEAR[0], NEAR[1]) + 1)
        lists = NearLists(np.empty(shape, dtype=np.int32), np.zeros(size, dtype=np.int32))
        self._in_pieces(
            size, lambda first, last: list_near_places(self.index.nodes, self.index.costs, first, last, lists)
        )
        return lists

    def _in_pieces(self, count: int, work: Callable[[int, int], object]) -> None:
        """Divide work into a fixed number of independent pieces for threads."""
        cuts = np.linspace(0, count, min(64, count) + 1).astype(np.int64)
        with ThreadPoolExecutor(max(self.run.threads, 1)) as threads:
            list(threads.map(work, cuts[:-1], cuts[1:]))

    def round(self, labels: Int32, pools: float, heat: tuple[float, float], *, reassigns: bool) -> Int32:
        """Return row → group after this many pools per group, at temperatures from the first to the second.

        reassigns: end with the best assignment of rows to boxes.
        """
        from coterie.kernels.improve.opening import open_boxes
        from coterie.kernels.improve.reassign import reassign
        from coterie.kernels.improve.ruin import Regions as Searched
        from coterie.kernels.improve.ruin import Search, ruin_and_recreate

        rows = REGION_ROWS if self.allowed is None else TESTED_GROUPS * self.k
        cut = cut_into_regions(self.table, self.index.costs, labels, k=self.k, most=self.most, rows=rows, rng=self.rng)
        tries = np.ceil(cut.held * pools).astype(np.int64)
        draws = self.rng.integers(0, 2**63, size=len(tries), dtype=np.uint64)
        regions = Searched(cut.base, cut.starts, cut.rows, tries, draws)
        worse = 1.0 + WORSE / math.sqrt(self.k)
        portion, parties = max(1, self.k // PORTIONS), FEW_PARTIES if self.k >= LARGE_K else PARTIES
        search = Search(self.k, self.rough, self.scales, portion, parties, self.most, worse, *heat)
        near, before = self.near, cut.groups.labels.copy()
        opened = self._opened(len(cut.groups.sizes)) if self.boxes_overlap else None
        opens = regions._replace(tries=np.ceil(cut.held * pools * self.opens).astype(np.int64))
        wide = search._replace(hot=heat[0] * OPEN_HEAT, cool=heat[1] * OPEN_HEAT)

        def piece(first: int, last: int) -> None:
            if not self.run.out_of_time:
                ruin_and_recreate(self.index.nodes, self.index.costs, cut.groups, near, search, regions, first, last)
            if opened is None or self.run.out_of_time:
                return
            if self.opens:
                open_boxes(self.index.nodes, self.index.costs, cut.groups, opened, wide, opens, first, last)
            if reassigns:
                reassign(self.index.nodes, self.index.costs, cut.groups, opened, self.k, regions, first, last)

        self._in_pieces(len(tries), piece)
        after: Int32 = np.where(cut.apart >= 0, cut.apart, cut.groups.labels)
        if self.allowed is None:
            return after
        moved = np.flatnonzero(before != cut.groups.labels)
        changed = np.unique(np.concatenate([before[moved], after[moved]])).astype(np.int64)
        changed = changed[changed <= after.max(initial=-1)]  # an emptied group satisfies every model
        broken = changed[~self.allowed(after, changed)] if len(changed) else changed
        back = np.zeros(len(tries) + 1, dtype=np.bool_)
        back[np.searchsorted(cut.base, broken, side="right") - 1] = True
        region = np.searchsorted(cut.base, before, side="right") - 1
        return np.where((before >= 0) & back[region], before, after)


def attribute_scales(attributes: int, run: Run, count: int = 1024) -> Float64:
    """Return factors by which tries scale the attributes' costs: all 1 first, then e**(−2u) at random.

    Greedy growth degrades all attributes a little; a random scale makes it give one up and spare the others.
    """
    random = np.exp(-2.0 * run.rng().random((count, attributes)))
    return np.concatenate([np.ones((1, attributes)), random])
