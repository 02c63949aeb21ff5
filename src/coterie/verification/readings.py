r"""Parse published cells, independently, from the notation of releases.

    24          a value                  [24-30]      plain numbers from 24 to 30
    {a, b}      one of these values      [-5, 3]      other numbers, and dates; [20, 25) without the upper end
    *           any value                \*           a category called `*`; likewise with a leading [ { or \
    [a, c]      ordered categories from a to c; ends are written like members of sets
    021**       codes with this prefix   2024-Q1      dates of a quarter, likewise 2024-03, 2024, 2020s

In a column with a hierarchy a cell is one of its labels.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from coterie.arrays import Int64
from coterie.errors import DataError
from coterie.verification.ancestors import leaves_of
from coterie.verification.cells import MARK, moment_in, number_in


class _Any(Enum):
    ANY = "any value"


ANY: Final = _Any.ANY


@dataclass(frozen=True)
class SingleValue:
    """A cell that admits only itself: a category, a text missing from the hierarchy, or a missing one."""

    text: str | None


Reading: TypeAlias = _Any | SingleValue | frozenset[str] | tuple[Any, Any]
"""any value, one, some, or all between two ends that can be compared"""
Shown: TypeAlias = str | tuple[str, str] | None
"""a published cell: a text, the two ends of bounds, or None for a missing cell"""
Readings: TypeAlias = tuple[list[Reading], list[Reading]]

_PLAIN = re.compile(r"\[([0-9]+(?:\.[0-9]+)?)-([0-9]+(?:\.[0-9]+)?)\]")
_ENDS = re.compile(r"\[(.*), (.*)([\])])")
_RANGE = re.compile(r"\[((?:\\.|[^\\,])*), ((?:\\.|[^\\,])*)\]", re.DOTALL)
_PART = re.compile(r"([0-9]{4})(?:-(?:Q([1-4])|([0-9]{2})(?:-([0-9]{2}))?)|(s))?")
_LAST = "\U0010ffff"


def read_both(
    own: Sequence[str | None],
    shown: Sequence[Shown],
    *,
    form: Any,  # noqa: ANN401 - a hierarchy's tree or rule
    kind: str | None,
    type_: pa.DataType,
    name: str,
    order: Sequence[str] = (),
) -> Readings:
    """Parse the cells of a column of a population and of a release, so that they can be compared.

    Args:
        own: Distinct cells of the population.
        shown: Distinct published cells.
        form: The tree or rule of the column's hierarchy, if the column was published by its labels.
        kind: number, date or category, if known.
        type_: The type of the population's cells.
        name: The column's name.
        order: The values of an ordered category, in their order.
    """
    if order:
        rank = {text: at for at, text in enumerate(order)}
        owned = [_of_rank(cell, None if cell is None else (cell, cell), rank) for cell in own]
        return owned, [_ranked(cell, rank) for cell in shown]
    if form is None:
        return _without_hierarchy(own, shown, kind=kind, name=name)
    if hasattr(form, "labels"):
        return _by_tree(form.labels, form.parent, own, shown, type_)
    if hasattr(form, "widths"):
        read: Callable[[str], Reading | None] = _interval_label
    elif hasattr(form, "lengths"):
        read = _prefix_label(form.mask)
    else:
        read = _date_label if hasattr(form, "levels") else SingleValue

    def reading(cell: Shown) -> Reading:
        if cell == MARK:
            return ANY
        found = read(cell) if isinstance(cell, str) else None
        return SingleValue(cell) if found is None else found  # type: ignore[arg-type]

    return [reading(cell) for cell in own], [reading(cell) for cell in shown]


def _interval_label(text: str) -> Reading | None:
    """Encode numbers as (number, 0); the open end of an interval comes just before its number."""
    if match := _PLAIN.fullmatch(text):
        low, high, closed = match[1], match[2], True
    elif match := _ENDS.fullmatch(text):
        low, high, closed = match[1], match[2], match[3] == "]"
    else:
        low, high, closed = text, text, True
    ends = number_in(low), number_in(high)
    return None if None in ends else ((ends[0], 0), (ends[1], 0 if closed else -1))


def _prefix_label(mask: str) -> Callable[[str], Reading | None]:
    def read(text: str) -> Reading:
        prefix = text.rstrip(mask)
        return (prefix, prefix + _LAST) if len(prefix) < len(text) else (text, text)

    return read


def _date_label(text: str) -> Reading | None:
    """Encode dates as (year, month, day, text): whatever is within a day, a month, … lies between two of them."""
    match = _PART.fullmatch(text)
    if match is None:
        moment = re.match(r"([0-9]{4})-([0-9]{2})-([0-9]{2})[T ]", text.strip())
        if moment is None or moment_in(text) is None:
            return None
        key = (int(moment[1]), int(moment[2]), int(moment[3]), text)
        return key, key
    year, quarter, month, day = (None if part is None else int(part) for part in match.groups()[:4])
    assert year is not None, "a part of the pattern"
    months = (1, 12) if month is None else (month, month)
    if quarter is not None:
        months = 3 * quarter - 2, 3 * quarter
    days = (0, 31) if day is None else (day, day)
    return (year, months[0], days[0], ""), (year + (9 if match[5] else 0), months[1], days[1], _LAST)


def _by_tree(
    labels: Sequence[str], parent: Sequence[int], own: Sequence[str | None], shown: Sequence[Shown], type_: pa.DataType
) -> Readings:
    """Encode leaves of a tree by their depth-first node numbers; a label is all leaves below it."""
    inner = {0, *parent}
    last = list(range(len(labels)))
    for node in range(len(labels) - 1, 0, -1):
        last[parent[node]] = max(last[parent[node]], last[node])
    leaf_of = {label: node for node, label in enumerate(labels) if node not in inner}
    # Of two nodes with the same label the upper one counts, which certainly contains the value: deeper ones come later.
    depth = [0] * len(labels)
    for node in range(1, len(labels)):
        depth[node] = depth[parent[node]] + 1
    beneath = {labels[node]: (node, last[node]) for node in sorted(inner - {-1}, key=lambda node: -depth[node])}
    values = [text for text in own if text is not None]
    found = dict(zip(values, leaves_of(values, leaf_of, kind=type_), strict=True))

    def reading(cell: Shown, *, published: bool) -> Reading:
        if cell is None or isinstance(cell, tuple):
            return SingleValue(None)
        if cell == labels[0] or (published and cell == MARK):
            return ANY
        leaf = found.get(cell, leaf_of.get(cell))
        if cell in beneath and (published or leaf is None):
            return beneath[cell]
        return SingleValue(cell) if leaf is None else (leaf, leaf)

    return [reading(cell, published=False) for cell in own], [reading(cell, published=True) for cell in shown]


def _without_hierarchy(own: Sequence[str | None], shown: Sequence[Shown], *, kind: str | None, name: str) -> Readings:
    """Parse numbers if all cells are numbers or intervals of them, dates likewise, categories otherwise."""
    both = (own, shown)
    if kind != "category":
        for read in (number_in, moment_in):
            made = [[_ends(cell, read) for cell in side] for side in both]
            every = [reading for side in made for reading in side]
            if None not in every and any(isinstance(each, tuple) for each in every):
                return made[0], made[1]  # type: ignore[return-value]
        if kind is not None and any(cell not in (None, MARK) for side in both for cell in side):
            raise DataError(
                f"Column {name!r} is configured as a {kind}, but has cells that are neither {kind}s nor intervals.",
                column=name,
                hint=f'Set types.{name} = "category", or leave the column out.',
            )
    return [SingleValue(cell) for cell in own], [_category(cell) for cell in shown]


def _ends(cell: Shown, read: Callable[[str], Any]) -> Reading | None:
    """Return the ends of an interval; None for any other cell."""
    if cell is None:
        return SingleValue(None)
    if cell == MARK:
        return ANY
    low, high = map(read, interval_ends(cell) if isinstance(cell, str) else cell)
    return None if low is None or high is None or low > high else (low, high)


def _ranked(cell: Shown, rank: Mapping[str, int]) -> Reading:
    """Parse a published cell of an ordered category, by ranks."""
    return ANY if cell == MARK else _of_rank(cell, range_ends(cell) if isinstance(cell, str) else cell, rank)


def _of_rank(cell: Shown, ends: Any, rank: Mapping[str, int]) -> Reading:  # noqa: ANN401 - two texts, or None
    low, high = (rank.get(end) for end in ends or ("", ""))
    # A value that is missing, or not in the order, admits only itself.
    return (low, high) if ends and low is not None and high is not None else SingleValue(cell)  # type: ignore[arg-type]


def range_ends(text: str) -> tuple[str, str]:
    """Return the unescaped ends of an interval of ordered categories; a single value is both ends."""
    match = _RANGE.fullmatch(text)
    if match is None:
        alone = text[1:] if text.startswith("\\") else text
        return alone, alone
    low, high = (re.sub(r"\\(.)", r"\1", end, flags=re.DOTALL) for end in match.groups())
    return low, high


def interval_ends(text: str) -> tuple[str, str]:
    """Return the ends of an interval as written; a single value is both ends."""
    match = _PLAIN.fullmatch(text) or _ENDS.fullmatch(text)
    return (text, text) if match is None else (match[1], match[2])


def _category(cell: Shown) -> Reading:
    if not isinstance(cell, str):
        return SingleValue(None)
    if cell == MARK:
        return ANY
    members = set_members(cell)
    if members is None:
        return SingleValue(cell[1:] if cell.startswith("\\") else cell)
    return frozenset(members)


def set_members(text: str) -> list[str] | None:
    """Return the original values of a set; None if the text is not a set."""
    if not (text.startswith("{") and text.endswith("}")):
        return None
    # A backslash escapes the next character; other commas separate the members.
    parts = re.findall(r"((?:\\.|[^\\,])*)(, |$)", text[1:-1], re.DOTALL)
    written = "".join(member + end for member, end in parts)
    if written != text[1:-1]:
        return None
    members = [member for member, _ in parts]
    if len(members) > 1 and parts[-2][1] == "" and members[-1] == "":
        members.pop()  # the end of the text is found twice
    return [re.sub(r"\\(.)", r"\1", member, flags=re.DOTALL) for member in members]


def numbered(own: Sequence[Reading], shown: Sequence[Reading]) -> tuple[Int64, Int64]:
    """Return both as intervals of integers, [readings, 2], which intersect exactly when the readings match."""
    readings = [*own, *shown]
    keys = sorted({key for each in readings if isinstance(each, tuple) for key in each})
    place: dict[Any, int] = {key: at for at, key in enumerate(keys)}
    alone: dict[SingleValue, int] = {}
    for each in readings:
        if isinstance(each, SingleValue):
            alone.setdefault(each, len(place) + len(alone))
    last = len(place) + len(alone)

    def ends(reading: Reading) -> tuple[int, int]:
        if reading is ANY or isinstance(reading, frozenset):
            return 0, last
        if isinstance(reading, SingleValue):
            return alone[reading], alone[reading]
        return place[reading[0]], place[reading[1]]

    every = np.array([ends(each) for each in readings], dtype=np.int64).reshape(-1, 2)
    return every[: len(own)], every[len(own) :]
