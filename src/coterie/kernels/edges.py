"""The edges of sets of rows: what their boxes become when any one row leaves is known from them at once.

edges[s, :, j] are, of the codes that set s has in attribute j: the lowest, the highest, how many rows have the one and
the other, the next lowest and the next highest.
"""

from __future__ import annotations

from coterie.kernels import inner, step

_HIGH = 2**31 - 1
NO_EDGE = (_HIGH, -1, 0, 0, _HIGH, -1)


@step
def with_code(edge, c):
    """The edge of a set in one attribute after one more row, with the code c."""
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
    """Note the edge of a set in one attribute."""
    edges[s, 0, j], edges[s, 1, j], edges[s, 2, j], edges[s, 3, j], edges[s, 4, j], edges[s, 5, j] = edge


@inner
def without(edges, s, j, c):
    """The interval of a set when a row with the code c leaves it (empty, lowest > highest, if it was alone)."""
    low = edges[s, 0, j]
    high = edges[s, 1, j]
    if c == low and edges[s, 2, j] == 1:
        low = edges[s, 4, j]
    if c == high and edges[s, 3, j] == 1:
        high = edges[s, 5, j]
    return low, high
