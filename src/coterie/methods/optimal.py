"""optimal: the least possible loss, for small tables. Exact, slow, and a yardstick for the other methods.

A group of 2k rows or more can be split without increasing the loss, so some best grouping only has groups of k … 2k −
1 rows. Choosing among all of these the ones that cover every row once, at the least loss, is an integer program;
there are far too many to list, so it is solved as Barnhart et al. (1998) describe:

1. `compact` gives a grouping, whose groups are the first columns of the program.
2. The linear relaxation of the program is solved (HiGHS, through SciPy). It gives every row a price.
   A depth-first search adds groups that lose less than the prices of their rows, until there are none:
   then no grouping loses less than the sum of all prices.
3. The integer program over the groups found so far gives a better grouping.
4. The loss of a group in excess of its rows' prices is also the excess of any grouping with it over the sum of all
   prices. So only groups whose excess is at most the remaining gap can be in a better grouping. All are listed, and
   the integer program over these gives the best one.

Equal rows are one row with a count. The lower bounds of rows (`bound.py`) prune both searches. The loss is exact to a
millionth.

The solver is not trusted. HiGHS in SciPy 1.15, for one, can call a choice of groups that omits rows the best
one, because of its presolve. So a choice counts if it covers every row as often as it occurs, a claim of optimality
if the solver's own bound agrees with the loss computed here, and prices if the search finds no group below them;
otherwise the solver is called in another way, and failing that the result says that it may not be the least loss.

Finding the best grouping is NP-hard for k ≥ 3 (Meyerson and Williams 2004). What is practical depends more on the table
than on its size. The first rows of Adult with 8 quasi-identifiers, in CPU seconds: 100 rows take 0.2 at k = 2 and 1.3
at k = 3; 200 rows 10 and 5; 100 rows at k = 5 take 33. Fewer quasi-identifiers make many groups equally good,
and that is harder: 100 rows with 4 of them take 30 at k = 3. Tables with too many groups to choose from are refused.

Privacy models beyond k are then satisfied by the shared repair; the result is no longer the least loss.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from pydantic import Field

from coterie.arrays import Float64, Int32, Int64
from coterie.errors import BackendError, DataError
from coterie.grouping.bound import row_bounds
from coterie.methods._method import Options, Run, method
from coterie.methods.compact import CompactOptions, compact, loss_of
from coterie.table.grouping import Grouping
from coterie.table.table import Table

MOST_ROWS = 500
MOST_STEPS = 50_000_000
# Groups that are added at once for each row that is their first.
AT_ONCE = 20
# Nodes of the search tree in which a better grouping is looked for before the groups are listed.
FIRST_NODES = 100
CLOSE = 1e-7
# By how much the solver's prices may exceed what a group that it was given loses; HiGHS promises CLOSE.
LEEWAY = 1e-5


class OptimalOptions(Options):
    """Options of `optimal`."""

    most_groups: int = Field(
        100_000,
        ge=1,
        le=5_000_000,
        description=(
            f"Refuse a table of more than {MOST_ROWS} rows, or with more groups to choose from than this. "
            "Feasible sizes are 100 to 300 rows at k = 2 and 3, and tens of rows at larger k; more groups take more "
            "time and memory."
        ),
    )


class _Columns(NamedTuple):
    """Groups to choose from."""

    members: Int32
    """[group, 2k − 1] distinct rows, filled up with −1"""
    losses: Float64
    """group → loss of all its rows"""

    def and_also(self, more: _Columns) -> _Columns:
        """Return these groups and some more."""
        members, losses = np.concatenate([self.members, more.members]), np.concatenate([self.losses, more.losses])
        return _Columns(members, losses)

    def matrix(self, kinds: int) -> Any:  # noqa: ANN401 - SciPy is there on request only
        """Return [distinct row, group] → how often the group contains the row."""
        from scipy.sparse import csc_array

        group, place = np.nonzero(self.members >= 0)
        cells = (np.ones(len(group)), (self.members[group, place], group))
        return csc_array(cells, shape=(kinds, len(self.members)))


@method("optimal", paper="ours", recoding="local", options=OptimalOptions)
def optimal(table: Table, k: int, options: OptimalOptions, run: Run) -> Grouping:
    """Find the grouping with the least loss of all (weighted NCP), for small tables; needs SciPy."""
    _need_scipy()
    if table.rows > MOST_ROWS:
        raise DataError(
            f"The table has {table.rows:,} rows; method optimal takes at most {MOST_ROWS:,}.",
            rows=table.rows,
            hint="Use compact.",
        )
    if run.privacy:
        run.notes.append("optimal finds the least loss for k alone; guarantees beyond k may need more than the least.")
    # The start considers k only: the repair that follows every method handles models.
    alone = Run(seed=run.seed, threads=run.threads, cancelled=run.cancelled, deadline=run.deadline)
    start = compact(table, k, CompactOptions.model_validate({"effort": "thorough"}), alone)
    search = _Search(table, k, options.most_groups, run)
    if table.rows < 2 * k or loss_of(table, start) - float(search.floors @ search.copies) <= CLOSE:
        return start
    return search.best(start)


def _need_scipy() -> None:
    try:
        import scipy.optimize  # noqa: F401
    except ImportError:
        raise BackendError(
            "Method optimal needs SciPy.", hint="Install it with: pip install 'coterie[exact]', or use compact."
        ) from None


class _Search:
    def __init__(self, table: Table, k: int, most: int, run: Run) -> None:
        self.table, self.k, self.most, self.run = table, k, most, run
        self.copies = table.distinct.counts.astype(np.float64)
        bounds = row_bounds(table, k, rounds=20, threads=run.threads)
        self.floors: Float64 = np.ascontiguousarray(bounds[table.distinct.first_row])

    def best(self, start: Grouping) -> Grouping:
        """Return the best grouping of all, given one to start from; the best so far if time runs out."""
        priced = self._priced(self._columns_of(start))
        if priced is None:
            return self._late(start)
        columns, prices = priced
        found = self._better(start, columns, nodes=FIRST_NODES)
        gap = loss_of(self.table, found) - float(prices @ self.copies)
        if gap <= CLOSE:
            return found
        self.run.checkpoint()
        # Each group of a grouping may be below its rows' prices by as much as is called close.
        limit = gap + CLOSE * (1 + self.table.rows // self.k)
        listed = self._groups_below(prices, limit, per_first=self.most + 1, room=self.most + 1)
        if len(listed.losses) > self.most:
            raise self._too_many()
        return self._better(found, listed, nodes=None)

    def _late(self, grouping: Grouping) -> Grouping:
        self.run.notes.append("optimal ran out of time: the grouping is the best so far and may not be the least loss.")
        return grouping

    def _too_many(self) -> DataError:
        return DataError(
            f"{self.table.rows:,} rows at k = {self.k:,} have too many groups to choose from for method optimal "
            f"(most_groups = {self.most:,}).",
            rows=self.table.rows,
            hint="Use compact, or raise most_groups.",
        )

    def _columns_of(self, grouping: Grouping) -> _Columns:
        """Return the groups of a grouping, splitting those of 2k rows or more."""
        from coterie.kernels.search.costs import box_costs

        kinds, codes = self.table.distinct.of_row, self.table.distinct.codes
        parts = []
        for group in range(grouping.groups):
            rows = np.sort(kinds[grouping.labels == group])
            parts += np.array_split(rows, max(1, len(rows) // self.k))
        members = np.full((len(parts), 2 * self.k - 1), -1, dtype=np.int32)
        for at, part in enumerate(parts):
            members[at, : len(part)] = part
        lo, hi = (np.stack([pick(codes[part], axis=0) for part in parts]) for pick in (np.min, np.max))
        sizes = np.array([len(part) for part in parts])
        return _Columns(members, sizes * box_costs(self.table.costs, lo, hi))

    def _priced(self, columns: _Columns) -> tuple[_Columns, Float64] | None:
        """Return columns and prices of the distinct rows such that no group loses less than its rows' prices."""
        from scipy.optimize import linprog

        kinds = len(self.copies)
        while not self.run.out_of_time:
            self.run.checkpoint()
            self.run.progress("price rows", 0, 0)
            matrix = columns.matrix(kinds)
            solved = linprog(columns.losses, A_eq=matrix, b_eq=self.copies, method="highs")
            prices = self._checked_prices(solved, matrix, columns.losses)
            if prices is None:
                return columns, self.floors  # no group loses less than what its rows pay in any group
            more = self._groups_below(prices, -CLOSE, per_first=AT_ONCE, room=AT_ONCE * kinds)
            if not len(more.losses):
                return columns, prices
            columns = columns.and_also(more)
        return None

    def _checked_prices(self, solved: Any, matrix: Any, losses: Float64) -> Float64 | None:  # noqa: ANN401 - SciPy's own
        """Return the solver's prices of rows; None unless the given groups lose no less."""
        marginals = getattr(getattr(solved, "eqlin", None), "marginals", None)
        if solved.status != 0 or marginals is None:
            return None
        prices: Float64 = np.asarray(marginals, dtype=np.float64)
        if prices.shape != self.copies.shape or not np.isfinite(prices).all():
            return None
        above = float((prices @ matrix - losses).max())
        # A group has k rows or more. Otherwise the same groups could be found forever.
        return prices - max(above, 0.0) / self.k if above <= LEEWAY else None

    def _groups_below(self, prices: Float64, limit: float, *, per_first: int, room: int) -> _Columns:
        """Return the groups whose loss is at most `limit` above the prices of their rows."""
        from coterie.kernels.methods.optimal import Priced, groups_below

        distinct = self.table.distinct
        order = np.argsort(-prices, kind="stable").astype(np.int32)
        members = np.empty((room, 2 * self.k - 1), dtype=np.int32)
        losses = np.empty(room, dtype=np.float64)
        columns = distinct.codes, distinct.counts, self.floors, prices
        rows = Priced(*(np.ascontiguousarray(each[order]) for each in columns))
        found: int = groups_below(self.table.costs, rows, self.k, limit, per_first, MOST_STEPS, members, losses)
        if found < 0:
            raise self._too_many()
        members, losses = members[:found], losses[:found]
        return _Columns(np.where(members >= 0, order[members], -1).astype(np.int32), losses)

    def _better(self, before: Grouping, columns: _Columns, *, nodes: int | None) -> Grouping:
        """Return the best grouping that consists of these groups, or the previous one if it loses no more."""
        self.run.progress("choose groups", 0, 0)
        # Without presolve first: it takes no longer here, and presolve is where wrong answers came from.
        for presolve in (False, True):
            times, best = self._choice(columns, nodes, presolve=presolve)
            if times is not None:
                made = self._grouping(columns, times)
                before = made if loss_of(self.table, made) < loss_of(self.table, before) else before
            if nodes is not None or best:
                return before
            if self.run.out_of_time:
                return self._late(before)
        self.run.notes.append("optimal: the solver gave no valid answer; the grouping may not be the least loss.")
        return before

    def _choice(self, columns: _Columns, nodes: int | None, *, presolve: bool) -> tuple[Int64 | None, bool]:
        """Return group → how often the solver chooses it, None unless that covers every row as often as it occurs.

        Also return whether no other choice loses less, as far as the solver's answers agree with each other.
        """
        from scipy.optimize import LinearConstraint, milp

        settings: dict[str, Any] = {"mip_rel_gap": 0.0, "presolve": presolve}
        settings |= {} if nodes is None else {"node_limit": nodes}
        if self.run.deadline is not None:
            settings["time_limit"] = max(self.run.deadline - time.monotonic(), 0.0)
        matrix = columns.matrix(len(self.copies))
        result = milp(
            columns.losses,
            integrality=np.ones(len(columns.losses)),
            constraints=LinearConstraint(matrix, self.copies, self.copies),
            options=settings,
        )
        if result.x is None:  # some choice holds all rows, whatever the solver says: the grouping so far is one
            return None, False
        times = np.rint(result.x).astype(np.int64)
        if (times < 0).any() or not np.array_equal(matrix @ times, self.copies):
            return None, False
        agrees = abs(float(columns.losses @ times) - float(result.mip_dual_bound)) <= CLOSE * (1 + self.table.rows)
        return times, result.status == 0 and agrees

    def _grouping(self, columns: _Columns, times: Int64) -> Grouping:
        """Assign rows to the chosen groups; equal rows in order."""
        chosen = np.repeat(columns.members, times, axis=0)
        group, place = np.nonzero(chosen >= 0)
        kinds = chosen[group, place]
        labels = np.empty(self.table.rows, dtype=np.int32)
        labels[self.table.distinct.rows] = group[np.argsort(kinds, kind="stable")]
        return Grouping.of(self.table.codes, labels)
