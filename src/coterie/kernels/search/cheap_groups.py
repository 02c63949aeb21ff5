"""List small groups that lose little more than the prices of their rows."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from coterie.kernels import loop
from coterie.kernels.search.costs import box_cost

# What groups may hold.
#   counts: place → how many rows it has to give
#   price: place → price of one of its rows
#   rank: place → its place in the order of falling prices
Offered = namedtuple("Offered", "counts price rank")

# Which groups to list: of `least` … `most` rows, with a loss of at most `limit` above their rows' prices, and no more
# than `each` of the same first place.
Asked = namedtuple("Asked", "least most limit each")

# The groups found.
#   members: [group, most] places, −1 behind the last
#   losses: group → loss of all its rows
Listed = namedtuple("Listed", "members losses")


# Room for the group at hand, one entry for each of its rows.
#   box: [low and high, rows, attribute]
#   at: the entry of the list that is tried next, the place chosen, how often it was chosen
#   paid: prices so far
Room = namedtuple("Room", "box at paid")


def list_cheap_groups(points, costs, near, offered, asked, first, last):
    """List cheap groups of near rows whose first place in the order of prices is one of first … last − 1.

    All others of a group are among the places near the first one, which has the widest view: rows far from all
    others have the highest prices. So every group is listed once.
    """
    most = (last - first) * asked.each
    listed = Listed(np.empty((most, asked.most), dtype=np.int32), np.empty(most))
    box = np.empty((2, asked.most + 1, points.shape[1]), dtype=np.int32)
    at = np.zeros((3, asked.most + 1), dtype=np.int64)
    count = np.zeros(1, dtype=np.int64)
    room = Room(box, at, np.zeros(asked.most + 1))
    _list_cheap_groups(points, costs, near, offered, asked, first, last, listed, room, count)
    # Copies: there was room for many more.
    return Listed(listed.members[: count[0]].copy(), listed.losses[: count[0]].copy())


@loop
def _list_cheap_groups(points, costs, near, offered, asked, first, last, listed, room, count):
    at, paid = room.at, room.paid
    lo, hi = room.box[0], room.box[1]
    attributes = points.shape[1]
    found = 0
    for place in range(first, last):
        if offered.counts[place] == 0:
            continue
        top = offered.price[place]
        of_first = 0
        for j in range(attributes):
            lo[1, j] = points[place, j]
            hi[1, j] = points[place, j]
        at[1, 1], at[2, 1], paid[1] = place, 1, top
        at[0, 1] = 0
        size = 1
        while size >= 1:
            entry = at[0, size]
            if entry >= near.counts[place] or of_first >= asked.each:
                size -= 1
                continue
            at[0, size] += 1
            p = near.positions[place, entry]
            times = at[2, size] + 1 if at[1, size] == p else 1
            if times > offered.counts[p] or offered.rank[p] < offered.rank[place]:
                continue
            grown = size + 1
            for j in range(attributes):
                lo[grown, j] = min(lo[size, j], points[p, j])
                hi[grown, j] = max(hi[size, j], points[p, j])
            cost = box_cost(costs, lo[grown], hi[grown])
            paid[grown] = paid[size] + offered.price[p]
            # The best that further rows can do: none has a higher price than the first.
            whole = asked.most if top > cost else max(asked.least, grown)
            if whole * cost - paid[grown] - (whole - grown) * top > asked.limit:
                continue
            at[1, grown], at[2, grown] = p, times
            if grown >= asked.least and grown * cost - paid[grown] <= asked.limit:
                for i in range(asked.most):
                    listed.members[found, i] = at[1, i + 1] if i < grown else -1
                listed.losses[found] = grown * cost
                found += 1
                of_first += 1
            if grown < asked.most:
                at[0, grown] = entry
                size = grown
    count[0] = found
