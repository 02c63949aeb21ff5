"""Group one table in a process of its own and say how long it took, what it lost and how much memory it held.

It reads a request as JSON from standard input; `group` below says what may stand in it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

import numpy as np

from benchmarks.cases import Case, bound_of, case, judged
from benchmarks.harness import Timing, peak_mb
from coterie.methods import Method, Options, Run, find_method
from coterie.table.table import Table

# Enough rows for every loop of a method to be compiled or loaded before the clock starts.
WARM_ROWS = 600


def group(
    data: str,
    method: str,
    k: int,
    *,
    rows: int | None = None,
    attributes: int | None = None,
    options: dict[str, Any] | None = None,
    repetitions: int = 3,
    against: str | None = "mondrian",
    bound: bool = False,
    time_limit: float | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Time a method's grouping step and judge what it made.

    Args:
        data: The table, see `cases.case`.
        method: The method.
        k: Minimum group size.
        rows: The first rows only.
        attributes: The first attributes only.
        options: Options of the method.
        repetitions: How often to run it; less often if it takes long.
        against: A method to run in turn with it, for a ratio of times, and NumPy's sort of the table; None for neither.
        bound: Also work out the lower bound, after memory has been read.
        time_limit: Seconds by the clock after which the method has to stop searching.
        seed: The seed of the method.
    """
    chosen = find_method(method)
    settings = chosen.options(**(options or {}))
    peer = find_method(against) if against and against != method else None
    whole = case(data, rows=rows, attributes=attributes)
    _warm_up(chosen, settings, peer, data, attributes, k)
    table = whole.table()
    before = peak_mb()
    timing, other, sort = Timing(), Timing(), Timing()
    for done in range(repetitions):
        deadline = None if time_limit is None else time.monotonic() + time_limit
        timing.once(chosen.run, _fresh(table), k, settings, Run(seed=seed, threads=threads(), deadline=deadline))
        if done == 0:
            peak = peak_mb()
        if peer is not None:
            for _ in range(3):  # it is quick, and its least time is what all others are divided by
                other.once(peer.run, _fresh(table), k, peer.options(), Run(seed=0, threads=threads()))
        for _ in range(3 if against else 0):
            sort.once(np.lexsort, table.codes.T)
        if sum(timing.wall) > 60:
            break
    answer = {
        "rows": table.rows,
        "attributes": table.attributes,
        "distinct": len(table.distinct),
        **judged(table, timing.answer, k),
        **timing.cells(),
        "peak_mb": round(peak, 1),
        "peak_before_mb": round(before, 1),
    }
    if peer is not None:
        answer |= {"against_cpu_min": round(min(other.cpu), 5), "against_wall_min": round(min(other.wall), 5)}
        answer["ratio"] = round(min(timing.cpu) / min(other.cpu), 2)
    if against:
        answer |= {"sort_cpu_min": round(min(sort.cpu), 5), "sorts": round(min(timing.cpu) / min(sort.cpu), 1)}
    if bound:
        answer["bound"] = bound_of(table, k)
    return answer


def several(requests: list[dict[str, Any]], patience: float) -> dict[str, Any]:
    """Group several tables one after the other, until one takes longer than `patience` seconds.

    Starting a process takes longer than most of them. Memory is only that of a table in the first.
    """
    answers = []
    for request in requests:
        answers.append(group(**request))
        if answers[-1]["wall_min"] > patience:
            break
    return {"answers": answers}


def _fresh(table: Table) -> Table:
    """The same codes with nothing worked out: finding equal rows is part of grouping."""
    return Table(table.codes, table.domains)


def _warm_up(chosen: Method, settings: Options, peer: Method | None, data: str, attributes: int | None, k: int) -> None:
    small: Case = case(data, rows=max(WARM_ROWS, 4 * k), attributes=attributes)
    for method, options in ((chosen, settings), (peer, None)):
        if method is not None:
            method.run(small.table(), k, options, Run(seed=0, threads=threads()))


def threads() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if __name__ == "__main__":
    asked = json.loads(sys.stdin.read())
    print(json.dumps(several(**asked) if "requests" in asked else group(**asked)))
