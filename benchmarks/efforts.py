"""Efforts as one curve: more CPU never loses more; and at equal effort neither memory nor larger blocks do."""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.cases import adult_hierarchies_from, case, no_arx
from benchmarks.harness import Bench, in_process
from benchmarks.markdown import loss, number, table

TITLE = "Efforts of compact: loss over CPU seconds"
EFFORTS = ("fast", "balanced", "thorough")
# What is measured: of many kinds, so that no effort is right for one kind of table only.
TABLES: dict[str, dict[str, Any]] = {
    "Adult": {"data": "adult", "k": 10},
    "Adult, k = 50": {"data": "adult", "k": 50},
    "Adult, k = 100": {"data": "adult", "k": 100},
    "Adult, k = 200": {"data": "adult", "k": 200},
    "Adult, k = 500": {"data": "adult", "k": 500},
    "Adult, a hierarchy on every column": {"data": "adult-trees", "k": 10},
    "the same, large groups": {"data": "adult-trees", "k": 50},
    "census of two columns": {"data": "census", "rows": 30_000, "attributes": 2, "k": 10},
    "numbers only": {"data": "numbers", "rows": 20_000, "k": 10},
    "many equal rows": {"data": "adult", "attributes": 4, "k": 10},
    "KDD": {"data": "kdd", "k": 10},
    "census, 300,000 rows": {"data": "census", "rows": 300_000, "k": 10},
    "census, 1,000,000 rows": {"data": "census", "rows": 1_000_000, "k": 10},
}
# `thorough` takes minutes there.
LONG = ("Adult, k = 50", "Adult, k = 200", "Adult, k = 500", "KDD", "census, 300,000 rows", "census, 1,000,000 rows")
# GCP with a hierarchy on every column that ARX's local recoding has: its default, and its slow setting.
ARX_GCP = {
    "fast": {"Adult, a hierarchy on every column": 0.0910, "the same, large groups": 0.1692},
    "balanced": {"Adult, a hierarchy on every column": 0.0871, "the same, large groups": 0.1631},
}
LIMITED = "Adult"
LIMITS_S = (1.0, 2.0, 5.0)
SMALL_K, LARGE_K = "Adult, k = 50", "Adult, k = 500"
BLOCKED = ("Adult", "numbers only", "KDD")
BLOCK_ROWS = (3_000, 10_000)
# Tables that 512 MB and 1 GB do not hold in one piece; census has its own columns, the others are nearly all distinct.
LARGE = {"mixed": 300_000, "numbers": 300_000, "census": 400_000}
MEMORY = ("512MB", "1GB", None)
TOLERANCE = 1.002
"""losses of single runs differ by about so much by chance; so little does not matter where they differ less, either"""
SEEDS = 4
"""runs of each block size; sizes are compared seed by seed, as a seed draws the same scales and pools for all"""
SURE = {2: 31.82, 3: 6.96, 4: 4.54}
"""runs → standard errors by which their mean is too high by chance in one of a hundred cases (Student's t)"""
HOW_JUDGED = """\
Larger blocks must not lose more. Each size is compared with the next smaller one, seed by seed. The mean of these
ratios may be above 1 by .2 %, or by what chance explains if that is more: its standard error times the quantile of
Student's t that is exceeded in one of a hundred cases. The more the ratios of the seeds differ, the more is allowed."""


def run(bench: Bench) -> None:
    bench.facts["hierarchies"] = adult_hierarchies_from()
    for name in list(TABLES)[:1] if bench.quick else TABLES:
        _curve(bench, name)
    _limited(bench)
    if not bench.quick:
        _groups_grow(bench)
    for name in BLOCKED[:1] if bench.quick else BLOCKED:
        _blocks(bench, name)
    for data, rows in LARGE.items():
        _memory(bench, data, 120_000 if bench.quick else rows)
        if bench.quick:
            break


def judge_sizes(bench: Bench, text: str, *, smaller: Sequence[float], larger: Sequence[float]) -> None:
    """Check that larger blocks do not lose more than smaller ones, seed by seed, beyond what chance explains."""
    ratios = [more / less if less else 1.0 for less, more in zip(smaller, larger, strict=True)]
    error = statistics.stdev(ratios) / len(ratios) ** 0.5
    limit = round(max(TOLERANCE, 1.0 + SURE[len(ratios)] * error), 4)
    bench.at_most(f"{text}, mean of {len(ratios)} seeds", round(statistics.mean(ratios), 4), limit)


def _seeds(bench: Bench) -> range:
    return range(2 if bench.quick else SEEDS)


def _measured(bench: Bench, name: str, effort: str, *, time_limit: float | None = None) -> dict[str, Any]:
    request = TABLES[name] | ({"rows": 2_000} if bench.quick else {})
    asked = request | {"method": "compact", "options": {"effort": effort}, "repetitions": 1, "against": None}
    found = in_process("benchmarks.worker", asked | {"time_limit": time_limit})
    row = bench.row(
        kind="effort" if time_limit is None else "limit", table=name, effort=effort, time_limit=time_limit,
        k=request["k"], **found,
    )  # fmt: skip
    _sound(bench, name, effort, [found])
    return row


def _sound(bench: Bench, name: str, effort: str, found: list[dict[str, Any]]) -> None:
    if any(each["small"] + each["outside"] for each in found):
        bench.holds(f"{name}, {effort}: every row inside the box of a large enough group", False)


def _curve(bench: Bench, name: str) -> None:
    before: dict[str, Any] | None = None
    for effort in EFFORTS[:2] if name in LONG else EFFORTS:
        found = _measured(bench, name, effort)
        if before is not None:
            share = round(found["gcp"] / before["gcp"], 4) if before["gcp"] else 1.0
            bench.at_most(f"{name}: loss of {effort} ÷ that of {before['effort']}", share, 1.0)
        limit = None if bench.quick else ARX_GCP.get(effort, {}).get(name)
        if limit is not None and (why := no_arx()):
            bench.skip(f"{name}: loss of {effort}", why=why)
        elif limit is not None:
            bench.at_most(f"{name}: loss of {effort}", round(found["gcp"], 4), limit)
        before = found


def _limited(bench: Bench) -> None:
    """Stop `thorough` early: it has to be on the curve, wherever it stops."""
    found = [_measured(bench, LIMITED, EFFORTS[-1], time_limit=limit) for limit in LIMITS_S]
    curve = [row for row in bench.rows if row["kind"] == "effort" and row["table"] == LIMITED]
    for before, row in pairwise(found):
        text = f"{LIMITED}: loss within {row['time_limit']:g} s ÷ within {before['time_limit']:g} s"
        bench.at_most(text, round(row["gcp"] / before["gcp"], 4), TOLERANCE)
    for row in found:
        cheaper = [each for each in curve if each["cpu_min"] <= row["cpu_min"] and each["effort"] == EFFORTS[0]]
        if cheaper:
            text = f"{LIMITED}: loss within {row['time_limit']:g} s ÷ that of {EFFORTS[0]}, which took less"
            bench.at_most(text, round(row["gcp"] / cheaper[0]["gcp"], 4), TOLERANCE)


def _groups_grow(bench: Bench) -> None:
    of = {(row["table"], row["effort"]): row for row in bench.rows if row["kind"] == "effort"}
    for effort in EFFORTS[:2]:
        few, many = of[SMALL_K, effort], of[LARGE_K, effort]
        growth = round(many["cpu_min"] / few["cpu_min"], 2)
        bench.at_most(f"{effort}: CPU at k = {many['k']} ÷ at k = {few['k']}", growth, many["k"] / few["k"])


def _blocks(bench: Bench, name: str) -> None:
    request = TABLES[name] | ({"rows": 2_000} if bench.quick else {})
    rows = []
    for size in (500, None) if bench.quick else (*BLOCK_ROWS, None):
        options = {"effort": "fast"} | ({} if size is None else {"block_rows": size})
        asked = request | {"method": "compact", "options": options, "repetitions": 1, "against": None}
        runs = [asked | {"seed": seed} for seed in _seeds(bench)]
        found = in_process("benchmarks.worker", {"requests": runs, "patience": 600.0})["answers"]
        _sound(bench, name, f"blocks of {size} rows", found)
        rows.append(bench.row(kind="block", table=name, block_rows=size, k=request["k"], **_over_seeds(found)))
    for small, large in pairwise(rows):
        text = f"{name}: loss in larger blocks ÷ loss in blocks of {small['block_rows']:,} rows"
        judge_sizes(bench, text, smaller=small["gcps"], larger=large["gcps"])


def _over_seeds(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the losses of all seeds, their mean, and the mean CPU seconds."""
    gcps = [each["gcp"] for each in found]
    cells: dict[str, Any] = {"gcp": statistics.mean(gcps), "gcps": gcps}
    if "cpu_min" in found[0]:
        cells["cpu_min"] = round(statistics.mean(each["cpu_min"] for each in found), 5)
    return cells


def _memory(bench: Bench, data: str, rows: int) -> None:
    kept = []
    with tempfile.TemporaryDirectory() as folder:
        for memory in MEMORY:
            request = {"data": data, "rows": rows, "memory": memory, "folder": folder}
            found = [in_process("benchmarks.efforts", request | {"seed": seed}) for seed in _seeds(bench)]
            sound = all(each["sound"] for each in found)
            kept.append(bench.row(kind="memory", **found[0] | _over_seeds(found) | {"sound": sound}))
    name = f"{data}, {rows:,} rows"
    bench.holds(f"{name}: 512 MB takes several blocks", kept[0]["blocks"] > 1)
    bench.holds(f"{name}: every release is k-anonymous and has all rows", all(row["sound"] for row in kept))
    for less, more in pairwise(kept):
        text = f"{name}: loss with {more['memory'] or 'all'} memory ÷ with {less['memory']}"
        judge_sizes(bench, text, smaller=less["gcps"], larger=more["gcps"])


def release(data: str, rows: int, memory: str | None, folder: str, seed: int = 0) -> dict[str, Any]:
    """Anonymize a table with `fast`, in blocks of what fits this memory or in one piece."""
    from pyarrow import parquet

    from coterie.api.anonymize import anonymize

    whole, k = case(data, rows=rows), 10
    config = whole.config.replace(k=k, method="compact", options={"effort": "fast"}, seed=seed)
    path = Path(folder) / "table.parquet"
    parquet.write_table(whole.columns, path)
    limits = {"engine": "memory"} if memory is None else {"engine": "blocks", "memory": memory}
    made = anonymize(path, config=config, output=Path(folder) / "out.parquet", force=True, **limits)
    found = made.verification
    return {
        "table": data, "rows": rows, "memory": memory, "blocks": made.blocks or 1, "gcp": made.measures["gcp"],
        "sound": bool(found.passed and found.k >= k and found.rows == rows),
        "group_s": round(made.seconds.get("group", 0.0), 2),
    }  # fmt: skip


def lines(result: dict) -> list[str]:
    """The tables of the page."""
    by = {
        kind: [row for row in result["rows"] if row["kind"] == kind] for kind in ("effort", "limit", "block", "memory")
    }
    cells = []
    for name in dict.fromkeys(row["table"] for row in by["effort"]):
        rows = {row["effort"]: row for row in by["effort"] if row["table"] == name}
        of = [rows.get(effort) for effort in EFFORTS]
        k = next(iter(rows.values()))["k"]
        cells.append([name if f"k = {k}" in name else f"{name}, k = {k}"])
        cells[-1] += [f"{loss(row['gcp'])} ({number(row['cpu_min'], 1)})" if row else "–" for row in of]
    limits = [f"{row['time_limit']:g} s: {loss(row['gcp'])} ({number(row['cpu_min'], 1)})" for row in by["limit"]]
    runs = max((len(row.get("gcps", [0])) for row in by["block"]), default=1)
    # Results from before sizes were compared over several seeds have the loss of one piece among the efforts only.
    whole = [row for row in by["effort"] if row["effort"] == "fast" and row["table"] in BLOCKED] if runs == 1 else []
    parts = [
        [row["table"], f"{row['block_rows']:,} rows" if row.get("block_rows") else "one piece", loss(row["gcp"])]
        for name in BLOCKED for row in [*by["block"], *whole] if row["table"] == name
    ]  # fmt: skip
    parts += [
        [
            f"{row['table']}, {row['rows']:,} rows",
            f"{row['memory'] or 'all'} memory, {row['blocks']} in all",
            loss(row["gcp"]),
        ]
        for row in by["memory"]
    ]
    return [
        "GCP and, in brackets, CPU seconds of the grouping step, one run each:",
        "",
        *table(["", *(f"`{effort}`" for effort in EFFORTS)], cells),
        "",
        "![Loss over CPU seconds](plots/efforts-loss.svg)",
        "",
        f"`thorough` on {LIMITED} with a `time_limit`: {'; '.join(limits)}.",
        "",
        f"The same effort, `fast`, in blocks and in one piece{'' if runs == 1 else f', the mean of {runs} seeds'}:",
        "",
        *table(["", "blocks", "GCP"], parts),
        *([] if runs == 1 else ["", HOW_JUDGED]),
    ]


if __name__ == "__main__":
    print(json.dumps(release(**json.loads(sys.stdin.read()))))
