"""k-members by brute force: every free row is looked at for every member of every group. In Numba, as the fast one is.

It shares no code with the index: intervals are looked up in square tables made here, groups grow by plain loops. Ties
go to the lowest row, so that both must find the same groups.
"""

from __future__ import annotations

import numba
import numpy as np

from coterie.table.costs import interval_costs
from coterie.table.table import Table


def interval_tables(table: Table) -> np.ndarray:
    """[d, widest, widest]: what each interval of each attribute costs, weighted; infinite where lo > hi."""
    widest = max(domain.size for domain in table.domains)
    tables = np.full((table.attributes, widest, widest), np.inf)
    for j, domain in enumerate(table.domains):
        lo, hi = np.triu_indices(domain.size)
        tables[j, lo, hi] = domain.weight * interval_costs(domain, lo.astype(np.int32), hi.astype(np.int32))
    return tables


def kmembers(table: Table, k: int, seeds: np.ndarray, *, stop_early: bool = False) -> np.ndarray:
    """Row → group, groups numbered as they grow from the seeds."""
    return _grow(interval_tables(table), table.codes, k, seeds, stop_early)


# Loops name rows by (array, row): a view of a row would cost Numba more than the sum over it.


@numba.njit(cache=True, inline="always")
def _cost_with(tables, lo, hi, codes, row, limit):
    """Cost of the box when a row joins; given up as soon as it exceeds the limit."""
    total = 0.0
    for j in range(codes.shape[1]):
        c = codes[row, j]
        total += tables[j, min(lo[j], c), max(hi[j], c)]
        if total > limit:
            break
    return total


@numba.njit(cache=True)
def _grow(tables, codes, k, seeds, stop_early):
    n, d = codes.shape
    groups = n // k
    labels = np.full(n, -1, dtype=np.int32)
    boxes_lo = np.empty((groups, d), dtype=np.int32)
    boxes_hi = np.empty((groups, d), dtype=np.int32)
    lo = np.empty(d, dtype=np.int32)
    hi = np.empty(d, dtype=np.int32)
    free = np.arange(n)
    left = n
    at = 0
    for g in range(groups):
        while labels[seeds[at]] >= 0:
            at += 1
        row = seeds[at]
        lo[:] = codes[row]
        hi[:] = codes[row]
        labels[row] = g
        for _ in range(k - 1):
            best = np.inf
            for p in range(left):  # ascending, so that the first of equals is the lowest row
                other = free[p]
                if labels[other] < 0:
                    cost = _cost_with(tables, lo, hi, codes, other, best if stop_early else np.inf)
                    if cost < best:
                        best = cost
                        row = other
            labels[row] = g
            for j in range(d):
                lo[j] = min(lo[j], codes[row, j])
                hi[j] = max(hi[j], codes[row, j])
        boxes_lo[g] = lo
        boxes_hi[g] = hi
        kept = 0
        for p in range(left):
            if labels[free[p]] < 0:
                free[kept] = free[p]
                kept += 1
        left = kept
    _place(tables, codes, k, seeds, labels, boxes_lo, boxes_hi)
    return labels


@numba.njit(cache=True)
def _place(tables, codes, k, seeds, labels, lo, hi):
    """Each left-over row joins the group whose loss rises least."""
    groups = len(lo)
    sizes = np.full(groups, k)
    for row in seeds:
        if labels[row] >= 0:
            continue
        best = np.inf
        best_group = 0
        for g in range(groups):
            now = _cost_with(tables, lo[g], hi[g], lo, g, np.inf)
            rise = (sizes[g] + 1) * _cost_with(tables, lo[g], hi[g], codes, row, np.inf) - sizes[g] * now
            if rise < best:
                best = rise
                best_group = g
        labels[row] = best_group
        sizes[best_group] += 1
        lo[best_group] = np.minimum(lo[best_group], codes[row])
        hi[best_group] = np.maximum(hi[best_group], codes[row])
