"""One block on an executor: its rows arrive in any order, and leave generalized, with a message for the driver."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import Int32, UInt64
from coterie.engines.spark.guard import guarded_task
from coterie.engines.spark.rows import fingerprints, unpack_codes
from coterie.errors import DataError

if TYPE_CHECKING:
    from coterie.engines.block import BlockResult
    from coterie.engines.plan import Plan

BATCH_ROWS = 100_000


class BlockWork(NamedTuple):
    """What a task needs to group and generalize blocks."""

    plan: Plan
    sums: UInt64
    """block → sum of the fingerprints of its rows, as counted for the plan"""
    kept: tuple[int, ...]
    """columns c0, c1, … that are published unchanged"""
    published: dict[str, tuple[pa.DataType, Any]]
    """published column of a quasi-identifier → its type, and its value for a suppressed row"""
    own: dict[str, pa.DataType]
    """quasi-identifier → the type of its own values"""
    mapping: bool
    """whether to return the published values of each group"""


@guarded_task
def group_partition(batches: Iterator[pa.RecordBatch], *, work: BlockWork) -> Iterator[pa.RecordBatch]:
    """Group the blocks of a partition: one, unless Spark put several together."""
    held = list(batches)
    if held:
        yield from group_table(pa.Table.from_batches(held), work).to_batches(max_chunksize=BATCH_ROWS)


@guarded_task
def _one(table: pa.Table, *, work: BlockWork) -> Iterator[pa.Table]:
    yield group_table(table, work)


def group_whole(table: pa.Table, *, work: BlockWork) -> pa.Table:
    """Group whole blocks, for a Spark that passes whole groups."""
    return next(_one(table, work=work))


def group_table(table: pa.Table, work: BlockWork) -> pa.Table:
    """Group and generalize the rows of some blocks."""
    block = table.column("block").to_numpy()
    parts = [_hidden_rows(table.filter(pa.array(block < 0)), work)] if (block < 0).any() else []
    for each in np.unique(block[block >= 0]):
        mine = table if (block == each).all() else table.filter(pa.array(block == each))
        order = np.argsort(mine.column("row").to_numpy(), kind="stable")
        parts.append(_block(mine.take(pa.array(order)).combine_chunks(), int(each), work))
    return pa.concat_tables(parts)


@guarded_task
def suppress_partition(batches: Iterator[pa.RecordBatch], *, plan: Plan) -> Iterator[pa.RecordBatch]:
    """Count, for the blocks of a partition, the rows with each sensitive value that the method suppresses."""
    held = list(batches)
    if held:
        yield from _suppressed(pa.Table.from_batches(held), plan)


@guarded_task
def _suppressed_one(table: pa.Table, *, plan: Plan) -> Iterator[pa.Table]:
    yield pa.Table.from_batches(list(_suppressed(table, plan)))


def suppress_whole(table: pa.Table, *, plan: Plan) -> pa.Table:
    """Count suppressed values in whole blocks, for a Spark that passes whole groups."""
    return next(_suppressed_one(table, plan=plan))


def _suppressed(table: pa.Table, plan: Plan) -> Iterator[pa.RecordBatch]:
    from coterie.engines.block import suppressed_values
    from coterie.engines.spark.tasks import message

    block = table.column("block").to_numpy()
    width = len(plan.book.domains)
    for each in np.unique(block[block >= 0]):
        mine = table.filter(pa.array(block == each))
        order = np.argsort(mine.column("row").to_numpy(), kind="stable")
        codes = unpack_codes(mine.column("codes"), width + len(plan.book.sensitive))[order]
        compile_once(plan.book.config.method)
        quasi, sensitive = np.ascontiguousarray(codes[:, :width]), np.ascontiguousarray(codes[:, width:])
        gone = suppressed_values(quasi, sensitive, plan, int(each))
        for column, rows in enumerate(gone):
            yield message(str(column), pa.table({"rows": rows}))


def _block(table: pa.Table, block: int, work: BlockWork) -> pa.Table:
    from coterie.engines.block import anonymize_block
    from coterie.engines.mapping import block_mapping
    from coterie.engines.row_check import cells_as_boxes, count_pairs

    started = time.process_time()
    book = work.plan.book
    codes = unpack_codes(table.column("codes"), len(book.domains) + len(book.sensitive))
    quasi, sensitive = codes[:, : len(book.domains)], codes[:, len(book.domains) :]
    rows = table.column("row").to_numpy()
    found = int(fingerprints(rows, quasi, sensitive).sum())
    if len(rows) != work.plan.sizes[block] or found != int(work.sums[block]):
        raise DataError(
            "The rows differed when they were read again, so a block no longer matches the plan.",
            rows=len(rows),
            hint="Write the DataFrame to a table first, or name a column that numbers its rows (row_number).",
        )
    compile_once(book.config.method)
    made = anonymize_block(np.ascontiguousarray(quasi), np.ascontiguousarray(sensitive), work.plan, block, threads=1)
    pairs = None
    if made.one_by_one is not None:
        # Their boxes are read again from the very cells that leave this task.
        cells = pa.table(made.columns()).filter(pa.array(made.group >= 0))
        boxes = cells_as_boxes(cells, book.domains, book.config)
        pairs = count_pairs(made.one_by_one, boxes, book.config.k)
    facts = {
        "block": block,
        "pairs": pairs,
        "sums": made.sums.to_dict(),
        "notes": list(made.notes),
        "cpu": time.process_time() - started,
    }
    mapping = block_mapping(made, work.plan) if work.mapping else None
    return _published(table, work, made, quasi, BlockMessage(json.dumps(facts).encode(), mapping))


class BlockMessage(NamedTuple):
    """A message about a block for the driver."""

    facts: bytes
    mapping: bytes | None


def _published(table: pa.Table, work: BlockWork, made: BlockResult, codes: Int32, told: BlockMessage) -> pa.Table:
    """Return the published rows of a block, with the message for the driver in the first of them."""
    count = table.num_rows
    cells = made.columns()
    arrays: dict[str, pa.Array | pa.ChunkedArray] = {
        "row": table.column("row"),
        "hidden": pa.array(made.group < 0),
        "facts": pa.array([told.facts, *([None] * (count - 1))], pa.binary()),
        "mapping": pa.array([told.mapping, *([None] * (count - 1))], pa.binary()),
    }
    for at, (name, (kind, _)) in enumerate(work.published.items()):
        # Spark takes no dictionaries.
        arrays[f"t{at}"] = cells[name].dictionary.cast(kind).take(cells[name].indices)
    for at, domain in enumerate(work.plan.book.domains):
        kind = work.own[domain.name]
        whole = made.labels[domain.name].unchanged
        arrays[f"u{at}"] = domain.values.cast(kind).take(pa.array(codes[:, at])) if whole else pa.nulls(count, kind)
    arrays |= {f"c{at}": table.column(f"c{at}") for at in work.kept}
    return pa.table(arrays)


def _hidden_rows(table: pa.Table, work: BlockWork) -> pa.Table:
    """Return rows that are suppressed from the start: `*`, or null in columns that cannot contain it."""
    count = table.num_rows
    arrays: dict[str, pa.Array | pa.ChunkedArray] = {
        "row": table.column("row"),
        "hidden": pa.array(np.ones(count, dtype=np.bool_)),
        "facts": pa.nulls(count, pa.binary()),
        "mapping": pa.nulls(count, pa.binary()),
    }
    for at, (kind, shown) in enumerate(work.published.values()):
        arrays[f"t{at}"] = pa.repeat(pa.scalar(shown, kind), count)
    for at, kind in enumerate(work.own.values()):
        arrays[f"u{at}"] = pa.nulls(count, kind)
    arrays |= {f"c{at}": table.column(f"c{at}") for at in work.kept}
    return pa.table(arrays)


def place_kernels() -> None:
    """Choose the folder of compiled kernels before they are loaded.

    Executors often run as a user without a home: then kernels are kept in the folder for temporary files, rather than
    in a new folder for each process.
    """
    home = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    if "NUMBA_CACHE_DIR" in os.environ or _writable(Path(home) / "coterie"):
        return
    folder = str(Path(tempfile.gettempdir()) / f"coterie-{_user()}")
    os.environ["NUMBA_CACHE_DIR"] = folder
    if "coterie.kernels" not in sys.modules and "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_DIR = folder  # it has read the environment already


def compile_once(method: str) -> None:
    """Compile the kernels in one process per machine while the others wait; the result is cached."""
    place_kernels()
    from coterie.kernels.compiling import compile_ahead

    compile_ahead(method, lambda step, done, total: None)


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
