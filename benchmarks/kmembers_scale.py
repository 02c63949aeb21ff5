"""k-members from 100,000 to 1,000,000 rows: does time grow with the rows, or faster?"""

from __future__ import annotations

from benchmarks.harness import Bench, in_process
from benchmarks.markdown import loss, number, table

TITLE = "k-members: ten times the rows"
K = 10
GROWTH = 20
SEEDINGS = ("random", "dense-first")


def run(bench: Bench) -> None:
    few, many = (10_000, 100_000) if bench.quick else (100_000, 1_000_000)
    for seeding in SEEDINGS:
        made = []
        for rows in (few, many):
            request = {
                "data": "census", "rows": rows, "method": "kmembers", "options": {"seeding": seeding}, "k": K,
                "repetitions": 1 if bench.quick else 3,
            }  # fmt: skip
            found = in_process("benchmarks.worker", request)
            made.append(bench.row(seeding=seeding, **found))
            sound = not found["small"] + found["outside"] + found["suppressed"]
            bench.holds(f"{seeding}, {rows:,} rows: every row inside the box of a group of {K} at least", sound)
        growth = made[1]["cpu_min"] / made[0]["cpu_min"]
        bench.at_most(f"{seeding}: {few:,} → {many:,} rows, time grows", round(growth, 2), GROWTH)
        less = made[1]["gcp"] < made[0]["gcp"]  # more rows have nearer neighbours
        bench.holds(f"{seeding}: more rows, less loss", less)


def lines(result: dict) -> list[str]:
    rows = [
        [row["seeding"], f"{row['rows']:,}", f"{row['distinct']:,}", number(row["cpu_min"]), number(row["wall_min"]),
         number(row["ratio"], 1), loss(row["gcp"]), f"{row['peak_mb']:,.0f}"]
        for row in result["rows"]
    ]  # fmt: skip
    head = ["seeds", "rows", "distinct", "CPU s", "clock s", "× `mondrian`", "GCP", "peak MB"]
    return [f"Synthetic census, 7 quasi-identifiers, k = {K}.", "", *table(head, rows)]
