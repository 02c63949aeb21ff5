"""Counts of a release that is larger than the memory: DuckDB groups its rows by what is published of them.

It reads the file that was written and nothing else. Class sizes are counted in SQL; sensitive values are handed over by
class, some thousand classes at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from coterie.arrays import Int64
from coterie.values.notation import published_names
from coterie.verification.cells import MARK, equal_rows, is_text, read_cells
from coterie.verification.counts import (
    CellCounts,
    CellPairs,
    ClassCells,
    ClassFigures,
    Counter,
    PeopleCounts,
    SizeCounts,
)
from coterie.verification.models import check_promises, measure_columns, people_check
from coterie.verification.promises import promises_of
from coterie.verification.rows import RowSums, rows_check
from coterie.verification.sql import Beside, Checker, answer, cell, connected, fetched, quoted, relation_of, text
from coterie.verification.verify import Verification, k_check, verification_of

if TYPE_CHECKING:
    import duckdb

    from coterie.files.batches import TableFile
    from coterie.settings.config import Config

Found = TypeVar("Found")


class Checked(NamedTuple):
    """What the check of a written release found."""

    verification: Verification
    classes: ClassFigures
    """of all classes but that of suppressed rows, if these are shown"""
    starred: int
    """rows that look as suppressed ones do"""

    def with_rows(self, sums: RowSums, k: int, *, hidden: int) -> Checked:
        """The same with the promise of rows that are published one by one.

        Args:
            sums: What was counted in all rings.
            k: What is promised.
            hidden: Rows shown that are suppressed.
        """
        found = self.verification
        check = rows_check(sums, k=k, alike=self.starred if hidden else None)
        return self._replace(verification=replace(found, checks=(check, *found.checks)))


def verify_counts(
    counter: Counter, config: Config, *, names: Sequence[str], hidden: int, k: int | None, measured: bool = False
) -> Checked:
    """Check the promises of a release that an engine counts.

    Args:
        counter: The engine's counts.
        config: What is promised.
        names: The columns of the release.
        hidden: Rows shown that are suppressed: they are a class by themselves, or part of one.
        k: The k that is promised, if one is.
        measured: Also measure the sensitive columns, whatever was promised of them.
    """
    sizes, people = counter.sizes(), counter.people()
    checks = [] if k is None else [k_check(k, sizes)]
    checks += check_promises(counter, promises_of(config), config, names=names)
    checks += [] if people is None else [people_check(people, config.k)]
    found = measure_columns(counter, config, config.sensitive, names=names) if measured else ()
    # Classes have no numbers here: nobody could look the worst one up.
    verification = verification_of(
        sizes,
        quasi=config.quasi,
        k=k,
        checks=[check._replace(worst=-1) for check in checks],
        measured=tuple(each._replace(worst=-1) for each in found),
    )
    return Checked(verification, sizes.kept(hidden), sizes.blank_rows)


def verify_file(
    table: TableFile,
    config: Config,
    *,
    roots: Mapping[str, str],
    hidden: int,
    checker: Checker,
    k: int | None = None,
    measured: bool = False,
    people: Beside | None = None,
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
        people: The person of each row. Without, people are counted if the table itself names them.
    """
    wanted = (config.k if k is None else k) or None
    names = published_names(table.schema.names, config.quasi, wanted)
    schema = table.schema if people is None else table.schema.append(pa.field(people.name, people.type))
    who = config.entity if people is None else people.name
    with connected(checker) as connection, relation_of(table, checker, beside=people) as relation:
        counter = DuckCounter(connection, relation, schema, names, roots, who if who in schema.names else None)
        return verify_counts(counter, config, names=table.schema.names, hidden=hidden, k=wanted, measured=measured)


@dataclass(frozen=True, eq=False)
class DuckCounter:
    """A release in a file, as DuckDB counts it."""

    connection: duckdb.DuckDBPyConnection
    relation: str
    schema: pa.Schema
    names: Sequence[str]
    """the published columns of the quasi-identifiers"""
    roots: Mapping[str, str]
    who: str | None
    """the column that names people"""

    @property
    def _cells(self) -> str:
        return ", ".join(f"{cell(name, self.schema)} AS c{at}" for at, name in enumerate(self.names))

    @property
    def _keys(self) -> str:
        return ", ".join(f"c{at}" for at in range(len(self.names)))

    def _counts(self, query: str) -> list[Int64]:
        """The columns of an answer in whole numbers."""
        return [column.to_numpy().astype(np.int64) for column in fetched(self.connection, query).columns]

    def sizes(self) -> SizeCounts:
        """How many classes there are of each size."""
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
        """How many classes there are of so many people and rows."""
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
        """The distinct cells of a sensitive column."""
        of_column = cell(column, self.schema)
        query = f"SELECT {of_column} AS v, count(*) AS n FROM {self.relation} GROUP BY 1 ORDER BY 1"
        return counted_cells(fetched(self.connection, query))

    def by_value(self, column: str, look: Callable[[CellPairs], Found]) -> Iterator[Found]:
        """Pairs of class and cell, cut only where the hash of the class changes."""
        query = f"""
            SELECT hash({self._keys}) AS h, {self._keys}, v, count(*) AS n
            FROM (SELECT {self._cells}, {cell(column, self.schema)} AS v FROM {self.relation}) GROUP BY ALL ORDER BY h
        """
        for piece in _whole_classes(answer(self.connection, query)):
            yield look(class_pairs(piece.drop_columns(["h"])))

    def by_class(self, look: Callable[[ClassCells], Found]) -> Iterator[Found]:
        """The published cells of some thousand classes at a time."""
        keys = ", ".join(f"{cell(name, self.schema)} AS {quoted(name)}" for name in self.names)
        query = f"SELECT {keys}, count(*) AS n FROM {self.relation} GROUP BY ALL"
        for batch in answer(self.connection, query):
            if batch.num_rows:
                yield look(class_cells(pa.Table.from_batches([batch])))


def counted_cells(table: pa.Table) -> CellCounts:
    """Distinct cells `v` and their rows `n`, as SQL has counted them; one cell may be null."""
    values, rows = read_cells(table.column("v"), name="v"), table.column("n").to_numpy().astype(np.int64)
    totals = np.bincount(values.of_row, weights=rows, minlength=len(values.values) + 1).astype(np.int64)
    return CellCounts(values.values, totals[:-1], int(totals[-1]))


def class_pairs(table: pa.Table) -> CellPairs:
    """Whole classes as SQL has counted them: published cells, then the sensitive one, then rows."""
    columns = table.columns
    of, _ = equal_rows([read_cells(column, name="") for column in columns[:-2]])
    cells = columns[-2].combine_chunks()
    return CellPairs(of, cells, None, columns[-1].to_numpy().astype(np.int64))


def class_cells(table: pa.Table) -> ClassCells:
    """Classes as SQL has counted them: published cells, then rows."""
    return ClassCells(table.select(table.column_names[:-1]), table.columns[-1].to_numpy().astype(np.int64))


def _whole_classes(batches: pa.RecordBatchReader) -> Iterator[pa.Table]:
    """The answer in pieces, cut only where the hash of the class changes."""
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
