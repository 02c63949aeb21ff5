"""Parquet files with row groups small enough to show a page from, and their rows as text."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from coterie.methods._method import Progress
from coterie.values.plain import plain_column
from coterie.values.scalars import is_text

GROUP_ROWS = 10_000
"""rows per row group: what showing a page must read"""
LONGEST = 120
"""the maximum number of characters shown of a cell"""


def write_parquet(batches: Iterable[pa.RecordBatch], target: Path, *, tell: Progress | None = None) -> None:
    """Write batches as row groups of about `GROUP_ROWS` rows; the file appears when it is complete.

    Raises a ValueError if there is no batch, since then the columns are unknown.
    """
    rows = 0
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".part-") as folder:
        part = Path(folder) / "part.parquet"
        writer, waiting, waiting_rows = None, [], 0
        try:
            for batch in batches:
                writer = writer or parquet.ParquetWriter(part, batch.schema.remove_metadata(), compression="zstd")
                waiting.append(batch.replace_schema_metadata(None))
                waiting_rows += batch.num_rows
                if waiting_rows >= GROUP_ROWS:
                    writer.write_table(pa.Table.from_batches(waiting), row_group_size=GROUP_ROWS)
                    rows += waiting_rows
                    waiting, waiting_rows = [], 0
                    if tell is not None:
                        tell(f"reading: {rows:,} rows", 0, 0)
            if writer is not None and waiting:
                writer.write_table(pa.Table.from_batches(waiting), row_group_size=GROUP_ROWS)
        finally:
            if writer is not None:
                writer.close()
        if writer is None:
            raise ValueError("there are no rows")
        part.replace(target)


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
