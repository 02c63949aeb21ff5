"""Xu, Wang, Pei, Wang, Shi, Fu 2006: bottom-up and top-down against Mondrian, on Adult (Figs. 7, 8 and 10)."""

from __future__ import annotations

from typing import Any

from benchmarks.papers.curves import Curve, Curves, Figure, Panel, curves, factors
from benchmarks.papers.data import Data
from benchmarks.papers.effects import About, Effect, graded
from benchmarks.papers.trials import Point, Trial, group, kind, rounded
from coterie.measures.measures import measure_boxes

TITLE = "Xu, Wang, Pei, Wang, Shi, Fu 2006: bottom-up and top-down, Adult"
KS = (2, 5, 10, 20, 50, 100)
QUICK_KS = (5, 20)
REPEATS = 10

MULTIDIM, SECOND_TRY, MONDRIAN = "MultiDim", "MultiDim, our second try", "mondrian"
"""as published, on numbers; with the cut before the median as well; and ours, which knows hierarchies too"""
BOTTOM_UP, TOP_DOWN = "bottom-up", "top-down"
SEED, SIDE, ENLARGE = (f"top-down, compare = {rule}" for rule in ("seed", "side", "enlarge"))
READINGS = {TOP_DOWN: {}, SEED: {"compare": "seed"}, SIDE: {"compare": "side"}}
"""of the sentence by which top-down assigns rows; a fourth takes too long to be repeated"""
COMPACT, BOUND = "compact", "lower bound"
LABELS = (MULTIDIM, SECOND_TRY, MONDRIAN, BOTTOM_UP, TOP_DOWN, SEED, SIDE, ENLARGE, COMPACT, BOUND)
PUBLISHED = {"before_median": False}
GAP = About.of(20_000)


@kind("own intervals")
def own_intervals(trial: Trial, made: Data) -> Point:
    """The penalty of MultiDim's groups as it sees them: intervals of category numbers, by their widths."""
    numbers = made.numbered or made
    boxes = group(trial, made).grouping.published_boxes()
    found = measure_boxes(numbers.judge.domains, lo=boxes.lo, hi=boxes.hi, labels=boxes.labels, k=trial.k)
    return {"own_ncp": rounded(found["ncp"])}


ENLARGED = (2, 5, 10)
"""where the reading `enlarge` is run on Adult, once each: its cuts may take off one row at a time"""


def methods(data: str, size: dict[str, Any], k: int, *, repeats: int, kind: str = "group") -> list[Trial]:
    """All methods of the paper's figures on one table; `repeats` for those that are random or quick."""
    made = [Trial(COMPACT, data, size, "compact", k, kind=kind)]
    if kind == "group":
        made.append(Trial(BOUND, data, size, "", k, kind="bound"))
        if data == "synthetic" or k in ENLARGED:
            made.append(Trial(ENLARGE, data, size, "top-down", k, {"compare": "enlarge"}, kind=kind))
    numbers = {**size, "numbers": True} if data == "xu" else size
    for repeat in range(repeats):
        if data == "xu":
            made.append(Trial(SECOND_TRY, data, numbers, "mondrian", k, repeat=repeat, kind=kind))
        made += [
            Trial(MULTIDIM, data, numbers, "mondrian", k, PUBLISHED, repeat, kind),
            Trial(MONDRIAN, data, size, "mondrian", k, repeat=repeat, kind=kind),
            *(Trial(label, data, size, "top-down", k, how, repeat, kind) for label, how in READINGS.items()),
            Trial(BOTTOM_UP, data, size, "bottom-up", k, repeat=repeat, kind=kind),
        ]
    return made


def trials(quick: bool) -> list[Trial]:
    # All rows in the quick run too: that classes are a little smaller does not show on few.
    repeats = 1 if quick else REPEATS
    made = [trial for k in (QUICK_KS if quick else KS) for trial in methods("xu", {}, k, repeats=repeats)]
    if quick:
        return [trial for trial in made if trial.label != ENLARGE]
    own = [(label, how, k) for label, how in ((MULTIDIM, PUBLISHED), (SECOND_TRY, {})) for k in KS]
    return made + [
        Trial(label, "xu", {"numbers": True}, "mondrian", k, how, kind="own intervals") for label, how, k in own
    ]


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
    for label in (BOTTOM_UP, TOP_DOWN):
        lower, fewer = factors(penalty, label, MULTIDIM), factors(classes, label, MULTIDIM)
        made += [
            Effect("C2", f"{label}-penalty", f"`{label}` has a lower certainty penalty than MultiDim at every k",
                   f"{lower.text()} of MultiDim's", graded(lower.values, below=1)),
            Effect("C3", f"{label}-classes", f"`{label}` has a lower discernability penalty than MultiDim",
                   f"{fewer.text()} of MultiDim's", graded(fewer.values, below=1)),
        ]  # fmt: skip
    alike = factors(classes, TOP_DOWN, BOTTOM_UP)
    made.append(
        Effect("C3", "alike", "Adult: both are comparable with each other [0.8 to 1.25]",
               f"`top-down` has {alike.text()} of `bottom-up`'s discernability",
               graded(alike.values, above=0.8, below=1.25), quick=False)
    )  # fmt: skip
    own = curves(points, "k", "own_ncp", LABELS)
    return [
        *made,
        *_penalties(penalty),
        *_sensitivity(penalty),
        *_own_penalties(penalty, own),
        *other_classes(classes, "Adult"),
        *_times(time),
        *other_times(time, "Adult"),
    ]


def _gaps(penalty: Curves, baseline: Curve) -> list[float]:
    """What the baseline loses more than the larger of the two, at each k."""
    both = zip(baseline.mean, penalty[BOTTOM_UP].mean, penalty[TOP_DOWN].mean, strict=True)
    return [least - max(up, down) for least, up, down in both]


def _own_penalties(penalty: Curves, own: Curves) -> list[Effect]:
    """C2 if MultiDim's penalty is that of the intervals that it makes; the text does not say which it measures."""
    made = []
    for label, how in ((MULTIDIM, "as published"), (SECOND_TRY, "with our second try")):
        if label not in own:
            continue
        lower = factors({TOP_DOWN: penalty[TOP_DOWN], label: own[label]}, TOP_DOWN, label)
        gaps = _gaps(penalty, own[label])
        made.append(
            Effect("C2", f"own-{label}", f"MultiDim, {how}, measured by its own intervals of category numbers: the gap "
                   f"is about 20,000 {GAP}",
                   ", ".join(f"{gap:,.0f}" for gap in gaps) + f"; `top-down` has {lower.text()} of its penalty",
                   GAP.grade(gaps), aside=True, quick=False)
        )  # fmt: skip
    return made


def other_classes(classes: Curves, what: str) -> list[Effect]:
    """C3 under other readings of the assignment and against other baselines."""
    made = []
    for label in (each for each in (ENLARGE, SEED, SIDE, COMPACT) if each in classes):
        fewer = factors(classes, label, MULTIDIM)
        made.append(
            Effect("C3", f"{what}-{label}", f"{what}: `{label}` has a lower discernability penalty than MultiDim",
                   f"{fewer.text()} of MultiDim's", graded(fewer.values, below=1), aside=True, quick=False)
        )  # fmt: skip
    for label, name in ((SECOND_TRY, "MultiDim with our second try"), (MONDRIAN, "our `mondrian`")):
        if label not in classes:
            continue
        both = [factors(classes, each, label) for each in (BOTTOM_UP, TOP_DOWN)]
        made.append(
            Effect("C3", f"{what}-{label}", f"{what}: both have a lower discernability penalty than {name}",
                   f"`bottom-up` {both[0].text()}, `top-down` {both[1].text()} of its discernability",
                   graded([value for each in both for value in each.values], below=1), aside=True, quick=False)
        )  # fmt: skip
    return made


def other_times(time: Curves, what: str) -> list[Effect]:
    """C5 under other readings and against other baselines; ratios between programs, as above."""
    pairs = [(label, MULTIDIM, "MultiDim") for label in (ENLARGE, SEED, SIDE)]
    pairs += [(TOP_DOWN, SECOND_TRY, "MultiDim with our second try"), (TOP_DOWN, MONDRIAN, "our `mondrian`")]
    made = []
    for over, under, name in pairs:
        if over not in time or under not in time:
            continue
        longer, limits = factors(time, over, under), About.of(5, 6)
        made.append(
            Effect("C5", f"{what}-{over}-{under}", f"{what}: `{over}` takes 5 to 6 times as long as {name} {limits}",
                   f"{longer.text(1)} times", limits.grade(longer.values), aside=True, quick=False, untold=True)
        )  # fmt: skip
    return made


def _penalties(penalty: Curves) -> list[Effect]:
    gaps = _gaps(penalty, penalty[MULTIDIM])
    alike = factors(penalty, TOP_DOWN, BOTTOM_UP)
    shown = ", ".join(f"{gap:,.0f}" for gap in gaps)
    return [
        Effect("C2", "gap", f"The gap to MultiDim is stable, about 20,000 {GAP}",
               f"{shown} at k = {', '.join(f'{k:g}' for k in penalty[MULTIDIM].x)} (MultiDim − the larger of the two)",
               GAP.grade(gaps), quick=False, printed="about 2·10⁴"),
        Effect("C2", "alike", "Both are comparable with each other [0.8 to 1.25]",
               f"`top-down` has {alike.text()} of `bottom-up`'s penalty", graded(alike.values, above=0.8, below=1.25),
               quick=False),
    ]  # fmt: skip


def _sensitivity(penalty: Curves) -> list[Effect]:
    """The same under other readings and baselines, and our own method."""
    made = []
    for label in (each for each in (ENLARGE, SEED, SIDE) if each in penalty):
        lower = factors(penalty, label, MULTIDIM)
        made.append(
            Effect("C2", label, f"`{label}` has a lower penalty than MultiDim", f"{lower.text()} of MultiDim's",
                   graded(lower.values, below=1), aside=True, quick=label != ENLARGE)
        )  # fmt: skip
    for label, what in ((SECOND_TRY, "MultiDim with our second try"), (MONDRIAN, "our `mondrian`, with hierarchies")):
        lower = factors(penalty, TOP_DOWN, label)
        made.append(
            Effect("C2", label, f"`top-down` has a lower penalty than {what}",
                   f"{lower.text()} of its penalty; it has {factors(penalty, label, MULTIDIM).text()} of MultiDim's",
                   graded(lower.values, below=1), aside=True)
        )  # fmt: skip
    gaps = _gaps(penalty, penalty[SECOND_TRY])
    made.append(
        Effect("C2", "gap-second-try", f"The gap to MultiDim with our second try is about 20,000 {GAP}",
               ", ".join(f"{gap:,.0f}" for gap in gaps), GAP.grade(gaps), aside=True, quick=False)
    )  # fmt: skip
    best = factors([{COMPACT: penalty[COMPACT], "best": _best(penalty)}], COMPACT, "best")
    found = f"{best.text()} of the best of the others, {factors(penalty, COMPACT, BOUND).text()} times the bound"
    says = "`compact` has the lowest penalty of all"
    return [*made, Effect("C2", "compact", says, found, graded(best.values, below=1), aside=True)]


def _best(penalty: Curves) -> Any:
    """The lowest of the paper's methods at each k."""
    others = [penalty[label] for label in LABELS if label in penalty and label not in (COMPACT, BOUND)]
    first = others[0]
    return first._replace(mean=tuple(min(each.at(x) for each in others if x in each.x) for x in first.x))


def _times(time: Curves) -> list[Effect]:
    down, up = factors(time, TOP_DOWN, MULTIDIM), factors(time, BOTTOM_UP, MULTIDIM)
    between = factors(time, BOTTOM_UP, TOP_DOWN)
    ranges = {label: max(time[label].mean) / min(time[label].mean) for label in (MULTIDIM, TOP_DOWN, BOTTOM_UP)}
    return [
        Effect("C5", "top-down", f"Adult: `top-down` takes 5 to 6 times as long as MultiDim {About.of(5, 6)}",
               f"{down.text(1)} times", About.of(5, 6).grade(down.values), quick=False, untold=True,
               printed="5 to 6 times"),
        Effect("C5", "bottom-up", "Adult: `bottom-up` is much slower than `top-down` [twice]",
               f"{between.text()} times as long as `top-down`, {up.text(1)} times MultiDim",
               graded(between.values, above=2), quick=False, untold=True),
        Effect("C5", "flat", "Adult: the time is not sensitive to k [a factor of 2]",
               "; ".join(f"`{label}` {value:.1f}" for label, value in ranges.items())
               + " times from the quickest to the slowest k", graded(ranges.values(), below=2), quick=False),
    ]  # fmt: skip
