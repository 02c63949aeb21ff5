"""Bottom-up: Xu, Wang, Pei, Wang, Shi, Fu, "Utility-based anonymization using local recoding", 2006.

Section 4.1, Fig. 4: each row starts as a group. In rounds, every group G of fewer than k rows is merged with the
group G' for which the penalty NCP(G ∪ G'), weighted and summed over the rows of both, is least; then every group of
2k rows or more is split into ⌊|G| / k⌋ groups of at least k rows. It ends when no group is smaller than k. Then all
groups have k … 2k − 1 rows.

Deviations
    * Identical rows are one group from the start, split if they are 2k or more: the paper's first round would
      join them at no penalty.

What the paper leaves open: in a round, the groups that are too small at its beginning take turns in the order of
their lowest rows. A group merged in this round has no turn of its own any more, but can still absorb
others. Among equally good groups, the one with the lowest row wins.

How to split: u is the row furthest from the group's lowest row, by the penalty of the pair, and v the row furthest
from u. The rows are ordered by NCP({row, u}) − NCP({row, v}) and cut where the penalty of both parts is least, among
the cuts that leave ⌊|G| / k⌋ groups of k possible; parts of 2k rows or more are split again. Equal rows are adjacent
in that order, and so stay together. Rows that cost nothing together are split by row number.
"""

from __future__ import annotations

import numpy as np

from coterie.arrays import Int32, Int64
from coterie.grouping.box_index import build_box_index
from coterie.methods._method import PaperOptions, Run, method
from coterie.table.grouping import Grouping, by_label, tight_boxes
from coterie.table.table import Table

# Groups merged between two checks for cancellation.
PIECE = 1 << 15


class BottomUpOptions(PaperOptions):
    """`bottom-up` has no options."""


@method("bottom-up", paper="Xu, Wang, Pei, Wang, Shi, Fu 2006", recoding="local", options=BottomUpOptions)
def bottom_up(table: Table, k: int, options: BottomUpOptions, run: Run) -> Grouping:
    """Merge every group that is too small with the one it costs least to join, round by round."""
    labels, groups = _split(table, table.distinct.of_row, len(table.distinct), k)
    while True:
        sizes = np.bincount(labels, minlength=groups)
        run.progress("merging groups", int(sizes[sizes >= k].sum()), table.rows)
        if sizes.min() >= k or groups == 1:
            return Grouping.of(table.codes, labels)
        merged = _merge(table, labels, sizes, k, run)
        labels, groups = _split(table, merged, groups, k)


def _merge(table: Table, labels: Int32, sizes: Int64, k: int, run: Run) -> Int32:
    """Do one round: return row → group, under the numbers of the absorbing groups."""
    from coterie.kernels.methods.bottom_up import merge_round

    lo, hi = tight_boxes(table.codes, labels, len(sizes))
    lowest = np.empty(len(sizes), dtype=np.int32)
    lowest[labels[::-1]] = np.arange(table.rows - 1, -1, -1, dtype=np.int32)  # the last one written is the first row
    index = build_box_index(table.costs, lo=lo, hi=hi, sizes=sizes, lowest=lowest)
    below = np.flatnonzero(sizes < k)
    small = index.slot[below[np.argsort(lowest[below], kind="stable")]]
    grown = np.zeros(len(sizes), dtype=np.bool_)
    into = np.arange(len(sizes), dtype=np.int32)
    for start in range(0, len(small), PIECE):
        run.checkpoint()
        merge_round(index.nodes, table.costs, small[start : start + PIECE], grown, into)
    merged: Int32 = index.group[into[index.slot[labels]]]
    return merged


def _split(table: Table, labels: Int32, groups: int, k: int) -> tuple[Int32, int]:
    """Split groups of 2k rows or more: return row → group, and the number of groups. Labels may skip numbers."""
    from coterie.kernels.methods.bottom_up import split_groups

    sizes = np.bincount(labels, minlength=groups)
    starts = np.concatenate([[0], np.cumsum(sizes[sizes > 0])]).astype(np.int64)
    rows = by_label(labels).astype(np.int32)
    result = np.empty(table.rows, dtype=np.int32)
    return result, int(split_groups(table.costs, table.codes, rows, starts, k, result))
