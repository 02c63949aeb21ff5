"""Reading what people type into forms."""

from __future__ import annotations

from collections.abc import Mapping

from coterie.web.pages import Fault


def number_of(text: str, kind: type[int] | type[float]) -> int | float | None:
    """The number that a field holds; None if it is empty or no number."""
    plain = text.strip().replace(",", "") if kind is int else text.strip()
    try:
        return kind(plain) if plain else None
    except ValueError:
        return None


def bad_numbers(given: Mapping[str, str], numbers: Mapping[str, type[int] | type[float]]) -> list[Fault]:
    """Fields that should hold numbers and do not."""
    return [
        Fault(name, f"{name.replace('_', ' ')}: must be {'a whole number' if kind is int else 'a number'}")
        for name, kind in numbers.items()
        if given.get(name, "").strip() and number_of(given[name], kind) is None
    ]
