"""The loops of the local search that give a group up: each of its rows goes where the loss rises least."""

from __future__ import annotations

import numpy as np

from coterie.kernels import kernel
from coterie.kernels.costs import aim_all, union_cost
from coterie.kernels.growth import ALL, near_points
from coterie.kernels.index import STACK

TOLERANCE = 1e-9  # gains below this are rounding


@kernel
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


@kernel
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


@kernel
def dissolve(nodes, costs, pools, k, most, asked, labels):
    """Give up those of the asked groups, in this order, whose rows lose less in the groups nearby.

    `labels` is brought up to date. A group that got rows is not given up in the same pass, nor is one of more than
    `most` rows. Groups nearby are those of the 4k rows that would cost the group's box least.
    """
    groups, d = pools.lo.shape
    members, starts = pools.members, pools.starts
    lo, hi, group_costs = pools.lo.copy(), pools.hi.copy(), pools.costs.copy()
    sizes = np.empty(groups, dtype=np.int64)
    for g in range(groups):
        sizes[g] = starts[g + 1] - starts[g]
    room = most + 4 * k + 2
    reach = np.empty(costs.base[-1], dtype=np.float64)
    stack = np.empty(STACK, dtype=np.int32)
    bounds = np.empty(STACK, dtype=np.float64)
    heap = np.empty(room, dtype=np.float64)
    ids = np.empty(room, dtype=np.int32)
    seen = np.full(groups, -1, dtype=np.int32)
    grown = np.zeros(groups, dtype=np.bool_)
    near = np.empty(groups, dtype=np.int32)
    trial_lo = np.empty((groups, d), dtype=np.int32)
    trial_hi = np.empty((groups, d), dtype=np.int32)
    rows = np.empty(groups, dtype=np.int64)
    cost = np.empty(groups, dtype=np.float64)
    chosen = np.empty(most, dtype=np.int32)
    for group in asked:
        size = sizes[group]
        limit = size * group_costs[group] - TOLERANCE
        if grown[group] or size > most or limit <= 0.0:
            continue
        low = lo[group]
        high = hi[group]
        aim_all(costs, reach, low, high)
        count = near_points(nodes, costs, reach, low, high, size + 4 * k, ALL, heap, ids, stack, bounds)
        found = _list_near(
            nodes, labels, group, ids, count, seen, near, lo, hi, sizes, group_costs, trial_lo, trial_hi, rows, cost
        )
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
