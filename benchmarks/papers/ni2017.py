"""Ni, Xie, Qian 2017: GCCG against KACA and Incognito, whole and in parts (Figs. 3–6, Table 10)."""

from __future__ import annotations

from benchmarks.papers.curves import Curves, Figure, Panel, curves, factors
from benchmarks.papers.data import Data
from benchmarks.papers.effects import About, Effect, graded
from benchmarks.papers.trials import Point, Trial, group, kind, rounded
from coterie.measures.measures import measure_boxes

TITLE = "Ni, Xie, Qian 2017: GCCG"
KS = tuple(range(3, 11))
QUICK_KS, QUICK_ROWS = (3, 10), 6_000
REPEATS = 10

GCCG, TWO, FOUR = "gccg", "gccg, 2 parts", "gccg, 4 parts"
PARTS = {GCCG: 1, TWO: 2, FOUR: 4}
KACA, INCOGNITO, COMPACT, BOUND = "kaca", "incognito", "compact", "lower bound"
RANGES, ROWS = "kaca, ages published in ranges", "kaca, start = rows"
WHOLE = (INCOGNITO, KACA, ROWS, GCCG, COMPACT, BOUND)
IN_PARTS = (GCCG, TWO, FOUR, COMPACT, BOUND)

TABLE_10 = {
    3: (851.69, 3.08, 3.00), 4: (851.69, 4.14, 4.00), 5: (1533.05, 5.12, 5.00), 6: (1533.05, 6.09, 6.00),
    7: (1533.05, 7.24, 7.00), 8: (1533.05, 8.20, 8.00), 9: (1533.05, 9.22, 9.00), 10: (1533.05, 10.30, 10.00),
}  # fmt: skip
"""as printed: k → average class size of Incognito, KACA and GCCG"""


@kind("sizes")
def sizes(trial: Trial, made: Data) -> Point:
    """Group sizes and time, with a thread for each part. Groups that are published alike are counted one by one.

    Where ages were grouped in ranges, also the loss if they are published in these ranges, not from least to greatest.
    """
    found = group(trial, made, threads=trial.options.get("parts", 1))
    boxes = found.grouping
    point: Point = {"own_size": rounded(made.judge.rows / boxes.groups), "clock": rounded(found.wall)}
    if made.table is not made.judge:
        own = measure_boxes(made.table.domains, lo=boxes.lo, hi=boxes.hi, labels=boxes.labels, k=trial.k)
        point["range_loss"] = rounded(own["gcp"])
    return point


def trials(quick: bool) -> list[Trial]:
    rows = {"rows": QUICK_ROWS} if quick else {}
    number, ranges = {"age": "number", **rows}, {"age": "ranges", **rows}
    made = []
    for k in QUICK_KS if quick else KS:
        made += [Trial(COMPACT, "ni", number, "compact", k), Trial(BOUND, "ni", number, "", k, kind="bound")]
        for repeat in range(2 if quick else REPEATS):
            made += [
                Trial(INCOGNITO, "ni", ranges, "incognito", k, repeat=repeat),
                Trial(KACA, "ni", ranges, "kaca", k, repeat=repeat),
                Trial(ROWS, "ni", ranges, "kaca", k, {"start": "rows"}, repeat),
                *(Trial(label, "ni", number, "gccg", k, {"parts": parts}, repeat) for label, parts in PARTS.items()),
            ]
            made += [
                Trial(label, "ni", number, "gccg", k, {"parts": parts}, repeat, kind="sizes")
                for label, parts in PARTS.items()
            ]
            made += [
                Trial(KACA, "ni", ranges, "kaca", k, {}, repeat, kind="sizes"),
                Trial(ROWS, "ni", ranges, "kaca", k, {"start": "rows"}, repeat, kind="sizes"),
            ]
    return made


def figures(points: list[Point]) -> list[Figure]:
    def one(number: int, title: str, label: str, y: str, labels: tuple[str, ...], *, log_y: bool = False) -> Figure:
        panel = Panel("", "k", label, curves(points, "k", y, labels), log_y=log_y)
        return Figure(f"ni2017-fig-{number}", f"Fig. {number}: {title}", [panel])

    parts = curves(points, "k", "cpu", IN_PARTS)
    clock = curves(points, "k", "clock", IN_PARTS)
    return [
        Figure("ni2017-fig-3", "Fig. 3: information loss", [Panel("", "k", "information loss", _losses(points))]),
        one(4, "run time", "CPU seconds", "cpu", WHOLE, log_y=True),
        Figure("ni2017-fig-5", "Fig. 5: run time, whole and in parts", [
            Panel("work", "k", "CPU seconds, all threads together", parts, log_y=True),
            Panel("clock, one thread a part", "k", "seconds", clock),
        ]),
        one(6, "information loss, whole and in parts", "information loss", "gcp", IN_PARTS),
    ]  # fmt: skip


def _losses(points: list[Point]) -> Curves:
    found = curves(points, "k", "gcp", WHOLE)
    ranges = curves(points, "k", "range_loss", (KACA,))
    return found | {RANGES: ranges[KACA]}


def table_10(points: list[Point]) -> tuple[list[str], list[list[str]]]:
    """Average class sizes, the paper's beside ours: head and lines."""
    published = curves(points, "k", "average_size", WHOLE)
    own = curves(points, "k", "own_size", WHOLE)
    head = [
        "k", "Incognito, paper", "ours", "KACA, paper", "ours", "from single rows", "GCCG, paper", "ours", "`compact`",
    ]  # fmt: skip
    lines = []
    for k, (incognito, kaca, gccg) in TABLE_10.items():
        if k not in own[GCCG].x:
            continue
        lines.append([
            f"{k}", f"{incognito:,.2f}", f"{published[INCOGNITO].at(k):,.2f}", f"{kaca:.2f}", f"{own[KACA].at(k):.2f}",
            f"{own[ROWS].at(k):.2f}", f"{gccg:.2f}", f"{own[GCCG].at(k):.2f}", f"{published[COMPACT].at(k):.2f}",
        ])  # fmt: skip
    return head, lines


def effects(points: list[Point]) -> list[Effect]:
    loss = curves(points, "k", "gcp", (*WHOLE, TWO, FOUR))
    kaca, incognito = factors(loss, GCCG, KACA), factors(loss, GCCG, INCOGNITO)
    local = factors(loss, KACA, INCOGNITO)
    compact, gap = factors(loss, COMPACT, GCCG), factors(loss, COMPACT, BOUND)
    two, four = factors(loss, TWO, GCCG), factors(loss, FOUR, GCCG)
    ranges = factors(_losses(points), GCCG, RANGES)
    sizes_found = curves(points, "k", "own_size", WHOLE)[GCCG]
    close = max(abs(size / k - 1) for k, size in zip(sizes_found.x, sizes_found.mean, strict=True))
    half, third = About.of(1 / 2), About.of(1 / 3)
    return [
        Effect("C9", "kaca", "GCCG loses less than KACA", f"{kaca.text()} of KACA's loss",
               graded(kaca.values, below=1)),
        Effect("C9", "half", f"About half of it {half}", f"{kaca.mean:.2f} on average",
               half.grade([kaca.mean]), quick=False, printed="about half"),
        Effect("C9", "incognito", "GCCG loses less than Incognito", f"{incognito.text()} of Incognito's loss",
               graded(incognito.values, below=1)),
        Effect("C9", "kaca-incognito", "KACA loses less than Incognito, too", f"{local.text()} of Incognito's loss",
               graded(local.values, below=1)),
        Effect("C9", "third", f"GCCG loses about a third of what Incognito loses {third}",
               f"{incognito.mean:.2f} on average", third.grade([incognito.mean]), quick=False,
               printed="about one third"),
        Effect("C9", "sizes", "GCCG's classes have exactly k rows on average (Table 10, two decimals)",
               f"at most {100 * close:.2f} % above k",
               graded([1 + close], above=0.995, below=1.005), quick=False,
               printed="3.00, 4.00, …, 10.00", ours=", ".join(f"{size:.2f}" for size in sizes_found.mean)),
        *(_printed_sizes(points, label) for label in (INCOGNITO, KACA)),
        Effect("C9", "parts-loss", "In parts, little more is lost [below 1.1 times]",
               f"2 parts {two.text()}, 4 parts {four.text()} times the loss",
               graded([*two.values, *four.values], below=1.1), quick=False),
        *_times(curves(points, "k", "cpu", (*WHOLE, TWO, FOUR)), curves(points, "k", "clock", tuple(PARTS))),
        *_from_rows(points, loss),
        Effect("C9", "ranges", "Against KACA with ages published in ranges of 5, 10 or 20 years, GCCG loses less",
               f"{ranges.text()} of KACA's loss", graded(ranges.values, below=1), aside=True),
        Effect("C9", "compact", "`compact` loses less than GCCG",
               f"{compact.text()} of GCCG's loss, {gap.text()} times the bound", graded(compact.values, below=1),
               aside=True),
    ]  # fmt: skip


def _printed_sizes(points: list[Point], label: str) -> Effect:
    """Another column of Table 10: within a tenth of what is printed?"""
    at, measure, says = {
        INCOGNITO: (0, "average_size", "Incognito's classes"),
        KACA: (1, "own_size", "KACA's classes"),
        ROWS: (1, "own_size", "If KACA starts with single rows (`start = rows`), its classes"),
    }[label]
    curve = curves(points, "k", measure, WHOLE)[label]
    printed = [TABLE_10[int(k)][at] for k in curve.x]
    ratios = [size / paper for size, paper in zip(curve.mean, printed, strict=True)]
    shown = ", ".join(f"{size:,.2f}" for size in curve.mean)
    return Effect(
        "C9", f"sizes-{label}", f"{says} are as large as in Table 10 [within a tenth]",
        f"{min(ratios):.2f} to {max(ratios):.2f} times as large", graded(ratios, above=0.9, below=1.1),
        quick=False, printed=", ".join(f"{size:,.2f}" for size in printed), ours=shown, aside=label == ROWS,
    )  # fmt: skip


def _from_rows(points: list[Point], loss: Curves) -> list[Effect]:
    """What the paper says of KACA where KACA starts with single rows."""
    lost, half = factors(loss, GCCG, ROWS), About.of(1 / 2)
    longer = factors(curves(points, "k", "cpu", WHOLE), ROWS, GCCG)
    return [
        _printed_sizes(points, ROWS),
        Effect("C9", "rows", "GCCG loses less than KACA from single rows", f"{lost.text()} of its loss",
               graded(lost.values, below=1), aside=True, quick=False),
        Effect("C9", "rows-half", f"About half of it {half}", f"{lost.mean:.2f} on average", half.grade([lost.mean]),
               aside=True, quick=False),
        Effect("C9", "rows-time", f"GCCG is about 10 times as fast as KACA from single rows {About.of(10)}",
               f"{longer.text(1)} times", About.of(10).grade([longer.mean]), aside=True, quick=False, untold=True),
    ]  # fmt: skip


def _times(cpu: Curves, clock: Curves) -> list[Effect]:
    kaca, whole = factors(cpu, KACA, GCCG), factors(cpu, GCCG, INCOGNITO)
    work = {label: factors(cpu, GCCG, label) for label in (TWO, FOUR)}
    faster = {label: factors(clock, GCCG, label) for label in (TWO, FOUR)}
    flat = max(cpu[FOUR].mean) / min(cpu[FOUR].mean)

    def parts(label: str, name: str, times: float) -> Effect:
        limits = About.of(times)
        return Effect(
            "C9", name, f"{PARTS[label]} parts are about {times} times as fast {limits}",
            f"{faster[label].mean:.1f} times by the clock, {work[label].mean:.1f} times less work",
            limits.grade([faster[label].mean]), quick=False, printed=f"about {times} times", untold=True,
        )  # fmt: skip

    return [
        Effect("C9", "time", f"GCCG is about 10 times as fast as KACA {About.of(10)}", f"{kaca.text(1)} times",
               About.of(10).grade([kaca.mean]), quick=False, printed="about 10 times", untold=True),
        Effect("C9", "time-incognito", "GCCG takes almost as little time as Incognito [at most twice]",
               f"{whole.text(1)} times as long", graded(whole.values, below=2, closed=True), quick=False, untold=True),
        parts(TWO, "two", 3.5),
        parts(FOUR, "four", 10.5),
        Effect("C9", "flat", "In parts, the time does not depend on k [a factor of 1.5]",
               f"4 parts: {flat:.1f} times from the quickest to the slowest k", graded([flat], below=1.5), quick=False),
    ]  # fmt: skip
