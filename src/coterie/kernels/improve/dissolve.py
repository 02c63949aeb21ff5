"""The loops of the local search that give a group up: each of its rows goes where the loss rises least."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.kernels import loop, once
from coterie.kernels.search.costs import union_cost
from coterie.kernels.search.growth import ALL
from coterie.kernels.search.nearby import list_near_boxes

TOLERANCE = 1e-9  # gains below this are rounding


class State(NamedTuple):
    """The groups while some of them are given up."""

    lo: npt.NDArray[np.int32]
    hi: npt.NDArray[np.int32]
    sizes: npt.NDArray[np.int64]
    costs: npt.NDArray[np.float64]
    """group → cost of one row"""
    grown: npt.NDArray[np.bool_]
    """group → whether it got rows of another one"""


@once
def _list_near(nodes, labels, group, ids, count, seen, near, lo, hi, sizes, costs, trial_lo, trial_hi, rows, cost):
    """Note the other groups that have rows at these places, with their boxes as they are; gives back how many."""
    found = 0
    seen[group] = group
    for i in range(count):
        for at in range(nodes.row_start[ids[i]], nodes.row_start[ids[i] + 1]):
            other = labels[nodes.rows[at]]
            if other < 0 or seen[other] == group:
                continue
            seen[other] = group
            near[found] = other
            rows[found] = sizes[other]
            cost[found] = costs[other]
            for j in range(lo.shape[1]):
                trial_lo[found, j] = lo[other, j]
                trial_hi[found, j] = hi[other, j]
            found += 1
    return found


@once
def _place_all(nodes, costs, members, first, last, near, found, limit, trial_lo, trial_hi, rows, cost, chosen):
    """Give each row to the noted group whose loss rises least with it; False once the rises reach the limit.

    Boxes grow with the rows they get. Ties go to the lowest group.
    """
    points = nodes.points
    risen = 0.0
    for at in range(first, last):
        point = points[nodes.position[members[at]]]
        least = np.inf
        best = 0
        best_cost = 0.0
        for i in range(found):
            new = union_cost(costs, point, point, trial_lo, trial_hi, i, np.inf)
            rise = (rows[i] + 1) * new - rows[i] * cost[i]
            if rise < least or (rise == least and near[i] < near[best]):
                least = rise
                best = i
                best_cost = new
        risen += least
        if risen >= limit:
            return False
        chosen[at - first] = best
        rows[best] += 1
        cost[best] = best_cost
        for j in range(points.shape[1]):
            trial_lo[best, j] = min(trial_lo[best, j], point[j])
            trial_hi[best, j] = max(trial_hi[best, j], point[j])
    return True


def list_near_groups(nodes, costs, pools, k, asked, first, last, places, counts):
    """For the groups asked[first:last]: the places of the rows that would cost their boxes least, 4k besides their own.

    Groups with more rows than `places` has room for are left out.
    """
    groups = asked[first:last]
    wanted = pools.starts[groups + 1] - pools.starts[groups] + 4 * k
    wanted[(wanted + 2 > places.shape[1]) | (pools.costs[groups] <= 0.0)] = 0
    into = np.arange(first, last, dtype=np.int32)
    list_near_boxes(nodes, costs, ALL, pools.lo, pools.hi, groups, wanted, into, places, counts)


def dissolve(nodes, costs, pools, state, asked, places, counts, labels):
    """Give up those of the asked groups, in this order, whose rows lose less in the groups nearby.

    `state` and `labels` are brought up to date. A group that got rows is not given up in the same pass, nor is one
    without noted places.
    """
    groups, d = pools.lo.shape
    seen = np.full(groups, -1, dtype=np.int32)
    near = np.empty(groups, dtype=np.int32)
    trial_lo = np.empty((groups, d), dtype=np.int32)
    trial_hi = np.empty((groups, d), dtype=np.int32)
    rows = np.empty(groups, dtype=np.int64)
    cost = np.empty(groups, dtype=np.float64)
    chosen = np.empty(places.shape[1], dtype=np.int32)
    _dissolve(
        nodes, costs, pools, state, asked, places, counts, labels, seen, near, trial_lo, trial_hi, rows, cost, chosen
    )


@loop
def _dissolve(
    nodes, costs, pools, state, asked, places, counts, labels, seen, near, trial_lo, trial_hi, rows, cost, chosen
):
    d = pools.lo.shape[1]
    members, starts = pools.members, pools.starts
    lo, hi, sizes, group_costs, grown = state.lo, state.hi, state.sizes, state.costs, state.grown
    for number in range(asked.shape[0]):
        group = asked[number]
        limit = sizes[group] * group_costs[group] - TOLERANCE
        if grown[group] or counts[number] == 0 or limit <= 0.0:
            continue
        found = _list_near(
            nodes, labels, group, places[number], counts[number], seen, near, lo, hi, sizes, group_costs,
            trial_lo, trial_hi, rows, cost,
        )  # fmt: skip
        first, last = starts[group], starts[group + 1]
        if found == 0 or not _place_all(
            nodes, costs, members, first, last, near, found, limit, trial_lo, trial_hi, rows, cost, chosen
        ):
            continue
        sizes[group] = 0
        for at in range(first, last):
            other = near[chosen[at - first]]
            labels[members[at]] = other
            grown[other] = True
        for i in range(found):
            other = near[i]
            sizes[other] = rows[i]
            group_costs[other] = cost[i]
            for j in range(d):
                lo[other, j] = trial_lo[i, j]
                hi[other, j] = trial_hi[i, j]
