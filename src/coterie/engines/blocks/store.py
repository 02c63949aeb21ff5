"""Finished blocks on disk: published cells by ranges of row numbers, so that they can be written in row order.

A stripe is a range of rows of the table. A block's file has one piece for each stripe with rows of it: their
positions in the stripe, and their cells. A small file, written last, marks the block as finished.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import ipc

from coterie.arrays import Bool, Int64
from coterie.engines.block import BlockResult
from coterie.engines.finished import AT, FinishedBlock
from coterie.measures.sums import BlockSums
from coterie.table.domain import Domain

CODE = "\0code "
"""columns of codes, for quasi-identifiers that may be published unchanged"""


class BlockStore:
    """A folder of finished blocks."""

    def __init__(self, folder: Path, *, stripe_rows: int) -> None:
        self.folder = folder
        self.stripe_rows = stripe_rows

    def _cells(self, block: int) -> Path:
        return self.folder / f"block-{block:06}.cells"

    def _record(self, block: int) -> Path:
        return self.folder / f"block-{block:06}.json"

    def one_by_one(self, block: int) -> Path:
        """Return the path of the check data of a block whose rows are published one by one."""
        return self.folder / f"block-{block:06}.one-by-one"

    def mapping(self, block: int) -> Path:
        """Return the path of a block's mapping, if requested."""
        return self.folder / f"block-{block:06}.mapping"

    def suppressed(self, block: int) -> list[Int64] | None:
        """Return what `put_suppressed` stored, if anything."""
        path = self.folder / f"block-{block:06}.suppressed"
        if not path.exists():
            return None
        with np.load(path) as held:
            return [held[name] for name in held.files]

    def put_suppressed(self, block: int, values: Sequence[Int64]) -> None:
        """Store, per sensitive column, code → rows of a block that its method suppresses."""
        waiting = self.folder / f"block-{block:06}.suppressed.part"
        with waiting.open("wb") as file:
            np.savez(file, *values)
        waiting.replace(waiting.with_suffix(""))

    def done(self, block: int) -> FinishedBlock | None:
        """Return the summary of a block, if it is finished."""
        path = self._record(block)
        if not path.exists():
            return None
        record = json.loads(path.read_text(encoding="utf-8"))
        pieces = {int(stripe): (start, size) for stripe, (start, size) in record["pieces"].items()}
        return FinishedBlock(pieces, BlockSums.from_dict(record["sums"]), tuple(record["notes"]))

    def put(self, block: int, numbers: Int64, result: BlockResult) -> FinishedBlock:
        """Store a finished block.

        Args:
            block: The block's number.
            numbers: Its rows' numbers, ascending.
            result: Its published rows.
        """
        pieces: dict[int, tuple[int, int]] = {}
        temporary = self._cells(block).with_suffix(".part")
        with temporary.open("wb") as file:
            for stripe, batch in _pieces(numbers, result, self.stripe_rows):
                start = file.tell()
                file.write(_serialized(batch))
                pieces[stripe] = (start, file.tell() - start)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self._cells(block))
        record = {"pieces": pieces, "sums": result.sums.to_dict(), "notes": result.notes}
        waiting = self._record(block).with_suffix(".part")
        waiting.write_text(json.dumps(record), encoding="utf-8")
        waiting.replace(self._record(block))
        return FinishedBlock(pieces, result.sums, result.notes)

    def published(self, finished: Sequence[FinishedBlock], stripe: int, rows: int) -> Bool:
        """Return row of a stripe → whether some block publishes it; others are suppressed.

        Args:
            finished: All blocks.
            stripe: The stripe's number.
            rows: Its number of rows.
        """
        inside = np.zeros(rows, dtype=np.bool_)
        for block, each in enumerate(finished):
            if (piece := self.piece(block, each, stripe)) is not None:
                inside[piece.column(AT).to_numpy()] = True
        return inside

    def piece(self, block: int, finished: FinishedBlock, stripe: int) -> pa.RecordBatch | None:
        """Return the rows of a block in one stripe, if it has any."""
        if stripe not in finished.pieces:
            return None
        start, size = finished.pieces[stripe]
        with self._cells(block).open("rb") as file:
            file.seek(start)
            with ipc.open_stream(pa.py_buffer(file.read(size))) as reader:
                return reader.read_next_batch()


def _serialized(batch: pa.RecordBatch) -> bytes:
    sink = io.BytesIO()
    with ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue()


def _pieces(numbers: Int64, result: BlockResult, stripe_rows: int) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield the published rows by stripe. Suppressed ones are left out: a row in no block is suppressed."""
    kept = np.flatnonzero(result.group >= 0)
    rows = numbers[kept]
    stripe = rows // stripe_rows
    present, starts = np.unique(stripe, return_index=True)
    ends = np.append(starts[1:], len(rows))
    for number, start, end in zip(present, starts, ends, strict=True):
        inside = kept[start:end]
        columns: dict[str, Any] = {AT: pa.array((rows[start:end] - number * stripe_rows).astype(np.int32))}
        columns |= result.cells(inside)
        for at, (name, labels) in enumerate(result.labels.items()):
            if labels.unchanged:
                columns[CODE + name] = pa.array(result.lo[result.group[inside], at])
        yield int(number), pa.RecordBatch.from_pydict(columns)


class Stripe(NamedTuple):
    """The published quasi-identifiers of a range of rows, in row order."""

    columns: dict[str, pa.ChunkedArray]
    """published column → cells of the rows that are shown"""
    kept: Int64
    """shown row → its position in the stripe"""


def join_pieces(
    pieces: list[pa.RecordBatch],
    *,
    rows: int,
    published: Mapping[str, tuple[pa.DataType, Any]],
    unchanged: Mapping[str, Domain],
    show_suppressed: bool,
) -> Stripe:
    """Merge the pieces of all blocks in row order.

    Args:
        pieces: Those with rows in the stripe.
        rows: The number of rows of the stripe.
        published: Published column → its type and its value for a suppressed row.
        unchanged: Quasi-identifier published unchanged → its domain.
        show_suppressed: Whether rows in no piece are shown.
    """
    at = np.concatenate([piece.column(AT).to_numpy() for piece in pieces] or [np.zeros(0, dtype=np.int32)])
    place = np.full(rows, -1, dtype=np.int64)
    place[at] = np.arange(len(at))
    kept = np.arange(rows) if show_suppressed else np.flatnonzero(place >= 0)
    place = place[kept]
    columns: dict[str, pa.ChunkedArray] = {}
    for name, domain in unchanged.items():
        codes = np.concatenate([piece.column(CODE + name).to_numpy() for piece in pieces] or [at])
        columns[name] = pa.chunked_array([domain.values.take(pa.array(codes[place]))])
    for name, (kind, suppressed) in published.items():
        # One more value at the end: place −1 is a suppressed row.
        dictionaries = [piece.column(name).dictionary.cast(kind) for piece in pieces]
        values = pa.concat_arrays([*dictionaries, pa.array([suppressed], kind)])
        shifts = np.cumsum([0, *(len(each) for each in dictionaries)])[:-1]
        index = [piece.column(name).indices.to_numpy() + shift for piece, shift in zip(pieces, shifts, strict=False)]
        every = np.concatenate([*index, np.array([len(values) - 1])])
        columns[name] = pa.chunked_array([values.take(pa.array(every[place]))])
    return Stripe(columns, kept)
