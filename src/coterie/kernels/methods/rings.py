"""Kernels of rings: the boxes of k consecutive rows, and random one-to-one assignments of rows to boxes.

Ring g has the places start[g] … start[g + 1] − 1. The slot at a place is the box of the rows at that place and the
`span` − 1 places after it, around the ring; so the row at offset i of a ring of m rows lies in the slots at the offsets
i, i − 1, …, i − span + 1 (mod m).
"""

from __future__ import annotations

import numpy as np

from coterie.kernels import inner, kernel


@kernel
def ring_boxes(codes, order, start, span):
    """Return slot → box, as (lo, hi).

    Windows are split at every multiple of `span`: the smallest code of a window is that of the end of one
    segment and the beginning of the next, so each code is read twice, however wide the windows are.
    """
    n, d = order.shape[0], codes.shape[1]
    lo = np.empty((n, d), dtype=np.int32)
    hi = np.empty((n, d), dtype=np.int32)
    longest = 0
    for g in range(start.shape[0] - 1):
        longest = max(longest, start[g + 1] - start[g])
    length = longest + span - 1
    ahead_lo = np.empty(length, dtype=np.int32)
    ahead_hi = np.empty(length, dtype=np.int32)
    back_lo = np.empty(length, dtype=np.int32)
    back_hi = np.empty(length, dtype=np.int32)
    for g in range(start.shape[0] - 1):
        first = start[g]
        m = start[g + 1] - first
        length = m + span - 1
        for j in range(d):
            for e in range(length):
                c = codes[order[first + e % m], j]
                ahead_lo[e] = c
                ahead_hi[e] = c
                back_lo[e] = c
                back_hi[e] = c
                if e % span != 0:
                    ahead_lo[e] = min(c, ahead_lo[e - 1])
                    ahead_hi[e] = max(c, ahead_hi[e - 1])
            for e in range(length - 2, -1, -1):
                if (e + 1) % span != 0:
                    back_lo[e] = min(back_lo[e], back_lo[e + 1])
                    back_hi[e] = max(back_hi[e], back_hi[e + 1])
            for i in range(m):
                lo[first + i, j] = min(back_lo[i], ahead_lo[i + span - 1])
                hi[first + i, j] = max(back_hi[i], ahead_hi[i + span - 1])
    return lo, hi


@inner
def _below(state, bound):
    """Return the next state of a SplitMix64 generator, and a random integer below the bound."""
    state = state + np.uint64(0x9E3779B97F4A7C15)
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return state, np.int64(((z >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@kernel
def matched_slots(start, span, picks, seeds):
    """Return place → offset of its row's slot, counted back from the row: 0 … span − 1.

    Rows and slots of a ring are the two sides of a graph in which each has `span` edges. Random walks find a perfect
    matching in it (Goel, Kapralov, Khanna 2010); removing it leaves span − 1 edges each, and so on, until the edges
    are `span` perfect matchings. The matching with the number picks[g] is used: if that is uniform, each edge has
    probability 1 / span, whatever the walks did. So no matching after that one is needed.
    """
    n = start[-1]
    result = np.empty(n, dtype=np.int32)
    longest = 0
    for g in range(start.shape[0] - 1):
        longest = max(longest, start[g + 1] - start[g])
    edges = np.empty((longest, span), dtype=np.int32)  # those still there come first; the matched one is their last
    owner = np.empty(longest, dtype=np.int32)  # slot → row matched with it, −1 if there is none
    choice = np.empty(longest, dtype=np.int32)
    for g in range(start.shape[0] - 1):
        m = start[g + 1] - start[g]
        state = seeds[g]
        for i in range(m):
            for t in range(span):
                edges[i, t] = t
        for done in range(picks[g] + 1):
            left = span - done
            for i in range(m):
                owner[i] = -1
            for i in range(m):
                # A walk: along a random edge to a slot, along the matched edge to its row, until a slot is free.
                # A row met again forgets where it went before, which takes loops out of the walk.
                row = i
                many = left
                while True:
                    state, at = _below(state, many)
                    choice[row] = at
                    slot = (row - edges[row, at]) % m
                    if owner[slot] < 0:
                        break
                    row = owner[slot]
                    many = left - 1
                row = i
                while row >= 0:
                    at = choice[row]
                    edge = edges[row, at]
                    edges[row, at] = edges[row, left - 1]
                    edges[row, left - 1] = edge
                    slot = (row - edge) % m
                    before = owner[slot]
                    owner[slot] = row
                    row = before
        for i in range(m):
            result[start[g] + i] = edges[i, span - 1 - picks[g]]
    return result
