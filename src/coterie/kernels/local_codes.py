"""Renumber the codes of a part of the rows, so that tables over them are as small as the part, not the domain.

The new numbers are called local codes. They ascend with the codes; each attribute's follow those of the previous one.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import kernel, part, step

# The local codes of a part, in the attributes in which its rows differ.
#   of_row: [row, such an attribute] → local code
#   columns: which attributes these are
#   starts: where the local codes of each begin; one more entry at the end
#   code: local code → code
LocalCodes = namedtuple("LocalCodes", "of_row columns starts code")


@part
def _room_needed(codes, rows):
    """Return the maximum number of local codes of a part."""
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


@step
def make_local_codes(codes, rows):
    """Allocate the local codes of a part."""
    size, d = rows.shape[0], codes.shape[1]
    return LocalCodes(
        np.empty((size, d), dtype=np.int32),
        np.empty(d, dtype=np.int64),
        np.empty(d + 1, dtype=np.int64),
        np.empty(_room_needed(codes, rows), dtype=np.int32),
    )


@kernel
def number_codes(codes, rows, local):
    """Assign ascending numbers to the codes of a part, by attribute; return the number of attributes with several."""
    size = rows.shape[0]
    of_row, columns, starts, code_at = local
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
                of_row[i, active] = first + keys[i] - low
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
                of_row[i, active] = first + below
            starts[active + 1] = first + found
        columns[active] = j
        active += 1
    return active
