"""Xu et al. 2006 on synthetic tables: penalties over k, spread and dimensions, and time over rows (Figs. 11–18, 21)."""

from __future__ import annotations

from typing import Any

from benchmarks.papers.curves import Curves, Figure, Panel, curves, factors, pick, slope
from benchmarks.papers.effects import Effect, graded
from benchmarks.papers.trials import Point, Trial
from benchmarks.papers.xu2006 import (
    BOTTOM_UP,
    BOUND,
    COMPACT,
    ENLARGE,
    MONDRIAN,
    MULTIDIM,
    SEED,
    SIDE,
    TOP_DOWN,
    methods,
    other_classes,
    other_times,
)  # fmt: skip

TITLE = "Xu, Wang, Pei, Wang, Shi, Fu 2006: bottom-up and top-down, synthetic tables"
KS = (2, 5, 10, 20, 50, 100)
K = 10
SIGMAS = (0.5, 1.0, 2.0, 3.0, 4.0, 6.0)
ATTRIBUTES = (2, 3, 4, 5, 6, 8)
ROWS = (10_000, 20_000, 50_000, 100_000)
DEFAULT = {"rows": 10_000, "attributes": 4}
TABLES = 10
"""tables drawn for each point, each with its own seed; the method's seed is the table's"""
LABELS = (MULTIDIM, MONDRIAN, BOTTOM_UP, TOP_DOWN, SEED, SIDE, ENLARGE, COMPACT, BOUND)

UNIFORM: dict[str, Any] = {"shape": "uniform"}
GAUSS: dict[str, Any] = {"shape": "gauss", "sigma": 1.0}


def trials(quick: bool) -> list[Trial]:
    rows = 3_000 if quick else DEFAULT["rows"]
    default = {**DEFAULT, "rows": rows}
    ks, sigmas, wide = ((5, 20), (0.5, 3.0), (3, 6)) if quick else (KS, SIGMAS, ATTRIBUTES)
    tables = 2 if quick else TABLES
    made = [
        trial
        for shape in (UNIFORM, GAUSS)
        for k in ks
        for trial in _drawn(shape | default, k, tables=tables, once=(COMPACT, BOUND, ENLARGE))
    ]
    sizes = [GAUSS | default | {"sigma": sigma} for sigma in sigmas]
    sizes += [GAUSS | default | {"attributes": attributes} for attributes in wide]
    made += [trial for size in sizes for trial in _drawn(size, K, tables=tables)]
    for many in () if quick else ROWS:
        made += _drawn(UNIFORM | DEFAULT | {"rows": many}, K, tables=3)
    return made


def _drawn(size: dict[str, Any], k: int, *, tables: int, once: tuple[str, ...] = (COMPACT, BOUND)) -> list[Trial]:
    """All methods on several tables of one kind; what takes longer, on the first, and the longest in two figures."""
    return [
        trial
        for seed in range(tables)
        for trial in methods("synthetic", {**size, "seed": seed}, k, repeats=1)
        if trial.label in once or trial.label not in (COMPACT, BOUND, ENLARGE)
        if seed == 0 or trial.label not in once
    ]


def over(points: list[Point], x: str, y: str, **fixed: Any) -> Curves:
    """Curves over one thing, all others as usual."""
    rows = {"rows": min(point["size"]["rows"] for point in points)} if x != "rows" else {}
    usual = {"attributes": 4, "k": K, **rows, **fixed}
    usual.pop(x, None)
    return curves(pick(points, **usual), x, y, LABELS)


def _views(points: list[Point], y: str) -> list[tuple[int, str, str, Curves]]:
    """Figure (certainty, then discernability is four later), what it is over, its axis, its curves."""
    return [
        (11, "uniform", "k", over(points, "k", y, shape="uniform")),
        (12, "Gaussian, σ = 1", "k", over(points, "k", y, shape="gauss", sigma=1.0)),
        (13, "Gaussian, k = 10", "σ", over(points, "sigma", y, shape="gauss")),
        (14, "Gaussian, σ = 1, k = 10", "quasi-identifiers", over(points, "attributes", y, shape="gauss", sigma=1.0)),
    ]


def figures(points: list[Point]) -> list[Figure]:
    made = []
    for y, label, later in (("ncp", "certainty penalty", 0), ("discernability", "discernability", 4)):
        for number, title, axis, found in _views(points, y):
            panel = Panel("", axis, label, found, log_x=axis == "k", log_y=later > 0)
            name = f"xu2006-fig-{number + later}"
            made.append(Figure(name, f"Fig. {number + later}: {label} over {axis}, {title}", [panel]))
    time = over(points, "rows", "cpu", shape="uniform")
    if time:
        panel = Panel("", "rows", "CPU seconds", time, log_x=True, log_y=True)
        made.append(Figure("xu2006-fig-21", "Fig. 21: run time over rows, uniform, k = 10", [panel]))
    return made


def effects(points: list[Point]) -> list[Effect]:
    views = {number: found for number, _, _, found in _views(points, "ncp")}
    made = [*_uniform(views[11]), *_gauss(views), *_sensitivity(views), *_classes(points)]
    made.append(_ours(points))
    time = over(points, "rows", "cpu", shape="uniform")
    return made + ([*_times(time), *other_times(time, "Synthetic")] if time else [])


def _ours(points: list[Point]) -> Effect:
    """Against all others on the same tables: the first of each kind, for which alone ours was run."""
    views = [found for *_, found in _views(pick(points, seed=0), "ncp")]
    others = {label: factors(views, COMPACT, label) for label in (MULTIDIM, MONDRIAN, BOTTOM_UP, TOP_DOWN, SEED)}
    shown = ", ".join(f"{found.text()} of `{label}`'s" for label, found in others.items())
    return Effect(
        "C7", "compact", "`compact` has the lowest penalty on every synthetic table",
        f"{shown}; {factors(views, COMPACT, BOUND).text()} times the bound",
        graded([value for found in others.values() for value in found.values], below=1, closed=True),
        quick=False, aside=True,
    )  # fmt: skip


def _uniform(view: Curves) -> list[Effect]:
    down, up = (factors(view, label, MULTIDIM) for label in (TOP_DOWN, BOTTOM_UP))
    return [
        Effect("C7", "uniform-top-down", "Uniform: `top-down` and MultiDim are comparable [0.8 to 1.25]",
               f"{down.text()} of MultiDim's penalty", graded(down.values, above=0.8, below=1.25), quick=False),
        Effect("C7", "uniform-small-k", "Uniform: `top-down` is better than MultiDim when k is small",
               f"{down.values[0]:.2f} of MultiDim's penalty at k = {view[TOP_DOWN].x[0]}",
               graded(down.values[:1], below=1), quick=False),
        Effect("C7", "uniform-bottom-up", "Uniform: `bottom-up` is worse than MultiDim",
               f"{up.text()} of MultiDim's penalty", graded(up.values, above=1)),
    ]  # fmt: skip


def _gauss(views: dict[int, Curves]) -> list[Effect]:
    made = []
    for label in (TOP_DOWN, BOTTOM_UP):
        found = factors(views[12], label, MULTIDIM)
        made.append(
            Effect("C7", f"gauss-{label}", f"Gaussian: `{label}` is better than MultiDim",
                   f"{found.text()} of MultiDim's penalty", graded(found.values, below=1))
        )  # fmt: skip
    for number, name, axis in ((13, "sigma", "σ"), (14, "dimensions", "the dimensionality")):
        down, over_multidim = (factors(views[number], TOP_DOWN, other) for other in (BOTTOM_UP, MULTIDIM))
        made += [
            Effect("C7", name, f"Over {axis}, `top-down` is the best of the three",
                   f"{down.text()} of `bottom-up`'s penalty, {over_multidim.text()} of MultiDim's",
                   graded(map(max, down.values, over_multidim.values), below=1, closed=True)),
        ]  # fmt: skip
    biased, worst = (factors(views[number], MULTIDIM, BOTTOM_UP) for number in (13, 14))
    alike = factors(views[14], TOP_DOWN, BOTTOM_UP)
    made += [
        Effect("C7", "multidim-sigma", "MultiDim is worse than `bottom-up` for a small σ and better for a large one",
               f"{biased.values[0]:.2f} times `bottom-up`'s penalty at σ = {views[13][MULTIDIM].x[0]:g}, "
               f"{biased.values[-1]:.2f} times at σ = {views[13][MULTIDIM].x[-1]:g}",
               graded([biased.values[0], 1 / biased.values[-1]], above=1)),
        Effect("C7", "alike-dimensions", "Over the dimensionality, both are comparable with each other [0.8 to 1.25]",
               f"`top-down` has {alike.text()} of `bottom-up`'s penalty", graded(alike.values, above=0.8, below=1.25),
               quick=False),
    ]  # fmt: skip
    made.append(
        Effect("C7", "multidim-dimensions", "MultiDim has a high penalty in many dimensions",
               f"{worst.values[-1]:.2f} times `bottom-up`'s at {views[14][MULTIDIM].x[-1]} attributes",
               graded(worst.values[-1:], above=1))
    )  # fmt: skip
    return made


def _sensitivity(views: dict[int, Curves]) -> list[Effect]:
    """The same under other readings of the assignment, and against our own cuts."""
    made = []
    for number, what in ((11, "Uniform"), (12, "Gaussian")):
        for label in (ENLARGE, SEED, SIDE):
            found = factors(views[number], label, MULTIDIM)
            made.append(
                Effect("C7", f"{what}-{label}", f"{what}: `{label}` is better than MultiDim",
                       f"{found.text()} of MultiDim's penalty", graded(found.values, below=1), aside=True, quick=False)
            )  # fmt: skip
        second = factors(views[number], TOP_DOWN, MONDRIAN)
        own = factors(views[number], MONDRIAN, MULTIDIM)
        made.append(
            Effect("C7", f"{what}-mondrian", f"{what}: `top-down` is better than our `mondrian`, with its second try",
                   f"{second.text()} of its penalty; it has {own.text()} of MultiDim's", graded(second.values, below=1),
                   aside=True, quick=False)
        )  # fmt: skip
    return made


def _classes(points: list[Point]) -> list[Effect]:
    views = [found for *_, found in _views(points, "discernability")]
    both = [factors(views, label, MULTIDIM) for label in (BOTTOM_UP, TOP_DOWN)]
    alike = factors(views, TOP_DOWN, BOTTOM_UP)
    return [
        Effect("C3", "synthetic", "The same on synthetic tables, in all cases",
               f"`bottom-up` {both[0].text()}, `top-down` {both[1].text()} of MultiDim's discernability",
               graded([value for each in both for value in each.values], below=1)),
        Effect("C3", "synthetic-alike", "Synthetic tables: both have a similar discernability [0.8 to 1.25]",
               f"`top-down` has {alike.text()} of `bottom-up`'s", graded(alike.values, above=0.8, below=1.25),
               quick=False),
        *other_classes(views[0], "Uniform"),
        *other_classes(views[1], "Gaussian"),
    ]  # fmt: skip


def _times(time: Curves) -> list[Effect]:
    down, between = factors(time, TOP_DOWN, MULTIDIM), factors(time, BOTTOM_UP, TOP_DOWN)
    slopes = {label: slope(time[label]) for label in (MULTIDIM, TOP_DOWN, BOTTOM_UP, COMPACT)}
    return [
        Effect("C5", "rows", "Synthetic, up to 100,000 rows: `top-down` takes less than 6 times as long as MultiDim",
               f"{down.text(1)} times", graded(down.values, below=6), quick=False, untold=True,
               printed="less than 6 times"),
        Effect("C5", "rows-bottom-up", "Synthetic: `bottom-up` is much slower than `top-down` [twice]",
               f"{between.text(1)} times as long", graded(between.values, above=2), quick=False, untold=True),
        Effect("C5", "growth", "Synthetic: time of `bottom-up` and `top-down` is at most quadratic in the rows",
               ", ".join(f"`{label}` n^{value:.2f}" for label, value in slopes.items()),
               graded([slopes[TOP_DOWN], slopes[BOTTOM_UP]], below=2, closed=True), quick=False, printed="O(n²)",
               ours=", ".join(f"n^{slopes[label]:.2f}" for label in (BOTTOM_UP, TOP_DOWN))),
    ]  # fmt: skip
