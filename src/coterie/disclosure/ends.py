"""What tight intervals disclose: minimality, and downcoding.

A method that minimizes the loss publishes tight intervals: both ends of an interval are values of rows
in its class. So an attacker who knows the method knows that each class has these values, though not in which rows, and
can rule out every original without them (Wong, Fu, Wang, Pei 2007; Cohen, Attacks on Deidentification's Defenses,
2022). Of s rows, at least two cells are known up to the row; in small classes that is a large share. Hierarchy labels
are not tight: a column with a hierarchy, such as `{ intervals = [5, 10] }`, does not have this weakness.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from coterie.disclosure.order import published_bounds
from coterie.values.notation import published_classes


class TightEnds(NamedTuple):
    """What the ends of a column's intervals disclose."""

    column: str
    known: float
    """share of cells whose value is known to be in their class, though not in which of its rows"""
    exact: float
    """share of cells that are published as one value"""


def tight_ends(table: pa.Table, *, quasi: Sequence[str], but: Sequence[str] = ()) -> tuple[TightEnds, ...]:
    """Count the cells that tight intervals disclose, up to the row.

    Args:
        table: The published table.
        quasi: Its quasi-identifiers.
        but: Those published as hierarchy labels, whose ends need not be values of rows.
    """
    of_row, sizes = published_classes(table, quasi)
    first = np.zeros(len(sizes), dtype=np.int64)
    first[of_row[::-1]] = np.arange(len(of_row) - 1, -1, -1)
    found = []
    for name in quasi:
        bounds = None if name in but or not len(of_row) else published_bounds(table, name)
        if bounds is None:
            continue
        exact = bounds.low[first] == bounds.high[first]
        # A suppressed cell has the widest bounds of all, and is not tight.
        wide = (bounds.low[first] == 0) & (bounds.high[first] == bounds.high.max())
        known = np.where(exact, sizes, np.where(wide, 0, np.minimum(sizes, 2)))
        total = int(sizes.sum())
        found.append(TightEnds(name, float(known.sum()) / total, float(sizes[exact].sum()) / total))
    return tuple(found)
