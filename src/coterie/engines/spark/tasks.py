"""Code that runs on the executors: Arrow batches in, Arrow batches out, independent of Spark.

Spark sends each of these functions with its arguments (codebook, plan, row numbers) to any executor, and may do
so several times. Their results depend only on the rows and the arguments.

Columns travel under the names c0, c1, …, so that the user's names cannot be confused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from coterie.arrays import Int32, Int64
from coterie.engines.block import packed
from coterie.engines.cuts import CutTree, in_sample
from coterie.engines.leaves import LeafCounts
from coterie.engines.spark.guard import guarded_task
from coterie.engines.spark.rows import RowNumbers, fingerprints, pack_codes, sums_by
from coterie.table.codebook import Codebook, CodedRows, coded_columns

if TYPE_CHECKING:
    from coterie.engines.plan import Plan

Batches = Iterator[pa.RecordBatch]

# Rows of a message are few; each has a name and a body.
MESSAGE = "kind string, body binary"


def named(batch: pa.RecordBatch, names: Sequence[str]) -> pa.Table:
    """Return the first columns under the user's names; others may follow, and the key is the last."""
    columns = [pa.chunked_array([batch.column(at)]) for at in range(len(names))]
    return pa.Table.from_arrays(columns, names=list(names))


def message(kind: str, table: pa.Table) -> pa.RecordBatch:
    """Make one row for the driver."""
    return pa.RecordBatch.from_arrays([pa.array([kind]), pa.array([packed(table)], pa.binary())], ["kind", "body"])


def opened(body: bytes) -> pa.Table:
    """Return the table of a message."""
    return pa.ipc.open_stream(body).read_all()


@dataclass(frozen=True, eq=False)
class RowCoder:
    """Converts batches, which begin with the coded columns, to rows of codes."""

    book: Codebook
    numbers: RowNumbers

    def all_rows(self, batch: pa.RecordBatch, share: float = 1.0) -> tuple[Int64, CodedRows]:
        """Return the numbers of all rows, or of a sample of them, and the codes of the included ones."""
        rows = self.numbers.of(batch.column(batch.num_columns - 1))
        if share < 1.0:
            chosen = in_sample(rows, share)
            batch, rows = batch.filter(pa.array(chosen)), rows[chosen]
        return rows, self.book.encode(named(batch, coded_columns(self.book.config)), rows)

    def __call__(self, batch: pa.RecordBatch, *, share: float = 1.0) -> tuple[Int64, Int32, Int32]:
        """Return row numbers, codes and sensitive codes of the included rows, or of a sample of all rows."""
        rows, coded = self.all_rows(batch, share)
        return rows[coded.keep], coded.codes, coded.sensitive


SAMPLED = "leaf int, row bigint, codes binary"


@guarded_task
def sample_rows(
    batches: Batches, *, reader: RowCoder, share: float, tree: CutTree, shares: dict[int, float] | None = None
) -> Batches:
    """Yield the rows of a sample, as codes; `shares` are those of single leaves, if only some of them matter."""
    for batch in batches:
        rows, codes, _ = reader(batch, share=share)
        leaf = tree.leaf_of(codes, rows)
        if shares is not None:
            chosen = np.zeros(len(rows), dtype=np.bool_)
            for each, wanted in shares.items():
                inside = np.flatnonzero(leaf == each)
                chosen[inside] = in_sample(rows[inside], wanted)
            rows, codes, leaf = rows[chosen], codes[chosen], leaf[chosen]
        if len(rows):
            yield pa.RecordBatch.from_arrays(
                [pa.array(leaf), pa.array(rows), pack_codes(codes)], ["leaf", "row", "codes"]
            )


@guarded_task
def count_leaves(batches: Batches, *, reader: RowCoder, tree: CutTree) -> Batches:
    """Count the rows of each leaf, with sensitive values if needed; and compute a checksum of the rows."""
    counts = LeafCounts(tree.leaves, reader.book)
    sums = np.zeros(tree.leaves, dtype=np.uint64)
    for batch in batches:
        rows, codes, sensitive = reader(batch)
        leaf = tree.leaf_of(codes, rows)
        counts.add(leaf, sensitive)
        sums += sums_by(leaf, fingerprints(rows, codes, sensitive), tree.leaves)
    yield message("leaves", pa.table({"rows": counts.rows, "sum": sums}))
    for column in range(len(reader.book.sensitive)):
        keys, held = counts.pairs(column)
        yield message(f"pairs:{column}", pa.table({"key": keys, "rows": held}))


@guarded_task
def assign_blocks(
    batches: Batches, *, reader: RowCoder, plan: Plan, kept: tuple[int, ...], titles: tuple[int, ...]
) -> Batches:
    """Yield each row with its block, its number, its codes and the columns that are published unchanged.

    Rows that are suppressed from the start have block −1 and go with any block. The columns at the positions `kept`
    are carried along under the titles c0, c1, ….
    """
    for batch in batches:
        rows, coded = reader.all_rows(batch)
        block = np.full(len(rows), -1, dtype=np.int32)
        codes = np.zeros((len(rows), coded.codes.shape[1] + coded.sensitive.shape[1]), dtype=np.int32)
        block[coded.keep] = plan.block_of(coded.codes, rows[coded.keep])
        codes[coded.keep] = np.hstack([coded.codes, coded.sensitive])
        place = np.where(block < 0, rows % plan.blocks, block).astype(np.int32)
        ours = [pa.array(place), pa.array(block), pa.array(rows), pack_codes(codes)]
        yield pa.RecordBatch.from_arrays(
            [*ours, *(batch.column(at) for at in kept)],
            ["place", "block", "row", "codes", *(f"c{at}" for at in titles)],
        )
