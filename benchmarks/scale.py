"""Curves: time, memory and loss over the number of rows, of quasi-identifiers, and over k."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.cases import ADULT_WIDE, adult_hierarchies_from
from benchmarks.harness import Bench, in_process
from benchmarks.markdown import loss, number, table
from benchmarks.variants import Variant, compile_all, variants

TITLE = "Rows, quasi-identifiers and k"
K = 10
ROWS = (10_000, 30_000, 100_000, 300_000, 1_000_000)
ATTRIBUTES = (2, 4, 6, 8, 10, 12)
KS = (2, 5, 10, 20, 50, 100, 200, 500)
PATIENCE_S = 20.0
"""a method whose step took longer than this is not asked for the next, larger size"""
COMPACT_GROWTH = 10


def run(bench: Bench) -> None:
    known = variants(all_options=False)
    fast = [each for each in variants() if each.label == "compact, fast"]
    known += [each for each in fast if each not in known]
    bench.facts |= {"hierarchies": adult_hierarchies_from(), "columns": list(ADULT_WIDE)}
    compile_all(known)
    quick = bench.quick
    for variant in known:
        _curve(bench, variant, "rows", ROWS[:1] if quick else ROWS, lambda at: {"data": "census", "rows": at, "k": K})
        _curve(
            bench, variant, "attributes", ATTRIBUTES[:2] if quick else ATTRIBUTES,
            lambda at: {"data": "adult", "attributes": at, "k": K, "rows": 2_000 if quick else None},
        )  # fmt: skip
        _curve(
            bench, variant, "k", KS[1:3] if quick else KS,
            lambda at: {"data": "adult", "k": at, "rows": 2_000 if quick else None},
        )  # fmt: skip
    if not quick:
        _limits(bench)


def _curve(bench: Bench, variant: Variant, axis: str, values: tuple[int, ...], request_of: Any) -> None:
    once = {"method": variant.method, "options": variant.options, "repetitions": 1, "against": None}
    for at, found in _answers(axis, {at: {**request_of(at), **once} for at in values}):
        bench.row(axis=axis, at=at, label=variant.label, method=variant.method, **found)
        if found["small"] + found["outside"]:
            bench.holds(f"{variant.label}, {axis} = {at:,}: every row inside the box of a large enough group", False)
        if found["wall_min"] > PATIENCE_S and at != values[-1]:
            bench.note(
                f"`{variant.label}` took {found['wall_min']:.0f} s at {axis} = {at:,}; larger ones are left out."
            )


def _answers(axis: str, requests: dict[int, dict[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Memory is measured over rows, so each number of them has a process of its own; the others share one."""
    if axis == "rows":
        for at, request in requests.items():
            found = in_process("benchmarks.worker", request)
            yield at, found
            if found["wall_min"] > PATIENCE_S:
                return
    else:
        asked = {"requests": list(requests.values()), "patience": PATIENCE_S}
        yield from zip(requests, in_process("benchmarks.worker", asked)["answers"], strict=False)


def _limits(bench: Bench) -> None:
    by = {(row["label"], row["at"]): row for row in bench.rows if row["axis"] == "rows"}
    for label in dict.fromkeys(label for label, _ in by):
        few, many = by.get((label, 100_000)), by.get((label, 1_000_000))
        if not label.startswith("compact") or few is None or many is None:
            continue
        growth = many["cpu_min"] / few["cpu_min"]
        bench.at_most(f"{label}: 100,000 → 1,000,000 rows, time grows", round(growth, 2), COMPACT_GROWTH)
        grouping = [row["peak_mb"] - row["peak_before_mb"] for row in (few, many)]
        bench.at_most(f"{label}: and memory", round(grouping[1] / max(grouping[0], 1.0), 2), COMPACT_GROWTH)
    for axis in ("rows", "attributes", "k"):
        lowest: dict[int, dict[str, Any]] = {}
        for row in (row for row in bench.rows if row["axis"] == axis):
            if row["at"] not in lowest or row["gcp"] < lowest[row["at"]]["gcp"]:
                lowest[row["at"]] = row
        beaten = [f"{row['label']} at {at:,}" for at, row in lowest.items() if not row["label"].startswith("compact")]
        text = f"compact loses least, whatever the number ({axis})"
        bench.check(text, found=", ".join(beaten) or "yes", wanted="yes", passed=not beaten)


def lines(result: dict) -> list[str]:
    made = []
    for axis, title, text in (
        ("rows", "Rows", f"Synthetic census, 7 quasi-identifiers, k = {K}."),
        ("attributes", "Quasi-identifiers", f"Adult, k = {K}, the first columns of: {', '.join(result['columns'])}."),
        ("k", "k", "Adult, 8 quasi-identifiers."),
    ):
        rows = [row for row in result["rows"] if row["axis"] == axis]
        made += [f"### {title}", "", text, ""]
        made += [f"![Seconds over {title.lower()}](plots/{axis}-seconds.svg)", ""]
        made += [f"![Loss over {title.lower()}](plots/{axis}-loss.svg)", ""]
        if axis == "rows":
            made += [f"![Memory over {title.lower()}](plots/{axis}-memory.svg)", ""]
        made += [*_grid(rows, "CPU s", "cpu_min"), "", *_grid(rows, "GCP", "gcp"), ""]
        if axis == "rows":
            made += [*_grid(rows, "peak MB", "peak_mb"), ""]
    return made[:-1]


def _grid(rows: list[dict], title: str, cell: str) -> list[str]:
    values = sorted({row["at"] for row in rows})
    shown = {"gcp": loss, "cpu_min": lambda value: number(value, 2), "peak_mb": lambda value: number(value, 0)}[cell]
    lines = []
    for label in dict.fromkeys(row["label"] for row in rows):
        of = {row["at"]: row[cell] for row in rows if row["label"] == label}
        name, *more = label.split(", ")
        lines.append([", ".join([f"`{name}`", *more]), *(shown(of.get(at)) for at in values)])
    return table([title, *(f"{value:,}" for value in values)], lines)
