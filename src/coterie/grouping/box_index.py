"""The index over groups: a tree over their boxes, for methods that merge groups with their nearest ones.

See `kernels/search/groups_index.py` for the pruning. Methods pass its nodes to their kernels and rebuild it when
most of its slots are empty, or when groups have been split.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coterie.arrays import Int32, Int64
from coterie.grouping.index import build_tree

if TYPE_CHECKING:
    from coterie.kernels.search.costs import CostArrays
    from coterie.kernels.search.groups_index import BoxNodes


class BoxIndex(NamedTuple):
    """A tree over groups, and the group in each of its slots."""

    nodes: BoxNodes
    group: Int32
    """slot → group, as numbered when the tree was built"""
    slot: Int32
    """group → slot"""


def build_box_index(
    costs: CostArrays,
    *,
    lo: Int32,
    hi: Int32,
    sizes: Int64 | Int32,
    lowest: Int64 | Int32,
) -> BoxIndex:
    """Build a tree over groups with the boxes [lo, hi], these sizes and lowest row numbers. The arrays are copied."""
    from coterie.kernels.search.costs import box_costs
    from coterie.kernels.search.groups_index import BoxNodes, fill

    # The tree orders boxes by their centres; if many coincide, it just halves them.
    middle = np.ascontiguousarray((lo + hi) // 2)
    group, leaf, start, end, left, parent = build_tree(costs, middle)
    slot = np.empty(len(group), dtype=np.int32)
    slot[group] = np.arange(len(group), dtype=np.int32)
    low, high = np.ascontiguousarray(lo[group]), np.ascontiguousarray(hi[group])
    count, d = len(start), lo.shape[1]
    nodes = BoxNodes(
        lo=low,
        hi=high,
        size=sizes[group].astype(np.int64),
        cost=box_costs(costs, low, high),
        lowest=lowest[group].astype(np.int32),
        leaf=leaf,
        start=start,
        end=end,
        left=left,
        parent=parent,
        node_lo=np.zeros((count, d), dtype=np.int32),
        node_hi=np.zeros((count, d), dtype=np.int32),
        node_size=np.zeros(count, dtype=np.int64),
        node_least=np.zeros(count, dtype=np.float64),
        node_most=np.zeros(count, dtype=np.float64),
        node_lowest=np.zeros(count, dtype=np.int32),
        node_first=np.zeros(count, dtype=np.int32),
    )
    fill(nodes)
    return BoxIndex(nodes, group, slot)
