"""k-members the slow and obvious way. NumPy for the same random draws only. Attributes as in `naive_costs.py`.

Readings other than ours: `together` treats equal rows as one point, as classes of identical rows elsewhere are;
near="seed" adds the row nearest to the cluster's first row; rest="last" puts all left-over rows into one cluster.
"""

import numpy as np
from oracles.naive_index import Rows


def seed_order(table, k, seeding, seed):
    """All rows in the order in which they may become seeds; left-over rows are placed in this order too."""
    n = len(table.rows)
    if seeding == "dense-first":
        return sorted(range(n), key=lambda row: (table.neighbour_cost(row, k - 1), row))
    return np.random.default_rng(seed).permutation(n).tolist()


def kmembers(
    rows, attributes, k, *, seeding="dense-first", loss="ncp", leaf_counts="present", seed=0,
    together=False, near="cluster", rest="each",
):  # fmt: skip
    """Groups as sorted lists of row numbers, in the order of their first rows."""
    table = Rows(rows, attributes, measure=loss, leaf_counts=leaf_counts)
    order = seed_order(table, k, seeding, seed)
    groups = []
    last = None

    def take(row):
        taken = [other for other in sorted(table.free) if rows[other] == rows[row]] if together else [row]
        table.free.difference_update(taken)
        return taken

    while len(table.free) >= k:
        if seeding == "furthest" and last is not None:
            last = table.furthest(rows[last])
        else:
            last = next(row for row in order if row in table.free)
        group = take(last)
        while len(group) < k:
            held = group if near == "cluster" else [last]
            group += take(table.cheapest([rows[row] for row in held]))
        groups.append(group)
    for row in order:
        if row in table.free:
            place(table, groups if rest == "each" else groups[-1:], row)
    return sorted(sorted(group) for group in groups)


def place(table, groups, row):
    """Put a row where the loss of the whole group rises least; of equal groups, into the one that was made first."""

    def loss(members):
        return len(members) * table.box_cost([table.rows[member] for member in members])

    min(groups, key=lambda group: loss([*group, row]) - loss(group)).append(row)
