"""A tree over groups' boxes that finds the exact nearest group while groups merge.

Each group is in a slot, and each leaf of the tree has a few slots. A node keeps, per attribute, the largest `lo`
and the smallest `hi` of its groups: the box around a query and *any* of them contains at least [min(lo, largest lo),
max(hi, smallest hi)]. A group that grows in its slot can only lower the former and raise the latter, so merging
sharpens the bounds, and one tree serves until most of its slots are empty. Nodes also store their smallest group, the
least and the greatest cost of a group, and the lowest row number, which breaks ties.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.kernels import loop, part
from coterie.kernels.search.costs import box_cost, union_cost
from coterie.kernels.search.rows_index import NO_ROW
from coterie.kernels.search.walk import comes_after, nearer_on_top, offer, pop, set_out

# What `nearest` compares: what joining two groups adds to the loss, or what the joined group costs as a whole.
# (Plain integers would make Numba compile `nearest` once for each.)
ADDED, WHOLE = np.int64(0), np.int64(1)
# More rows than any group has: no limit.
MANY = np.int64(2**40)


class BoxNodes(NamedTuple):
    """The tree and its groups, in the form that kernels take."""

    lo: npt.NDArray[np.int32]
    hi: npt.NDArray[np.int32]
    """slot → box of the group"""
    size: npt.NDArray[np.int64]
    """slot → rows of the group, 0 for an empty slot"""
    cost: npt.NDArray[np.float64]
    """slot → cost of one row in the group's box"""
    lowest: npt.NDArray[np.int32]
    """slot → lowest row number of the group"""
    leaf: npt.NDArray[np.int32]
    """slot → leaf node"""
    start: npt.NDArray[np.int32]
    """node → first slot"""
    end: npt.NDArray[np.int32]
    """node → slot after its last"""
    left: npt.NDArray[np.int32]
    """node → left child, or −1 for a leaf; the right child is the next node"""
    parent: npt.NDArray[np.int32]
    node_lo: npt.NDArray[np.int32]
    """node → largest `lo` of its groups"""
    node_hi: npt.NDArray[np.int32]
    """node → smallest `hi` of its groups"""
    node_size: npt.NDArray[np.int64]
    """node → rows of its smallest group, 0 if all slots are empty"""
    node_least: npt.NDArray[np.float64]
    """node → least cost of a group"""
    node_most: npt.NDArray[np.float64]
    """node → greatest cost of a group"""
    node_lowest: npt.NDArray[np.int32]
    """node → lowest row number"""
    node_first: npt.NDArray[np.int32]
    """node → lowest row number of its smallest groups"""


@part
def _renew(tree, node):
    """Update a node from its children or, in a leaf, from its groups; return whether anything changed."""
    # A leaf reads its slots, an inner node its two children: the same loop over other arrays.
    if tree.left[node] < 0:
        first, last = tree.start[node], tree.end[node]
        lo, hi, sizes = tree.lo, tree.hi, tree.size
        leasts, mosts, lows, firsts = tree.cost, tree.cost, tree.lowest, tree.lowest
    else:
        first, last = tree.left[node], tree.left[node] + np.int32(2)
        lo, hi, sizes = tree.node_lo, tree.node_hi, tree.node_size
        leasts, mosts, lows, firsts = tree.node_least, tree.node_most, tree.node_lowest, tree.node_first
    size = np.int64(0)
    least = np.inf
    most = 0.0
    lowest = NO_ROW
    lowest_small = NO_ROW
    for i in range(first, last):
        if sizes[i] > 0:
            if size == 0 or sizes[i] < size:
                size = sizes[i]
                lowest_small = firsts[i]
            elif sizes[i] == size:
                lowest_small = min(lowest_small, firsts[i])
            least = min(least, leasts[i])
            most = max(most, mosts[i])
            lowest = min(lowest, lows[i])
    changed = size != tree.node_size[node] or lowest != tree.node_lowest[node]
    changed = changed or least != tree.node_least[node] or most != tree.node_most[node]
    changed = changed or lowest_small != tree.node_first[node]
    tree.node_size[node] = size
    tree.node_least[node] = least
    tree.node_most[node] = most
    tree.node_lowest[node] = lowest
    tree.node_first[node] = lowest_small
    for j in range(lo.shape[1]):
        low = np.int32(-1)
        high = NO_ROW
        for i in range(first, last):
            if sizes[i] > 0:
                low = max(low, lo[i, j])
                high = min(high, hi[i, j])
        changed = changed or low != tree.node_lo[node, j] or high != tree.node_hi[node, j]
        tree.node_lo[node, j] = low
        tree.node_hi[node, j] = high
    return changed


@loop
def fill(tree):
    """Set every node from its groups."""
    for node in range(tree.start.shape[0] - 1, -1, -1):
        _renew(tree, node)


@part
def renew_above(tree, slot):
    """Update the nodes above a slot whose group has changed."""
    node = np.int64(tree.leaf[slot])
    while node >= 0 and _renew(tree, node):
        node = np.int64(tree.parent[node])


@part
def empty(tree, slot):
    """Remove the group from a slot."""
    tree.size[slot] = 0
    renew_above(tree, slot)


@part
def grow(tree, costs, slot, other, rows, lowest):
    """Extend the group in a slot by the box of another, and set its number of rows and lowest row."""
    lo, hi = tree.lo, tree.hi
    for j in range(lo.shape[1]):
        lo[slot, j] = min(lo[slot, j], lo[other, j])
        hi[slot, j] = max(hi[slot, j], hi[other, j])
    tree.size[slot] = rows
    tree.lowest[slot] = lowest
    tree.cost[slot] = box_cost(costs, lo[slot], hi[slot])
    renew_above(tree, slot)


@loop
def nearest(tree, costs, slot, compare, cap, stub, walk):
    """Return the group that is cheapest to merge with the group in `slot`, and the cost; (−1, ∞) if there is no other.

    With ADDED, merging costs n₁ · (c₁₂ − c₁) + n₂ · (c₁₂ − c₂), where only `stub` rows of a group of `cap` rows or more
    are merged. With WHOLE, it costs (n₁ + n₂) · c₁₂. Ties go to the group with the lowest
    row.
    """
    low, high = tree.lo[slot], tree.hi[slot]
    added = compare == ADDED
    # As a whole, only a node's smallest groups cost as little as its bound, unless all cost nothing.
    node_first = tree.node_lowest if added else tree.node_first
    n1 = tree.size[slot]
    c1 = tree.cost[slot]
    best = np.inf
    best_row = NO_ROW
    best_slot = -1
    limit = np.inf
    top = set_out(walk)
    while top >= 0:
        node, bound, top = pop(walk, top)
        if bound > best:
            continue
        if bound == best and (node_first if bound > 0.0 else tree.node_lowest)[node] > best_row:
            continue
        if tree.left[node] < 0:
            for i in range(np.int64(tree.start[node]), np.int64(tree.end[node])):
                n2 = tree.size[i]
                if n2 == 0 or i == slot:
                    continue
                c12 = union_cost(costs, low, high, tree.lo, tree.hi, i, limit)
                if c12 > limit:
                    continue
                value = (n1 + n2) * c12
                if added:
                    value = n1 * (c12 - c1) + (n2 if n2 < cap else stub) * (c12 - tree.cost[i])
                if comes_after(best, best_row, value, tree.lowest[i]):
                    best = value
                    best_row = tree.lowest[i]
                    best_slot = i
                    # Boxes that cost a row more than this are worse for certain, whatever the rounding.
                    limit = (c1 + best / n1 if added else best / (n1 + 1)) * (1.0 + 1e-9)
            continue
        before = top
        for child in range(np.int64(tree.left[node]), np.int64(tree.left[node]) + 2):
            n2 = tree.node_size[child]
            if n2 == 0:
                continue
            c12 = union_cost(costs, low, high, tree.node_lo, tree.node_hi, child, limit)
            # The joined box costs at least as much as the other group's own.
            c12 = max(c12, tree.node_least[child])
            if c12 <= limit:
                value = (n1 + n2) * c12
                if added:
                    value = n1 * (c12 - c1) + min(n2, stub) * max(c12 - tree.node_most[child], 0.0)
                top = offer(walk, top, child, value, best)
        nearer_on_top(walk, top, before, node_first)
    return best_slot, best
