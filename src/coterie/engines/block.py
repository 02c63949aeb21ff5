"""One block of a table: grouped, repaired, generalized and measured on its own."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import ipc

from coterie.arrays import Int32, Int64
from coterie.engines.steps import group_block, method_groups, start_run
from coterie.engines.suppressed import gone_values
from coterie.grouping.population import populations_of
from coterie.measures.sums import BlockSums, sums_of
from coterie.publishing.labels import Labels
from coterie.publishing.publish import recode
from coterie.table.sets import priced_by_sets
from coterie.table.table import Table

if TYPE_CHECKING:
    from coterie.engines.plan import Plan
    from coterie.table.domain import Domain
    from coterie.table.recoding import OneByOne


class BlockResult(NamedTuple):
    """A grouped and generalized block."""

    group: Int32
    """row of the block → group, −1 for a suppressed row"""
    lo: Int32
    hi: Int32
    labels: Mapping[str, Labels]
    """quasi-identifier → its published values"""
    sums: BlockSums
    notes: tuple[str, ...] = ()
    one_by_one: OneByOne | None = None
    """the data needed to check rows published one by one"""

    def cells(self, rows: Int64 | slice = slice(None)) -> dict[str, pa.DictionaryArray]:
        """Return published column → the cells of all rows or of some."""
        every = [labels.cells(self.group[rows]) for labels in self.labels.values()]
        return {name: cells for each in every for name, cells in each.items()}


def packed(table: pa.Table | pa.RecordBatch, **how: Any) -> bytes:  # noqa: ANN401 - as Arrow's IpcWriteOptions
    """Return rows as a stream of Arrow's, to be stored or sent."""
    sink = io.BytesIO()
    with ipc.new_stream(sink, table.schema, options=ipc.IpcWriteOptions(**how)) as writer:
        writer.write(table)
    return sink.getvalue()


def anonymize_block(
    codes: Int32,
    sensitive: Int32,
    plan: Plan,
    block: int,
    *,
    rows: Int64,
    threads: int = 1,
    cancelled: Callable[[], bool] | None = None,
    seconds: float | None = None,
) -> BlockResult:
    """Group and generalize the rows of one block, given as codes in row order, with their numbers.

    The result does not depend on the threads. After some seconds, if given, the method returns what it has.
    """
    table, config = _table(codes, sensitive, plan, block), plan.book.config
    run = start_run(config, None, cancelled, seed=plan.seed(block), threads=threads, seconds=seconds)
    grouping = group_block(table, plan, run, rows)
    labels = recode(table, grouping, config)
    shown = grouping.published_boxes()
    sums = sums_of(table, shown, labels, plan)
    return BlockResult(
        shown.labels, shown.lo, shown.hi, labels, sums, tuple(run.notes), grouping.counts_for_judge(codes)
    )


def suppressed_values(
    codes: Int32,
    sensitive: Int32,
    plan: Plan,
    block: int,
    *,
    threads: int = 1,
    cancelled: Callable[[], bool] | None = None,
) -> list[Int64]:
    """Return, per sensitive column, code → rows that the method suppresses. Arguments as `anonymize_block`."""
    table, config = _table(codes, sensitive, plan, block), plan.book.config
    run = start_run(config, None, cancelled, seed=plan.seed(block), threads=threads)
    return gone_values(table, plan.book, method_groups(priced_by_sets(table, config), config, run))


def _table(codes: Int32, sensitive: Int32, plan: Plan, block: int) -> Table:
    """Return a block as a table."""
    if len(codes) != plan.sizes[block]:
        raise ValueError(f"block {block} has {plan.sizes[block]} rows by the plan, but {len(codes)} were given")
    book = plan.book
    domains = book.sensitive
    if book.config.entity is not None:
        domains, sensitive = _own_people(domains, sensitive)
    totals = dict(book.totals)
    if book.config.entity is not None:
        totals[book.config.entity] = np.ones(domains[-1].size, dtype=np.int64)  # people are not compared
    return Table(
        np.ascontiguousarray(codes),
        book.domains,
        np.ascontiguousarray(sensitive),
        domains,
        book.config.leaf_counts,
        populations_of(book.config),
        # A table in one block is counted as it would be in memory: without the rows that a method suppresses.
        None if plan.blocks == 1 else tuple(totals[domain.name] for domain in domains),
    )


def _own_people(domains: tuple[Domain, ...], sensitive: Int32) -> tuple[tuple[Domain, ...], Int32]:
    """Renumber people within the block, so that its work does not grow with their total number."""
    present, own = np.unique(sensitive[:, -1], return_inverse=True)
    people = domains[-1]
    missing = len(present) - 1 if len(present) and present[-1] == people.missing else -1
    renumbered = np.column_stack([sensitive[:, :-1], own]).astype(np.int32)
    return (*domains[:-1], replace(people, values=people.values.take(pa.array(present)), missing=missing)), renumbered
