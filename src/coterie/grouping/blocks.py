"""Cut a table into blocks of similar rows, to be grouped independently.

A cut costs the loss of the groups that it cuts through. Boxes grown from some rows of the whole table show where groups
will lie; each cut is placed where the fewest of them lie on both sides, for what it contributes to blocks of the size
asked for. The nodes of the index would be no substitute: it cuts where boxes cost most, which with flat categories is
where groups often straddle.

Places of k equal rows are groups that cost nothing wherever they are. Their rows do not count towards the size of a
block: otherwise a block could be full of them, with hardly a neighbour for any other row. Equal rows are always in the
same block. The blocks depend on the table, k, their size and the boxes, never on threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coterie.arrays import Float64, Int32, Int64
from coterie.grouping.index import Index
from coterie.table.grouping import by_label

if TYPE_CHECKING:
    from coterie.table.table import Table

ROWS = 2**21
"""the maximum number of rows of a block, unless they cannot be split into blocks of 4k rows"""
FREE_ROWS = 2**15
"""blocks of more rows are cut as well where hardly a group straddles: that takes less time, and loses less"""
FREE = 0.01
"""share of the boxes that straddle such a cut, at most, per bit that it gains"""
SMALLEST = 8  # blocks are not made smaller than the largest size by more than this factor, if that can be avoided
LEAST = 4  # rows of a block that count, in multiples of k


class Boxes(NamedTuple):
    """Boxes like those of the groups to come, a fair sample of them."""

    lo: Int32
    hi: Int32


def counted_rows(index: Index, *, k: int) -> Int64:
    """Return place → rows that count towards the size of a block."""
    rows = index.nodes.point_free.astype(np.int64)
    return np.where(rows < k, rows, 0)


def cut_into_blocks(index: Index, boxes: Boxes, *, k: int, rows: int = ROWS) -> list[Int32]:
    """Return the row numbers of each block, ascending; together all rows of the index, all of them free."""
    points, counted = index.nodes.points, counted_rows(index, k=k)
    block_of_place = np.zeros(len(points), dtype=np.int32)
    blocks = 0
    waiting = [(np.arange(len(points)), np.arange(len(boxes.lo)))]
    while waiting:
        places, inside = waiting.pop()
        near = Boxes(boxes.lo[inside], boxes.hi[inside])
        found = _free_or_needed_cut(points, places, counted[places], near, k=k, rows=rows)
        if found is None:
            block_of_place[places] = blocks
            blocks += 1
            continue
        attribute, code = found
        below = points[places, attribute] <= code
        # A box that straddles counts on both sides: its rows are still to be kept together there.
        left, right = boxes.lo[inside, attribute] <= code, boxes.hi[inside, attribute] > code
        waiting += [(places[~below], inside[right]), (places[below], inside[left])]
    block_of_row = block_of_place[index.nodes.position]
    ends = np.cumsum(np.bincount(block_of_row, minlength=blocks))
    return np.split(by_label(block_of_row).astype(np.int32), ends[:-1])


def _free_or_needed_cut(
    points: Int32, places: Int64, counted: Int64, boxes: Boxes, *, k: int, rows: int
) -> tuple[int, int] | None:
    """Return the attribute to cut and the last code of the left side; None for a block."""
    held = counted.sum()
    if min(held, rows) > FREE_ROWS:
        found = _best_cut(points, places, counted, boxes, k=k, most=FREE_ROWS)
        if found is not None and found[0] <= FREE * len(boxes.lo):
            return found[1:]
    found = _best_cut(points, places, counted, boxes, k=k, most=rows) if held > rows else None
    return None if found is None else found[1:]


def _best_cut(
    points: Int32, places: Int64, counted: Int64, boxes: Boxes, *, k: int, most: int
) -> tuple[float, int, int] | None:
    """Return the best score, the attribute to cut and the last code of the left side, if there is any cut."""
    for least in (max(LEAST * k, most / SMALLEST), LEAST * k):
        cuts = []
        for j in range(points.shape[1]):
            sides = Boxes(boxes.lo[:, j], boxes.hi[:, j])
            found = _cut_of(points[places, j], counted, sides, least=least, most=most)
            if found is not None:
                cuts.append((found[1], j, found[0]))
        if cuts:
            return min(cuts)
    return None


def _cut_of(values: Int32, counted: Int64, boxes: Boxes, *, least: float, most: int) -> tuple[int, float] | None:
    """Return the best cut of one attribute and its score: straddling boxes per bit that it brings nearer to the aim."""
    low, high = int(values.min()), int(values.max())
    if low == high:
        return None
    width = high - low + 1
    rows = np.bincount(values - low, weights=counted, minlength=width).astype(np.float64)
    below, total = np.cumsum(rows, dtype=np.float64)[:-1], float(counted.sum())
    begin, end = (np.bincount(np.clip(side - low, 0, width - 1), minlength=width) for side in boxes)
    across = np.cumsum(begin - end)[:-1]
    fine = np.flatnonzero((rows[:-1] > 0) & (np.minimum(below, total - below) >= least))
    if not len(fine):
        return None
    one, other = below[fine], total - below[fine]
    # Bits beyond the aim bring nothing: slivers are cheap to cut off, but leave nearly all cuts still to be made.
    gained = _missing_bits(np.array([total]), most) - _missing_bits(one, most) - _missing_bits(other, most)
    scores = (across[fine] + 1.0) / (gained / total)  # one more, as no cut is free
    best = int(np.argmin(scores))
    return low + int(fine[best]), float(scores[best])


def _missing_bits(rows: Float64, most: int) -> Float64:
    """Return the bits by which rows must still be separated until they are blocks of this size, over all rows."""
    bits: Float64 = rows * np.log2(np.maximum(rows / most, 1.0))
    return bits


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
