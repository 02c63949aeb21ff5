"""Encode the cells of two tables as intervals of one set of codes.

A cell may be a value, an interval, a set of values, a hierarchy label or `*`. Two cells match if the same
value could be behind both. Codes are made from the two tables' cells, so no original is needed:

* numbers and dates: the ends of all intervals, in ascending order;
* categories with a hierarchy: the leaves of its tree; a text missing from it gets a separate code, which only
  that text and `*` admit;
* ordered categories: their ranks; a text without one gets a separate code, likewise;
* other categories: all values and members of sets; a set is an interval of codes and the list of its members.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import Int32, Int64
from coterie.errors import DataError, HierarchyError
from coterie.publishing.read import label_nodes
from coterie.values.notation import ROOT, Cell, CellText, columns_of, distinct_texts, read_cell
from coterie.values.scalars import parse_moment, parse_number, texts

if TYPE_CHECKING:
    from coterie.hierarchies.hierarchy import Hierarchy
    from coterie.hierarchies.tree import Tree
    from coterie.settings.config import Config

Unknown = Literal["any", "value"]
"""whether a missing cell admits any value (it is unknown) or is a separate value"""

ANY: Final = (0, -1)  # stands for all codes until their number is known


class Column(NamedTuple):
    """One column of a table as its distinct cells."""

    of_row: Int64
    """row → distinct cell"""
    cells: list[CellText]
    values: pa.Array
    """the distinct values in their own type, in the order of `cells`, without the missing one; empty for bounds"""
    published: bool
    """whether it belongs to a release, with `*`, sets and escapes"""


class Extents(NamedTuple):
    """Distinct cell → interval of codes, and the set that narrows it down (−1 for none)."""

    lo: Int32
    hi: Int32
    set_of: Int32


class Space(NamedTuple):
    """The cells of both tables in one set of codes."""

    size: int
    first: Extents
    second: Extents
    sets: list[list[int]]
    """the codes of each set, ascending"""


def read_column(table: pa.Table, name: str, *, published: bool) -> Column:
    """Return a column's distinct cells; `<name>_min` and `<name>_max` if it was published as bounds."""
    columns = [table.column(each) for each in columns_of(name, table.column_names)]
    return Column(*distinct_texts(*columns, name=name, write=partial(texts, column=name)), published)


def space_of(first: Column, second: Column, *, name: str, config: Config, unknown: Unknown = "any") -> Space:
    """Encode the cells of two columns with one set of codes.

    Args:
        first: A column of the first table.
        second: The same column of the second table.
        name: Its name.
        config: Its hierarchy, its type if the guess from the cells would be wrong, its order, and how it was published.
        unknown: What a missing cell admits.
    """
    hierarchy, kind, style = config.hierarchies.get(name), config.types.get(name), config.publish.get(name)
    if style in ("mean", "median"):
        raise DataError(
            f"Column {name!r} was published as {style}: single numbers do not determine the original values.",
            column=name,
            hint="Leave it out, or publish it as interval or bounds.",
        )
    if hierarchy is not None and style != "set":
        return _tree_space(first, second, hierarchy, name=name, unknown=unknown)
    if order := config.ordered.get(name):
        return _order_space(first, second, order, unknown=unknown)
    if kind != "category" and hierarchy is None:
        sides = [[read_cell(text, "interval") for text in column.cells] for column in (first, second)]
        for read in (parse_number, _nanoseconds):
            space = _number_space(sides[0], sides[1], read, unknown=unknown)
            if space is not None:
                return space
        if kind is not None and any(cell.parts for side in sides for cell in side):
            raise DataError(
                f"Column {name!r} is configured as a {kind}, but has cells that are neither {kind}s nor intervals.",
                column=name,
                hint=f'Set types.{name} = "category", or leave the column out.',
            )
    return _flat_space(first, second, unknown=unknown)


def _nanoseconds(text: str) -> int | None:
    moment = parse_moment(text)
    return None if moment is None else moment.nanoseconds


def _number_space(
    first: list[Cell], second: list[Cell], read: Callable[[str], Any], *, unknown: Unknown
) -> Space | None:
    """Encode intervals of numbers or dates; None if a cell is neither."""
    cells = [*first, *second]
    ends = [_number_ends(cell, read) for cell in cells]
    if any(end is None and cell.parts for cell, end in zip(cells, ends, strict=True)):
        return None
    keys = sorted({key for end in ends if end and end != ANY for key in end})
    if not keys:
        return None
    place = {key: code for code, key in enumerate(keys)}
    size = len(keys) + (unknown == "value")
    missing = ANY if unknown == "any" else (size - 1, size - 1)
    pairs = [missing if end is None else ANY if end == ANY else (place[end[0]], place[end[1]]) for end in ends]
    return _space((pairs[: len(first)], pairs[len(first) :]), size)


def _number_ends(cell: Cell, read: Callable[[str], Any]) -> tuple[Any, Any] | None:
    """Return the ends of an interval as numbers; ANY for `*`; None for a missing cell or any other."""
    if not cell.parts:
        return None if cell.kind == "missing" else ANY
    low, high = read(cell.parts[0]), read(cell.parts[-1])
    return (low, high) if low is not None and high is not None and low <= high else None


def _tree_space(first: Column, second: Column, hierarchy: Hierarchy, *, name: str, unknown: Unknown) -> Space:
    # Unpublished cells are values; if both tables are published, only their texts can be compared.
    raw = [column for column in (first, second) if not column.published] or [first, second]
    tree, codes = _bound(hierarchy, raw, name=name)
    labels = {label: (int(tree.first[node]), int(tree.last[node])) for label, node in label_nodes(tree).items()}
    own: dict[Hashable, int] = {}

    def interval(text: CellText, *, published: bool) -> tuple[int, int]:
        cell = read_cell(text, "label", root=tree.labels[0])
        if not cell.parts and (cell.kind != "missing" or unknown == "any"):
            return ANY
        if isinstance(text, str):
            if text == ROOT and published:
                return ANY
            if text in labels and (published or text not in codes):
                return labels[text]
            if text in codes:
                return codes[text], codes[text]
        code = own.setdefault(text, tree.leaves + len(own))
        return code, code

    pairs = [[interval(text, published=side.published) for text in side.cells] for side in (first, second)]
    return _space(pairs, tree.leaves + len(own))


def _order_space(first: Column, second: Column, order: Sequence[str], *, unknown: Unknown) -> Space:
    """Encode cells as intervals of ranks; a text missing from the order gets a separate code, as in a tree."""
    codes: dict[Hashable, int] = {text: rank for rank, text in enumerate(order)}

    def interval(text: CellText, *, published: bool) -> tuple[int, int]:
        cell = read_cell(text, "order") if published or not isinstance(text, str) else Cell("value", (text,))
        if not cell.parts and (cell.kind != "missing" or unknown == "any"):
            return ANY
        ends: tuple[Hashable, ...] = cell.parts or (None,)
        if len(ends) > 1 and (not set(ends) <= set(order) or codes[ends[0]] > codes[ends[1]]):
            ends = (text,)
        low, high = (codes.setdefault(end, len(codes)) for end in (ends[0], ends[-1]))
        return low, high

    pairs = [[interval(text, published=side.published) for text in side.cells] for side in (first, second)]
    return _space(pairs, len(codes))


def _bound(hierarchy: Hierarchy, columns: Sequence[Column], *, name: str) -> tuple[Tree, dict[str, int]]:
    """Return the tree over the values of these columns, or over an explicit hierarchy, and text → leaf code."""
    distinct = {text: None for column in columns for text in column.cells if isinstance(text, str)}
    if hierarchy.tree is not None:
        from coterie.hierarchies.bind import find_leaves

        tree, of_node = hierarchy.tree.restrict()
        codes = {label: int(of_node[node]) for label, node in hierarchy.tree.leaf_of.items()}
        for column in columns:
            names = [text for text in column.cells[: len(column.values)] if isinstance(text, str)]
            for text, leaf in zip(names, find_leaves(hierarchy.tree, column.values, names=names), strict=True):
                if leaf is not None:
                    codes[text] = int(of_node[leaf])
        return tree, codes
    values = pa.array(list(distinct), type=pa.string())
    fitting = _fitting(hierarchy, values, name=name)
    bound = hierarchy.bind(fitting, counts=np.ones(len(fitting), dtype=np.int64), column=name)
    return bound.tree, dict(zip(fitting.to_pylist(), bound.codes.tolist(), strict=True))


def _fitting(hierarchy: Hierarchy, values: pa.Array, *, name: str) -> pa.Array:
    """Return the values that fit a rule. Halves that fit as a whole are not checked one by one."""
    if len(values) == 0:
        return values
    try:
        hierarchy.bind(values, counts=np.ones(len(values), dtype=np.int64), column=name)
    except HierarchyError:
        if len(values) == 1:
            return values[:0]
        half = len(values) // 2
        parts = [_fitting(hierarchy, part, name=name) for part in (values[:half], values[half:])]
        return pa.concat_arrays(parts)
    return values


def _flat_space(first: Column, second: Column, *, unknown: Unknown) -> Space:
    codes: dict[Hashable, int] = {}
    sets: list[list[int]] = []

    def members(text: CellText, *, published: bool) -> Sequence[Hashable]:
        """Return the values that a cell admits; empty for any value."""
        cell = read_cell(text, "set")
        if cell.kind == "missing":
            return [] if unknown == "any" else [None]
        return cell.parts if published and cell.kind != "interval" else [text]

    def extents(side: Column) -> tuple[list[tuple[int, int]], list[int]]:
        pairs, set_of = [], []
        for text in side.cells:
            found = sorted({codes.setdefault(member, len(codes)) for member in members(text, published=side.published)})
            pairs.append((found[0], found[-1]) if found else ANY)
            set_of.append(len(sets) if len(found) > 1 else -1)
            if len(found) > 1:
                sets.append(found)
        return pairs, set_of

    sides = [extents(side) for side in (first, second)]
    made = _space([pairs for pairs, _ in sides], max(len(codes), 1))
    one, two = (np.asarray(set_of, dtype=np.int32) for _, set_of in sides)
    return Space(made.size, made.first._replace(set_of=one), made.second._replace(set_of=two), sets)


def _space(sides: Sequence[Sequence[tuple[int, int]]], size: int) -> Space:
    """Return the intervals of both sides as a space without sets."""
    made = []
    for pairs in sides:
        ends = np.asarray(pairs, dtype=np.int32).reshape(-1, 2)
        hi = np.where(ends[:, 1] < ends[:, 0], size - 1, ends[:, 1]).astype(np.int32)
        made.append(Extents(np.ascontiguousarray(ends[:, 0]), hi, np.full(len(ends), -1, dtype=np.int32)))
    return Space(size, made[0], made[1], [])
