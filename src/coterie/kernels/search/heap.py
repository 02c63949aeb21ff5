"""Heaps: the first `size` entries of two arrays, the largest key at the top.

For the smallest key at the top, keys and ids are stored negated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.kernels import inner


class Heap(NamedTuple):
    """The storage of a heap."""

    keys: npt.NDArray[np.float64]
    ids: npt.NDArray[np.int32]


def new_heap(room):
    """Allocate this many entries."""
    return Heap(np.empty(room, dtype=np.float64), np.empty(room, dtype=np.int32))


@inner
def _above(key, number, other_key, other_number, by_id):
    """Return whether an entry belongs above another: its key is larger or, `by_id`, equal with a larger id."""
    return key > other_key or (by_id and key == other_key and number > other_number)


@inner
def push(heap, size, key, number, by_id):
    """Add an entry to the heap of `size` entries."""
    keys, ids = heap.keys, heap.ids
    at = size
    while at > 0:
        up = (at - 1) // 2
        if not _above(key, number, keys[up], ids[up], by_id):
            break
        keys[at] = keys[up]
        ids[at] = ids[up]
        at = up
    keys[at] = key
    ids[at] = number


@inner
def replace_top(heap, size, key, number, by_id):
    """Replace the top of the heap, which then has `size` entries."""
    keys, ids = heap.keys, heap.ids
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        right = child + 1
        if right < size and _above(keys[right], ids[right], keys[child], ids[child], by_id):
            child = right
        if not _above(keys[child], ids[child], key, number, by_id):
            break
        keys[at] = keys[child]
        ids[at] = ids[child]
        at = child
    keys[at] = key
    ids[at] = number


@inner
def pop(heap, size, by_id):
    """Remove the top of the heap of `size` entries and return its id."""
    first = heap.ids[0]
    replace_top(heap, size - 1, heap.keys[size - 1], heap.ids[size - 1], by_id)
    return first


@inner
def keep_nearest(heap, size, held, key, number, weights, wanted):
    """Add an entry, then drop entries from the top while the rest still weighs enough.

    Returns the new number of entries and their weight.
    """
    push(heap, size, key, number, False)
    size += 1
    held += weights[number]
    while held - weights[heap.ids[0]] >= wanted:
        held -= weights[heap.ids[0]]
        pop(heap, size, False)
        size -= 1
    return size, held


@inner
def sort_heap(heap, size):
    """Turn a heap, ordered by id where keys are equal, into an ascending list."""
    for last in range(size - 1, 0, -1):
        key, number = heap.keys[0], heap.ids[0]
        pop(heap, last + 1, True)
        heap.keys[last] = key
        heap.ids[last] = number
