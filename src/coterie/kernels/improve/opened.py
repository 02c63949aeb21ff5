"""Groups as boxes that hold more than their rows, and as lists that rows can leave one by one."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import once, part
from coterie.kernels.search.costs import box_cost
from coterie.kernels.search.growth import close_box

# Groups as boxes and lists that can lose rows.
#   lo, hi: group → all that its rows may have at the same cost
#   previous: row → the row before it in its group, −1 for the first
Open = namedtuple("Open", "lo hi previous")


@part
def move(groups, opened, row, to):
    """Move a row to another group, whose box is left as it is."""
    g = np.int64(groups.labels[row])
    before, after = opened.previous[row], groups.follower[row]
    if before >= 0:
        groups.follower[before] = after
    else:
        groups.first[g] = after
    if after >= 0:
        opened.previous[after] = before
    head = groups.first[to]
    if head >= 0:
        opened.previous[head] = row
    groups.follower[row] = head
    opened.previous[row] = -1
    groups.first[to] = row
    groups.labels[row] = to
    groups.sizes[g] -= 1
    groups.sizes[to] += 1


@part
def draw(nodes, costs, groups, opened, g):
    """Set the box and the cost of a group from its rows."""
    lo, hi = opened.lo[g], opened.hi[g]
    row = groups.first[g]
    first = True
    while row >= 0:
        p = nodes.position[row]
        for j in range(lo.shape[0]):
            c = nodes.points[p, j]
            lo[j] = c if first else min(lo[j], c)
            hi[j] = c if first else max(hi[j], c)
        first = False
        row = groups.follower[row]
    groups.costs[g] = 0.0 if first else box_cost(costs, lo, hi)
    if not first:
        close_box(costs, lo, hi)


@once
def prepare(nodes, costs, groups, opened, base, end):
    """Set the boxes of a region's groups, and what precedes each of their rows."""
    for g in range(base, end):
        draw(nodes, costs, groups, opened, g)
        before, row = np.int32(-1), groups.first[g]
        while row >= 0:
            opened.previous[row] = before
            before = row
            row = groups.follower[row]
