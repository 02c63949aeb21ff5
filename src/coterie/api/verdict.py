"""Verify a published table and give a verdict, as `coterie verify` shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coterie.api.anonymize import read_table, verify
from coterie.arrays import AnyTable
from coterie.engines.choose import checked_on_disk
from coterie.values.notation import published_names
from coterie.verdict.counts import PublishedRows
from coterie.verdict.verdict import verdict_of_file, verdict_of_rows
from coterie.verification.arrow import ArrowCounter

if TYPE_CHECKING:
    from coterie.settings.config import Config
    from coterie.verdict.question import Verdict
    from coterie.verification.verify import Verification


def verify_and_judge(data: AnyTable, config: Config, *, k: int | None) -> tuple[Verification, Verdict]:
    """Verify a published table as `verify` does, and give the verdict on it.

    Args:
        data: A frame, a path or "-", which is read once.
        config: The guarantees and the column roles. Columns without a role are published, so they count as kept.
        k: The k to verify; None only measures it.
    """
    config = config.for_release()
    if checked_on_disk(data, config):
        found = verify(data, config=config, k=k)
        return found, verdict_of_file(data, config, found)
    table = read_table(data, config)
    found = verify(table, config=config, k=k)
    who = table.column(config.entity) if config.entity in table.column_names else None
    names, known = published_names(table.column_names, config.quasi), (found.class_of_row, found.groups)
    rows = PublishedRows.of_table(ArrowCounter(table, names, who=who, known=known))
    return found, verdict_of_rows(rows, config, found, names=table.column_names)
