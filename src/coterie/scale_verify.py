"""Verify a release that is larger than the memory: DuckDB groups its rows by what is published of them.

It reads the file that was written and nothing else. Sizes are counted in SQL; privacy models are decided by the same
code that checks tables in memory, from the counts of sensitive values in each class, some thousand classes at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.errors import BackendError, DataError
from coterie.measures import ClassSizes
from coterie.privacy_kmap import KMap
from coterie.scale_models import ClassCounts, ModelChecks, sensitive_domains
from coterie.verify import ROOT, Check, Verification, k_check
from coterie.verify_models import promised, refuse_absent
from coterie.verify_rows import RowSums, rows_check

if TYPE_CHECKING:
    import duckdb

    from coterie.config import Config
    from coterie.scale_source import TableFile

# Rows of counts that are checked at a time.
BATCH_ROWS = 2**18


class Checked(NamedTuple):
    """What the check of a written release found."""

    verification: Verification
    classes: ClassSizes
    """of all classes but that of suppressed rows, if these are shown"""

    def with_rows(self, sums: RowSums, k: int, *, hidden: int) -> Checked:
        """The same with the promise of rows that are published one by one.

        Args:
            sums: What was counted in all rings.
            k: What is promised.
            hidden: Rows shown that are suppressed.
        """
        found = self.verification
        check = rows_check(sums, k=k, alike=found.suppressed if hidden else None)
        return self._replace(verification=replace(found, checks=(check, *found.checks)))


class Checker(NamedTuple):
    """What the check may use."""

    folder: Path
    """for what does not fit the memory"""
    memory: int
    """bytes"""
    threads: int


def verify_file(
    table: TableFile,
    config: Config,
    *,
    roots: Mapping[str, str],
    hidden: int,
    checker: Checker,
    k: int | None = None,
    measured: bool = False,
) -> Checked:
    """Check the promises of a written release.

    Args:
        table: The release as written.
        config: What is promised.
        roots: Quasi-identifier → what a suppressed cell looks like.
        hidden: Rows shown that are suppressed: they are a class by themselves, or part of one.
        checker: Memory, threads and a folder.
        k: What is promised, if it is not the configuration's; 0 is nothing.
        measured: Also measure the sensitive columns, whatever was promised of them.
    """
    from coterie.verify import published_names

    wanted = config.k if k is None else k
    names = published_names(table.schema.names, config.quasi, wanted or None)
    with _connection(checker) as connection, _relation(connection, table, checker) as relation:
        found = _sizes(connection, relation, table.schema, names, roots, wanted)
        kept = [k_check(wanted, rows=found["rows"], smallest=found["smallest"], below=found["below"])]
        models = _models(connection, relation, table, names, config, measured=measured)
    made = checked(found, [*(kept if wanted else ()), *models.results()], config, hidden=hidden)
    verification = replace(made.verification, wanted=wanted or None, measured=models.measured())
    return made._replace(verification=verification)


def checked(found: Mapping[str, Any], checks: Sequence[Check], config: Config, *, hidden: int) -> Checked:
    """What was found, from what an engine counted.

    Args:
        found: Rows, classes and their sizes, by name.
        checks: Promises that were checked.
        config: What is promised.
        hidden: Rows shown that are suppressed.
    """
    verification = Verification(
        rows=found["rows"],
        groups=found["groups"],
        k=found["smallest"],
        largest=found["largest"],
        average=found["rows"] / found["groups"] if found["groups"] else 0.0,
        wanted=config.k,
        rows_below=found["below"][0],
        classes_below=found["below"][1],
        missing_cells=found["missing"],
        suppressed=found["suppressed"],
        quasi=tuple(config.quasi),
        checks=tuple(checks),
        class_of_row=np.zeros(0, dtype=np.int64),
        sizes=np.zeros(0, dtype=np.int64),
    )
    return Checked(verification, _classes(found, hidden))


def _classes(found: Mapping[str, Any], hidden: int) -> ClassSizes:
    """The sizes without suppressed rows: these are in the class of rows that are `*` throughout."""
    if not hidden:
        return ClassSizes(found["groups"], found["smallest"], found["largest"], found["squares"])
    starred = found["suppressed"]
    left = starred - hidden
    others = found["others"]
    smallest = [size for size in (others["smallest"], left) if size]
    return ClassSizes(
        found["groups"] - (left == 0),
        min(smallest, default=0),
        max(others["largest"], left),
        found["squares"] - starred**2 + left**2,
    )


@contextmanager
def _connection(checker: Checker) -> Iterator[duckdb.DuckDBPyConnection]:
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
def _relation(connection: duckdb.DuckDBPyConnection, table: TableFile, checker: Checker) -> Iterator[str]:
    """What stands for the table in SQL. Parquet is read by DuckDB itself, other formats are made Parquet first."""
    from pyarrow import parquet

    if table.format == "parquet":
        paths = [str(part.path) for part in table.parts]
        yield f"read_parquet([{', '.join(_text(path) for path in paths)}])"
        return
    copy = checker.folder / "copy.parquet"
    with parquet.ParquetWriter(copy, table.schema, compression="zstd") as writer:
        for batch in table.batches():
            writer.write_batch(batch)
    yield f"read_parquet({_text(str(copy))})"
    copy.unlink()


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _name(value: str) -> str:
    return '"' + value.replace('"', '""') + '"'


def _cell(name: str, schema: pa.Schema) -> str:
    """A column with NaN as null and with one zero only, as the check in memory sees it."""
    if pa.types.is_floating(schema.field(name).type):
        return f"CASE WHEN isnan({_name(name)}) THEN NULL ELSE {_name(name)} + 0.0 END"
    return _name(name)


def _sizes(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    schema: pa.Schema,
    names: Sequence[str],
    roots: Mapping[str, str],
    k: int,
) -> dict[str, Any]:
    """Rows, classes and their sizes, counted in one query."""
    cells = ", ".join(f"{_cell(name, schema)} AS c{j}" for j, name in enumerate(names))
    keys = ", ".join(f"c{j}" for j in range(len(names)))
    missing = " + ".join(f"(c{j} IS NULL)::BIGINT" for j in range(len(names)))
    texts = [j for j, name in enumerate(names) if _is_text(schema.field(name).type)]
    starred = [
        f"c{j} IS NOT DISTINCT FROM {_text(roots.get(name, ROOT))}" if j in texts else f"c{j} IS NULL"
        for j, name in enumerate(names)
    ]
    star = " AND ".join(starred) if texts else "false"
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
        "suppressed": found[8],
        "others": {"smallest": found[9], "largest": found[10]},
    }


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _models(
    connection: duckdb.DuckDBPyConnection,
    relation: str,
    table: TableFile,
    names: Sequence[str],
    config: Config,
    *,
    measured: bool,
) -> ModelChecks:
    """Check the models beyond k, class by class."""
    models = promised(config)
    columns = list(dict.fromkeys(model.on for model in models if model.on is not None))
    columns = list(config.sensitive) if measured else columns
    refuse_absent(table.schema.names, columns)
    domains = sensitive_domains(
        {
            column: _fetched(
                connection,
                f"SELECT {_cell(column, table.schema)} AS v, count(*) AS n FROM {relation} GROUP BY 1 ORDER BY 1",
            )
            for column in columns
        },
        config,
    )
    checks = ModelChecks(models, domains, config, measuring=measured)
    keys = ", ".join(f"{_cell(name, table.schema)} AS {_name(name)}" for name in names)
    for column in columns:
        wanted = ", ".join(_name(name) for name in names)
        query = f"""
            SELECT hash({wanted}) AS h, {wanted}, v, count(*) AS n
            FROM (SELECT {keys}, {_cell(column, table.schema)} AS v FROM {relation}) GROUP BY ALL ORDER BY h
        """
        for counts in _whole_classes(_batches(connection, query), names):
            checks.add_values(column, counts)
    if any(isinstance(model, KMap) for model in models):
        query = f"SELECT {keys}, count(*) AS n FROM {relation} GROUP BY ALL"
        for batch in _batches(connection, query):
            checks.add_classes(pa.Table.from_batches([batch]), names)
    return checks


def _batches(connection: duckdb.DuckDBPyConnection, query: str) -> pa.RecordBatchReader:
    """The answer a batch at a time: `sql` streams it, where `execute` would hold it whole."""
    relation = connection.sql(query)
    # Before DuckDB 1.5 it had another name.
    read = relation.to_arrow_reader if hasattr(relation, "to_arrow_reader") else relation.fetch_arrow_reader
    return read(BATCH_ROWS)


def _fetched(connection: duckdb.DuckDBPyConnection, query: str) -> pa.Table:
    return pa.Table.from_batches(list(reader := _batches(connection, query)), reader.schema)


def _whole_classes(batches: pa.RecordBatchReader, names: Sequence[str]) -> Iterator[ClassCounts]:
    """Counts of values by class, cut only where the hash of the class changes."""
    waiting: pa.Table | None = None
    for batch in batches:
        part = pa.Table.from_batches([batch])
        whole = part if waiting is None else pa.concat_tables([waiting, part])
        hashes = whole.column("h").to_numpy()
        cut = int(np.searchsorted(hashes, hashes[-1])) if len(hashes) else 0
        if cut:
            yield ClassCounts.of(whole.slice(0, cut), names)
        waiting = whole.slice(cut)
    if waiting is not None and waiting.num_rows:
        yield ClassCounts.of(waiting, names)
