"""A tree over groups' boxes that answers "which group is nearest to this one" exactly while groups merge.

Each group sits in a slot, and each leaf of the tree holds a few slots. A node keeps, per attribute, the largest `lo`
and the smallest `hi` of its groups: the box around a query and *any* of them holds at least [min(lo, largest lo),
max(hi, smallest hi)]. A group that grows in its slot can only lower the former and raise the latter, so merging
sharpens the bounds, and one tree serves until most of its slots are empty. Nodes also know their smallest group, the
least and the greatest cost of a group, and the lowest row number, by which ties are settled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.kernels import inner, kernel, part
from coterie.kernels.search.costs import box_cost, interval_cost
from coterie.kernels.search.rows_index import NO_ROW

# What `nearest` compares: what joining two groups adds to the loss, or what the joined group costs as a whole.
# (Plain integers would make Numba compile `nearest` once for each.)
ADDED, WHOLE = np.int64(0), np.int64(1)
# More rows than any group has: no limit.
MANY = np.int64(2**40)


class BoxNodes(NamedTuple):
    """The tree and its groups, as kernels take them."""

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
    """Set what a node knows from its children or, in a leaf, from its groups; whether anything changed."""
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


@kernel
def fill(tree):
    """Set every node from its groups."""
    for node in range(tree.start.shape[0] - 1, -1, -1):
        _renew(tree, node)


@part
def renew_above(tree, slot):
    """Tell the nodes above a slot that its group has changed."""
    node = np.int64(tree.leaf[slot])
    while node >= 0 and _renew(tree, node):
        node = np.int64(tree.parent[node])


@part
def empty(tree, slot):
    """Take the group out of a slot."""
    tree.size[slot] = 0
    renew_above(tree, slot)


@part
def grow(tree, costs, slot, other, rows, lowest):
    """Widen the group in a slot by the box of another; it has this many rows from now on, and this lowest one."""
    lo, hi = tree.lo, tree.hi
    for j in range(lo.shape[1]):
        lo[slot, j] = min(lo[slot, j], lo[other, j])
        hi[slot, j] = max(hi[slot, j], hi[other, j])
    tree.size[slot] = rows
    tree.lowest[slot] = lowest
    tree.cost[slot] = box_cost(costs, lo[slot], hi[slot])
    renew_above(tree, slot)


@inner
def _join_cost(small, offset, width, data, low, high, lo, hi, i, limit):
    """Cost of the box around [low, high] and box i, small domains only; stops early when it exceeds `limit`."""
    total = 0.0
    row = np.uint64(i)
    for s in range(small.shape[0]):
        j = np.uint64(small[s])
        a = min(low[j], lo[row, j])
        b = max(high[j], hi[row, j])
        total += data[np.uint64(offset[j] + a * width[j] + b)]
        if total > limit:
            break
    return total


@part
def _join_cost_large(costs, low, high, lo, hi, i):
    """What the large domains add to `_join_cost`."""
    total = 0.0
    for s in range(costs.large.shape[0]):
        j = costs.large[s]
        total += interval_cost(costs, j, min(low[j], lo[i, j]), max(high[j], hi[i, j]))
    return total


@kernel
def nearest(tree, costs, slot, compare, cap, stub, stack, bounds):
    """The group that is cheapest to join with the group in `slot`, and what that costs; (−1, ∞) if there is no other.

    Comparing what is ADDED, joining costs n₁ · (c₁₂ − c₁) + n₂ · (c₁₂ − c₂), where of a group of `cap` rows or more
    only `stub` rows join. Comparing the WHOLE, it costs (n₁ + n₂) · c₁₂. Ties go to the group that holds the lowest
    row.
    """
    lo, hi, size, cost, lowest = tree.lo, tree.hi, tree.size, tree.cost, tree.lowest
    left, start, end = tree.left, tree.start, tree.end
    node_lo, node_hi, node_size = tree.node_lo, tree.node_hi, tree.node_size
    node_least, node_most = tree.node_least, tree.node_most
    small, offset, width, data = costs.small, costs.offset, costs.width, costs.data
    has_large = costs.large.shape[0] > 0
    low = lo[slot].copy()
    high = hi[slot].copy()
    added = compare == ADDED
    # As a whole, only a node's smallest groups cost as little as its bound, unless all cost nothing.
    node_lowest = tree.node_lowest
    node_first = tree.node_lowest if added else tree.node_first
    n1 = size[slot]
    c1 = cost[slot]
    best = np.inf
    best_row = NO_ROW
    best_slot = -1
    limit = np.inf
    two_bounds = np.empty(2, dtype=np.float64)
    top = 0
    stack[0] = 0
    bounds[0] = 0.0
    while top >= 0:
        node = stack[top]
        bound = bounds[top]
        top -= 1
        if bound > best:
            continue
        if bound == best and (node_first if bound > 0.0 else node_lowest)[node] > best_row:
            continue
        if left[node] < 0:
            for i in range(np.int64(start[node]), np.int64(end[node])):
                n2 = size[i]
                if n2 == 0 or i == slot:
                    continue
                c12 = _join_cost(small, offset, width, data, low, high, lo, hi, i, limit)
                if has_large:
                    c12 += _join_cost_large(costs, low, high, lo, hi, i)
                if c12 > limit:
                    continue
                value = (n1 + n2) * c12
                if added:
                    value = n1 * (c12 - c1) + (n2 if n2 < cap else stub) * (c12 - cost[i])
                if value < best or (value == best and lowest[i] < best_row):
                    best = value
                    best_row = lowest[i]
                    best_slot = i
                    # Boxes that cost a row more than this are worse for certain, whatever the rounding.
                    limit = (c1 + best / n1 if added else best / (n1 + 1)) * (1.0 + 1e-9)
            continue
        one = left[node]
        for side in range(2):
            child = one + side
            value = np.inf
            if node_size[child] > 0:
                c12 = _join_cost(small, offset, width, data, low, high, node_lo, node_hi, child, limit)
                if has_large:
                    c12 += _join_cost_large(costs, low, high, node_lo, node_hi, child)
                # The joined box costs at least as much as the other group's own.
                c12 = max(c12, node_least[child])
                if c12 <= limit:
                    if added:
                        value = n1 * (c12 - c1) + min(node_size[child], stub) * max(c12 - node_most[child], 0.0)
                    else:
                        value = (n1 + node_size[child]) * c12
            two_bounds[side] = value
        near = 0
        if two_bounds[1] < two_bounds[0] or (two_bounds[1] == two_bounds[0] and node_first[one + 1] < node_first[one]):
            near = 1
        for side in (1 - near, near):  # the nearer one on top
            if two_bounds[side] <= best and two_bounds[side] < np.inf:
                top += 1
                stack[top] = one + side
                bounds[top] = two_bounds[side]
    return best_slot, best
