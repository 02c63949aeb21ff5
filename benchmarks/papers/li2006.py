"""Li, Wong, Fu, Pei 2006: KACA against Incognito, over the number of quasi-identifiers (Fig. 2)."""

from __future__ import annotations

import statistics

from benchmarks.papers.curves import Curves, Figure, Panel, curves, factors, pick
from benchmarks.papers.effects import About, Effect, counted, graded
from benchmarks.papers.trials import Point, Trial

TITLE = "Li, Wong, Fu, Pei 2006: KACA"
KS = (2, 10)
ATTRIBUTES = tuple(range(1, 10))
REPEATS, HEIGHT_REPEATS = 10, 3
QUICK_ATTRIBUTES, QUICK_ROWS, QUICK_REPEATS = (3, 6, 9), 4_000, 2

KACA, HEIGHT, INCOGNITO, COMPACT, BOUND = "kaca", "kaca, height weights", "incognito", "compact", "lower bound"
ROWS, OTHER = "kaca, start = rows", "incognito, least NCP"
"""KACA from single rows; Incognito's minimal solution with the least NCP, not the least distortion"""
PRINTED = 5.57


def trials(quick: bool) -> list[Trial]:
    made = []
    for attributes in QUICK_ATTRIBUTES if quick else ATTRIBUTES:
        size = {"attributes": attributes} | ({"rows": QUICK_ROWS} if quick else {})
        for k in KS:
            for repeat in range(QUICK_REPEATS if quick else REPEATS):
                made += [
                    Trial(KACA, "li", size, "kaca", k, repeat=repeat),
                    Trial(INCOGNITO, "li", size, "incognito", k, {"loss": "distortion"}, repeat),
                ]
                if repeat < HEIGHT_REPEATS:
                    made += [
                        Trial(HEIGHT, "li", size, "kaca", k, {"weights": "height"}, repeat),
                        Trial(ROWS, "li", size, "kaca", k, {"start": "rows"}, repeat),
                    ]
            made += [
                Trial(COMPACT, "li", size, "compact", k),
                Trial(OTHER, "li", size, "incognito", k),
                Trial(BOUND, "li", size, "", k, {"name": "whd"}, kind="bound"),
                Trial(BOUND, "li", size, "", k, {"name": "whd", "beta": 1.0}, kind="bound"),
            ]
    return made


def _curves(points: list[Point], y: str, k: int, *, kaca: str = KACA) -> Curves:
    return curves(pick(points, k=k), "attributes", y, [kaca, INCOGNITO, COMPACT, BOUND])


def figures(points: list[Point]) -> list[Figure]:
    axis = "quasi-identifiers"
    made = []
    for name, title, y, kaca in (
        ("fig-2", "Fig. 2: uniform weights", "distortion_ratio", KACA),
        ("fig-2-height", "As Fig. 2, with height weights (β = 1)", "height_distortion_ratio", HEIGHT),
    ):
        panels = []
        for k in KS:
            panels += [
                Panel(f"k = {k}", axis, "CPU seconds", _curves(points, "cpu", k, kaca=kaca), log_y=True),
                Panel(f"k = {k}", axis, "distortion ratio", _curves(points, y, k, kaca=kaca)),
            ]
        made.append(Figure(f"li2006-{name}", title, panels))
    return made


def effects(points: list[Point]) -> list[Effect]:
    uniform = [_curves(points, "distortion_ratio", k) for k in KS]
    height = [_curves(points, "height_distortion_ratio", k, kaca=HEIGHT) for k in KS]
    lower, lower_height = factors(uniform, INCOGNITO, KACA), factors(height, INCOGNITO, HEIGHT)
    time = factors([_curves(points, "cpu", k) for k in KS], KACA, INCOGNITO)
    compact, gap = factors(uniform, COMPACT, KACA), factors(uniform, COMPACT, BOUND)
    steps, time_steps = _rises(uniform), _rises([_curves(points, "cpu", k) for k in KS])
    with_k = [
        more >= less
        for label in (KACA, INCOGNITO)
        for less, more in zip(uniform[0][label].mean, uniform[1][label].mean, strict=True)
    ]
    return [
        Effect("C1", "below", "KACA's distortion ratio is lower than Incognito's",
               f"{lower.least:.2f} to {lower.most:,.0f} times lower", graded(lower.values, above=1)),
        _factor(uniform),
        Effect("C1", "attributes", "It rises with the number of quasi-identifiers",
               f"in {sum(steps)} of {len(steps)} steps", counted(steps), quick=False),
        Effect("C1", "k", "It rises with k", f"at {sum(with_k)} of {len(with_k)} points", counted(with_k)),
        Effect("C1", "height", "With height weights the results are similar",
               f"{lower_height.least:.2f} to {lower_height.most:,.0f} times lower",
               graded(lower_height.values, above=1)),
        Effect("C1", "time", "KACA takes longer than Incognito on average",
               f"{time.mean:.2f} times as long ({time.text()})", graded([time.mean], above=1), quick=False,
               untold=True),
        Effect("C1", "time-attributes", "The time of both rises with the number of quasi-identifiers",
               f"in {sum(time_steps)} of {len(time_steps)} steps", counted(time_steps), quick=False),
        *_sensitivity(points),
        Effect("C1", "compact", "`compact` distorts less than KACA, although it looks at NCP, not at levels",
               f"{compact.text()} of KACA's distortion, {gap.text()} times the bound", graded(compact.values, below=1),
               quick=False, aside=True),
    ]  # fmt: skip


def _rises(views: list[Curves]) -> list[bool]:
    """Whether both methods' curves rise, or stay, from each number of quasi-identifiers to the next."""
    return [
        after >= before
        for each in views
        for label in (KACA, INCOGNITO)
        for before, after in zip(each[label].mean, each[label].mean[1:], strict=False)
    ]


def _averages(views: list[Curves], over: str, under: str) -> float:
    """The averages of all points divided: the mean of the factors would be that of one or two quasi-identifiers."""
    upper, lower = (statistics.fmean(x for each in views for x in each[label].mean) for label in (over, under))
    return upper / lower


def _sensitivity(points: list[Point]) -> list[Effect]:
    """The printed factor under other readings of KACA, of Incognito and of "on average"."""
    views = [curves(pick(points, k=k), "attributes", "distortion_ratio", [KACA, ROWS, INCOGNITO, OTHER]) for k in KS]
    single, other = _averages(views, INCOGNITO, ROWS), _averages(views, OTHER, KACA)
    each, limits = factors(views, INCOGNITO, KACA).mean, About.of(PRINTED)
    return [
        Effect("C1", name, f"{PRINTED} times lower, {how} {limits}", f"{factor:,.2f} times", limits.grade([factor]),
               quick=False, aside=True)
        for name, how, factor in (
            ("rows", "if KACA starts with single rows (`start = rows`)", single),
            ("other", "if Incognito takes its minimal solution with the least NCP", other),
            ("mean", "as the mean of the factors of all points", each),
        )
    ]  # fmt: skip


def _factor(uniform: list[Curves]) -> Effect:
    factor, limits = _averages(uniform, INCOGNITO, KACA), About.of(PRINTED)
    widest = uniform[0][KACA].x[-1]
    at = [each[INCOGNITO].at(widest) / each[KACA].at(widest) for each in uniform]
    shown = ", ".join(f"{value:.2f} for k = {k}" for value, k in zip(at, KS, strict=True))
    found = f"{factor:.2f} times (average of all points ÷ the same); with {widest} quasi-identifiers {shown}"
    return Effect(
        "C1", "factor", f"{PRINTED} times lower on average {limits}", found,
        limits.grade([factor]), quick=False, printed=f"{PRINTED} times", ours=f"{factor:.2f} times",
    )  # fmt: skip
