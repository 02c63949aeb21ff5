"""Anonymize a Spark DataFrame in the caller's session, on its cluster.

    release = coterie.spark.release(dataframe, config)      .frame .measures .verification .write(path)
    published = coterie.spark.anonymize(dataframe, config)  the DataFrame alone

The rows stay on the executors: the driver only sees distinct values, a sample and counts. The same table and
configuration give the same release as the embedded engine does from a file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from coterie.arrays import Int64
from coterie.engines.phases import Phases
from coterie.errors import BackendError, refuse
from coterie.measures.measures import ClassSizes
from coterie.measures.sums import measures_of
from coterie.releases.release import Release
from coterie.releases.stored import class_counts, needs_rows
from coterie.settings.config import AnyConfig, Config
from coterie.settings.keywords import Keywords
from coterie.settings.signature import spelled_out

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from coterie.disclosure.risk import ClassCounts
    from coterie.engines.plan import Plan
    from coterie.engines.spark.group import GroupedRows
    from coterie.engines.spark.source import NumberedRows
    from coterie.methods._method import Progress
    from coterie.releases.place import HeldRows
    from coterie.table.masks import Mask
    from coterie.verification.models import FileCheck

__all__ = ["anonymize", "release"]


@dataclass(frozen=True, eq=False)
class SparkRows:
    """The rows of a release on the executors of a Spark cluster."""

    rows_before: NumberedRows = field(repr=False)
    grouped: GroupedRows = field(repr=False)
    checked: FileCheck = field(repr=False)
    """the result of Spark's own GROUP BY over the published columns"""
    shown: bool
    """whether suppressed rows are published as `*`"""
    kept: tuple[DataFrame, ...] = field(default=(), repr=False)
    inputs: tuple[str, ...] = ()
    """the files that the DataFrame was read from, as far as Spark knows them: `write` never overwrites them"""
    libraries: tuple[str, ...] = ("pyspark",)
    where: str = "on Spark"
    origin: None = None
    path: None = None

    @property
    def plan(self) -> Plan:
        """The table's plan of blocks."""
        return self.grouped.plan

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return self.plan.blocks

    @property
    def rows(self) -> int:
        """The number of rows of the original."""
        return self.plan.book.all_rows

    @property
    def held(self) -> HeldRows:
        """Rows stay on the executors."""
        raise needs_rows(
            "everything about single rows",
            "they are on Spark's executors, unordered; anonymize a file with engine spark",
        )

    @property
    def numbered(self) -> DataFrame:
        """The published table with each row's position in the original as `coterie_row`."""
        return self.grouped.released(shown=self.shown)

    def frame(self, release: Release) -> DataFrame:
        """Return the published table, unordered, without identifiers and dropped columns."""
        return self.numbered.drop("coterie_row")

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the published rows in order, collected by the driver."""
        yield from self.numbered.orderBy("coterie_row").drop("coterie_row").toArrow().to_batches()

    def classes_before(self, config: Config) -> ClassCounts:
        """Return the classes of the original, counted by Spark."""
        from coterie.engines.spark.verify import count_classes

        return class_counts(*count_classes(self.rows_before, config))

    def classes_after(self, config: Config) -> ClassCounts:
        """Return the classes of the release, as counted for verification."""
        return class_counts(self.checked.sizes, self.checked.people)

    def removed(self) -> Int64:
        """Return the positions of the removed rows, ascending."""
        from pyspark.sql import functions as sql

        if self.shown or not self.grouped.sums.suppressed:
            return np.zeros(0, dtype=np.int64)
        found = self.grouped.frame.where(sql.col("hidden")).select("row").toArrow()
        return np.sort(found.column("row").to_numpy())

    def missing(self) -> dict[str, int]:
        """Return column of the original → number of missing cells, counted by Spark."""
        from pyspark.sql import functions as sql

        titles = [f"c{at}" for at in range(len(self.rows_before.names))]
        counted = self.rows_before.frame.agg(*(sql.count_if(sql.col(each).isNull()).alias(each) for each in titles))
        return dict(zip(self.rows_before.names, counted.collect()[0], strict=True))

    def record(self) -> dict[str, Any]:
        """Record how the table was cut; a DataFrame has no bytes to hash."""
        return {"blocks": self.blocks}

    def write(self, release: Release, path: str | os.PathLike[str], *, force: bool) -> None:
        """Write the release as a folder of Parquet files in the original order of rows.

        It is renamed into place only after Spark has verified the written files. All executors must reach the
        folder: a local path, or an address such as hdfs://… or s3a://….
        """
        from coterie.engines.spark.write import write_folder

        write_folder(self, release.config, os.fspath(path), force=force)

    def unpersist(self) -> None:
        """Release the rows cached by the executors."""
        for frame in self.kept:
            frame.unpersist()


@spelled_out
def anonymize(
    dataframe: DataFrame,
    config: AnyConfig = None,
    *,
    row_number: str | None = None,
    persist: bool = True,
    progress: Progress | None = None,
    **settings: Unpack[Keywords],
) -> DataFrame:
    """Anonymize a DataFrame so that every row is in a group of at least k rows; see `release` for arguments and errors.

    Returns:
        The published DataFrame, verified. Executors cache its rows until the session ends; use `release` to free them,
        and to get the measures.
    """
    made = release(dataframe, config, row_number=row_number, persist=persist, progress=progress, **settings)
    return made.frame


@spelled_out
def release(
    dataframe: DataFrame,
    config: AnyConfig = None,
    *,
    row_number: str | None = None,
    persist: bool = True,
    progress: Progress | None = None,
    **settings: Unpack[Keywords],
) -> Release[DataFrame]:
    """Anonymize a DataFrame so that every row is in a group of at least k rows.

    Args:
        dataframe: A DataFrame of any session, including Spark Connect. It is not modified.
        config: A Config, a dict or the path of a TOML file.
        row_number: A column that numbers the rows 0, 1, … in your order. By default they are
            numbered partition by partition. With your own column, the release does not depend on the partitions of the
            table.
        persist: Whether executors cache rows on disk between steps. Otherwise every step reads the source again.
        progress: Called now and then with (step, done, total).
        **settings: The fields of `Config`, which override those of `config`. `block_rows` is the maximum rows of
            a block, which one task groups in memory; `memory` sets it in bytes.

    Raises:
        ConfigError: The request is invalid; reports all problems at once.
        DataError: The data do not match the configuration, or change while they are read.
        InfeasibleError: The request is infeasible for this table.
        BackendError: Spark is not installed, or a job failed.
        VerificationError: The published table did not pass verification; there is no release.
    """
    check_spark()
    from coterie.engines.engine import Job
    from coterie.engines.spark.source import input_files, number_rows

    settled = Config.build(config, **settings).replace(engine="spark")
    with Phases(progress)("number"):
        rows = number_rows(dataframe, row_number=row_number, persist=persist)
    made = release_rows(rows, settled, block_rows=Job(settled, "-").block_rows, persist=persist, progress=progress)
    assert isinstance(made.place, SparkRows)
    return replace(made, place=replace(made.place, inputs=input_files(dataframe)))


def release_rows(
    rows: NumberedRows,
    config: Config,
    *,
    block_rows: int,
    persist: bool = True,
    progress: Progress | None = None,
    mapping: bool = False,
    mask: Mask | None = None,
) -> Release:
    """Make a release from numbered rows, with a mapping if requested."""
    from coterie.engines.request import cut_problems
    from coterie.engines.spark.group import group_rows
    from coterie.engines.spark.plan import make_plan
    from coterie.engines.spark.session import SETTINGS, kept_unless_failing, settings, with_secrets
    from coterie.engines.spark.verify import refuse_others, verified

    phases = Phases(progress)
    with settings(rows.frame.sparkSession, SETTINGS), kept_unless_failing(rows.frame) as kept:
        config.check_columns(rows.names)
        refuse(cut_problems(config.replace(engine="spark")))
        with phases("plan"):
            made = make_plan(rows, with_secrets(config), most=block_rows, threads=config.usable_threads, mask=mask)
        with phases("group"):
            grouped = group_rows(rows, made, persist=persist, mapping=mapping)
            kept.append(grouped.frame)
        with phases("verify"):
            found, shown = verified(grouped)
            found.verification.raise_for_failure()
            refuse_others(rows, made.numbers, grouped, shown=shown, count=found.verification.rows)
    return Release(
        config=config,
        measures=measures_of(grouped.sums, grouped.plan, classes=ClassSizes(*found.classes)),
        verification=found.verification,
        place=SparkRows(rows, grouped, found, shown, tuple(kept)),
        seconds=phases.seconds,
        notes=grouped.notes,
        masked=grouped.plan.book.mask.note,
        masks_sha256=grouped.plan.book.mask.sha256,
    )


def check_spark() -> None:
    """Raise a BackendError if Spark is not installed."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        raise BackendError(
            "Spark needs the spark extra.", hint="Install it: pip install 'coterie[spark]', and Java 17 or newer."
        ) from None
