"""optimal: the least loss there is, for small tables. Slow, exact, and a yardstick for the other methods.

A group of 2k rows or more can be parted in two without raising the loss, so some best grouping has groups of k … 2k −
1 rows only. `compact` gives a grouping to start from; groups whose rows lose less in the others are dissolved. What a
group loses above the sum of its rows' lower bounds (`bound.py`), a grouping that holds it loses above the bound of
the table: groups for which that is more than what the start loses above the bound are in no better grouping. All
others are listed, and an integer program (HiGHS, through SciPy) chooses those that hold every row once at the least
loss. Equal rows are one row with a count.

Finding the best grouping is NP-hard for k ≥ 3 (Meyerson and Williams 2004). The groups to list are few where
`compact` is near the bound or k is small: tables of some tens of rows with k = 2, fewer with k = 3.

The loss is exact to a millionth. Privacy models beyond k are met by the shared repair afterwards; the result is then
no longer the least loss.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from coterie.bound import row_bounds
from coterie.boxes import Grouping
from coterie.errors import BackendError, ConfigError, Problem
from coterie.methods._method import Options, Run, method
from coterie.methods.compact import CompactOptions, compact
from coterie.table import Table
from coterie.tree import Float64, Int32

MOST_ROWS = 500
STEPS_PER_GROUP = 500
CLOSE = 1e-9


class OptimalOptions(Options):
    """Options of `optimal`."""

    most_groups: int = Field(
        100_000,
        ge=1,
        le=5_000_000,
        description=(
            f"Refuse a table of more than {MOST_ROWS} rows, or with more groups to choose from than this. "
            "More take longer, and memory in proportion."
        ),
    )


@method("optimal", paper="ours", recoding="local", options=OptimalOptions)
def optimal(table: Table, k: int, options: OptimalOptions, run: Run) -> Grouping:
    """The grouping with the least loss of all (weighted NCP), for small tables; needs SciPy."""
    _need_scipy()
    if table.rows > MOST_ROWS:
        _refuse(f"the table has {table.rows:,} rows and optimal takes at most {MOST_ROWS:,}; use compact")
    # The start heeds k only: models are for the repair that follows every method.
    alone = Run(seed=run.seed, threads=run.threads, cancelled=run.cancelled, deadline=run.deadline)
    start = compact(table, k, CompactOptions.model_validate({"effort": "thorough"}), alone)
    start = _dissolved(table, start)
    bounds = row_bounds(table, k, rounds=20, threads=run.threads)
    slack = _loss(table, start) - float(bounds.sum())
    run.checkpoint()
    if slack <= CLOSE:
        return start
    members, losses = _candidates(table, k, bounds, slack + CLOSE, options.most_groups)
    run.checkpoint()
    run.progress("choose", 0, 1)
    times = _choose(table, members, losses, run)
    found = start if times is None else _grouping(table, members, times)
    return found if _loss(table, found) < _loss(table, start) else start


def _need_scipy() -> None:
    try:
        import scipy.optimize  # noqa: F401
    except ImportError:
        raise BackendError(
            "optimal needs SciPy.", hint="Install it with: pip install 'coterie[exact]', or use compact."
        ) from None


def _refuse(text: str) -> None:
    raise ConfigError([Problem("method", text)])


def _loss(table: Table, grouping: Grouping) -> float:
    from coterie.kernels.costs import box_costs

    return float((grouping.sizes * box_costs(table.costs, grouping.lo, grouping.hi)).sum())


def _dissolved(table: Table, grouping: Grouping) -> Grouping:
    """The grouping without groups whose rows lose less in the others: a lower start leaves fewer groups to list."""
    from coterie.kernels.leftovers import place_leftovers

    group = 0
    while group < grouping.groups and grouping.groups > 1:
        rows = np.flatnonzero(grouping.labels == group).astype(np.int32)
        others = Grouping.of(table.codes, np.where(grouping.labels == group, -1, grouping.labels))
        labels = others.labels.copy()
        place_leftovers(table.costs, table.codes, labels, others.lo, others.hi, others.sizes, rows)
        found = Grouping.of(table.codes, labels)
        if _loss(table, found) < _loss(table, grouping) - CLOSE:
            grouping, group = found, 0
        else:
            group += 1
    return grouping


def _candidates(table: Table, k: int, bounds: Float64, slack: float, most: int) -> tuple[Int32, Float64]:
    """Groups that a better grouping may hold, as distinct rows [group, 2k − 1] filled up with −1, and their losses."""
    from coterie.kernels.optimal import candidate_groups

    distinct = table.distinct
    members = np.empty((most, 2 * k - 1), dtype=np.int32)
    losses = np.empty(most, dtype=np.float64)
    count = candidate_groups(
        table.costs,
        distinct.codes,
        distinct.counts,
        np.ascontiguousarray(bounds[distinct.first_row]),
        k,
        slack,
        STEPS_PER_GROUP * most,
        members,
        losses,
    )
    if count < 0:
        _refuse(
            f"{table.rows:,} rows at k = {k:,} have too many groups to choose from for optimal "
            f"(most_groups = {most:,}); use compact, or raise most_groups"
        )
    return members[:count], losses[:count]


def _choose(table: Table, members: Int32, losses: Float64, run: Run) -> npt.NDArray[np.int64] | None:
    """Group → how often it is taken so that every row is in one; None where time ran out before any was found."""
    from scipy.optimize import LinearConstraint, milp
    from scipy.sparse import csc_array

    group, place = np.nonzero(members >= 0)
    shape = (len(table.distinct), len(members))
    holds = csc_array((np.ones(len(group)), (members[group, place], group)), shape=shape)
    copies = table.distinct.counts.astype(np.float64)
    settings: dict[str, Any] = {"mip_rel_gap": 0.0}
    if run.deadline is not None:
        settings["time_limit"] = max(run.deadline - time.monotonic(), 0.0)
    result = milp(
        losses,
        integrality=np.ones(len(losses)),
        constraints=LinearConstraint(holds, copies, copies),
        options=settings,
    )
    if result.status != 0:
        run.notes.append("optimal ran out of time: the grouping is the best so far and may not be the least loss.")
    return None if result.x is None else np.rint(result.x).astype(np.int64)


def _grouping(table: Table, members: Int32, times: npt.NDArray[np.int64]) -> Grouping:
    """Rows dealt out to the groups that were chosen; equal rows in their order."""
    chosen = np.repeat(members, times, axis=0)
    group, place = np.nonzero(chosen >= 0)
    kinds = chosen[group, place]
    labels = np.empty(table.rows, dtype=np.int32)
    labels[table.distinct.rows] = group[np.argsort(kinds, kind="stable")]
    return Grouping.of(table.codes, labels)
