"""Indexed k-members against its brute-force twin on Adult: the same groups, and how much faster."""

from __future__ import annotations

import numpy as np

from benchmarks import brute
from benchmarks.cases import adult_hierarchies_from, case, judged
from benchmarks.harness import Bench, timed_in_turn
from benchmarks.markdown import number, table
from coterie.methods import Run, find_method
from coterie.table.grouping import renumber
from coterie.table.table import Table

TITLE = "k-members: index against brute force"
K = 10
FASTER = 50


def run(bench: Bench) -> None:
    adult = case("adult", rows=3_000 if bench.quick else None).table()
    bench.facts["hierarchies"] = adult_hierarchies_from()
    seeds = np.random.default_rng(0).permutation(adult.rows).astype(np.int32)
    method = find_method("kmembers")
    options = method.options(seeding="random")

    def indexed() -> np.ndarray:
        fresh = Table(adult.codes, adult.domains)  # building the index and finding equal rows is part of the time
        return method.run(fresh, K, options, Run(seed=0)).labels

    small = Table(np.ascontiguousarray(adult.codes[: 20 * K]), adult.domains)
    method.run(small, K, options, Run(seed=0))
    for early in (False, True):
        brute.kmembers(small, K, np.arange(small.rows, dtype=np.int32), stop_early=early)

    timings = timed_in_turn(
        {
            "index": indexed,
            "brute force": lambda: brute.kmembers(adult, K, seeds),
            "brute force that stops early": lambda: brute.kmembers(adult, K, seeds, stop_early=True),
        },
        repetitions=2 if bench.quick else 3,
    )
    expected = renumber(timings["brute force"].answer)
    for name, timing in timings.items():
        ratio = min(timing.cpu) / min(timings["index"].cpu)
        bench.row(search=name, rows=adult.rows, **timing.cells(), ratio=round(ratio, 2))
        bench.holds(f"{name}: the same groups", np.array_equal(renumber(timing.answer), expected))
    found = method.run(adult, K, options, Run(seed=0))
    quality = judged(adult, found, K)
    bench.holds(f"groups of {K} rows at least, every row inside its box", not quality["small"] + quality["outside"])
    bench.facts["gcp"] = quality["gcp"]
    if not bench.quick:
        bench.at_least("times faster than brute force", round(bench.rows[1]["ratio"], 1), FASTER)


def lines(result: dict) -> list[str]:
    rows = [
        [row["search"], number(row["cpu_min"], 3), number(row["cpu_median"], 3), number(row["wall_min"], 3),
         f"{row['ratio']:.1f}×"]
        for row in result["rows"]
    ]  # fmt: skip
    return [
        f"Adult, {result['rows'][0]['rows']:,} rows, 8 quasi-identifiers, {result['hierarchies']}'s hierarchies, "
        f"k = {K}, random seeds. All are compiled loops, and all find the same groups. Finding equal rows and building "
        "the index are counted in.",
        "",
        *table(["search", "CPU s, least", "CPU s, median", "clock s, least", "against the index"], rows),
    ]
