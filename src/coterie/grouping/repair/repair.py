"""The shared repair: make any grouping keep its privacy models, at the least extra loss that local steps can find.

A group that breaks a promise is merged with another one or, where diversity is what it lacks, exchanges rows with
groups that keep theirs: a row moves in, or two rows change places. Each round asks every broken group for its
cheapest options, judges them by (rise of the total loss) ÷ (part of the shortfall that goes away), and takes the best
ones, each group once a round.

Why it ends. A merge leaves one group fewer. An exchange leaves their number as it is, harms no group that keeps its
promises, and lowers the shortfall of the others by at least a fixed amount. And in a round of broken groups the best
option is always taken, a merge if there is no other. In the end all promises are kept, or one group is left; since
every model is kept when groups merge, that one breaks a promise only if every grouping does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from coterie.arrays import Int32
from coterie.grouping.repair.cuts import cut_again
from coterie.grouping.repair.options import PROGRESS, Choices, exchanges, merges
from coterie.grouping.repair.state import Aim, RepairState
from coterie.privacy.checks import check_domains, refuse_infeasible
from coterie.privacy.model import Model
from coterie.table.grouping import Grouping, renumber

if TYPE_CHECKING:
    from coterie.methods import Run
    from coterie.table.table import Table


def feasible(table: Table, models: Sequence[Model]) -> None:
    """Refuse, before any grouping, what no grouping of the table can keep.

    Raises:
        ConfigError: A model does not fit its sensitive column.
        InfeasibleError: All rows in one group break a promise; the error names the best that is possible.
    """
    if models:
        check_domains(models, table.sensitive)
        _refuse(Aim(table, tuple(models), 1), np.zeros(table.rows, dtype=np.int32))


def _refuse(aim: Aim, whole: Int32) -> None:
    refuse_infeasible(aim.count(whole, 1), aim.models, aim.names)


def repair(table: Table, grouping: Grouping, models: Sequence[Model], *, k: int, run: Run) -> Grouping:
    """The grouping, changed where it has to be so that every group keeps every model and has at least k rows.

    Groups that need no change keep their boxes. Suppressed rows stay suppressed and count nowhere.

    Args:
        table: The table with its sensitive columns.
        grouping: Groups of at least k rows each.
        models: What has to hold.
        k: Rows that every group keeps.
        run: Told of progress; may stop the work.

    Raises:
        InfeasibleError: Even one group of all rows breaks a promise; the error names the best that is possible.
    """
    if not models or grouping.groups == 0:
        return grouping
    aim = Aim(table, tuple(models), k)
    state = RepairState.of(aim, grouping)
    broken = np.flatnonzero(~state.assessment.holds).astype(np.int32)
    if not len(broken):
        return grouping
    _refuse(aim, np.where(grouping.labels >= 0, 0, -1).astype(np.int32))
    at_first = len(broken)
    while len(broken):
        run.checkpoint()
        run.progress("repair", max(at_first - len(broken), 0), at_first)
        state = _round(state, broken)
        broken = np.flatnonzero(~state.assessment.holds).astype(np.int32)
    return _finished(cut_again(state), grouping)


def _round(state: RepairState, broken: Int32) -> RepairState:
    """Take the best options of the broken groups, each group once."""
    from coterie.kernels.repair import choose

    options = _ranked([merges(state, broken), exchanges(state, broken)], state.groups)
    taken = options.take(choose(options.first, options.second, state.groups))
    merge = taken.take(taken.comes < 0)
    move = taken.take(taken.comes >= 0)
    swap = move.take(move.goes >= 0)
    rows = np.concatenate([move.comes, swap.goes])
    return state.merged((merge.first, merge.second), (rows, np.concatenate([move.first, swap.second])))


def _ranked(parts: Sequence[Choices], groups: int) -> Choices:
    """The options, best first. What brings nothing is left to groups that have no other option."""
    options = Choices(*(np.concatenate(each) for each in zip(*parts, strict=True)))
    useful = options.gain > PROGRESS
    helped = np.zeros(groups, dtype=np.bool_)
    helped[options.first[useful]] = True
    options = options.take(useful | ~helped[options.first])
    useful = options.gain > PROGRESS
    price = np.where(useful, options.rise / np.where(useful, options.gain, 1.0), options.rise)
    order = np.lexsort((options.goes, options.comes, options.second, options.first, price, ~useful))
    return options.take(order)


def _finished(state: RepairState, before: Grouping) -> Grouping:
    """The groups in the order of their first rows, with the nodes that the method chose where nothing changed."""
    labels = renumber(state.labels)
    kept = np.flatnonzero(labels >= 0)
    at = np.empty(state.groups, dtype=np.int64)
    at[labels[kept]] = state.labels[kept]
    lo, hi = np.ascontiguousarray(state.lo[at]), np.ascontiguousarray(state.hi[at])
    if before.nodes is None:
        return Grouping(labels, lo, hi)
    nodes = np.full(lo.shape, -1, dtype=np.int32)
    for j, domain in enumerate(state.aim.table.domains):
        if domain.tree is not None:
            nodes[:, j] = domain.tree.common_ancestor(lo[:, j], hi[:, j])
    same = state.untouched[at]
    old = np.empty(state.groups, dtype=np.int64)
    old[labels[kept]] = before.labels[kept]
    nodes[same] = before.nodes[old[same]]
    return Grouping(labels, lo, hi, nodes)
