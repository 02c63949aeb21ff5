"""Pool several neighbouring groups at a time and part their rows anew: slower than `refine`, and finds more.

`refine` ends where no two groups can be parted better. Three or four can, often: a row leaves the first for the second,
which gives one to the third. Groups are taken one after the other, in an order and with neighbours chosen at random by
the seed, so that the result is the same on any number of threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coterie.arrays import Float64
from coterie.table.grouping import Grouping

if TYPE_CHECKING:
    from coterie.grouping.index import Index
    from coterie.kernels.improve.rebuild import Chains
    from coterie.methods._method import Run
    from coterie.table.table import Table

PARTIES = 4
TRIES = 8
CHOICES = 16
NEIGHBOURS = 8
AT_ONCE = 1024  # groups between two looks at the clock


def rebuild(
    table: Table, grouping: Grouping, *, k: int, run: Run, index: Index, scales: Float64, rounds: int
) -> Grouping:
    """A grouping of the same rows into as many groups of at least k rows, with a loss at most as high.

    Args:
        table: The rows.
        grouping: What to improve.
        k: The smallest group allowed.
        run: Seed and deadline.
        index: An index over the table's rows, all of them free.
        scales: Factors for the attributes' costs, all 1 first; see `refine.attribute_scales`.
        rounds: How often every group has its turn.
    """
    from coterie.kernels.improve.rebuild import Rebuilding
    from coterie.kernels.improve.rebuild import rebuild as some

    chains = _chains(table, grouping, index)
    rebuilding = Rebuilding(k, scales, TRIES, CHOICES, NEIGHBOURS, PARTIES * (2 * k + 32))
    rng = run.rng()
    for turn in range(rounds):
        draws = rng.integers(0, 2**63, size=1, dtype=np.uint64)
        order = rng.permutation(grouping.groups).astype(np.int32)
        helped = 0
        for start in range(0, len(order), AT_ONCE):
            run.checkpoint()
            if run.out_of_time:
                break
            asked = order[start : start + AT_ONCE]
            helped += some(index.nodes, index.costs, chains, rebuilding, PARTIES, asked, draws)
        run.progress("rebuild", turn + 1, rounds)
        if not helped:
            break
    return Grouping.of(table.codes, chains.labels)


def _chains(table: Table, grouping: Grouping, index: Index) -> Chains:
    """The groups as linked lists of rows, ascending."""
    from coterie.kernels.improve.rebuild import Chains
    from coterie.kernels.search.costs import box_costs

    labels = grouping.labels.astype(np.int32)
    order = np.argsort(labels, kind="stable").astype(np.int32)[np.count_nonzero(labels < 0) :]
    sizes = grouping.sizes.astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    follower = np.full(table.rows, -1, dtype=np.int32)
    follower[order[:-1]] = np.where(labels[order[:-1]] == labels[order[1:]], order[1:], -1)
    lo, hi = (np.ascontiguousarray(box.astype(np.int32)) for box in (grouping.lo, grouping.hi))
    costs = box_costs(index.costs, lo, hi)
    return Chains(order[starts], follower, labels.copy(), lo.copy(), hi.copy(), sizes, costs)
