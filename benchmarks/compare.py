"""`coterie compare` over all methods on Adult: whole, verified releases with loss, risk, query error and time."""

from __future__ import annotations

import os
import time
from dataclasses import asdict

from benchmarks.cases import adult_hierarchies_from, case
from benchmarks.harness import Bench
from benchmarks.markdown import loss, number, table
from benchmarks.variants import SMALL_TABLES_ONLY

TITLE = "coterie compare: all methods on Adult"
KS = (2, 5, 10, 50)
QUERIES = 1000
MINUTES = 10


def run(bench: Bench) -> None:
    from coterie.api.compare import compare, method_names

    adult = case("adult", rows=3_000 if bench.quick else None)
    ks = (5,) if bench.quick else KS
    bench.facts |= {"hierarchies": adult_hierarchies_from(), "rows_of_adult": adult.columns.num_rows}
    bench.facts |= {"queries": QUERIES, "threads": os.cpu_count()}
    started, cpu = time.perf_counter(), time.process_time()
    found = compare(adult.columns, config=adult.config, k=ks, queries=QUERIES)
    bench.facts["wall"] = round(time.perf_counter() - started, 1)
    bench.facts["cpu"] = round(time.process_time() - cpu, 1)
    for row in found.rows:
        bench.row(**asdict(row))
    # Methods for small tables refuse, and their rows say so.
    wanted = len(ks) * len([name for name in method_names("all") if name not in SMALL_TABLES_ONLY])
    bench.check("runs that gave a release", found=_done(bench), wanted=str(wanted), passed=_done(bench) == wanted)
    bench.at_most("CPU minutes for all of them", round(bench.facts["cpu"] / 60, 2), MINUTES)
    for row in found.rows:
        if row.loss_over_bound is not None:
            bench.at_least(f"{row.method}, k = {row.k}: loss ÷ bound", round(row.loss_over_bound, 4), 1.0)
        if row.risk_highest is not None:
            bench.at_most(f"{row.method}, k = {row.k}: highest risk × k", round(row.risk_highest * row.k, 9), 1.0)


def _done(bench: Bench) -> int:
    return sum(row["status"] == "done" for row in bench.rows if row["method"] not in SMALL_TABLES_ONLY)


def lines(result: dict) -> list[str]:
    rows = result["rows"]
    best = {k: min(row["gcp"] for row in rows if row["k"] == k and row["gcp"] is not None) for k in _ks(rows)}
    cells = [
        [
            f"`{row['method']}`",
            row["k"],
            loss(row["gcp"], best=row["gcp"] == best[row["k"]]),
            number(row["loss_over_bound"]),
            "–" if row["groups"] is None else f"{row['groups']:,.0f}",
            number(row["risk_highest"], 3),
            number(row["risk_average"], 4),
            number(row["query_error"], 3),
            number(row["cpu_seconds"]),
            number(row["seconds_in_all"]),
        ]
        for row in rows
    ]
    head = [
        "method",
        "k",
        "loss",
        "÷ bound",
        "groups",
        "highest risk",
        "average risk",
        "query error",
        "CPU s",
        "clock s",
    ]
    refused = [f"* `{row['method']}`, k = {row['k']}: {row['reason']}" for row in rows if row["reason"]]
    return [
        f"`coterie compare` with its defaults: {result['rows_of_adult']:,} rows, 8 quasi-identifiers, "
        f"{result['hierarchies']}'s hierarchies. All runs together took {result['cpu'] / 60:.1f} minutes of CPU "
        f"time, {result['wall'] / 60:.1f} by the clock (see the load below). Risk is the prosecutor risk: 1 ÷ the size "
        "of a record's equivalence class. The query error is the median relative error of "
        f"{result['queries']:,} random COUNT queries. Seconds are those of the whole release, including verification, "
        "without reading. `nh` publishes rows one by one: its groups are rows with the same published values, and the "
        "bound does not apply.",
        "",
        *table(head, cells),
        *(["", *refused] if refused else []),
    ]


def _ks(rows: list[dict]) -> list[int]:
    return sorted({row["k"] for row in rows})
