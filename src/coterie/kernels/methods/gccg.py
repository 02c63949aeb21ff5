"""The kernel of GCCG: the first free row and its nearest, class after class."""

from __future__ import annotations

from collections import namedtuple

from coterie.kernels import loop
from coterie.kernels.search.costs import Aimed, new_reach
from coterie.kernels.search.heap import new_heap
from coterie.kernels.search.neighbours import nearest
from coterie.kernels.search.rows_index import take
from coterie.kernels.search.walk import new_walk

# Arrays that the search for the nearest rows writes to.
Room = namedtuple("Room", "reach near walk")


def gather(nodes, costs, codes, k, labels, first, last):
    """Form the classes first … last − 1: each has the lowest free row as centre and the k − 1 nearest free rows."""
    room = Room(new_reach(costs), new_heap(k), new_walk())
    _gather(nodes, costs, codes, k, labels, first, last, room)


@loop
def _gather(nodes, costs, codes, k, labels, first, last, room):
    near = room.near
    for g in range(first, last):
        centre = nodes.lowest[0]
        take(nodes, centre)
        labels[centre] = g
        found = nearest(nodes, Aimed(costs, room.reach, codes[centre], codes[centre]), k - 1, near, room.walk)
        for i in range(found):
            take(nodes, near.ids[i])
            labels[near.ids[i]] = g
