"""Kernels of CB: halve a part in the best of several ways, then its halves."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import kernel
from coterie.kernels.local_codes import make_local_codes, number_codes
from coterie.kernels.methods.cb_diversity import diverse, round_robin
from coterie.kernels.methods.cb_rounds import (
    Sides,
    aim_at_centres,
    borrow,
    break_ties,
    choose_sides,
    derived,
    move_centres,
    move_row,
    seed_centres,
    shuffle,
)
from coterie.kernels.search.costs import box_cost

# How parts are halved.
#   count: how many ways to halve a part are looked at
#   rounds: how many of them follow from one another, at most
#   restarts: whether two new random rows are drawn then, and when rounds repeat themselves
Tries = namedtuple("Tries", "k count rounds restarts")


@kernel
def _best_halves(costs, numbers, diversity, codes, rows, key, tries, best_side):
    """Split a part of at least 2k rows into two of at least k: `best_side` receives the best of all tries.

    Returns the number of rows on side 0, or 0 if no try kept both sides l-diverse.
    """
    size = rows.shape[0]
    d = codes.shape[1]
    local = make_local_codes(codes, rows)
    active = number_codes(codes, rows, local)
    held = make_local_codes(diversity.codes, rows)
    held_active = number_codes(diversity.codes, rows, held)
    held_counts = np.zeros(2 * held.code.shape[0], dtype=np.int64)
    near = np.empty(2 * local.code.shape[0], dtype=np.float64)
    counts = np.zeros(2 * local.code.shape[0], dtype=np.int64)
    sizes = np.empty(2, dtype=np.int64)
    centre = np.zeros((2, d), dtype=np.int64)
    mean = np.zeros((2, d), dtype=np.float64)
    lo = np.empty((2, d), dtype=np.int32)
    hi = np.empty((2, d), dtype=np.int32)
    for j in range(d):
        for s in range(2):
            lo[s, j] = codes[rows[0], j]
            hi[s, j] = codes[rows[0], j]
    sides = Sides(near, counts, sizes, centre, mean, lo, hi, np.empty(d, dtype=np.int64))
    order = np.empty(size, dtype=np.int32)
    side = np.full(size, -1, dtype=np.int8)
    wanted = np.empty(size, dtype=np.int8)
    best = np.inf
    best_size = 0
    chain = 0
    for t in range(tries.count):
        chain += 1
        if chain == 1:
            shuffle(order, derived(key, 2 + t))
            seed_centres(numbers, local, active, order, sides)
        apart = aim_at_centres(costs, numbers, local, active, sides)
        ties = choose_sides(local, sides, apart, wanted)
        if ties > 0 and chain > 1:
            shuffle(order, derived(key, 2 + t))
        break_ties(wanted, order, ties, sizes)
        for s in range(2):
            if sizes[s] < tries.k:
                borrow(local, sides, apart, wanted, s, tries.k - sizes[s])
                sizes[s] = tries.k
                sizes[1 - s] = size - tries.k
        moved = 0
        for i in range(size):
            if side[i] != wanted[i]:
                moved += 1
                move_row(local.of_row, active, counts, i, side[i], wanted[i])
                move_row(held.of_row, held_active, held_counts, i, side[i], wanted[i])
                side[i] = wanted[i]
        move_centres(numbers, local, active, sides)
        loss = sizes[0] * box_cost(costs, lo[0], hi[0]) + sizes[1] * box_cost(costs, lo[1], hi[1])
        if loss < best and diverse(diversity, held, held_active, held_counts, sizes):
            best = loss
            best_size = sizes[0]
            for i in range(size):
                best_side[i] = side[i]
            if best == 0.0:
                break
        # Nothing moved and no tie was drawn: another round would be the same as this one.
        repeats = chain > 1 and moved == 0 and ties == 0
        if repeats and not tries.restarts:
            break
        if repeats or (chain == tries.rounds and tries.restarts):
            chain = 0
    return best_size


@kernel
def _separate(rows, side):
    """Reorder a part: side 0 first, both sides ascending."""
    other = np.empty(rows.shape[0], dtype=np.int32)
    middle = 0
    others = 0
    for i in range(rows.shape[0]):
        if side[i] == 0:
            rows[middle] = rows[i]
            middle += 1
        else:
            other[others] = rows[i]
            others += 1
    for i in range(others):
        rows[middle + i] = other[i]


@kernel
def halve(costs, numbers, diversity, codes, rows, key, tries, once, keys, labels):
    """Split a part repeatedly and label each group with one of its rows. With `once`, split it only once.

    Then `keys` receives the keys of its halves, and the length of the first is returned; 0 if the part is a
    group, which is then labelled.
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
        first = 0
        if end - start >= 2 * tries.k:
            first = _best_halves(costs, numbers, diversity, codes, part, here, tries, side)
        if first == 0:
            if diversity.codes.shape[1] > 0:
                round_robin(diversity, part, tries.k, labels)
            else:
                for i in range(start, end):
                    labels[rows[i]] = rows[start]
            continue
        _separate(part, side)
        if once:
            keys[0] = derived(here, 0)
            keys[1] = derived(here, 1)
            return first
        for s in range(2):
            top += 1
            starts[top] = start if s == 0 else start + first
            ends[top] = start + first if s == 0 else end
            waiting[top] = derived(here, s)
    return 0
