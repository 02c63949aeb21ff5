"""Read a table on disk repeatedly: as codes, or some of its columns by ranges of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from coterie.engines.blocks.spill import SpilledRows

if TYPE_CHECKING:
    from coterie.files.batches import TableFile
    from coterie.table.codebook import Codebook


def coded_rows(table: TableFile, book: Codebook) -> Iterator[tuple[SpilledRows, int]]:
    """Yield the included rows as codes, a batch at a time, with the number of rows read."""
    names = [lookup.name for lookup in (*book.lookups, *book.sensitive_lookups)]
    start = 0
    for batch in table.batches(names):
        numbers = np.arange(start, start + batch.num_rows)
        coded = book.encode(batch, numbers)
        yield SpilledRows(numbers[coded.keep], coded.codes, coded.sensitive), batch.num_rows
        start += batch.num_rows


def stretches(table: TableFile, names: Sequence[str], *, rows: int) -> Iterator[pa.Table]:
    """Read some columns by stretches of `rows` rows; the last may be shorter."""
    waiting: list[pa.RecordBatch] = []
    held = 0
    for batch in table.batches(names):
        waiting.append(batch)
        held += batch.num_rows
        while held >= rows:
            whole = pa.Table.from_batches(waiting)
            yield whole.slice(0, rows)
            rest = whole.slice(rows)
            waiting, held = rest.to_batches(), rest.num_rows
    if held:
        yield pa.Table.from_batches(waiting)
