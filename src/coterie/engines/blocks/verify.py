"""Verify a release that was written in blocks: with DuckDB, and row by row if rows are published one by one.

The rows of a group are in one block, but spread over the file. So the written file is read once and its boxes are
stored by block; then each block is counted separately, like a table in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from coterie.engines.finished import AT
from coterie.engines.plan import PROGRAM_BYTES
from coterie.engines.request import kind_of
from coterie.engines.row_check import cells_as_boxes, count_pairs, load
from coterie.publishing.labels import root_text, style_of
from coterie.verification.cells import read_cells
from coterie.verification.duckdb_counts import verify_file
from coterie.verification.rows import RowSums
from coterie.verification.sql import DuckLimits, HiddenColumn, RowReader

if TYPE_CHECKING:
    from coterie.engines.blocks.store import BlockStore
    from coterie.engines.finished import FinishedBlock
    from coterie.engines.plan import Plan
    from coterie.files.batches import TableFile
    from coterie.verification.models import FileCheck

# What DuckDB gets at least.
LEAST_DUCKDB = 128 * 2**20


@dataclass(frozen=True, eq=False)
class WrittenCheck:
    """Checks a written release."""

    original: TableFile
    plan: Plan
    store: BlockStore
    finished: tuple[FinishedBlock, ...]
    folder: Path
    """for what was read, by block"""
    people: HiddenColumn | None = None
    """the person of each row, where its order is not that of the original"""

    def verify(self, written: TableFile, *, memory: int, shown: bool, hidden: int) -> FileCheck:
        """Verify every guarantee of the written release.

        Args:
            written: The release.
            memory: The memory limit in bytes.
            shown: Whether it has suppressed rows.
            hidden: The number of suppressed rows.
        """
        config, single = self.plan.book.config, kind_of(self.plan.book.config).by_rows
        roots = {domain.name: root_text(domain, style_of(domain, config.publish)) for domain in self.plan.book.domains}
        checker = DuckLimits(self.folder, max((memory - PROGRAM_BYTES) // 3, LEAST_DUCKDB), config.usable_threads)
        people = self.people or self.people_of(written.schema.names, shown=shown)
        k = 0 if single else config.k
        checked = verify_file(written, config, roots=roots, hidden=hidden, checker=checker, k=k, people=people)
        return checked.with_rows(self.count(written, shown=shown), config.k, hidden=hidden) if single else checked

    def count(self, written: TableFile, *, shown: bool) -> RowSums:
        """Read the written release, and count in every block.

        Args:
            written: The release.
            shown: Whether it has suppressed rows.
        """
        config, domains = self.plan.book.config, self.plan.book.domains
        self.folder.mkdir(exist_ok=True)
        for block in range(self.plan.blocks):
            self._path(block).write_bytes(b"")
        rows = RowReader(written.batches())
        for stripe in range(-(-self.plan.book.all_rows // self.store.stripe_rows)):
            self._put_down(stripe, rows, shown=shown)
        rows.end()
        sums = RowSums(config.k, 0, 0)
        for block in range(self.plan.blocks):
            boxes = np.fromfile(self._path(block), dtype=np.int32).reshape(-1, 2 * len(domains))
            sums = sums.joined(count_pairs(load(self.store.one_by_one(block)), boxes, config.k))
            self._path(block).unlink()
        return sums

    def _path(self, block: int) -> Path:
        return self.folder / f"boxes-{block:06}"

    def _put_down(self, stripe: int, rows: RowReader, *, shown: bool) -> None:
        """Read the rows of one stripe, and append their boxes to the files of their blocks."""
        book = self.plan.book
        found = [(block, self.store.piece(block, each, stripe)) for block, each in enumerate(self.finished)]
        places = {block: piece.column(AT).to_numpy() for block, piece in found if piece is not None}
        total = min(self.store.stripe_rows, book.all_rows - stripe * self.store.stripe_rows)
        published = np.zeros(total, dtype=np.bool_)
        for at in places.values():
            published[at] = True
        position = np.arange(total) if shown else np.cumsum(published) - 1
        count = total if shown else int(published.sum())
        if not count:
            return
        boxes = cells_as_boxes(rows.take(count), book.domains, book.config)
        for block, at in places.items():
            with self._path(block).open("ab") as file:
                file.write(boxes[position[at]].tobytes())

    def people_of(self, names: Sequence[str], *, shown: bool) -> HiddenColumn | None:
        """Return the person of each published row, from the original, which alone names them."""
        entity = self.plan.book.config.entity
        if entity is None:
            return None
        name = "person"
        while name in names:
            name += "_"
        kind = read_cells(pa.array([], self.original.schema.field(entity).type), name=entity).plain.type
        return HiddenColumn(name, kind, self._persons(entity, name, shown=shown))

    def _persons(self, entity: str, name: str, *, shown: bool) -> Iterator[pa.RecordBatch]:
        rows, size = self.plan.book.all_rows, self.store.stripe_rows
        reader = RowReader(self.original.batches([entity]))
        for stripe in range(-(-rows // size)):
            held = reader.take(min(size, rows - stripe * size))
            cells = read_cells(held.column(0), name=entity).plain
            if not shown:
                cells = cells.filter(pa.array(self.store.published(self.finished, stripe, len(cells))))
            yield pa.RecordBatch.from_arrays([cells], [name])
