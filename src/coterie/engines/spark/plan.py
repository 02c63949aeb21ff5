"""Plan a release on Spark: three passes over the rows, none of which sends more than a sample to the driver.

Values are counted, a sample is cut into blocks, and all rows are counted by block. The plan is the same as the
embedded engine's for the same rows.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import UInt64
from coterie.engines.cuts import CutTree, plant, sample_share
from coterie.engines.leaves import LeafCounts, join_leaves, too_large
from coterie.engines.plan import Plan
from coterie.engines.spark.count import count_table, messages
from coterie.engines.spark.guard import guarded
from coterie.engines.spark.rows import RowNumbers, unpack_codes
from coterie.engines.spark.source import NumberedRows
from coterie.engines.spark.tasks import SAMPLED, RowCoder, count_leaves, sample_rows
from coterie.grouping.promises import refuse_impossible
from coterie.table.codebook import Codebook, coded_columns
from coterie.table.masks import Mask

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from coterie.settings.config import Config

# A leaf that is too large after this many rounds cannot be cut.
ROUNDS = 32


class SparkPlan(NamedTuple):
    """A plan, and what else tasks need."""

    plan: Plan
    numbers: RowNumbers
    sums: UInt64
    """block → sum of the fingerprints of its rows"""


def make_plan(
    rows: NumberedRows, config: Config, *, most: int, threads: int = 1, mask: Mask | None = None
) -> SparkPlan:
    """Fix the codes of all values, and where the table is cut into blocks of at most `most` rows.

    The driver groups the sample with these threads.
    """
    frame = rows.selected(coded_columns(config))
    book, numbers = count_table(rows, frame, config, mask or Mask())
    refuse_impossible(book)
    reader = RowCoder(book, numbers)
    tree = CutTree.single()
    if book.rows > most:
        found = _sampled(frame, reader, tree, share=sample_share(book.rows))
        tree = _planted(found, 0, book, expected=book.rows, most=most, threads=threads)
    for _ in range(ROUNDS):
        counts, sums = _counted(frame, reader, tree)
        large = too_large(counts, most)
        if not large:
            break
        shares = {leaf: sample_share(int(counts.rows[leaf])) for leaf in large}
        found = _sampled(frame, reader, tree, share=max(shares.values()), shares=shares)
        for leaf in large:
            expected = int(counts.rows[leaf])
            tree = tree.replace_leaf(leaf, _planted(found, leaf, book, expected=expected, most=most, threads=threads))
    plan = join_leaves(tree, counts, book, most=most)
    of_block = np.zeros(plan.blocks, dtype=np.uint64)
    np.add.at(of_block, plan.block_of_leaf, sums)
    return SparkPlan(plan, numbers, of_block)


def _sampled(
    frame: DataFrame, reader: RowCoder, tree: CutTree, *, share: float, shares: dict[int, float] | None = None
) -> pa.Table:
    task = partial(sample_rows, reader=reader, share=share, tree=tree, shares=shares)
    with guarded("taking a sample"):
        return frame.mapInArrow(task, SAMPLED).toArrow().sort_by("row")


def _planted(found: pa.Table, leaf: int, book: Codebook, *, expected: int, most: int, threads: int) -> CutTree:
    mine = found.filter(pa.array(found.column("leaf").to_numpy() == leaf))
    codes = unpack_codes(mine.column("codes"), len(book.domains))
    rows = mine.column("row").to_numpy()
    return plant(codes, rows, book, expected=expected, most=most, threads=threads)


def _counted(frame: DataFrame, reader: RowCoder, tree: CutTree) -> tuple[LeafCounts, UInt64]:
    counts = LeafCounts(tree.leaves, reader.book)
    sums = np.zeros(tree.leaves, dtype=np.uint64)
    with guarded("counting rows by block"):
        found = messages(frame, partial(count_leaves, reader=reader, tree=tree))
    for kind, table in found:
        if kind == "leaves":
            counts.rows += table.column("rows").to_numpy()
            sums += table.column("sum").to_numpy()
        else:
            counts.add_values(int(kind.split(":")[1]), table.column("key").to_numpy(), table.column("rows").to_numpy())
    return counts, sums
