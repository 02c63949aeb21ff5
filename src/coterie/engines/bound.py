"""A lower bound for releases made in blocks: the sum of the blocks' bounds.

It holds for every grouping that respects the blocks, that is, has no group with rows of two of them. Groups across
blocks may lose less, so with several blocks it is no bound for all groupings.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from coterie.releases.bound import guided_bound
from coterie.table.table import Table

if TYPE_CHECKING:
    from coterie.engines.plan import Plan
    from coterie.files.batches import TableFile


def blocks_bound(original: TableFile, plan: Plan) -> float:
    """Compute what every grouping that respects the blocks loses at least, per cell (weighted NCP).

    The original is read once more, and the codes of each block wait on disk for their turn.
    """
    book = replace(plan.book, sensitive=(), sensitive_lookups=())
    config, width, total, start = book.config, len(book.domains), 0.0, 0
    with tempfile.TemporaryDirectory(prefix="coterie-") as name:
        paths = [Path(name) / str(block) for block in range(plan.blocks)]
        for batch in original.batches([lookup.name for lookup in book.lookups]):
            numbers = np.arange(start, start + batch.num_rows)
            coded = book.encode(batch, numbers)
            block = plan.block_of(coded.codes, numbers[coded.keep])
            for each in np.unique(block):
                with paths[each].open("ab") as file:
                    file.write(coded.codes[block == each].tobytes())
            start += batch.num_rows
        for path in paths:
            codes = np.fromfile(path, dtype=np.int32).reshape(-1, width)
            table = Table(codes, book.domains, leaf_counts=config.leaf_counts)
            total += guided_bound(table, config.k, threads=config.usable_threads, effort=config.bound_effort)
    return total / max(book.rows * width, 1)
