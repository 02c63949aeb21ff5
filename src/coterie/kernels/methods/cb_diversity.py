"""Frequency l-diversity inside CB: check two halves, and deal out parts that cannot be halved."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import kernel, part
from coterie.kernels.local_codes import make_local_codes, number_codes

# Frequency l-diversity of some sensitive columns: no value in more than below / above = 1 / l of a group.
#   codes: [n, columns]
#   below: l of each column as the fraction above / below
Diversity = namedtuple("Diversity", "codes above below")


@part
def diverse(diversity, local, active, counts, sizes):
    """Return whether both sides are l-diverse; columns with one value in the part are so if the part is."""
    for x in range(active):
        above = diversity.above[local.columns[x]]
        below = diversity.below[local.columns[x]]
        for at in range(local.starts[x], local.starts[x + 1]):
            for s in range(2):
                if counts[2 * at + s] * above > sizes[s] * below:
                    return False
    return True


@part
def _dealt_diverse(diversity, local, active, order, dealt, groups, counts):
    """Return whether rows dealt out and joined (see `_piece`) are l-diverse in all columns but the first.

    Leaves the counts at zero.
    """
    size = order.shape[0]
    good = True
    for x in range(active):
        if local.columns[x] == 0:
            continue
        above = diversity.above[local.columns[x]]
        below = diversity.below[local.columns[x]]
        for g in range(groups):
            share = _joined(size, dealt, groups, g) * below
            for turn in range(_turns(dealt, groups, g)):
                for p in range(_piece(dealt, groups, g, turn), size, dealt):
                    at = local.of_row[order[p], x]
                    counts[at] += 1
                    if counts[at] * above > share:
                        good = False
            for turn in range(_turns(dealt, groups, g)):
                for p in range(_piece(dealt, groups, g, turn), size, dealt):
                    counts[local.of_row[order[p], x]] = 0
    return good


@part
def _turns(dealt, groups, g):
    """Return how many of the dealt pieces group g is joined from."""
    return dealt // groups + (groups - 1 - g < dealt % groups)


@part
def _piece(dealt, groups, g, turn):
    """Return a piece of group g: every groups-th, but those of an incomplete last turn go to the last groups.

    The first pieces may have a row more than the others, so groups of fewer pieces get these.
    """
    full = dealt // groups
    return g + turn * groups if turn < full else full * groups + groups - 1 - g


@part
def _joined(size, dealt, groups, g):
    """Return the rows of group g if rows are dealt round-robin and the dealt pieces are joined."""
    rows = 0
    for turn in range(_turns(dealt, groups, g)):
        rows += (size - 1 - _piece(dealt, groups, g, turn)) // dealt + 1
    return rows


@part
def _smallest(size, dealt, groups):
    """Return the rows of the smallest group."""
    least = size
    for g in range(groups):
        least = min(least, _joined(size, dealt, groups, g))
    return least


@part
def _deals(diversity, most, size, groups):
    """Return whether dealing to this many groups is l-diverse in the first column; its mode has `most` rows.

    A value of c rows puts at most ⌈c / g⌉ into one of g groups of at least ⌊size / g⌋ rows.
    """
    return (most + groups - 1) // groups * diversity.above[0] <= size // groups * diversity.below[0]


@part
def _by_first_value(local, counts, order):
    """Sort the rows of a part by their values in the first column; return the count of the most frequent."""
    most = 0
    for i in range(order.shape[0]):
        at = local.of_row[i, 0] + 1
        counts[at] += 1
        most = max(most, counts[at])
    for at in range(local.starts[1]):
        counts[at + 1] += counts[at]
    for i in range(order.shape[0]):
        at = local.of_row[i, 0]
        order[counts[at]] = i
        counts[at] += 1
    for at in range(local.starts[1] + 1):
        counts[at] = 0
    return most


@kernel
def round_robin(diversity, rows, k, labels):
    """Deal a part out to as many groups as stay l-diverse and have k rows: He et al. 2012, Fig. 5.

    Rows go in the order of their sensitive values, directly to the groups or, if that would not be l-diverse, to
    as many smaller ones as are, which are joined. That decides the first column; the others are checked in the groups.
    """
    size = rows.shape[0]
    local = make_local_codes(diversity.codes, rows)
    active = number_codes(diversity.codes, rows, local)
    counts = np.zeros(local.code.shape[0] + 1, dtype=np.int64)
    order = np.empty(size, dtype=np.int32)
    for i in range(size):
        order[i] = i
    most = size
    if active > 0 and local.columns[0] == 0:
        most = _by_first_value(local, counts, order)
    finest = size * diversity.below[0] // diversity.above[0]
    while finest > 1 and not _deals(diversity, most, size, finest):
        finest -= 1
    groups, dealt = size // k, 1
    while groups > 1:
        dealt = groups if _deals(diversity, most, size, groups) else finest
        if dealt < groups or _smallest(size, dealt, groups) < k:
            groups -= 1
        elif not _dealt_diverse(diversity, local, active, order, dealt, groups, counts):
            groups //= 2
        else:
            break
    if groups <= 1:
        groups, dealt = 1, 1
    for g in range(groups):
        for turn in range(_turns(dealt, groups, g)):
            for p in range(_piece(dealt, groups, g, turn), size, dealt):
                labels[rows[order[p]]] = rows[order[g]]
