"""Read and write SQLite with Python's driver: rows in batches, new tables in one transaction.

SQLite stores integers, reals, texts and blobs, whatever a column's declared type. Columns declared
as dates, times or booleans are read as such if every value is one; others are read as stored.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from coterie.errors import ConfigError, DataError, Problem
from coterie.files.csv_out import text_cells
from coterie.files.databases.drivers import BATCH, no_table, refuse_names, stored, target_exists
from coterie.files.databases.place import Place, quoted

# Seconds to wait for another program that writes.
PATIENCE = 10.0


def read(place: Place) -> pa.Table:
    """Read all rows of a table by row number, or of a query in its own order."""
    with _opened(place, "ro") as connection:
        declared: dict[str, str] = {}
        if place.query is not None:
            cursor = connection.execute(place.query)
        else:
            if _kind(connection, place) is None:
                there = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
                raise no_table(place, [name for (name,) in connection.execute(there)])
            told = connection.execute("SELECT name, type FROM pragma_table_info(?)", (place.table,))
            declared = {name: kind.upper() for name, kind in told}
            cursor = _rows(connection, place)
        if cursor.description is None:
            raise DataError(f"{place.name} gives no rows.", hint="Give a query that selects.")
        names = [each[0] for each in cursor.description]
        chunks: list[list[pa.Array]] = [[] for _ in names]
        while rows := cursor.fetchmany(BATCH):
            for made, values in zip(chunks, zip(*rows, strict=True), strict=True):
                made.append(_array(values))
    columns = [_as_declared(_column(made), declared.get(name, "")) for name, made in zip(names, chunks, strict=True)]
    return pa.table(columns, names=names)


def check(place: Place, *, force: bool) -> None:
    """Refuse a table that already exists, and a missing folder."""
    path = Path(place.url)
    if not path.parent.is_dir():
        raise ConfigError([Problem("output", f"there is no folder {path.parent}")], hint="Create it first.")
    if path.exists():
        with _opened(place, "ro") as connection:
            _refuse_existing(connection, place, force=force)


def write(table: pa.Table, place: Place, *, force: bool) -> None:
    """Create a table in one transaction, and the file too if it does not exist."""
    refuse_names(table.column_names, place, fold=True)
    columns = [_storable(table.column(name), name, place) for name in table.column_names]
    kinds = [_declared(table.schema.field(name).type) for name in table.column_names]
    listed = ", ".join(f"{quoted(name)} {kind}" for name, kind in zip(table.column_names, kinds, strict=True))
    marks = ", ".join("?" * len(columns))
    new = not Path(place.url).exists()
    try:
        with _opened(place, "rwc") as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                _refuse_existing(connection, place, force=force)
                connection.execute(f"DROP TABLE IF EXISTS {place.quoted}")
                connection.execute(f"CREATE TABLE {place.quoted} ({listed})")
                for batch in pa.table(columns, names=table.column_names).to_batches(max_chunksize=BATCH):
                    cells = zip(*(column.to_pylist() for column in batch.columns), strict=True)
                    connection.executemany(f"INSERT INTO {place.quoted} VALUES ({marks})", cells)
                connection.execute("COMMIT")
            except BaseException:
                # Where SQLite has rolled back already there is nothing to roll back.
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
    except BaseException:
        if new:  # the empty file that opening has made
            Path(place.url).unlink(missing_ok=True)
        raise


@contextmanager
def _opened(place: Place, mode: str) -> Iterator[sqlite3.Connection]:
    path = Path(place.url)
    if mode == "ro" and not path.is_file():
        raise DataError(f"There is no file {path}.", hint=f"Relative paths start at {Path.cwd()}.")
    try:
        address = f"{path.resolve().as_uri()}?mode={mode}"
        with closing(sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)) as connection:
            yield connection
    except (sqlite3.Error, UnicodeError) as error:
        raise _fault(error, place) from None


def _fault(error: Exception, place: Place) -> DataError:
    """Explain the error in our own words: the driver's may quote cells and query literals."""
    code = getattr(error, "sqlite_errorname", None) or ""
    text = str(error)
    for start, said, hint in (
        ("SQLITE_BUSY", "is locked by another program", "Try again when that has finished."),
        ("SQLITE_LOCKED", "is locked by another program", "Try again when that has finished."),
        ("SQLITE_READONLY", "is open for reading only", "Give a query that only selects, or a file you may write."),
        ("SQLITE_CANTOPEN", "cannot be opened", "Check its permissions and those of its folder."),
        ("SQLITE_NOTADB", "is not an SQLite database", "Check the path."),
        ("SQLITE_CORRUPT", "is damaged", "Restore it from a copy."),
        ("SQLITE_FULL", "cannot grow: the disk is full", "Free some space and try again."),
        ("SQLITE_IOERR", "cannot be used: the disk reports an error", "Check the disk."),
    ):
        if code.startswith(start):
            return DataError(f"{place.shown} {said}.", hint=hint)
    if place.query is not None:
        for part, said in (("no such table", "refers to a table"), ("no such column", "refers to a column")):
            if part in text:
                return DataError(f"{place.name} {said} that does not exist.", hint="Check the query.")
        return DataError(f"{place.name} is refused by SQLite.", hint="Try it in the sqlite3 program, which says why.")
    if "decode to UTF-8" in text or isinstance(error, UnicodeError):
        return DataError(f"{place.name} has text that is not UTF-8.", hint="Read such a column with hex(…) in a query.")
    return DataError(f"{place.name} is refused by SQLite.", hint="Check the table in the sqlite3 program.")


def _rows(connection: sqlite3.Connection, place: Place) -> sqlite3.Cursor:
    everything = f"SELECT * FROM {place.quoted}"
    try:
        return connection.execute(f"{everything} ORDER BY rowid")
    except sqlite3.OperationalError:  # a view, or a table without row numbers, which lies in the order of its key
        return connection.execute(everything)


def _refuse_existing(connection: sqlite3.Connection, place: Place, *, force: bool) -> None:
    kind = _kind(connection, place)
    if kind is not None:
        target_exists(place, force=force, kind=kind)


def _kind(connection: sqlite3.Connection, place: Place) -> str | None:
    if place.schema not in (None, "main"):
        raise ConfigError(f"{place.shown} has no schema {place.schema!r}.", hint="Quote a name that has a dot.")
    found = connection.execute("SELECT type FROM sqlite_master WHERE name = ? COLLATE NOCASE", (place.table,))
    row = found.fetchone()
    return None if row is None else str(row[0])


def _array(values: Sequence[Any]) -> pa.Array:
    """Return one batch of a column, in the type that fits all its cells."""
    kinds = set(map(type, values)) - {type(None)}
    if kinds == {int, float}:
        with suppress(pa.ArrowInvalid):  # integers that no float holds exactly
            return pa.array(values, pa.float64())
    return pa.array(values) if len(kinds) < 2 else _texts(values)


def _texts(values: Sequence[Any]) -> pa.Array:
    if bytes in set(map(type, values)):
        raise DataError(
            "A column mixes blobs with other values.", hint="Read it with hex(…) in a query, or leave it out."
        )
    return pa.array([None if value is None else str(value) for value in values], pa.string())


def _column(chunks: list[pa.Array]) -> pa.ChunkedArray:
    """Join a column's batches in the one type that fits them all: SQLite lets the type change from row to row."""
    kinds = {chunk.type for chunk in chunks} - {pa.null()}
    if len(kinds) < 2:
        kind = kinds.pop() if kinds else pa.null()
        return pa.chunked_array([chunk.cast(kind) for chunk in chunks], kind)
    if kinds == {pa.int64(), pa.float64()}:
        with suppress(pa.ArrowInvalid):
            return pa.chunked_array([chunk.cast(pa.float64()) for chunk in chunks], pa.float64())
    # Cell by cell, as in `_array`: Arrow writes some floats otherwise than Python does.
    return pa.chunked_array([_texts(chunk.to_pylist()) for chunk in chunks], pa.string())


def _as_declared(column: pa.ChunkedArray, declared: str) -> pa.ChunkedArray:
    """Convert a column to its declared type if every value is written exactly in that form."""
    if declared.startswith("BOOL") and pa.types.is_integer(column.type):
        zero_or_one = pc.all(pc.is_in(column, pa.array([0, 1, None], column.type))).as_py()
        return column.cast(pa.bool_()) if zero_or_one else column
    if not pa.types.is_string(column.type):
        return column
    kinds: list[pa.DataType] = []
    if declared == "DATE":
        kinds = [pa.date32()]
    elif declared.startswith(("TIMESTAMP", "DATETIME")):
        kinds = [pa.timestamp("s"), pa.timestamp("us")]
    for kind in kinds:
        with suppress(pa.ArrowInvalid):
            made = column.cast(kind)
            if made.cast(pa.string()).equals(column):
                return made
    return column


def _declared(kind: pa.DataType) -> str:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_boolean(kind):
        return "BOOLEAN"
    if pa.types.is_uint64(kind) or pa.types.is_decimal(kind):
        return "TEXT"  # a declaration as DECIMAL would make floats of them
    if pa.types.is_integer(kind):
        return "INTEGER"
    if pa.types.is_floating(kind):
        return "REAL"
    if pa.types.is_date(kind):
        return "DATE"
    if pa.types.is_timestamp(kind):
        return "TIMESTAMP"
    return "BLOB" if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) else "TEXT"


def _storable(column: pa.ChunkedArray, name: str, place: Place) -> pa.ChunkedArray:
    """Cast the column to integers, reals, texts or blobs."""
    column = stored(column, name=name, place=place)
    kind = column.type
    if pa.types.is_boolean(kind):
        return column.cast(pa.int8())
    if pa.types.is_timestamp(kind):
        for unit in ("s", "us"):
            with suppress(pa.ArrowInvalid):
                return text_cells(column.cast(pa.timestamp(unit, kind.tz)))
    plain = pa.types.is_integer(kind) and not pa.types.is_uint64(kind)
    if plain or pa.types.is_floating(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return column
    return column if pa.types.is_string(kind) else text_cells(column)
