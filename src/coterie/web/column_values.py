"""The distinct values of a project's columns, read from its table when a page asks for them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from coterie.errors import HierarchyError, Problem
from coterie.hierarchy import Hierarchy
from coterie.hierarchy_bind import find_leaves
from coterie.hierarchy_check import Column, distinct_values
from coterie.hierarchy_tree import WholeTree
from coterie.hierarchy_values import count_of, parse_number, plain_array, texts

MOST_KEPT = 24
"""columns whose values are kept at hand"""
_kept: OrderedDict[tuple[str, int, int], Column] = OrderedDict()
_lock = threading.Lock()


class Value(NamedTuple):
    """A value of a column and the rows that hold it."""

    text: str
    rows: int


class Fit(NamedTuple):
    """How the values of a column fit a hierarchy."""

    problems: list[Problem]
    lost: list[Value]
    """values without a place, those of most rows first; known for trees only"""


def values_of(table: Path, position: int) -> Column:
    """The distinct values of the column at this position of a Parquet file, and the rows of each."""
    from pyarrow import parquet

    key = (str(table), table.stat().st_mtime_ns, position)
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    file = parquet.ParquetFile(table)
    try:
        name = file.schema_arrow.names[position]
        # "a" also brings a column "a.b" along.
        parts = [batch.column(name) for batch in file.iter_batches(columns=[name], use_threads=False)]
    finally:
        file.close()
    kind = file.schema_arrow.field(position).type
    found = distinct_values(pa.table({name: pa.chunked_array(parts, type=kind)}), name)
    with _lock:
        _kept[key] = found
        while len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)
    return found


def value_texts(column: Column) -> list[str]:
    """The values as the texts by which hierarchies know them, in ascending order: as numbers where all are numbers."""
    names = texts(plain_array(column.values), column=column.name)
    numbers = [parse_number(name) for name in names]
    if all(number is not None for number in numbers):
        return [name for _, name in sorted(zip(numbers, names, strict=True))]
    return sorted(names)


def fit_of(hierarchy: Hierarchy, column: Column) -> Fit:
    """Whether a hierarchy has a place for each value, and which have none."""
    try:
        hierarchy.bind(column.values, counts=column.counts, column=column.name)
    except HierarchyError as error:
        lost = lost_values(hierarchy.tree, column) if hierarchy.tree is not None else []
        return Fit(list(error.problems), lost)
    return Fit([], [])


def lost_values(tree: WholeTree, column: Column) -> list[Value]:
    """The values that a tree has no place for."""
    return [value for value, leaf in placed_values(tree, column) if leaf is None]


def placed_values(tree: WholeTree, column: Column) -> list[tuple[Value, int | None]]:
    """Each value with its leaf, those of most rows first."""
    values = plain_array(column.values)
    names = texts(values, column=column.name)
    leaves = find_leaves(tree, values, names=names)
    found = zip(map(Value, names, column.counts.tolist()), leaves, strict=True)
    return sorted(found, key=lambda pair: (-pair[0].rows, pair[0].text))


def lost_text(lost: list[Value]) -> str:
    """How many values, and how many rows, have no place."""
    rows = sum(value.rows for value in lost)
    verb = "has" if len(lost) == 1 else "have"
    return f"{count_of(len(lost), 'value')} of the data ({count_of(rows, 'row')}) {verb} no place"
