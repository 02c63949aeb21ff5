"""The grouping steps shared by all engines: group, limit, repair, refine. A table in memory is one block."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from coterie.arrays import Int64
from coterie.engines.suppressed import compares, gone_values, remaining_of, repaired
from coterie.errors import ConfigError, InfeasibleError, Problem
from coterie.grouping.promises import models_of
from coterie.table.grouping import Grouping
from coterie.table.masks import refuse_suppression, star_masked
from coterie.table.rounding import round_outward
from coterie.table.sets import priced_by_sets, sets_note

if TYPE_CHECKING:
    from coterie.engines.plan import Plan
    from coterie.methods import Run
    from coterie.methods._method import Progress
    from coterie.settings.config import Config
    from coterie.table.codebook import Codebook
    from coterie.table.table import Table


def start_run(
    config: Config,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
    *,
    seed: int | tuple[int, ...] | None = None,
    threads: int | None = None,
    seconds: float | None = None,
) -> Run:
    """Return what a method needs besides the table; seed, threads and time limit are by default the configuration's."""
    from coterie.methods import Run

    run = Run(
        seed=config.seed if seed is None else seed,
        threads=config.usable_threads if threads is None else threads,
        privacy=models_of(config),
    )
    seconds = config.time_limit if seconds is None else seconds
    if seconds is not None:
        run.deadline = time.monotonic() + seconds
    if progress is not None:
        run.progress = progress
    if cancelled is not None:
        run.cancelled = cancelled
    return run


def notes_before(book: Codebook) -> list[str]:
    """Return the notes on a run that are known before its rows are grouped: on masks, and on `cost = "set"`."""
    return [note for note in (book.mask.note, sets_note(book.domains, book.config)) if note]


def method_groups(table: Table, config: Config, run: Run) -> Grouping:
    """Group rows with the configured method alone."""
    from coterie.methods import find_method

    return find_method(config.method).run(table, config.k, config.method_options(), run)


def group_block(table: Table, plan: Plan, run: Run, rows: Int64) -> Grouping:
    """Group the rows of a block, which have these numbers in the whole table, so that every privacy model holds."""
    from coterie.grouping.refine import keeps, refine

    config, remaining, published = plan.book.config, plan.remaining, table
    table = priced_by_sets(table, config)
    grouping = method_groups(table, config, run)
    if plan.blocks == 1:
        refuse_suppression(int(grouping.suppressed.sum()), rows=table.rows, config=config)
        # The remaining rows are known at once.
        remaining = remaining_of(plan.book, gone_values(table, plan.book, grouping)) if run.privacy else None
    elif grouping.suppressed.any() and remaining is None and compares(config):
        # Groups are compared with the remaining rows, which have not been counted.
        text = (
            "a method that suppresses rows on its own cannot satisfy this guarantee block by block; use engine memory"
        )
        raise ConfigError([Problem("privacy", text)])
    try:
        grouping = repaired(table, grouping, k=config.k, run=run, remaining=remaining)
        if config.refine:
            allowed = keeps(table, run.privacy, config.k)
            grouping = refine(table, grouping, k=config.k, run=run, allowed=allowed)
            # Local search compares with the whole table; where rows are suppressed, what is published differs from it.
            grouping = repaired(table, grouping, k=config.k, run=run, remaining=remaining)
    except InfeasibleError as error:
        if plan.blocks == 1:
            raise
        raise InfeasibleError(
            f"In one of {plan.blocks:,} blocks: {error.message}",
            wanted=error.wanted,
            possible=error.possible,
            hint="Give more memory or a larger block_rows, or use engine memory.",
        ) from None
    if table is not published:
        grouping = Grouping.of(published.codes, grouping.labels)
    return round_outward(star_masked(grouping, published, plan.book.mask.of(rows).cells), published.domains)
