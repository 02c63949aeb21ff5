"""What the cells of a column admit: cells of two tables as intervals of one set of codes.

A cell may be a value, an interval, a set of values, a label of a hierarchy or `*`. Two cells meet if one and the same
value could stand behind both. Codes are made from what the two tables hold, so that no original is needed:

* numbers and dates: the ends of all intervals, in ascending order;
* categories with a hierarchy: the leaves of its tree; a text without a place in it gets a code of its own, which only
  that text and `*` admit;
* other categories: all values and members of sets; a set is an interval of codes and the list of its members.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from coterie.arrays import Int32, Int64
from coterie.errors import DataError, HierarchyError
from coterie.values.codes import column_codes
from coterie.values.notation import PLAIN, ROOT, SEPARATOR, read_set
from coterie.values.scalars import parse_number
from coterie.values.scalars import texts as value_texts

if TYPE_CHECKING:
    from coterie.hierarchies.hierarchy import Hierarchy
    from coterie.hierarchies.tree import Tree

Cell: TypeAlias = str | tuple[str, str] | None
"""a text, the two ends of bounds, or None for a missing cell"""
Unknown = Literal["any", "value"]
"""whether a missing cell admits any value (nothing is known of it) or is a value of its own"""

ANY: Final = (0, -1)  # stands for all codes until their number is known
_PLAIN_INTERVAL = re.compile(rf"\[(?P<lo>{PLAIN})-(?P<hi>{PLAIN})\]")


class Column(NamedTuple):
    """One column of a table as its distinct cells."""

    of_row: Int64
    """row → distinct cell"""
    cells: list[Cell]
    values: pa.Array
    """the distinct values in their own type, in the order of `cells`, without the missing one; empty for bounds"""
    published: bool
    """whether a release wrote it, so that `*`, sets and escapes are to be understood"""


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
    """A column as its distinct cells; `<name>_min` and `<name>_max` if it was published as bounds."""
    if name in table.column_names or not published:
        codes = column_codes(table.column(name), name=name)
        cells: list[Cell] = list(value_texts(codes.values, column=name)) if len(codes.values) else []
        return Column(codes.codes, [*cells, None], codes.values, published)
    low, high = (column_codes(table.column(f"{name}_{end}"), name=name) for end in ("min", "max"))
    pairs, of_row = np.unique(low.codes * max(high.size, 1) + high.codes, return_inverse=True)
    lows: list[str | None] = [*value_texts(low.values, column=name), None]
    highs: list[str | None] = [*value_texts(high.values, column=name), None]
    cells = []
    for pair in pairs.tolist():
        ends = lows[pair // max(high.size, 1)], highs[pair % max(high.size, 1)]
        cells.append(ROOT if ends[0] is None or ends[1] is None else (ends[0], ends[1]))
    return Column(of_row.astype(np.int64), cells, pa.nulls(0), published)


def space_of(
    first: Column,
    second: Column,
    *,
    name: str,
    hierarchy: Hierarchy | None = None,
    kind: str | None = None,
    as_sets: bool = False,
    unknown: Unknown = "any",
) -> Space:
    """Put the cells of two columns into one set of codes.

    Args:
        first: A column of the first table.
        second: The same column of the second table.
        name: What it is called.
        hierarchy: Its hierarchy, if it has one.
        kind: number, date or category where the guess from the cells would be wrong.
        as_sets: Whether it was published as sets of values although it has a hierarchy.
        unknown: What a missing cell admits.
    """
    if hierarchy is not None and not as_sets:
        return _tree_space(first, second, hierarchy, name=name, unknown=unknown)
    if kind != "category" and hierarchy is None:
        for read in (parse_number, _as_moment):
            space = _number_space(first, second, read, unknown=unknown)
            if space is not None:
                return space
        if kind is not None and any(cell not in (None, ROOT) for cell in (*first.cells, *second.cells)):
            raise DataError(
                f"Column {name!r} is to be a {kind}, but holds cells that are neither {kind}s nor intervals of them.",
                column=name,
                hint=f'Set types.{name} = "category", or leave the column out.',
            )
    return _flat_space(first, second, unknown=unknown)


def _as_moment(text: str) -> int | None:
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return round(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() * 1e6)


def _number_space(first: Column, second: Column, read: Callable[[str], Any], *, unknown: Unknown) -> Space | None:
    """Intervals of numbers or dates; None if a cell is no such thing."""
    ends: list[list[tuple[Any, Any] | None]] = []
    for column in (first, second):
        found = [_number_ends(cell, read) for cell in column.cells]
        if any(end is None for cell, end in zip(column.cells, found, strict=True) if cell is not None):
            return None
        ends.append(found)
    keys = sorted({key for side in ends for end in side if end and end != ANY for key in end})
    if not keys:
        return None
    place = {key: code for code, key in enumerate(keys)}
    size = len(keys) + (unknown == "value")

    def extents(side: list[tuple[Any, Any] | None]) -> Extents:
        pairs = []
        for end in side:
            if end is None:
                pairs.append(ANY if unknown == "any" else (size - 1, size - 1))
            else:
                pairs.append(ANY if end == ANY else (place[end[0]], place[end[1]]))
        return _extents(pairs, size)

    return Space(size, extents(ends[0]), extents(ends[1]), [])


def _number_ends(cell: Cell, read: Callable[[str], Any]) -> tuple[Any, Any] | None:
    """The ends of an interval as numbers; ANY for `*`; None for a missing cell or one that is no interval."""
    if cell is None:
        return None
    if cell == ROOT:
        return ANY
    if isinstance(cell, tuple):
        splits = [cell]
    elif match := _PLAIN_INTERVAL.fullmatch(cell):
        splits = [(match["lo"], match["hi"])]
    elif cell.startswith("[") and cell.endswith("]"):
        parts = cell[1:-1].split(SEPARATOR)
        splits = [(SEPARATOR.join(parts[:at]), SEPARATOR.join(parts[at:])) for at in range(1, len(parts))]
    else:
        splits = [(cell, cell)]
    for low, high in splits:
        ends = read(low), read(high)
        if ends[0] is not None and ends[1] is not None and ends[0] <= ends[1]:
            return ends
    return None


def _tree_space(first: Column, second: Column, hierarchy: Hierarchy, *, name: str, unknown: Unknown) -> Space:
    # What was not published are values; where both were, their texts are all that there is.
    raw = [column for column in (first, second) if not column.published] or [first, second]
    tree, codes = _bound(hierarchy, raw, name=name)
    labels = _labels(tree)
    own: dict[Hashable, int] = {}

    def interval(cell: Cell, *, published: bool) -> tuple[int, int]:
        if cell is None and unknown == "any":
            return ANY
        if isinstance(cell, str):
            if cell == tree.labels[0] or (cell == ROOT and published):
                return ANY
            if not published and cell in codes:
                return codes[cell], codes[cell]
            if cell in labels:
                return labels[cell]
            if cell in codes:
                return codes[cell], codes[cell]
        code = own.setdefault(cell, tree.leaves + len(own))
        return code, code

    pairs = [[interval(cell, published=side.published) for cell in side.cells] for side in (first, second)]
    size = tree.leaves + len(own)
    return Space(size, _extents(pairs[0], size), _extents(pairs[1], size), [])


def _bound(hierarchy: Hierarchy, columns: Sequence[Column], *, name: str) -> tuple[Tree, dict[str, int]]:
    """The tree over the values of these columns, or over all of an explicit hierarchy, and text → leaf code."""
    texts = {text: None for column in columns for text in column.cells if isinstance(text, str)}
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
    values = pa.array(list(texts), type=pa.string())
    fitting = _fitting(hierarchy, values, name=name)
    bound = hierarchy.bind(fitting, counts=np.ones(len(fitting), dtype=np.int64), column=name)
    return bound.tree, dict(zip(fitting.to_pylist(), bound.codes.tolist(), strict=True))


def _fitting(hierarchy: Hierarchy, values: pa.Array, *, name: str) -> pa.Array:
    """Those values that have a place under a rule. Halves that fit as a whole are not looked at one by one."""
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


def _labels(tree: Tree) -> dict[str, tuple[int, int]]:
    """Label of an inner node → its leaves; of two nodes with one label the upper one, which surely holds the value."""
    inner = np.setdiff1d(np.arange(tree.nodes), tree.leaf_node)
    labels: dict[str, tuple[int, int]] = {}
    for node in inner[np.argsort(-tree.depth[inner], kind="stable")]:
        labels[tree.labels[node]] = int(tree.first[node]), int(tree.last[node])
    return labels


def _flat_space(first: Column, second: Column, *, unknown: Unknown) -> Space:
    codes: dict[Hashable, int] = {}
    sets: list[list[int]] = []

    def members(cell: Cell, *, published: bool) -> list[Hashable]:
        """The values that a cell admits; none for any value."""
        if cell is None:
            return [] if unknown == "any" else [None]
        if not published or not isinstance(cell, str):
            return [cell]
        if cell == ROOT:
            return []
        listed = read_set(cell)
        return list(listed) if listed else [cell[1:] if cell.startswith("\\") else cell]

    def extents(side: Column) -> tuple[list[tuple[int, int]], list[int]]:
        pairs, set_of = [], []
        for cell in side.cells:
            found = sorted({codes.setdefault(member, len(codes)) for member in members(cell, published=side.published)})
            pairs.append((found[0], found[-1]) if found else ANY)
            set_of.append(len(sets) if len(found) > 1 else -1)
            if len(found) > 1:
                sets.append(found)
        return pairs, set_of

    sides = [extents(side) for side in (first, second)]
    size = max(len(codes), 1)
    made = [_extents(pairs, size)._replace(set_of=np.asarray(set_of, dtype=np.int32)) for pairs, set_of in sides]
    return Space(size, made[0], made[1], sets)


def _extents(pairs: Sequence[tuple[int, int]], size: int) -> Extents:
    ends = np.asarray(pairs, dtype=np.int32).reshape(-1, 2)
    hi = np.where(ends[:, 1] < ends[:, 0], size - 1, ends[:, 1]).astype(np.int32)
    return Extents(np.ascontiguousarray(ends[:, 0]), hi, np.full(len(ends), -1, dtype=np.int32))
