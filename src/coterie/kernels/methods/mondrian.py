"""The loops of Mondrian: cut, and cut again."""

from __future__ import annotations

import numpy as np

from coterie.kernels import kernel, loop, part
from coterie.kernels.search.costs import interval_cost
from coterie.kernels.sorting import sort_pairs


@part
def _median(codes, weights, order, start, end, j, low, high, counts, keys, rows):
    """The median code of attribute j, and how many rows lie at or below it and strictly below it."""
    total = 0
    for p in range(start, end):
        total += weights[order[p]]
    half = (total + 1) // 2
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
def _bounds(codes, order, start, end, lo, hi):
    for j in range(codes.shape[1]):
        lo[j] = codes[order[start], j]
        hi[j] = lo[j]
        for p in range(start + 1, end):
            c = codes[order[p], j]
            if c < lo[j]:
                lo[j] = c
            elif c > hi[j]:
                hi[j] = c


@part
def _widest_first(costs, lo, hi, ranked, widths):
    """Attributes by falling cost of their interval, ties by number; how many of them can be cut at all."""
    usable = 0
    for j in range(lo.shape[0]):
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


def strict_cuts(costs, codes, weights, k):
    """Distinct row → group. Rows with the same code always fall on the same side of a cut."""
    m, d = codes.shape
    order = np.arange(m, dtype=np.int32)
    labels = np.empty(m, dtype=np.int32)
    starts = np.empty(m + 1, dtype=np.int64)
    ends = np.empty(m + 1, dtype=np.int64)
    counts = np.zeros(4 * m + 1, dtype=np.int64)
    lo = np.empty(d, dtype=np.int32)
    hi = np.empty(d, dtype=np.int32)
    ranked = np.empty(d, dtype=np.int64)
    widths = np.empty(d, dtype=np.float64)
    keys = np.empty(m, dtype=np.int32)
    rows = np.empty(m, dtype=np.int32)
    _strict_cuts(costs, codes, weights, k, order, labels, starts, ends, counts, lo, hi, ranked, widths, keys, rows)
    return labels


@loop
def _strict_cuts(costs, codes, weights, k, order, labels, starts, ends, counts, lo, hi, ranked, widths, keys, rows):
    starts[0] = 0
    ends[0] = codes.shape[0]
    top = 0
    groups = 0
    while top >= 0:
        start, end = starts[top], ends[top]
        top -= 1
        total = _rows(weights, order, start, end)
        usable = 0
        if total >= 2 * k:
            _bounds(codes, order, start, end, lo, hi)
            usable = _widest_first(costs, lo, hi, ranked, widths)
        cut = False
        for i in range(usable):
            j = ranked[i]
            code, upto, below = _median(codes, weights, order, start, end, j, lo[j], hi[j], counts, keys, rows)
            if upto >= k and total - upto >= k:
                cut = True
            elif below >= k and total - below >= k:
                code -= 1
                cut = True
            if cut:
                left = start
                right = end - 1
                while left <= right:
                    if codes[order[left], j] <= code:
                        left += 1
                    else:
                        order[left], order[right] = order[right], order[left]
                        right -= 1
                starts[top + 1] = left
                ends[top + 1] = end
                starts[top + 2] = start
                ends[top + 2] = left
                top += 2
                break
        if not cut:
            for p in range(start, end):
                labels[order[p]] = groups
            groups += 1


@kernel
def relaxed_cuts(costs, codes, k):
    """Row → group. Rows with the median code are shared out by row number, so that halves are equal."""
    n, d = codes.shape
    order = np.arange(n).astype(np.int32)
    spare = np.empty(n, dtype=np.int32)
    weights = np.ones(n, dtype=np.int32)
    labels = np.empty(n, dtype=np.int32)
    starts = np.empty(n + 1, dtype=np.int64)
    ends = np.empty(n + 1, dtype=np.int64)
    counts = np.zeros(4 * n + 1, dtype=np.int64)
    lo = np.empty(d, dtype=np.int32)
    hi = np.empty(d, dtype=np.int32)
    ranked = np.empty(d, dtype=np.int64)
    widths = np.empty(d, dtype=np.float64)
    keys = np.empty(n, dtype=np.int32)
    rows = np.empty(n, dtype=np.int32)
    starts[0] = 0
    ends[0] = n
    top = 0
    groups = 0
    while top >= 0:
        start, end = starts[top], ends[top]
        top -= 1
        size = end - start
        usable = 0
        if size >= 2 * k:
            _bounds(codes, order, start, end, lo, hi)
            usable = _widest_first(costs, lo, hi, ranked, widths)
        if usable == 0:
            for p in range(start, end):
                labels[order[p]] = groups
            groups += 1
            continue
        j = ranked[0]
        code, _upto, below = _median(codes, weights, order, start, end, j, lo[j], hi[j], counts, keys, rows)
        half = size // 2
        share = half - below  # how many rows with the median code go to the left side, lowest rows first
        left = start
        right = 0
        for p in range(start, end):  # stable: rows stay in the order of their numbers
            row = order[p]
            goes_left = codes[row, j] < code
            if codes[row, j] == code and share > 0:
                goes_left = True
                share -= 1
            if goes_left:
                order[left] = row
                left += 1
            else:
                spare[right] = row
                right += 1
        for p in range(right):
            order[left + p] = spare[p]
        starts[top + 1] = left
        ends[top + 1] = end
        starts[top + 2] = start
        ends[top + 2] = left
        top += 2
    return labels
