"""Results → docs/benchmarks.md, docs/plots and the table in the README. A test checks that they fit the results."""

from __future__ import annotations

import math
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.harness import ROOT, latest
from benchmarks.markdown import loss, number, table

PAGE = ROOT / "docs" / "benchmarks.md"
README = ROOT / "README.md"
ORDER = (
    "methods",
    "efforts",
    "bound",
    "compare",
    "diversity",
    "kdd",
    "peers",
    "twins",
    "kmembers_speed",
    "kmembers_scale",
    "scale",
    "out_of_core",
    "spark",
    "pipeline",
    "verdict",
    "first_run",
    "local_page",
)
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
README_KS = (2, 5, 10, 50, 100)

HEAD = """\
<!-- Made by `python -m benchmarks --page` from benchmarks/results; run the benchmarks, do not edit this page. -->

# Benchmarks

`make bench` runs all of them and writes this page; `make bench ARGS="methods kdd"` runs some, and `--quick` runs them
on few rows without changing this page. Each benchmark checks its result before it reports a time: groups are large
enough, every row lies inside its box, two searches find the same groups.

**How to read the times.** Below each table are the command, the machine, and the load of the machine before the run
(averages over 1, 5 and 15 minutes). If the load is well above the number of cores, others were using the machine, and
wall-clock times mean little. CPU seconds count the work itself and are affected less. Ratios compare runs of the same
process or of the same minutes, using the minimum of several repetitions. Losses do not depend on the machine.

**Loss** is GCP, the mean information loss over all cells: 0 is nothing lost, 1 is nothing left
([measures](measures.md)).
"""


def write() -> list[Path]:
    """Write the page, the plots and the README's table; the paths written."""
    from benchmarks.plots import draw, draw_efforts

    written = []
    for name, drawn in (("scale", draw), ("efforts", draw_efforts)):
        result = latest(name)
        if result is not None:
            written += drawn(result)
    PAGE.write_text(text(), encoding="utf-8")
    README.write_text(readme(README.read_text(encoding="utf-8")), encoding="utf-8")
    return [PAGE, README, *written]


def text() -> str:
    """docs/benchmarks.md."""
    results = {name: latest(name) for name in ORDER}
    modules = {name: import_module(f"benchmarks.{name}") for name in ORDER}
    lines = [HEAD]
    for name, result in results.items():
        if result is not None:
            lines += [f"## {modules[name].TITLE}", "", *modules[name].lines(result), "", *_checks(result)]
            lines += [f"{note[:1].upper()}{note[1:]}\n" for note in result["notes"]]
            lines += [_where(result), ""]
    unmeasured = [f"`{name}`" for name, result in results.items() if result is None]
    if unmeasured:
        lines += [f"Not measured yet: {', '.join(unmeasured)}.", ""]
    return "\n".join(lines).rstrip() + "\n"


def _checks(result: dict[str, Any]) -> list[str]:
    """How many checks there were, each that failed, and each that was skipped."""
    missed = [check for check in result["checks"] if not check["passed"]]
    skipped = [f"* {each['text']}: {each['why']}" for each in result.get("skipped", ())]
    if skipped:
        skipped = ["Skipped:", "", *skipped, ""]
    if not missed:
        return [f"All {len(result['checks'])} checks hold.", "", *skipped]
    lines = [f"{len(result['checks']) - len(missed)} of {len(result['checks'])} checks hold. Missed:", ""]
    lines += [f"* {check['text']}: {check['found']}, wanted {check['wanted']}" for check in missed]
    return [*lines, "", *skipped]


def _where(result: dict[str, Any]) -> str:
    machine, versions = result["machine"], result["versions"]
    load = " / ".join(f"{value:.1f}" for value in machine["load_before"]) or "unknown"
    packages = ", ".join(f"{name} {number}" for name, number in versions.items() if name != "coterie")
    return (
        f"<sub>`{result['command']}`, {result['date'][:10]}, coterie {versions['coterie']} at {result['commit']}: "
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']:.0f} GB, {machine['system']}, "
        f"load before {load}; {packages}.</sub>"
    )


def readme(before: str) -> str:
    """The README with its measured table renewed."""
    place = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    return place.sub(lambda _: "\n".join([BEGIN, *readme_lines(), END]), before)


def readme_lines() -> list[str]:
    """Loss and time of the methods on Adult, for the README."""
    result = latest("methods")
    if result is None:
        return ["Not measured yet: `make bench ARGS=methods`."]
    rows = [row for row in result["rows"] if row["table"] == "adult"]
    best = {k: min(row["gcp"] for row in rows if row["k"] == k) for k in README_KS}
    cells = []
    for label in dict.fromkeys(row["label"] for row in rows):
        of = {row["k"]: row for row in rows if row["label"] == label}
        name, *more = label.split(", ")
        losses = [loss(of[k]["gcp"], best=of[k]["gcp"] == best[k]) for k in README_KS]
        cells.append([", ".join([f"`{name}`", *more]), *losses])
        cells[-1] += [number(of[10]["cpu_min"]), number(of[10].get("ratio", 1.0), 1)]
    bounds = _highest_bounds(result)
    cells.append(["*lower bound for all*", *map(loss, bounds), "", ""])
    head = ["GCP", *(f"k = {k}" for k in README_KS), "CPU s, k = 10", "× `mondrian`"]
    source = f"`{result['command']}`, {result['date'][:10]}, {result['hierarchies']}'s hierarchies for Adult"
    grouped = {k: min(row["gcp"] for row in rows if row["k"] == k and not row["per_row"]) for k in README_KS}
    near = [math.ceil(round(100 * (grouped[k] / bound - 1), 6)) for k, bound in zip(README_KS, bounds, strict=True)]
    return [
        *table(head, cells),
        "",
        "No grouping of this table can lose less than the [lower bound](docs/bound.md) (effort `best`).",
        f"The lowest losses are within {', '.join(map(str, near[:-1]))} and {near[-1]} % of the least possible loss.",
        "",
        f"<sub>{source}; the lowest of each column in bold. Bound: `python -m benchmarks bound`.</sub>",
    ]


def _highest_bounds(result: dict[str, Any]) -> list[float]:
    """The bound of each k by the greatest effort that was measured on the same table."""
    other = latest("bound") or {}
    known = other.get("rows", []) if other.get("hierarchies") == result["hierarchies"] else []
    return [max([result["bounds"][str(k)], *(row["bound"] for row in known if row["k"] == k)]) for k in README_KS]
