"""Read rows and values of a project's table from its Parquet file, one row group at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from coterie.values.plain import plain_column
from coterie.values.scalars import is_text
from coterie.web.project import Project

LONGEST = 120
"""the maximum number of characters shown of a cell"""


class PreviewRows(NamedTuple):
    """Some rows of a table, as text."""

    start: int
    """position of the first of them, from 0"""
    names: list[str]
    cells: list[list[str | None]]
    """row → column → text; None is missing"""
    total: int
    """the number of rows of the whole table"""


class ValueCount(NamedTuple):
    """A value of a column as text (None: missing), and its number of rows."""

    value: str | None
    rows: int


def rows(project: Project, *, start: int = 0, count: int = 100, columns: Sequence[int] | None = None) -> PreviewRows:
    """Return rows from a position on.

    Args:
        project: The project.
        start: Position of the first row, from 0; beyond the end there are no rows.
        count: The maximum number of rows.
        columns: Positions of the columns; by default all.
    """
    with parquet.ParquetFile(project.table_path) as table:
        names = table.schema_arrow.names
        chosen = [names[place] for place in (range(len(names)) if columns is None else columns)]
        total = table.metadata.num_rows
        start = max(start, 0)
        pieces, first = [], 0
        for group in range(table.num_row_groups):
            size = table.metadata.row_group(group).num_rows
            if first < start + count and first + size > start:
                # A name also brings columns along that start with it and a dot, so that some may be too many.
                piece = table.read_row_group(group, columns=chosen).select(chosen)
                begin = max(start - first, 0)
                pieces.append(piece.slice(begin, min(start + count - first, size) - begin))
            first += size
    if not pieces:
        return PreviewRows(start, chosen, [], total)
    shown = pa.concat_tables(pieces)
    by_column = [[shorten(cell) for cell in texts(column)] for column in shown.columns]
    return PreviewRows(start, chosen, [list(row) for row in zip(*by_column, strict=True)], total)


def value_counts(project: Project, column: int, *, limit: int | None = None) -> list[ValueCount]:
    """Return the values of a column with their row counts, the most frequent first, including missing.

    Args:
        project: The project.
        column: Position of the column.
        limit: The maximum number; by default all.
    """
    with parquet.ParquetFile(project.table_path) as table:
        name = table.schema_arrow.names[column]
        found: pa.Table | None = None
        for group in range(table.num_row_groups):
            values = table.read_row_group(group, columns=[name]).column(name)
            counted = pc.value_counts(values.combine_chunks())
            part = pa.table({"value": counted.field("values"), "rows": counted.field("counts")})
            joined = part if found is None else pa.concat_tables([found, part])
            found = joined.group_by("value").aggregate([("rows", "sum")]).rename_columns(["value", "rows"])
    if found is None:
        return []
    ordered = found.sort_by([("rows", "descending"), ("value", "ascending")])
    ordered = ordered if limit is None else ordered.slice(0, limit)
    counts = ordered.column("rows").to_pylist()
    return [ValueCount(*pair) for pair in zip(texts(ordered.column("value")), counts, strict=True)]


def texts(column: pa.ChunkedArray) -> list[str | None]:
    """Format cells for people; NaN is missing."""
    column = plain_column(column)
    if not is_text(column.type):
        try:
            column = column.cast(pa.string())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return [None if cell is None else str(cell) for cell in column.to_pylist()]
    found: list[str | None] = column.to_pylist()
    return found


def shorten(text: str | None) -> str | None:
    """Shorten a cell to fit a table."""
    return text if text is None or len(text) <= LONGEST else f"{text[:LONGEST]}…"
