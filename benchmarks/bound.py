"""The lower bound at each effort: how high it is, what it costs, and whether it holds for real releases."""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import Any

import numpy as np

from benchmarks.cases import adult_hierarchies_from, case, no_arx
from benchmarks.harness import Bench, Timing, in_process
from benchmarks.markdown import loss, number, table

TITLE = "The lower bound on Adult: efforts"
KS = (2, 5, 10, 50, 100)
EFFORTS = ("quick", "good", "best")
# GCP with ARX's hierarchies that the bound must reach.
AT_LEAST: dict[str, dict[int, float]] = {
    "quick": {2: 0.0130, 5: 0.0320, 10: 0.0470, 50: 0.0850, 100: 0.1100},
    "best": {2: 0.0138, 5: 0.0380, 10: 0.0600, 50: 0.1250},
}
RELEASES = ("compact", "mondrian", "top-down")
"""methods whose groups prices are compared with"""
CLOSE = 1e-9


def run(bench: Bench) -> None:
    rows = 1_500 if bench.quick else None
    bench.facts |= {"hierarchies": adult_hierarchies_from(), "rows_of_adult": rows or 30_162}
    for k in (10,) if bench.quick else KS:
        before: dict[str, Any] | None = None
        for effort in EFFORTS:
            found = in_process("benchmarks.bound", {"k": k, "effort": effort, "rows": rows})
            row = bench.row(**found)
            name = f"k = {k}, {effort}"
            bench.holds(f"{name}: in no group of {', '.join(RELEASES)} do prices exceed the loss", not row["violated"])
            bench.at_most(f"{name}: bound ÷ least loss of a release", round(row["bound"] / row["least_gcp"], 4), 1.0)
            if before is not None:
                share = round(row["bound"] / before["bound"], 4)
                bench.at_least(f"{name}: bound ÷ that of {before['effort']}", share, 1.0)
            limit = AT_LEAST.get(effort, {}).get(k)
            if limit is not None and not bench.quick:
                if why := no_arx():
                    bench.skip(f"{name}: GCP", why=why)
                else:
                    bench.at_least(f"{name}: GCP", round(row["bound"], 5), limit)
            if effort == EFFORTS[0] and not bench.quick:
                bench.at_most(f"{name}: CPU ÷ that of compact", round(row["cpu"] / row["release_cpu"], 2), 1.0)
            before = row


def measured(k: int, effort: str, rows: int | None) -> dict[str, Any]:
    """Compute the bound in this process, with kernels loaded, and compare prices with the groups of releases."""
    from coterie.grouping.bound import row_prices
    from coterie.kernels.search.costs import box_costs
    from coterie.methods import Run, find_method
    from coterie.releases.bound import guided_bound, guiding_groups

    few = case("adult", rows=max(600, 4 * k)).table()
    guided_bound(few, k, effort="good", threads=2)
    find_method("compact").run(few, k, None, Run(seed=0, threads=2))
    people = case("adult", rows=rows).table()
    priced, released = Timing(), Timing()
    guide = partial(guiding_groups, people, k, 2, effort=effort)
    priced.once(row_prices, people, k, guide=guide, threads=2, effort=effort)
    prices = priced.answer
    cells = people.rows * people.attributes
    violated, losses = 0, []
    for name in RELEASES:
        timing = released if name == "compact" else Timing()
        timing.once(find_method(name).run, people, k, None, Run(seed=0, threads=2))
        grouping = timing.answer
        paid = np.bincount(grouping.labels, weights=prices, minlength=grouping.groups)
        costs = grouping.sizes * box_costs(people.costs, grouping.lo, grouping.hi)
        violated += int(np.count_nonzero(paid > costs + CLOSE))
        losses.append(float(costs.sum()) / cells)
    return {
        "k": k,
        "effort": effort,
        "bound": float(prices.sum()) / cells,
        "cpu": round(priced.cpu[0], 2),
        "release_cpu": round(released.cpu[0], 2),
        "least_gcp": min(losses),
        "violated": violated,
    }


def lines(result: dict) -> list[str]:
    """The table of the page."""
    rows = result["rows"]
    ks = sorted({row["k"] for row in rows})
    cells = []
    for effort in EFFORTS:
        of = {row["k"]: row for row in rows if row["effort"] == effort}
        each = [f"{loss(of[k]['bound'])} ({number(of[k]['cpu'], 1)})" if k in of else "–" for k in ks]
        cells.append([f"`{effort}`", *each])
    least = {k: min(row["least_gcp"] for row in rows if row["k"] == k) for k in ks}
    took = {k: min(row["release_cpu"] for row in rows if row["k"] == k) for k in ks}
    cells.append(["*loss of `compact`*", *(f"{loss(least[k])} ({number(took[k], 1)})" for k in ks)])
    return [
        f"{result['rows_of_adult']:,} complete training rows, 8 quasi-identifiers, {result['hierarchies']}'s "
        "hierarchies. The bound as GCP and, in brackets, CPU seconds:",
        "",
        *table(["", *(f"k = {k}" for k in ks)], cells),
    ]


if __name__ == "__main__":
    print(json.dumps(measured(**json.loads(sys.stdin.read()))))
