"""Cuts of groups in two: at the median of an attribute, or at the median of the rows of each sensitive value apart.

The second kind leaves both parts with the same sensitive values in the same shares, but for rounding: where a plain
cut would break a promise, it need not.
"""

from __future__ import annotations

import numpy as np

from coterie.kernels import kernel
from coterie.kernels.search.costs import box_cost

UP_TO, BELOW, EVEN = 0, 1, 2
KINDS = 3


@kernel
def _sort(keys, items, first, last):
    """Sort items by (key, item), from first to last − 1. Shell's method: short to compile and quick enough."""
    gap = 1
    while gap < last - first:
        gap = 3 * gap + 1
    while gap > 1:
        gap //= 3
        for at in range(first + gap, last):
            item = items[at]
            key = keys[item]
            to = at
            while to >= first + gap:
                other = items[to - gap]
                if keys[other] < key or (keys[other] == key and other < item):
                    break
                items[to] = other
                to -= gap
            items[to] = item


@kernel
def _cut(codes, strata, members, begin, end, attribute, kind, order, values, left):
    """Set left[i] for the i-th row of a group; gives back how many rows are on the left.

    Members stand by stratum. Ties between rows go by their place.
    """
    size = end - begin
    for i in range(size):
        values[i] = codes[members[begin + i], attribute]
        order[i] = i
    lefts = 0
    if kind != EVEN:
        _sort(values, order, 0, size)
        middle = values[order[size // 2]]
        for i in range(size):
            left[i] = values[i] <= middle if kind == UP_TO else values[i] < middle
            lefts += left[i]
        return lefts
    first = 0
    extra = 1
    while first < size:
        last = first + 1
        while last < size and strata[members[begin + last]] == strata[members[begin + first]]:
            last += 1
        _sort(values, order, first, last)
        half = (last - first) // 2
        if (last - first) % 2 == 1:  # of two odd strata, one gives its middle row to the left
            half += extra
            extra = 1 - extra
        for i in range(first, last):
            left[order[i]] = i < first + half
        lefts += half
        first = last
    return lefts


@kernel
def cut_losses(costs, codes, strata, starts, members, k):
    """[group, attribute · KINDS + kind] → summed loss of both parts; infinite if one has fewer than k rows."""
    groups = starts.shape[0] - 1
    d = codes.shape[1]
    losses = np.full((groups, d * KINDS), np.inf, dtype=np.float64)
    most = 0
    for g in range(groups):
        most = max(most, starts[g + 1] - starts[g])
    order = np.empty(most, dtype=np.int32)
    values = np.empty(most, dtype=np.int32)
    left = np.empty(most, dtype=np.bool_)
    lo = np.empty((2, d), dtype=np.int32)
    hi = np.empty((2, d), dtype=np.int32)
    for g in range(groups):
        begin, end = starts[g], starts[g + 1]
        for attribute in range(d):
            first = codes[members[begin], attribute]
            same = True
            for at in range(begin + 1, end):
                if codes[members[at], attribute] != first:
                    same = False
                    break
            if same:
                continue
            for kind in range(KINDS):
                lefts = _cut(codes, strata, members, begin, end, attribute, kind, order, values, left)
                if lefts < k or end - begin - lefts < k:
                    continue
                lo[:] = 2**31 - 1
                hi[:] = -1
                for i in range(end - begin):
                    row = members[begin + i]
                    side = 0 if left[i] else 1
                    for j in range(d):
                        c = codes[row, j]
                        lo[side, j] = min(lo[side, j], c)
                        hi[side, j] = max(hi[side, j], c)
                losses[g, attribute * KINDS + kind] = lefts * box_cost(costs, lo[0], hi[0]) + (
                    end - begin - lefts
                ) * box_cost(costs, lo[1], hi[1])
    return losses


@kernel
def cut_rows(codes, strata, starts, members, chosen):
    """Place in `members` → whether the row is in the left part, for one cut (attribute · KINDS + kind) per group."""
    result = np.empty(members.shape[0], dtype=np.bool_)
    most = 0
    for g in range(starts.shape[0] - 1):
        most = max(most, starts[g + 1] - starts[g])
    order = np.empty(most, dtype=np.int32)
    values = np.empty(most, dtype=np.int32)
    for g in range(starts.shape[0] - 1):
        begin, end = starts[g], starts[g + 1]
        _cut(
            codes,
            strata,
            members,
            begin,
            end,
            chosen[g] // KINDS,
            chosen[g] % KINDS,
            order,
            values,
            result[begin:end],
        )
    return result
