"""Cut a table into blocks of similar rows, to be grouped independently.

Blocks are nodes of the index: rows that are close to each other in terms of cost. Every block has at least 2k
rows, so it can be grouped on its own. The blocks depend on the table, k and their size, never on threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coterie.arrays import Int32
from coterie.grouping.index import Index

if TYPE_CHECKING:
    from coterie.table.table import Table

ROWS = 2**21
"""the maximum number of rows of a block, unless they cannot be split into blocks of 2k rows"""


def cut_into_blocks(index: Index, *, k: int, rows: int = ROWS) -> list[Int32]:
    """Return the row numbers of each block, ascending; together all rows of the index, all of them free."""
    nodes = index.nodes
    found: list[Int32] = []
    waiting = [0]
    while waiting:
        node = waiting.pop()
        one = int(nodes.left[node])
        too_many = nodes.free[node] > rows and one >= 0
        if too_many and min(nodes.free[one], nodes.free[one + 1]) >= 2 * k:
            waiting += [one + 1, one]
            continue
        positions = slice(nodes.row_start[nodes.start[node]], nodes.row_start[nodes.end[node]])
        found.append(np.sort(nodes.rows[positions]))
    return found


def rows_of(table: Table, rows: Int32) -> Table:
    """Return the table of some rows. Domains stay whole, so that costs are the same in every block."""
    from coterie.table.table import Table

    sensitive = table.sensitive_codes[rows] if len(table.sensitive) else table.sensitive_codes
    return Table(
        np.ascontiguousarray(table.codes[rows]),
        table.domains,
        np.ascontiguousarray(sensitive),
        table.sensitive,
        table.leaf_counts,
        sensitive_totals=table.sensitive_totals,
    )
