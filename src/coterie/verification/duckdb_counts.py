"""Verify a release that is larger than the memory: DuckDB groups its rows by what is published of them.

It reads the file that was written and nothing else. Sizes are counted in SQL; privacy models are decided by the same
code that checks tables in memory, from the counts of sensitive values in each class, some thousand classes at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.measures.measures import ClassSizes
from coterie.privacy.kmap import KMap
from coterie.verification.counted import ClassCounts, ModelChecks, sensitive_domains
from coterie.verification.models import people_counted, promised, refuse_absent
from coterie.verification.rows import RowSums, rows_check
from coterie.verification.sql import (
    Beside,
    Checker,
    answer,
    cell,
    class_people,
    class_sizes,
    connected,
    fetched,
    quoted,
    relation_of,
)
from coterie.verification.verify import Check, Verification, k_check

if TYPE_CHECKING:
    import duckdb

    from coterie.files.batches import TableFile
    from coterie.settings.config import Config


class Checked(NamedTuple):
    """What the check of a written release found."""

    verification: Verification
    classes: ClassSizes
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
    from coterie.verification.verify import published_names

    wanted = config.k if k is None else k
    names = published_names(table.schema.names, config.quasi, wanted or None)
    with connected(checker) as connection, relation_of(table, checker, beside=people) as relation:
        found = class_sizes(connection, relation, table.schema, names, roots, wanted)
        kept = [k_check(wanted, rows=found["rows"], smallest=found["smallest"], below=found["below"])]
        models = _models(connection, relation, table, names, config, measured=measured)
        checks = [*(kept if wanted else ()), *models.results()]
        who = config.entity if people is None else people.name
        if who is not None and (people is not None or who in table.schema.names):
            schema = table.schema if people is None else table.schema.append(pa.field(who, people.type))
            counted = class_people(connection, relation, schema, names, who=who, k=config.k)
            checks.append(people_counted(config.k, **counted._asdict()))
    made = checked(found, checks, config, hidden=hidden)
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
    return Checked(verification, _classes(found, hidden), found["starred"])


def _classes(found: Mapping[str, Any], hidden: int) -> ClassSizes:
    """The sizes without suppressed rows: these are in the class of rows that are `*` throughout."""
    if not hidden:
        return ClassSizes(found["groups"], found["smallest"], found["largest"], found["squares"])
    starred = found["starred"]
    left = starred - hidden
    others = found["others"]
    smallest = [size for size in (others["smallest"], left) if size]
    return ClassSizes(
        found["groups"] - (left == 0),
        min(smallest, default=0),
        max(others["largest"], left),
        found["squares"] - starred**2 + left**2,
    )


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
            column: fetched(
                connection,
                f"SELECT {cell(column, table.schema)} AS v, count(*) AS n FROM {relation} GROUP BY 1 ORDER BY 1",
            )
            for column in columns
        },
        config,
    )
    checks = ModelChecks(models, domains, config, measuring=measured)
    keys = ", ".join(f"{cell(name, table.schema)} AS {quoted(name)}" for name in names)
    for column in columns:
        wanted = ", ".join(quoted(name) for name in names)
        query = f"""
            SELECT hash({wanted}) AS h, {wanted}, v, count(*) AS n
            FROM (SELECT {keys}, {cell(column, table.schema)} AS v FROM {relation}) GROUP BY ALL ORDER BY h
        """
        for counts in _whole_classes(answer(connection, query), names):
            checks.add_values(column, counts)
    if any(isinstance(model, KMap) for model in models):
        query = f"SELECT {keys}, count(*) AS n FROM {relation} GROUP BY ALL"
        for batch in answer(connection, query):
            checks.add_classes(pa.Table.from_batches([batch]), names)
    return checks


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
