"""Summaries of finished blocks, and what follows for the whole release: sums, suppressed rows, notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from coterie.engines.request import kind_of
from coterie.measures.sums import BlockSums, with_suppressed
from coterie.table.masks import refuse_suppression

if TYPE_CHECKING:
    from coterie.engines.plan import Plan

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
    return with_suppressed(sums, plan.book.all_rows - plan.book.rows)


def check_limit(finished: Sequence[FinishedBlock], plan: Plan) -> None:
    """Refuse a release in which the method suppressed more rows than allowed."""
    refuse_suppression(sum(each.sums.suppressed for each in finished), rows=plan.book.rows, config=plan.book.config)


def notes_of(finished: Sequence[FinishedBlock], plan: Plan) -> tuple[str, ...]:
    """Return the methods' notes, once each, and how the table was cut."""
    masked = [plan.book.mask.note] if plan.book.mask.note else []
    if plan.blocks == 1:
        return (*masked, *finished[0].notes)
    sizes = f"{int(plan.sizes.min()):,} to {int(plan.sizes.max()):,} rows"
    told = [*masked, f"The table was cut into {plan.blocks:,} blocks of {sizes}, grouped one by one."]
    config = plan.book.config
    if separately := kind_of(config).in_blocks:
        told.append(f"{config.method} {separately}.")
    return tuple(told)
