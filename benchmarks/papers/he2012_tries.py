"""He et al. 2012, section 3: "most of G can be partitioned into two sub-tables by up to k = 15 tries"."""

from __future__ import annotations

import numpy as np

from benchmarks.papers.data import Data
from benchmarks.papers.trials import Point, Trial, kind, rounded
from coterie.methods import Run, find_method
from coterie.methods.cb import _diversity, _in_order, _numbers

MANY = 10
"""times as many tries, to see whether a part is halved in another way then"""


@kind("tries")
def tries(trial: Trial, made: Data) -> Point:
    """The share of the parts that ten times as many tries halve no differently, over all parts of one run of CB.

    A part can always be halved, in the first try: a half that is too small borrows rows. What more tries could change
    is which of the halvings is the best.
    """
    from coterie.kernels.methods.cb import Tries, halve

    options = find_method("cb").options(**trial.options)
    table, run = _in_order(made.table), Run(seed=trial.repeat)
    costs, numbers, diversity = table.costs, _numbers(table), _diversity(table, run)
    labels = np.empty(table.rows, dtype=np.int32)

    def halved(rows: np.ndarray, key: np.uint64, count: int) -> tuple[int, np.ndarray]:
        keys, ways = np.zeros(2, dtype=np.uint64), Tries(trial.k, count, options.rounds, options.restarts)
        return halve(costs, numbers, diversity, table.codes, rows, key, ways, True, keys, labels), keys

    alike = parts = 0
    waiting = [(np.arange(table.rows, dtype=np.int32), run.rng().integers(2**64, dtype=np.uint64))]
    while waiting:
        rows, key = waiting.pop()
        if len(rows) < 2 * trial.k:
            continue
        other = rows.copy()
        left, keys = halved(rows, key, options.tries)
        more, _ = halved(other, key, MANY * options.tries)
        parts += 1
        alike += left == more and bool((rows == other).all())
        waiting += [(rows[:left], keys[0]), (rows[left:], keys[1])]
    return {"parts": parts, "settled": rounded(alike / parts)}
