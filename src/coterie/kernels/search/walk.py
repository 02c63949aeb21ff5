"""The walk that all searches of a tree of boxes use: branch and bound, depth first, the nearer child first.

                    0                start[0], end[0] = 0, 9     left[0] = 1: its children are nodes 1 and 2
             ┌──────┴──────┐
             1             2         start[2], end[2] = 5, 9     left[2] = −1: a leaf     parent[2] = 0
         ┌───┴───┐
         3       4                   start[3], end[3] = 0, 3     left[1] = 3
      ┌──┬──┐  ┌──┐  ┌──┬──┬──┐
      0  1  2  3  4  5  6  7  8      positions (slots in a tree of groups); leaf[4] = 4

                    rows_index.Nodes                            groups_index.BoxNodes
    the tree        start, end, left, parent by node, leaf      the same
    what it holds   points: position → codes                    lo, hi: slot → box of the group
                    point_free: → how many free rows            size, cost: → its rows, what one of them costs
                    row_start, cursor: → where its rows,        lowest: → its lowest row
                      and the free ones, begin in `rows`
                    position, taken: row → position, not free
    what nodes      lo, hi: the box around their free rows      node_lo, node_hi: largest lo, smallest hi of a group
    know of it      free, lowest: their number, the lowest      node_size, node_first: of the smallest groups, rows and
                                                                  lowest row; node_least, node_most: least and greatest
                                                                  cost; node_lowest: the lowest row of all

    walk.stack      ┃ 2  │ 4  │ 3  ┃ ← top: nodes still to be looked at, the nearer child above the other
    walk.bounds     ┃ .7 │ .4 │ .1 ┃        what joining any row (or group) below them costs at least

    top = set_out(walk)                                             begin at the root
    while top >= 0:
        node, bound, top = pop(walk, top)
        ‹go on if the bound is above the best cost so far, or equal to it and no row below has a lower number›
        ‹a leaf: compare what it holds with the best so far, and go on›
        before = top
        ‹for each child: top = offer(walk, top, child, bound_cost(…), best)›
        nearer_on_top(walk, top, before, lowest)

A child is skipped only if its bound is above the best found; ties go to the lowest row. That is exact, even in
floating point: costs never fall as boxes grow, and sums are always taken in the same order (see costs.py). A search for
the furthest row is the same walk with all costs negated. Callbacks are not free in Numba, so the steps are
shared rather than the loop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.kernels import step

STACK = 1024  # a heavy value costs an attribute two levels, all else halves the rows: enough for 400 attributes


class Walk(NamedTuple):
    """The waiting nodes of a tree and their bounds; see above."""

    stack: npt.NDArray[np.int32]
    bounds: npt.NDArray[np.float64]


def new_walk():
    """Allocate a walk."""
    return Walk(np.empty(STACK, dtype=np.int32), np.empty(STACK, dtype=np.float64))


# The same inside kernels that make arrays.
make_walk = step(new_walk)


@step
def set_out(walk):
    """Begin at the root; return the top of the stack."""
    walk.stack[0] = 0
    walk.bounds[0] = -np.inf
    return 0


@step
def pop(walk, top):
    """Return the next node, its bound, and the new top."""
    return np.int64(walk.stack[top]), walk.bounds[top], top - 1


@step
def offer(walk, top, child, bound, limit):
    """Push a node unless its bound is above the limit; return the new top."""
    if bound <= limit:
        top += 1
        walk.stack[top] = child
        walk.bounds[top] = bound
    return top


@step
def nearer_on_top(walk, top, before, number):
    """Put the nearer of two pushed children on top; on ties, the one with the lower number."""
    if top == before + 2:
        stack, bounds = walk.stack, walk.bounds
        one, two = stack[top - 1], stack[top]
        first, second = bounds[top - 1], bounds[top]
        if not (second < first or (second == first and number[two] < number[one])):
            stack[top - 1], stack[top] = two, one
            bounds[top - 1], bounds[top] = second, first


@step
def comes_after(cost, row, other_cost, other_row):
    """Return whether a row comes after another: it costs more or, at the same cost, has the higher number."""
    return cost > other_cost or (cost == other_cost and row > other_row)
