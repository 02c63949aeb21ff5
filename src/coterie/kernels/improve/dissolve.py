"""The loops of the local search that give a group up: each of its rows goes where the loss rises least."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import loop, once
from coterie.kernels.search.costs import union_cost
from coterie.kernels.search.growth import ALL
from coterie.kernels.search.nearby import NearBoxes, list_near_boxes

TOLERANCE = 1e-9  # gains below this are rounding


# The groups while some of them are given up.
#   costs: group → cost of one row
#   grown: group → whether it got rows of another one
State = namedtuple("State", "lo hi sizes costs grown")


# The groups near one that may be given up, as they would be with its rows. The first few entries are in use.
#   chosen: row of the group → entry that it goes to
#   seen: group → the group that it was last noted for
Trial = namedtuple("Trial", "groups lo hi rows costs chosen seen")


@once
def _list_near(nodes, labels, group, positions, count, state, trial):
    """Note the other groups that have rows at these positions, with their boxes as they are; gives back how many."""
    found = 0
    trial.seen[group] = group
    for i in range(count):
        for at in range(nodes.row_start[positions[i]], nodes.row_start[positions[i] + 1]):
            other = labels[nodes.rows[at]]
            if other < 0 or trial.seen[other] == group:
                continue
            trial.seen[other] = group
            trial.groups[found] = other
            trial.rows[found] = state.sizes[other]
            trial.costs[found] = state.costs[other]
            for j in range(state.lo.shape[1]):
                trial.lo[found, j] = state.lo[other, j]
                trial.hi[found, j] = state.hi[other, j]
            found += 1
    return found


@once
def _place_all(nodes, costs, members, found, limit, trial):
    """Give each row to the noted group whose loss rises least with it; False once the rises reach the limit.

    Boxes grow with the rows they get. Ties go to the lowest group.
    """
    points, rows = nodes.points, trial.rows
    risen = 0.0
    for at in range(members.shape[0]):
        point = points[nodes.position[members[at]]]
        least = np.inf
        best = 0
        best_cost = 0.0
        for i in range(found):
            new = union_cost(costs, point, point, trial.lo, trial.hi, i, np.inf)
            rise = (rows[i] + 1) * new - rows[i] * trial.costs[i]
            if rise < least or (rise == least and trial.groups[i] < trial.groups[best]):
                least = rise
                best = i
                best_cost = new
        risen += least
        if risen >= limit:
            return False
        trial.chosen[at] = best
        rows[best] += 1
        trial.costs[best] = best_cost
        for j in range(points.shape[1]):
            trial.lo[best, j] = min(trial.lo[best, j], point[j])
            trial.hi[best, j] = max(trial.hi[best, j], point[j])
    return True


def list_near_groups(nodes, costs, pools, k, asked, lists):
    """For the asked groups: the positions of the rows that would cost their boxes least, 4k besides their own.

    Groups with more rows than the lists have room for are left out.
    """
    wanted = pools.starts[asked + 1] - pools.starts[asked] + 4 * k
    wanted[(wanted + 2 > lists.positions.shape[1]) | (pools.costs[asked] <= 0.0)] = 0
    into = np.arange(len(asked), dtype=np.int32)
    list_near_boxes(nodes, costs, ALL, NearBoxes(pools.lo, pools.hi, asked, wanted, into), lists)


def dissolve(nodes, costs, pools, state, asked, lists, labels):
    """Give up those of the asked groups, in this order, whose rows lose less in the groups nearby.

    `state` and `labels` are brought up to date. A group that got rows is not given up in the same pass, nor is one
    without listed positions.
    """
    groups = pools.lo.shape[0]
    trial = Trial(
        np.empty(groups, dtype=np.int32),
        np.empty_like(pools.lo),
        np.empty_like(pools.hi),
        np.empty(groups, dtype=np.int64),
        np.empty(groups, dtype=np.float64),
        np.empty(lists.positions.shape[1], dtype=np.int32),
        np.full(groups, -1, dtype=np.int32),
    )
    _dissolve(nodes, costs, pools, state, asked, lists, labels, trial)


@loop
def _dissolve(nodes, costs, pools, state, asked, lists, labels, trial):
    for number in range(asked.shape[0]):
        group = asked[number]
        limit = state.sizes[group] * state.costs[group] - TOLERANCE
        if state.grown[group] or lists.counts[number] == 0 or limit <= 0.0:
            continue
        found = _list_near(nodes, labels, group, lists.positions[number], lists.counts[number], state, trial)
        members = pools.members[pools.starts[group] : pools.starts[group + 1]]
        if found == 0 or not _place_all(nodes, costs, members, found, limit, trial):
            continue
        state.sizes[group] = 0
        for at in range(members.shape[0]):
            other = trial.groups[trial.chosen[at]]
            labels[members[at]] = other
            state.grown[other] = True
        for i in range(found):
            other = trial.groups[i]
            state.sizes[other] = trial.rows[i]
            state.costs[other] = trial.costs[i]
            for j in range(state.lo.shape[1]):
                state.lo[other, j] = trial.lo[i, j]
                state.hi[other, j] = trial.hi[i, j]
