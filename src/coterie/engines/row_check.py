"""The promise of rows that are published one by one, checked from the cells that were published.

In blocks, a ring lies within one block, and its rows lie all over the file. So what is written is read once and its
boxes are put down by block; then each block is counted by itself, as a table in memory is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from coterie.arrays import Int32
from coterie.engines.finished import AT
from coterie.table.grouping import OneByOne
from coterie.verification.rows import RowSums, count_rows, read_boxes, rows_rule, summed
from coterie.verification.sql import RowReader

if TYPE_CHECKING:
    from coterie.engines.blocks.store import BlockStore
    from coterie.engines.finished import FinishedBlock
    from coterie.engines.plan import Plan
    from coterie.files.batches import TableFile
    from coterie.publishing.publish import PublishedTable
    from coterie.settings.config import Config
    from coterie.table.domain import Domain
    from coterie.table.encode import EncodedTable
    from coterie.table.grouping import Grouping
    from coterie.verification.verify import Rule


def save(rows: OneByOne, path: Path) -> None:
    """Keep what the check needs of a block."""
    with path.open("wb") as file:
        np.savez(file, **rows._asdict())


def load(path: Path) -> OneByOne:
    """What `save` has kept."""
    with np.load(path) as held:
        return OneByOne(**{name: held[name] for name in OneByOne._fields})


def count_pairs(rows: OneByOne, boxes: Int32, k: int) -> RowSums:
    """Count the pairs of rows and boxes.

    Args:
        rows: What was made.
        boxes: [rows, 2 d] smallest and largest codes of the rows' boxes as published, by row number.
        k: What was asked for.
    """
    if len(boxes) != len(rows.rank):
        # Rows that are missing cannot be in the rings; nor can others.
        return RowSums(0, len(rows.rank), max(len(rows.rank), 1))
    shown, width = boxes[rows.rank], boxes.shape[1] // 2
    lo, hi = np.ascontiguousarray(shown[:, :width]), np.ascontiguousarray(shown[:, width:])
    return summed(count_rows(rows.codes, lo=lo, hi=hi, start=rows.start, back=rows.back, k=k), k)


def cells_as_boxes(published: pa.Table, domains: Sequence[Domain], config: Config) -> Int32:
    """[rows, 2 d] what published cells say, as smallest and largest codes; what cannot be read holds nothing."""
    return np.hstack(read_boxes(published, {domain.name: domain.values for domain in domains}, config))


def memory_rule(
    published: PublishedTable, encoded: EncodedTable, grouping: Grouping, rows: OneByOne, config: Config
) -> Rule:
    """The promise as a rule for a table in memory; rows that are suppressed have to be k that look alike."""
    at = np.full(encoded.book.all_rows, -1, dtype=np.int64)
    at[published.kept] = np.arange(len(published.kept))
    shown = at[encoded.rows[grouping.labels >= 0]]
    boxes = cells_as_boxes(published.table.take(pa.array(shown[shown >= 0])), encoded.table.domains, config)
    others = np.ones(len(published.kept), dtype=np.bool_)
    others[shown[shown >= 0]] = False
    return rows_rule(count_pairs(rows, boxes, config.k), k=config.k, suppressed=np.flatnonzero(others))


@dataclass(frozen=True, eq=False)
class WrittenCheck:
    """Checks a written release."""

    plan: Plan
    store: BlockStore
    finished: tuple[FinishedBlock, ...]
    folder: Path
    """for what was read, by block"""

    def count(self, written: TableFile, *, shown: bool) -> RowSums:
        """Read what was written, and count in every block.

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
