"""Detect people with several rows that the configuration does not mention: a group of k rows may be one person's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from coterie.suggesting.names import meaning
from coterie.suggesting.together import people_rank
from coterie.verdict.counts import Exposure, PublishedRows
from coterie.wording import count_of

if TYPE_CHECKING:
    from coterie.arrays import Int64
    from coterie.settings.config import Config
    from coterie.verdict.question import Findings
    from coterie.verification.arrow import ArrowCounter

# A column that identifies people has more values than a category, and several rows per value.
FEWEST = 10
MOST_DISTINCT = 0.95
# Attributes shared by chance or by neighbours: equal values need not mean the same person.
_SHARED = ("a person's name", "a street address", "a place on the map")


def look_for_people(
    findings: Findings, held: ArrowCounter, config: Config, *, original: pa.Table, kept: Int64, k: int
) -> None:
    """Warn about groups with fewer than k people, if a column that is left out seems to identify people.

    `kept` are the positions of the published rows in the original, which still has that column.
    """
    if config.entity is not None:
        return
    column = likely_entity(original, [*config.identifiers, *config.drop], named=config.drop)
    if column is None:
        return
    who = original.column(column).take(pa.array(kept))
    found = Exposure.of(PublishedRows.of_table(replace(held, who=who)).sizes(()), k)
    findings.figures["people"] = {"column": column, "below_k": found.below, "smallest": found.smallest}
    if not found.below:
        return
    findings.evidence.append(
        f"Values of `{column}` repeat, so people seem to have several rows: {count_of(found.below, 'row')} are in "
        f"groups of fewer than {k} people; the smallest has {found.smallest:,}."
    )
    findings.add(
        "warn",
        what=column,
        advice=f'If `{column}` identifies people, set entity = "{column}": k then counts people, not rows. '
        f'If every row is a different person: accept = ["singling-out:{column}"].',
    )


def likely_entity(table: pa.Table, columns: Sequence[str], *, named: Sequence[str] = ()) -> str | None:
    """Return the column among these that most likely identifies people, if its values repeat.

    The names of those in `named` must say that they identify people.
    """
    ranked = []
    for column in columns:
        rank, said = people_rank(column), meaning(column)
        if rank is None and (column in named or (said is not None and said.what in _SHARED)):
            continue
        cells = table.column(column)
        present = len(cells) - cells.null_count
        distinct = pc.count_distinct(cells, mode="only_valid").as_py()
        if FEWEST <= distinct <= MOST_DISTINCT * present or (rank is not None and 1 < distinct < present):
            ranked.append((rank if rank is not None else 1000, column))
    return min(ranked)[1] if ranked else None
