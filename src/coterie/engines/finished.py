"""Summaries of finished blocks, and what follows for the whole release: sums, suppressed rows, notes, its place."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from coterie.arrays import Int64
from coterie.engines.bound import blocks_bound
from coterie.engines.request import kind_of
from coterie.engines.steps import notes_before
from coterie.files.output import appear, replace_folder
from coterie.measures.sums import BlockSums
from coterie.releases.stored import StoredRows
from coterie.table.masks import refuse_suppression

if TYPE_CHECKING:
    from coterie.engines.engine import Job
    from coterie.engines.plan import Plan
    from coterie.files.batches import TableFile
    from coterie.files.streams import Target, WrittenFile
    from coterie.verification.models import FileCheck

AT = "\0at"
"""the column of a piece with its rows' positions in the stripe; no column of a table has this name"""


class FinishedBlock(NamedTuple):
    """The summary of a finished block."""

    pieces: Mapping[int, tuple[int, int]]
    """stripe → the start and length of its piece"""
    sums: BlockSums
    notes: tuple[str, ...]


def total(finished: Sequence[FinishedBlock], plan: Plan) -> BlockSums:
    """Return the sums of all blocks in order, with the rows that were suppressed from the start."""
    sums = BlockSums.none(len(plan.book.domains))
    for each in finished:
        sums = sums + each.sums
    # Each of these loses everything.
    more = plan.book.all_rows - plan.book.rows
    return replace(
        sums,
        rows=sums.rows + more,
        suppressed=sums.suppressed + more,
        fully_generalised=sums.fully_generalised + more,
        losses=sums.losses + more,
    )


def check_limit(finished: Sequence[FinishedBlock], plan: Plan) -> None:
    """Refuse a release in which the method suppressed more rows than allowed."""
    refuse_suppression(sum(each.sums.suppressed for each in finished), rows=plan.book.rows, config=plan.book.config)


def notes_of(finished: Sequence[FinishedBlock], plan: Plan) -> tuple[str, ...]:
    """Return the methods' notes, once each, and how the table was cut."""
    first = notes_before(plan.book)
    if plan.blocks == 1:
        return (*first, *finished[0].notes)
    sizes = f"{int(plan.sizes.min()):,} to {int(plan.sizes.max()):,} rows"
    told = [*first, f"The table was cut into {plan.blocks:,} blocks of {sizes}, grouped one by one."]
    config = plan.book.config
    if separately := kind_of(config).in_blocks:
        told.append(f"{config.method} {separately}.")
    return tuple(told)


def stored_rows(
    job: Job,
    plan: Plan,
    checked: FileCheck,
    written: WrittenFile,
    target: Target,
    removed: Int64,
    *,
    original: TableFile | None,
) -> StoredRows:
    """Return where the rows of a written release are."""
    return StoredRows(
        path=Path(job.place),
        original=original,
        book=plan.book,
        blocks=plan.blocks,
        sizes=checked.sizes,
        people=checked.people,
        removed=removed,
        output_sha256=written.sha256,
        reading=target.reading(job.config),
        bounder=partial(blocks_bound, plan=plan),
    )


def give_name(draft: Path, output: str | os.PathLike[str], *, force: bool) -> None:
    """Rename a finished release into place, or copy it to standard output."""
    if os.fspath(output) == "-":
        with draft.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    elif draft.is_dir():
        replace_folder(draft, Path(output))
    else:
        appear(draft, Path(output).resolve(), force=force)
