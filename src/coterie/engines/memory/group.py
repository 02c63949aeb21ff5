"""Group a table in memory, as one block."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from coterie.engines.plan import Plan
from coterie.engines.request import check_request
from coterie.engines.steps import group_block, notes_before
from coterie.grouping.promises import refuse_impossible

if TYPE_CHECKING:
    from coterie.engines.memory.source import PreparedTable
    from coterie.methods import Run
    from coterie.settings.config import Config
    from coterie.table.grouping import Grouping


def check_possible(prepared: PreparedTable, config: Config) -> None:
    """Raise, before any work, for what the method does not support and for what is infeasible for any grouping."""
    check_request(config)
    refuse_impossible(replace(prepared.encoded.book, config=config), prepared.encoded.table)


def group_rows(prepared: PreparedTable, config: Config, run: Run) -> Grouping:
    """Group rows with the configured method so that every privacy model holds."""
    encoded = prepared.encoded
    book = replace(encoded.book, config=config)
    run.notes += notes_before(book)
    return group_block(encoded.table, Plan.whole(book), run, encoded.rows)
