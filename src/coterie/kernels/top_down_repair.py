"""The loops of top-down's repair: groups that are too small take rows from others or merge with them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.kernels import inner, kernel
from coterie.kernels.box_index import ADDED, MANY, empty, grow, nearest, renew_above
from coterie.kernels.costs import box_cost, touch_cost_large, union_cost
from coterie.kernels.index import STACK


class Chains(NamedTuple):
    """The rows of each group as a chain. Groups are named by their slots in the tree over their boxes."""

    first: npt.NDArray[np.int32]
    last: npt.NDArray[np.int32]
    after: npt.NDArray[np.int32]
    """row → the next row of its group, −1 after the last"""


class Donors(NamedTuple):
    """What the tree's nodes know about groups of more than k rows, which may have some to spare."""

    lo: npt.NDArray[np.int32]
    hi: npt.NDArray[np.int32]
    """node → box around these groups"""
    size: npt.NDArray[np.int64]
    """node → rows of the largest, 0 if there is none"""


@inner
def _renew_donors(tree, donors, node, k):
    leaf = tree.left[node] < 0
    first = tree.start[node] if leaf else tree.left[node]
    last = tree.end[node] if leaf else first + 2
    size = np.int64(0)
    for i in range(first, last):
        here = tree.size[i] if leaf else donors.size[i]
        if here > k:
            for j in range(donors.lo.shape[1]):
                low = tree.lo[i, j] if leaf else donors.lo[i, j]
                high = tree.hi[i, j] if leaf else donors.hi[i, j]
                if size == 0 or low < donors.lo[node, j]:
                    donors.lo[node, j] = low
                if size == 0 or high > donors.hi[node, j]:
                    donors.hi[node, j] = high
            size = max(size, here)
    donors.size[node] = size


@kernel
def fill_donors(tree, donors, k):
    """Set every node from its groups."""
    for node in range(tree.start.shape[0] - 1, -1, -1):
        _renew_donors(tree, donors, node, k)


@kernel
def _renew_donors_above(tree, donors, slot, k):
    """Tell the nodes above a slot that its group has changed."""
    node = np.int64(tree.leaf[slot])
    while node >= 0:
        _renew_donors(tree, donors, node, k)
        node = np.int64(tree.parent[node])


@inner
def _touch(costs, tree, slot, lo, hi, i):
    """Cost of the smallest box that holds the group in a slot and touches box i."""
    low, high = tree.lo[slot], tree.hi[slot]
    small = touch_cost_large(costs, costs.small, low, high, lo, hi, i)
    return small + touch_cost_large(costs, costs.large, low, high, lo, hi, i)


@inner
def _is_point(tree, slot):
    """Whether all rows of a group are alike."""
    for j in range(tree.lo.shape[1]):
        if tree.lo[slot, j] != tree.hi[slot, j]:
            return False
    return True


@kernel
def _gather(costs, codes, chains, donor, need, low, high, limit, rows, price):
    """Choose rows of a donor, each the one that then makes the box [low, high] cost least; ties go to the lowest row.

    The chosen rows come to the front of `rows` and the box grows. Gives back its cost, or something above `limit`.
    """
    size = 0
    row = chains.first[donor]
    while row >= 0:
        rows[size] = row
        row = chains.after[row]
        size += 1
    cost = 0.0
    grown = True
    for taken in range(need):
        if grown:
            for p in range(taken, size):
                price[p] = union_cost(costs, low, high, codes, codes, rows[p], np.inf)
        place = taken
        for p in range(taken + 1, size):
            if price[p] < price[place] or (price[p] == price[place] and rows[p] < rows[place]):
                place = p
        row = rows[place]
        cost = price[place]
        if cost > limit:
            break
        rows[place] = rows[taken]
        price[place] = price[taken]
        rows[taken] = row
        grown = False
        for j in range(low.shape[0]):
            c = codes[row, j]
            if c < low[j] or c > high[j]:
                low[j] = min(low[j], c)
                high[j] = max(high[j], c)
                grown = True
    return cost


@kernel
def _best_donor(tree, donors, chains, costs, codes, slot, k, rows, price, chosen, stack, bounds):
    """The group of more than 2k − |G| rows from which k − |G| make the group G in a slot cost least, and that cost.

    `chosen` gets these rows. Ties go to the lowest group; −1 if there is none. Rows of a group that are all alike are
    taken in the order of its chain, without looking at the others.
    """
    d = codes.shape[1]
    need = k - tree.size[slot]
    limit = 2 * k - tree.size[slot]
    low = np.empty(d, dtype=np.int32)
    high = np.empty(d, dtype=np.int32)
    best = np.inf
    found = -1
    number = np.int64(MANY)
    top = -1
    if donors.size[0] > limit:
        top = 0
        stack[0] = 0
        bounds[0] = 0.0
    while top >= 0:
        node = stack[top]
        bound = bounds[top]
        top -= 1
        if bound > best:
            continue
        if tree.left[node] < 0:
            for i in range(tree.start[node], tree.end[node]):
                if tree.size[i] <= limit:
                    continue
                cost = _touch(costs, tree, slot, tree.lo, tree.hi, i)
                if cost > best or (cost == best and tree.lowest[i] > number):
                    continue
                if _is_point(tree, i):
                    row = chains.first[i]
                    for p in range(need):
                        rows[p] = row
                        row = chains.after[row]
                else:
                    for j in range(d):
                        low[j] = tree.lo[slot, j]
                        high[j] = tree.hi[slot, j]
                    cost = _gather(costs, codes, chains, i, need, low, high, best, rows, price)
                if cost < best or (cost == best and tree.lowest[i] < number):
                    best = cost
                    found = i
                    number = np.int64(tree.lowest[i])
                    for p in range(need):
                        chosen[p] = rows[p]
            continue
        one = tree.left[node]
        two = one + 1
        bound_one = np.inf
        bound_two = np.inf
        if donors.size[one] > limit:
            bound_one = _touch(costs, tree, slot, donors.lo, donors.hi, one)
        if donors.size[two] > limit:
            bound_two = _touch(costs, tree, slot, donors.lo, donors.hi, two)
        if bound_two < bound_one:
            one, two = two, one
            bound_one, bound_two = bound_two, bound_one
        if bound_two <= best and bound_two < np.inf:
            top += 1
            stack[top] = two
            bounds[top] = bound_two
        if bound_one <= best and bound_one < np.inf:
            top += 1
            stack[top] = one
            bounds[top] = bound_one
    return found, best


@kernel
def _rest_box(tree, chains, codes, donor, chosen, need, leaving, low, high):
    """The box of a donor without the chosen rows."""
    d = codes.shape[1]
    if _is_point(tree, donor):
        for j in range(d):
            low[j] = tree.lo[donor, j]
            high[j] = tree.hi[donor, j]
        return
    for p in range(need):
        leaving[chosen[p]] = True
    first = True
    row = chains.first[donor]
    while row >= 0:
        if not leaving[row]:
            for j in range(d):
                c = codes[row, j]
                if first or c < low[j]:
                    low[j] = c
                if first or c > high[j]:
                    high[j] = c
            first = False
        row = chains.after[row]
    for p in range(need):
        leaving[chosen[p]] = False


@kernel
def _unchain(chains, donor, chosen, need, leaving):
    """Take the chosen rows out of a donor's chain; rows are left."""
    for p in range(need):
        leaving[chosen[p]] = True
    left = need
    last = -1
    row = chains.first[donor]
    while left > 0:
        follows = chains.after[row]
        if leaving[row]:
            leaving[row] = False
            left -= 1
            if last < 0:
                chains.first[donor] = follows
            else:
                chains.after[last] = follows
            if follows < 0:
                chains.last[donor] = last
        else:
            last = row
        row = follows


@kernel
def _take(tree, chains, codes, slot, donor, chosen, need, leaving, low, high):
    """Give the chosen rows of a donor, whose box becomes [low, high], to the group in a slot."""
    _unchain(chains, donor, chosen, need, leaving)
    for p in range(need):
        row = chosen[p]
        chains.after[chains.last[slot]] = row
        chains.after[row] = -1
        chains.last[slot] = row
        for j in range(codes.shape[1]):
            tree.lo[slot, j] = min(tree.lo[slot, j], codes[row, j])
            tree.hi[slot, j] = max(tree.hi[slot, j], codes[row, j])
    for j in range(codes.shape[1]):
        tree.lo[donor, j] = low[j]
        tree.hi[donor, j] = high[j]
    tree.size[donor] -= need
    tree.size[slot] += need


@kernel
def repair(tree, donors, chains, costs, codes, slots, k):
    """Make the groups in these slots, one after the other, as large as k."""
    n, d = codes.shape
    stack = np.empty(STACK, dtype=np.int32)
    bounds = np.empty(STACK, dtype=np.float64)
    rows = np.empty(n, dtype=np.int32)
    price = np.empty(n, dtype=np.float64)
    chosen = np.empty(k, dtype=np.int32)
    leaving = np.zeros(n, dtype=np.bool_)
    low = np.empty(d, dtype=np.int32)
    high = np.empty(d, dtype=np.int32)
    size, cost, lowest = tree.size, tree.cost, tree.lowest
    for i in range(slots.shape[0]):
        slot = np.int64(slots[i])
        while 0 < size[slot] < k:
            need = k - size[slot]
            other, rise = nearest(tree, costs, slot, ADDED, MANY, MANY, stack, bounds)
            donor, new = _best_donor(tree, donors, chains, costs, codes, slot, k, rows, price, chosen, stack, bounds)
            rest = 0.0
            rise_by_taking = np.inf
            if donor >= 0:
                _rest_box(tree, chains, codes, donor, chosen, need, leaving, low, high)
                rest = box_cost(costs, low, high)
                rise_by_taking = (
                    size[slot] * (new - cost[slot])
                    + need * (new - cost[donor])
                    + (size[donor] - need) * (rest - cost[donor])
                )
            if donor >= 0 and rise_by_taking <= rise:
                _take(tree, chains, codes, slot, donor, chosen, need, leaving, low, high)
                cost[donor] = rest
                cost[slot] = new
                renew_above(tree, donor)
                renew_above(tree, slot)
                _renew_donors_above(tree, donors, donor, k)
            else:
                chains.after[chains.last[other]] = chains.first[slot]
                chains.last[other] = chains.last[slot]
                grow(tree, costs, other, slot, size[other] + size[slot], min(lowest[other], lowest[slot]))
                empty(tree, slot)
                _renew_donors_above(tree, donors, other, k)
                slot = other


@kernel
def chain_labels(chains, size, labels):
    """Label the rows of each group by its slot."""
    for slot in range(size.shape[0]):
        if size[slot] > 0:
            row = chains.first[slot]
            while row >= 0:
                labels[row] = slot
                row = chains.after[row]
