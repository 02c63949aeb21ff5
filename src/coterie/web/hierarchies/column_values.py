"""The distinct values of a project's columns, read when a page needs them, and what covers them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
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
MOST_ORDERED = 1_000
"""the maximum number of values of an order that can be edited on the page"""


class ColumnValue(NamedTuple):
    """A value of a column and its number of rows."""

    text: str
    rows: int


@dataclass(frozen=True)
class TableFile:
    """A Parquet file of a table, opened when something has to be read.

    The metadata of a file with two thousand columns takes longer to read than any column: it is opened once.
    """

    path: Path
    changed: int
    """its modification time"""

    @cached_property
    def file(self) -> ParquetFile:
        """The open file."""
        from pyarrow import parquet

        return parquet.ParquetFile(self.path)

    @cached_property
    def schema(self) -> pa.Schema:
        """Its columns."""
        return self.file.schema_arrow

    # Found by path and time: the same values are read once for all pages.
    @lru_cache(maxsize=MOST_KEPT)  # noqa: B019 - keeps only as many closed files
    def values_of(self, position: int) -> ColumnValues:
        """Return the distinct values of the column at this position, with row counts."""
        field = self.schema.field(position)
        # Selecting "a" also selects a column "a.b".
        batches = self.file.iter_batches(columns=[field.name], use_threads=False)
        parts = pa.chunked_array([batch.column(field.name) for batch in batches], type=field.type)
        return distinct_values(pa.table({field.name: parts}), field.name)


@contextmanager
def open_table(path: Path) -> Iterator[TableFile]:
    """Open a Parquet file for reading the distinct values of columns."""
    table = TableFile(path, path.stat().st_mtime_ns)
    try:
        yield table
    finally:
        if file := vars(table).pop("file", None):
            file.close()


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


def order_offered(column: ColumnValues, kind: str, order: Sequence[str]) -> bool:
    """Return whether the page has a form for the order: for a category whose values fit on lines, or one with an order.

    Numbers and dates have their own order.
    """
    if len(column.values) > MOST_ORDERED or any(len(name.splitlines()) != 1 for name in value_texts(column)):
        return False
    return bool(order) or kind in ("category", "code", "mixed")


def read_order(fields: Mapping[str, str], column: ColumnValues) -> list[str]:
    """Return the submitted order; spaces around a value are kept only if the data have them."""
    known = set(value_texts(column))
    lines = [line if line in known else line.strip() for line in fields.get("order", "").splitlines()]
    return [line for line in lines if line]


def missing_text(order: Sequence[str], column: ColumnValues) -> list[str]:
    """Say which values of the data an order lacks, if any."""
    lacking = sorted(set(value_texts(column)) - set(order))
    if not lacking:
        return []
    shown = ", ".join(lacking[:10]) + (", …" if len(lacking) > 10 else "")
    verb = "is" if len(lacking) == 1 else "are"
    return [f"{count_of(len(lacking), 'value')} of the data {verb} missing from the order: {shown}."]
