"""Verify rings from the published cells.

If rows are published one by one, there are no classes of k equal rows to count. The guarantee is different:

1. Each original row lies inside the boxes of at least k published rows, and each published box contains at least k
   original rows.
2. Moreover, these pairs of rows form a graph that consists of k one-to-one assignments of all rows to all boxes.
   So no pair can be ruled out because the others would no longer fit, and a random choice among the k assignments
   makes all k published rows equally likely for each original row.
3. The published assignment is within that graph: every row lies inside its published box.

This module receives the rings of the rows, their values as numbers, the published table, and the published box of
each row. It reads the boxes and counts independently; no table can show that the choice was random and is secret.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import Bool, Int32, Int64
from coterie.files.csv_out import text_cells
from coterie.verification.ancestors import cell_texts
from coterie.verification.cells import MARK, ColumnCells, read_cells
from coterie.verification.readings import Shown, interval_ends, numbered, range_ends, read_both, set_members
from coterie.verification.verify import Check

if TYPE_CHECKING:
    from coterie.settings.config import Config

NAME = "k-anonymity by rows"


class RowCounts(NamedTuple):
    """The number of partners of rows and boxes within the ring."""

    holds: Int64
    """box → how many of its k rows lie inside it"""
    behind: Int64
    """place → how many of the k boxes for its row contain it"""
    stray: int
    """rows published with a box that is not for them, or that share a box with another row"""


def count_rows(codes: Int32, *, lo: Int32, hi: Int32, start: Int64, back: Int64, k: int) -> RowCounts:
    """Count the pairs of rows and boxes of some rings.

    Args:
        codes: [n, d] the rows' codes, ring after ring, in ring order.
        lo: [n, d] smallest codes of the boxes; box i is for the row at place i and the k − 1 after it in its ring.
        hi: [n, d] largest codes of the boxes.
        start: Ring → its first place; one more entry at the end.
        back: Place → how many places before it in the ring the published box of its row is; −1: nowhere.
        k: The number of rows that each box must contain.
    """
    count = len(codes)
    holds = np.full(count, k, dtype=np.int64)
    behind = np.full(count, k, dtype=np.int64)
    sizes = np.diff(start)
    first, size = np.repeat(start[:-1], sizes), np.repeat(sizes, sizes)
    place = np.arange(count) - first
    broken = np.flatnonzero(~_hold_all(codes, lo=lo, hi=hi, first=first, size=size, k=k))
    # A ring of fewer than k rows would count a row twice: the excess is subtracted everywhere.
    missing = np.maximum(k - size, 0)
    for step in range(k if len(broken) else 0):
        row = first[broken] + (place[broken] + step) % size[broken]
        outside = ((codes[row] < lo[broken]) | (codes[row] > hi[broken])).any(axis=1) & (step < size[broken])
        holds[broken[outside]] -= 1
        behind -= np.bincount(row[outside], minlength=count)
    taken = np.bincount(first + (place - back) % size, minlength=count)
    stray = int(np.count_nonzero((back < 0) | (back >= k))) + int(np.count_nonzero(taken != 1))
    return RowCounts(holds - missing, behind - missing, stray)


def _hold_all(codes: Int32, *, lo: Int32, hi: Int32, first: Int64, size: Int64, k: int) -> Bool:
    """Return box → whether it contains all k rows that it is for.

    Uses the smallest and largest codes of 1, 2, 4, … consecutive rows, and of k rows as two overlapping such runs.
    """
    place = np.arange(len(codes)) - first

    def after(steps: int) -> Int64:
        ahead: Int64 = first + (place + steps) % size
        return ahead

    low, high, width = codes, codes, 1
    while 2 * width <= k:
        low, high = np.minimum(low, low[after(width)]), np.maximum(high, high[after(width)])
        width *= 2
    rest = after(k - width)
    low, high = np.minimum(low, low[rest]), np.maximum(high, high[rest])
    held: Bool = np.all((lo <= low) & (high <= hi), axis=1)
    return held


def read_boxes(published: pa.Table, values: Mapping[str, pa.Array], config: Config) -> Int32:
    """Parse published cells as intervals of value numbers: [rows, 2 d] smallest, then largest.

    A cell that cannot be parsed is empty: its smallest number is above its largest.

    Args:
        published: The published rows.
        values: Quasi-identifier → its values in the order of their numbers; null stands for missing ones.
        config: Hierarchies and publishing styles.
    """
    lo = np.empty((published.num_rows, len(values)), dtype=np.int32)
    hi = np.empty_like(lo)
    for at, (name, own) in enumerate(values.items()):
        hierarchy = config.hierarchies.get(name)
        labelled = hierarchy is not None and config.publish.get(name) != "set"
        ends = [name] if name in published.column_names else [f"{name}_min", f"{name}_max"]
        cells = [read_cells(published.column(end), name=end) for end in ends]
        if hierarchy is not None and labelled:
            found = [_label_boxes(cells[0], own, hierarchy.form, name=name)]
        else:
            texts = text_cells(own).to_pylist()
            place = {text: number for number, text in enumerate(texts) if text is not None}
            read = range_ends if name in config.ordered else interval_ends
            found = [_text_boxes(each, place, texts, read=read, blank=len(ends) == 2) for each in cells]
        lo[:, at], hi[:, at] = found[0][cells[0].of_row, 0], found[-1][cells[-1].of_row, 1]
        if len(ends) == 2:
            lo[cells[0].missing != cells[1].missing, at] = len(own)
    return np.hstack([lo, hi])


def _text_boxes(
    cells: ColumnCells,
    place: Mapping[str, int],
    texts: Sequence[str | None],
    *,
    read: Callable[[str], tuple[str, str]],
    blank: bool,
) -> Int32:
    """Return distinct cell → interval of numbers, by the text of ends or members; `blank`: null means any value."""
    every, nothing = (0, len(texts) - 1), (1, 0)
    boxes = []
    for cell in text_cells(cells.values).to_pylist():
        alone, members = cell[1:] if cell.startswith("\\") else cell, set_members(cell)
        if cell == MARK:
            boxes.append(every)
            continue
        numbers = [place.get(part, -1) for part in members or ([alone] if alone in place else read(cell))]
        numbers = sorted(numbers) if members else numbers
        boxes.append((numbers[0], numbers[-1]) if min(numbers) >= 0 else nothing)
    missing = len(texts) - 1 if None in texts else -1
    boxes.append(every if blank else (missing, missing) if missing >= 0 else nothing)
    return np.array(boxes, dtype=np.int32)


def _label_boxes(cells: ColumnCells, own: pa.Array, form: object, *, name: str) -> Int32:
    """Return distinct cell → interval of numbers that contains all values below a label."""
    owned: list[str | None] = list(cell_texts(own.drop_null(), name=name))
    owned += [None] if own.null_count else []
    shown: list[Shown] = [*cell_texts(cells.values, name=name), None]
    own_read, read = read_both(owned, shown, form=form, kind="category", type_=own.type, name=name)
    numbers, boxes = numbered(own_read, read)
    # The first value that reaches up to a cell's lower end, and the last one that begins below its upper end.
    first = np.searchsorted(np.maximum.accumulate(numbers[:, 1]), boxes[:, 0], side="left")
    last = np.searchsorted(np.minimum.accumulate(numbers[::-1, 0])[::-1], boxes[:, 1], side="right") - 1
    return np.column_stack([first, last]).astype(np.int32)


class RowSums(NamedTuple):
    """The counts of some rings, which can be added up over all of them."""

    least: int
    """the fewest partners of a row or a box; k if all have k"""
    bad: int
    """rows that lie inside fewer than k boxes"""
    stray: int
    """as in `RowCounts`"""

    def joined(self, other: RowSums) -> RowSums:
        """Add the counts of other rings."""
        return RowSums(min(self.least, other.least), self.bad + other.bad, self.stray + other.stray)


def count_pairs(rows: Any, boxes: Int32, k: int) -> RowSums:  # noqa: ANN401 - plain arrays, whoever made them
    """Count the pairs of rows and boxes.

    Args:
        rows: `codes`, `start` and `back` as for `count_rows`, and `rank`: box → which of the rows it publishes.
        boxes: The rows' boxes as `read_boxes` returns them, by row number.
        k: The number of rows that each box must contain.
    """
    if len(boxes) != len(rows.rank):
        # Rows that are missing cannot be among the groups; nor can others.
        return RowSums(0, len(rows.rank), max(len(rows.rank), 1))
    lo, hi = (np.ascontiguousarray(ends) for ends in np.hsplit(boxes[rows.rank], 2))
    return summed(count_rows(rows.codes, lo=lo, hi=hi, start=rows.start, back=rows.back, k=k), k)


def summed(counts: RowCounts, k: int) -> RowSums:
    """Return the counts as three numbers."""
    least = k if len(counts.holds) == 0 else int(min(counts.holds.min(), counts.behind.min()))
    return RowSums(least, int(np.count_nonzero(counts.behind < k)), counts.stray)


def rows_check(sums: RowSums, *, k: int, alike: int | None) -> Check:
    """Check the guarantee of rings from the counts of all; at least k rows are alike if suppressed ones are shown."""
    found = 0 if sums.stray else max(min(sums.least, sums.least if alike is None else alike), 0)
    passed = found >= k
    return Check(NAME, k, found, passed, _text(sums, k, found=found, passed=passed))


def _text(sums: RowSums, k: int, *, found: int, passed: bool) -> str:
    if passed:
        return (
            f"Each original row could be any of {k:,} published rows, equally likely as long as the random assignment "
            f"stays secret, and each published row any of {k:,} originals. This is a guarantee about single rows: "
            "equivalence classes may be smaller, and this file alone cannot show it."
        )
    if sums.stray:
        return f"{k}-anonymity by rows is wanted, but {sums.stray:,} rows are published with boxes of other rows."
    return (
        f"{k}-anonymity by rows is wanted, but {sums.bad:,} original rows lie inside fewer than {k} published rows; "
        f"the least is {found:,}."
    )
