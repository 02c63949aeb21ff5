"""Read and write PostgreSQL with ADBC: binary COPY both ways, in Arrow batches, in one transaction.

The driver uses libpq, so a password may come from PGPASSWORD, ~/.pgpass or a service file as with psql.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from coterie.errors import BackendError, ConfigError, CoterieError, DataError, Problem
from coterie.files.databases.drivers import BATCH, no_table, refuse_names, target_exists
from coterie.files.databases.place import Place, quoted
from coterie.files.databases.postgres_faults import fault
from coterie.files.databases.postgres_types import arrived, asked, declared, plain_schema, storable, without_notes

if TYPE_CHECKING:
    from adbc_driver_manager.dbapi import Connection, Cursor

_LONGEST_NAME = 63  # bytes; PostgreSQL would cut it there


def read(place: Place) -> pa.Table:
    """Read all rows of a table, by primary key if it has one, or of a query in its own order."""
    with _session(place) as connection, connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        # A scan synchronized with another session's would start anywhere in the table.
        cursor.execute("SET LOCAL synchronize_seqscans = off")
        query = _table_query(cursor, place) if place.query is None else _outer_query(cursor, place)
        cursor.execute(query)
        with cursor.fetch_record_batch() as reader:
            schema = reader.schema
            batches = [without_notes(batch) for batch in reader]
    table = pa.Table.from_batches(batches, schema=plain_schema(schema))
    columns = [arrived(column, given) for given, column in zip(schema, table.columns, strict=True)]
    return pa.table(columns, names=schema.names)


def check(place: Place, *, force: bool) -> None:
    """Refuse a table that already exists, a missing schema, and a schema without permission to create tables."""
    with _session(place) as connection, connection.cursor() as cursor:
        _refuse_existing(cursor, place, force=force)


def write(table: pa.Table, place: Place, *, force: bool) -> None:
    """Create a table and fill it with COPY, in one transaction."""
    refuse_names(table.column_names, place, longest=_LONGEST_NAME)
    columns = [storable(table.column(name), name=name, place=place) for name in table.column_names]
    kinds = [declared(column.type) for column in columns]
    listed = ", ".join(f"{quoted(name)} {kind}" for name, kind in zip(table.column_names, kinds, strict=True))
    rows = pa.table(columns, names=table.column_names)
    with _session(place) as connection, connection.cursor() as cursor:
        if _refuse_existing(cursor, place, force=force):
            cursor.execute(f"DROP TABLE {place.quoted}")
        cursor.execute(f"CREATE TABLE {place.quoted} ({listed})")
        if rows.num_rows:
            reader = pa.RecordBatchReader.from_batches(rows.schema, rows.to_batches(max_chunksize=BATCH))
            cursor.adbc_ingest(place.table or "", reader, mode="append", db_schema_name=place.schema)
        connection.commit()


@contextmanager
def _session(place: Place) -> Iterator[Connection]:
    """Open a transaction that is rolled back unless committed."""
    try:
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise BackendError(f"{place.shown} needs the db extra.", hint="Install it: pip install 'coterie[db]'") from None
    try:
        with dbapi.connect(place.url) as connection:
            try:
                yield connection
            finally:
                # A connection that is lost has rolled back already.
                with suppress(Exception):
                    connection.rollback()
    except (CoterieError, MemoryError):
        raise
    except Exception as error:
        # Arrow's errors as well: the driver's messages arrive through its stream of batches.
        raise fault(error, place) from None


def _ask(cursor: Cursor, question: str, *parameters: Any) -> list[Any]:  # noqa: ANN401 - what SQL takes
    cursor.execute(question, parameters or None)
    return list(cursor.fetchall())


def _table_query(cursor: Cursor, place: Place) -> str:
    """Return the query for a table's rows by primary key; without one, in storage order, by a single reader."""
    if _kind(cursor, place) is None:
        found = _ask(
            cursor,
            "SELECT CASE schemaname WHEN current_schema() THEN '' ELSE schemaname || '.' END || name FROM ("
            "SELECT schemaname, tablename AS name FROM pg_tables UNION ALL SELECT schemaname, viewname FROM pg_views"
            ") AS tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1",
        )
        raise no_table(place, [name for (name,) in found])
    key = _ask(
        cursor,
        "SELECT a.attname::text FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid "
        "AND a.attnum = ANY(i.indkey) WHERE i.indisprimary AND i.indrelid = to_regclass($1) "
        "ORDER BY array_position(i.indkey::int2[], a.attnum)",
        place.quoted,
    )
    columns = _columns(cursor, f"SELECT * FROM {place.quoted}", place)
    if key:
        order = ", ".join(f"given.{quoted(name)}" for (name,) in key)
        return f"SELECT {columns} FROM {place.quoted} AS given ORDER BY {order}"
    cursor.execute("SET LOCAL max_parallel_workers_per_gather = 0")
    return f"SELECT {columns} FROM {place.quoted} AS given"


def _outer_query(cursor: Cursor, place: Place) -> str:
    """Return the user's query, wrapped in another where columns must be cast to text."""
    columns = _columns(cursor, str(place.query), place)
    # The line break ends a comment at the end of the query.
    return f"SELECT {columns} FROM (\n{place.query}\n) AS given" if "::" in columns else str(place.query)


def _columns(cursor: Cursor, query: str, place: Place) -> str:
    schema = cursor.adbc_execute_schema(query)
    names = schema.names
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise DataError(f"{place.name} has more than one column {twice[0]!r}.", hint="Rename one of them with AS.")
    return ", ".join(asked(each) for each in schema)


def _refuse_existing(cursor: Cursor, place: Place, *, force: bool) -> bool:
    """Return whether there is a table to replace; refuse one that may not be replaced or created."""
    kind = _kind(cursor, place)
    if kind is not None:
        target_exists(place, force=force, kind=kind)
        return True
    schema = place.schema
    there = _ask(cursor, "SELECT 1 FROM pg_namespace WHERE nspname = coalesce($1, current_schema())", schema)
    if not there:
        raise ConfigError(
            [Problem("output", f"there is no schema {schema or 'to write into'} in {place.shown}")],
            hint="Create it first: CREATE SCHEMA.",
        )
    may = _ask(cursor, "SELECT has_schema_privilege(coalesce($1, current_schema()), 'CREATE')", schema)
    if not may[0][0]:
        raise ConfigError(
            [Problem("output", f"this user may not create tables in {place.shown}")],
            hint="Ask for CREATE permission on the schema, or choose another.",
        )
    return False


def _kind(cursor: Cursor, place: Place) -> str | None:
    found: Sequence[Any] = _ask(cursor, "SELECT relkind::text FROM pg_class WHERE oid = to_regclass($1)", place.quoted)
    kinds = {"r": "table", "v": "view", "m": "materialized view", "f": "foreign table", "p": "partitioned table"}
    return kinds.get(found[0][0], "relation of another kind") if found else None
