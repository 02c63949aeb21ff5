"""Boxes around one row: their cost, and lower bounds on the cost of any box.

Any box with a row and k − 1 others costs at least as much as the box of the row and the most expensive of these others
alone. So the row's (k − 1)-th smallest pair cost is a lower bound for every box with k rows, and a box of a given
cost contains at most as many rows as there are pairs within that cost. Boxes found by search give the upper bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coterie.arrays import Float64, Int32

if TYPE_CHECKING:
    from coterie.grouping.index import Index
    from coterie.table.table import Table

# Each step of growing a box scans all distinct rows, so the number of cells limits the steps.
CELLS = 200_000_000
MOST_STEPS = 1_000


class Box(NamedTuple):
    """A box around a row: its cost per row, and the number of rows of the table in it."""

    cost: float
    rows: int


@dataclass(frozen=True)
class AtK:
    """The cost of k for one row."""

    k: int
    at_least: float
    """no box of k rows with this row costs less"""
    found: float
    """the cheapest such box found; the optimum lies between the two"""


def pair_costs(table: Table, row: int) -> Float64:
    """Return row → cost of the box of this row and that one; 0 for the row itself."""
    from coterie.kernels.search.neighbours import pair_costs as compiled

    costs: Float64 = compiled(table.costs, table.codes, row)
    return costs


def nearest_rows(index: Index, table: Table, row: int, count: int) -> Int32:
    """Return the other rows whose boxes with this row cost least, nearest first; ties go to the lowest row."""
    found = index.nearest(table.codes[row], count + 1)
    others: Int32 = found[found != row][:count]
    return others


def box_cost(table: Table, lo: Int32, hi: Int32) -> Float64:
    """Return the cost per row of each of these boxes."""
    from coterie.kernels.search.costs import box_costs

    costs: Float64 = box_costs(table.costs, np.ascontiguousarray(lo), np.ascontiguousarray(hi))
    return costs


def grown(table: Table, lo: Int32, hi: Int32, *, rows: int | None = None, budget: float = float("inf")) -> list[Box]:
    """Grow a box row by row, always by the cheapest row outside it; ties go to the first row.

    It stops at a number of rows, before exceeding a cost, or after fewer steps if the table is large.

    Returns:
        The box at each step, starting with the initial one.
    """
    codes, counts = table.distinct.codes, table.distinct.counts
    steps = int(np.clip(CELLS // max(codes.size, 1), 20, MOST_STEPS))
    cost = float(box_cost(table, lo[None, :], hi[None, :])[0])
    path: list[Box] = []
    while True:
        inside = ((codes >= lo) & (codes <= hi)).all(axis=1)
        path.append(Box(cost, int(counts[inside].sum())))
        if len(path) > steps or inside.all() or (rows is not None and path[-1].rows >= rows):
            return path
        outside = codes[~inside]
        low, high = np.minimum(outside, lo), np.maximum(outside, hi)
        costs = box_cost(table, low, high)
        best = int(np.argmin(costs))
        cost = float(costs[best])
        if cost > budget:
            return path
        lo, hi = low[best], high[best]


def costs_of_k(table: Table, index: Index, row: int, ks: list[int], *, own: Box | None = None) -> list[AtK]:
    """Return, for each k, a lower bound on this row's cost and the cost of the cheapest box found, its `own` included.

    The index has all rows of the table, at least max(ks), and none of them assigned.
    """
    point, most = table.codes[row], max(ks)
    pairs = np.sort(pair_costs(table, row))  # the row itself is among them, with 0
    near = table.codes[np.append(row, nearest_rows(index, table, row, most - 1))]
    around = box_cost(table, np.minimum.accumulate(near), np.maximum.accumulate(near))
    path = grown(table, point, point, rows=most)
    if own is not None:
        path.append(own)
    found = []
    for k in ks:
        boxes = [box.cost for box in path if box.rows >= k]
        found.append(AtK(k, float(pairs[k - 1]), min([float(around[k - 1]), *boxes])))
    return found


def rows_within(table: Table, row: int, cost: float, *, box: tuple[Int32, Int32] | None = None) -> tuple[int, int]:
    """Return how many rows a box around this row can contain at this cost: as found, and at most.

    A box with this row within that cost is another starting point.
    """
    point = table.codes[row]
    found = grown(table, point, point, budget=cost)[-1].rows
    if box is not None:
        found = max(found, grown(table, *box, budget=cost)[-1].rows)
    return found, int(np.count_nonzero(pair_costs(table, row) <= cost))


def without_column(table: Table, row: int, column: int, k: int) -> float:
    """Return a lower bound on the cost of a box with this row and k rows in all if one attribute were free."""
    others = [at for at in range(table.attributes) if at != column]
    total = np.zeros(table.rows)
    for at in others:
        total += attribute_pairs(table, row, at)
    return float(np.partition(total, k - 1)[k - 1])


def attribute_pairs(table: Table, row: int, column: int) -> Float64:
    """Return row → weighted cost, in one attribute, of the box of this row and that one."""
    from coterie.table.costs import Measure, interval_costs

    domain = table.domains[column]
    own = table.codes[row, column]
    every = np.arange(domain.size, dtype=np.int32)
    measure = Measure("ncp", table.leaf_counts)
    by_code = domain.weight * interval_costs(domain, np.minimum(every, own), np.maximum(every, own), measure)
    costs: Float64 = by_code[table.codes[:, column]]
    return costs
