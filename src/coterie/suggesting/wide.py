"""Kept columns that identify people with other columns, and tables with more columns than can be protected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from coterie.values.codes import column_codes, row_classes

if TYPE_CHECKING:
    from coterie.suggesting.suggest import Guess

# More quasi-identifiers than this leave nothing of a table: it is better to decide which are needed.
MOST_QUASI = 10
# The share of rows that kept columns may single out, together or with the quasi-identifiers.
MOST_UNIQUE = 0.01
# Columns with fewer values are not what singles rows out.
FEW_VALUES = 10
# Rows that are looked at to see what columns do together.
SAMPLE = 200_000
_UNSURE = "uncertain, so protected"


def not_kept_together(guesses: Sequence[Guess], table: pa.Table) -> list[Guess]:
    """Make kept columns quasi-identifiers if they single out rows, together or with the quasi-identifiers.

    The verdict fails for the same share of unique rows. Generalized quasi-identifiers distinguish fewer rows than the
    values counted here, so some columns are protected without need: the mistake that costs nobody's privacy.
    """
    kept = [guess.name for guess in guesses if guess.role == "other" and guess.distinct > 1]
    quasi = [guess.name for guess in guesses if guess.role == "quasi"]
    if not kept or not table.num_rows or _unique_share(table, [*kept, *quasi]) <= MOST_UNIQUE:
        return list(guesses)
    reason = f"with other columns it singles people out; {_UNSURE}"
    return [
        guess._replace(role="quasi", reason=reason) if guess.name in kept and guess.distinct > FEW_VALUES else guess
        for guess in guesses
    ]


def _unique_share(table: pa.Table, columns: Sequence[str]) -> float:
    """Return the share of rows that are unique on some columns."""
    some = table.slice(0, SAMPLE).select(list(columns))
    of_row, classes = row_classes([column_codes(some.column(name), name=name) for name in columns])
    sizes = np.bincount(of_row, minlength=classes)
    return float((sizes == 1).sum()) / max(len(of_row), 1)


def short_list(guesses: Sequence[Guess]) -> list[Guess]:
    """Limit the quasi-identifiers to `MOST_QUASI`: the most identifying ones are left out until a person decides.

    Columns whose names give their meaning stay. Of the others, those with the most values identify most.
    """
    quasi = [guess for guess in guesses if guess.role == "quasi"]
    unsure = [guess for guess in quasi if _UNSURE in guess.reason]
    room = max(MOST_QUASI - (len(quasi) - len(unsure)), 0)
    if len(unsure) <= room:
        return list(guesses)
    ranked = sorted(unsure, key=lambda guess: (-guess.distinct, guess.name))
    place = {guess.name: at for at, guess in enumerate(ranked, 1)}
    out = {guess.name for guess in ranked[: len(ranked) - room]}

    def decided(guess: Guess) -> Guess:
        if guess.name not in out:
            return guess
        told = (
            f"number {place[guess.name]} of {len(ranked)} by how well it distinguishes rows: left out until you decide"
        )
        return guess._replace(role="drop", type=None, hierarchy=None, reason=told)

    return [decided(guess) for guess in guesses]
