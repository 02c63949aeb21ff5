"""Count a release that is larger than memory: DuckDB groups its rows by their published cells.

It reads only the written file. Class sizes are counted in SQL; sensitive values are delivered by
class, some thousand classes at a time.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa

from coterie.arrays import Int64
from coterie.settings.memory import default_memory, memory_bytes
from coterie.values.notation import published_names
from coterie.verification.cells import MARK, is_text
from coterie.verification.counts import (
    CellCounts,
    CellPairs,
    ClassCells,
    PeopleCounts,
    SizeCounts,
)
from coterie.verification.models import FileCheck, check_file
from coterie.verification.sql import (
    DuckLimits,
    HiddenColumn,
    answer,
    cell,
    class_cells,
    class_pairs,
    connected,
    counted_cells,
    fetched,
    quoted,
    relation_of,
    text,
)

if TYPE_CHECKING:
    import duckdb

    from coterie.files.batches import TableFile
    from coterie.settings.config import Config
    from coterie.verification.verify import Verification

Found = TypeVar("Found")


def verify_file(
    table: TableFile,
    config: Config,
    *,
    roots: Mapping[str, str],
    hidden: int,
    checker: DuckLimits,
    k: int | None,
    measured: bool = False,
    people: HiddenColumn | None = None,
) -> FileCheck:
    """Verify a written release.

    Args:
        table: The release as written.
        config: The guarantees.
        roots: Quasi-identifier → the text of a suppressed cell.
        hidden: The number of shown suppressed rows: they are a class by themselves, or part of one.
        checker: Memory, threads and a folder.
        k: The k to verify; None only measures it.
        measured: Also measure the sensitive attributes, whatever their guarantees.
        people: The person of each row. Without it, people are counted if the table itself identifies them.
    """
    names = published_names(table.schema.names, config.quasi, k)
    with _counter(table, config, names, checker, roots=roots, people=people) as counter:
        return check_file(counter, config, names=table.schema.names, hidden=hidden, k=k, measured=measured)


@contextmanager
def _counter(
    table: TableFile,
    config: Config,
    names: Sequence[str],
    checker: DuckLimits,
    *,
    roots: Mapping[str, str] | None = None,
    people: HiddenColumn | None = None,
) -> Iterator[DuckCounter]:
    schema = table.schema if people is None else table.schema.append(pa.field(people.name, people.type))
    who = config.entity if people is None else people.name
    with connected(checker) as connection, relation_of(table, checker, beside=people) as relation:
        yield DuckCounter(connection, relation, schema, names, roots or {}, who if who in schema.names else None)


def verify_on_disk(
    path: str | os.PathLike[str], config: Config, *, k: int | None, roots: Mapping[str, str]
) -> Verification:
    """Verify a published file as `verify` does, without loading it whole; arguments as for `verify_file`."""
    from coterie.files.batches import open_table

    with _own_folder(config) as checker:
        table = open_table(path, config)
        return verify_file(
            table, config, roots=roots, hidden=0, checker=checker, k=k, measured=bool(config.sensitive)
        ).verification


def count_classes(table: TableFile, config: Config) -> tuple[SizeCounts, PeopleCounts | None]:
    """Return the classes of any table: rows with equal quasi-identifiers, and the people in them."""
    with _own_folder(config) as checker, _counter(table, config, config.quasi, checker) as counter:
        return counter.sizes(), counter.people()


@contextmanager
def _own_folder(config: Config) -> Iterator[DuckLimits]:
    """Create a temporary folder for DuckDB, with the configured memory limit."""
    memory = default_memory() if config.memory is None else memory_bytes(config.memory)
    with tempfile.TemporaryDirectory(prefix="coterie-") as folder:
        yield DuckLimits(Path(folder), max(memory // 3, 2**27), config.usable_threads)


@contextmanager
def counting(
    path: str | os.PathLike[str], config: Config, *, people: HiddenColumn | None = None
) -> Iterator[tuple[TableFile, Callable[[Sequence[str]], DuckCounter]]]:
    """Open a published file, and count its classes on the quasi-identifiers and further columns.

    Without the person of each row, people are counted if the table itself identifies them.
    """
    from coterie.files.batches import open_table

    with _own_folder(config) as checker:
        table = open_table(path, config)
        names = published_names(table.schema.names, config.quasi)
        with _counter(table, config, names, checker, people=people) as counter:
            yield table, lambda more: replace(counter, names=[*names, *more])


@dataclass(frozen=True, eq=False)
class DuckCounter:
    """A release in a file, counted by DuckDB."""

    connection: duckdb.DuckDBPyConnection
    relation: str
    schema: pa.Schema
    names: Sequence[str]
    """the published columns of the quasi-identifiers"""
    roots: Mapping[str, str]
    who: str | None
    """the column that identifies people"""

    @property
    def _cells(self) -> str:
        return ", ".join(f"{cell(name, self.schema)} AS c{at}" for at, name in enumerate(self.names))

    @property
    def _keys(self) -> str:
        return ", ".join(f"c{at}" for at in range(len(self.names)))

    def _counts(self, query: str) -> list[Int64]:
        """Return the columns of an answer as integers."""
        return [column.to_numpy().astype(np.int64) for column in fetched(self.connection, query).columns]

    def sizes(self) -> SizeCounts:
        """Return the number of classes of each size."""
        texts = [is_text(self.schema.field(name).type) for name in self.names]
        missing = " + ".join(f"(c{at} IS NULL)::BIGINT" for at in range(len(self.names)))
        blank = " AND ".join(
            f"c{at} IS NOT DISTINCT FROM {text(self.roots.get(name, MARK))}" if texts[at] else f"c{at} IS NULL"
            for at, name in enumerate(self.names)
        )
        rows, classes, cells, star = self._counts(f"""
            SELECT n, count(*)::BIGINT, sum(n * missing)::BIGINT, blank::BIGINT
            FROM (
                SELECT count(*) AS n, {missing} AS missing, {blank} AS blank
                FROM (SELECT {self._cells} FROM {self.relation}) GROUP BY {self._keys}
            ) GROUP BY n, blank ORDER BY n, blank
        """)
        return SizeCounts(rows, classes, cells, star > 0, any(texts))

    def people(self) -> PeopleCounts | None:
        """Return the number of classes with each number of people and rows."""
        if self.who is None:
            return None
        query = f"""
            SELECT p, n, count(*)::BIGINT
            FROM (
                SELECT count(*) AS n, count(DISTINCT who) + (count(*) > count(who))::BIGINT AS p
                FROM (SELECT {self._cells}, {cell(self.who, self.schema)} AS who FROM {self.relation})
                GROUP BY {self._keys}
            ) GROUP BY p, n ORDER BY p, n
        """
        return PeopleCounts(*self._counts(query))

    def cells(self, column: str) -> CellCounts:
        """Return the distinct cells of a sensitive attribute."""
        of_column = cell(column, self.schema)
        query = f"SELECT {of_column} AS v, count(*) AS n FROM {self.relation} GROUP BY 1 ORDER BY 1"
        return counted_cells(fetched(self.connection, query))

    def by_value(self, column: str, look: Callable[[CellPairs], Found]) -> Iterator[Found]:
        """Yield pairs of class and cell, cut only where the hash of the class changes."""
        query = f"""
            SELECT hash({self._keys}) AS h, {self._keys}, v, count(*) AS n
            FROM (SELECT {self._cells}, {cell(column, self.schema)} AS v FROM {self.relation}) GROUP BY ALL ORDER BY h
        """
        for piece in _whole_classes(answer(self.connection, query)):
            yield look(class_pairs(piece.drop_columns(["h"])))

    def by_class(self, look: Callable[[ClassCells], Found]) -> Iterator[Found]:
        """Yield the published cells of some thousand classes at a time."""
        keys = ", ".join(f"{cell(name, self.schema)} AS {quoted(name)}" for name in self.names)
        query = f"SELECT {keys}, count(*) AS n FROM {self.relation} GROUP BY ALL"
        for batch in answer(self.connection, query):
            if batch.num_rows:
                yield look(class_cells(pa.Table.from_batches([batch])))


def _whole_classes(batches: pa.RecordBatchReader) -> Iterator[pa.Table]:
    """Yield the answer in pieces, cut only where the hash of the class changes."""
    waiting: pa.Table | None = None
    for batch in batches:
        part = pa.Table.from_batches([batch])
        whole = part if waiting is None else pa.concat_tables([waiting, part])
        hashes = whole.column("h").to_numpy()
        cut = int(np.searchsorted(hashes, hashes[-1])) if len(hashes) else 0
        if cut:
            yield whole.slice(0, cut)
        waiting = whole.slice(cut)
    if waiting is not None and waiting.num_rows:
        yield waiting
