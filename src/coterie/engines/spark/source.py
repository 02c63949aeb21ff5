"""The table on Spark: a DataFrame or files, with every row's position as its key.

Parquet is read by the executors. Text files and Feather are read by the driver, exactly as without Spark, and passed
on as Parquet in a folder next to the output, which all executors must reach anyway; it is removed when the run is
over.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from coterie.engines.spark.guard import guarded
from coterie.errors import ConfigError, DataError, Problem
from coterie.files.frames import check_names

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from coterie.files.batches import TableFile


KEY = "coterie_key"


@dataclass(frozen=True, eq=False)
class NumberedRows:
    """A DataFrame whose rows have keys, in columns c0, c1, … and KEY."""

    frame: DataFrame
    names: tuple[str, ...]
    """the user's names of c0, c1, …"""
    dense: bool
    """whether keys are row numbers; else they are those of monotonically_increasing_id"""
    named: str | None = None
    """the user's column of row numbers, if there is one"""

    def selected(self, names: tuple[str, ...]) -> DataFrame:
        """Return some columns and the key."""
        return self.frame.select(*(f"c{self.names.index(name)}" for name in names), KEY)


def number_rows(frame: DataFrame, *, row_number: str | None, persist: bool) -> NumberedRows:
    """Give each row of the user's DataFrame a key: from its column of row numbers, if it has one."""
    from pyspark import StorageLevel
    from pyspark.sql import functions as sql
    from pyspark.sql.types import IntegralType

    names = tuple(frame.columns)
    check_names(list(names), "the DataFrame")
    plain = frame.toDF(*(f"c{at}" for at in range(len(names))))
    if row_number is not None:
        if row_number not in names:
            raise ConfigError([Problem("row_number", f"the DataFrame has no column {row_number!r}")])
        if not isinstance(plain.schema[names.index(row_number)].dataType, IntegralType):
            raise ConfigError([Problem("row_number", f"column {row_number!r} does not contain whole numbers")])
        key = sql.col(f"c{names.index(row_number)}").cast("bigint")
        numbered = NumberedRows(plain.withColumn(KEY, key), names, dense=True, named=row_number)
    else:
        numbered = NumberedRows(plain.withColumn(KEY, sql.monotonically_increasing_id()), names, dense=False)
    if persist:
        # Rows are numbered once: later passes read them from there, and a lost partition is recomputed identically.
        numbered.frame.persist(StorageLevel.DISK_ONLY)
    return numbered


def read_parquet(session: SparkSession, paths: list[str]) -> NumberedRows:
    """Read Parquet files in the order of their names, with every row's position as its key."""
    from pyspark.sql import functions as sql

    with guarded("opening the files"):
        found = session.read.parquet(*paths)
        names = tuple(found.columns)
        check_names(list(names), "the table")
        titles = [f"c{at}" for at in range(len(names))]
        placed = found.select("*", sql.col("_metadata.row_index"), sql.col("_metadata.file_path"))
        frame = placed.toDF(*titles, KEY, "coterie_file")
        counts = frame.groupBy("coterie_file").agg(sql.count(sql.lit(1)).alias("rows")).collect()
    if not counts:
        raise DataError("The table has no rows.", hint="Give a table with at least one row.")
    if len(counts) == 1:
        return NumberedRows(frame.drop("coterie_file"), names, dense=True)
    start, offsets = 0, []
    for each in sorted(counts, key=lambda row: unquote(row["coterie_file"])):
        offsets.append((each["coterie_file"], start))
        start += each["rows"]
    first = session.createDataFrame(offsets, "coterie_file string, coterie_first bigint")
    joined = frame.join(sql.broadcast(first), "coterie_file")
    key = (sql.col(KEY) + sql.col("coterie_first")).alias(KEY)
    return NumberedRows(joined.select(*titles, key), names, dense=True)


def list_files(session: SparkSession, address: str) -> list[tuple[str, int, int]]:
    """Return path, size and time of change of all files at an address; nothing in a session that cannot look.

    Spark's file systems have no hash of a file to compare, and no handle that survives from one pass to the next.
    """
    gateway: Any = getattr(session, "_jvm", None)
    if gateway is None:
        return []
    with guarded("looking at the input"):
        path = gateway.org.apache.hadoop.fs.Path(address)
        system = path.getFileSystem(session._jsc.hadoopConfiguration())
        left, found = [each.getPath() for each in system.globStatus(path) or ()], []
        for each in left:
            files = system.listFiles(each, True)
            while files.hasNext():
                status = files.next()
                found.append((str(status.getPath()), int(status.getLen()), int(status.getModificationTime())))
    return sorted(found)


def input_files(frame: DataFrame) -> tuple[str, ...]:
    """Return the files that a DataFrame is read from, as paths or addresses, as far as Spark knows them."""
    with guarded("looking at the input"):
        found = frame.inputFiles()
    return tuple(re.sub(r"^file:/+", "/", unquote(each)) for each in found)


def literal(path: Path) -> str:
    """Return a path that Spark takes literally: made absolute, with glob characters escaped."""
    return re.sub(r"([\\{}\[\]*?])", r"\\\1", str(path.resolve()))


def hand_over(table: TableFile, folder: Path) -> Path:
    """Convert a text or Feather file to Parquet, for the executors."""
    from pyarrow import parquet

    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / "input.parquet"
    with parquet.ParquetWriter(path, table.schema, compression="zstd") as writer:
        for batch in table.batches():
            writer.write_batch(batch)
    return path
