"""Frequency l-diversity inside CB: the check of two halves, and the dealing out of parts that cannot be halved."""

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
    """Whether both sides are l-diverse; columns in which the part has one value only are so if the part is."""
    for x in range(active):
        above = diversity.above[local.columns[x]]
        below = diversity.below[local.columns[x]]
        for at in range(local.starts[x], local.starts[x + 1]):
            for s in range(2):
                if counts[2 * at + s] * above > sizes[s] * below:
                    return False
    return True


@part
def _dealt_diverse(diversity, local, active, order, groups, counts):
    """Whether rows dealt to so many groups are l-diverse in all columns but the first. Leaves the counts at zero."""
    size = order.shape[0]
    good = True
    for x in range(active):
        if local.columns[x] == 0:
            continue
        above = diversity.above[local.columns[x]]
        below = diversity.below[local.columns[x]]
        for g in range(groups):
            share = ((size - 1 - g) // groups + 1) * below
            for p in range(g, size, groups):
                at = local.of_row[order[p], x]
                counts[at] += 1
                if counts[at] * above > share:
                    good = False
            for p in range(g, size, groups):
                counts[local.of_row[order[p], x]] = 0
    return good


@part
def _by_first_value(local, counts, order):
    """Order the rows of a part by their values in the first column; how many rows the most frequent has."""
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
    """Deal a part out to as many groups as stay l-diverse and hold k rows: He et al. 2012, Fig. 5.

    Rows go in the order of their sensitive values. A value of c rows puts at most ⌈c / g⌉ into one of g groups of at
    least ⌊size / g⌋ rows. That decides for the first column; the groups are checked for the others.
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
    groups = size // k
    while groups > 1:
        if (most + groups - 1) // groups * diversity.above[0] > size // groups * diversity.below[0]:
            groups -= 1
        elif not _dealt_diverse(diversity, local, active, order, groups, counts):
            groups //= 2
        else:
            break
    groups = max(groups, 1)
    for p in range(size):
        labels[rows[order[p]]] = rows[order[p % groups]]
