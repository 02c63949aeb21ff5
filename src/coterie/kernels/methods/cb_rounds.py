"""One round of CB's two-means clustering: shuffle, compare with both centres, borrow, move the centres.

Codes of a part are numbered as places, see `local_codes.py`. Arrays of two numbers a place are flat: side s of a
place is at 2 · place + s.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.kernels import inner, kernel, part
from coterie.kernels.search.costs import interval_cost

TIE = 2

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_ONE = np.uint64(0xBF58476D1CE4E5B9)
_MIX_TWO = np.uint64(0x94D049BB133111EB)


class Numbers(NamedTuple):
    """The attributes' numbers, which centres are means of."""

    first: npt.NDArray[np.int64]
    """where the attribute's numbers begin in `values`, −1 for trees"""
    values: npt.NDArray[np.float64]
    """code → distance from the smallest value; missing values lie twice the range away, which costs the most"""
    missing: npt.NDArray[np.int64]
    """the code of missing values, −1 if there are none"""


@inner
def _mix(state):
    """The number that a splitmix64 stream gives at this state."""
    z = (state ^ (state >> np.uint64(30))) * _MIX_ONE
    z = (z ^ (z >> np.uint64(27))) * _MIX_TWO
    return z ^ (z >> np.uint64(31))


@inner
def derived(key, number):
    """The key of a half (0, 1) or of a round (2, 3, …) of a part: the same in whatever order parts are split."""
    return _mix(key + _GOLDEN * np.uint64(number + 1))


@part
def shuffle(order, key):
    """Fisher–Yates from the ascending order, by the stream that begins after `key`."""
    for i in range(order.shape[0]):
        order[i] = i
    state = key
    for i in range(order.shape[0] - 1, 0, -1):
        state += _GOLDEN
        at = np.int64(((_mix(state) >> np.uint64(32)) * np.uint64(i + 1)) >> np.uint64(32))
        held = order[i]
        order[i] = order[at]
        order[at] = held


@part
def aim_at_centres(costs, numbers, columns, starts, code_at, active, centre, mean, near, differ):
    """What each place costs when it joins each centre; gives back on how many attributes (`differ`) these are apart."""
    apart = 0
    for x in range(active):
        j = columns[x]
        first = numbers.first[j]
        if first >= 0:
            if mean[0, x] == mean[1, x]:
                continue
            span = costs.span[j]
            weight = costs.weight[j]
            for place in range(starts[x], starts[x + 1]):
                number = numbers.values[first + code_at[place]]
                for s in range(2):
                    near[2 * place + s] = min(weight * (abs(number - mean[s, x]) / span), weight)
        else:
            if centre[0, x] == centre[1, x]:
                continue
            for place in range(starts[x], starts[x + 1]):
                c = code_at[place]
                for s in range(2):
                    other = code_at[centre[s, x]]
                    near[2 * place + s] = interval_cost(costs, j, min(c, other), max(c, other))
        differ[apart] = x
        apart += 1
    return apart


@part
def choose_sides(places, differ, apart, near, side):
    """Row → the side of the nearer centre, or a tie; how many ties there are."""
    ties = 0
    for i in range(places.shape[0]):
        one = 0.0
        two = 0.0
        for x in range(apart):
            at = np.uint64(2 * places[i, differ[x]])
            one += near[at]
            two += near[at + np.uint64(1)]
        if one < two:
            side[i] = 0
        elif two < one:
            side[i] = 1
        else:
            side[i] = TIE
            ties += 1
    return ties


@part
def _nth_smallest(values, size, nth):
    """The nth smallest (from 0) of the first `size` values, which get reordered."""
    low = 0
    high = size - 1
    while low < high:
        pivot = values[(low + high) // 2]
        left = low
        right = high
        while left <= right:
            while values[left] < pivot:
                left += 1
            while values[right] > pivot:
                right -= 1
            if left <= right:
                held = values[left]
                values[left] = values[right]
                values[right] = held
                left += 1
                right -= 1
        if nth <= right:
            high = right
        elif nth >= left:
            low = left
        else:
            break
    return values[nth]


@kernel
def borrow(places, differ, apart, near, side, small, need):
    """Give the small side the `need` rows of the other that are nearest to its centre; ties go to the lowest row."""
    size = places.shape[0]
    distance = np.empty(size, dtype=np.float64)
    unordered = np.empty(size, dtype=np.float64)
    others = 0
    for i in range(size):
        if side[i] != small:
            total = 0.0
            for x in range(apart):
                total += near[2 * places[i, differ[x]] + small]
            distance[i] = total
            unordered[others] = total
            others += 1
    limit = _nth_smallest(unordered, others, need - 1)
    equal = need
    for i in range(size):
        if side[i] != small and distance[i] < limit:
            equal -= 1
    for i in range(size):
        if side[i] != small:
            if distance[i] < limit:
                side[i] = small
            elif distance[i] == limit and equal > 0:
                side[i] = small
                equal -= 1


@part
def move_centres(numbers, columns, starts, code_at, active, counts, sizes, centre, mean, lo, hi):
    """Each side's box and centre: the mean of numbers, the most frequent code of trees (the lowest of several)."""
    for x in range(active):
        j = columns[x]
        first = numbers.first[j]
        for s in range(2):
            low = -1
            high = 0
            most = 0
            for place in range(starts[x], starts[x + 1]):
                count = counts[2 * place + s]
                if count > 0:
                    if low < 0:
                        low = place
                    high = place
                    if count > most:
                        most = count
                        centre[s, x] = place
            lo[s, j] = code_at[low]
            hi[s, j] = code_at[high]
            if first >= 0:
                total = 0.0
                absent = 0
                for place in range(low, high + 1):
                    if code_at[place] == numbers.missing[j]:
                        absent = counts[2 * place + s]
                    else:
                        total += counts[2 * place + s] * numbers.values[first + code_at[place]]
                if absent > sizes[s] - absent:
                    mean[s, x] = numbers.values[first + numbers.missing[j]]
                else:
                    mean[s, x] = total / (sizes[s] - absent)
