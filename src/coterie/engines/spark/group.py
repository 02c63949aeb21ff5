"""A release on Spark after planning: assign rows to blocks, group the blocks, combine the columns."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa

from coterie.engines.finished import FinishedBlock, check_limit, notes_of, total
from coterie.engines.spark.block import BlockWork, group_partition, suppress_partition
from coterie.engines.spark.guard import guarded
from coterie.engines.spark.plan import SparkPlan
from coterie.engines.spark.session import kept_unless_failing
from coterie.engines.spark.source import NumberedRows
from coterie.engines.spark.tasks import MESSAGE, RowCoder, assign_blocks, opened
from coterie.engines.suppressed import RemainingRows, compared, needs_remaining, remaining_of
from coterie.measures.sums import BlockSums
from coterie.publishing.labels import check_styles, style_of
from coterie.publishing.publish import Publisher, may_show
from coterie.table.codebook import coded_columns
from coterie.verification.rows import RowSums

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructField, StructType

    from coterie.engines.plan import Plan
    from coterie.settings.config import Config

BatchTask: TypeAlias = "Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]"


PERSON = "coterie_person"


@dataclass(frozen=True, eq=False)
class GroupedRows:
    """All rows, grouped and generalized, before deciding how to show suppressed rows."""

    frame: DataFrame
    """row, hidden, facts, and a column for each way in which something may be published"""
    publisher: Publisher
    plan: Plan
    sums: BlockSums
    """of all rows, suppressed ones included"""
    notes: tuple[str, ...]
    pairs: RowSums | None
    """the tasks' counts in their results, if rows are published one by one"""
    person: str | None
    """the column that identifies people, if they are counted"""
    cpu: float
    """Python's CPU seconds for grouping, all executors together"""

    @property
    def shown(self) -> bool:
        """Whether enough rows look alike for suppressed ones to be published as `*`."""
        return may_show(self.plan.book.config, suppressed=self.sums.suppressed, starred=self.sums.starred)

    def released(self, *, shown: bool, people: bool = False) -> DataFrame:
        """Return the published columns, with the row number as `coterie_row`, and suppressed rows if they are shown.

        For verification each row's person is included as `coterie_person`.
        """
        from pyspark.sql import functions as sql

        frame = self.frame if shown else self.frame.where(~sql.col("hidden"))
        own = self.publisher.own(self.sums.unchanged, starred=shown and self.sums.suppressed > 0)
        titles = {name: f"t{at}" for at, name in enumerate(self.publisher.suppressed)}
        made = [
            f"u{column.attribute}"
            if column.source in own
            else titles.get(column.name) or f"c{self.publisher.names.index(column.source)}"
            for column in self.publisher.columns
        ]
        names = [column.name for column in self.publisher.columns]
        who = [self.person] if people and self.person is not None else []
        return frame.select("row", *made, *who).toDF("coterie_row", *names, *([PERSON] * len(who)))


def group_rows(rows: NumberedRows, made: SparkPlan, *, persist: bool, mapping: bool = False) -> GroupedRows:
    """Assign all rows to blocks, collect each block, and group it; executors may cache the rows for later steps."""
    from pyspark.sql.types import StructType

    config = made.plan.book.config
    check_styles(made.plan.book.domains, names=rows.names, publish=config.publish)
    if made.plan.blocks > 1 and needs_remaining(config):
        made = made._replace(plan=replace(made.plan, remaining=count_remaining(made.plan, assigned_rows(rows, made))))
    fields, work = _layout(rows, made, mapping=mapping)
    frame = assigned_rows(rows, made)
    frame = by_block(frame, made.plan.blocks, StructType(fields), partial(group_partition, work=work))
    if persist:
        from pyspark import StorageLevel

        frame = frame.persist(StorageLevel.DISK_ONLY)
    with guarded("grouping blocks"), kept_unless_failing(frame):
        found = frame.where("facts IS NOT NULL").select("facts").toArrow()
    facts = [json.loads(each) for each in found.column(0).to_pylist()]
    finished = [
        FinishedBlock({}, BlockSums.from_dict(each["sums"]), tuple(each["notes"]))
        for each in sorted(facts, key=lambda fact: int(fact["block"]))
    ]
    check_limit(finished, made.plan)
    pairs = [RowSums(*each["pairs"]) for each in facts if each["pairs"] is not None]
    return GroupedRows(
        frame,
        work.publisher,
        made.plan,
        total(finished, made.plan),
        notes_of(finished, made.plan),
        reduce(RowSums.joined, pairs) if pairs else None,
        None if config.entity is None else f"c{rows.names.index(config.entity)}",
        sum(each["cpu"] for each in facts),
    )


def _kept(rows: NumberedRows, config: Config) -> tuple[int, ...]:
    """Return the columns c0, c1, … that are carried along: what is published unchanged, and people to be counted."""
    shown = {*config.published_unchanged, config.entity}
    return tuple(at for at, name in enumerate(rows.names) if name in shown)


def _layout(rows: NumberedRows, made: SparkPlan, *, mapping: bool) -> tuple[list[StructField], BlockWork]:
    """Return the columns of grouped rows, and what tasks need to know of them."""
    from pyspark.sql.types import BinaryType, BooleanType, DoubleType, LongType, StringType, StructField

    config, domains = made.plan.book.config, made.plan.book.domains
    publisher, kept = Publisher(rows.names, domains, config), _kept(rows, config)
    types = {name: bare_type(rows.frame.schema[f"c{at}"].dataType) for at, name in enumerate(rows.names)}
    labels = []
    for column in publisher.columns:
        if column.attribute >= 0:
            style = style_of(domains[column.attribute], config.publish)
            shown = {"bounds": types[column.source], "mean": DoubleType(), "median": DoubleType()}
            labels.append(shown.get(style, StringType()))
    fields = [
        StructField("row", LongType()),
        StructField("hidden", BooleanType()),
        StructField("facts", BinaryType()),
        StructField("mapping", BinaryType()),
        *(StructField(f"t{at}", kind) for at, kind in enumerate(labels)),
        *(StructField(f"u{at}", types[domain.name]) for at, domain in enumerate(domains)),
        *(StructField(f"c{at}", types[rows.names[at]]) for at in kept),
    ]
    return fields, BlockWork(made.plan, made.sums, kept, publisher, mapping)


def bare_type(kind: DataType) -> DataType:
    """Return the type without the metadata of nested fields; that of columns is dropped in any case."""
    from pyspark.sql.types import ArrayType, MapType, StructField, StructType

    if isinstance(kind, StructType):
        return StructType([StructField(each.name, bare_type(each.dataType), each.nullable) for each in kind.fields])
    if isinstance(kind, ArrayType):
        return ArrayType(bare_type(kind.elementType), kind.containsNull)
    if isinstance(kind, MapType):
        return MapType(bare_type(kind.keyType), bare_type(kind.valueType), kind.valueContainsNull)
    return kind


def count_remaining(plan: Plan, assigned: DataFrame) -> RemainingRows | None:
    """Count the rows that remain after suppression: the blocks are grouped just for that."""
    frame = by_block(assigned, plan.blocks, MESSAGE, partial(suppress_partition, plan=plan))
    with guarded("counting suppressed rows"):
        found = frame.toArrow()
    gone = [np.zeros(domain.size, dtype=np.int64) for domain in compared(plan.book)]
    for column, body in zip(found.column("kind").to_pylist(), found.column("body").to_pylist(), strict=True):
        gone[int(column)] += opened(body).column("rows").to_numpy()
    return remaining_of(plan.book, gone)


def assigned_rows(rows: NumberedRows, made: SparkPlan) -> DataFrame:
    """Each row with the block that it belongs to."""
    from pyspark.sql.types import BinaryType, IntegerType, LongType, StructField, StructType

    config = made.plan.book.config
    coded, kept = coded_columns(config), _kept(rows, config)
    carried = (*coded, *(rows.names[at] for at in kept if rows.names[at] not in coded))
    fields = [
        StructField("place", IntegerType()),
        StructField("block", IntegerType()),
        StructField("row", LongType()),
        StructField("codes", BinaryType()),
        *(StructField(f"c{at}", rows.frame.schema[f"c{at}"].dataType) for at in kept),
    ]
    reader = RowCoder(made.plan.book, made.numbers)
    where = tuple(carried.index(rows.names[at]) for at in kept)
    task = partial(assign_blocks, reader=reader, plan=made.plan, kept=where, titles=kept)
    return rows.selected(carried).mapInArrow(task, StructType(fields))


def by_block(frame: DataFrame, blocks: int, schema: StructType | str, task: BatchTask) -> DataFrame:
    """Collect the rows of each block, and run a task with this result on them there; `place` says which block."""
    from pyspark.sql import functions as sql

    if places_rows(frame):
        return frame.repartitionById(blocks, sql.col("place")).mapInArrow(task, schema)

    def whole(table: pa.Table) -> pa.Table:  # Spark reads its annotations
        return pa.Table.from_batches(task(iter(table.to_batches())))

    return frame.groupBy("place").applyInArrow(whole, schema)


def places_rows(frame: DataFrame) -> bool:
    """Return whether this Spark can place rows in a given partition (4.1 and newer): one per block, no sort."""
    return hasattr(frame, "repartitionById")
