"""Number the codes that a part of the rows has: tables over them stay as small as the part, whatever the domain.

The numbers are called places. They ascend with the codes, and each attribute's follow those of the one before it.
"""

from __future__ import annotations

import numpy as np

from coterie.kernels import kernel, part


@part
def places_needed(codes, rows):
    """How many places the codes of a part may need."""
    size = rows.shape[0]
    total = 0
    for j in range(codes.shape[1]):
        low = codes[rows[0], j]
        high = low
        for i in range(size):
            low = min(low, codes[rows[i], j])
            high = max(high, codes[rows[i], j])
        total += min(high - low + 1, size)
    return total


@kernel
def number_places(codes, rows, places, columns, starts, code_at):
    """Number the codes of a part, attribute by attribute, in ascending order.

    `columns` gets the attributes that have more than one code here, `starts` their first places, `places` the rows'
    places and `code_at` the codes of places. Gives back how many such attributes there are.
    """
    size = rows.shape[0]
    keys = np.empty(size, dtype=np.int32)
    active = 0
    starts[0] = 0
    for j in range(codes.shape[1]):
        low = codes[rows[0], j]
        high = low
        for i in range(size):
            c = codes[rows[i], j]
            keys[i] = c
            low = min(low, c)
            high = max(high, c)
        if low == high:
            continue
        first = starts[active]
        if high - low < size:
            for c in range(low, high + 1):
                code_at[first + c - low] = c
            for i in range(size):
                places[i, active] = first + keys[i] - low
            starts[active + 1] = first + high - low + 1
        else:
            keys.sort()
            found = 0
            for i in range(size):
                if found == 0 or keys[i] != code_at[first + found - 1]:
                    code_at[first + found] = keys[i]
                    found += 1
            for i in range(size):
                c = codes[rows[i], j]
                below = 0
                above = found - 1
                while below < above:
                    middle = (below + above) // 2
                    if code_at[first + middle] < c:
                        below = middle + 1
                    else:
                        above = middle
                places[i, active] = first + below
            starts[active + 1] = first + found
        columns[active] = j
        active += 1
    return active
