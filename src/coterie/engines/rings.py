"""Rings in blocks: the promise of rows that are published one by one, checked from what was written.

A ring lies within one block, and its rows lie all over the file. So what is written is read once and its boxes are
put down by block; then each block is counted by itself, as `per_row` counts a table in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import Int32, Int64
from coterie.engines.finished import AT
from coterie.engines.per_row import row_in_slot, steps_back
from coterie.verification.rows import RowSums, count_rows, read_boxes, summed
from coterie.verification.sql import RowReader

if TYPE_CHECKING:
    from coterie.engines.blocks.store import BlockStore
    from coterie.engines.finished import FinishedBlock
    from coterie.engines.plan import Plan
    from coterie.files.batches import TableFile
    from coterie.settings.config import Config
    from coterie.table.domain import Domain
    from coterie.table.rings import Rings


class RingRows(NamedTuple):
    """The rings of a block, as far as the check needs them."""

    codes: Int32
    """[places, d] the rows' codes, ring after ring"""
    start: Int64
    """ring → its first place; one more entry at the end"""
    back: Int64
    """place → how many places before it stands the slot of its row"""
    rank: Int64
    """slot → which of the block's rows that are in rings is published in it, by row number"""

    @classmethod
    def of(cls, rings: Rings, codes: Int32) -> RingRows:
        """From the rings and the codes of a block's rows."""
        inside = np.zeros(len(codes), dtype=np.int64)
        inside[rings.order] = 1
        rank = np.cumsum(inside) - 1
        return cls(
            codes[rings.order],
            rings.start.astype(np.int64),
            steps_back(rings),
            rank[row_in_slot(rings)].astype(np.int64),
        )

    def save(self, path: Path) -> None:
        """Keep them in a file."""
        with path.open("wb") as file:
            np.savez(file, **self._asdict())

    @classmethod
    def load(cls, path: Path) -> RingRows:
        """What `save` has kept."""
        with np.load(path) as held:
            return cls(**{name: held[name] for name in cls._fields})

    def judged(self, boxes: Int32, k: int) -> RowSums:
        """Count the pairs of rows and boxes.

        Args:
            boxes: [rows, 2 d] smallest and largest codes of the rows' boxes as published, by row number.
            k: What was asked for.
        """
        if len(boxes) != len(self.rank):
            # Rows that are missing cannot be in the rings; nor can others.
            return RowSums(0, len(self.rank), max(len(self.rank), 1))
        shown, width = boxes[self.rank], boxes.shape[1] // 2
        lo, hi = np.ascontiguousarray(shown[:, :width]), np.ascontiguousarray(shown[:, width:])
        return summed(count_rows(self.codes, lo=lo, hi=hi, start=self.start, back=self.back, k=k), k)


def published_boxes(published: pa.Table, domains: Sequence[Domain], config: Config) -> Int32:
    """[rows, 2 d] what published cells say, as smallest and largest codes; what cannot be read holds nothing."""
    return np.hstack(read_boxes(published, {domain.name: domain.values for domain in domains}, config))


@dataclass(frozen=True, eq=False)
class RingCheck:
    """Checks the rings of a written release."""

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
            sums = sums.joined(RingRows.load(self.store.rings(block)).judged(boxes, config.k))
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
        boxes = published_boxes(rows.take(count), book.domains, book.config)
        for block, at in places.items():
            with self._path(block).open("ab") as file:
                file.write(boxes[position[at]].tobytes())
