"""Verify a release with Spark SQL: rows are grouped by what is published of them, wherever they lie.

Sizes are counted in SQL. Privacy models beyond k are decided by the same code that checks tables in memory, from the
counts of sensitive values in each class; all values of a class are brought to the same task.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from coterie.engines.spark.guard import guarded, guarded_task
from coterie.engines.spark.run import PERSON
from coterie.measures.sums import measures_of
from coterie.privacy.kmap import KMap
from coterie.verification.counted import ClassCounts, ModelChecks, sensitive_domains
from coterie.verification.duckdb_counts import Checked, checked
from coterie.verification.models import people_counted, promised
from coterie.verification.verify import ROOT, Check, k_check, published_names

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from coterie.engines.spark.run import GroupedRows
    from coterie.measures.measures import Measures
    from coterie.privacy.checks import ModelCheck
    from coterie.settings.config import Config
    from coterie.verification.verify import Verification


class Found(NamedTuple):
    """A release that was checked, and whether it shows suppressed rows."""

    checked: Checked
    shown: bool

    @property
    def verification(self) -> Verification:
        """What was found."""
        return self.checked.verification


def verified(grouped: GroupedRows) -> Found:
    """Check the release as it would be published; suppressed rows are shown only where they keep every promise."""
    shown = grouped.shown
    found = Found(check_frame(grouped.released(shown=shown, people=True), grouped, shown=shown), shown)
    if not found.verification.passed and shown and grouped.sums.suppressed:
        found = Found(check_frame(grouped.released(shown=False, people=True), grouped, shown=False), shown=False)
    return found


def check_frame(frame: DataFrame, grouped: GroupedRows, *, shown: bool) -> Checked:
    """Check the promises of a DataFrame: a release that was made, or one that was read from where it was written.

    Args:
        frame: The published columns; others do no harm.
        grouped: What it was made from: the configuration, and how many rows are suppressed.
        shown: Whether suppressed rows are in it.
    """
    config = grouped.plan.book.config
    names = published_names(frame.columns, config.quasi, config.k)
    hidden = grouped.sums.suppressed if shown else 0
    with guarded("checking the release"):
        found = _sizes(frame, names, grouped.roots, config.k if grouped.rings is None else 0)
        checks = _models(frame, names, config)
        if PERSON in frame.columns:
            checks.append(_people(frame, names, config.k))
    if grouped.rings is not None:
        made = checked(found, checks, config, hidden=hidden)
        made = made._replace(verification=replace(made.verification, wanted=None))
        return made.with_rows(grouped.rings, config.k, hidden=hidden)
    checks.insert(0, k_check(config.k, rows=found["rows"], smallest=found["smallest"], below=found["below"]))
    return checked(found, checks, config, hidden=hidden)


class Content(NamedTuple):
    """By which the rows of a table are known again, in whatever order they are."""

    rows: int
    sum: int


def content(frame: DataFrame, names: Sequence[str]) -> Content:
    """The rows of a frame, and a sum over all their cells."""
    from pyspark.sql import functions as sql

    # Maps cannot be hashed; they are no quasi-identifiers.
    plain = [name for name in names if "map" not in frame.schema[name].dataType.simpleString()]
    mixed = sql.xxhash64(*(_column(frame, name) for name in plain)).cast("decimal(38,0)")
    row = frame.agg(sql.count(sql.lit(1)).alias("rows"), sql.sum(mixed).alias("sum")).collect()[0]
    return Content(int(row["rows"]), int(row["sum"] or 0))


def measured(grouped: GroupedRows, found: Found) -> Measures:
    """What the release lost."""
    return measures_of(grouped.sums, grouped.plan, classes=found.checked.classes)


def _column(frame: DataFrame, name: str) -> Column:
    """A column with NaN as null and with one zero only, as the check in memory sees it."""
    from pyspark.sql import functions as sql
    from pyspark.sql.types import DoubleType, FloatType

    cell = sql.col("`" + name.replace("`", "``") + "`")
    if isinstance(frame.schema[name].dataType, DoubleType | FloatType):
        kind = frame.schema[name].dataType
        return sql.when(sql.isnan(cell), sql.lit(None)).otherwise(cell + sql.lit(0.0)).cast(kind)
    return cell


def _sizes(frame: DataFrame, names: Sequence[str], roots: Mapping[str, str], k: int) -> dict[str, Any]:
    """Rows, classes and their sizes, counted in one query."""
    from pyspark.sql import functions as sql
    from pyspark.sql.types import StringType

    keys = [f"c{at}" for at in range(len(names))]
    texts = [isinstance(frame.schema[name].dataType, StringType) for name in names]
    classes = frame.select(*(_column(frame, name).alias(key) for name, key in zip(names, keys, strict=True)))
    classes = classes.groupBy(*keys).agg(sql.count(sql.lit(1)).alias("n"))
    star, blank = sql.lit(True), sql.lit(0)
    for name, key, text in zip(names, keys, texts, strict=True):
        cell = sql.col(key)
        star = star & (cell.eqNullSafe(sql.lit(roots.get(name, ROOT))) if text else cell.isNull())
        blank = blank + cell.isNull().cast("int")
    n, below = sql.col("n"), sql.col("n") < k
    whole = sql.col("n").cast("decimal(38,0)")
    row = (
        classes.select("n", star.alias("star"), blank.alias("blank"))
        .agg(
            sql.sum(n).alias("rows"),
            sql.count(n).alias("groups"),
            sql.min(n).alias("smallest"),
            sql.max(n).alias("largest"),
            sql.sum((whole * whole).cast("decimal(38,0)")).alias("squares"),
            sql.sum(sql.when(below, n)).alias("rows_below"),
            sql.count(sql.when(below, n)).alias("classes_below"),
            sql.sum(n * sql.col("blank")).alias("missing"),
            sql.sum(sql.when(sql.col("star"), n)).alias("suppressed"),
            sql.min(sql.when(~sql.col("star"), n)).alias("smallest_other"),
            sql.max(sql.when(~sql.col("star"), n)).alias("largest_other"),
        )
        .collect()[0]
    )
    values = {name: int(value or 0) for name, value in row.asDict().items()}
    return {
        **{name: values[name] for name in ("rows", "groups", "smallest", "largest", "squares", "missing")},
        "suppressed": values["suppressed"] if any(texts) else 0,
        "starred": values["suppressed"],
        "below": (values["rows_below"], values["classes_below"]),
        "others": {"smallest": values["smallest_other"], "largest": values["largest_other"]},
    }


def _people(frame: DataFrame, names: Sequence[str], k: int) -> Check:
    """Count the people of every class; rows that name nobody are one person together."""
    from pyspark.sql import functions as sql

    keys = [f"c{at}" for at in range(len(names))]
    cells = [_column(frame, name).alias(key) for name, key in zip(names, keys, strict=True)]
    counted = frame.select(*cells, _column(frame, PERSON).alias("who")).groupBy(*keys)
    every, named = sql.count(sql.lit(1)), sql.count("who")
    classes = counted.agg(every.alias("n"), (sql.countDistinct("who") + (every > named).cast("int")).alias("p"))
    below = sql.col("p") < k
    row = classes.agg(
        sql.min("p").alias("least"),
        sql.min_by("n", "p").alias("size"),
        sql.count(sql.when(below, 1)).alias("classes_below"),
        sql.sum(sql.when(below, sql.col("n"))).alias("rows_below"),
        sql.count(sql.lit(1)).alias("classes"),
    ).collect()[0]
    return people_counted(k, **{name: int(value or 0) for name, value in row.asDict().items()})


def _models(frame: DataFrame, names: Sequence[str], config: Config) -> list[Check]:
    """Check the models beyond k, all classes at once."""
    from pyspark.sql import functions as sql

    models = promised(config)
    if not models:
        return []
    columns = list(dict.fromkeys(model.on for model in models if model.on is not None))
    counted = {
        name: frame.select(_column(frame, name).alias("v"))
        .groupBy("v")
        .agg(sql.count(sql.lit(1)).alias("n"))
        .orderBy("v")
        .toArrow()
        for name in columns
    }
    checks = ModelChecks(models, sensitive_domains(counted, config), config)
    keys = [f"c{at}" for at in range(len(names))]
    cells = [_column(frame, name).alias(key) for name, key in zip(names, keys, strict=True)]
    for name in columns:
        pairs = frame.select(*cells, _column(frame, name).alias("v")).groupBy(*keys, "v")
        judged = pairs.agg(sql.count(sql.lit(1)).alias("n")).repartition(*keys)
        checks.add(_judged(judged, partial(judge_values, checks=checks, column=name, names=tuple(names))))
    if any(isinstance(model, KMap) for model in models):
        classes = frame.select(*cells).groupBy(*keys).agg(sql.count(sql.lit(1)).alias("n"))
        checks.add(_judged(classes, partial(judge_classes, checks=checks, names=tuple(names))))
    return checks.results()


def _judged(frame: DataFrame, task: partial[Iterator[pa.RecordBatch]]) -> list[ModelCheck]:
    found = frame.mapInArrow(task, "body binary").toArrow().column(0).to_pylist()
    # Written by the executors of this very job, which already run whatever code the driver sends them.
    return [check for body in found for check in pickle.loads(body)]


@guarded_task
def judge_values(
    batches: Iterator[pa.RecordBatch], *, checks: ModelChecks, column: str, names: tuple[str, ...]
) -> Iterator[pa.RecordBatch]:
    """Judge the classes of a partition by the models on one sensitive column."""
    held = [batch for batch in batches if batch.num_rows]
    if held:
        table = pa.Table.from_batches(held).rename_columns([*names, "v", "n"])
        checks.add_values(column, ClassCounts.of(table, names))
        yield pa.RecordBatch.from_arrays([pa.array([pickle.dumps(checks.found())], pa.binary())], ["body"])


@guarded_task
def judge_classes(
    batches: Iterator[pa.RecordBatch], *, checks: ModelChecks, names: tuple[str, ...]
) -> Iterator[pa.RecordBatch]:
    """Judge the classes of a partition by the models that ask a population."""
    held = [batch for batch in batches if batch.num_rows]
    if held:
        table = pa.Table.from_batches(held).rename_columns([*names, "n"])
        checks.add_classes(table, names)
        yield pa.RecordBatch.from_arrays([pa.array([pickle.dumps(checks.found())], pa.binary())], ["body"])
