"""Kernels of KACA: merge classes that are too small with their nearest ones.

The rows of a class are a linked list in ascending order: `follower[row]` is the next one, −1 at the end, and the list
begins at the class's lowest row. Merging two lists, or cutting off the lowest rows, touches no others.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import inner, kernel, part
from coterie.kernels.search.groups_index import ADDED, empty, grow, nearest, renew_above
from coterie.kernels.search.walk import make_walk


@part
def _join_rows(follower, one, two):
    """Merge the lists that begin at the rows `one` and `two`; return the first row of the result."""
    if two < one:
        one, two = two, one
    first = one
    while two >= 0:
        # `one` is in the joined list already, `two` is larger and follows somewhere after it.
        after = follower[one]
        while after >= 0 and after < two:
            one = after
            after = follower[one]
        follower[one] = two
        one, two = two, after
    return first


@part
def _cut_rows(follower, row, count):
    """End the list that begins at `row` after `count` rows; return the first row of the rest."""
    for _ in range(count - 1):
        row = follower[row]
    rest = follower[row]
    follower[row] = -1
    return rest


# The slots of classes that are too small: the first few entries are in use.
#   entry: slot → its position in `slots`, −1 if it does not
SmallClasses = namedtuple("SmallClasses", "slots entry")


@inner
def _drop(small, count, at):
    """Remove entry `at` from the first `count` entries by moving the last one there. Return the new count."""
    small.entry[small.slots[at]] = -1
    count -= 1
    if at < count:
        small.slots[at] = small.slots[count]
        small.entry[small.slots[at]] = at
    return count


@kernel
def merge_classes(tree, costs, k, limit, draws, follower, small, count, step, last):
    """Merge small classes until none is left or step `last` is reached; return how many are left, and the step.

    The random number draws[step] in [0, 1) picks one of the first `count` entries of `small`. If the nearest class
    is further than `limit` per row, or there is none, the picked one leaves the tree and its rows stay unassigned.
    """
    size, lowest = tree.size, tree.lowest
    walk = make_walk()
    while count > 0 and step < last:
        at = int(draws[step] * count)
        step += 1
        one = np.int64(small.slots[at])
        count = _drop(small, count, at)
        n1 = size[one]
        two, distance = nearest(tree, costs, one, ADDED, 2 * k - n1, k - n1, walk)
        if two < 0:
            empty(tree, one)
            continue
        large = n1 + size[two] >= 2 * k
        joining = k - n1 if large else size[two]
        if distance > limit * (n1 + joining):
            empty(tree, one)
            continue
        rows = lowest[two]
        if large:
            # The trunk keeps its slot and its box: only the stub is generalized further.
            lowest[two] = _cut_rows(follower, rows, joining)
            size[two] -= joining
            renew_above(tree, two)
            grow(tree, costs, one, two, k, _join_rows(follower, lowest[one], rows))
            continue
        if small.entry[two] >= 0:
            count = _drop(small, count, np.int64(small.entry[two]))
        empty(tree, one)
        grow(tree, costs, two, one, n1 + joining, _join_rows(follower, lowest[one], rows))
        if size[two] < k:
            small.slots[count] = two
            small.entry[two] = count
            count += 1
    return count, step


@kernel
def label_rows(starts, follower):
    """Return row → the number of its list, −1 if in none."""
    labels = np.full(follower.shape[0], -1, dtype=np.int32)
    for g in range(starts.shape[0]):
        row = starts[g]
        while row >= 0:
            labels[row] = g
            row = follower[row]
    return labels
