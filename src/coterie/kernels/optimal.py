"""The loops of the exact method: every group that a best grouping may hold."""

from __future__ import annotations

import numpy as np

from coterie.kernels import kernel
from coterie.kernels.costs import box_cost


@kernel
def candidate_groups(costs, points, copies, bounds, k, slack, most_steps, members, losses):
    """Groups of k … 2k − 1 rows whose loss is at most `slack` above the sum of their rows' bounds.

    Groups are multisets of distinct rows, found depth first. A group costs no less than the box of some of its rows
    and no less than any of their bounds, so that what these rows pay above their bounds only grows: where that
    exceeds the slack, no larger group is looked at.

    `members` [group, 2k − 1] gets the distinct rows (−1 beyond the last), `losses` the loss of all rows together.
    Gives back how many there are, or −1 if they do not fit or take too many steps.
    """
    m, d = points.shape
    room, most = members.shape
    lo = np.zeros((most + 1, d), dtype=np.int32)
    hi = np.zeros((most + 1, d), dtype=np.int32)
    floors = np.zeros(most + 1, dtype=np.float64)
    paid = np.zeros(most + 1, dtype=np.float64)
    chosen = np.full(most, -1, dtype=np.int32)
    same = np.zeros(most, dtype=np.int32)
    following = np.zeros(most + 1, dtype=np.int32)
    found = 0
    steps = 0
    depth = 0
    while depth >= 0:
        p = following[depth]
        if p == m:
            depth -= 1
            continue
        following[depth] += 1
        steps += 1
        if steps > most_steps:
            return -1
        times = same[depth - 1] + 1 if depth > 0 and chosen[depth - 1] == p else 1
        if times > copies[p]:
            continue
        size = depth + 1
        for j in range(d):
            c = points[p, j]
            lo[size, j] = c if depth == 0 else min(lo[depth, j], c)
            hi[size, j] = c if depth == 0 else max(hi[depth, j], c)
        cost = box_cost(costs, lo[size], hi[size])
        floors[size] = max(floors[depth], cost, bounds[p])
        paid[size] = paid[depth] + bounds[p]
        if size * floors[size] - paid[size] > slack:
            continue
        chosen[depth] = p
        same[depth] = times
        if size >= k and size * cost - paid[size] <= slack:
            if found == room:
                return -1
            for i in range(most):
                members[found, i] = chosen[i] if i < size else -1
            losses[found] = size * cost
            found += 1
        if size < most:
            following[size] = p
            depth = size
    return found
