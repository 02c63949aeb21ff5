"""The index: a k-d tree over the distinct rows of a table that tracks which rows are still free.

For a group's box and a node's box, the cost of the smallest box that touches both is a lower bound for every row in
the node. Floating-point sums are monotone in each term, so the bound holds exactly and ties are found as ties.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from coterie.arrays import Float64, Int32, Int64
from coterie.errors import DataError
from coterie.table.grouping import by_label

if TYPE_CHECKING:
    from coterie.kernels.search.costs import CostArrays
    from coterie.kernels.search.rows_index import Nodes
    from coterie.table.table import Table


def build_tree(costs: CostArrays, points: Int32) -> tuple[Int32, ...]:
    """Build a tree over points, and refuse one that is too deep to search; see the kernel for what is returned."""
    from coterie.kernels.search.rows_index import build
    from coterie.kernels.search.walk import STACK

    *tree, depth = build(costs, points)
    if depth >= STACK - 2:
        raise DataError(
            f"{points.shape[1]} quasi-identifiers are more than the search supports.",
            hint="Publish fewer of them, or several tables.",
        )
    return tuple(tree)


def build_index(table: Table, costs: CostArrays | None = None) -> Index:
    """Build an index over all rows of a table, every row free. Costs are the table's unless others are given."""
    from coterie.kernels.search.rows_index import Nodes, fill

    costs = costs or table.costs
    distinct = table.distinct
    order, leaf, start, end, left, parent = build_tree(costs, distinct.codes)
    points = np.ascontiguousarray(distinct.codes[order])
    counts = distinct.counts[order]
    row_start = np.zeros(len(order) + 1, dtype=np.int64)
    np.cumsum(counts, out=row_start[1:])
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    position = place[distinct.of_row]
    shape = (len(start), table.attributes)
    nodes = Nodes(
        points=points,
        leaf=leaf,
        start=start,
        end=end,
        left=left,
        parent=parent,
        lo=np.zeros(shape, dtype=np.int32),
        hi=np.zeros(shape, dtype=np.int32),
        free=np.zeros(len(start), dtype=np.int32),
        lowest=np.zeros(len(start), dtype=np.int32),
        point_free=counts.astype(np.int32),
        row_start=row_start,
        rows=by_label(position).astype(np.int32),
        cursor=row_start[:-1].copy(),
        position=position,
        taken=np.zeros(table.rows, dtype=np.bool_),
    )
    fill(nodes)
    return Index(nodes, costs)


class Index:
    """Rows of a table, some of them free, searched by their cost to a box."""

    def __init__(self, nodes: Nodes, costs: CostArrays) -> None:
        from coterie.kernels.search.costs import new_reach
        from coterie.kernels.search.walk import new_walk

        self.nodes = nodes
        self.costs = costs
        self._walk = new_walk()
        self._reach = new_reach(costs)

    @property
    def free(self) -> int:
        """The number of free rows."""
        return int(self.nodes.free[0])

    def take(self, row: int) -> None:
        """Mark a free row as used."""
        from coterie.kernels.search.rows_index import take

        if self.nodes.taken[row]:
            raise ValueError(f"row {row} is not free")
        take(self.nodes, row)

    def reset(self) -> None:
        """Make all rows free again."""
        from coterie.kernels.search.rows_index import fill

        fill(self.nodes)

    def cheapest(self, lo: Int32, hi: Int32) -> int:
        """Return the free row that makes the box cheapest when it joins, the lowest on ties; −1 if none is free."""
        from coterie.kernels.search.costs import Aimed, aim_all
        from coterie.kernels.search.rows_index import cheapest

        aimed = Aimed(self.costs, self._reach, lo, hi)
        aim_all(aimed)
        return int(cheapest(self.nodes, aimed, self._walk))

    def furthest(self, point: Int32) -> int:
        """Return the free row with the highest pair cost to this point, the lowest on ties; −1 if none is free."""
        from coterie.kernels.search.costs import Aimed
        from coterie.kernels.search.neighbours import furthest

        return int(furthest(self.nodes, Aimed(self.costs, self._reach, point, point), self._walk))

    def nearest(self, point: Int32, count: int) -> Int32:
        """Return the free rows with the lowest pair costs to this point, nearest first; ties go to the lowest row.

        There are `count` of them, or as many as are free.
        """
        from coterie.kernels.search.costs import Aimed
        from coterie.kernels.search.heap import new_heap
        from coterie.kernels.search.neighbours import nearest

        near = new_heap(max(count, 0))
        found: int = nearest(self.nodes, Aimed(self.costs, self._reach, point, point), count, near, self._walk)
        rows: Int32 = near.ids[:found]
        return rows

    def neighbour_costs_of(self, rows: Int64, others: int) -> Float64:
        """Compute `neighbour_costs` for some rows only, such as a sample of a large table."""
        from coterie.kernels.search.neighbours import least_floors, neighbour_costs

        size = len(self.nodes.points)
        floor = np.zeros(size)
        least = least_floors(self.nodes, floor)
        places, of_row = np.unique(self.nodes.position[rows].astype(np.int64), return_inverse=True)
        found = [neighbour_costs(self.nodes, self.costs, others, floor, least, at, at + 1) for at in places]
        return np.concatenate(found)[of_row] if found else np.zeros(0)

    def neighbour_costs(self, others: int, *, threads: int = 1, floor: Float64 | None = None) -> Float64:
        """Return row → pair cost with its `others`-th nearest free row, not counting itself.

        A group with the row has `others` more, so no such group costs the row less.

        Args:
            others: The number of other rows in the group.
            threads: Number of threads; the result does not depend on it.
            floor: Row → a known lower bound on the cost of a group with it (the same for equal rows): a
                neighbour then counts as no nearer than its floor.
        """
        from coterie.kernels.search.neighbours import least_floors, neighbour_costs

        size = len(self.nodes.points)
        at_position = np.zeros(size)
        if floor is not None:
            at_position[self.nodes.position] = floor
        least = least_floors(self.nodes, at_position)
        # Pieces are small enough to even out, and fixed in number: the result does not depend on the threads.
        cuts = np.linspace(0, size, min(64, size) + 1).astype(np.int64)

        def piece(i: int) -> Float64:
            found: Float64 = neighbour_costs(self.nodes, self.costs, others, at_position, least, cuts[i], cuts[i + 1])
            return found

        with ThreadPoolExecutor(max(threads, 1)) as pool:
            by_position = np.concatenate(list(pool.map(piece, range(len(cuts) - 1))))
        return by_position[self.nodes.position]
