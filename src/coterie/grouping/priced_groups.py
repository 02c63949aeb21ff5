"""Choose small groups by linear programming: a start for the search where k is 2 or 3; needs SciPy.

Groups of two or three rows are so few that all promising ones can be listed: groups of near rows that lose little more
than their rows pay in a given grouping. The cheapest way to cover every row once by parts of such groups is a linear
program, and most of its solution is whole groups. These are kept. The rows of the rest are left to the caller.

The solver is not trusted: no row is taken twice, whatever it says. The program is solved block by block: blocks are
groups of the given grouping along the order of the index. So the result does not depend on the number of threads, and
time is in proportion to the rows.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coterie.arrays import Float64, Int32, Int64
from coterie.grouping.index import Index

if TYPE_CHECKING:
    from coterie.kernels.search.nearby import NearLists
    from coterie.methods._method import Run
    from coterie.table.grouping import Grouping
    from coterie.table.table import Table

LARGEST_K = 3
NEAR = 24
"""rows near each place among which the others of its groups are"""
EACH = 48
"""groups listed with the same first place, at most"""
ABOVE = 0.2
"""loss of a listed group above its rows' prices, at most, in units of a group's average loss"""
BLOCK_ROWS = 32_768
WHOLE = 1e-6
"""how far the solver's share of a group may be from a whole number"""
CAP = 3.0
"""how far the solver's prices may be above those of the given grouping, in units of a group's average loss"""


class _Columns(NamedTuple):
    """Groups to choose from."""

    members: Int32
    """[group, rows] places, −1 behind the last"""
    losses: Float64
    """group → loss of all its rows"""


def has_solver() -> bool:
    """Return whether SciPy is there."""
    try:
        import scipy.optimize  # noqa: F401
    except ImportError:
        return False
    return True


def solver_version() -> str:
    """Return the version of SciPy: other versions may choose other groups of equal loss."""
    from importlib.metadata import version

    return version("scipy")


def whole_groups(table: Table, grouping: Grouping, *, k: int, index: Index, run: Run, rounds: int = 1) -> Int32:
    """Return row → group, −1 for rows that the linear program does not assign to whole groups.

    Args:
        table: The rows.
        grouping: A grouping of all of them; the better, the fewer promising groups are overlooked.
        k: The minimum group size, 2 or 3.
        index: An index over all rows.
        run: Threads, deadline.
        rounds: How often to solve the program; each time with groups that are promising by its own prices.
    """
    program = _Program(table, grouping, k, index, run)
    labels = np.full(table.rows, -1, dtype=np.int32)
    for rows in program.blocks():
        run.checkpoint()
        program.choose(rows, rounds, labels)
    return labels


class _Program:
    def __init__(self, table: Table, grouping: Grouping, k: int, index: Index, run: Run) -> None:
        from coterie.kernels.search.costs import box_costs

        self.table, self.grouping, self.k, self.index, self.run = table, grouping, k, index, run
        self.places: Int64 = index.nodes.position.astype(np.int64)
        self.weights = np.diff(index.nodes.row_start)
        costs = box_costs(index.costs, grouping.lo, grouping.hi)
        paid = np.bincount(self.places, weights=costs[grouping.labels], minlength=len(self.weights))
        self.prices: Float64 = paid / self.weights
        self.average = float(grouping.sizes @ costs) / grouping.groups
        self.near = self._near()

    def blocks(self) -> Iterator[Int64]:
        """Yield the rows of blocks of near groups."""
        labels = self.grouping.labels
        lowest = np.full(self.grouping.groups, len(self.weights), dtype=np.int64)
        np.minimum.at(lowest, labels, self.places)
        order = np.argsort(lowest, kind="stable")
        before = np.cumsum(self.grouping.sizes[order]) - self.grouping.sizes[order]
        block = np.empty_like(order)
        block[order] = before // BLOCK_ROWS
        of_row = block[labels]
        for each in range(int(of_row.max()) + 1):
            yield np.flatnonzero(of_row == each)

    def choose(self, rows: Int64, rounds: int, labels: Int32) -> None:
        """Assign rows of a block to the groups that the solution holds as a whole."""
        have = np.bincount(self.places[rows], minlength=len(self.weights))
        columns = self._present(rows)
        used = np.flatnonzero(have)
        prices, limit = self.prices, ABOVE * self.average
        shares = None
        for _ in range(rounds):
            columns = _joined(columns, self._listed(have, prices, limit))
            solved = self._solved(columns, have, used)
            if solved is None:
                break
            shares, prices = solved
            prices, limit = np.minimum(prices, self.prices + CAP * self.average), 0.0
        if shares is None:
            return
        times = np.floor(np.clip(shares, 0, have.max()) + WHOLE).astype(np.int64)
        self._assign(rows, np.repeat(columns.members[: len(times)], times, axis=0), labels)

    def _assign(self, rows: Int64, chosen: Int32, labels: Int32) -> None:
        """Give the chosen groups rows of their places, as far as there are any left."""
        order = rows[np.argsort(self.places[rows], kind="stable")]
        starts = np.searchsorted(self.places[order], np.arange(len(self.weights) + 1))
        group, entry = np.nonzero(chosen >= 0)
        place = chosen[group, entry]
        by_place = np.argsort(place, kind="stable")
        place, group = place[by_place], group[by_place]
        rank = np.arange(len(place)) - np.searchsorted(place, place)
        enough = rank < starts[place + 1] - starts[place]
        # A group with a missing row is dropped: its other rows stay free.
        broken = np.zeros(len(chosen), dtype=np.bool_)
        broken[group[~enough]] = True
        kept = ~broken[group]
        labels[order[starts[place] + rank * enough][kept]] = labels.max(initial=-1) + 1 + group[kept]

    def _near(self) -> NearLists:
        from coterie.kernels.search.nearby import NearLists, list_near_places

        nodes, costs = self.index.nodes, self.index.costs
        size = len(self.weights)
        lists = NearLists(np.empty((size, NEAR + 1), dtype=np.int32), np.zeros(size, dtype=np.int32))
        self._in_pieces(lambda first, last: list_near_places(nodes, costs, first, last, lists))
        return lists

    def _in_pieces(self, work: Any) -> list[Any]:  # noqa: ANN401 - whatever the work returns
        """Divide work on places into a fixed number of independent pieces for threads."""
        cuts = np.linspace(0, len(self.weights), min(64, len(self.weights)) + 1).astype(np.int64)
        with ThreadPoolExecutor(max(self.run.threads, 1)) as threads:
            return list(threads.map(work, cuts[:-1], cuts[1:]))

    def _present(self, rows: Int64) -> _Columns:
        """Return the groups of the given grouping, those of 2k rows or more divided among equal and near rows."""
        from coterie.kernels.search.costs import box_costs

        labels = self.grouping.labels[rows]
        order = np.lexsort((self.places[rows], labels))
        labels = labels[order]
        first = np.searchsorted(labels, labels)
        sizes = self.grouping.sizes[labels]
        parts = sizes // self.k
        small, longer = sizes // parts, sizes % parts
        at = np.arange(len(labels)) - first
        ahead = longer * (small + 1)
        part = np.where(at < ahead, at // (small + 1), longer + (at - ahead) // small)
        begins = np.flatnonzero(np.append(True, (labels[1:] != labels[:-1]) | (part[1:] != part[:-1])))
        lengths = np.diff(np.append(begins, len(labels)))
        members = np.full((len(begins), 2 * self.k - 1), -1, dtype=np.int32)
        column = np.repeat(np.arange(len(begins)), lengths)
        members[column, np.arange(len(labels)) - begins[column]] = self.places[rows][order]
        codes = self.table.codes[rows[order]]
        lo, hi = np.minimum.reduceat(codes, begins, axis=0), np.maximum.reduceat(codes, begins, axis=0)
        return _Columns(members, lengths * box_costs(self.index.costs, lo, hi))

    def _listed(self, have: Int64, prices: Float64, limit: float) -> _Columns:
        """Return the promising groups of near rows."""
        from coterie.kernels.search.cheap_groups import Asked, Offered, list_cheap_groups

        nodes, costs = self.index.nodes, self.index.costs
        rank = np.empty(len(prices), dtype=np.int64)
        rank[np.lexsort((np.arange(len(prices)), -prices))] = np.arange(len(prices))
        offered, asked = Offered(have, prices, rank), Asked(self.k, self.k + 1, limit, EACH)

        def piece(first: int, last: int) -> _Columns:
            found = list_cheap_groups(nodes.points, costs, self.near, offered, asked, int(first), int(last))
            members = np.full((len(found.losses), 2 * self.k - 1), -1, dtype=np.int32)
            members[:, : asked.most] = found.members
            return _Columns(members, found.losses)

        return _joined(*self._in_pieces(piece))

    def _solved(self, columns: _Columns, have: Int64, used: Int64) -> tuple[Float64, Float64] | None:
        """Return group → how often it is chosen, and place → price; None if the solver has no answer."""
        from scipy.optimize import linprog
        from scipy.sparse import csc_array

        number = np.zeros(len(have), dtype=np.int64)
        number[used] = np.arange(len(used))
        column, entry = np.nonzero(columns.members >= 0)
        cells = (np.ones(len(column)), (number[columns.members[column, entry]], column))
        matrix = csc_array(cells, shape=(len(used), len(columns.losses)))
        options = {}
        if self.run.deadline is not None:
            options["time_limit"] = max(self.run.deadline - time.monotonic(), 0.0)
        solved = linprog(columns.losses, A_eq=matrix, b_eq=have[used], method="highs-ds", options=options)
        if solved.status != 0 or solved.x is None or not np.isfinite(solved.x).all():
            return None
        prices = np.zeros(len(have))
        prices[used] = solved.eqlin.marginals
        return np.asarray(solved.x, dtype=np.float64), prices


def _joined(*parts: _Columns) -> _Columns:
    return _Columns(np.concatenate([each.members for each in parts]), np.concatenate([each.losses for each in parts]))
