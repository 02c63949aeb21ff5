"""The loops of top-down's repair: groups that are too small take rows from others or merge with them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.kernels import inner, kernel, loop, part
from coterie.kernels.search.costs import (
    aim,
    aim_all,
    box_cost,
    point_cost,
    point_cost_large,
    touch_cost,
    touch_cost_large,
)
from coterie.kernels.search.groups_index import ADDED, MANY, empty, grow, nearest, renew_above
from coterie.kernels.search.rows_index import STACK


class Chains(NamedTuple):
    """The members of each group as a chain. Groups are named by their slots in the tree over their boxes.

    Members are rows in another order, in which each group's lie side by side at first: a search looks at many rows of
    a few groups.
    """

    codes: npt.NDArray[np.int32]
    """member → codes"""
    row: npt.NDArray[np.int32]
    """member → row"""
    first: npt.NDArray[np.int32]
    last: npt.NDArray[np.int32]
    after: npt.NDArray[np.int32]
    """member → the next one of its group, −1 after the last"""


class Donors(NamedTuple):
    """What the tree's nodes know about groups of more than k rows, which may have some to spare."""

    lo: npt.NDArray[np.int32]
    hi: npt.NDArray[np.int32]
    """node → box around these groups"""
    size: npt.NDArray[np.int64]
    """node → rows of the largest, 0 if there is none"""


class Work(NamedTuple):
    """Arrays that the search for donors writes to."""

    members: npt.NDArray[np.int32]
    price: npt.NDArray[np.float64]
    reach: npt.NDArray[np.float64]
    reach_grown: npt.NDArray[np.float64]


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


@loop
def fill_donors(tree, donors, k):
    """Set every node from its groups."""
    for node in range(tree.start.shape[0] - 1, -1, -1):
        _renew_donors(tree, donors, node, k)


@part
def _renew_donors_above(tree, donors, slot, k):
    """Tell the nodes above a slot that its group has changed."""
    node = np.int64(tree.leaf[slot])
    while node >= 0:
        _renew_donors(tree, donors, node, k)
        node = np.int64(tree.parent[node])


@inner
def _is_point(tree, slot):
    """Whether all rows of a group are alike."""
    for j in range(tree.lo.shape[1]):
        if tree.lo[slot, j] != tree.hi[slot, j]:
            return False
    return True


@part
def _gather(costs, chains, donor, need, low, high, reach, limit, members, price):
    """Choose rows of a donor, each the one that then makes the box [low, high] cost least; ties go to the lowest row.

    The chosen ones come to the front of `members` and the box, at which `reach` is aimed, grows. Gives back its cost,
    or infinity if it would exceed `limit`.
    """
    small, large, base = costs.small, costs.large, costs.base
    codes, row_of, after = chains.codes, chains.row, chains.after
    size = 0
    member = chains.first[donor]
    while member >= 0:
        members[size] = member
        member = after[member]
        size += 1
    cost = 0.0
    grown = True
    for taken in range(need):
        if grown:
            within = taken
            for p in range(taken, size):
                price[p] = point_cost(small, base, reach, codes, members[p], np.inf)
                if large.shape[0] > 0:
                    price[p] += point_cost_large(costs, large, low, high, codes, members[p])
                if price[p] <= limit:
                    within += 1
            if within < need:  # prices only rise
                return np.inf
        place = taken
        for p in range(taken + 1, size):
            if price[p] < price[place] or (price[p] == price[place] and row_of[members[p]] < row_of[members[place]]):
                place = p
        member = members[place]
        cost = price[place]
        members[place] = members[taken]
        price[place] = price[taken]
        members[taken] = member
        grown = False
        for j in range(low.shape[0]):
            c = codes[member, j]
            if c < low[j] or c > high[j]:
                low[j] = min(low[j], c)
                high[j] = max(high[j], c)
                aim(costs, reach, low, high, j)
                grown = True
    return cost


@kernel
def _best_donor(tree, donors, chains, costs, slot, k, work, chosen, stack, bounds):
    """The group of more than 2k − |G| rows from which k − |G| make the group G in a slot cost least, and that cost.

    `chosen` gets these rows. Ties go to the lowest group; −1 if there is none. Rows of a group that are all alike are
    taken in the order of its chain, without looking at the others.
    """
    d = tree.lo.shape[1]
    small, large, base = costs.small, costs.large, costs.base
    has_large = large.shape[0] > 0
    left, start, end, size, lowest = tree.left, tree.start, tree.end, tree.size, tree.lowest
    tree_lo, tree_hi = tree.lo, tree.hi
    node_lo, node_hi, node_size = donors.lo, donors.hi, donors.size
    members, price, reach, reach_grown = work.members, work.price, work.reach, work.reach_grown
    need = k - size[slot]
    limit = 2 * k - size[slot]
    low = tree_lo[slot].copy()
    high = tree_hi[slot].copy()
    new_low = np.empty(d, dtype=np.int32)
    new_high = np.empty(d, dtype=np.int32)
    best = np.inf
    found = -1
    number = np.int64(MANY)
    top = -1
    if node_size[0] > limit:
        aim_all(costs, reach, low, high)
        top = 0
        stack[0] = 0
        bounds[0] = 0.0
    while top >= 0:
        node = stack[top]
        bound = bounds[top]
        top -= 1
        if bound > best:
            continue
        if left[node] < 0:
            for i in range(np.int64(start[node]), np.int64(end[node])):
                if size[i] <= limit:
                    continue
                cost = touch_cost(small, base, reach, low, tree_lo, tree_hi, i, np.inf)
                if has_large:
                    cost += touch_cost_large(costs, large, low, high, tree_lo, tree_hi, i)
                if cost > best or (cost == best and lowest[i] > number):
                    continue
                if _is_point(tree, i):
                    member = chains.first[i]
                    for p in range(need):
                        members[p] = member
                        member = chains.after[member]
                else:
                    for j in range(d):
                        new_low[j] = low[j]
                        new_high[j] = high[j]
                    for at in range(reach.shape[0]):
                        reach_grown[at] = reach[at]
                    cost = _gather(costs, chains, i, need, new_low, new_high, reach_grown, best, members, price)
                if cost < best or (cost == best and lowest[i] < number):
                    best = cost
                    found = i
                    number = np.int64(lowest[i])
                    for p in range(need):
                        chosen[p] = members[p]
            continue
        one = np.int64(left[node])
        two = one + 1
        bound_one = np.inf
        bound_two = np.inf
        if node_size[one] > limit:
            bound_one = touch_cost(small, base, reach, low, node_lo, node_hi, one, np.inf)
            if has_large:
                bound_one += touch_cost_large(costs, large, low, high, node_lo, node_hi, one)
        if node_size[two] > limit:
            bound_two = touch_cost(small, base, reach, low, node_lo, node_hi, two, np.inf)
            if has_large:
                bound_two += touch_cost_large(costs, large, low, high, node_lo, node_hi, two)
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


@part
def _rest_box(tree, chains, donor, chosen, need, leaving, low, high):
    """The box of a donor without the chosen rows."""
    codes, after = chains.codes, chains.after
    d = codes.shape[1]
    if _is_point(tree, donor):
        for j in range(d):
            low[j] = tree.lo[donor, j]
            high[j] = tree.hi[donor, j]
        return
    for p in range(need):
        leaving[chosen[p]] = True
    first = True
    member = chains.first[donor]
    while member >= 0:
        if not leaving[member]:
            for j in range(d):
                c = codes[member, j]
                if first or c < low[j]:
                    low[j] = c
                if first or c > high[j]:
                    high[j] = c
            first = False
        member = after[member]
    for p in range(need):
        leaving[chosen[p]] = False


@part
def _unchain(chains, donor, chosen, need, leaving):
    """Take the chosen rows out of a donor's chain; rows are left."""
    for p in range(need):
        leaving[chosen[p]] = True
    left = need
    last = -1
    member = chains.first[donor]
    while left > 0:
        follows = chains.after[member]
        if leaving[member]:
            leaving[member] = False
            left -= 1
            if last < 0:
                chains.first[donor] = follows
            else:
                chains.after[last] = follows
            if follows < 0:
                chains.last[donor] = last
        else:
            last = member
        member = follows


@part
def _take(tree, chains, slot, donor, chosen, need, leaving, low, high):
    """Give the chosen rows of a donor, whose box becomes [low, high], to the group in a slot."""
    codes = chains.codes
    _unchain(chains, donor, chosen, need, leaving)
    for p in range(need):
        member = chosen[p]
        chains.after[chains.last[slot]] = member
        chains.after[member] = -1
        chains.last[slot] = member
        for j in range(codes.shape[1]):
            tree.lo[slot, j] = min(tree.lo[slot, j], codes[member, j])
            tree.hi[slot, j] = max(tree.hi[slot, j], codes[member, j])
    for j in range(codes.shape[1]):
        tree.lo[donor, j] = low[j]
        tree.hi[donor, j] = high[j]
    tree.size[donor] -= need
    tree.size[slot] += need


@kernel
def repair(tree, donors, chains, costs, slots, k):
    """Make the groups in these slots, one after the other, as large as k."""
    n, d = chains.codes.shape
    stack = np.empty(STACK, dtype=np.int32)
    bounds = np.empty(STACK, dtype=np.float64)
    work = Work(
        np.empty(n, dtype=np.int32),
        np.empty(n, dtype=np.float64),
        np.empty(costs.base[-1], dtype=np.float64),
        np.empty(costs.base[-1], dtype=np.float64),
    )
    chosen = np.empty(k, dtype=np.int32)
    leaving = np.zeros(n, dtype=np.bool_)
    low = np.empty(d, dtype=np.int32)
    high = np.empty(d, dtype=np.int32)
    size, cost, lowest = tree.size, tree.cost, tree.lowest
    for i in range(slots.shape[0]):
        slot = np.int64(slots[i])
        while 0 < size[slot] < k:
            need = k - size[slot]
            donor, new = _best_donor(tree, donors, chains, costs, slot, k, work, chosen, stack, bounds)
            rest = 0.0
            rise_by_taking = np.inf
            if donor >= 0:
                _rest_box(tree, chains, donor, chosen, need, leaving, low, high)
                rest = box_cost(costs, low, high)
                rise_by_taking = (
                    size[slot] * (new - cost[slot])
                    + need * (new - cost[donor])
                    + (size[donor] - need) * (rest - cost[donor])
                )
            other = np.int64(-1)
            rise = 0.0
            if rise_by_taking > 0.0:  # merging never lowers the penalty
                other, rise = nearest(tree, costs, slot, ADDED, MANY, MANY, stack, bounds)
            if rise_by_taking <= rise:
                _take(tree, chains, slot, donor, chosen, need, leaving, low, high)
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


@loop
def chain_labels(chains, size, labels):
    """Label the rows of each group by its slot."""
    for slot in range(size.shape[0]):
        if size[slot] > 0:
            member = chains.first[slot]
            while member >= 0:
                labels[chains.row[member]] = slot
                member = chains.after[member]
