"""Reading what people type into forms."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from coterie.web.pages import Fault


def number_of(text: str, kind: type[int] | type[float]) -> int | float | None:
    """The number that a field holds; None if it is empty or no number."""
    plain = text.strip().replace(",", "") if kind is int else text.strip()
    try:
        number = kind(plain) if plain else None
    except ValueError:
        return None
    return number if number is None or math.isfinite(number) else None


def bad_numbers(
    submitted: Mapping[str, str], numbers: Mapping[str, type[int] | type[float]], *, names: Sequence[str] = ()
) -> list[Fault]:
    """Fields that should hold numbers and do not.

    Args:
        submitted: The fields.
        numbers: Which of them are numbers, and of which kind.
        names: Names of columns, for fields that end in a column's position.
    """
    return [
        Fault(name, f"{_title(name, names)}: must be {'a whole number' if kind is int else 'a number'}")
        for name, kind in numbers.items()
        if submitted.get(name, "").strip() and number_of(submitted[name], kind) is None
    ]


def _title(name: str, names: Sequence[str]) -> str:
    setting, _, place = name.rpartition("-")
    if setting and place.isdecimal() and int(place) < len(names):
        return f"{setting} of {names[int(place)]}"
    return name.replace("_", " ")
