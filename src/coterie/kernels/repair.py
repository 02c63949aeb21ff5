"""The loops of the repair: which groups are nearest to one, which rows could change places with its own."""

from __future__ import annotations

import numpy as np

from coterie.kernels import inner, kernel, part
from coterie.kernels.search.costs import aim_all, point_cost, point_cost_large, touch_cost, touch_cost_large, union_cost
from coterie.kernels.search.rows_index import NO_ROW, STACK

ABSENT, RARE = 0, 1


@inner
def _insert(rises, partners, held, rise, group):
    """Put an entry into a list that is sorted by rise, then by group; gives back its new length."""
    most = rises.shape[0]
    if held == most:
        if rise > rises[most - 1] or (rise == rises[most - 1] and group > partners[most - 1]):
            return held
        at = most - 1
    else:
        at = held
        held += 1
    while at > 0 and (rises[at - 1] > rise or (rises[at - 1] == rise and partners[at - 1] > group)):
        rises[at] = rises[at - 1]
        partners[at] = partners[at - 1]
        at -= 1
    rises[at] = rise
    partners[at] = group
    return held


@kernel
def nearest_groups(costs, tree, slots, most):
    """For the group in each of these slots, the `most` others that raise the total loss least when merged with it.

    Groups are numbered by `tree.lowest`. Sorted by rise, then by group number; −1 where there are no more. Whichever
    group of a node joins, the union reaches at least as far as the node's largest lower and smallest upper end.
    """
    partners = np.full((slots.shape[0], most), -1, dtype=np.int32)
    rises = np.full((slots.shape[0], most), np.inf, dtype=np.float64)
    stack = np.empty(STACK, dtype=np.int32)
    bounds = np.empty(STACK, dtype=np.float64)
    lo, hi, sizes, cost, number = tree.lo, tree.hi, tree.size, tree.cost, tree.lowest
    left, start, end = tree.left, tree.start, tree.end
    for i in range(slots.shape[0]):
        slot = slots[i]
        low, high, size, own = lo[slot], hi[slot], sizes[slot], cost[slot]
        near, rise_of = partners[i], rises[i]
        held = 0
        top = 0
        stack[0] = 0
        bounds[0] = 0.0
        while top >= 0:
            node = stack[top]
            bound = bounds[top]
            top -= 1
            if bound > rise_of[most - 1]:
                continue
            if left[node] < 0:
                for other in range(start[node], end[node]):
                    if other != slot:
                        new = union_cost(costs, low, high, lo, hi, other, np.inf)
                        rise = size * (new - own) + sizes[other] * (new - cost[other])
                        held = _insert(rise_of, near, held, rise, number[other])
                continue
            one = left[node]
            near_child, far_child = one, one
            near_bound, far_bound = np.inf, np.inf
            for child in range(one, one + 2):  # one loop, so that the bound is compiled once
                new = union_cost(costs, low, high, tree.node_lo, tree.node_hi, child, np.inf)
                value = size * (new - own) + tree.node_size[child] * max(new - tree.node_most[child], 0.0)
                if value < near_bound:
                    near_child, far_child = child, near_child
                    near_bound, far_bound = value, near_bound
                else:
                    far_child, far_bound = child, value
            if far_bound <= rise_of[most - 1]:
                top += 1
                stack[top] = far_child
                bounds[top] = far_bound
            if near_bound <= rise_of[most - 1]:
                top += 1
                stack[top] = near_child
                bounds[top] = near_bound
    return partners, rises


@part
def _helpful_rows(
    nodes, costs, reach, low, high, group, labels, values, tally, below, sound, near, near_cost, stack, bounds
):
    """The rows of sound groups that make a box cost least; sorted by cost, then row number.

    Only rows with values that the box's group has fewer than `below` times: `tally` counts them.

    `reach` has been aimed at the box. Gives back how many were found.
    """
    most = near.shape[0]
    small, large, base = costs.small, costs.large, costs.base
    left, start, end = nodes.left, nodes.start, nodes.end
    node_lo, node_hi, points = nodes.lo, nodes.hi, nodes.points
    row_start, rows = nodes.row_start, nodes.rows
    near_cost[:] = np.inf
    held = 0
    top = 0
    stack[0] = 0
    bounds[0] = 0.0
    while top >= 0:
        node = stack[top]
        bound = bounds[top]
        top -= 1
        if bound > near_cost[most - 1]:
            continue
        if left[node] < 0:
            for p in range(start[node], end[node]):
                cost = point_cost(small, base, reach, points, p, near_cost[most - 1])
                if large.shape[0] > 0:
                    cost += point_cost_large(costs, large, low, high, points, p)
                if cost > near_cost[most - 1]:
                    continue
                taken = 0
                for at in range(row_start[p], row_start[p + 1]):
                    row = rows[at]
                    of = labels[row]
                    if of >= 0 and of != group and sound[of] and tally[values[row]] < below:
                        held = _insert(near_cost, near, held, cost, row)
                        taken += 1
                        if taken == most:  # later rows here have larger numbers and the same cost
                            break
            continue
        one = left[node]
        near_child, far_child = one, one
        near_bound, far_bound = np.inf, np.inf
        for child in range(one, one + 2):
            value = touch_cost(small, base, reach, low, node_lo, node_hi, child, near_cost[most - 1])
            if large.shape[0] > 0:
                value += touch_cost_large(costs, large, low, high, node_lo, node_hi, child)
            if value < near_bound:
                near_child, far_child = child, near_child
                near_bound, far_bound = value, near_bound
            else:
                far_child, far_bound = child, value
        if far_bound <= near_cost[most - 1]:
            top += 1
            stack[top] = far_child
            bounds[top] = far_bound
        if near_bound <= near_cost[most - 1]:
            top += 1
            stack[top] = near_child
            bounds[top] = near_bound
    return held


@part
def _edges(codes, member_start, members, group, edges):
    """Per attribute: the lowest code of a group, how many rows have it, the next lowest; the same from above.

    With these, the box of the group without any one of its rows is known at once.
    """
    for j in range(codes.shape[1]):
        low = NO_ROW
        next_low = NO_ROW
        high = np.int32(-1)
        next_high = np.int32(-1)
        lows = 0
        highs = 0
        for at in range(member_start[group], member_start[group + 1]):
            c = codes[members[at], j]
            if c < low:
                next_low = low
                low = c
                lows = 1
            elif c == low:
                lows += 1
            elif c < next_low:
                next_low = c
            if c > high:
                next_high = high
                high = c
                highs = 1
            elif c == high:
                highs += 1
            elif c > next_high:
                next_high = c
        edges[j, 0] = low
        edges[j, 1] = lows
        edges[j, 2] = next_low
        edges[j, 3] = high
        edges[j, 4] = highs
        edges[j, 5] = next_high


@inner
def _without(codes, edges, row, lo, hi):
    """The box of a group of at least two rows without one of them."""
    for j in range(codes.shape[1]):
        c = codes[row, j]
        lo[j] = edges[j, 2] if c == edges[j, 0] and edges[j, 1] == 1 else edges[j, 0]
        hi[j] = edges[j, 5] if c == edges[j, 3] and edges[j, 4] == 1 else edges[j, 3]


@inner
def _keep(options, rises, held, rise, row, other):
    """Put an exchange (row comes, other goes; −1 for none) into a sorted list; gives back its new length."""
    most = rises.shape[0]
    if held == most:
        if rise >= rises[most - 1]:
            return held
        at = most - 1
    else:
        at = held
        held += 1
    while at > 0 and rises[at - 1] > rise:
        rises[at] = rises[at - 1]
        options[at, 0] = options[at - 1, 0]
        options[at, 1] = options[at - 1, 1]
        at -= 1
    rises[at] = rise
    options[at, 0] = row
    options[at, 1] = other
    return held


@kernel
def exchanges(
    nodes,
    costs,
    codes,
    labels,
    lo,
    hi,
    sizes,
    cost,
    member_start,
    members,
    asked,
    rules,
    values,
    spans,
    sound,
    k,
    look,
    most,
):
    """For each asked group, the `most` cheapest exchanges that bring in a value that it needs.

    A row of a sound group moves in, if that group has more than k rows, or changes places with a row of the asked
    group whose value is not scarce there. `values` is [s, n]; `asked[i]` needs values of column rules[i, 0]: absent
    ones (rules[i, 1] = ABSENT) or all but the most frequent (RARE). `spans` is the largest number of values of a
    column. `look` nearest rows are looked at. Gives back (row that comes, row that goes or −1) and the rise of the
    total loss; −1 and infinity where there are no more.
    """
    d = codes.shape[1]
    count = asked.shape[0]
    options = np.full((count, most, 2), -1, dtype=np.int32)
    rises = np.full((count, most), np.inf, dtype=np.float64)
    stack = np.empty(STACK, dtype=np.int32)
    bounds = np.empty(STACK, dtype=np.float64)
    reach = np.empty(costs.base[-1], dtype=np.float64)
    near = np.empty(look, dtype=np.int32)
    near_cost = np.empty(look, dtype=np.float64)
    tally = np.zeros(spans, dtype=np.int64)
    edges = np.empty((d, 6), dtype=np.int32)
    far_edges = np.empty((d, 6), dtype=np.int32)
    box_lo = np.empty((2, d), dtype=np.int32)  # the asked group and the other one, each without the row that leaves
    box_hi = np.empty((2, d), dtype=np.int32)
    for i in range(count):
        g = asked[i]
        column = rules[i, 0]
        of_column = values[column]
        begin, stop = member_start[g], member_start[g + 1]
        largest = 0
        for at in range(begin, stop):
            v = of_column[members[at]]
            tally[v] += 1
            largest = max(largest, tally[v])
        below = 1 if rules[i, 1] == ABSENT else largest
        low, high = lo[g], hi[g]
        aim_all(costs, reach, low, high)
        found = _helpful_rows(
            nodes, costs, reach, low, high, g, labels, of_column, tally, below, sound, near, near_cost, stack, bounds
        )
        before = sizes[g] * cost[g]
        _edges(codes, member_start, members, g, edges)
        held = 0
        for f in range(found):
            row = near[f]
            other = labels[row]
            total = before + sizes[other] * cost[other]
            _edges(codes, member_start, members, other, far_edges)
            _without(codes, far_edges, row, box_lo[1], box_hi[1])
            # The first turn of this loop is for moving in alone, the others for changing places with a member.
            for at in range(begin - 1, stop):
                moves = 1 if at < begin else 0
                goes = np.int32(-1)
                if moves == 1:
                    if sizes[other] <= k:
                        continue
                    for j in range(d):  # assigning whole rows would compile Numba's texts for errors
                        box_lo[0, j] = low[j]
                        box_hi[0, j] = high[j]
                    stays = members[member_start[other]]
                    if stays == row:
                        stays = members[member_start[other] + 1]
                else:
                    goes = members[at]
                    v = of_column[goes]
                    if (tally[v] < 2) if rules[i, 1] == ABSENT else (tally[v] < largest):
                        continue
                    _without(codes, edges, goes, box_lo[0], box_hi[0])
                    stays = goes
                rise = -total
                for side in range(2):
                    joins = row if side == 0 else stays
                    after = sizes[g] + moves if side == 0 else sizes[other] - moves
                    rise += after * union_cost(costs, box_lo[side], box_hi[side], codes, codes, joins, np.inf)
                held = _keep(options[i], rises[i], held, rise, row, goes)
        for at in range(begin, stop):  # values may be as many as rows: only those that were counted are reset
            tally[of_column[members[at]]] = 0
    return options, rises


@kernel
def choose(first, second, groups):
    """Take options in their order, each unless one of its two groups has been taken already."""
    taken = np.zeros(groups, dtype=np.bool_)
    chosen = np.zeros(first.shape[0], dtype=np.bool_)
    for i in range(first.shape[0]):
        if not taken[first[i]] and not taken[second[i]]:
            taken[first[i]] = True
            taken[second[i]] = True
            chosen[i] = True
    return chosen
