"""Suppressed rows and privacy models beyond k, in blocks: groups are compared with the remaining rows of the table.

Which rows a method suppresses is known only when every block has been grouped. If a model compares a group with
the whole table, blocks are therefore grouped twice: first to count what is suppressed, then, with the same choices, to
be repaired against the remaining rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from coterie.arrays import Int32, Int64
from coterie.grouping.promises import models_of
from coterie.privacy.closeness import BetaLikeness, DeltaDisclosure, TCloseness
from coterie.table.codebook import Codebook, CountedValues, counted_domain
from coterie.table.domain import Domain

if TYPE_CHECKING:
    from coterie.methods import Run
    from coterie.settings.config import Config
    from coterie.table.grouping import Grouping
    from coterie.table.table import Table


# Models that compare a group with the whole table; others look at groups one by one.
RELATIVE = (TCloseness, BetaLikeness, DeltaDisclosure)


class LeftColumn(NamedTuple):
    """A sensitive attribute without the suppressed rows: values that only these had are unknown."""

    domain: Domain
    code_of: Int32
    """code in the whole table → code; −1 for values that are gone"""
    totals: Int64
    """code → remaining rows"""


RemainingRows: TypeAlias = tuple[LeftColumn, ...]
"""the remaining rows of the compared sensitive attributes; people are not compared"""


def compares(config: Config) -> bool:
    """Return whether some model compares groups with the whole table."""
    return any(isinstance(model, RELATIVE) for model in models_of(config))


def may_suppress(config: Config) -> bool:
    """Return whether the method's options let it suppress rows."""
    options = config.method_options()
    return any(getattr(options, name) for name in type(options).model_fields if name.startswith("suppress"))


def needs_remaining(config: Config) -> bool:
    """Return whether blocks must be grouped twice."""
    return compares(config) and may_suppress(config)


def compared(book: Codebook) -> tuple[Domain, ...]:
    """Return the sensitive attributes except people, who are only distinguished."""
    return tuple(domain for domain in book.sensitive if domain.name != book.config.entity)


def gone_values(table: Table, book: Codebook, grouping: Grouping) -> list[Int64]:
    """Return, for each compared column, code → rows of a block that the method has suppressed."""
    gone = grouping.labels < 0
    return [
        np.bincount(table.sensitive_codes[gone, at], minlength=domain.size).astype(np.int64)
        for at, domain in enumerate(compared(book))
    ]


def remaining_of(book: Codebook, gone: Sequence[Int64]) -> RemainingRows | None:
    """Return what remains without the values that are gone, in all blocks; None if none are."""
    if not any(each.any() for each in gone):
        return None
    columns = []
    lookups = {lookup.name: lookup for lookup in book.sensitive_lookups}
    for domain, lost in zip(compared(book), gone, strict=True):
        lookup, totals = lookups[domain.name], book.totals[domain.name] - lost
        old = lookup.codes[: len(lookup.values)]
        present = totals[old] > 0
        missing = int(totals[domain.missing]) if domain.missing >= 0 else 0
        counted = CountedValues(lookup.values.filter(pa.array(present)), totals[old[present]], missing)
        made, found = counted_domain(domain.name, counted, book.config)
        code_of = np.full(domain.size, -1, dtype=np.int32)
        code_of[old[present]] = found.codes[: int(present.sum())]
        if missing:
            code_of[domain.missing] = found.codes[-1]
        rows = np.zeros(made.size, dtype=np.int64)
        rows[code_of[totals > 0]] = totals[totals > 0]
        columns.append(LeftColumn(made, code_of, rows))
    return tuple(columns)


def repaired(table: Table, grouping: Grouping, *, k: int, run: Run, remaining: RemainingRows | None) -> Grouping:
    """Repair the grouping of a block where it violates a model; suppressed rows stay suppressed and do not count.

    Groups are compared with the remaining rows, if rows are suppressed in some block.
    """
    from coterie.grouping.repair.repair import repair

    if not run.privacy or not grouping.groups:
        return grouping
    kept = np.flatnonzero(grouping.labels >= 0)
    if len(kept) == len(grouping.labels) and remaining is None:
        return repair(table, grouping, run.privacy, k=k, run=run)
    sensitive = table.sensitive_codes[kept]
    part = replace(table, codes=np.ascontiguousarray(table.codes[kept]), sensitive_codes=sensitive)
    if remaining is not None:
        codes, people = sensitive.copy(), table.sensitive[len(remaining) :]
        for at, column in enumerate(remaining):
            codes[:, at] = column.code_of[sensitive[:, at]]
        part = replace(
            part,
            sensitive_codes=codes,
            sensitive=(*(column.domain for column in remaining), *people),
            sensitive_totals=(
                *(column.totals for column in remaining),
                *(np.ones(domain.size, dtype=np.int64) for domain in people),
            ),
        )
    mended = repair(part, replace(grouping, labels=grouping.labels[kept]), run.privacy, k=k, run=run)
    labels = grouping.labels.copy()
    labels[kept] = mended.labels
    return replace(mended, labels=labels)
