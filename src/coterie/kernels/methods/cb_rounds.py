"""One round of CB's two-means clustering: shuffle, compare with both centres, borrow, move the centres.

Codes of a part are renumbered, see `local_codes.py`.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import inner, kernel, part
from coterie.kernels.search.costs import interval_cost

TIE = 2

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_ONE = np.uint64(0xBF58476D1CE4E5B9)
_MIX_TWO = np.uint64(0x94D049BB133111EB)


# The attributes' numbers, which centres are means of.
#   first: where the attribute's numbers begin in `values`, −1 for trees
#   values: code → distance from the smallest value; missing values lie twice the range away, which costs the most
#   missing: the code of missing values, −1 if there are none
Numbers = namedtuple("Numbers", "first values missing")


@inner
def _mix(state):
    """Return the output of splitmix64 at this state."""
    z = (state ^ (state >> np.uint64(30))) * _MIX_ONE
    z = (z ^ (z >> np.uint64(27))) * _MIX_TWO
    return z ^ (z >> np.uint64(31))


@inner
def derived(key, number):
    """Return the key of a half (0, 1) or round (2, 3, …) of a part, whatever the order in which parts are split."""
    return _mix(key + _GOLDEN * np.uint64(number + 1))


@part
def shuffle(order, key):
    """Shuffle the ascending order (Fisher–Yates) with the stream after `key`."""
    for i in range(order.shape[0]):
        order[i] = i
    state = key
    for i in range(order.shape[0] - 1, 0, -1):
        state += _GOLDEN
        at = np.int64(((_mix(state) >> np.uint64(32)) * np.uint64(i + 1)) >> np.uint64(32))
        held = order[i]
        order[i] = order[at]
        order[at] = held


# The two sides that a part is cut into. Arrays of two numbers a local code are flat: side s is at 2 · code + s.
#   near: local code → what it costs when it joins each centre
#   counts: local code → rows of each side that have it
#   sizes: side → rows
#   centre: [side, attribute] → local code
#   mean: [side, attribute], of numbers
#   lo, hi: side → box
#   differ: the attributes in which the centres are apart
Sides = namedtuple("Sides", "near counts sizes centre mean lo hi differ")


@part
def seed_centres(numbers, local, active, order, sides):
    """Make the first two rows in this order the centres."""
    for x in range(active):
        first = numbers.first[local.columns[x]]
        for s in range(2):
            sides.centre[s, x] = local.of_row[order[s], x]
            if first >= 0:
                sides.mean[s, x] = numbers.values[first + local.code[sides.centre[s, x]]]


@part
def aim_at_centres(costs, numbers, local, active, sides):
    """Set the costs of local codes joining each centre; return the number of attributes in which the centres differ."""
    centre, mean, near = sides.centre, sides.mean, sides.near
    apart = 0
    for x in range(active):
        j = local.columns[x]
        first = numbers.first[j]
        if first >= 0:
            if mean[0, x] == mean[1, x]:
                continue
            span = costs.span[j]
            weight = costs.weight[j]
            for at in range(local.starts[x], local.starts[x + 1]):
                number = numbers.values[first + local.code[at]]
                for s in range(2):
                    near[2 * at + s] = min(weight * (abs(number - mean[s, x]) / span), weight)
        else:
            if centre[0, x] == centre[1, x]:
                continue
            for at in range(local.starts[x], local.starts[x + 1]):
                c = local.code[at]
                for s in range(2):
                    other = local.code[centre[s, x]]
                    near[2 * at + s] = interval_cost(costs, j, min(c, other), max(c, other))
        sides.differ[apart] = x
        apart += 1
    return apart


@part
def choose_sides(local, sides, apart, side):
    """Assign each row to the nearer centre, or mark a tie; return the number of ties."""
    of_row, near, differ = local.of_row, sides.near, sides.differ
    ties = 0
    for i in range(of_row.shape[0]):
        one = 0.0
        two = 0.0
        for x in range(apart):
            at = np.uint64(2 * of_row[i, differ[x]])
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
def break_ties(side, order, ties, sizes):
    """Assign tied rows, in this order, to the smaller side; count the rows of each."""
    sizes[0] = 0
    sizes[1] = 0
    for p in range(side.shape[0]):
        i = order[p] if ties > 0 else p
        if side[i] == TIE:
            side[i] = 0 if sizes[0] <= sizes[1] else 1
        sizes[side[i]] += 1


@part
def _nth_smallest(values, size, nth):
    """Return the nth smallest (from 0) of the first `size` values, which are reordered."""
    low = 0
    high = size - 1
    while low < high:
        pivot = values[(low + high) // 2]
        one = low
        two = high
        while one <= two:
            while values[one] < pivot:
                one += 1
            while values[two] > pivot:
                two -= 1
            if one <= two:
                held = values[one]
                values[one] = values[two]
                values[two] = held
                one += 1
                two -= 1
        if nth <= two:
            high = two
        elif nth >= one:
            low = one
        else:
            break
    return values[nth]


@kernel
def borrow(local, sides, apart, side, small, need):
    """Move to the small side the `need` rows of the other that are nearest to its centre; ties go to the lowest row."""
    of_row, near, differ = local.of_row, sides.near, sides.differ
    size = of_row.shape[0]
    distance = np.empty(size, dtype=np.float64)
    unordered = np.empty(size, dtype=np.float64)
    others = 0
    for i in range(size):
        if side[i] != small:
            total = 0.0
            for x in range(apart):
                total += near[2 * of_row[i, differ[x]] + small]
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
def move_row(of_row, active, counts, i, old, new):
    """Count a row on its new side instead of its old one (−1 for none); `of_row` has the local codes of each row."""
    for x in range(active):
        at = 2 * of_row[i, x]
        counts[at + new] += 1
        if old >= 0:
            counts[at + old] -= 1


@part
def move_centres(numbers, local, active, sides):
    """Set each side's box and centre: the mean of numbers, the most frequent code of trees (the lowest of several)."""
    code, counts, sizes = local.code, sides.counts, sides.sizes
    for x in range(active):
        j = local.columns[x]
        first = numbers.first[j]
        for s in range(2):
            low = -1
            high = 0
            most = 0
            for at in range(local.starts[x], local.starts[x + 1]):
                count = counts[2 * at + s]
                if count > 0:
                    if low < 0:
                        low = at
                    high = at
                    if count > most:
                        most = count
                        sides.centre[s, x] = at
            sides.lo[s, j] = code[low]
            sides.hi[s, j] = code[high]
            if first >= 0:
                total = 0.0
                absent = 0
                for at in range(low, high + 1):
                    if code[at] == numbers.missing[j]:
                        absent = counts[2 * at + s]
                    else:
                        total += counts[2 * at + s] * numbers.values[first + code[at]]
                if absent > sizes[s] - absent:
                    sides.mean[s, x] = numbers.values[first + numbers.missing[j]]
                else:
                    sides.mean[s, x] = total / (sizes[s] - absent)
