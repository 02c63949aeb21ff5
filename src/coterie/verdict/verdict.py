"""The verdict on a release or a published table: one function for Python, command line, report, page and JSON."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from coterie.disclosure.downcoding import count_cells
from coterie.settings.threshold import find_threshold
from coterie.values.notation import columns_of, published_names
from coterie.verdict.counts import PublishedRows
from coterie.verdict.inference import inference
from coterie.verdict.people import look_for_people
from coterie.verdict.question import Findings, Question, Verdict
from coterie.verdict.singling_out import look_at_order, look_at_tightness, singled_out
from coterie.verdict.usefulness import query_error, useful_by_label, usefulness
from coterie.verification.arrow import ArrowCounter
from coterie.verification.cells import numbered

if TYPE_CHECKING:
    from coterie.releases.release import Release
    from coterie.settings.config import Config
    from coterie.verification.sql import HiddenColumn
    from coterie.verification.verify import Verification

# The bound compares all rows with all others; on more rows it takes longer than a verdict should.
BOUND_ROWS = 20_000


def verdict_of(release: Release) -> Verdict:
    """Return the verdict on a release."""
    if not release.complete:
        from coterie.verdict.stored import verdict_of_stored

        return verdict_of_stored(release)
    config, published, found = release.config, release.published, release.verification
    original, kept = release.source.table, release.published.kept
    who = None if config.entity is None else original.column(config.entity).take(pa.array(kept))
    known = found.class_of_row, found.groups
    if release.by_rows:
        # Rows that are published one by one are hidden among those of their group, however they look.
        known = numbered(release.groups[kept].astype(np.int64))
    names = published_names(published.table.column_names, config.quasi)
    held = ArrowCounter(published.table, names, who=who, known=known)
    queries = query_error(original, published.table, config, kept=kept)
    useful = usefulness(release.measures, config, queries=queries, no_bound=_no_bound(release))
    return verdict_of_rows(
        PublishedRows.of_table(held),
        config,
        found,
        names=published.table.column_names,
        k=config.k,
        useful=useful,
        people=lambda findings: look_for_people(findings, held, config, original=original, kept=kept, k=config.k),
    )


def _no_bound(release: Release) -> str:
    """Return why the loss is not compared with the bound; nothing if it is."""
    if release.table.rows <= BOUND_ROWS or release.config.bound_effort is not None:
        return ""
    return f'it takes a while for more than {BOUND_ROWS:,} rows. `bound_effort = "quick"` or a report includes it'


def verdict_of_rows(
    rows: PublishedRows,
    config: Config,
    found: Verification,
    *,
    names: Sequence[str],
    k: int | None = None,
    useful: Findings | None = None,
    people: Callable[[Findings], None] | None = None,
) -> Verdict:
    """Return the verdict on a published table by itself, in which columns without a role count as kept.

    Args:
        rows: The table.
        config: The guarantees and the column roles.
        found: What was verified.
        names: All of its columns.
        k: The class size that is wanted; by default the verified one, or that of the threshold.
        useful: What is left of the data; by default, that is judged by what is published.
        people: Adds what the original shows about people with several rows.
    """
    k = k or found.wanted or find_threshold(config.threshold).rows
    findings = singled_out(rows, config, kept=_kept(names, config), k=k)
    look_at_order(findings, rows.read, config, names=names, k=k)
    counted = count_cells(rows.classes(), quasi=config.quasi)
    look_at_tightness(findings, counted, config)
    if people is not None:
        people(findings)
    inferred = inference(rows, config, sensitive=[name for name in config.sensitive if name in names])
    return joined(promises(found), findings, inferred, useful or useful_by_label(counted, config))


def verdict_of_file(
    path: str | os.PathLike[str],
    config: Config,
    found: Verification,
    *,
    who: HiddenColumn | None = None,
    **more: Any,  # noqa: ANN401 - as below
) -> Verdict:
    """Return the verdict on a published file that is never held whole: DuckDB counts its classes.

    The person of each row may be given separately; more arguments are those of `verdict_of_rows`.
    """
    from coterie.verification.duckdb_counts import counting

    with counting(path, config, people=who) as (table, counter):

        def read(columns: Sequence[str]) -> Iterator[pa.Table]:
            return (pa.Table.from_batches([batch]) for batch in table.batches(list(columns)))

        rows = PublishedRows(counter, found.rows, read)
        return verdict_of_rows(rows, config, found, names=table.schema.names, **more)


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


def joined(kept: Question, *others: Findings) -> Verdict:
    """Return one verdict from all questions."""
    return Verdict({kept.name: kept} | {each.name: each.question() for each in others})
