"""Frequency l-diversity inside CB: the check of two halves, and the dealing out of parts that cannot be halved."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.kernels import kernel, part
from coterie.kernels.local_codes import number_places, places_needed


class Diversity(NamedTuple):
    """Frequency l-diversity of some sensitive columns: no value in more than below / above = 1 / l of a group."""

    codes: npt.NDArray[np.int32]
    """[n, columns]"""
    above: npt.NDArray[np.int64]
    below: npt.NDArray[np.int64]
    """l of each column as the fraction above / below"""


@part
def diverse(diversity, columns, starts, active, counts, sizes):
    """Whether both sides are l-diverse; columns in which the part has one value only are so if the part is."""
    for x in range(active):
        above = diversity.above[columns[x]]
        below = diversity.below[columns[x]]
        for place in range(starts[x], starts[x + 1]):
            for s in range(2):
                if counts[2 * place + s] * above > sizes[s] * below:
                    return False
    return True


@part
def _dealt_diverse(diversity, columns, starts, active, places, order, groups, counts):
    """Whether rows dealt to so many groups are l-diverse in all columns but the first. Leaves the counts at zero."""
    size = order.shape[0]
    good = True
    for x in range(active):
        if columns[x] == 0:
            continue
        above = diversity.above[columns[x]]
        below = diversity.below[columns[x]]
        for g in range(groups):
            share = ((size - 1 - g) // groups + 1) * below
            for p in range(g, size, groups):
                place = places[order[p], x]
                counts[place] += 1
                if counts[place] * above > share:
                    good = False
            for p in range(g, size, groups):
                counts[places[order[p], x]] = 0
    return good


@kernel
def round_robin(diversity, rows, k, labels):
    """Deal a part out to as many groups as stay l-diverse and hold k rows: He et al. 2012, Fig. 5.

    Rows go in the order of their sensitive values. A value of c rows puts at most ⌈c / g⌉ into one of g groups of at
    least ⌊size / g⌋ rows. That decides for the first column; the groups are checked for the others.
    """
    size = rows.shape[0]
    kinds = diversity.codes.shape[1]
    columns = np.empty(kinds, dtype=np.int64)
    starts = np.empty(kinds + 1, dtype=np.int64)
    places = np.empty((size, kinds), dtype=np.int32)
    space = places_needed(diversity.codes, rows)
    active = number_places(diversity.codes, rows, places, columns, starts, np.empty(space, dtype=np.int32))
    counts = np.zeros(space + 1, dtype=np.int64)
    order = np.empty(size, dtype=np.int32)
    most = size
    if active > 0 and columns[0] == 0:
        most = 0
        for i in range(size):
            counts[places[i, 0] + 1] += 1
            most = max(most, counts[places[i, 0] + 1])
        for place in range(starts[1]):
            counts[place + 1] += counts[place]
        for i in range(size):
            order[counts[places[i, 0]]] = i
            counts[places[i, 0]] += 1
        for place in range(starts[1] + 1):
            counts[place] = 0
    else:
        for i in range(size):
            order[i] = i
    groups = size // k
    while groups > 1:
        if (most + groups - 1) // groups * diversity.above[0] > size // groups * diversity.below[0]:
            groups -= 1
        elif not _dealt_diverse(diversity, columns, starts, active, places, order, groups, counts):
            groups //= 2
        else:
            break
    groups = max(groups, 1)
    for p in range(size):
        labels[rows[order[p]]] = rows[order[p % groups]]
