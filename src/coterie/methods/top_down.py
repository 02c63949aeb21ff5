"""Top-down: Xu, Wang, Pei, Wang, Shi, Fu, "Utility-based anonymization using local recoding", 2006.

Section 4.2, Fig. 5: find two rows that are far apart by starting from a random row, going to the row furthest from
it, from there to the row furthest from that one, and so on for a few rounds. Each of the last two seeds a side; the
other rows come in random order, and each goes to the side "that leads to lower uncertainty penalty", with the side as
it has grown so far. The cut is made if at least one side has k rows, and sides of more than k rows are cut again.

Which penalty the assignment leads to. The paper defines a penalty for tables, the sum over all rows, and measures the
repair below by "the increase of penalty"; what an assignment leads to is a table too. So `compare="increase"`, the
default, takes the increase of the summed penalty, (|G| + 1) · NCP(G ∪ w) − |G| · NCP(G). Other readings are options:
`"enlarge"` is the growth of one row's penalty, NCP(G ∪ w) − NCP(G); `"side"` is NCP(G ∪ w) itself, the literal
"depends on NCP(G_u, w)", under which a side that has grown wide loses the rows inside it; `"seed"` is
NCP(seed ∪ w), after the sentence that rows are assigned "according to the two seed tuples". Under `"side"` the method
loses more than Mondrian on skewed data, contrary to the paper's results. `"enlarge"` may cut off one row at a time
and then takes the quadratic time that the paper warns of.

Then every group G of fewer than k rows either takes the k − |G| rows for which NCP(G ∪ rows) is least from one group
of more than 2k − |G| rows, or merges with its nearest group, whichever increases the penalty of the table less.

What the paper leaves open
    * One random order of all rows serves every part: its first row there is where the search for seeds begins, and the
      others follow in that order. Then the order in which parts are cut does not matter.
    * Ties: the furthest row is the lowest of several; a row that costs both sides the same goes to the one with
      fewer rows so far, then to that of the seed found first.
    * A part whose rows are all equal is not cut.
    * Groups are repaired in the order of their lowest rows, each until it has k rows. A merged group takes the
      place of the earlier one; of several equally near groups, the earliest is taken.
    * Rows to take are found greedily: one by one, the row that makes G cheapest, the lowest of several. Of equal
      rows, those that have been in their group longest go.
    * The nearest group is the one that increases the penalty least by merging, summed over the rows of both. If taking
      and merging increase it equally, rows are taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from coterie.arrays import Int32, Int64
from coterie.grouping.box_index import BoxIndex, build_box_index
from coterie.methods._method import PaperOptions, Run, method
from coterie.methods._sides import COMPARE, Compare, rule_number
from coterie.table.grouping import Grouping, by_label
from coterie.table.table import Table

if TYPE_CHECKING:
    from coterie.kernels.methods.top_down_repair import Chains

# Rows dealt out, and groups repaired, between two checks for cancellation.
_ROWS = 1 << 21
_GROUPS = 1 << 13


class TopDownOptions(PaperOptions):
    """Options of `top-down`."""

    seed_rounds: int = Field(
        3,
        ge=1,
        description="Number of steps, each to the row furthest from the last, in the search for two far-apart rows.",
    )
    compare: Compare = COMPARE


@method("top-down", paper="Xu et al. 2006", recoding="local", options=TopDownOptions)
def top_down(table: Table, k: int, options: TopDownOptions, run: Run) -> Grouping:
    """Cut the table in two around rows that are far apart, repeatedly, and repair groups that are too small."""
    grouping = Grouping.of(table.codes, _cut(table, k, options, run))
    if grouping.sizes.min(initial=k) >= k:
        return grouping
    return Grouping.of(table.codes, _repair(table, grouping, k, run))


def _cut(table: Table, k: int, options: TopDownOptions, run: Run) -> Int32:
    """Return row → part, before the repair."""
    from coterie.kernels.methods.top_down import Cutting, cut

    n = table.rows
    rows = run.rng().permutation(n).astype(np.int32)
    points = np.ascontiguousarray(table.codes[rows])
    labels = np.full(n, -1, dtype=np.int32)
    starts = np.zeros(n + 1, dtype=np.int64)
    ends = np.full(n + 1, n, dtype=np.int64)
    cutting = Cutting(k, options.seed_rounds, rule_number(options.compare), starts, ends)
    waiting = 1
    while waiting:
        run.checkpoint()
        waiting = cut(table.costs, points, rows, cutting, waiting, labels, _ROWS)
        run.progress("cutting", n - int((ends - starts)[:waiting].sum()), n)
    return labels


def _repair(table: Table, grouping: Grouping, k: int, run: Run) -> Int32:
    """Return row → group, none of fewer than k rows."""
    from coterie.kernels.methods.top_down_repair import Donors, chain_labels, fill_donors, repair

    order = by_label(grouping.labels).astype(np.int32)
    start = np.concatenate([[0], np.cumsum(grouping.sizes)])
    index = build_box_index(table.costs, lo=grouping.lo, hi=grouping.hi, sizes=grouping.sizes, lowest=order[start[:-1]])
    chains = _chains(table, order, start, index)
    shape = index.nodes.node_lo.shape
    low, high = np.zeros(shape, dtype=np.int32), np.zeros(shape, dtype=np.int32)
    donors = Donors(low, high, np.zeros(shape[0], dtype=np.int64))
    fill_donors(index.nodes, donors, k)
    for first in range(0, grouping.groups, _GROUPS):
        run.checkpoint()
        slots = index.slot[first : first + _GROUPS]
        repair(index.nodes, donors, chains, table.costs, slots, k)
        run.progress("repairing", min(first + _GROUPS, grouping.groups), grouping.groups)
    labels = np.empty(table.rows, dtype=np.int32)
    chain_labels(chains, index.nodes.size, labels)
    return labels


def _chains(table: Table, order: Int32, start: Int64, index: BoxIndex) -> Chains:
    """Return the rows of each group in ascending order, as chains; group g has order[start[g]:start[g + 1]]."""
    from coterie.kernels.methods.top_down_repair import Chains

    after = np.arange(1, table.rows + 1, dtype=np.int32)
    after[start[1:] - 1] = -1
    return Chains(
        codes=np.ascontiguousarray(table.codes[order]),
        row=order,
        first=start[:-1][index.group].astype(np.int32),
        last=(start[1:] - 1)[index.group].astype(np.int32),
        after=after,
    )
