"""DuckDB on a written release: a connection with limits, the file as a relation, and SQL results as counts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import Int64
from coterie.errors import BackendError, DataError
from coterie.files.batches import TableFile, without_rows
from coterie.verification.cells import equal_rows, read_cells
from coterie.verification.counts import CellCounts, CellPairs, ClassCells

if TYPE_CHECKING:
    import duckdb

# The number of rows of counts checked at a time.
BATCH_ROWS = 2**18
PERSON = "\0person"
"""a column that no table has"""


class DuckLimits(NamedTuple):
    """The resources of the check."""

    folder: Path
    """for data that does not fit in memory"""
    memory: int
    """bytes"""
    threads: int


@contextmanager
def connected(checker: DuckLimits) -> Iterator[duckdb.DuckDBPyConnection]:
    """Connect to DuckDB with limited memory and threads; its own messages are not passed on."""
    import duckdb

    checker.folder.mkdir(exist_ok=True)
    settings: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": f"{checker.memory // 2**20}MiB",
        "temp_directory": str(checker.folder),
        "threads": checker.threads,
        "preserve_insertion_order": False,
    }
    connection = duckdb.connect(":memory:", config=settings)
    try:
        # The statistics of a Parquet file leave NaN out, and DuckDB concludes from them that there is none.
        connection.execute("SET disabled_optimizers = 'statistics_propagation'").fetchall()
        yield connection
    except duckdb.OutOfMemoryException:
        raise BackendError(
            f"DuckDB could not verify the release within {checker.memory // 2**20:,} MB.", hint="Allow more memory."
        ) from None
    except duckdb.Error:
        # Its messages may quote cells.
        raise DataError("The release cannot be verified: DuckDB cannot read it.", hint="Write Parquet.") from None
    finally:
        connection.close()


@contextmanager
def relation_of(table: TableFile, checker: DuckLimits, *, beside: HiddenColumn | None = None) -> Iterator[str]:
    """Return the SQL expression of a table, with an additional column if given.

    DuckDB reads Parquet itself; other formats are converted first, in the folder of the checker.
    """
    from pyarrow import parquet

    if table.format == "parquet" and beside is None:
        paths = [str(part.path) for part in table.parts]
        yield f"read_parquet([{', '.join(text(path) for path in paths)}])"
        return
    copy = checker.folder / "copy.parquet"
    schema = table.schema if beside is None else table.schema.append(pa.field(beside.name, beside.type))
    rows = None if beside is None else RowReader(beside.batches)
    with parquet.ParquetWriter(copy, schema, compression="zstd") as writer:
        for batch in table.batches():
            if rows is None or beside is None:
                writer.write_batch(batch)
                continue
            column = rows.take(batch.num_rows).column(0)
            writer.write_table(pa.Table.from_arrays([*batch.columns, column], schema=schema))
    if rows is not None:
        rows.end()
    try:
        yield f"read_parquet({text(str(copy))})"
    finally:
        copy.unlink(missing_ok=True)


class HiddenColumn(NamedTuple):
    """A column about the published rows that is not published."""

    name: str
    type: pa.DataType
    batches: Iterator[pa.RecordBatch]
    """its cells, of the same rows in the same order, as the only column"""


def people_column(table: TableFile, entity: str, removed: Int64) -> HiddenColumn:
    """Return the person of each row that is not removed, from the original, which alone names them."""
    kind = read_cells(pa.array([], table.schema.field(entity).type), name=entity).plain.type
    plain = (read_cells(batch.column(0), name=entity).plain for batch in table.batches([entity]))
    return HiddenColumn(PERSON, kind, without_rows((pa.record_batch([cells], [PERSON]) for cells in plain), removed))


class RowReader:
    """Yields rows from batches, in chunks of any size."""

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._batches = batches
        self._held: list[pa.RecordBatch] = []

    def take(self, count: int) -> pa.Table:
        """Return the next rows."""
        while sum(batch.num_rows for batch in self._held) < count or not self._held:
            batch = next(self._batches, None)
            if batch is None:
                raise _other_rows()
            self._held.append(batch)
        whole = pa.Table.from_batches(self._held)
        self._held = whole.slice(count).to_batches()
        return whole.slice(0, count)

    def end(self) -> None:
        """Raise if there are more rows."""
        if any(batch.num_rows for batch in self._held) or any(batch.num_rows for batch in self._batches):
            raise _other_rows()


def _other_rows() -> DataError:
    return DataError(
        "The file that was written has another number of rows than the release.",
        hint="Check the free disk space, and run again.",
    )


def text(value: str) -> str:
    """Quote a text for SQL."""
    return "'" + value.replace("'", "''") + "'"


def quoted(value: str) -> str:
    """Quote a column name for SQL."""
    return '"' + value.replace('"', '""') + '"'


def cell(name: str, schema: pa.Schema) -> str:
    """Return a column with NaN as null and a single zero, as the check in memory sees it."""
    if pa.types.is_floating(schema.field(name).type):
        return f"CASE WHEN isnan({quoted(name)}) THEN NULL ELSE {quoted(name)} + 0.0 END"
    return quoted(name)


def answer(connection: duckdb.DuckDBPyConnection, query: str) -> pa.RecordBatchReader:
    """Yield the result in batches: `sql` streams it, where `execute` would load it whole."""
    relation = connection.sql(query)
    # Before DuckDB 1.5 it had another name.
    read = relation.to_arrow_reader if hasattr(relation, "to_arrow_reader") else relation.fetch_arrow_reader
    return read(BATCH_ROWS)


def fetched(connection: duckdb.DuckDBPyConnection, query: str) -> pa.Table:
    """Return the whole result."""
    return pa.Table.from_batches(list(reader := answer(connection, query)), reader.schema)


def counted_cells(table: pa.Table) -> CellCounts:
    """Return distinct cells `v` and their rows `n`, as counted by SQL; one cell may be null."""
    values, rows = read_cells(table.column("v"), name="v"), table.column("n").to_numpy().astype(np.int64)
    totals = np.bincount(values.of_row, weights=rows, minlength=len(values.values) + 1).astype(np.int64)
    return CellCounts(values.values, totals[:-1], int(totals[-1]))


def class_pairs(table: pa.Table) -> CellPairs:
    """Return whole classes as counted by SQL: published cells, then the sensitive one, then rows."""
    columns = table.columns
    of, _ = equal_rows([read_cells(column, name="") for column in columns[:-2]])
    cells = columns[-2].combine_chunks()
    return CellPairs(of, cells, None, columns[-1].to_numpy().astype(np.int64))


def class_cells(table: pa.Table) -> ClassCells:
    """Return classes as counted by SQL: published cells, then rows."""
    cells = table.select(list(range(table.num_columns - 1)))  # not by name: a column may be called as the rows are
    return ClassCells(cells, table.columns[-1].to_numpy().astype(np.int64))
