"""Xu et al. 2006: how well released tables answer random COUNT and SUM queries (Figs. 9, 19 and 20)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from benchmarks.papers.curves import Curves, Figure, Panel, curves, factors, pick
from benchmarks.papers.data import Data, data
from benchmarks.papers.effects import Effect, counted, graded
from benchmarks.papers.trials import Point, Trial, group, kind, rounded
from benchmarks.papers.xu2006 import (
    BOTTOM_UP,
    COMPACT,
    MONDRIAN,
    MULTIDIM,
    READINGS,
    SECOND_TRY,
    SEED,
    SIDE,
    TOP_DOWN,
    methods,
)  # fmt: skip
from coterie.evaluation.before_after import BeforeAfter
from coterie.evaluation.cells import Predicate, Span
from coterie.evaluation.queries import Query, QueryErrors, answer_queries
from coterie.evaluation.query_workload import Workload, draw_queries
from coterie.publishing.publish import publish
from coterie.table.domain import Domain

TITLE = "Xu, Wang, Pei, Wang, Shi, Fu 2006: queries"
KS = (2, 5, 10, 20, 50, 100)
K = 10
QUERIES, FEW_QUERIES = 1_000, 250
WEIGHTS = (8, 4, 2, 1)
WEIGHTED, PLAIN = ", weights 8, 4, 2, 1", ", no weights"
REPEATS, TABLES = 1, 3
PREFIXES = ("A1", "A1A2", "A1A2A3", "A1A2A3A4")
SUMMED = {"xu": "age", "synthetic": "A1"}
ADULT_LABELS = (MULTIDIM, SECOND_TRY, MONDRIAN, BOTTOM_UP, TOP_DOWN, SEED, SIDE, COMPACT)
MADE_LABELS = tuple(label for label in ADULT_LABELS if label != SECOND_TRY)
ASIDE = (SEED, SIDE, COMPACT)


@kind("queries")
def queries(trial: Trial, made: Data, *, count: int = QUERIES) -> Point:
    """Mean and median relative errors of COUNT and SUM queries with a predicate on every attribute."""
    tables = _released(trial, made)
    found = {}
    for name, summed in (("count", None), ("sum", SUMMED[trial.data])):
        workload = Workload.of_paper(count=count, sum=summed, seed=trial.repeat)
        found |= _summary(name, _errors(tables, workload, trial))
    return found


@kind("few queries")
def few_queries(trial: Trial, made: Data) -> Point:
    """The same with fewer queries, for the quick run."""
    return queries(trial, made, count=FEW_QUERIES)


@kind("prefixes")
def prefixes(trial: Trial, made: Data, *, count: int = QUERIES) -> Point:
    """Mean relative errors of COUNT queries on A1, on A1 and A2, and so on."""
    tables = _released(trial, made)
    names = tables.config.quasi
    found: Point = {}
    for size in range(1, len(names) + 1):
        columns = names[:size]
        workload = Workload(count=count, columns=columns, size=size, weighted=False, root=True, seed=trial.repeat)
        found |= _summary("".join(columns), answer_queries(tables, draw_queries(tables, workload)))
    return found


@kind("few prefixes")
def few_prefixes(trial: Trial, made: Data) -> Point:
    """The same with fewer queries, for the quick run."""
    return prefixes(trial, made, count=FEW_QUERIES)


def _summary(name: str, errors: QueryErrors) -> Point:
    found = errors.summary
    return {
        f"{name}_mean": rounded(found.mean),
        f"{name}_median": rounded(found.median),
        f"{name}_skipped": found.skipped,
    }


def _released(trial: Trial, made: Data) -> BeforeAfter:
    """The table before and after, through the published texts. MultiDim publishes intervals of its numbers."""
    grouping = group(trial, made).grouping
    side = made.numbered or made
    published = publish(side.columns, side.table, grouping, side.config.replace(k=trial.k))
    return BeforeAfter(side.columns, published.table, side.config, published.kept)


def _errors(tables: BeforeAfter, workload: Workload, trial: Trial) -> QueryErrors:
    plain = {name: value for name, value in trial.size.items() if name != "numbers"}
    drawn = _drawn(trial.data, tuple(sorted(plain.items())), workload)
    if trial.size.get("numbers"):
        domains = {domain.name: domain for domain in data(trial.data, plain).judge.domains}
        drawn = [_in_numbers(query, domains) for query in drawn]
    return answer_queries(tables, drawn)


@lru_cache(maxsize=8)
def _drawn(name: str, size: tuple, workload: Workload) -> list[Query]:
    made = data(name, dict(size))
    return draw_queries(BeforeAfter(made.columns, made.columns, made.config), workload)


def _in_numbers(query: Query, domains: dict[str, Domain]) -> Query:
    """The same query where categories are numbers in alphabetical order: a value is the stretch from it to itself."""
    return Query(tuple(_in_number(each, domains[each.column]) for each in query.where), query.sum)


def _in_number(predicate: Predicate, domain: Domain) -> Predicate:
    if predicate.spans is not None:
        return predicate
    values = domain.values.to_pylist()
    rank = {value: place for place, value in enumerate(sorted(values))}
    ranks = sorted(rank[values[code]] for code in np.flatnonzero(predicate.mask))
    mask = np.zeros(len(values), dtype=np.bool_)
    mask[ranks] = True
    return Predicate(predicate.column, mask, tuple(Span(float(each), float(each)) for each in ranks))


def trials(quick: bool) -> list[Trial]:
    repeats, few = (1, "few ") if quick else (REPEATS, "")
    rows = {"rows": 4_000} if quick else {}
    made = []
    for k in (5, 20) if quick else KS:
        made += methods("xu", rows, k, repeats=repeats, kind=f"{few}queries")
        for seed in range(repeats):
            size = {"shape": "gauss", "sigma": 1.0, "rows": 3_000 if quick else 10_000, "attributes": 4, "seed": seed}
            made += methods("synthetic", size, k, repeats=1, kind=f"{few}queries")
    for seed in range(2 if quick else TABLES):
        # All rows in the quick run too: on few, the third attribute gains next to nothing.
        size = {"shape": "uniform", "rows": 10_000, "attributes": 4, "seed": seed}
        made += _weighted(size, seed, kind=f"{few}prefixes")
    return made


def _weighted(size: dict[str, Any], seed: int, *, kind: str) -> list[Trial]:
    made = []
    for label in (BOTTOM_UP, TOP_DOWN, *ASIDE):
        method = label.split(",")[0]
        options = READINGS.get(label, {})
        for suffix, weights in ((WEIGHTED, {"weights": list(WEIGHTS)}), (PLAIN, {})):
            made.append(Trial(label + suffix, "synthetic", size | weights, method, K, options, seed, kind=kind))
    return made


def _prefix_curves(points: list[Point]) -> Curves:
    """Error over the number of attributes that a query asks for."""
    spread = [
        {**point, "asked": size, "error": point[f"{name}_mean"]}
        for point in points
        if point["kind"].endswith("prefixes")
        for size, name in enumerate(PREFIXES, 1)
    ]
    return curves(spread, "asked", "error", list(dict.fromkeys(point["label"] for point in spread)))


def _error_curves(points: list[Point], name: str, y: str) -> Curves:
    labels = ADULT_LABELS if name == "xu" else MADE_LABELS
    asked = [point for point in points if point["kind"].endswith("queries")]
    return curves(pick(asked, data=name), "k", y, labels)


def figures(points: list[Point]) -> list[Figure]:
    made = []
    for number, name, title in ((9, "xu", "Adult"), (20, "synthetic", "Gaussian, σ = 1")):
        panels = [
            Panel(what, "k", f"{of} relative error", _error_curves(points, name, f"{what.lower()}_{of}"), log_x=True)
            for of in ("mean", "median")
            for what in ("COUNT", "SUM")
        ]
        made.append(Figure(f"xu2006-fig-{number}", f"Fig. {number}: query error, {title}", panels))
    panel = Panel("", "attributes asked for: A1, A1A2, …", "mean relative error", _prefix_curves(points))
    made.insert(1, Figure("xu2006-fig-19", f"Fig. 19: weights and query error, uniform, k = {K}", [panel]))
    return made


def effects(points: list[Point]) -> list[Effect]:
    return [*_adult(points), *_gauss(points), *_weights(_prefix_curves(points))]


def _adult(points: list[Point]) -> list[Effect]:
    made = [_medians(points, what) for what in ("COUNT", "SUM")]
    for what in ("COUNT", "SUM"):
        found = _error_curves(points, "xu", f"{what.lower()}_mean")
        for label in (BOTTOM_UP, TOP_DOWN, *ASIDE):
            lower = factors(found, label, MULTIDIM)
            made.append(
                Effect("C4", f"adult-{what}-{label}", f"Adult, {what}: `{label}` has a lower error than MultiDim",
                       f"{lower.text()} of MultiDim's", graded(lower.values, below=1), aside=label in ASIDE,
                       quick=label not in (SEED, SIDE))
            )  # fmt: skip
    return made


def _medians(points: list[Point], what: str) -> Effect:
    """The same by the median, which a few queries with small answers do not move; and how many were skipped."""
    found = _error_curves(points, "xu", f"{what.lower()}_median")
    lower = {label: factors(found, label, MULTIDIM) for label in (BOTTOM_UP, TOP_DOWN, *ASIDE)}
    shown = ", ".join(f"`{label}` {each.text()}" for label, each in lower.items())
    asked = [point for point in points if point["kind"].endswith("queries") and point["data"] == "xu"]
    skipped = max(point[f"{what.lower()}_skipped"] for point in asked)
    count = FEW_QUERIES if asked[0]["kind"].startswith("few") else QUERIES
    text = f"{shown} of MultiDim's; {skipped:,} of {count:,} queries ask for no row at all and are skipped"
    holds = graded([value for label in (BOTTOM_UP, TOP_DOWN) for value in lower[label].values], below=1)
    says = f"Adult, {what}: by the median error, both have a lower one than MultiDim"
    return Effect("C4", f"adult-{what}-median", says, text, holds, aside=True, quick=False)


def _gauss(points: list[Point]) -> list[Effect]:
    made = []
    for what in ("COUNT", "SUM"):
        found = _error_curves(points, "synthetic", f"{what.lower()}_mean")
        small = {label: factors(found, label, MULTIDIM).values[0] for label in (BOTTOM_UP, TOP_DOWN)}
        last = found[MULTIDIM].x[-1]
        best = min((MULTIDIM, BOTTOM_UP, TOP_DOWN), key=lambda label: found[label].mean[-1])
        ours = factors(found, COMPACT, MULTIDIM)
        made += [
            Effect("C4", f"gauss-{what}-small", f"Gaussian, {what}: both have a lower error than MultiDim for small k",
                   ", ".join(f"`{label}` {value:.2f}" for label, value in small.items())
                   + f" of MultiDim's at k = {found[MULTIDIM].x[0]}", graded(small.values(), below=1)),
            Effect("C4", f"gauss-{what}-large", f"Gaussian, {what}: `top-down` has the lowest error for large k",
                   f"`{best}` has at k = {last}", counted([best == TOP_DOWN])),
            Effect("C4", f"gauss-{what}-compact", f"Gaussian, {what}: `compact` has a lower error than MultiDim",
                   f"{ours.text()} of MultiDim's", graded(ours.values, below=1), aside=True),
        ]  # fmt: skip
    return made


def _weights(found: Curves) -> list[Effect]:
    made = []
    for label in (BOTTOM_UP, TOP_DOWN, *ASIDE):
        ratio = factors(found, label + WEIGHTED, label + PLAIN).values
        shown = ", ".join(f"{name} {value:.2f}" for name, value in zip(PREFIXES, ratio, strict=True))
        made.append(
            Effect("C8", label, f"`{label}`: weights lower the error on A1, A1A2 and A1A2A3",
                   f"error with ÷ without weights: {shown}", graded(ratio[:3], below=1), aside=label in ASIDE)
        )  # fmt: skip
    return made
