"""GCCG: Ni, Xie, Qian, "Clustering based k-anonymity algorithm for privacy preservation", 2017.

Algorithm 1. *Grading*: a row's score is the sum, over the attributes, of the share of rows with its value
(Section 4.2). *Centring*: sort by score, highest first; the first row left is the next centre. *Clustering*: the
centre and the k − 1 rows nearest to it make a class, n/k − 1 times; the rest is the last class. *Generalization* is
as in every method here. The distance of two rows (Section 4.3) is |a₁ − a₂| ÷ range for numbers and, for
categories, the height of the lowest common ancestor ÷ the height of the tree; attribute weights multiply it.

Algorithm 2, `parts=c`: while a part has more than n/c rows, its first row and the size/2 − 1 rows nearest to it
become one part, the others another. Classes are then formed in each part, in parallel.

Deviations
    * Scores are compared as sums of counts, which are integers: all shares have the denominator n. Numbers are
      graded like categories, as in Table 5; Section 4.2 speaks of a "ratio of the value to K".
    * Tied scores keep the order of the rows. Tied distances go to the first row in the sorted table.
    * Rows are graded once, in the whole table, and parts keep that order: grading each part again would not give
      Table 8. Ranges are also those of the whole table.
    * n/c is rounded up, so that 2, 4, 8, … parts are exactly as many. A part with fewer than 2k rows is not halved.
    * `distance="ncp"` measures categories by their share of leaves, as the paper's information loss does (Equation 2).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from coterie.arrays import Int32, Int64
from coterie.grouping.index import build_index
from coterie.methods._method import PaperOptions, Run, method
from coterie.table.costs import Measure
from coterie.table.grouping import Grouping
from coterie.table.table import Table

if TYPE_CHECKING:
    from coterie.kernels.search.costs import CostArrays

# Classes made between two checks for cancellation.
_SLICE = 4096


class GccgOptions(PaperOptions):
    """Options of `gccg`."""

    parts: int = Field(
        1,
        ge=1,
        description="Halve the table until no part has more than 1/parts of the rows; parts are grouped in parallel.",
    )
    distance: Literal["height", "ncp"] = Field(
        "height", description="How far categories are apart: the paper's height ratio, or NCP (leaf share)."
    )


@method("gccg", paper="Ni, Xie, Qian 2017", recoding="local", options=GccgOptions)
def gccg(table: Table, k: int, options: GccgOptions, run: Run) -> Grouping:
    """Take the row with the most frequent values and those nearest to it, k rows at a time."""
    costs = table.costs_of(Measure(options.distance, table.leaf_counts))
    order = np.argsort(-grades(table), kind="stable").astype(np.int32)
    parts = _halve(costs, table.codes, order, k=k, limit=-(-table.rows // options.parts))
    lock, done = Lock(), 0

    def report(rows: int) -> None:
        nonlocal done
        run.checkpoint()
        with lock:
            done += rows
            run.progress("grouping", done, table.rows)

    def classes(part: Int32) -> Int32:
        return _classes(Table(np.ascontiguousarray(table.codes[part]), table.domains), costs, k, report)

    labels = np.empty(table.rows, dtype=np.int32)
    before = 0
    with ThreadPoolExecutor(max(run.threads, 1)) as pool:
        for part, made in zip(parts, pool.map(classes, parts), strict=True):
            labels[part] = made + before
            before += max(len(part) // k, 1)
    return Grouping.of(table.codes, labels)


def grades(table: Table) -> Int64:
    """Return row → its score times n: the number of rows with its value, summed over the attributes."""
    total = np.zeros(table.rows, dtype=np.int64)
    for column, domain in zip(table.codes.T, table.domains, strict=True):
        total += np.bincount(column, minlength=domain.size)[column]
    return total


def _halve(costs: CostArrays, codes: Int32, order: Int32, *, k: int, limit: int) -> list[Int32]:
    """Cut rows, in the order of their scores, into parts of at most `limit` rows; each part keeps that order."""
    from coterie.kernels.search.neighbours import pair_costs

    if len(order) <= limit or len(order) < 2 * k:
        return [order]
    distances = pair_costs(costs, np.ascontiguousarray(codes[order]), 0)
    near = np.zeros(len(order), dtype=np.bool_)
    # The first row is at distance 0 and comes first, so a stable sort keeps it there.
    near[np.argsort(distances, kind="stable")[: len(order) // 2]] = True
    return [part for half in (order[near], order[~near]) for part in _halve(costs, codes, half, k=k, limit=limit)]


def _classes(part: Table, costs: CostArrays, k: int, report: Callable[[int], None]) -> Int32:
    """Return row of a part sorted by score → class."""
    from coterie.kernels.methods.gccg import gather

    index = build_index(part, costs)
    last = max(part.rows // k, 1) - 1
    labels = np.full(part.rows, last, dtype=np.int32)
    for first in range(0, last, _SLICE):
        end = min(first + _SLICE, last)
        gather(index.nodes, costs, part.codes, k, labels, first, end)
        report((end - first) * k)
    report(part.rows - last * k)
    return labels
