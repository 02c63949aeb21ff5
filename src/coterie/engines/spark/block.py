"""One block on an executor: its rows arrive in any order, and leave generalized, with a message for the driver."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import Bool, Int32, UInt64
from coterie.engines.spark.guard import guarded_task
from coterie.engines.spark.rows import fingerprints, unpack_codes
from coterie.errors import DataError

if TYPE_CHECKING:
    from coterie.engines.plan import Plan
    from coterie.publishing.publish import Publisher

BATCH_ROWS = 100_000


class BlockWork(NamedTuple):
    """What a task needs to group and generalize blocks."""

    plan: Plan
    sums: UInt64
    """block → sum of the fingerprints of its rows, as counted for the plan"""
    kept: tuple[int, ...]
    """columns c0, c1, … that are published as they are"""
    publisher: Publisher
    mapping: bool
    """whether to return the published values of each group"""


@guarded_task
def group_partition(batches: Iterator[pa.RecordBatch], *, work: BlockWork) -> Iterator[pa.RecordBatch]:
    """Group the blocks of a partition: one, unless Spark put several together."""
    held = list(batches)
    if held:
        yield from group_table(pa.Table.from_batches(held), work).to_batches(max_chunksize=BATCH_ROWS)


def group_table(table: pa.Table, work: BlockWork) -> pa.Table:
    """Group and generalize the rows of some blocks."""
    hidden = table.column("block").to_numpy() < 0
    parts = [_hidden_rows(table.filter(pa.array(hidden)), work)] if hidden.any() else []
    return pa.concat_tables([*parts, *(_block(rows, block, work) for block, rows in _blocks(table))])


def _blocks(table: pa.Table) -> Iterator[tuple[int, pa.Table]]:
    """Yield each block, and its rows in their order."""
    block = table.column("block").to_numpy()
    for each in np.unique(block[block >= 0]):
        mine = table if (block == each).all() else table.filter(pa.array(block == each))
        order = np.argsort(mine.column("row").to_numpy(), kind="stable")
        yield int(each), mine.take(pa.array(order)).combine_chunks()


@guarded_task
def suppress_partition(batches: Iterator[pa.RecordBatch], *, plan: Plan) -> Iterator[pa.RecordBatch]:
    """Count, for the blocks of a partition, the rows with each sensitive value that the method suppresses."""
    from coterie.engines.block import suppressed_values
    from coterie.engines.spark.tasks import message

    held = list(batches)
    for block, table in _blocks(pa.Table.from_batches(held)) if held else ():
        quasi, sensitive = _codes(table, plan)
        compile_once(plan.book.config.method)
        for column, rows in enumerate(suppressed_values(quasi, sensitive, plan, block)):
            yield message(str(column), pa.table({"rows": rows}))


def _codes(table: pa.Table, plan: Plan) -> tuple[Int32, Int32]:
    """Return the codes of quasi-identifiers and of sensitive attributes."""
    width = len(plan.book.domains)
    codes = unpack_codes(table.column("codes"), width + len(plan.book.sensitive))
    return np.ascontiguousarray(codes[:, :width]), np.ascontiguousarray(codes[:, width:])


def _block(table: pa.Table, block: int, work: BlockWork) -> pa.Table:
    from coterie.engines.block import anonymize_block
    from coterie.engines.mapping import block_mapping
    from coterie.verification.rows import count_pairs, read_boxes

    started = time.process_time()
    book = work.plan.book
    quasi, sensitive = _codes(table, work.plan)
    rows = table.column("row").to_numpy()
    found = int(fingerprints(rows, quasi, sensitive).sum())
    if len(rows) != work.plan.sizes[block] or found != int(work.sums[block]):
        raise DataError(
            "The rows differed when they were read again, so a block no longer matches the plan.",
            rows=len(rows),
            hint="Write the DataFrame to a table first, or name a column that numbers its rows (row_number).",
        )
    compile_once(book.config.method)
    made = anonymize_block(quasi, sensitive, work.plan, block, rows=rows)
    pairs = None
    if made.one_by_one is not None:
        # Their boxes are read again from the very cells that leave this task.
        cells = pa.table(made.cells(np.flatnonzero(made.group >= 0)))
        pairs = count_pairs(made.one_by_one, read_boxes(cells, book.values, book.config), book.config.k)
    facts = {
        "block": block,
        "pairs": pairs,
        "sums": made.sums.to_dict(),
        "notes": list(made.notes),
        "cpu": time.process_time() - started,
    }
    told = (json.dumps(facts).encode(), block_mapping(made, work.plan) if work.mapping else None)
    own = {at: quasi[:, at] for at, labels in enumerate(made.labels.values()) if labels.unchanged}
    # Spark takes no dictionaries.
    cells = {name: each.dictionary.take(each.indices) for name, each in made.cells().items()}
    return _rows(table, work, cells, own=own, hidden=made.group < 0, told=told)


def _hidden_rows(table: pa.Table, work: BlockWork) -> pa.Table:
    """Return rows that are suppressed from the start: `*`, or null in columns that cannot contain it."""
    shown = work.publisher.suppressed.items()
    cells = {name: pa.repeat(pa.scalar(value, kind), table.num_rows) for name, (kind, value) in shown}
    return _rows(table, work, cells, own={}, hidden=np.ones(table.num_rows, dtype=np.bool_), told=(None, None))


def _rows(
    table: pa.Table,
    work: BlockWork,
    cells: Mapping[str, pa.Array],
    *,
    own: Mapping[int, Int32],
    hidden: Bool,
    told: tuple[bytes | None, bytes | None],
) -> pa.Table:
    """Return the published rows, with `told` in the first: facts, and the mapping if it is wanted.

    `own` are the codes of quasi-identifiers, by position, that may be published with their own values.
    """
    rest = [None] * (table.num_rows - 1)
    arrays: dict[str, pa.Array | pa.ChunkedArray] = {
        "row": table.column("row"),
        "hidden": pa.array(hidden),
        **{name: pa.array([each, *rest], pa.binary()) for name, each in zip(("facts", "mapping"), told, strict=True)},
    }
    arrays |= {
        f"t{at}": cells[name].cast(kind) for at, (name, (kind, _)) in enumerate(work.publisher.suppressed.items())
    }
    for at, domain in enumerate(work.publisher.domains):
        nothing = pa.nulls(table.num_rows, domain.values.type)
        arrays[f"u{at}"] = domain.values.take(pa.array(own[at])) if at in own else nothing
    return pa.table(arrays | {f"c{at}": table.column(f"c{at}") for at in work.kept})


def place_kernels() -> None:
    """Choose the folder of compiled kernels before they are loaded.

    Executors often run as a user without a home: then kernels are kept in the folder for temporary files, rather than
    in a new folder for each process.
    """
    home = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    if "NUMBA_CACHE_DIR" in os.environ or _writable(Path(home) / "coterie"):
        return
    folder = str(Path(tempfile.gettempdir()) / f"coterie-{getattr(os, 'getuid', int)()}")
    os.environ["NUMBA_CACHE_DIR"] = folder
    if "coterie.kernels" not in sys.modules and "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_DIR = folder  # it has read the environment already


def compile_once(method: str) -> None:
    """Compile the kernels of a method on an executor."""
    place_kernels()
    from coterie.kernels.compiling import compile_ahead

    compile_ahead(method, lambda *_: None)


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)
