"""Find distinct rows by hashing: one pass, no sorting."""

from __future__ import annotations

import numpy as np

from coterie.kernels import loop


def distinct_rows(codes):
    """Return row → number of its distinct row, and the first row of each; numbered in order of appearance."""
    n = codes.shape[0]
    slots = 16
    while slots < 2 * n:
        slots *= 2
    table = np.full(slots, -1, dtype=np.int32)
    of_row = np.empty(n, dtype=np.int32)
    first = np.empty(n, dtype=np.int32)
    found = _distinct_rows(codes, table, of_row, first)
    return of_row, first[:found].copy()


@loop
def _distinct_rows(codes, table, of_row, first):
    n, d = codes.shape
    mask = np.uint64(table.shape[0] - 1)
    found = 0
    for i in range(n):
        h = np.uint64(0x9E3779B97F4A7C15)
        for j in range(d):
            h ^= np.uint64(codes[i, j])
            h *= np.uint64(0xFF51AFD7ED558CCD)
            h ^= h >> np.uint64(32)
        slot = h & mask
        while True:
            group = table[slot]
            if group < 0:
                table[slot] = found
                of_row[i] = found
                first[found] = i
                found += 1
                break
            other = first[group]
            same = True
            for j in range(d):
                if codes[i, j] != codes[other, j]:
                    same = False
                    break
            if same:
                of_row[i] = group
                break
            slot = (slot + np.uint64(1)) & mask
    return found
