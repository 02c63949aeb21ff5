"""Cuts of groups in two: at the median of an attribute, or at the median of the rows of each sensitive value apart.

The second kind leaves both parts with the same sensitive values in the same shares, but for rounding: where a plain
cut would break a promise, it need not.
"""

from __future__ import annotations

import numpy as np

from coterie.kernels import inner, kernel
from coterie.kernels.costs import box_cost

UP_TO, BELOW, EVEN = 0, 1, 2
KINDS = 3


@inner
def _cut(codes, strata, members, begin, end, attribute, kind, order, values, left):
    """Set left[i] for the i-th row of a group; gives back how many rows are on the left.

    Members stand by stratum. Ties between rows go by their place.
    """
    size = end - begin
    if kind != EVEN:
        for i in range(size):
            values[i] = codes[members[begin + i], attribute]
        middle = np.sort(values[:size])[size // 2]
        lefts = 0
        for i in range(size):
            left[i] = values[i] <= middle if kind == UP_TO else values[i] < middle
            lefts += left[i]
        return lefts
    first = 0
    lefts = 0
    extra = 1
    while first < size:
        last = first
        while last < size and strata[members[begin + last]] == strata[members[begin + first]]:
            values[last] = codes[members[begin + last], attribute]
            last += 1
        order[first:last] = np.argsort(values[first:last], kind="mergesort")
        half = (last - first) // 2
        if (last - first) % 2 == 1:  # of two odd strata, one gives its middle row to the left
            half += extra
            extra = 1 - extra
        for i in range(last - first):
            left[first + order[first + i]] = i < half
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
    order = np.empty(most, dtype=np.int64)
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
    order = np.empty(most, dtype=np.int64)
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
