"""He, Chen, Chen, Dong, Wang, Huang 2012: CB against NH on census tables (Figs. 6–9)."""

from __future__ import annotations

from itertools import pairwise

from benchmarks.papers.curves import Curves, Figure, Panel, curves, factors, pick, slope
from benchmarks.papers.effects import Effect, counted, graded
from benchmarks.papers.he2012_tries import MANY
from benchmarks.papers.trials import Point, Trial

TITLE = "He, Chen, Chen, Dong, Wang, Huang 2012: CB"
KS = (50, 100, 150, 200, 250)
ATTRIBUTES = (3, 4, 5, 6)
ROWS = 100_000
"""of the figures over k and dimensionality"""
CARDINALITIES = (100_000, 200_000, 300_000, 400_000, 500_000)
WIDE, K, D = 7, 50, 6
"""the dimensionality and k of the figures over rows; the dimensionality of the quick run"""
TABLES = {"sal": "SAL", "income": "INC", "kdd": "KDD"}
MADE_UP = ("sal", "income")
REPEATS = 3
QUICK_KS, QUICK_ROWS = (50, 150), 8_000

NH, CB, COMPACT, BOUND = "nh", "cb", "compact, effort = fast", "lower bound"
NH_TRIES, NH_SIDE, NH_ENLARGE = "nh, four tries", "nh, compare = side", "nh, compare = enlarge"
CB_ORDER, CB_AGAIN = "cb, halved by order", "cb, restarts"
LABELS = (NH, CB, NH_TRIES, NH_SIDE, NH_ENLARGE, CB_ORDER, CB_AGAIN, COMPACT, BOUND)
KEY = {"key": "one of many keys"}
ORDERED = {"ordered": True}
"""Definition 1 of the paper supposes an order on the values of every attribute: what decides"""


def trials(quick: bool) -> list[Trial]:
    if quick:
        sizes = [(name, {"attributes": d, "rows": QUICK_ROWS}, k) for name in MADE_UP for d in (3, D) for k in QUICK_KS]
        return [trial for name, size, k in sizes for trial in _as_published(name, size, k)]
    made = []
    for name in MADE_UP:
        for attributes in ATTRIBUTES:
            size = {"attributes": attributes, "rows": ROWS}
            for k in KS:
                made += [*_as_published(name, size, k), _enlarged(name, size, k)]
            made.append(Trial(NH_TRIES, name, size | ORDERED, "nh", K, KEY))
            boxes = {**KEY, "preset": "paper", "compare": "side"}
            made.append(Trial(NH_SIDE, name, size | ORDERED, "nh", K, boxes))
            again = {"preset": "paper", "restarts": True}
            made.append(Trial(CB_AGAIN, name, size | ORDERED, "cb", K, again))
            for k in KS[::2]:
                made += _on_trees(name, size, k, repeats=REPEATS)
            made.append(Trial(CB_ORDER, name, size, "cb", K, {"preset": "paper"}))
            made.append(Trial(CB, name, size | ORDERED, "cb", K, {"preset": "paper"}, kind="tries"))
        for rows in CARDINALITIES:
            size = {"attributes": WIDE, "rows": rows}
            made += [*_as_published(name, size, K), _enlarged(name, size, K)]
    for attributes in (*ATTRIBUTES, WIDE):
        for k in KS[::2]:
            size = {"attributes": attributes, "rows": ROWS}
            made += [*_on_trees("kdd", size, k), *_ours("kdd", size, k)]
    return made


def _as_published(name: str, size: dict, k: int) -> list[Trial]:
    """Both methods as the paper has them, on ordered values."""
    size = size | ORDERED
    return [
        Trial(NH, name, size, "nh", k, {**KEY, "preset": "paper"}),
        Trial(CB, name, size, "cb", k, {"preset": "paper"}),
    ]


def _enlarged(name: str, size: dict, k: int) -> Trial:
    """NH with another reading of the rule by which its cuts assign rows: the growth of the box."""
    return Trial(NH_ENLARGE, name, size | ORDERED, "nh", k, {**KEY, "preset": "paper", "compare": "enlarge"})


def _on_trees(name: str, size: dict, k: int, *, repeats: int = 1) -> list[Trial]:
    """The other reading: categories cost the leaves under their common ancestor, as everywhere else in coterie."""
    made = [Trial(NH, name, size, "nh", k, {**KEY, "preset": "paper"})]
    return made + [Trial(CB, name, size, "cb", k, repeat=repeat) for repeat in range(repeats)]


def _ours(name: str, size: dict, k: int) -> list[Trial]:
    return [
        Trial(COMPACT, name, size, "compact", k, {"effort": "fast"}),
        Trial(BOUND, name, size, "", k, kind="bound"),
    ]


def _decides(name: str) -> bool | None:
    """How the sizes of a table's points say that its values are ordered; the real census has no such reading here."""
    return True if name in MADE_UP else None


def _over_k(points: list[Point], name: str, attributes: int, *, ordered: bool | None) -> Curves:
    rows = min(point["size"]["rows"] for point in points)
    chosen = pick(points, data=name, attributes=attributes, rows=rows, ordered=ordered)
    return curves(chosen, "k", "gcp", LABELS)


def _over_d(points: list[Point], name: str, k: int) -> Curves:
    rows = min(point["size"]["rows"] for point in points)
    return curves(pick(points, data=name, k=k, rows=rows, ordered=_decides(name)), "attributes", "gcp", LABELS)


def _over_n(points: list[Point], name: str, y: str) -> Curves:
    return curves(pick(points, data=name, attributes=WIDE, k=K, ordered=True), "rows", y, (NH, CB, NH_ENLARGE))


def _present(points: list[Point]) -> list[str]:
    return [name for name in TABLES if any(point["data"] == name for point in points)]


def figures(points: list[Point]) -> list[Figure]:
    made, gcp = [], "information loss (GCP)"
    for name in _present(points):
        short = TABLES[name]
        widths = sorted({point["size"]["attributes"] for point in points if point["data"] == name})
        panels = [
            Panel(f"{short}-{width}", "k", gcp, view)
            for width in widths
            if len((view := _over_k(points, name, width, ordered=_decides(name)))[NH].x) > 1
        ]
        made.append(Figure(f"he2012-fig-6-{name}", f"Fig. 6: information loss over k, {short}", panels))
    panels = [Panel(TABLES[name], "quasi-identifiers", gcp, _over_d(points, name, K)) for name in _present(points)]
    made.append(Figure("he2012-fig-7", f"Fig. 7: information loss over dimensionality, k = {K}", panels))
    if len(_over_n(points, "sal", "gcp").get(NH, Curves()) or ()):
        for number, y, title, label in ((8, "gcp", "information loss", gcp), (9, "cpu", "run time", "CPU seconds")):
            panels = [
                Panel(f"{TABLES[name]}-{WIDE}", "rows", label, _over_n(points, name, y), log_y=number == 9)
                for name in MADE_UP
            ]
            made.append(Figure(f"he2012-fig-{number}", f"Fig. {number}: {title} over rows, k = {K}", panels))
    return made


def effects(points: list[Point]) -> list[Effect]:
    made = [effect for name in MADE_UP for effect in _against_nh(points, name)]
    over_k = [_over_k(points, name, width, ordered=True) for name in MADE_UP for width in ATTRIBUTES]
    over_k = [each for each in over_k if NH in each]
    if len(over_k[0][CB].x) > 2:
        made += [*_over_rows(points), *_growth(points, over_k), _tries(points), *_domains(points)]
        made += [_enlarge(points), *_sensitivity(points, over_k)]
    return made


def _against_nh(points: list[Point], name: str) -> list[Effect]:
    widths = sorted({point["size"]["attributes"] for point in points if point["data"] == name} - {WIDE})
    views = {width: _over_k(points, name, width, ordered=True) for width in widths}
    wide = factors([view for width, view in views.items() if width > 3], CB, NH)
    narrow = factors(views[3], CB, NH)
    short = TABLES[name]
    says = "NH loses less than CB" if name == "sal" else "CB loses less than NH"
    return [
        Effect("C10", f"{name}-wide", f"{short}: CB loses less than NH for d > 3", f"{wide.text()} of NH's loss",
               graded(wide.values, below=1)),
        Effect("C10", f"{name}-narrow", f"{short}: for d = 3, {says}", f"CB has {narrow.text()} of NH's loss",
               graded(narrow.values, above=1) if name == "sal" else graded(narrow.values, below=1)),
    ]  # fmt: skip


def _over_rows(points: list[Point]) -> list[Effect]:
    """Section 6.3: CB is "the clear winner", "consistently observed for various database size"."""
    made = []
    for name in MADE_UP:
        found = factors(_over_n(points, name, "gcp"), CB, NH)
        made.append(
            Effect("C10", f"{name}-rows", f"{TABLES[name]}: CB loses less than NH at every number of rows (d = {WIDE})",
                   f"{found.text()} of NH's loss", graded(found.values, below=1), quick=False)
        )  # fmt: skip
    return made


def _tries(points: list[Point]) -> Effect:
    found = [point for point in points if point["kind"] == "tries"]
    shares, parts = [point["settled"] for point in found], sum(point["parts"] for point in found)
    shown = f"{100 * min(shares):.0f} to {100 * max(shares):.0f} %"
    return Effect(
        "C10", "fifteen", "Most parts can be halved by up to 15 tries [more than half of the parts]",
        f"all parts are halved by the first try, because a half that is too small borrows rows; {shown} of {parts:,} "
        f"parts are halved no differently by {MANY} times as many tries (k = {K})",
        graded(shares, above=0.5), quick=False, printed="“most … by up to k = 15 tries”", ours=shown,
    )  # fmt: skip


def _as_printed(points: list[Point], nh: str) -> tuple[list[bool], list[bool]]:
    """Whether CB and NH stand as in Fig. 6 and Fig. 8, at each point; and in the average of each panel of Fig. 6."""
    each, panels = [], []
    for name in MADE_UP:
        for width in ATTRIBUTES:
            found = factors(_over_k(points, name, width, ordered=True), CB, nh)
            behind = (name, width) == ("sal", 3)
            each += [(value > 1) == behind for value in found.values]
            panels.append((found.mean > 1) == behind)
        each += [value < 1 for value in factors(_over_n(points, name, "gcp"), CB, nh).values]
    return each, panels


def _enlarge(points: list[Point]) -> Effect:
    """Figs. 6 and 8 with NH's other rule, against how many points come out with the rule that decides."""
    each, panels = _as_printed(points, NH_ENLARGE)
    usual, usual_panels = _as_printed(points, NH)
    views = [_over_k(points, name, width, ordered=True) for name in MADE_UP for width in ATTRIBUTES]
    wide = factors(views[1:], CB, NH_ENLARGE)
    return Effect(
        "C10", "enlarge", "NH whose cuts compare the growth of boxes (`enlarge`): CB and NH stand as in Figs. 6 and 8",
        f"CB has {wide.text()} of its loss, on SAL-3 {factors(views[0], CB, NH_ENLARGE).text()}; {sum(each)} of "
        f"{len(each)} points and {sum(panels)} of {len(panels)} panels of Fig. 6, by their averages, come out as "
        f"printed, with `increase` {sum(usual)} points and {sum(usual_panels)} panels",
        counted(each), aside=True, quick=False,
    )  # fmt: skip


def _growth(points: list[Point], over_k: list[Curves]) -> list[Effect]:
    straight = {label: [_straightness(each, label) for each in over_k] for label in (CB, NH)}
    loss = {name: _over_n(points, name, "gcp") for name in MADE_UP}
    time = {name: _over_n(points, name, "cpu") for name in MADE_UP}
    slopes = {label: [slope(time[name][label]) for name in MADE_UP] for label in (CB, NH)}
    falls = [
        after <= before
        for name in MADE_UP
        for label in (CB, NH)
        for before, after in zip(loss[name][label].mean, loss[name][label].mean[1:], strict=False)
    ]
    slower = factors(list(time.values()), CB, NH)
    longest = max(max(time[name][CB].mean) for name in MADE_UP)
    return [
        Effect("C10", "linear-k", "GCP grows about linearly with k [R² of CB at least 0.95]",
               f"R² of a straight line: CB at least {min(straight[CB]):.3f}, NH at least {min(straight[NH]):.3f}",
               graded(straight[CB], above=0.95, closed=True, share=True), quick=False, printed="linearly",
               ours=f"R² ≥ {min(straight[CB]):.3f}"),
        Effect("C10", "rows", "GCP falls with the number of rows", f"in {sum(falls)} of {len(falls)} steps",
               counted(falls), quick=False),
        Effect("C10", "linear-n", "Time grows about linearly with the number of rows [below n^1.3]",
               ", ".join(f"`{label}` n^{min(found):.2f} to n^{max(found):.2f}" for label, found in slopes.items()),
               graded([value for found in slopes.values() for value in found], below=1.3), quick=False,
               printed="linearly"),
        Effect("C10", "nh-faster", "NH is more efficient than CB", f"CB takes {slower.text()} times as long",
               graded(slower.values, above=1), quick=False, untold=True),
        Effect("C10", "seconds", "In the worst case, CB takes 500 seconds", f"{longest:.1f} CPU seconds",
               graded([longest], below=500, closed=True), quick=False, untold=True, printed="500 seconds"),
    ]  # fmt: skip


def _domains(points: list[Point]) -> list[Effect]:
    """What the paper says of its two tables, whose domains are of different sizes, and of dimensions."""
    pairs = [[_over_k(points, name, width, ordered=True) for name in MADE_UP] for width in ATTRIBUTES if width > 3]
    smaller, larger = ([{label: sal[label], "inc": inc[label]} for sal, inc in pairs] for label in (NH, CB))
    nh, cb = factors(smaller, "inc", NH), factors(larger, "inc", CB)
    wider = [_over_d(points, name, K)[label].mean for name in MADE_UP for label in (NH, CB)]
    steps = [after >= before for losses in wider for before, after in pairwise(losses)]
    return [
        Effect("C10", "domains", "NH loses less on SAL, whose domains are smaller, than on INC, for d > 3",
               f"INC {nh.text()} times SAL's loss", graded(nh.values, above=1), quick=False),
        Effect("C10", "domains-cb", "CB's loss depends less on the size of the domains than NH's",
               f"INC {cb.text()} times SAL's loss with CB, {nh.text()} with NH",
               counted(of_cb < of_nh for of_cb, of_nh in zip(cb.values, nh.values, strict=True)), quick=False),
        Effect("C10", "dimensions", "GCP rises with the number of quasi-identifiers",
               f"in {sum(steps)} of {len(steps)} steps", counted(steps), quick=False),
    ]  # fmt: skip


def _straightness(view: Curves, label: str) -> float:
    """R² of a straight line through a curve over k."""
    import statistics

    return statistics.correlation(view[label].x, view[label].mean) ** 2


def _sensitivity(points: list[Point], over_k: list[Curves]) -> list[Effect]:
    """CB and NH where categories cost the leaves under their ancestor, on a real census, and with NH's cuts as ours."""
    made = []
    for name, short in TABLES.items():
        widths = (*ATTRIBUTES, WIDE) if name == "kdd" else ATTRIBUTES
        views = [_over_k(points, name, width, ordered=None) for width in widths if width > 3]
        found = factors(views, CB, NH)
        made.append(
            Effect("C10", f"{name}-trees", f"{short}, categories by hierarchies: CB loses less than NH for d > 3",
                   f"{found.text()} of NH's loss", graded(found.values, below=1), aside=True, quick=False)
        )  # fmt: skip
    trees = [_over_k(points, name, width, ordered=None) for name in MADE_UP for width in ATTRIBUTES]
    order, again = factors(trees, CB_ORDER, CB), factors(over_k, CB_AGAIN, NH)
    tries, sides = (factors(over_k, CB, label) for label in (NH_TRIES, NH_SIDE))
    real = [_over_k(points, "kdd", width, ordered=None) for width in (*ATTRIBUTES, WIDE)]
    best, gap, nh = (factors(real, COMPACT, other) for other in (CB, BOUND, NH))
    return [
        *made,
        Effect("C10", "compact", "KDD: `compact` (fast) loses less than CB and NH",
               f"{best.text()} of CB's loss, {nh.text()} of NH's, {gap.text()} times the bound",
               graded([*best.values, *nh.values], below=1), aside=True, quick=False),
        Effect("C10", "halved-by-order", "Judged by hierarchies, CB that halves by order loses less than CB by leaves",
               f"{order.text()} of its loss", graded(order.values, below=1), aside=True, quick=False),
        Effect("C10", "restarts", f"CB with restarts, our default, loses less than NH, at k = {K}",
               f"{again.text()} of NH's loss, {factors(over_k, CB_AGAIN, CB).text()} of CB's with one start",
               graded(again.values, below=1), aside=True, quick=False),
        Effect("C10", "sides", f"CB loses less than NH whose cuts compare whole boxes, at k = {K}",
               f"{sides.text()} of its loss", graded(sides.values, below=1), aside=True, quick=False),
        Effect("C10", "tries", f"CB loses less than NH with four tries a cut, our default, at k = {K}",
               f"{tries.text()} of its loss", graded(tries.values, below=1), aside=True, quick=False),
    ]  # fmt: skip
