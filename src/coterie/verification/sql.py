"""DuckDB on a written release: a connection with its limits, the file as a relation, and what is asked of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from coterie.errors import BackendError, DataError
from coterie.verification.verify import ROOT

if TYPE_CHECKING:
    import duckdb

    from coterie.files.batches import TableFile

# Rows of counts that are checked at a time.
BATCH_ROWS = 2**18


class Checker(NamedTuple):
    """What the check may use."""

    folder: Path
    """for what does not fit the memory"""
    memory: int
    """bytes"""
    threads: int


@contextmanager
def connected(checker: Checker) -> Iterator[duckdb.DuckDBPyConnection]:
    """DuckDB, with as much memory and as many threads as it may use; its own messages go no further."""
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
            f"DuckDB could not check the release within {checker.memory // 2**20:,} MB.", hint="Allow more memory."
        ) from None
    except duckdb.Error:
        # Its messages may quote cells.
        raise DataError("The release cannot be checked: DuckDB does not read it.", hint="Write Parquet.") from None
    finally:
        connection.close()


@contextmanager
def relation_of(table: TableFile, checker: Checker, *, beside: Beside | None = None) -> Iterator[str]:
    """What stands for the table in SQL. Parquet is read by DuckDB itself, other formats are made Parquet first.

    Args:
        table: The table.
        checker: A folder for copies.
        beside: A column that the table does not have.
    """
    from pyarrow import parquet

    if table.format == "parquet" and beside is None:
        paths = [str(part.path) for part in table.parts]
        yield f"read_parquet([{', '.join(_text(path) for path in paths)}])"
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
        yield f"read_parquet({_text(str(copy))})"
    finally:
        copy.unlink(missing_ok=True)


class Beside(NamedTuple):
    """A column of the published rows that is not published."""

    name: str
    type: pa.DataType
    batches: Iterator[pa.RecordBatch]
    """its cells, of the same rows in the same order, as the only column"""


class RowReader:
    """Rows that come in batches, as many at a time as are asked for."""

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._batches = batches
        self._held: list[pa.RecordBatch] = []

    def take(self, count: int) -> pa.Table:
        """The next rows."""
        while sum(batch.num_rows for batch in self._held) < count or not self._held:
            batch = next(self._batches, None)
            if batch is None:
                raise _other_rows()
            self._held.append(batch)
        whole = pa.Table.from_batches(self._held)
        self._held = whole.slice(count).to_batches()
        return whole.slice(0, count)

    def end(self) -> None:
        """Raise if there are more."""
        if any(batch.num_rows for batch in self._held) or any(batch.num_rows for batch in self._batches):
            raise _other_rows()


def _other_rows() -> DataError:
    return DataError(
        "The file that was written has another number of rows than the release.",
        hint="See whether the disk has space left, and run again.",
    )


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def quoted(value: str) -> str:
    """The name of a column in SQL."""
    return '"' + value.replace('"', '""') + '"'


def cell(name: str, schema: pa.Schema) -> str:
    """A column with NaN as null and with one zero only, as the check in memory sees it."""
    if pa.types.is_floating(schema.field(name).type):
        return f"CASE WHEN isnan({quoted(name)}) THEN NULL ELSE {quoted(name)} + 0.0 END"
    return quoted(name)


class People(NamedTuple):
    """How many people classes have."""

    least: int
    """people of the class with the fewest"""
    size: int
    """rows of such a class"""
    classes_below: int
    rows_below: int
    classes: int


def class_people(
    connection: duckdb.DuckDBPyConnection, relation: str, schema: pa.Schema, names: Sequence[str], *, who: str, k: int
) -> People:
    """Count the people of every class; rows that name nobody are one person together.

    Args:
        connection: DuckDB.
        relation: The table.
        schema: Its columns.
        names: Those that are published of quasi-identifiers.
        who: The column of people.
        k: How many are wanted.
    """
    cells = ", ".join(f"{cell(name, schema)} AS c{j}" for j, name in enumerate(names))
    keys = ", ".join(f"c{j}" for j in range(len(names)))
    query = f"""
        SELECT coalesce(min(p), 0)::BIGINT, coalesce(min_by(n, p), 0)::BIGINT, (count(*) FILTER (p < {k}))::BIGINT,
            coalesce(sum(n) FILTER (p < {k}), 0)::BIGINT, count(*)::BIGINT
        FROM (
            SELECT count(*) AS n, count(DISTINCT who) + (count(*) > count(who))::BIGINT AS p
            FROM (SELECT {cells}, {cell(who, schema)} AS who FROM {relation}) GROUP BY {keys}
        )
    """
    return People(*(int(value) for value in connection.execute(query).fetchall()[0]))


def class_sizes(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    schema: pa.Schema,
    names: Sequence[str],
    roots: Mapping[str, str],
    k: int,
) -> dict[str, Any]:
    """Rows, classes and their sizes, counted in one query."""
    cells = ", ".join(f"{cell(name, schema)} AS c{j}" for j, name in enumerate(names))
    keys = ", ".join(f"c{j}" for j in range(len(names)))
    missing = " + ".join(f"(c{j} IS NULL)::BIGINT" for j in range(len(names)))
    texts = [j for j, name in enumerate(names) if _is_text(schema.field(name).type)]
    starred = [
        f"c{j} IS NOT DISTINCT FROM {_text(roots.get(name, ROOT))}" if j in texts else f"c{j} IS NULL"
        for j, name in enumerate(names)
    ]
    star = " AND ".join(starred)
    query = f"""
        SELECT coalesce(sum(n), 0)::BIGINT, count(*)::BIGINT, coalesce(min(n), 0)::BIGINT, coalesce(max(n), 0)::BIGINT,
            coalesce(sum(n::HUGEINT * n), 0), coalesce(sum(n) FILTER (n < {k}), 0)::BIGINT,
            (count(*) FILTER (n < {k}))::BIGINT, coalesce(sum(n * blank), 0)::BIGINT,
            coalesce(sum(n) FILTER (star), 0)::BIGINT, coalesce(min(n) FILTER (NOT star), 0)::BIGINT,
            coalesce(max(n) FILTER (NOT star), 0)::BIGINT
        FROM (
            SELECT count(*) AS n, {missing} AS blank, {star} AS star
            FROM (SELECT {cells} FROM {relation}) GROUP BY {keys}
        )
    """
    found = [int(value) for value in connection.execute(query).fetchall()[0]]
    return {
        "rows": found[0],
        "groups": found[1],
        "smallest": found[2],
        "largest": found[3],
        "squares": found[4],
        "below": (found[5], found[6]),
        "missing": found[7],
        # Where nothing is text, a class of nothing but null need not be one of suppressed rows.
        "suppressed": found[8] if texts else 0,
        "starred": found[8],
        "others": {"smallest": found[9], "largest": found[10]},
    }


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def answer(connection: duckdb.DuckDBPyConnection, query: str) -> pa.RecordBatchReader:
    """The answer a batch at a time: `sql` streams it, where `execute` would hold it whole."""
    relation = connection.sql(query)
    # Before DuckDB 1.5 it had another name.
    read = relation.to_arrow_reader if hasattr(relation, "to_arrow_reader") else relation.fetch_arrow_reader
    return read(BATCH_ROWS)


def fetched(connection: duckdb.DuckDBPyConnection, query: str) -> pa.Table:
    """The whole answer."""
    return pa.Table.from_batches(list(reader := answer(connection, query)), reader.schema)
