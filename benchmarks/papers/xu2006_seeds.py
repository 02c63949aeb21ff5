"""Xu et al. 2006: how far apart the two seeds of top-down are, after some rounds of search (Fig. 22)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from benchmarks.papers.curves import Curves, Figure, Panel, curves
from benchmarks.papers.data import Data, data
from benchmarks.papers.effects import Effect, graded
from benchmarks.papers.trials import Point, Trial, kind, rounded
from coterie.grouping.index import build_index
from coterie.kernels.search.neighbours import pair_costs
from coterie.table.table import Table

TITLE = "Xu, Wang, Pei, Wang, Shi, Fu 2006: the seeds of top-down"
ROUNDS = tuple(range(1, 9))
REPEATS, STARTS = 10, 20
ADULT, UNIFORM, GAUSS = "Adult", "uniform", "Gaussian, σ = 1"
TABLES = {
    ADULT: ("xu", {}),
    UNIFORM: ("synthetic", {"shape": "uniform"}),
    GAUSS: ("synthetic", {"shape": "gauss", "sigma": 1.0}),
}


@kind("seeds")
def seeds(trial: Trial, made: Data) -> Point:
    """The mean share of the largest pair penalty that the search reaches, over some random first rows."""
    largest = _largest(trial.data, tuple(sorted(trial.size.items())))
    distinct = _distinct(made.table)
    rng = np.random.default_rng(trial.repeat)
    found = []
    # A row is drawn as top-down draws it, evenly among all rows; equal rows stand for one another after that.
    for row in made.table.distinct.of_row[rng.integers(0, made.table.rows, STARTS)]:
        at, penalty = int(row), 0.0
        for _ in range(trial.options["rounds"]):
            penalties = pair_costs(distinct.costs, distinct.codes, at)
            at = int(np.argmax(penalties))
            penalty = float(penalties[at])
        found.append(penalty / largest)
    return {"share": rounded(float(np.mean(found))), "least_share": rounded(min(found))}


def _distinct(table: Table) -> Table:
    return Table(table.distinct.codes, table.domains)


@lru_cache
def _largest(name: str, size: tuple) -> float:
    """The largest penalty of any pair: for every distinct row, the one furthest from it."""
    table = _distinct(data(name, dict(size)).table)
    index = build_index(table)
    furthest = np.array([index.furthest(codes) for codes in table.codes])
    lo, hi = np.minimum(table.codes, table.codes[furthest]), np.maximum(table.codes, table.codes[furthest])
    from coterie.kernels.search.costs import box_costs

    return float(box_costs(table.costs, np.ascontiguousarray(lo), np.ascontiguousarray(hi)).max())


def trials(quick: bool) -> list[Trial]:
    made = []
    for label, (name, size) in TABLES.items():
        few = {**size, "rows": 3_000} if quick else size
        for rounds in (1, 3, 6) if quick else ROUNDS:
            made += [
                Trial(label, name, few, "top-down", 0, {"rounds": rounds}, repeat, "seeds")
                for repeat in range(2 if quick else REPEATS)
            ]
    return made


def _curves(points: list[Point]) -> Curves:
    return curves(points, "rounds", "share", tuple(TABLES))


def figures(points: list[Point]) -> list[Figure]:
    panel = Panel("", "rounds", "share of the largest pair penalty", _curves(points), from_zero=False)
    return [Figure("xu2006-fig-22", "Fig. 22: how far apart the seeds are", [panel])]


def effects(points: list[Point]) -> list[Effect]:
    """The paper speaks of its three kinds of tables together: the mean of the three decides, each stands beside it."""
    found = _curves(points)
    made = []
    for name, rounds, share, printed in (("three", 3, 0.97, "97 %"), ("six", 6, 0.9875, "more than 98.75 %")):
        reached = [curve.at(rounds) for curve in found.values()]
        mean = sum(reached) / len(reached)
        each = ", ".join(f"{label} {100 * curve.at(rounds):.2f} %" for label, curve in found.items())
        made += [
            Effect("C6", name, f"After {rounds} rounds the seeds have {printed} of the largest pair penalty",
                   f"{100 * mean:.2f} % on average over the three tables",
                   graded([mean], above=share, closed=True, share=True),
                   quick=False, printed=printed, ours=f"{100 * mean:.2f} %"),
            Effect("C6", f"{name}-each", f"The same on each table by itself, after {rounds} rounds", each,
                   graded(reached, above=share, closed=True, share=True), quick=False, aside=True),
        ]  # fmt: skip
    made.append(_rises(found))
    return made


def _rises(found: Curves) -> Effect:
    """Few rows can show it as well: going on to the row furthest from the last one finds a dearer pair."""
    once, thrice = ([curve.at(rounds) for curve in found.values()] for rounds in (1, 3))
    gains = [after / before for before, after in zip(once, thrice, strict=True)]
    each = ", ".join(
        f"{label} {100 * before:.2f} to {100 * after:.2f} %"
        for label, before, after in zip(found, once, thrice, strict=True)
    )
    says = "Three rounds reach more of it than one, on each table"
    return Effect("C6", "rises", says, each, graded(gains, above=1.0), aside=True)
