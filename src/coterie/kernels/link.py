"""Find intersecting boxes of two tables: a k-d tree over boxes, walked once per query.

A box is an interval of codes per column. Where a cell lists single values, a set narrows its interval:
`sets[start[s] : start[s + 1]]` are its codes, ascending.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import inner, kernel, loop, part
from coterie.kernels.search.rows_index import apart

STACK = 128  # every cut halves, so 2**31 boxes make 30 levels


# A tree over boxes, as kernels take it.
#   order: position → box
#   start: node → first position
#   end: node → position after its last
#   inner: nodes below this number have the children 2 · node + 1 and 2 · node + 2; the others are leaves
#   lo: node → smallest lower ends of its boxes
#   hi: node → largest upper ends of its boxes
BoxTree = namedtuple("BoxTree", "order start end inner lo hi")


# Boxes, as kernels take them.
#   set_of: box, column → set, or −1 if the interval says all
Boxes = namedtuple("Boxes", "lo hi set_of")


@inner
def _any_within(starts, members, one, lo, hi):
    """Return whether a set has a member in [lo, hi]."""
    for i in range(starts[one], starts[one + 1]):
        if lo <= members[i] <= hi:
            return True
    return False


@inner
def _any_shared(starts, members, one, other):
    """Return whether two sets share a member."""
    i, j = starts[one], starts[other]
    while i < starts[one + 1] and j < starts[other + 1]:
        if members[i] == members[j]:
            return True
        if members[i] < members[j]:
            i += 1
        else:
            j += 1
    return False


@part
def _sets_meet(boxes, box, queries, query, starts, members):
    """Return whether two boxes whose intervals intersect everywhere also do so in the columns that list values."""
    for j in range(boxes.set_of.shape[1]):
        one, other = boxes.set_of[box, j], queries.set_of[query, j]
        if one >= 0 and other >= 0:
            if not _any_shared(starts, members, one, other):
                return False
        elif one >= 0:
            if not _any_within(starts, members, one, queries.lo[query, j], queries.hi[query, j]):
                return False
        elif other >= 0 and not _any_within(starts, members, other, boxes.lo[box, j], boxes.hi[box, j]):
            return False
    return True


def matches(tree, boxes, queries, starts, members, first, found, out):
    """Write the boxes that intersect each query to `out`, query by query from `first`, as long as there is space.

    `out` must have space for all boxes. `found[q]` receives the number of matches of query q. Returns the first query
    that is still open, and how much of `out` is filled.
    """
    return _matches(tree, boxes, queries, starts, members, first, found, out, np.empty(STACK, dtype=np.int32))


@loop
def _matches(tree, boxes, queries, starts, members, first, found, out, stack):
    total = np.int64(0)
    q = first
    while q < queries.lo.shape[0] and total + boxes.lo.shape[0] <= out.shape[0]:
        low, high = queries.lo[q], queries.hi[q]
        before = total
        stack[0] = 0
        top = 1
        while top > 0:
            top -= 1
            node = stack[top]
            if apart(low, high, tree.lo, tree.hi, node):
                continue
            if node < tree.inner:
                stack[top], stack[top + 1] = 2 * node + 2, 2 * node + 1
                top += 2
                continue
            for p in range(tree.start[node], tree.end[node]):
                box = tree.order[p]
                if apart(low, high, boxes.lo, boxes.hi, box):
                    continue
                if members.shape[0] == 0 or _sets_meet(boxes, box, queries, q, starts, members):
                    out[total] = box
                    total += 1
        found[q] = total - before
        q += 1
    return q, total


@kernel
def weigh(found, boxes, weights):
    """Return query → sum of the weights of the intersecting boxes."""
    sums = np.zeros(found.shape[0], dtype=np.int64)
    at = 0
    for q in range(found.shape[0]):
        for _ in range(found[q]):
            sums[q] += weights[boxes[at]]
            at += 1
    return sums


@kernel
def tally(found, boxes, starts, values, counts, totals):
    """Count, for each query, the sensitive values of the matching rows.

    Returns the most frequent value (the lowest of several), its number of rows, the number of values, and
    the maximum factor by which the share of a value exceeds its share in the whole table.
    """
    queries = found.shape[0]
    best = np.full(queries, -1, dtype=np.int64)
    most = np.zeros(queries, dtype=np.int64)
    distinct = np.zeros(queries, dtype=np.int64)
    lift = np.zeros(queries, dtype=np.float64)
    held = np.zeros(totals.shape[0], dtype=np.int64)
    seen = np.empty(totals.shape[0], dtype=np.int64)
    rows = totals.sum()
    at = 0
    for q in range(queries):
        size = 0
        met = np.int64(0)
        for _ in range(found[q]):
            box = boxes[at]
            at += 1
            for i in range(starts[box], starts[box + 1]):
                value = values[i]
                if held[value] == 0:
                    seen[size] = value
                    size += 1
                held[value] += counts[i]
                met += counts[i]
        for i in range(size):
            value = seen[i]
            if held[value] > most[q] or (held[value] == most[q] and value < best[q]):
                most[q], best[q] = held[value], value
            lift[q] = max(lift[q], (held[value] / met) / (totals[value] / rows))
            held[value] = 0
        distinct[q] = size
    return best, most, distinct, lift


@kernel
def cheapest(found, boxes, costs, rank):
    """Return query → the intersecting box with the least cost, then the least rank; −1 if there is none."""
    chosen = np.full(found.shape[0], -1, dtype=np.int32)
    at = 0
    for q in range(found.shape[0]):
        for _ in range(found[q]):
            box = boxes[at]
            at += 1
            old = chosen[q]
            if old < 0 or costs[box] < costs[old] or (costs[box] == costs[old] and rank[box] < rank[old]):
                chosen[q] = box
    return chosen
