"""Finished blocks on disk: published cells by ranges of row numbers, so that they can be written in row order.

A stripe is a range of rows of the table. A block's file has one piece for each stripe with rows of it: their
positions in the stripe, and their cells. A small file, written last, marks the block as finished. `stored_layout` tells
these files from those of a coterie with the same version number that stored something else.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import ipc

from coterie.arrays import Int64
from coterie.engines.block import BlockResult, packed
from coterie.engines.finished import AT, FinishedBlock
from coterie.measures.sums import BlockSums
from coterie.publishing.mapping import COLUMNS
from coterie.table.domain import Domain
from coterie.table.recoding import OneByOne

if TYPE_CHECKING:
    from coterie.engines.plan import Plan
    from coterie.files.batches import TableFile

CODE = "\0code "
"""columns of codes, for quasi-identifiers that may be published unchanged"""

STRIPE_ROWS = 2**18
FORMAT = 1
"""to be raised if the files mean something else by the same names"""


def stored_layout() -> str:
    """Return what identifies the layout of a block's files: their format and the names of all that they contain."""
    names = {"sums": BlockSums.names(), "one-by-one": OneByOne._fields, "mapping": list(COLUMNS)}
    return json.dumps({"format": FORMAT, "stripe_rows": STRIPE_ROWS, **names})


class BlockStore:
    """A folder of finished blocks."""

    def __init__(self, folder: Path, *, stripe_rows: int) -> None:
        self.folder = folder
        self.stripe_rows = stripe_rows

    def path(self, block: int, kind: Literal["cells", "json", "one-by-one", "mapping", "suppressed"]) -> Path:
        """Return the path of a block's cells, its record, the check data of single rows, its mapping or its counts."""
        return self.folder / f"block-{block:06}.{kind}"

    def arrays(self, block: int, kind: Literal["one-by-one", "suppressed"]) -> dict[str, npt.NDArray[Any]] | None:
        """Return what `put_arrays` stored, if anything."""
        path = self.path(block, kind)
        if not path.exists():
            return None
        with np.load(path) as held:
            return dict(held)

    def put_arrays(self, block: int, kind: Literal["one-by-one", "suppressed"], **arrays: npt.NDArray[Any]) -> None:
        """Store some arrays about a block by name."""
        path = self.path(block, kind)
        waiting = path.with_suffix(f".{kind}.part")
        with waiting.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
        waiting.replace(path)

    def done(self, block: int) -> FinishedBlock | None:
        """Return the summary of a block, if it is finished. One that was lost with the machine's power is not."""
        path = self.path(block, "json")
        if not path.exists():
            return None
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            return None
        pieces = {int(stripe): (start, size) for stripe, (start, size) in record["pieces"].items()}
        return FinishedBlock(pieces, BlockSums.from_dict(record["sums"]), tuple(record["notes"]))

    def put(self, block: int, numbers: Int64, result: BlockResult) -> FinishedBlock:
        """Store a finished block, whose rows have these numbers, ascending."""
        pieces: dict[int, tuple[int, int]] = {}
        cells, summary = self.path(block, "cells"), self.path(block, "json")
        temporary = cells.with_suffix(".part")
        with temporary.open("wb") as file:
            for stripe, batch in _pieces(numbers, result, self.stripe_rows):
                start = file.tell()
                file.write(packed(batch))
                pieces[stripe] = (start, file.tell() - start)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(cells)
        record = {"pieces": pieces, "sums": result.sums.to_dict(), "notes": result.notes}
        temporary.write_text(json.dumps(record), encoding="utf-8")
        temporary.replace(summary)
        return FinishedBlock(pieces, result.sums, result.notes)

    def piece(self, block: int, finished: FinishedBlock, stripe: int) -> pa.RecordBatch | None:
        """Return the rows of a block in one stripe, if it has any."""
        if stripe not in finished.pieces:
            return None
        start, size = finished.pieces[stripe]
        with self.path(block, "cells").open("rb") as file:
            file.seek(start)
            with ipc.open_stream(pa.py_buffer(file.read(size))) as reader:
                return reader.read_next_batch()


@dataclass(frozen=True, eq=False)
class FinishedTable:
    """A table whose blocks are all finished."""

    original: TableFile
    plan: Plan
    store: BlockStore
    finished: tuple[FinishedBlock, ...]

    def stripes(self) -> Iterator[tuple[int, int]]:
        """Yield the number of each stripe, and its rows."""
        rows, size = self.plan.book.all_rows, self.store.stripe_rows
        return ((number, min(size, rows - number * size)) for number in range(-(-rows // size)))

    def pieces(self, stripe: int) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yield each block that has rows in a stripe, and these."""
        for block, each in enumerate(self.finished):
            if (piece := self.store.piece(block, each, stripe)) is not None:
                yield block, piece

    @cached_property
    def suppressed(self) -> Int64:
        """The rows that no block publishes, ascending."""
        found = [np.zeros(0, dtype=np.int64)]
        for stripe, rows in self.stripes():
            inside = np.zeros(rows, dtype=np.bool_)
            for _, piece in self.pieces(stripe):
                inside[piece.column(AT).to_numpy()] = True
            found.append(stripe * self.store.stripe_rows + np.flatnonzero(~inside))
        return np.concatenate(found)


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
