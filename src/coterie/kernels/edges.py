"""The edges of sets of rows, which give the box without any one row at once.

edges[s, :, j] are, among the codes of set s in attribute j: the lowest, the highest, the number of rows with each,
the next lowest and the next highest.
"""

from __future__ import annotations

from coterie.kernels import inner, step

_HIGH = 2**31 - 1
NO_EDGE = (_HIGH, -1, 0, 0, _HIGH, -1)


@step
def with_code(edge, c):
    """Return the edge of a set in one attribute after adding a row with the code c."""
    lowest, highest, at_low, at_high, next_low, next_high = edge
    if c < lowest:
        next_low = lowest
        lowest = c
        at_low = 1
    elif c == lowest:
        at_low += 1
    elif c < next_low:
        next_low = c
    if c > highest:
        next_high = highest
        highest = c
        at_high = 1
    elif c == highest:
        at_high += 1
    elif c > next_high:
        next_high = c
    return lowest, highest, at_low, at_high, next_low, next_high


@step
def set_edge(edges, s, j, edge):
    """Store the edge of a set in one attribute."""
    edges[s, 0, j], edges[s, 1, j], edges[s, 2, j], edges[s, 3, j], edges[s, 4, j], edges[s, 5, j] = edge


@inner
def without(edges, s, j, c):
    """Return the interval of a set without a row with the code c (empty, lowest > highest, if it was alone)."""
    low = edges[s, 0, j]
    high = edges[s, 1, j]
    if c == low and edges[s, 2, j] == 1:
        low = edges[s, 4, j]
    if c == high and edges[s, 3, j] == 1:
        high = edges[s, 5, j]
    return low, high
