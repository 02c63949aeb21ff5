"""Xu et al. 2006 on made-up tables: penalties over k, spread and dimensions, and time over rows (Figs. 11–18, 21)."""

from __future__ import annotations

from typing import Any

from benchmarks.papers.curves import Curves, Figure, Panel, curves, factors, pick, slope
from benchmarks.papers.effects import Effect
from benchmarks.papers.trials import Point, Trial
from benchmarks.papers.xu2006 import BOTTOM_UP, BOUND, COMPACT, MONDRIAN, SEED, TOP_DOWN, methods

TITLE = "Xu, Wang, Pei, Wang, Shi, Fu 2006: bottom-up and top-down, made-up tables"
KS = (2, 5, 10, 20, 50, 100)
K = 10
SIGMAS = (0.5, 1.0, 2.0, 3.0, 4.0, 6.0)
ATTRIBUTES = (2, 3, 4, 5, 6, 8)
ROWS = (10_000, 20_000, 50_000, 100_000)
DEFAULT = {"rows": 10_000, "attributes": 4}
TABLES = 10
"""tables drawn for each point, each with its own seed; the method's seed is the table's"""
LABELS = (MONDRIAN, BOTTOM_UP, TOP_DOWN, SEED, COMPACT, BOUND)

UNIFORM: dict[str, Any] = {"shape": "uniform"}
GAUSS: dict[str, Any] = {"shape": "gauss", "sigma": 1.0}


def trials(quick: bool) -> list[Trial]:
    rows = 3_000 if quick else DEFAULT["rows"]
    default = {**DEFAULT, "rows": rows}
    ks, sigmas, wide = ((5, 20), (0.5, 3.0), (3, 6)) if quick else (KS, SIGMAS, ATTRIBUTES)
    sizes = [(shape | default, k) for shape in (UNIFORM, GAUSS) for k in ks]
    sizes += [(GAUSS | default | {"sigma": sigma}, K) for sigma in sigmas]
    sizes += [(GAUSS | default | {"attributes": attributes}, K) for attributes in wide]
    made = [trial for size, k in sizes for trial in _drawn(size, k, tables=2 if quick else TABLES)]
    for many in () if quick else ROWS:
        made += _drawn(UNIFORM | DEFAULT | {"rows": many}, K, tables=3)
    return made


def _drawn(size: dict[str, Any], k: int, *, tables: int) -> list[Trial]:
    """All methods on several tables of one kind; what takes longer, on the first."""
    return [
        trial
        for seed in range(tables)
        for trial in methods("synthetic", {**size, "seed": seed}, k, repeats=1)
        if seed == 0 or trial.label not in (COMPACT, BOUND)
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
    made = [*_uniform(views[11]), *_gauss(views), *_classes(points)]
    made.append(_ours(points))
    time = over(points, "rows", "cpu", shape="uniform")
    return made + (_times(time) if time else [])


def _ours(points: list[Point]) -> Effect:
    """Against all others on the same tables: the first of each kind, for which alone ours was run."""
    views = [found for *_, found in _views(pick(points, seed=0), "ncp")]
    others = {label: factors(views, COMPACT, label) for label in (MONDRIAN, BOTTOM_UP, TOP_DOWN, SEED)}
    shown = ", ".join(f"{found.text()} of `{label}`'s" for label, found in others.items())
    return Effect(
        "C7", "compact", "`compact` has the lowest penalty on every made-up table",
        f"{shown}; {factors(views, COMPACT, BOUND).text()} times the bound",
        max(found.most for found in others.values()) <= 1, quick=False, aside=True,
    )  # fmt: skip


def _uniform(view: Curves) -> list[Effect]:
    down, up, seed = (factors(view, label, MONDRIAN) for label in (TOP_DOWN, BOTTOM_UP, SEED))
    return [
        Effect("C7", "uniform-top-down", "Uniform: `top-down` and MultiDim are comparable [0.8 to 1.25]",
               f"{down.text()} of MultiDim's penalty", down.least > 0.8 and down.most < 1.25, quick=False),
        Effect("C7", "uniform-small-k", "Uniform: `top-down` is better than MultiDim when k is small",
               f"{down.values[0]:.2f} of MultiDim's penalty at k = {view[TOP_DOWN].x[0]}", down.values[0] < 1),
        Effect("C7", "uniform-bottom-up", "Uniform: `bottom-up` is worse than MultiDim",
               f"{up.text()} of MultiDim's penalty", up.least > 1),
        Effect("C7", "uniform-seed", "Uniform: `top-down` with rows compared with the seeds is better than MultiDim",
               f"{seed.text()} of MultiDim's penalty", seed.most < 1, aside=True),
    ]  # fmt: skip


def _gauss(views: dict[int, Curves]) -> list[Effect]:
    made = []
    for label in (TOP_DOWN, BOTTOM_UP):
        found = factors(views[12], label, MONDRIAN)
        made.append(
            Effect("C7", f"gauss-{label}", f"Gaussian: `{label}` is better than MultiDim",
                   f"{found.text()} of MultiDim's penalty", found.most < 1)
        )  # fmt: skip
    for number, name, axis in ((13, "sigma", "σ"), (14, "dimensions", "the dimensionality")):
        best = {
            label: factors(views[number], label, other) for label, other in ((TOP_DOWN, BOTTOM_UP), (SEED, BOTTOM_UP))
        }
        over_multidim = factors(views[number], TOP_DOWN, MONDRIAN)
        down = best[TOP_DOWN]
        made += [
            Effect("C7", name, f"Over {axis}, `top-down` is the best of the three",
                   f"{down.text()} of `bottom-up`'s penalty, {over_multidim.text()} of MultiDim's",
                   down.most <= 1 and over_multidim.most <= 1),
        ]  # fmt: skip
    worst = factors(views[14], MONDRIAN, BOTTOM_UP)
    made.append(
        Effect("C7", "multidim-dimensions", "MultiDim has a high penalty in many dimensions",
               f"{worst.values[-1]:.2f} times `bottom-up`'s at {views[14][MONDRIAN].x[-1]} attributes",
               worst.values[-1] > 1)
    )  # fmt: skip
    return made


def _classes(points: list[Point]) -> list[Effect]:
    views = [found for *_, found in _views(points, "discernability")]
    both = [factors(views, label, MONDRIAN) for label in (BOTTOM_UP, TOP_DOWN)]
    return [
        Effect("C3", "made-up", "The same on made-up tables, in all cases",
               f"`bottom-up` {both[0].text()}, `top-down` {both[1].text()} of MultiDim's discernability",
               max(each.most for each in both) < 1),
    ]  # fmt: skip


def _times(time: Curves) -> list[Effect]:
    down = factors(time, TOP_DOWN, MONDRIAN)
    slopes = {label: slope(time[label]) for label in (MONDRIAN, TOP_DOWN, BOTTOM_UP, COMPACT)}
    return [
        Effect("C5", "rows", "Made-up, up to 100,000 rows: `top-down` takes less than 6 times as long as MultiDim",
               f"{down.text(1)} times", down.most < 6, quick=False),
        Effect("C5", "rows-bottom-up", "Made-up: `bottom-up` is much slower than `top-down` [twice]",
               f"{factors(time, BOTTOM_UP, TOP_DOWN).text(1)} times as long",
               factors(time, BOTTOM_UP, TOP_DOWN).least > 2, quick=False),
        Effect("C5", "growth", "Made-up: time of `bottom-up` and `top-down` grows with the square of the rows at worst",
               ", ".join(f"`{label}` n^{value:.2f}" for label, value in slopes.items()),
               max(slopes[TOP_DOWN], slopes[BOTTOM_UP]) <= 2.0, quick=False),
    ]  # fmt: skip
