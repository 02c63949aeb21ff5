"""Results → docs/papers.md and the plots. Every number on the page is worked out from the results; a test checks it."""

from __future__ import annotations

import textwrap
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.harness import ROOT
from benchmarks.markdown import table
from benchmarks.papers.claims import CLAIMS, PAPERS, Claim
from benchmarks.papers.curves import Curves, Figure, Panel
from benchmarks.papers.effects import Effect, tally, verdict
from benchmarks.papers.texts import DESCRIBED, HEAD, PRINTED, READ, READINGS, WORKED
from benchmarks.papers.trials import RESULTS, Point, point_key, read

PAGE = ROOT / "docs" / "papers.md"
GOLDEN = ROOT / "tests" / "golden"


class Found(NamedTuple):
    """What all scripts found."""

    results: dict[str, dict[str, Any]]
    effects: list[Effect]
    figures: dict[str, Figure]
    points: dict[str, list[Point]]


def found() -> Found:
    """Read the committed results and work out figures and effects."""
    modules = {name: import_module(f"benchmarks.papers.{name}") for paper in PAPERS for name in paper.scripts}
    results = {}
    for name, module in modules.items():
        result = read(RESULTS / f"{name}.json")
        # A run that was interrupted is not shown: its curves have gaps.
        if result is not None and {trial.key for trial in module.trials(False)} <= set(
            map(point_key, result["points"])
        ):
            results[name] = result
    modules = {name: modules[name] for name in results}
    points = {name: result["points"] for name, result in results.items()}
    effects = [effect for name, module in modules.items() for effect in module.effects(points[name])]
    figures = [figure for name, module in modules.items() for figure in module.figures(points[name])]
    return Found(results, effects, {figure.name: figure for figure in figures}, points)


def write() -> list[Path]:
    """Write the plots and the page; the paths written."""
    from benchmarks.papers.plots import FOLDER, draw

    everything = found()
    drawn = [draw(figure) for figure in everything.figures.values()]
    for old in set(FOLDER.glob("*.svg")) - set(drawn):
        old.unlink()
    PAGE.write_text(text(everything), encoding="utf-8")
    return [PAGE, *drawn]


def text(everything: Found) -> str:
    """docs/papers.md."""
    seconds = sum(run["cpu_seconds"] for result in everything.results.values() for run in _runs_of(result))
    lines = [HEAD.replace("MINUTES", f"{seconds / 60:.0f}"), *_overview(everything), ""]
    lines += [*_printed(everything), "", *_readings(), ""]
    for paper in PAPERS:
        if not set(paper.scripts) & set(everything.results):
            continue
        lines += [f"## {paper.title}", "", _wrapped(paper.setting), ""]
        for claim in paper.claims:
            lines += _claim(claim, everything)
        lines += [_where([everything.results[name] for name in paper.scripts if name in everything.results]), ""]
    return "\n".join(lines).rstrip() + "\n"


def _overview(everything: Found) -> list[str]:
    lines = []
    for number, claim in CLAIMS.items():
        effects = [effect for effect in everything.effects if effect.claim == number]
        if effects:
            said = [effect for effect in effects if not effect.aside and not effect.untold]
            held = f"{sum(effect.holds for effect in said)} of {len(said)}"
            lines.append([f"[{number}](#{_anchor(number, claim)})", claim.short, held, f"**{verdict(effects)}**"])
    head = ["| claim | what it says | statements that hold | verdict |", "|---|---|---:|---|"]
    return head + ["| " + " | ".join(line) + " |" for line in lines]


def _printed(everything: Found) -> list[str]:
    """The figures that the papers print, beside ours."""
    lines = ["| claim | what | printed | ours | |", "|---|---|---|---|---|"]
    for each in everything.effects:
        if each.printed and not each.aside:
            link = f"[{each.claim}](#{_anchor(each.claim, CLAIMS[each.claim])})"
            lines.append(f"| {link} | {each.says} | {each.printed} | {each.ours or each.found} | {each.word} |")
    lines += ["", "| paper | worked example, as printed | golden case |", "|---|---|---|"]
    for paper, what, names in WORKED:
        lines.append(f"| {paper} | {what} | {', '.join(f'`{name}`' for name in names)} |")
    lines += [
        "",
        "| paper | its tables, as printed and as ours are | test in `tests/test_papers.py` |",
        "|---|---|---|",
    ]
    lines += [f"| {paper} | {what} | `{name}` |" for paper, what, name in DESCRIBED]
    return ["## Printed figures", "", _wrapped(PRINTED), "", *lines]


def _readings() -> list[str]:
    """The results that decide between readings of a text, and the readings that none decides."""
    lines = ["| method | printed result | readings that it refutes | readings that no printed result refutes |"]
    lines.append("|---|---|---|---|")
    lines += [f"| {each.method} | {each.printed} | {each.refuted} | {each.undecided} |" for each in READINGS]
    return ["## Readings", "", _wrapped(READ), "", *lines]


def _anchor(number: str, claim: Claim) -> str:
    """The anchor that GitHub gives the heading."""
    kept = "".join(letter for letter in f"{number}: {claim.title}".lower() if letter.isalnum() or letter in " -")
    return kept.replace(" ", "-")


def _claim(number: str, everything: Found) -> list[str]:
    claim = CLAIMS[number]
    effects = [effect for effect in everything.effects if effect.claim == number]
    said, aside = [each for each in effects if not each.aside], [each for each in effects if each.aside]
    lines = [f"### {number}: {claim.title}", "", _wrapped(f"*The paper:* {claim.says}"), ""]
    if claim.reading:
        lines += [_wrapped(f"*The reading that decides:* {claim.reading}"), ""]
    lines += [
        _wrapped(f"*Measured:* the claim **{verdict(effects)}**: {tally(effects)}."),
        "",
        *_effects("what the paper says", said),
        "",
    ]
    if aside:
        lines += [*_effects("sensitivity: other readings, other baselines, our own methods", aside), ""]
    if claim.why:
        lines += [_wrapped(claim.why), ""]
    if number == "C9":
        from benchmarks.papers.ni2017 import table_10

        head, rows = table_10(everything.points["ni2017"])
        lines += ["Table 10, average size of the classes, as printed and as found:", "", *table(head, rows), ""]
    for name in claim.figures:
        if name in everything.figures:
            lines += _figure(everything.figures[name])
    return lines


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def _effects(head: str, effects: list[Effect]) -> list[str]:
    lines = [f"| {head} | found | judged |", "|---|---|---|"]
    return lines + [f"| {each.says} | {each.found} | {each.word} |" for each in effects]


def _figure(figure: Figure) -> list[str]:
    lines = [f"![{figure.title}](papers/{figure.name}.svg)", "", f"<sub>{figure.title}.</sub>", ""]
    lines += ["<details><summary>The numbers</summary>", ""]
    for panel in figure.panels:
        lines += [*_numbers(panel), ""]
    return [*lines, "</details>", ""]


def _numbers(panel: Panel) -> list[str]:
    places = sorted({x for curve in panel.curves.values() for x in curve.x})
    title = f"{panel.title}: {panel.y}" if panel.title else panel.y
    rows = [[f"`{label}`", *_cells(panel.curves, label, places)] for label in panel.curves]
    return table([title, *(f"{panel.x} {place:,g}" for place in places)], rows)


def _cells(curves: Curves, label: str, places: list[float]) -> list[str]:
    curve = curves[label]
    shown = []
    for place in places:
        if place not in curve.x:
            shown.append("–")
            continue
        at = curve.x.index(place)
        spread = f" ± {_short(curve.spread[at])}" if curve.spread[at] else ""
        shown.append(f"{_short(curve.mean[at])}{spread}")
    return shown


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _runs_of(result: dict[str, Any]) -> list[dict[str, Any]]:
    """The runs that points of a result come from; others were replaced."""
    used = {point["run"] for point in result["points"]}
    return [run for at, run in enumerate(result["runs"]) if at in used]


def _where(results: list[dict[str, Any]]) -> str:
    """How the numbers came about, under each paper."""
    runs = [run for result in results for run in _runs_of(result)]
    machine = runs[-1]["machine"]
    commits = ", ".join(dict.fromkeys(run["commit"] for run in runs))
    commands = ", ".join(f"`{command}`" for command in dict.fromkeys(run["command"] for run in runs))
    seconds = sum(run["cpu_seconds"] for run in runs)
    return (
        f"<sub>{commands}; {runs[-1]['date'][:10]}, commit {commits}; {sum(len(each['points']) for each in results):,} "
        f"points in {seconds / 60:.0f} CPU minutes; {machine['processor']}, {machine['cores']} cores, Python "
        f"{runs[-1]['python']}, Numba {runs[-1]['numba']}.</sub>"
    )
