"""Heaps against Python's own."""

import heapq

import numpy as np
from doors import door
from hypothesis import given
from hypothesis import strategies as st

from coterie.kernels.search import heap as heaps
from coterie.kernels.search.heap import new_heap

push, pop, keep_nearest = door(heaps.push), door(heaps.pop), door(heaps.keep_nearest)
replace_top, sort_heap = door(heaps.replace_top), door(heaps.sort_heap)
KEYS = st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0]), min_size=1, max_size=40)


def filled(keys, ids, *, by_id):
    heap = new_heap(len(keys) + 1)
    for size, (key, number) in enumerate(zip(keys, ids, strict=True)):
        push(heap, size, key, number, by_id)
    return heap


@given(KEYS)
def test_the_least_comes_first_from_negated_entries(keys):
    heap = filled([-key for key in keys], [-i for i in range(len(keys))], by_id=True)
    twin = [(key, i) for i, key in enumerate(keys)]
    heapq.heapify(twin)
    for size in range(len(keys), 0, -1):
        assert -pop(heap, size, True) == heapq.heappop(twin)[1]


@given(KEYS)
def test_without_ids_the_largest_keys_come_first(keys):
    heap = filled(keys, list(range(len(keys))), by_id=False)
    popped = [keys[pop(heap, size, False)] for size in range(len(keys), 0, -1)]
    assert popped == sorted(keys, reverse=True)


@given(KEYS, st.integers(1, 10))
def test_the_worst_is_replaced_and_the_rest_sorted(keys, count):
    entries = [(key, i) for i, key in enumerate(keys)]
    heap, size = new_heap(count), 0
    for key, number in entries:
        if size < count:
            push(heap, size, key, number, True)
            size += 1
        elif (key, number) < (heap.keys[0], heap.ids[0]):
            replace_top(heap, size, key, number, True)
    sort_heap(heap, size)
    found = list(zip(heap.keys[:size].tolist(), heap.ids[:size].tolist(), strict=True))
    assert found == heapq.nsmallest(count, entries)


@given(KEYS, st.data())
def test_the_nearest_that_weigh_enough_are_kept(keys, data):
    weights = np.array([data.draw(st.integers(1, 4)) for _ in keys], dtype=np.int32)
    wanted = data.draw(st.integers(1, 20))
    heap, size, held = new_heap(len(keys) + 1), 0, 0
    for number, key in enumerate(keys):
        size, held = keep_nearest(heap, size, held, key, number, weights, wanted)
    kept = heap.ids[:size].tolist()
    assert held == weights[kept].sum()
    if held < wanted:
        assert size == len(keys)
        return
    worst = max(keys[i] for i in kept)
    assert {i for i, key in enumerate(keys) if key < worst} <= set(kept)
    assert held - max(weights[i] for i in kept if keys[i] == worst) < wanted
