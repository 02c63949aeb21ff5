"""Count a release on Spark: rows are grouped by their published cells, wherever they are.

Sizes are counted in SQL. Sensitive values are counted by class, all values of a class are sent to the same task, and
the judge runs there.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from coterie.engines.belongs import count_strangers, refuse_strangers
from coterie.engines.centres import Centres
from coterie.engines.spark.group import PERSON, GroupedRows
from coterie.engines.spark.guard import guarded, guarded_task
from coterie.engines.spark.rows import RowNumbers, number_column
from coterie.engines.spark.source import KEY, NumberedRows
from coterie.errors import DataError
from coterie.publishing.labels import roots_of
from coterie.values.notation import published_names
from coterie.verification.cells import MARK
from coterie.verification.counts import CellCounts, CellPairs, ClassCells, PeopleCounts, SizeCounts
from coterie.verification.models import FileCheck, check_file
from coterie.verification.sql import class_cells, class_pairs, counted_cells

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, GroupedData

    from coterie.settings.config import Config

T = TypeVar("T")


def verified(grouped: GroupedRows) -> tuple[FileCheck, bool]:
    """Verify the release as it would be published; suppressed rows are shown only if they satisfy every guarantee.

    Returns the result, and whether they are.
    """
    shown = grouped.shown
    found = check_frame(grouped.released(shown=shown, people=True), grouped, shown=shown)
    if not found.verification.passed and shown and grouped.sums.suppressed:
        shown = False
        found = check_frame(grouped.released(shown=shown, people=True), grouped, shown=shown)
    return found, shown


def check_frame(frame: DataFrame, grouped: GroupedRows, *, shown: bool) -> FileCheck:
    """Verify the published columns of a DataFrame: a new release, or one read back from its files."""
    config, pairs = grouped.plan.book.config, grouped.pairs
    names = published_names(frame.columns, config.quasi, config.k)
    hidden = grouped.sums.suppressed if shown else 0
    with guarded("checking the release"):
        counter = SparkCounter(frame, names, roots_of(grouped.plan.book.domains, config.publish))
        k = config.k if pairs is None else None
        made = check_file(counter, config, names=frame.columns, hidden=hidden, k=k)
    return made if pairs is None else made.with_rows(pairs, config.k, hidden=hidden)


def count_classes(rows: NumberedRows, config: Config) -> tuple[SizeCounts, PeopleCounts | None]:
    """Return the classes of the original: rows with equal quasi-identifiers, and the people in them."""
    titles = [f"c{rows.names.index(name)}" for name in config.quasi]
    frame = rows.frame
    if config.entity is not None:
        frame = frame.withColumnRenamed(f"c{rows.names.index(config.entity)}", PERSON)
    with guarded("counting classes"):
        counter = SparkCounter(frame, titles, {})
        return counter.sizes(), counter.people()


def refuse_others(rows: NumberedRows, numbers: RowNumbers, grouped: GroupedRows, *, shown: bool, count: int) -> None:
    """Raise a VerificationError if some rows are published with values of others.

    The original is read once more and joined with the `count` rows of the release by row numbers, wherever they are.
    """
    from pyspark.sql import functions as sql

    config = grouped.plan.book.config
    wanted = tuple(name for name in rows.names if name in {*config.quasi, *config.published_unchanged})
    number = number_column(numbers, sql.col(KEY)).alias("row")
    cells = [sql.col(f"c{rows.names.index(name)}").alias(f"o{at}") for at, name in enumerate(wanted)]
    released = grouped.released(shown=shown)
    names = tuple(name for name in released.columns if name != "coterie_row")
    published = released.toDF(
        *("coterie_row" if name == "coterie_row" else f"p{names.index(name)}" for name in released.columns)
    )
    joined = rows.frame.select(number, *cells).join(published, sql.col("row") == sql.col("coterie_row"))
    if Centres(config).styles:
        # A mean is compared with all originals of its class, which must be in one partition.
        ends = {end for name in config.quasi for end in (name, f"{name}_min", f"{name}_max")}
        joined = joined.repartition(*(f"p{at}" for at, name in enumerate(names) if name in ends))
    task = partial(look_at_rows, config=config, wanted=wanted, names=names)
    total: Counter[str] = Counter()
    with guarded("comparing the release with the original"):
        for each in _looked(joined, task):
            total += each
    if total.pop("", 0) != count:
        raise DataError("Rows of the release are not in the original.", hint="Run again when nobody writes to it.")
    refuse_strangers(total)


def content(frame: DataFrame, names: Sequence[str]) -> tuple[int, int]:
    """Return the row count of a frame and a sum over all its cells: a checksum that is independent of the order."""
    from pyspark.sql import functions as sql

    # Maps cannot be hashed, but they cannot be quasi-identifiers either.
    plain = [name for name in names if "map" not in frame.schema[name].dataType.simpleString()]
    mixed = sql.xxhash64(*(_column(frame, name) for name in plain)).cast("decimal(38,0)")
    row = frame.agg(sql.count(sql.lit(1)).alias("rows"), sql.sum(mixed).alias("sum")).collect()[0]
    return int(row["rows"]), int(row["sum"] or 0)


def _column(frame: DataFrame, name: str) -> Column:
    """Return a column with NaN as null and a single zero, as the check in memory sees it."""
    from pyspark.sql import functions as sql
    from pyspark.sql.types import DoubleType, FloatType

    cell = sql.col("`" + name.replace("`", "``") + "`")
    if isinstance(frame.schema[name].dataType, DoubleType | FloatType):
        kind = frame.schema[name].dataType
        return sql.when(sql.isnan(cell), sql.lit(None)).otherwise(cell + sql.lit(0.0)).cast(kind)
    return cell


@dataclass(frozen=True, eq=False)
class SparkCounter:
    """A DataFrame counted by Spark: with SQL, and with functions that run where the counts are."""

    frame: DataFrame
    names: Sequence[str]
    """the published columns of the quasi-identifiers"""
    roots: Mapping[str, str]

    @property
    def _keys(self) -> list[str]:
        return [f"c{at}" for at in range(len(self.names))]

    def _classes(self, *, by: str | None = None, who: str | None = None) -> GroupedData:
        """Group rows by their published cells and a further column, `v`; with their person, `who`."""
        cells = [_column(self.frame, name).alias(key) for name, key in zip(self.names, self._keys, strict=True)]
        cells += [_column(self.frame, name).alias(key) for key, name in (("v", by), ("who", who)) if name is not None]
        return self.frame.select(*cells).groupBy(*self._keys, *(() if by is None else ("v",)))

    def sizes(self) -> SizeCounts:
        """Return the number of classes of each size."""
        from pyspark.sql import functions as sql
        from pyspark.sql.types import StringType

        texts = [isinstance(self.frame.schema[name].dataType, StringType) for name in self.names]
        blank, missing = sql.lit(True), sql.lit(0)
        for name, key, text in zip(self.names, self._keys, texts, strict=True):
            cell = sql.col(key)
            blank = blank & (cell.eqNullSafe(sql.lit(self.roots.get(name, MARK))) if text else cell.isNull())
            missing = missing + cell.isNull().cast("int")
        classes = self._classes().agg(sql.count(sql.lit(1)).alias("n"))
        found = (
            classes.select("n", blank.alias("blank"), missing.alias("missing"))
            .groupBy("n", "blank")
            .agg(sql.count(sql.lit(1)).alias("classes"), sql.sum(sql.col("n") * sql.col("missing")).alias("missing"))
            .orderBy("n", "blank")
            .select("n", "classes", "missing", sql.col("blank").cast("long"))
            .toArrow()
        )
        rows, often, cells, star = (column.to_numpy().astype(np.int64) for column in found.columns)
        return SizeCounts(rows, often, cells, star > 0, any(texts))

    def people(self) -> PeopleCounts | None:
        """Return the number of classes with each number of people and rows."""
        from pyspark.sql import functions as sql

        if PERSON not in self.frame.columns:
            return None
        every, named = sql.count(sql.lit(1)), sql.count("who")
        people = (sql.countDistinct("who") + (every > named).cast("int")).alias("p")
        counted = self._classes(who=PERSON).agg(people, every.alias("n")).groupBy("p", "n")
        found = counted.agg(sql.count(sql.lit(1)).alias("classes")).orderBy("p", "n").toArrow()
        return PeopleCounts(*(column.to_numpy().astype(np.int64) for column in found.columns))

    def cells(self, column: str) -> CellCounts:
        """Return the distinct cells of a sensitive attribute."""
        from pyspark.sql import functions as sql

        counted = self.frame.select(_column(self.frame, column).alias("v")).groupBy("v")
        return counted_cells(counted.agg(sql.count(sql.lit(1)).alias("n")).orderBy("v").toArrow())

    def by_value(self, column: str, look: Callable[[CellPairs], T]) -> Iterator[T]:
        """Return pairs of class and cell; all pairs of a class are sent to the same task."""
        from pyspark.sql import functions as sql

        counted = self._classes(by=column).agg(sql.count(sql.lit(1)).alias("n")).repartition(*self._keys)
        return _looked(counted, partial(look_at, look=lambda table: look(class_pairs(table))))

    def by_class(self, look: Callable[[ClassCells], T]) -> Iterator[T]:
        """Yield the published cells of the classes of each task."""
        from pyspark.sql import functions as sql

        counted, names = self._classes().agg(sql.count(sql.lit(1)).alias("n")), [*self.names, "n"]
        return _looked(counted, partial(look_at, look=lambda table: look(class_cells(table.rename_columns(names)))))


def _looked(frame: DataFrame, task: partial[Iterator[pa.RecordBatch]]) -> Iterator[Any]:
    for body in frame.mapInArrow(task, "body binary").toArrow().column(0).to_pylist():
        # Written by the executors of this very job, which already run whatever code the driver sends them.
        yield pickle.loads(body)


@guarded_task
def look_at(batches: Iterator[pa.RecordBatch], *, look: Callable[[pa.Table], object]) -> Iterator[pa.RecordBatch]:
    """Return the findings for the classes of a partition."""
    if held := [batch for batch in batches if batch.num_rows]:
        yield _sent(look(pa.Table.from_batches(held)))


@guarded_task
def look_at_rows(
    batches: Iterator[pa.RecordBatch], *, config: Config, wanted: tuple[str, ...], names: tuple[str, ...]
) -> Iterator[pa.RecordBatch]:
    """Return how many rows a partition has, and column → those that are published with values of others."""
    found: Counter[str] = Counter()
    centres = Centres(config)
    for batch in batches:
        table = pa.Table.from_batches([batch])
        original = table.select([f"o{at}" for at in range(len(wanted))]).rename_columns(list(wanted))
        published = table.select([f"p{at}" for at in range(len(names))]).rename_columns(list(names))
        found += count_strangers(original, published, config, centres=centres)
        found[""] += batch.num_rows
    yield _sent(found + centres.strangers())


def _sent(found: object) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([pickle.dumps(found)], pa.binary())], ["body"])
