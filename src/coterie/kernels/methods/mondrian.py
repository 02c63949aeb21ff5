"""Kernels of Mondrian: cut recursively."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import loop, part
from coterie.kernels.parts import cut_at, push_halves
from coterie.kernels.search.costs import interval_cost
from coterie.kernels.sorting import sort_pairs

# Arrays that cutting writes to.
#   order: rows, those of a part side by side
#   starts, ends: the parts that wait
#   ranked: attributes, the widest first
Work = namedtuple("Work", "order starts ends lo hi ranked widths counts keys rows")


def _new_work(n, d):
    starts, ends = np.zeros((2, n + 1), dtype=np.int64)
    ends[0] = n
    lo, hi = np.empty((2, d), dtype=np.int32)
    ranked, widths = np.empty(d, dtype=np.int64), np.empty(d, dtype=np.float64)
    counts = np.zeros(4 * n + 1, dtype=np.int64)
    keys, rows = np.empty((2, n), dtype=np.int32)
    return Work(np.arange(n, dtype=np.int32), starts, ends, lo, hi, ranked, widths, counts, keys, rows)


@part
def _median(codes, weights, start, end, j, work):
    """Return the median code of attribute j, and the number of rows at or below it and strictly below it."""
    order, counts, keys, rows = work.order, work.counts, work.keys, work.rows
    low, high = work.lo[j], work.hi[j]
    half = (_rows(weights, order, start, end) + 1) // 2
    below = 0
    if high - low < 4 * (end - start):
        for c in range(high - low + 1):
            counts[c] = 0
        for p in range(start, end):
            counts[codes[order[p], j] - low] += weights[order[p]]
        c = 0
        while below + counts[c] < half:
            below += counts[c]
            c += 1
        return low + c, below + counts[c], below
    for p in range(start, end):
        keys[p - start] = codes[order[p], j]
        rows[p - start] = order[p]
    sort_pairs(keys, rows, end - start)
    p = 0
    while True:
        c = keys[p]
        here = 0
        while p < end - start and keys[p] == c:
            here += weights[rows[p]]
            p += 1
        if below + here >= half:
            return c, below + here, below
        below += here


@part
def _rows(weights, order, start, end):
    total = 0
    for p in range(start, end):
        total += weights[order[p]]
    return total


@part
def _widest_first(costs, codes, start, end, work):
    """Sort attributes by descending cost of a part's interval, ties by number; return how many can be cut."""
    order, lo, hi, ranked, widths = work.order, work.lo, work.hi, work.ranked, work.widths
    usable = 0
    for j in range(codes.shape[1]):
        lo[j] = codes[order[start], j]
        hi[j] = lo[j]
        for p in range(start + 1, end):
            c = codes[order[p], j]
            if c < lo[j]:
                lo[j] = c
            elif c > hi[j]:
                hi[j] = c
        if lo[j] == hi[j]:
            continue
        width = interval_cost(costs, j, lo[j], hi[j])
        at = usable
        while at > 0 and widths[at - 1] < width:
            widths[at] = widths[at - 1]
            ranked[at] = ranked[at - 1]
            at -= 1
        widths[at] = width
        ranked[at] = j
        usable += 1
    return usable


def strict_cuts(costs, codes, weights, k, before_median):
    """Return distinct row → group. Rows with the same code always fall on the same side of a cut.

    `before_median` allows the cut before the median code if the one after it leaves too few rows.
    """
    labels = np.empty(len(codes), dtype=np.int32)
    _strict_cuts(costs, codes, weights, k, before_median, labels, _new_work(*codes.shape))
    return labels


@loop
def _strict_cuts(costs, codes, weights, k, before_median, labels, work):
    order, starts, ends = work.order, work.starts, work.ends
    top = 0
    groups = 0
    while top >= 0:
        start, end = starts[top], ends[top]
        top -= 1
        total = _rows(weights, order, start, end)
        usable = 0
        if total >= 2 * k:
            usable = _widest_first(costs, codes, start, end, work)
        cut = False
        for i in range(usable):
            j = work.ranked[i]
            code, upto, below = _median(codes, weights, start, end, j, work)
            if upto >= k and total - upto >= k:
                cut = True
            elif before_median and below >= k and total - below >= k:
                code -= 1
                cut = True
            if cut:
                middle = cut_at(codes, order, start, end, j, code)
                top = push_halves(starts, ends, top, start, middle, end)
                break
        if not cut:
            for p in range(start, end):
                labels[order[p]] = groups
            groups += 1


def relaxed_cuts(costs, codes, k):
    """Return row → group. Rows with the median code are divided by row number, so that the halves are equal."""
    labels, spare, weights = np.ones((3, len(codes)), dtype=np.int32)
    _relaxed_cuts(costs, codes, weights, k, labels, spare, _new_work(*codes.shape))
    return labels


@loop
def _relaxed_cuts(costs, codes, weights, k, labels, spare, work):
    order, starts, ends = work.order, work.starts, work.ends
    top = 0
    groups = 0
    while top >= 0:
        start, end = starts[top], ends[top]
        top -= 1
        size = end - start
        usable = 0
        if size >= 2 * k:
            usable = _widest_first(costs, codes, start, end, work)
        if usable == 0:
            for p in range(start, end):
                labels[order[p]] = groups
            groups += 1
            continue
        j = work.ranked[0]
        code, _upto, below = _median(codes, weights, start, end, j, work)
        half = size // 2
        share = half - below  # how many rows with the median code go to the first half, lowest rows first
        middle = start
        others = 0
        for p in range(start, end):  # stable: rows stay in the order of their numbers
            row = order[p]
            first = codes[row, j] < code
            if codes[row, j] == code and share > 0:
                first = True
                share -= 1
            if first:
                order[middle] = row
                middle += 1
            else:
                spare[others] = row
                others += 1
        for p in range(others):
            order[middle + p] = spare[p]
        top = push_halves(starts, ends, top, start, middle, end)
