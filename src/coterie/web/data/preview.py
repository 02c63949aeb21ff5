"""Read rows of a Parquet file as text, one row group at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from coterie.values.plain import plain_column
from coterie.values.scalars import is_text

LONGEST = 120
"""the maximum number of characters shown of a cell"""


def read_rows(path: Path, first: int, end: int, *, columns: Sequence[int] | None = None) -> dict[str, list[str | None]]:
    """Return column → the cells of some rows as text, None where missing; only row groups with such rows are read.

    Args:
        path: The Parquet file.
        first: Position of the first row, from 0.
        end: Position after the last one; beyond the end of the table there are no rows.
        columns: Positions of the columns; by default all.
    """
    with parquet.ParquetFile(path) as table:
        names = table.schema_arrow.names
        chosen = names if columns is None else [names[place] for place in columns]
        pieces, start = [table.schema_arrow.empty_table().select(chosen)], 0
        for group in range(table.num_row_groups):
            size = table.metadata.row_group(group).num_rows
            if start < end and start + size > first:
                # Selecting a name also selects columns that start with it and a dot.
                piece = table.read_row_group(group, columns=chosen).select(chosen)
                begin = max(first - start, 0)
                pieces.append(piece.slice(begin, min(end - start, size) - begin))
            start += size
    shown = pa.concat_tables(pieces)
    return {name: [_shorten(cell) for cell in _texts(shown.column(name))] for name in chosen}


def _texts(column: pa.ChunkedArray) -> list[str | None]:
    """Format cells for people; NaN is missing."""
    column = plain_column(column)
    if not is_text(column.type):
        try:
            column = column.cast(pa.string())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return [None if cell is None else str(cell) for cell in column.to_pylist()]
    found: list[str | None] = column.to_pylist()
    return found


def _shorten(text: str | None) -> str | None:
    """Shorten a cell to fit a table."""
    return text if text is None or len(text) <= LONGEST else f"{text[:LONGEST]}…"
