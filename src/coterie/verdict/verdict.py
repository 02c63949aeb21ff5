"""The verdict on a release or a published table: one function for Python, command line, report, page and JSON."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from coterie.settings.threshold import find_threshold
from coterie.values.notation import columns_of, published_names
from coterie.verdict.counts import CounterRows, PublishedRows, TableRows, numbered
from coterie.verdict.inference import inference
from coterie.verdict.order import look_at_order
from coterie.verdict.people import look_for_people
from coterie.verdict.question import Findings, Question, Verdict
from coterie.verdict.singling_out import singled_out
from coterie.verdict.usefulness import BOUND_ROWS, query_error, usefulness

if TYPE_CHECKING:
    from coterie.releases.release import Release
    from coterie.settings.config import Config
    from coterie.verification.verify import Verification


def verdict_of(release: Release) -> Verdict:
    """Return the verdict on a release."""
    if not release.complete:
        return _verdict_of_stored(release)
    config, published, found = release.config, release.published, release.verification
    original, kept = release.source.table, release.published.kept
    who = None if config.entity is None else original.column(config.entity).take(pa.array(kept))
    of_row, classes = found.class_of_row, found.groups
    if release.by_rows:
        # Rows that are published one by one are hidden among those of their ring, however they look.
        of_row, classes = numbered(release.groups[kept].astype(np.int64))
    rows = TableRows(published.table, of_row, classes, who)
    findings = Findings("singling-out", config.accept)
    singled_out(rows, config, kept=_kept(published.table.column_names, config), k=config.k, findings=findings)
    look_for_people(findings, rows, config, original=original, kept=kept, k=config.k)
    look_at_order(findings, release.arrow, config, k=config.k)
    queries = query_error(original, published.table, config, kept=kept)
    useful = usefulness(release.measures, config, queries=queries, bounded=original.num_rows <= BOUND_ROWS)
    inferred = inference(rows, config, sensitive=config.sensitive)
    return _verdict(promises(found), findings, inferred, useful)


def verdict_of_rows(rows: PublishedRows, config: Config, found: Verification, *, names: Sequence[str]) -> Verdict:
    """Return the verdict on a published table alone: without the original, its utility is unknown.

    Args:
        rows: The published rows.
        config: Roles, limits and accepted warnings. Columns without a role are published, so they count as kept.
        found: The verification.
        names: The columns of the table.
    """
    k = found.wanted or find_threshold(config.threshold).rows
    findings = singled_out(rows, config, kept=_kept(names, config), k=k)
    if (table := rows.table_of(published_names(names, config.quasi))) is not None:
        look_at_order(findings, table, config, k=k)
    else:
        findings.evidence.append("Not measured: whether the order of the rows discloses values.")
    inferred = inference(rows, config, sensitive=[name for name in config.sensitive if name in names])
    useful = Findings("utility", config.accept)
    useful.evidence.append("Not measured: this needs the original (`coterie measure`).")
    return _verdict(promises(found), findings, inferred, useful)


def verdict_of_file(path: str | os.PathLike[str], config: Config, found: Verification) -> Verdict:
    """Return the verdict on a published file that is never in memory whole: DuckDB counts its classes.

    Args:
        path: CSV, Parquet, Feather or a folder of Parquet files.
        config: As for `verdict_of_rows`.
        found: The verification.
    """
    from coterie.verification.duckdb_counts import counting

    with counting(path, config) as (table, counter):

        def read(columns: Sequence[str]) -> pa.Table:
            return pa.Table.from_batches(table.batches(list(columns)))

        return verdict_of_rows(CounterRows(counter, found.rows, read), config, found, names=table.schema.names)


def _verdict_of_stored(release: Release) -> Verdict:
    """Return the verdict on a release in a file."""
    config, found = release.config, release.verification
    useful = usefulness(release.measures, config)
    if (path := release.place.path) is not None and path.exists():
        # A release has a header, whatever its input had.
        by_itself = verdict_of_file(path, config.replace(header=True), found)
        return Verdict({**by_itself.questions, useful.name: useful.question()})
    parts = [Findings(name, config.accept) for name in ("singling-out", "inference")]
    for part in parts:
        part.evidence.append("Not measured: the release is not in a file on this machine.")
        part.add("warn", advice="Write the release to a file, and run `coterie verify --strict` on it.")
    return _verdict(promises(found), *parts, useful)


def promises(found: Verification) -> Question:
    """Turn the verification into a question of the verdict."""
    texts = tuple(check.text for check in found.checks) or ("No guarantee was requested.",)
    figures = {"checks": [{"name": each.name, "passed": each.passed} for each in found.checks]}
    failed = tuple(f"The release does not satisfy {check.name}." for check in found.checks if not check.passed)
    return Question("promises", "pass" if found.passed else "fail", texts, failed, figures=figures)


def _kept(names: Sequence[str], config: Config) -> list[str]:
    """Return the published columns that are neither quasi-identifiers nor sensitive."""
    told = {column for name in config.quasi for column in columns_of(name, names)}
    return [name for name in names if name not in told and name not in config.sensitive]


def _verdict(kept: Question, *others: Findings) -> Verdict:
    return Verdict({kept.name: kept} | {each.name: each.question() for each in others})
