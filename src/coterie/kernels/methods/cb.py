"""The loops of CB: halve a part in the best of several ways, and its halves again."""

from __future__ import annotations

import numpy as np

from coterie.kernels import kernel, part
from coterie.kernels.local_codes import number_places, places_needed
from coterie.kernels.methods.cb_diversity import diverse, round_robin
from coterie.kernels.methods.cb_rounds import TIE, aim_at_centres, borrow, choose_sides, derived, move_centres, shuffle
from coterie.kernels.search.costs import box_cost


@part
def _move_row(places, active, counts, i, old, new):
    """Count a row on its new side instead of its old one (−1 for none)."""
    for x in range(active):
        at = 2 * places[i, x]
        counts[at + new] += 1
        if old >= 0:
            counts[at + old] -= 1


@kernel
def _best_halves(costs, numbers, diversity, codes, rows, key, k, tries, rounds, best_side):
    """Split a part of at least 2k rows in two of at least k: `best_side` gets the best of all tries.

    Gives back how many rows are on side 0, or 0 if no try kept both sides l-diverse.
    """
    size = rows.shape[0]
    d = codes.shape[1]
    space = places_needed(codes, rows)
    columns = np.empty(d, dtype=np.int64)
    starts = np.empty(d + 1, dtype=np.int64)
    places = np.empty((size, d), dtype=np.int32)
    code_at = np.empty(space, dtype=np.int32)
    active = number_places(codes, rows, places, columns, starts, code_at)
    near = np.empty(2 * space, dtype=np.float64)
    counts = np.zeros(2 * space, dtype=np.int64)

    kinds = diversity.codes.shape[1]
    held_space = places_needed(diversity.codes, rows)
    held_columns = np.empty(kinds, dtype=np.int64)
    held_starts = np.empty(kinds + 1, dtype=np.int64)
    held_places = np.empty((size, kinds), dtype=np.int32)
    held_code_at = np.empty(held_space, dtype=np.int32)
    held = number_places(diversity.codes, rows, held_places, held_columns, held_starts, held_code_at)
    held_counts = np.zeros(2 * held_space, dtype=np.int64)

    lo = np.empty((2, d), dtype=np.int32)
    hi = np.empty((2, d), dtype=np.int32)
    for j in range(d):
        for s in range(2):
            lo[s, j] = codes[rows[0], j]
            hi[s, j] = codes[rows[0], j]
    order = np.empty(size, dtype=np.int32)
    side = np.full(size, -1, dtype=np.int8)
    wanted = np.empty(size, dtype=np.int8)
    sizes = np.empty(2, dtype=np.int64)
    centre = np.zeros((2, d), dtype=np.int64)
    mean = np.zeros((2, d), dtype=np.float64)
    differ = np.empty(d, dtype=np.int64)
    best = np.inf
    best_size = 0
    chain = 0
    for t in range(tries):
        chain += 1
        if chain == 1:
            shuffle(order, derived(key, 2 + t))
            for x in range(active):
                first = numbers.first[columns[x]]
                for s in range(2):
                    centre[s, x] = places[order[s], x]
                    if first >= 0:
                        mean[s, x] = numbers.values[first + code_at[centre[s, x]]]
        apart = aim_at_centres(costs, numbers, columns, starts, code_at, active, centre, mean, near, differ)
        ties = choose_sides(places, differ, apart, near, wanted)
        if ties > 0 and chain > 1:
            shuffle(order, derived(key, 2 + t))
        sizes[0] = 0
        sizes[1] = 0
        for p in range(size):
            i = order[p] if ties > 0 else p
            if wanted[i] == TIE:
                wanted[i] = 0 if sizes[0] <= sizes[1] else 1
            sizes[wanted[i]] += 1
        for s in range(2):
            if sizes[s] < k:
                borrow(places, differ, apart, near, wanted, s, k - sizes[s])
                sizes[s] = k
                sizes[1 - s] = size - k
        moved = 0
        for i in range(size):
            if side[i] != wanted[i]:
                moved += 1
                _move_row(places, active, counts, i, side[i], wanted[i])
                _move_row(held_places, held, held_counts, i, side[i], wanted[i])
                side[i] = wanted[i]
        move_centres(numbers, columns, starts, code_at, active, counts, sizes, centre, mean, lo, hi)
        loss = sizes[0] * box_cost(costs, lo[0], hi[0]) + sizes[1] * box_cost(costs, lo[1], hi[1])
        if loss < best and diverse(diversity, held_columns, held_starts, held, held_counts, sizes):
            best = loss
            best_size = sizes[0]
            for i in range(size):
                best_side[i] = side[i]
            if best == 0.0:
                break
        # Nothing moved and no tie was drawn: another round would be the same as this one.
        if chain == rounds or (chain > 1 and moved == 0 and ties == 0):
            chain = 0
    return best_size


@kernel
def _separate(rows, side):
    """Reorder a part: side 0 first, both sides ascending."""
    other = np.empty(rows.shape[0], dtype=np.int32)
    left = 0
    right = 0
    for i in range(rows.shape[0]):
        if side[i] == 0:
            rows[left] = rows[i]
            left += 1
        else:
            other[right] = rows[i]
            right += 1
    for i in range(right):
        rows[left + i] = other[i]


@kernel
def halve(costs, numbers, diversity, codes, rows, key, k, tries, rounds, once, keys, labels):
    """Split a part again and again and give each group a label: one of its rows. With `once`, split it once only.

    Then `keys` gets the keys of its halves, the first of which is as long as what is given back; 0 if the part is a
    group, which then has its label.
    """
    size = rows.shape[0]
    side = np.empty(size, dtype=np.int8)
    starts = np.empty(size + 1, dtype=np.int64)
    ends = np.empty(size + 1, dtype=np.int64)
    waiting = np.empty(size + 1, dtype=np.uint64)
    starts[0] = 0
    ends[0] = size
    waiting[0] = key
    top = 0
    while top >= 0:
        start, end, here = starts[top], ends[top], waiting[top]
        top -= 1
        part = rows[start:end]
        left = 0
        if end - start >= 2 * k:
            left = _best_halves(costs, numbers, diversity, codes, part, here, k, tries, rounds, side)
        if left == 0:
            if diversity.codes.shape[1] > 0:
                round_robin(diversity, part, k, labels)
            else:
                for i in range(start, end):
                    labels[rows[i]] = rows[start]
            continue
        _separate(part, side)
        if once:
            keys[0] = derived(here, 0)
            keys[1] = derived(here, 1)
            return left
        for s in range(2):
            top += 1
            starts[top] = start if s == 0 else start + left
            ends[top] = start + left if s == 0 else end
            waiting[top] = derived(here, s)
    return 0
