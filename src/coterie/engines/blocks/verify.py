"""Verify a release that was written in blocks: with DuckDB, and row by row if rows are published one by one.

The rows of a group are in one block, but spread over the file. So the written file is read once and its boxes are
stored by block; then each block is counted separately, like a table in memory.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from coterie.engines.finished import AT
from coterie.engines.plan import PROGRAM_BYTES
from coterie.engines.request import kind_of
from coterie.publishing.labels import roots_of
from coterie.table.recoding import OneByOne
from coterie.verification.duckdb_counts import verify_file
from coterie.verification.rows import RowSums, count_pairs, read_boxes
from coterie.verification.sql import DuckLimits, HiddenColumn, RowReader

if TYPE_CHECKING:
    from coterie.engines.blocks.store import FinishedTable
    from coterie.files.batches import TableFile
    from coterie.verification.models import FileCheck

# The minimum memory of DuckDB.
LEAST_DUCKDB = 128 * 2**20


def verify_written(
    made: FinishedTable,
    written: TableFile,
    folder: Path,
    *,
    memory: int,
    shown: bool,
    hidden: int,
    people: HiddenColumn | None,
) -> FileCheck:
    """Verify every guarantee of a written release.

    Args:
        made: The table and its blocks.
        written: The release.
        folder: For intermediate files.
        memory: The memory limit in bytes.
        shown: Whether suppressed rows are in the release.
        hidden: How many suppressed rows are in it.
        people: The person of each row of the release, if people are counted.
    """
    config, single = made.plan.book.config, kind_of(made.plan.book.config).by_rows
    checker = DuckLimits(folder, max((memory - PROGRAM_BYTES) // 3, LEAST_DUCKDB), config.usable_threads)
    roots, k = roots_of(made.plan.book.domains, config.publish), None if single else config.k
    checked = verify_file(written, config, roots=roots, hidden=hidden, checker=checker, k=k, people=people)
    return checked.with_rows(_count(made, written, folder, shown=shown), config.k, hidden=hidden) if single else checked


def _count(made: FinishedTable, written: TableFile, folder: Path, *, shown: bool) -> RowSums:
    """Read a release whose rows are published one by one, and count in every block."""
    book, paths = made.plan.book, [folder / f"boxes-{block:06}" for block in range(made.plan.blocks)]
    folder.mkdir(exist_ok=True)
    for path in paths:
        path.write_bytes(b"")
    reader = RowReader(written.batches())
    for stripe, rows in made.stripes():
        places = {block: piece.column(AT).to_numpy() for block, piece in made.pieces(stripe)}
        inside = np.full(rows, shown)
        for at in places.values():
            inside[at] = True
        if not inside.any():
            continue
        position = np.cumsum(inside) - 1
        boxes = read_boxes(reader.take(int(inside.sum())), book.values, book.config)
        for block, at in places.items():
            with paths[block].open("ab") as file:
                file.write(boxes[position[at]].tobytes())
    reader.end()
    sums = RowSums(book.config.k, 0, 0)
    for block, path in enumerate(paths):
        boxes = np.fromfile(path, dtype=np.int32).reshape(-1, 2 * len(book.domains))
        held = OneByOne(**made.store.arrays(block, "one-by-one") or {})
        sums = sums.joined(count_pairs(held, boxes, book.config.k))
        path.unlink()
    return sums
