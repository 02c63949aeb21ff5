"""The shared repair: make any grouping satisfy its privacy models, at the least extra loss that local steps can find.

A group that violates a model is merged with another one or, if it lacks diversity, exchanges rows with
groups that satisfy theirs: a row moves in, or two rows are swapped. Each round collects every violating group's
cheapest options, ranks them by (increase of the total loss) ÷ (reduction of the shortfall), and takes the best
ones, each group once a round.

Termination. A merge leaves one group fewer. An exchange keeps their number, harms no group that satisfies its
models, and reduces the shortfall of the others by at least a fixed amount. A round with violating groups always takes
the best option, a merge if there is no other. In the end all models hold, or one group is left; since
every model still holds when groups merge, that one violates a model only if every grouping does.
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
    """Refuse, before any grouping, what is infeasible for any grouping of the table.

    Raises:
        ConfigError: A model does not fit its sensitive attribute.
        InfeasibleError: All rows in one group violate a model; the error gives the best that is feasible.
    """
    if models:
        check_domains(models, table.sensitive)
        _refuse(Aim(table, tuple(models), 1), np.zeros(table.rows, dtype=np.int32))


def _refuse(aim: Aim, whole: Int32) -> None:
    refuse_infeasible(aim.count(whole, 1), aim.models, aim.names)


def repair(table: Table, grouping: Grouping, models: Sequence[Model], *, k: int, run: Run) -> Grouping:
    """Change a grouping as little as needed so that every group satisfies every model and has at least k rows.

    Groups that need no change keep their boxes. Suppressed rows stay suppressed and do not count.

    Args:
        table: The table with its sensitive attributes.
        grouping: Groups of at least k rows each.
        models: The privacy models.
        k: The minimum group size.
        run: Receives progress; may stop the work.

    Raises:
        InfeasibleError: Even one group of all rows violates a model; the error gives the best that is feasible.
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
    """Take the best options of the violating groups, each group once."""
    from coterie.kernels.repair import choose

    options = _ranked([merges(state, broken), exchanges(state, broken)], state.groups)
    taken = options.take(choose(options.first, options.second, state.groups))
    merge = taken.take(taken.comes < 0)
    move = taken.take(taken.comes >= 0)
    swap = move.take(move.goes >= 0)
    rows = np.concatenate([move.comes, swap.goes])
    return state.merged((merge.first, merge.second), (rows, np.concatenate([move.first, swap.second])))


def _ranked(parts: Sequence[Choices], groups: int) -> Choices:
    """Rank the options, best first. Useless ones are left to groups that have no other option."""
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
    """Return the groups in the order of their first rows, with the nodes chosen by the method where nothing changed."""
    labels = renumber(state.labels)
    kept = np.flatnonzero(labels >= 0)
    at = np.empty(state.groups, dtype=np.int64)
    at[labels[kept]] = state.labels[kept]
    lo, hi = np.ascontiguousarray(state.lo[at]), np.ascontiguousarray(state.hi[at])
    old = np.empty(state.groups, dtype=np.int64)
    old[labels[kept]] = before.labels[kept]
    same = np.where(state.untouched[at], old, -1)
    return before.regrouped(Grouping(labels, lo, hi), same=same, domains=state.aim.table.domains)
