"""Parquet files with row groups small enough to show a page from."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from coterie.methods._method import Progress

GROUP_ROWS = 10_000
"""rows per row group: what showing a page must read"""


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
