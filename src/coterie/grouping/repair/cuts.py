"""Cut groups that the repair made too large in two, as long as both parts satisfy every model.

A merge is chosen for one violating group at a time, and if many merge, the result may have far more rows than the
models need. Cuts at a median are tried, those that reduce the loss most first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from coterie.arrays import Bool, Int32, Int64
from coterie.grouping.repair.state import Aim, RepairState
from coterie.table.grouping import Grouping, tight_boxes

if TYPE_CHECKING:
    from coterie.methods import Run

# Ways to cut at an attribute, see kernels/improve/split.py.
KINDS = 3
# The number of cuts of a group to try before leaving it unchanged.
TRIES = 12


def cut_again(state: RepairState) -> RepairState:
    """Cut every touched group as far as the models allow and the loss falls."""
    pieces = _Pieces(state)
    while pieces.waiting.any():
        pieces.step()
    return pieces.state()


def cut_whole(aim: Aim, run: Run) -> Grouping:
    """Cut all rows, as one group, as far as the models allow and the loss falls. The whole must satisfy them."""
    whole = np.zeros(aim.table.rows, dtype=np.int32)
    state = RepairState.of(aim, Grouping.of(aim.table.codes, whole))
    pieces = _Pieces(replace(state, untouched=np.zeros(1, dtype=np.bool_)))
    while pieces.waiting.any():
        run.checkpoint()
        pieces.step()
    return Grouping.of(aim.table.codes, pieces.state().labels)


class _Pieces:
    """Groups that may be cut. A group is known by its number; cutting it gives its right part a new one."""

    def __init__(self, state: RepairState) -> None:
        self._state = state
        self._labels = state.labels.copy()
        self._groups = state.groups
        self._strata = _strata(state.aim.promised_values, most=state.aim.table.rows // (2 * state.aim.k))
        d = state.lo.shape[1]
        # One column more than there are cuts: it ends every list.
        self._cuts = np.full((self._groups, min(TRIES, KINDS * d) + 1), -1, dtype=np.int32)
        self._at = np.zeros(self._groups, dtype=np.int64)
        self._find(np.flatnonzero((state.counted.sizes >= 2 * state.aim.k) & ~state.untouched))

    @property
    def waiting(self) -> Bool:
        """Group → whether it has an untried cut."""
        waiting: Bool = self._cuts[np.arange(self._groups), self._at] >= 0
        return waiting

    def _members(self, groups: Int64) -> tuple[Int64, Int32]:
        """Return the rows of some groups, by stratum within each, and the start of each group."""
        place = np.full(self._groups + 1, -1, dtype=np.int64)  # the last is for suppressed rows
        place[groups] = np.arange(len(groups))
        rows = np.flatnonzero(place[self._labels] >= 0)
        of_row = place[self._labels[rows]]
        order = np.lexsort((self._strata[rows], of_row))
        starts = np.zeros(len(groups) + 1, dtype=np.int64)
        np.cumsum(np.bincount(of_row, minlength=len(groups)), out=starts[1:])
        return starts, rows[order].astype(np.int32)

    def _find(self, groups: Int64) -> None:
        """List the cuts of some groups that reduce the loss, best first."""
        from coterie.kernels.improve.split import cut_losses
        from coterie.kernels.search.costs import box_costs

        if not len(groups):
            return
        table = self._state.aim.table
        starts, members = self._members(groups)
        losses = cut_losses(table.costs, table.codes, self._strata, starts, members, self._state.aim.k)
        sizes = np.diff(starts)
        lo, hi = tight_boxes(
            table.codes[members], np.repeat(np.arange(len(groups), dtype=np.int32), sizes), len(groups)
        )
        now = sizes * box_costs(table.costs, lo, hi)
        best = np.argsort(losses, axis=1, kind="stable")[:, : self._cuts.shape[1] - 1]
        # Differences within rounding do not count: equal loss does not justify smaller groups.
        lower = np.take_along_axis(losses, best, axis=1) < now[:, None] * (1.0 - 1e-9)
        self._cuts[groups, :-1] = np.where(lower, best, -1)
        self._at[groups] = 0

    def step(self) -> None:
        """Try the next cut of every group that has one."""
        from coterie.kernels.improve.split import cut_rows

        groups = np.flatnonzero(self.waiting)
        starts, members = self._members(groups)
        chosen = self._cuts[groups, self._at[groups]]
        left = cut_rows(self._state.aim.table.codes, self._strata, starts, members, chosen)
        half = 2 * np.repeat(np.arange(len(groups)), np.diff(starts)) + ~left
        aim, before = self._state.aim, self._state.counted
        halves = aim.assess(aim.count_some(half, members, 2 * len(groups), before))
        first, second = halves.holds.reshape(-1, 2).T
        holds = first & second
        self._at[groups] += 1
        if not holds.any():
            return
        fresh = np.full(len(groups), -1, dtype=np.int64)
        fresh[holds] = self._groups + np.arange(int(holds.sum()))
        moves = holds[half // 2] & ~left
        self._labels[members[moves]] = fresh[half[moves] // 2]
        more = int(holds.sum())
        self._groups += more
        self._cuts = np.vstack([self._cuts, np.full((more, self._cuts.shape[1]), -1, dtype=np.int32)])
        self._at = np.append(self._at, np.zeros(more, dtype=np.int64))
        parts = np.append(groups[holds], fresh[holds])
        self._cuts[parts] = -1
        sizes = np.bincount(half, minlength=2 * len(groups)).reshape(-1, 2)[holds]
        large = np.append(sizes[:, 0], sizes[:, 1]) >= 2 * self._state.aim.k
        self._find(parts[large])

    def state(self) -> RepairState:
        """Return the current groups."""
        old = self._state
        moved = self._labels != old.labels
        touched = np.zeros(self._groups, dtype=np.bool_)
        touched[old.groups :] = True
        touched[old.labels[moved]] = True
        return old.relabelled(self._labels, touched)


def _strata(values: Int32, *, most: int) -> Int64:
    """Return row → combination of its sensitive values, ignoring columns with too many values (such as people)."""
    strata = np.zeros(values.shape[1], dtype=np.int64)
    for column in values:
        size = int(column.max(initial=0)) + 1
        if size <= most:
            strata = np.unique(strata * size + column, return_inverse=True)[1].astype(np.int64)
    return strata
