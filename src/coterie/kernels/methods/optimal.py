"""Kernels of the exact method: depth-first search for groups that may reduce the loss."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import kernel
from coterie.kernels.search.costs import box_cost

# Distinct rows, as the search for groups takes them.
#   floors: what each row pays at least in any group
Priced = namedtuple("Priced", "points copies floors prices")


@kernel
def groups_below(costs, rows, k, limit, per_first, most_steps, members, losses):
    """Find groups of k … 2k − 1 rows whose loss minus prices is at most `limit`; return how many, −1 if too many steps.

    Groups are multisets of distinct rows, in the given order: by descending price. A group costs each row at least
    the highest of the rows' floors, and at least the box of any of its rows. Remaining rows have no higher prices
    than the next one. If even so the loss minus the prices would exceed the limit, no larger group is tried.

    `members` [group, 2k − 1] receives the distinct rows (−1 beyond the last), `losses` the total loss of the rows. At
    most `per_first` groups with the same first row are returned, and no more than there is space for.
    """
    points, copies, floors, prices = rows
    m, d = points.shape
    room, most = members.shape
    lo = np.zeros((most + 1, d), dtype=np.int32)
    hi = np.zeros((most + 1, d), dtype=np.int32)
    highest = np.zeros(most + 1, dtype=np.float64)
    paid = np.zeros(most + 1, dtype=np.float64)
    chosen = np.full(most, -1, dtype=np.int32)
    same = np.zeros(most, dtype=np.int32)
    following = np.zeros(most + 1, dtype=np.int32)
    found = 0
    steps = 0
    depth = 0
    of_first = 0
    while depth >= 0:
        p = following[depth]
        if p == m or (depth > 0 and of_first == per_first):
            depth -= 1
            continue
        following[depth] += 1
        steps += 1
        if steps > most_steps:
            return -1
        if depth == 0:
            of_first = 0
        times = same[depth - 1] + 1 if depth > 0 and chosen[depth - 1] == p else 1
        if times > copies[p]:
            continue
        size = depth + 1
        for j in range(d):
            c = points[p, j]
            lo[size, j] = c if depth == 0 else min(lo[depth, j], c)
            hi[size, j] = c if depth == 0 else max(hi[depth, j], c)
        cost = box_cost(costs, lo[size], hi[size])
        floor = max(highest[depth], cost, floors[p])
        highest[size] = floor
        paid[size] = paid[depth] + prices[p]
        # The best that more rows, at most as expensive as p, can do.
        more = max(k - size, 0)
        if prices[p] > floor:
            more = most - size
        if size * floor - paid[size] + more * (floor - prices[p]) > limit:
            # Without p, the rows so far with rows of at most its price: is there any hope further on?
            before = highest[depth]
            need = max(k - depth, 1)
            if prices[p] > before:
                need = most - depth
            if depth * before - paid[depth] + need * (before - prices[p]) > limit:
                following[depth] = m
            continue
        chosen[depth] = p
        same[depth] = times
        if size >= k and size * cost - paid[size] <= limit:
            for i in range(most):
                members[found, i] = chosen[i] if i < size else -1
            losses[found] = size * cost
            found += 1
            of_first += 1
            if found == room:
                return found
        if size < most:
            following[size] = p
            depth = size
    return found
