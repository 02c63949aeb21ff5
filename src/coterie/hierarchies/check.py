"""Check a whole hierarchy file, and a column's values against it, and report every problem at once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import Int64
from coterie.errors import ConfigError, HierarchyError, Problem
from coterie.hierarchies.bind import find_leaves, note_misfits
from coterie.hierarchies.faults import doubts
from coterie.hierarchies.files import read_rows
from coterie.hierarchies.hierarchy import Hierarchy
from coterie.hierarchies.whole import ROOT, WholeTree
from coterie.values.plain import plain_array
from coterie.values.scalars import Misfits, texts


class ColumnValues(NamedTuple):
    """A column's distinct values."""

    name: str
    values: pa.Array
    counts: Int64
    missing: int
    """number of rows without a value"""


class HierarchyCheck(NamedTuple):
    """The result of checking a hierarchy file."""

    hierarchy: Hierarchy | None
    """None if the file is not a tree"""
    problems: list[Problem]
    doubts: list[Problem]


def distinct_values(table: pa.Table, column: str) -> ColumnValues:
    """Return a column's distinct values and the number of rows with each; NaN counts as missing."""
    if table.column_names.count(column) != 1:
        # The first line is not quoted: without a header, it is a person's record.
        text = f"the table has no single column {column!r} among its {table.num_columns:,}; does it have a header?"
        raise ConfigError([Problem("--column", text)])
    data = plain_array(table.column(column))
    present = data.drop_null()
    counted = present.value_counts()
    counts = counted.field("counts").to_numpy(zero_copy_only=False).astype(np.int64)
    return ColumnValues(column, counted.field("values"), counts, len(data) - len(present))


def check_file(
    path: str | os.PathLike[str], column: ColumnValues | None = None, *, show_values: bool = False
) -> HierarchyCheck:
    """Return every problem of a hierarchy file, and of a column's values against it."""
    try:
        hierarchy = Hierarchy.from_file(path)
    except HierarchyError as error:
        problems = list(error.problems)
        if column is not None:
            problems += _misfits_of_rows(path, column, show_values=show_values)
        return HierarchyCheck(None, problems, [])
    problems = []
    if column is not None:
        try:
            hierarchy.bind(column.values, counts=column.counts, column=column.name, show_values=show_values)
        except HierarchyError as error:
            problems = list(error.problems)
    return HierarchyCheck(hierarchy, problems, doubts(hierarchy.tree) if hierarchy.tree is not None else [])


def _misfits_of_rows(path: str | os.PathLike[str], column: ColumnValues, *, show_values: bool) -> list[Problem]:
    """Return the values missing from a file whose rows do not form a tree, judged by each row's first cell."""
    if Path(path).suffix.lower() in (".json", ".toml"):
        return []
    try:
        rows = read_rows(path).cells
    except HierarchyError:
        return []
    leaves = list(dict.fromkeys(row[0] for row in rows))
    inner = {cell for row in rows for cell in row[1:]} - set(leaves)
    known = WholeTree((ROOT, *leaves), (-1, *[0] * len(leaves)))
    values = plain_array(column.values)
    names = texts(values, column=column.name)
    misfits = Misfits(names, counts=column.counts, column=column.name, show_values=show_values)
    note_misfits(known, find_leaves(known, values, names=names), inner=inner, misfits=misfits)
    return misfits.problems
