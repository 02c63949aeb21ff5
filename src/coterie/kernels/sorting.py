"""Sort in place. Numba's own sort takes seconds to compile; this one does not."""

from __future__ import annotations

from coterie.kernels import part


@part
def sort_pairs(keys, values, n):
    """Sort the first n keys, and their values with them: ascending, equal keys by value."""
    # Shell sort with the gaps of Ciura, extended by 2.25.
    gap = 1
    while gap < n // 3:
        gap = gap * 9 // 4 + 1
    while gap > 0:
        for i in range(gap, n):
            key = keys[i]
            value = values[i]
            at = i
            while at >= gap and (keys[at - gap] > key or (keys[at - gap] == key and values[at - gap] > value)):
                keys[at] = keys[at - gap]
                values[at] = values[at - gap]
                at -= gap
            keys[at] = key
            values[at] = value
        gap = gap * 4 // 9
