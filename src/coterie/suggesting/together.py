"""Columns with a joint meaning: coordinates come in pairs, and rows that share a number may be one person's.

Kept columns may identify people with other columns, and a table may have more columns than can be protected.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from coterie.suggesting.names import parts
from coterie.values.codes import column_codes, row_classes

if TYPE_CHECKING:
    from coterie.suggesting.suggest import Guess

# A word for one axis of a map → the axis, and the pair of words it belongs to.
_AXES = {
    **dict.fromkeys(("lat", "latitude", "latitud", "breitengrad"), ("globe", 0)),
    **dict.fromkeys(("lon", "long", "lng", "longitude", "longitud", "laengengrad"), ("globe", 1)),
    **{"x": ("plane", 0), "y": ("plane", 1), "easting": ("grid", 0), "northing": ("grid", 1)},
}
_GLUED = re.compile(
    r"(?P<axis>[xy])(?P<word>coords?|coordinates?|pos|position)|(?P<word2>coords?|pos|geo)(?P<axis2>[xy])"
)

# The likelier a word means those whom the table is about, the earlier: who comes first is the entity.
_PEOPLE = (
    "patient", "subject", "subj", "usubj", "participant", "respondent", "proband", "person", "personal", "individual",
    "resident", "citizen", "customer", "cust", "client", "member", "subscriber", "policyholder", "beneficiary",
    "insured", "donor", "student", "pupil", "employee", "emp", "worker", "passenger", "rider", "user", "kunde",
    "kunden", "patienten", "personen", "mitglied", "paciente", "cliente", "usuario", "persona",
)  # fmt: skip
_NUMBERS = (
    "id", "ids", "no", "nr", "num", "number", "code", "key", "uid", "uuid", "guid", "identifier", "nummer", "pk",
)  # fmt: skip
_NUMBERED = {f"{who}{number}": place for place, who in enumerate(_PEOPLE) for number in _NUMBERS} | {"mrn": 0, "pid": 0}
# A column that is only called "patient" numbers people if it has more values than a label would have.
_MANY = 10

# More quasi-identifiers than this leave nothing of a table: it is better to decide which are needed.
MOST_QUASI = 10
# The share of rows that kept columns may single out, together or with the quasi-identifiers.
MOST_UNIQUE = 0.01
# Columns with fewer values are not what singles rows out.
FEW_VALUES = 10
# Rows that are looked at to see what columns do together.
SAMPLE = 200_000
_UNSURE = "uncertain, so protected"


def settle(guesses: Sequence[Guess]) -> list[Guess]:
    """Revise the suggestions for columns that belong together."""
    return _with_entity(_with_coordinates(list(guesses)))


def _axis(name: str) -> tuple[str, str, int] | None:
    """Return the rest of a coordinate's name, its pair of axes, and its axis; None for other names."""
    words = parts(name)
    glued = _GLUED.fullmatch(words[-1]) if words else None
    if glued is not None:
        found = glued.groupdict()
        words = [*words[:-1], str(found["word"] or found["word2"]), str(found["axis"] or found["axis2"])]
    for place in (len(words) - 1, 0):
        if words and words[place] in _AXES:
            kind, axis = _AXES[words[place]]
            return " ".join(words[:place] + words[place + 1 :]), kind, axis
    return None


def _with_coordinates(guesses: list[Guess]) -> list[Guess]:
    """Make both coordinates of a place direct identifiers: one alone is half an address."""
    places: dict[tuple[str, str], dict[int, list[int]]] = {}
    for at, guess in enumerate(guesses):
        found = _axis(guess.name)
        if found is not None and guess.number:
            places.setdefault(found[:2], {}).setdefault(found[2], []).append(at)
    for axes in places.values():
        if len(axes) < 2:
            continue
        for at in (at for positions in axes.values() for at in positions):
            guesses[at] = _named(guesses[at], "with another column it is a place on the map")
    return guesses


def people_rank(name: str) -> int | None:
    """Return how likely a column with this name identifies people, 0 being likeliest; None if it says nothing."""
    words = parts(name)
    runs = ["".join(words[start:]) for start in range(len(words))]
    return next((_NUMBERED[run] for run in runs if run in _NUMBERED), None)


def _with_entity(guesses: list[Guess]) -> list[Guess]:
    """Make a repeating column that identifies people a direct identifier and the entity: k counts people."""
    ranked = []
    for at, guess in enumerate(guesses):
        rank = people_rank(guess.name)
        if rank is None and guess.name.casefold() in _PEOPLE and guess.number and guess.distinct >= _MANY:
            rank = _PEOPLE.index(guess.name.casefold())
        if rank is not None and 1 < guess.distinct < guess.rows - guess.missing:
            ranked.append((rank, at))
    if not ranked:
        return guesses
    (_, chosen), *others = sorted(ranked)
    name = guesses[chosen].name
    for _, at in others:
        guesses[at] = _named(guesses[at], f"it numbers people, as {name} does, which is taken for the entity")
    guesses[chosen] = _named(guesses[chosen], "it identifies people, and rows share its values: k counts people")
    guesses[chosen] = guesses[chosen]._replace(entity=True)
    return guesses


def _named(guess: Guess, reason: str) -> Guess:
    return guess._replace(role="identifier", type=None, hierarchy=None, reason=reason)


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
