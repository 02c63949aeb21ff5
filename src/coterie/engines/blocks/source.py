"""Read a table on disk as codes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

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
