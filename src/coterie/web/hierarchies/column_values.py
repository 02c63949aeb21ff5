"""Read the distinct values of a project's columns when a page needs them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from coterie.errors import HierarchyError, Problem
from coterie.hierarchies.bind import find_leaves
from coterie.hierarchies.check import ColumnValues, distinct_values
from coterie.hierarchies.hierarchy import Hierarchy
from coterie.hierarchies.whole import WholeTree
from coterie.values.plain import plain_array
from coterie.values.scalars import parse_number, texts
from coterie.wording import count_of

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

MOST_KEPT = 24
"""columns whose values are cached"""
_kept: OrderedDict[tuple[str, int, int], ColumnValues] = OrderedDict()
_lock = threading.Lock()


class ColumnValue(NamedTuple):
    """A value of a column and its number of rows."""

    text: str
    rows: int


class ValueReader:
    """Reads the distinct values of columns in a Parquet file.

    The metadata of a file with two thousand columns takes longer to read than any column: it is opened once, and only
    if there is something to read.
    """

    def __init__(self, table: Path) -> None:
        self.table = table
        self.key = (str(table), table.stat().st_mtime_ns)
        self._file: ParquetFile | None = None
        self._schema = pa.schema([])

    def __enter__(self) -> ValueReader:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def values_of(self, position: int) -> ColumnValues:
        """Return the distinct values of the column at this position, with row counts."""
        key = (*self.key, position)
        with _lock:
            if key in _kept:
                _kept.move_to_end(key)
                return _kept[key]
        found = self._read(position)
        with _lock:
            _kept[key] = found
            while len(_kept) > MOST_KEPT:
                _kept.popitem(last=False)
        return found

    def _read(self, position: int) -> ColumnValues:
        if self._file is None:
            from pyarrow import parquet

            self._file = parquet.ParquetFile(self.table)
            self._schema = self._file.schema_arrow
        field = self._schema.field(position)
        # Selecting "a" also selects a column "a.b".
        batches = self._file.iter_batches(columns=[field.name], use_threads=False)
        parts = pa.chunked_array([batch.column(field.name) for batch in batches], type=field.type)
        return distinct_values(pa.table({field.name: parts}), field.name)


def values_of(table: Path, position: int) -> ColumnValues:
    """Return the distinct values of the column at this position of a Parquet file, with row counts."""
    with ValueReader(table) as reader:
        return reader.values_of(position)


def value_texts(column: ColumnValues) -> list[str]:
    """Return the values as hierarchy labels, in ascending order: numeric if all are numbers."""
    names = texts(plain_array(column.values), column=column.name)
    numbers = [parse_number(name) for name in names]
    if all(number is not None for number in numbers):
        return [name for _, name in sorted(zip(numbers, names, strict=True))]
    return sorted(names)


def fit_problems(hierarchy: Hierarchy, column: ColumnValues, *, show_values: bool = False) -> list[Problem]:
    """Return why a hierarchy does not cover every value of a column."""
    try:
        hierarchy.bind(column.values, counts=column.counts, column=column.name, show_values=show_values)
    except HierarchyError as error:
        return list(error.problems)
    return []


def placed_values(tree: WholeTree, column: ColumnValues) -> list[tuple[ColumnValue, int | None]]:
    """Return each value with its leaf, most frequent first."""
    values = plain_array(column.values)
    names = texts(values, column=column.name)
    leaves = find_leaves(tree, values, names=names)
    found = zip(map(ColumnValue, names, column.counts.tolist()), leaves, strict=True)
    return sorted(found, key=lambda pair: (-pair[0].rows, pair[0].text))


def lost_text(lost: list[ColumnValue]) -> str:
    """Say how many values, and how many rows, the hierarchy lacks."""
    rows = sum(value.rows for value in lost)
    verb = "is" if len(lost) == 1 else "are"
    return f"{count_of(len(lost), 'value')} of the data ({count_of(rows, 'row')}) {verb} missing from the hierarchy"
