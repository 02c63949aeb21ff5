"""Efforts as one curve: more CPU never loses more; and blocks never lose less than the whole table at equal effort."""

from __future__ import annotations

from typing import Any

from benchmarks.cases import adult_hierarchies_from
from benchmarks.harness import Bench, in_process
from benchmarks.markdown import loss, number, table

TITLE = "Efforts of compact: loss over CPU seconds"
EFFORTS = ("fast", "balanced", "thorough")
# What is measured: of many kinds, so that no effort is right for one kind of table only.
TABLES: dict[str, dict[str, Any]] = {
    "Adult": {"data": "adult", "k": 10},
    "Adult, large groups": {"data": "adult", "k": 100},
    "Adult, very large groups": {"data": "adult", "k": 500},
    "Adult, a hierarchy on every column": {"data": "adult-trees", "k": 10},
    "the same, large groups": {"data": "adult-trees", "k": 50},
    "census of two columns": {"data": "census", "rows": 30_000, "attributes": 2, "k": 10},
    "numbers only": {"data": "numbers", "rows": 20_000, "k": 10},
    "many equal rows": {"data": "adult", "attributes": 4, "k": 10},
    "KDD": {"data": "kdd", "k": 10},
    "census, 300,000 rows": {"data": "census", "rows": 300_000, "k": 10},
    "census, 1,000,000 rows": {"data": "census", "rows": 1_000_000, "k": 10},
}
PATIENCE_S = 60.0
"""a table on which an effort took longer is not searched with a greater one"""
# GCP with a hierarchy on every column that ARX's default local recoding has.
ARX_DEFAULT = {"Adult, a hierarchy on every column": 0.0910, "the same, large groups": 0.1692}
BLOCKED = ("Adult", "numbers only", "census of two columns")
BLOCK_ROWS = (3_000, 10_000)
TOLERANCE = 1.002
"""losses of single runs differ by about so much by chance"""


def run(bench: Bench) -> None:
    for name in list(TABLES)[:1] if bench.quick else TABLES:
        _curve(bench, name)
    for name in BLOCKED[:1] if bench.quick else BLOCKED:
        _blocks(bench, name)


def _measured(bench: Bench, name: str, effort: str, block_rows: int | None) -> dict[str, Any]:
    request = TABLES[name] | ({"rows": 2_000} if bench.quick else {})
    options = {"effort": effort} | ({} if block_rows is None else {"block_rows": block_rows})
    found = in_process(
        "benchmarks.worker", request | {"method": "compact", "options": options, "repetitions": 1, "against": None}
    )
    row = bench.row(table=name, effort=effort, block_rows=block_rows, k=request["k"], **found)
    if found["small"] + found["outside"]:
        bench.holds(f"{name}, {effort}: every row inside the box of a large enough group", False)
    return row


def _curve(bench: Bench, name: str) -> None:
    before: dict[str, Any] | None = None
    for effort in EFFORTS:
        found = _measured(bench, name, effort, None)
        if before is not None:
            share = round(found["gcp"] / before["gcp"], 4) if before["gcp"] else 1.0
            bench.at_most(f"{name}: loss of {effort} ÷ that of {before['effort']}", share, 1.0)
        elif name in ARX_DEFAULT and adult_hierarchies_from() == "ARX" and not bench.quick:
            bench.at_most(f"{name}: loss of {effort}", round(found["gcp"], 4), ARX_DEFAULT[name])
        before = found
        if found["cpu_min"] > PATIENCE_S and effort != EFFORTS[-1]:
            bench.note(f"{name}: `{effort}` took {found['cpu_min']:.0f} CPU seconds; greater efforts are left out.")
            return


def _blocks(bench: Bench, name: str) -> None:
    sizes = (500, None) if bench.quick else (*BLOCK_ROWS, None)
    found = [_measured(bench, name, "fast", size)["gcp"] for size in sizes]
    for (small, size), whole in zip(zip(found, sizes, strict=True), found[1:], strict=False):
        share = round(whole / small, 4) if small else 1.0
        text = f"{name}: loss in larger blocks ÷ loss in blocks of {size:,} rows"
        bench.at_most(text, share, TOLERANCE)


def lines(result: dict) -> list[str]:
    """The tables of the page."""
    curves = [row for row in result["rows"] if row["block_rows"] is None]
    cells = []
    for name in dict.fromkeys(row["table"] for row in curves):
        rows = {row["effort"]: row for row in curves if row["table"] == name}
        of = [rows.get(effort) for effort in EFFORTS]
        cells.append([f"{name}, k = {next(iter(rows.values()))['k']}"])
        cells[-1] += [f"{loss(row['gcp'])} ({number(row['cpu_min'], 1)})" if row else "–" for row in of]
    blocked = [row for row in result["rows"] if row["effort"] == "fast" and row["table"] in BLOCKED]
    parts = [
        [row["table"], "one piece" if row["block_rows"] is None else f"{row['block_rows']:,} rows", loss(row["gcp"])]
        for row in blocked
    ]
    return [
        "GCP and, in brackets, CPU seconds of the grouping step, one run each:",
        "",
        *table(["", *(f"`{effort}`" for effort in EFFORTS)], cells),
        "",
        "The same effort, `fast`, in blocks and in one piece:",
        "",
        *table(["", "block", "GCP"], parts),
    ]
