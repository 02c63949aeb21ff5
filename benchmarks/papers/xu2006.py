"""Xu, Wang, Pei, Wang, Shi, Fu 2006: bottom-up and top-down against Mondrian, on Adult (Figs. 7, 8 and 10)."""

from __future__ import annotations

from typing import Any

from benchmarks.papers.curves import Curves, Figure, Panel, curves, factors
from benchmarks.papers.effects import Effect
from benchmarks.papers.trials import Point, Trial

TITLE = "Xu, Wang, Pei, Wang, Shi, Fu 2006: bottom-up and top-down, Adult"
KS = (2, 5, 10, 20, 50, 100)
QUICK_KS = (5, 20)
REPEATS = 10

MULTIDIM = "mondrian, categories as numbers"
MONDRIAN, BOTTOM_UP, TOP_DOWN, SEED = "mondrian", "bottom-up", "top-down", "top-down, compare = seed"
COMPACT, BOUND = "compact", "lower bound"
LABELS = (MULTIDIM, MONDRIAN, BOTTOM_UP, TOP_DOWN, SEED, COMPACT, BOUND)


def methods(data: str, size: dict[str, Any], k: int, *, repeats: int, kind: str = "group") -> list[Trial]:
    """All methods of the paper's figures on one table; `repeats` for those that are random or quick."""
    made = [Trial(COMPACT, data, size, "compact", k, kind=kind)]
    if kind == "group":
        made.append(Trial(BOUND, data, size, "", k, kind="bound"))
    for repeat in range(repeats):
        if data == "xu":
            made.append(Trial(MULTIDIM, data, {**size, "numbers": True}, "mondrian", k, repeat=repeat, kind=kind))
        made += [
            Trial(MONDRIAN, data, size, "mondrian", k, repeat=repeat, kind=kind),
            Trial(TOP_DOWN, data, size, "top-down", k, repeat=repeat, kind=kind),
            Trial(SEED, data, size, "top-down", k, {"compare": "seed"}, repeat, kind),
            Trial(BOTTOM_UP, data, size, "bottom-up", k, repeat=repeat, kind=kind),
        ]
    return made


def trials(quick: bool) -> list[Trial]:
    # All rows in the quick run too: that classes are a little smaller does not show on few.
    repeats = 1 if quick else REPEATS
    return [trial for k in (QUICK_KS if quick else KS) for trial in methods("xu", {}, k, repeats=repeats)]


def figures(points: list[Point]) -> list[Figure]:
    def one(number: int, title: str, label: str, y: str, **how: Any) -> Figure:
        panel = Panel("", "k", label, curves(points, "k", y, LABELS), log_x=True, **how)
        return Figure(f"xu2006-fig-{number}", f"Fig. {number}: {title}", [panel])

    return [
        one(7, "certainty penalty, Adult", "certainty penalty (NCP, all rows)", "ncp"),
        one(8, "discernability penalty, Adult", "discernability", "discernability", log_y=True),
        one(10, "run time, Adult", "CPU seconds", "cpu", log_y=True),
    ]


def effects(points: list[Point]) -> list[Effect]:
    penalty, classes = curves(points, "k", "ncp", LABELS), curves(points, "k", "discernability", LABELS)
    time = curves(points, "k", "cpu", LABELS)
    made = []
    for label, short in ((BOTTOM_UP, "bottom-up"), (TOP_DOWN, "top-down")):
        lower, fewer = factors(penalty, label, MULTIDIM), factors(classes, label, MULTIDIM)
        made += [
            Effect("C2", f"{short}-penalty", f"`{short}` has a lower certainty penalty than MultiDim at every k",
                   f"{lower.text()} of MultiDim's", lower.most < 1),
            Effect("C3", f"{short}-classes", f"`{short}` has a lower discernability penalty than MultiDim",
                   f"{fewer.text()} of MultiDim's", fewer.most < 1),
        ]  # fmt: skip
    return [*made, *_penalties(penalty), *_times(time)]


def _penalties(penalty: Curves) -> list[Effect]:
    gaps = [
        least - max(up, down)
        for least, up, down in zip(penalty[MULTIDIM].mean, penalty[BOTTOM_UP].mean, penalty[TOP_DOWN].mean, strict=True)
    ]
    alike = factors(penalty, TOP_DOWN, BOTTOM_UP)
    hierarchies = factors(penalty, MONDRIAN, MULTIDIM)
    seed = factors(penalty, SEED, MULTIDIM)
    best = factors([{COMPACT: penalty[COMPACT], "best": _best(penalty)}], COMPACT, "best")
    bound = factors(penalty, COMPACT, BOUND)
    return [
        Effect("C2", "gap", "The gap to MultiDim is stable, about 20,000 [10,000 to 40,000]",
               f"{min(gaps):,.0f} to {max(gaps):,.0f} (the larger of the two against MultiDim)",
               min(gaps) > 10_000 and max(gaps) < 40_000, quick=False),
        Effect("C2", "alike", "Both are comparable with each other [0.8 to 1.25]",
               f"`top-down` has {alike.text()} of `bottom-up`'s penalty", alike.least > 0.8 and alike.most < 1.25,
               quick=False),
        Effect("C2", "seed", "The other reading of `top-down`, rows compared with the seeds, is below MultiDim as well",
               f"{seed.text()} of MultiDim's", seed.most < 1, aside=True),
        Effect("C2", "mondrian", "Mondrian that cuts categories in the order of their hierarchies loses less",
               f"{hierarchies.text()} of what it loses with numbers", hierarchies.most < 1, aside=True),
        Effect("C2", "compact", "`compact` has the lowest penalty of all",
               f"{best.text()} of the best of the others, {bound.text()} times the bound", best.most < 1, aside=True),
    ]  # fmt: skip


def _best(penalty: Curves) -> Any:
    """The lowest of the paper's methods at each k."""
    others = [penalty[label] for label in (MULTIDIM, MONDRIAN, BOTTOM_UP, TOP_DOWN, SEED)]
    first = others[0]
    return first._replace(mean=tuple(min(each.at(x) for each in others) for x in first.x))


def _times(time: Curves) -> list[Effect]:
    down, up = factors(time, TOP_DOWN, MULTIDIM), factors(time, BOTTOM_UP, MULTIDIM)
    between = factors(time, BOTTOM_UP, TOP_DOWN)
    return [
        Effect("C5", "top-down", "Adult: `top-down` takes 5 to 6 times as long as MultiDim [at most 6]",
               f"{down.text(1)} times", down.most <= 6, quick=False),
        Effect("C5", "bottom-up", "Adult: `bottom-up` is much slower than `top-down` [twice]",
               f"{between.text()} times as long as `top-down`, {up.text(1)} times MultiDim", between.least > 2,
               quick=False),
        Effect("C5", "flat", "Adult: the time is not sensitive to k [a factor of 2]",
               "; ".join(f"`{label}` {max(time[label].mean) / min(time[label].mean):.1f}"
                         for label in (MULTIDIM, TOP_DOWN, BOTTOM_UP)) + " times from the quickest to the slowest k",
               all(max(time[label].mean) < 2 * min(time[label].mean) for label in (MULTIDIM, TOP_DOWN, BOTTOM_UP)),
               quick=False),
    ]  # fmt: skip
