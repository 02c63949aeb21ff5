"""Parse published cells into intervals of codes.

Ends that are values of the column are found directly. Others (in a release made elsewhere) are compared as numbers or
dates, and mean the column's values between them. Members of a set that the column does not have are ignored.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from coterie.arrays import Bool, Int32
from coterie.errors import DataError
from coterie.publishing.labels import root_text, style_of
from coterie.settings.fields.hierarchies import Publish as Style
from coterie.values.axis import Axis, axis_of
from coterie.values.notation import Cell, CellText, Script, distinct_texts, read_cell, read_set, value_texts

if TYPE_CHECKING:
    from coterie.hierarchies.tree import Tree
    from coterie.table.domain import Domain

Interval: TypeAlias = tuple[int, int]
_UNREAD = (-1, -1)


class ReadBoxes(NamedTuple):
    """The parsed cells of one published column. A cell that could not be parsed may be any value."""

    lo: Int32
    """row → smallest code"""
    hi: Int32
    """row → largest code"""
    node: Int32
    """row → the tree node whose label the cell is, −1 if it is none"""
    listed: Int32
    """row → how many values the cell lists as a set, 0 if it is none"""
    unread: Bool
    """row → whether the cell could not be read, or contains no value of the column"""


class CellReader:
    """The meaning of one column's published cells in terms of its original values."""

    def __init__(self, domain: Domain, style: Style) -> None:
        self.domain = domain
        labelled = style == "ancestor" and domain.labelled
        self.script: Script = "order" if domain.order else "label" if labelled else "set"
        if domain.kind == "number" and not domain.order:
            self.script = "interval"
        self._root = root_text(domain, style)
        self._code = {text: code for code, text in enumerate(value_texts(domain).to_pylist()) if text is not None}
        self._nodes = label_nodes(domain.tree) if labelled and domain.tree is not None else {}

    def read(self, text: CellText) -> Cell:
        """Parse a cell. A text that the column does not have may be a set that another tool wrote without spaces."""
        cell = read_cell(text, self.script, root=self._root)
        if self.script != "set" or cell.kind != "value" or cell.parts[0] in self._code:
            return cell
        members = read_set(str(text), loose=True)
        return cell if members is None else Cell("set", tuple(members))

    def members(self, cell: Cell) -> list[int]:
        """Return the codes of a set, ascending; empty if it is not a set, or no member is a value of the column."""
        known = {self._code[member] for member in cell.parts if member in self._code}
        return sorted(known) if cell.kind == "set" else []

    def centre(self, cell: Cell) -> float | None:
        """Return the distance from the smallest value of a number that is not a value of the column; else None."""
        if self.script != "interval" or cell.kind != "value" or self._axis.temporal or self._interval(cell)[0] >= 0:
            return None
        return self._axis.place(cell.parts[0])

    def boxes(self, cells: list[Cell]) -> ReadBoxes:
        """Return cell → the smallest and the largest code that it admits."""
        lo, hi = np.asarray([self._interval(cell) for cell in cells], dtype=np.int32).reshape(-1, 2).T
        unread = lo < 0
        lo[unread], hi[unread] = 0, self.domain.size - 1
        node = np.asarray([-1 if bad else self._node(cell) for cell, bad in zip(cells, unread, strict=True)])
        listed = np.asarray([len(self.members(cell)) for cell in cells])
        return ReadBoxes(lo, hi, node.astype(np.int32), listed.astype(np.int32), unread)

    def _node(self, cell: Cell) -> int:
        """Return the tree node whose label a cell is; −1 for values, sets and numbers."""
        if cell.kind == "suppressed":
            return -1 if self.domain.tree is None else 0
        return self._nodes.get(cell.parts[0], -1) if cell.kind == "label" else -1

    def _interval(self, cell: Cell) -> Interval:
        if cell.kind == "missing":
            return self.domain.missing, self.domain.missing
        if cell.kind == "suppressed":
            return 0, self.domain.size - 1
        if cell.kind == "set":
            members = self.members(cell)
            return (members[0], members[-1]) if members else _UNREAD
        if self.domain.kind == "number" and cell.parts:
            return self._between(cell.parts[0], cell.parts[-1])
        known = self._nodes.get(cell.parts[0]) if cell.parts else None
        if known is not None and self.domain.tree is not None:
            return int(self.domain.tree.first[known]), int(self.domain.tree.last[known])
        code = self._code.get(cell.parts[0], -1) if len(cell.parts) == 1 else -1
        return code, code

    def _between(self, low: str, high: str) -> Interval:
        """Return the codes of the values between two texts."""
        first, last = self._code.get(low), self._code.get(high)
        first = self._place(low, "left") if first is None else first
        last = self._place(high, "right") - 1 if last is None else last
        return (first, last) if 0 <= first <= last else _UNREAD

    def _place(self, text: str, side: Literal["left", "right"]) -> int:
        """Count the values below a number or date; −1 if the text is neither."""
        place, numbers = self._axis.place(text), self.domain.numbers
        if place is None or numbers is None:
            return -1
        present = numbers if self.domain.missing < 0 else numbers[:-1]
        return int(np.searchsorted(present, place, side=side))

    @cached_property
    def _axis(self) -> Axis:
        return axis_of(self.domain)


def label_nodes(tree: Tree) -> dict[str, int]:
    """Return inner node's label → the node; of two nodes with one label the upper one, which surely has the value."""
    inner = np.setdiff1d(np.arange(tree.nodes), tree.leaf_node)
    deepest_first = inner[np.argsort(-tree.depth[inner], kind="stable")]
    return {tree.labels[node]: int(node) for node in deepest_first}


def read_boxes(
    column: pa.ChunkedArray,
    domain: Domain,
    *,
    upper: pa.ChunkedArray | None = None,
    style: Style | None = None,
) -> ReadBoxes:
    """Read a published column back into intervals of codes.

    Args:
        column: The published column; with `upper`, the column of lower bounds.
        domain: The values of the original column.
        upper: The column of upper bounds, if the column was published as bounds.
        style: How it was published, if not in the default style of its kind.

    Raises:
        DataError: The column has numbers that are not original values: a mean or median does not determine
            the interval it came from.
    """
    style = style or style_of(domain, {})
    if style in ("mean", "median"):
        raise _is_centre(domain, len(column))
    reader = CellReader(domain, style)
    of_row, texts, _ = distinct_texts(column, upper, name=domain.name)
    cells = [reader.read(text) for text in texts]
    boxes = reader.boxes(cells)
    centres = [at for at in np.flatnonzero(boxes.unread) if reader.centre(cells[at]) is not None]
    if centres:
        raise _is_centre(domain, int(np.isin(of_row, centres).sum()))
    lo, hi, node, listed = (each[of_row] for each in (boxes.lo, boxes.hi, boxes.node, boxes.listed))
    return ReadBoxes(lo, hi, node, listed, boxes.unread[of_row])


def _is_centre(domain: Domain, rows: int) -> DataError:
    return DataError(
        f"Column {domain.name!r} contains single numbers instead of intervals in {rows:,} rows, such as means or "
        "medians: these do not show what was generalized.",
        column=domain.name,
        rows=rows,
        hint=f'Measure the release when it is made, or set publish.{domain.name} = "interval" or "bounds". '
        "`coterie.utility` with queries, target and distributions needs no intervals.",
    )
