"""utility(): measure how well a release preserves query answers, learning and distributions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

from coterie.arrays import AnyTable
from coterie.errors import ConfigError, Problem
from coterie.evaluation.before_after import BeforeAfter
from coterie.evaluation.distributions import Distributions
from coterie.evaluation.distributions import distributions as compare_distributions
from coterie.evaluation.learning import LearningUtility, Model, learning_utility
from coterie.evaluation.queries import ErrorSummary, QueryErrors, answer_queries
from coterie.evaluation.query_workload import Workload, query_errors
from coterie.files.tables import read_pair
from coterie.settings.config import Config
from coterie.settings.keywords import Keywords
from coterie.settings.signature import spelled_out

if TYPE_CHECKING:
    from coterie.methods._method import Progress
    from coterie.settings.config import AnyConfig

__all__ = ["DESCRIPTIONS", "Utility", "UtilityRequest", "utility"]

DESCRIPTIONS: dict[str, str] = {
    "query_error_median": "relative error of COUNT queries on the release: median",
    "query_error_mean": "relative error of COUNT queries: mean",
    "query_error_p95": "relative error of COUNT queries: 95th percentile",
    "queries_skipped": "COUNT queries skipped because their true answer is 0",
    "query_sum_error_median": "relative error of SUM queries on the release: median",
    "query_sum_error_mean": "relative error of SUM queries: mean",
    "query_sum_error_p95": "relative error of SUM queries: 95th percentile",
    "sum_queries_skipped": "SUM queries skipped because their true answer is 0",
    "own_query_error_median": "relative error of the queries of your file: median",
    "own_query_error_mean": "relative error of the queries of your file: mean",
    "own_query_error_p95": "relative error of the queries of your file: 95th percentile",
    "own_queries_skipped": "queries of your file skipped because their true answer is 0",
    "learning_accuracy": "share of original rows that a model trained on the release predicts correctly",
    "learning_accuracy_original": "the same for a model trained on the original",
    "learning_accuracy_majority": "the same for the most frequent class",
    "learning_kept": "share of the original's gain over the majority that the release keeps",
    "distribution_distance": "mean total variation between the columns before and after, 0 (identical) to 1",
    "association_change": "mean change of the association between two columns",
}


@dataclass(frozen=True, kw_only=True)
class UtilityRequest:
    """What to measure; by default nothing."""

    queries: int | Workload | None = None
    """the number of random COUNT queries, or a workload"""
    sum: str | None = None
    """a column for as many SUM queries"""
    query_file: str | os.PathLike[str] | None = None
    """the user's own queries"""
    target: str | None = None
    """a column for models to predict"""
    features: Sequence[str] | None = None
    """the predictors; by default all quasi-identifiers"""
    model: Model = "linear"
    folds: int = 5
    distributions: bool = False
    """compare columns, and pairs of columns"""

    def __post_init__(self) -> None:
        problems = []
        if self.sum is not None and self.queries is None:
            problems.append(Problem("sum", "needs a number of queries, such as queries=1000"))
        if self.target is None and self.features is not None:
            problems.append(Problem("features", "needs a target: the column to predict from them"))
        if problems:
            raise ConfigError(problems)

    @property
    def empty(self) -> bool:
        """Whether nothing is requested."""
        asked = (self.queries, self.query_file, self.target)
        return all(each is None for each in asked) and not self.distributions


@dataclass(frozen=True)
class Utility:
    """The utility of a release; None for what was not requested."""

    queries: QueryErrors | None = None
    sums: QueryErrors | None = None
    own: QueryErrors | None = None
    learning: LearningUtility | None = None
    distributions: Distributions | None = None

    def measures(self) -> dict[str, float]:
        """Return figures by name, as in `coterie.measure`; NaN for undefined ones."""
        found: dict[str, float] = {}
        workloads = (
            ("query_error", "queries_skipped", self.queries),
            ("query_sum_error", "sum_queries_skipped", self.sums),
            ("own_query_error", "own_queries_skipped", self.own),
        )
        for name, skipped, errors in workloads:
            if errors is not None:
                summary: ErrorSummary = errors.summary
                found |= {f"{name}_{each}": getattr(summary, each) for each in ("median", "mean", "p95")}
                found[skipped] = summary.skipped
        if self.learning is not None:
            found["learning_accuracy"] = self.learning.release.accuracy
            found["learning_accuracy_original"] = self.learning.original.accuracy
            found["learning_accuracy_majority"] = self.learning.majority.accuracy
            found["learning_kept"] = float("nan") if self.learning.kept is None else self.learning.kept
        if self.distributions is not None:
            found["distribution_distance"] = self.distributions.mean_distance
            found["association_change"] = self.distributions.association_change
        return found

    def to_dict(self, *, values: bool = True) -> dict[str, Any]:
        """Return all requested results as plain values; without `values`, none of the original's."""
        parts = {"queries": self.queries, "sums": self.sums, "own": self.own, "learning": self.learning}
        found = {name: part.to_dict() for name, part in parts.items() if part is not None}
        if self.distributions is not None:
            found["distributions"] = self.distributions.to_dict(values=values)
        return found


@spelled_out
def utility(
    original: AnyTable,
    published: AnyTable,
    *,
    config: AnyConfig = None,
    queries: int | Workload | None = None,
    sum: str | None = None,
    query_file: str | os.PathLike[str] | None = None,
    target: str | None = None,
    features: Sequence[str] | None = None,
    model: Model = "linear",
    folds: int = 5,
    distributions: bool = False,
    progress: Progress | None = None,
    **settings: Unpack[Keywords],
) -> Utility:
    """Measure the utility of a release: query answers, learning and distributions.

    Args:
        original: The table that the release was made from: a frame or a path.
        published: The release. Only learning needs its rows in the original's order.
        config: The configuration of the release; its seed is used for random choices.
        queries: The number of random COUNT queries, or a `coterie.Workload`.
        sum: A column for as many SUM queries.
        query_file: Your own queries, as TOML or one per line.
        target: A column for models to predict; needs the `ml` extra.
        features: The predictors; by default all quasi-identifiers.
        model: `linear` or `forest`.
        folds: The number of cross-validation folds.
        distributions: Whether to compare columns and pairs of columns before and after.
        progress: Called now and then with (step, done, total).
        **settings: The fields of `Config`.
    """
    request = UtilityRequest(
        queries=queries,
        sum=sum,
        query_file=query_file,
        target=target,
        features=features,
        model=model,
        folds=folds,
        distributions=distributions,
    )
    settled = Config.build(config, **settings)
    before, after = read_pair(original, published, settled)
    return utility_of(BeforeAfter(before, after, settled), request, progress=progress)


def utility_of(tables: BeforeAfter, request: UtilityRequest, *, progress: Progress | None = None) -> Utility:
    """Measure what is requested."""
    found: dict[str, Any] = {}
    if request.query_file is not None:  # first: a file may have faults, and its reader should not wait to hear of them
        from coterie.evaluation.query_file import read_queries

        found["own"] = answer_queries(tables, read_queries(request.query_file, tables), progress=progress)
    if request.queries is not None:
        given = request.queries
        workload = given if isinstance(given, Workload) else Workload(count=given, seed=tables.config.seed)
        found["queries" if workload.sum is None else "sums"] = query_errors(tables, workload, progress=progress)
        if request.sum is not None:
            found["sums"] = query_errors(tables, replace(workload, sum=request.sum), progress=progress)
    if request.target is not None:
        found["learning"] = learning_utility(
            tables,
            request.target,
            features=request.features,
            model=request.model,
            folds=request.folds,
            seed=tables.config.seed,
            progress=progress,
        )
    if request.distributions:
        found["distributions"] = compare_distributions(tables)
    return Utility(**found)
