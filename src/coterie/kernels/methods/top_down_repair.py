"""Kernels of top-down's repair: groups that are too small take rows from others or merge with them."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import inner, loop, part
from coterie.kernels.search.costs import Aimed, aim_all, bound_cost, box_cost, joined_cost, new_reach, widen
from coterie.kernels.search.groups_index import ADDED, MANY, empty, grow, nearest, renew_above
from coterie.kernels.search.rows_index import NO_ROW
from coterie.kernels.search.walk import comes_after, nearer_on_top, new_walk, offer, pop, set_out

# The members of each group as a chain. Groups are named by their slots in the tree over their boxes. Members are rows
# in another order, in which each group's lie side by side at first: a search looks at many rows of a few groups.
#   codes: member → codes
#   row: member → row
#   after: member → the next one of its group, −1 after the last
Chains = namedtuple("Chains", "codes row first last after")


# What the tree's nodes know about groups of more than k rows, which may have some to spare.
#   lo, hi: node → box around these groups
#   size: node → rows of the largest, 0 if there is none
Donors = namedtuple("Donors", "lo hi size")


# Arrays that the search for donors writes to.
#   members: a donor's members, those that would leave it first
#   price: what each of them costs
#   chosen: the members of the best donor that leave it
#   leaving: member → whether it leaves; all False in between
Work = namedtuple("Work", "members price chosen leaving reach reach_grown low high")


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
    """Update the nodes above a slot whose group has changed."""
    node = np.int64(tree.leaf[slot])
    while node >= 0:
        _renew_donors(tree, donors, node, k)
        node = np.int64(tree.parent[node])


@inner
def _is_point(tree, slot):
    """Return whether all rows of a group are equal."""
    for j in range(tree.lo.shape[1]):
        if tree.lo[slot, j] != tree.hi[slot, j]:
            return False
    return True


@part
def _gather(aimed, chains, donor, need, limit, members, price):
    """Choose rows of a donor, each time the one that makes the aimed box cheapest; ties go to the lowest row.

    The chosen ones move to the front of `members` and the box grows. Returns its cost, or infinity if it would
    exceed `limit`.
    """
    size = 0
    member = chains.first[donor]
    while member >= 0:
        members[size] = member
        member = chains.after[member]
        size += 1
    cost = 0.0
    grown = True
    for taken in range(need):
        if grown:
            within = taken
            for p in range(taken, size):
                price[p] = joined_cost(aimed, chains.codes, members[p], np.inf)
                if price[p] <= limit:
                    within += 1
            if within < need:  # prices only rise
                return np.inf
        best = taken
        for p in range(taken + 1, size):
            if comes_after(price[best], chains.row[members[best]], price[p], chains.row[members[p]]):
                best = p
        member = members[best]
        cost = price[best]
        members[best] = members[taken]
        price[best] = price[taken]
        members[taken] = member
        grown = widen(aimed, chains.codes, member)
    return cost


@part
def _best_donor(tree, donors, chains, costs, slot, k, work, walk):
    """Return the group of over 2k − |G| rows of which k − |G| make the group G in a slot cheapest, and that cost.

    `work.chosen` receives these rows. Ties go to the lowest group; −1 if there is none. Equal rows of a group
    are taken in the order of its chain, without examining the others.
    """
    size, members = tree.size, work.members
    need = k - size[slot]
    limit = 2 * k - size[slot]
    aimed = Aimed(costs, work.reach, tree.lo[slot], tree.hi[slot])
    trial = Aimed(costs, work.reach_grown, work.low, work.high)
    best = np.inf
    best_row = NO_ROW
    found = -1
    top = -1
    if donors.size[0] > limit:
        aim_all(aimed)
        top = set_out(walk)
    while top >= 0:
        node, bound, top = pop(walk, top)
        if bound > best:
            continue
        if tree.left[node] < 0:
            for i in range(np.int64(tree.start[node]), np.int64(tree.end[node])):
                if size[i] <= limit:
                    continue
                cost = bound_cost(aimed, tree.lo, tree.hi, i, np.inf)
                if comes_after(cost, tree.lowest[i], best, best_row):
                    continue
                if _is_point(tree, i):
                    member = chains.first[i]
                    for p in range(need):
                        members[p] = member
                        member = chains.after[member]
                else:
                    for j in range(trial.lo.shape[0]):
                        trial.lo[j] = aimed.lo[j]
                        trial.hi[j] = aimed.hi[j]
                    for at in range(aimed.reach.shape[0]):
                        trial.reach[at] = aimed.reach[at]
                    cost = _gather(trial, chains, i, need, best, members, work.price)
                if comes_after(best, best_row, cost, tree.lowest[i]):
                    best = cost
                    found = i
                    best_row = tree.lowest[i]
                    for p in range(need):
                        work.chosen[p] = members[p]
            continue
        before = top
        for child in range(np.int64(tree.left[node]), np.int64(tree.left[node]) + 2):
            if donors.size[child] > limit:
                top = offer(walk, top, child, bound_cost(aimed, donors.lo, donors.hi, child, np.inf), best)
        nearer_on_top(walk, top, before, tree.start)
    return found, best


@part
def _rest_box(tree, chains, donor, need, work):
    """Compute the box [work.low, work.high] of a donor without the chosen rows."""
    low, high = work.low, work.high
    d = low.shape[0]
    if _is_point(tree, donor):
        for j in range(d):
            low[j] = tree.lo[donor, j]
            high[j] = tree.hi[donor, j]
        return
    for p in range(need):
        work.leaving[work.chosen[p]] = True
    first = True
    member = chains.first[donor]
    while member >= 0:
        if not work.leaving[member]:
            for j in range(d):
                c = chains.codes[member, j]
                if first or c < low[j]:
                    low[j] = c
                if first or c > high[j]:
                    high[j] = c
            first = False
        member = chains.after[member]
    for p in range(need):
        work.leaving[work.chosen[p]] = False


@part
def _unchain(chains, donor, chosen, need, leaving):
    """Remove the chosen rows from a donor's chain; some rows remain in it."""
    for p in range(need):
        leaving[chosen[p]] = True
    missing = need
    last = -1
    member = chains.first[donor]
    while missing > 0:
        follows = chains.after[member]
        if leaving[member]:
            leaving[member] = False
            missing -= 1
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
def _take(tree, chains, slot, donor, need, work):
    """Move the chosen rows of a donor, whose box becomes [work.low, work.high], to the group in a slot."""
    codes = chains.codes
    _unchain(chains, donor, work.chosen, need, work.leaving)
    for p in range(need):
        member = work.chosen[p]
        chains.after[chains.last[slot]] = member
        chains.after[member] = -1
        chains.last[slot] = member
        for j in range(codes.shape[1]):
            tree.lo[slot, j] = min(tree.lo[slot, j], codes[member, j])
            tree.hi[slot, j] = max(tree.hi[slot, j], codes[member, j])
    for j in range(codes.shape[1]):
        tree.lo[donor, j] = work.low[j]
        tree.hi[donor, j] = work.high[j]
    tree.size[donor] -= need
    tree.size[slot] += need


def repair(tree, donors, chains, costs, slots, k):
    """Enlarge the groups in these slots to k rows, one after another."""
    n, d = chains.codes.shape
    low, high = np.empty((2, d), dtype=np.int32)
    work = Work(
        np.empty(n, dtype=np.int32),
        np.empty(n, dtype=np.float64),
        np.empty(k, dtype=np.int32),
        np.zeros(n, dtype=np.bool_),
        new_reach(costs),
        new_reach(costs),
        low,
        high,
    )
    _repair(tree, donors, chains, costs, slots, k, work, new_walk())


@loop
def _repair(tree, donors, chains, costs, slots, k, work, walk):
    size, cost, lowest = tree.size, tree.cost, tree.lowest
    for i in range(slots.shape[0]):
        slot = np.int64(slots[i])
        while 0 < size[slot] < k:
            need = k - size[slot]
            donor, new = _best_donor(tree, donors, chains, costs, slot, k, work, walk)
            rest = 0.0
            rise_by_taking = np.inf
            if donor >= 0:
                _rest_box(tree, chains, donor, need, work)
                rest = box_cost(costs, work.low, work.high)
                rise_by_taking = (
                    size[slot] * (new - cost[slot])
                    + need * (new - cost[donor])
                    + (size[donor] - need) * (rest - cost[donor])
                )
            other = np.int64(-1)
            rise = 0.0
            if rise_by_taking > 0.0:  # merging never lowers the penalty
                other, rise = nearest(tree, costs, slot, ADDED, MANY, MANY, walk)
            if rise_by_taking <= rise:
                _take(tree, chains, slot, donor, need, work)
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
