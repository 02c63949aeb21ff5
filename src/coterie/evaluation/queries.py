"""Query workloads: the error of COUNT and SUM queries on a release (Xu et al. 2006, §5.2).

A query is answered on the original, and estimated on the release with every cell spread evenly over its possible
values (`cells.py`). Rows are first aggregated into distinct combinations of cells, so the cost of a query depends on
the number of combinations it touches, not on the number of rows.

The error of a query is |estimate − answer| ÷ |answer|. A query whose answer is 0 has no relative error: it is skipped
and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from coterie.arrays import Bool, Float64, Int64
from coterie.errors import ConfigError, Problem
from coterie.evaluation.before_after import BeforeAfter, joint_cells
from coterie.evaluation.cells import Cells, Predicate
from coterie.values.axis import floats_of

if TYPE_CHECKING:
    from coterie.methods._method import Progress

# Above this share of all pieces, they are scanned in order.
_MANY = 0.1


@dataclass(frozen=True, eq=False)
class Query:
    """COUNT(*) or SUM(column) over the rows that satisfy every predicate. Predicates are on different columns."""

    where: tuple[Predicate, ...]
    sum: str | None = None
    """the column to sum; None counts rows"""
    name: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns with predicates."""
        return tuple(predicate.column for predicate in self.where)


@dataclass(frozen=True)
class ErrorSummary:
    """Relative errors of some queries; NaN if none has one."""

    queries: int
    skipped: int
    """queries whose true answer is 0: they have no relative error and do not count in the figures"""
    median: float
    mean: float
    p95: float
    largest: float
    absolute: float
    """mean |estimate − answer| over all queries, including skipped ones"""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; undefined ones are None."""
        return {name: None if value != value else value for name, value in asdict(self).items()}


@dataclass(frozen=True, eq=False)
class QueryErrors:
    """A workload's answers on the original, its estimates on the release, and the errors."""

    queries: tuple[Query, ...] = field(repr=False)
    actual: Float64 = field(repr=False)
    """query → answer on the original"""
    estimate: Float64 = field(repr=False)
    """query → estimate on the release"""

    @property
    def skipped(self) -> Bool:
        """Query → whether its answer is 0."""
        return np.equal(self.actual, 0.0)

    @property
    def errors(self) -> Float64:
        """Query → relative error; NaN if the answer is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.abs(self.estimate - self.actual) / np.abs(self.actual)
        return np.where(self.skipped, np.nan, found)

    def where(self, chosen: Sequence[int] | Int64 | Bool) -> QueryErrors:
        """Return some of the queries."""
        every = np.arange(len(self.queries))
        places = every[np.asarray(chosen)] if len(chosen) else every[:0]
        return QueryErrors(tuple(self.queries[place] for place in places), self.actual[places], self.estimate[places])

    @property
    def summary(self) -> ErrorSummary:
        """Median, mean and 95th percentile of the relative error."""
        known = self.errors[~self.skipped]
        nothing = len(known) == 0
        return ErrorSummary(
            queries=len(self.queries),
            skipped=int(self.skipped.sum()),
            median=np.nan if nothing else float(np.median(known)),
            mean=np.nan if nothing else float(known.mean()),
            p95=np.nan if nothing else float(np.percentile(known, 95)),
            largest=np.nan if nothing else float(known.max()),
            absolute=float(np.abs(self.estimate - self.actual).mean()) if len(self.queries) else np.nan,
        )

    def by_columns(self) -> dict[tuple[str, ...], ErrorSummary]:
        """Return combination of predicate columns → errors of its queries."""
        groups: dict[tuple[str, ...], list[int]] = {}
        for place, query in enumerate(self.queries):
            groups.setdefault(query.columns, []).append(place)
        return {columns: self.where(places).summary for columns, places in groups.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: the overall summary, and one for each combination of columns."""
        by_columns = [{"columns": list(columns), **found.to_dict()} for columns, found in self.by_columns().items()]
        return {**self.summary.to_dict(), "by_columns": by_columns}


class Pieces:
    """A table aggregated into the distinct combinations of some columns' cells, with row counts."""

    def __init__(self, cells: Mapping[str, Cells], *, rows: int) -> None:
        self._cells = dict(cells)
        self._classes: Int64 = np.zeros(rows, dtype=np.int64)
        first: Int64 = np.zeros(min(rows, 1), dtype=np.int64)
        if self._cells and rows:
            self._classes, first = joint_cells(list(self._cells.values()))
        self.counts: Float64 = np.bincount(self._classes, minlength=len(first)).astype(np.float64)
        self._of_piece = {name: each.of_row[first] for name, each in self._cells.items()}
        self._order: dict[str, Int64] = {}
        self._start: dict[str, Int64] = {}
        for name, each in self._cells.items():
            self._order[name] = np.argsort(self._of_piece[name], kind="stable")
            counted = np.bincount(self._of_piece[name], minlength=each.count)
            self._start[name] = np.concatenate([[0], np.cumsum(counted)])

    def sums(self, column: Cells, values: Float64) -> Float64:
        """Return piece → expected sum of a column over its rows."""
        added = column.moment(None, values)[column.of_row]
        return np.bincount(self._classes, weights=added, minlength=len(self.counts)).astype(np.float64)

    def answer(self, query: Query, *, weights: Float64, values: Float64 | None = None) -> float:
        """Return the expected sum of the weights over the rows that satisfy a query.

        Args:
            query: The query, with predicates on columns of these pieces only.
            weights: Piece → its contribution if the predicates hold: its rows, or the sum of a column over them.
            values: For SUM of a column that also has a predicate: code → number. The weights are then row counts.
        """
        shares = {predicate.column: self._cells[predicate.column].share(predicate) for predicate in query.where}
        if not shares:
            return float(weights.sum())
        touched = {name: np.flatnonzero(share) for name, share in shares.items()}
        first = min(touched, key=lambda name: self._size(name, touched[name]))
        if values is not None and query.sum is not None:
            own = next(predicate for predicate in query.where if predicate.column == query.sum)
            shares[query.sum] = self._cells[query.sum].moment(own, values)
        pieces = self._pieces_of(first, touched[first])
        found = weights[pieces] * shares[first][self._of_piece[first][pieces]]
        for name, share in shares.items():
            if name != first:
                factor = share[self._of_piece[name][pieces]]
                inside = np.flatnonzero(factor)
                pieces, found = pieces[inside], found[inside] * factor[inside]
        if query.sum is not None:
            # In a fixed order, so that the same numbers always have the same sum, bit for bit.
            found = found[np.argsort(pieces, kind="stable")]
        return float(found.sum())

    def _size(self, name: str, cells: Int64) -> int:
        start = self._start[name]
        return int((start[cells + 1] - start[cells]).sum())

    def _pieces_of(self, name: str, cells: Int64) -> Int64:
        """Return the pieces that have one of these cells."""
        if self._size(name, cells) > _MANY * len(self.counts):
            # A scan of all of them is faster than random access to many.
            wanted = np.zeros(self._cells[name].count, dtype=np.bool_)
            wanted[cells] = True
            return np.flatnonzero(wanted[self._of_piece[name]])
        start = self._start[name]
        lengths = start[cells + 1] - start[cells]
        ends = np.cumsum(lengths)
        places = np.arange(int(lengths.sum())) + np.repeat(start[cells] - (ends - lengths), lengths)
        pieces: Int64 = self._order[name][places]
        return pieces


def answer_queries(tables: BeforeAfter, queries: Sequence[Query], *, progress: Progress | None = None) -> QueryErrors:
    """Answer queries on the original and estimate them on the release.

    Raises:
        ConfigError: A column is not in both tables, or a column to sum is not numeric.
    """

    def told(done: int) -> None:
        if progress is not None:
            progress("queries", done, 2 * len(queries))

    actual = answers_on(tables, queries, side="before", told=told)
    estimate = answers_on(tables, queries, side="after", told=lambda done: told(len(queries) + done))
    return QueryErrors(tuple(queries), actual, estimate)


def answers_on(
    tables: BeforeAfter,
    queries: Sequence[Query],
    *,
    side: Literal["before", "after"],
    told: Callable[[int], None] | None = None,
) -> Float64:
    """Return query → answer on the original (before), or estimate on the release (after)."""
    used = sorted({column for query in queries for column in query.columns})
    summed = sorted({query.sum for query in queries if query.sum is not None})
    numbers = {name: summed_numbers(tables, name) for name in summed}
    cells: dict[str, Cells] = {name: getattr(tables.column(name), side) for name in {*used, *summed}}
    rows = (tables.original if side == "before" else tables.published).num_rows
    pieces = Pieces({name: cells[name] for name in used}, rows=rows)
    sums = {name: pieces.sums(cells[name], numbers[name]) for name in summed}
    answers = np.zeros(len(queries))
    for place, query in enumerate(queries):
        if told is not None and place % 64 == 0:
            told(place)
        inside = query.sum is not None and query.sum in query.columns
        weights = pieces.counts if query.sum is None or inside else sums[query.sum]
        values = numbers[query.sum] if inside and query.sum is not None else None
        answers[place] = pieces.answer(query, weights=weights, values=values)
    return answers


def summed_numbers(tables: BeforeAfter, name: str) -> Float64:
    """Return code → number of a column to sum; raise a ConfigError if it is not numeric."""
    found = floats_of(tables.column(name).domain)
    if found is None:
        raise ConfigError([Problem("sum", f"column {name!r} is not numeric, so it cannot be summed")])
    return found
