"""Local search that lowers the loss of any grouping, and never raises it.

In sweeps: every group that has changed is given up if its rows lose less in the groups nearby. Then it looks at its
nearest groups; for each, the rows of the two are pooled and parted anew (grown from several seeds, then single rows
moved and swapped). The best change of each group is proposed; proposals are taken in the order of their gain, as long
as their groups are not part of another one. Since all proposals of a sweep look at the same state, they are computed
on any number of threads with the same result.

Merging two groups never lowers the loss: the merged box costs every row at least as much. Groups of 2k rows or more
are parted alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from coterie.arrays import Bool, Float64, Int8, Int32, Int64
from coterie.grouping.index import Index, build_index
from coterie.table.grouping import Grouping

if TYPE_CHECKING:
    from coterie.kernels.improve.refine import Pools
    from coterie.methods._method import Run
    from coterie.privacy.model import Model
    from coterie.table.table import Table

Allowed: TypeAlias = Callable[[Int32, Int64], Bool]
"""(row → group, groups that changed) → whether each of them keeps the privacy models"""


SEARCHED_AHEAD = 2**21  # places noted for groups that wait for their turn


@dataclass(frozen=True)
class Effort:
    """How hard the search tries."""

    neighbours: int = 8
    """nearest groups that each group is pooled with"""
    tries: int = 8
    """seeds from which each pool is parted"""
    sweeps: int = 20
    """at most so many; it ends when a sweep finds nothing"""


def keeps(table: Table, models: Sequence[Model], k: int) -> Allowed | None:
    """Which groups keep the models; None where there are none to keep."""
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
    """A grouping of the same rows with a loss at most as high; suppressed rows stay suppressed.

    Args:
        table: The rows.
        grouping: What to improve. Every group has at least k rows and keeps the privacy models.
        k: The smallest group allowed.
        run: Seed, threads, deadline.
        effort: How hard to try.
        allowed: Which of the changed groups keep the privacy models; a change that breaks one is undone.
        index: An index over the table's rows to use, all rows free.
    """
    effort = effort or Effort()
    search = _Search(table, index or build_index(table), k, run, effort)
    labels = grouping.labels.copy()
    changed = np.arange(grouping.groups, dtype=np.int32)
    for sweep in range(effort.sweeps):
        run.checkpoint()
        run.progress("refine", sweep, effort.sweeps)
        if len(changed) == 0 or run.out_of_time:
            break
        labels, changed = search.dissolved(search.pools(labels), changed, allowed)
        pools = search.pools(labels)
        labels, changed = search.applied(pools, search.proposals(pools, changed), allowed)
    return Grouping.of(table.codes, labels)


class _Proposals(NamedTuple):
    """Pairs of groups and how to part their rows."""

    ones: Int32
    twos: Int32
    """the same group, where it is parted alone"""
    sides: Int8
    """[pair, row of the pool]: the first group's rows, then the second's"""


class _Search:
    def __init__(self, table: Table, index: Index, k: int, run: Run, effort: Effort) -> None:
        self.table, self.index, self.k, self.run, self.effort = table, index, k, run, effort
        self.scales = attribute_scales(table.attributes, run)
        # Larger pools gain little and cost much: these are groups of very many equal rows.
        self.most = 8 * k + 64

    def pools(self, labels: Int32) -> Pools:
        """The groups as they stand."""
        from coterie.kernels.improve.refine import Pools
        from coterie.kernels.search.costs import box_costs

        groups = int(labels.max(initial=-1)) + 1
        sizes = np.bincount(labels[labels >= 0], minlength=groups)
        order = np.argsort(labels, kind="stable").astype(np.int32)[np.count_nonzero(labels < 0) :]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        codes = self.table.codes[order]
        lo = np.minimum.reduceat(codes, starts[:-1], axis=0)
        hi = np.maximum.reduceat(codes, starts[:-1], axis=0)
        return Pools(order, starts, labels, lo, hi, box_costs(self.index.costs, lo, hi))

    def dissolved(self, pools: Pools, asked: Int32, allowed: Allowed | None) -> tuple[Int32, Int32]:
        """Labels with those of the asked groups given up whose rows lose less elsewhere, and the groups to look at."""
        old, new = pools.labels, pools.labels.copy()
        lost = pools.costs * np.diff(pools.starts)
        order = asked[np.argsort(-lost[asked], kind="stable")]
        self.give_up(pools, order, new)
        while allowed is not None:
            moved = np.flatnonzero(old != new)
            grown = np.unique(new[moved]).astype(np.int64)
            broken = grown[~allowed(new, grown)] if len(grown) else grown
            if len(broken) == 0:
                break
            # Groups that gave a row to a broken one come back whole; others may break without their rows.
            back = np.unique(old[moved[np.isin(new[moved], broken)]])
            rows = moved[np.isin(old[moved], back)]
            new[rows] = old[rows]
        used = np.bincount(new[new >= 0], minlength=len(lost)) > 0
        again = np.zeros(len(lost), dtype=np.bool_)
        again[asked] = True
        again[new[old != new]] = True
        number = np.cumsum(used, dtype=np.int64) - 1
        new = np.where(new >= 0, number[new], -1).astype(np.int32)
        return new, number[again & used].astype(np.int32)

    def give_up(self, pools: Pools, asked: Int32, labels: Int32) -> None:
        """Bring labels up to date for the groups that are given up, asked one after the other.

        A box stays as it is until its group is asked, unless it got rows and is kept: so that threads may search around
        many boxes ahead of their turn.
        """
        from coterie.kernels.improve.dissolve import State, dissolve, list_near_groups
        from coterie.kernels.search.nearby import NearLists

        nodes, costs, k = self.index.nodes, self.index.costs, self.k
        sizes = np.diff(pools.starts)
        state = State(pools.lo.copy(), pools.hi.copy(), sizes, pools.costs.copy(), np.zeros(len(sizes), dtype=np.bool_))
        room = self.most + 4 * k + 2
        ahead = max(256, SEARCHED_AHEAD // room)
        lists = NearLists(np.empty((ahead, room), dtype=np.int32), np.empty(ahead, dtype=np.int32))
        with ThreadPoolExecutor(max(self.run.threads, 1)) as threads:
            for start in range(0, len(asked), ahead):
                turn = asked[start : start + ahead]
                cuts = np.linspace(0, len(turn), min(len(turn), 32) + 1).astype(np.int64)

                def piece(i: int, turn: Int32 = turn, cuts: Int64 = cuts) -> None:
                    mine = slice(cuts[i], cuts[i + 1])
                    here = NearLists(lists.positions[mine], lists.counts[mine])
                    list_near_groups(nodes, costs, pools, k, turn[mine], here)

                list(threads.map(piece, range(len(cuts) - 1)))
                dissolve(nodes, costs, pools, state, turn, lists, labels)

    def proposals(self, pools: Pools, asked: Int32) -> _Proposals:
        """Pairs to part anew, by falling gain, no group in two of them."""
        from coterie.kernels.improve.refine import Parting, propose

        parting = Parting(self.k, self.scales, self.effort.tries, self.effort.neighbours)
        sides = np.zeros((len(asked), self.most), dtype=np.int8)
        cuts = np.linspace(0, len(asked), min(len(asked), 64) + 1).astype(np.int64)

        def piece(i: int) -> tuple[Int32, Float64]:
            mine = slice(cuts[i], cuts[i + 1])
            found: tuple[Int32, Float64] = propose(
                self.index.nodes, self.index.costs, pools, parting, asked[mine], sides[mine]
            )
            return found

        with ThreadPoolExecutor(max(self.run.threads, 1)) as threads:
            pieces = list(threads.map(piece, range(len(cuts) - 1)))
        partners = np.concatenate([piece[0] for piece in pieces])
        gains = np.concatenate([piece[1] for piece in pieces])
        used = np.zeros(len(pools.costs), dtype=np.bool_)
        chosen = []
        for at in np.argsort(-gains, kind="stable")[: np.count_nonzero(gains > 0)]:
            one, two = asked[at], partners[at]
            if not (used[one] or used[two]):
                used[[one, two]] = True
                chosen.append(at)
        return _Proposals(asked[chosen], partners[chosen], sides[chosen])

    def applied(self, pools: Pools, pairs: _Proposals, allowed: Allowed | None) -> tuple[Int32, Int32]:
        """Labels with the pairs parted anew where that is allowed, and the groups that changed.

        Side 1 keeps the first group's number, side 0 gets the second's; a group that is parted alone gives its
        side 0 a number of its own.
        """
        alone = np.flatnonzero(pairs.ones == pairs.twos)
        others = pairs.twos.copy()
        others[alone] = len(pools.costs) + np.arange(len(alone), dtype=np.int32)
        new = pools.labels.copy()
        for one, two, other, side in zip(pairs.ones, pairs.twos, others, pairs.sides, strict=True):
            rows = pools.members[pools.starts[one] : pools.starts[one + 1]]
            if one != two:
                rows = np.concatenate([rows, pools.members[pools.starts[two] : pools.starts[two + 1]]])
            new[rows] = np.where(side[: len(rows)] == 1, one, other)
        kept = np.ones(len(others), dtype=np.bool_)
        if allowed is not None and len(others):
            kept = allowed(new, pairs.ones.astype(np.int64)) & allowed(new, others.astype(np.int64))
            broken = np.isin(pools.labels, np.concatenate([pairs.ones[~kept], pairs.twos[~kept]]))
            new[broken] = pools.labels[broken]
        # Numbers of partings that were undone are not used: close the gaps.
        changed = np.zeros(len(pools.costs) + len(alone), dtype=np.bool_)
        changed[pairs.ones[kept]] = True
        changed[others[kept]] = True
        used = np.bincount(new[new >= 0], minlength=len(changed)) > 0
        number = np.cumsum(used, dtype=np.int64) - 1
        new = np.where(new >= 0, number[new], -1).astype(np.int32)
        return new, number[changed & used].astype(np.int32)


def attribute_scales(attributes: int, run: Run, count: int = 1024) -> Float64:
    """Factors by which tries scale the attributes' costs: all 1 first, then e**(−2u) at random.

    Greed breaks one attribute after another a little; a random scale makes it give one up and spare the others.
    """
    random = np.exp(-2.0 * run.rng().random((count, attributes)))
    return np.concatenate([np.ones((1, attributes)), random])
