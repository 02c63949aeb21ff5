"""Cut groups in two: at the median of an attribute, or at the median within each sensitive value.

The second kind leaves both parts with the same distribution of sensitive values, up to rounding: it may preserve a
privacy model that a plain cut would break.
"""

from __future__ import annotations

import numpy as np

from coterie.kernels import kernel, part
from coterie.kernels.search.costs import box_cost

UP_TO, BELOW, EVEN = 0, 1, 2
KINDS = 3


@part
def _sort(keys, items, first, last):
    """Sort items by (key, item), from first to last − 1. Shell sort compiles quickly and is fast enough."""
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


@part
def _cut(codes, strata, rows, attribute, kind, order, values, first_part):
    """Set first_part[i] for the i-th row of a group; return the size of that part.

    Rows are sorted by stratum. Ties keep their order.
    """
    size = rows.shape[0]
    for i in range(size):
        values[i] = codes[rows[i], attribute]
        order[i] = i
    count = 0
    if kind != EVEN:
        _sort(values, order, 0, size)
        middle = values[order[size // 2]]
        for i in range(size):
            first_part[i] = values[i] <= middle if kind == UP_TO else values[i] < middle
            count += first_part[i]
        return count
    first = 0
    extra = 1
    while first < size:
        last = first + 1
        while last < size and strata[rows[last]] == strata[rows[first]]:
            last += 1
        _sort(values, order, first, last)
        half = (last - first) // 2
        if (last - first) % 2 == 1:  # of two odd strata, one gives its middle row to the first part
            half += extra
            extra = 1 - extra
        for i in range(first, last):
            first_part[order[i]] = i < first + half
        count += half
        first = last
    return count


@kernel
def cut_losses(costs, codes, strata, starts, members, k):
    """Return [group, attribute · KINDS + kind] → total loss of both parts; infinite if one has fewer than k rows."""
    groups = starts.shape[0] - 1
    d = codes.shape[1]
    losses = np.full((groups, d * KINDS), np.inf, dtype=np.float64)
    most = 0
    for g in range(groups):
        most = max(most, starts[g + 1] - starts[g])
    order = np.empty(most, dtype=np.int32)
    values = np.empty(most, dtype=np.int32)
    first_part = np.empty(most, dtype=np.bool_)
    lo = np.empty((2, d), dtype=np.int32)
    hi = np.empty((2, d), dtype=np.int32)
    for g in range(groups):
        begin, end = starts[g], starts[g + 1]
        rows = members[begin:end]
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
                count = _cut(codes, strata, rows, attribute, kind, order, values, first_part)
                if count < k or end - begin - count < k:
                    continue
                lo[:] = 2**31 - 1
                hi[:] = -1
                for i in range(end - begin):
                    side = 0 if first_part[i] else 1
                    for j in range(d):
                        c = codes[rows[i], j]
                        lo[side, j] = min(lo[side, j], c)
                        hi[side, j] = max(hi[side, j], c)
                losses[g, attribute * KINDS + kind] = count * box_cost(costs, lo[0], hi[0]) + (
                    end - begin - count
                ) * box_cost(costs, lo[1], hi[1])
    return losses


@kernel
def cut_rows(codes, strata, starts, members, chosen):
    """Return entry of `members` → whether it is in the first part, for one cut (attribute · KINDS + kind) per group."""
    result = np.empty(members.shape[0], dtype=np.bool_)
    most = 0
    for g in range(starts.shape[0] - 1):
        most = max(most, starts[g + 1] - starts[g])
    order = np.empty(most, dtype=np.int32)
    values = np.empty(most, dtype=np.int32)
    for g in range(starts.shape[0] - 1):
        begin, end = starts[g], starts[g + 1]
        attribute, kind = chosen[g] // KINDS, chosen[g] % KINDS
        _cut(codes, strata, members[begin:end], attribute, kind, order, values, result[begin:end])
    return result
