"""Forms of settings: what they show, and what people type into them. Both follow from the settings themselves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from coterie.settings.fields._setting import Group, Setting, of_screen
from coterie.settings.registry import FIELDS
from coterie.web.pages import Fault


def simple(screen: str) -> dict[str, Setting]:
    """The settings that a screen asks for by one field each; tables and models have forms of their own."""
    return {name: each for name, each in of_screen(screen).items() if each.kind not in ("table", "models")}


def grouped(settings: Mapping[str, Setting], *, but: Sequence[str] = ()) -> dict[type[Group], list[Setting]]:
    """Settings by group, without some that the page shows elsewhere."""
    groups: dict[type[Group], list[Setting]] = {}
    for name, setting in settings.items():
        if name not in but:
            groups.setdefault(setting.group, []).append(setting)
    return groups


def shown(settings: Mapping[str, Setting], values: Mapping[str, Any]) -> dict[str, str]:
    """Settings as the fields of a form show them: as they are, or else by their defaults."""
    return {name: _text(setting, values.get(name, setting.default)) for name, setting in settings.items()}


def _text(setting: Setting, value: object) -> str:
    if value is None:
        return ""
    if setting.show is not None:
        return setting.show(value)
    if setting.kind == "switch":
        return "true" if value else "false" if setting.optional else ""
    return str(value)


def read(
    settings: Mapping[str, Setting], submitted: Mapping[str, str], before: Mapping[str, Any], *, always: str = ""
) -> dict[str, Any]:
    """Settings from the fields of a form; None is one that is not set.

    Args:
        settings: What the form asks for.
        submitted: Its fields; numbers are numbers.
        before: The settings so far: a default that nobody has set stays unset.
        always: A setting that is set in any case.
    """
    found = {name: _value(setting, submitted.get(name, "")) for name, setting in settings.items()}
    usual = {name for name, value in found.items() if value == settings[name].default and name != always}
    unset = {name for name in usual if name not in before or settings[name].kind == "switch"}
    return {name: None if name in unset else value for name, value in found.items()}


def _value(setting: Setting, text: str) -> Any:  # noqa: ANN401 - a value of any setting
    if setting.kind == "switch":
        return None if setting.optional and not text else text == "true"
    if setting.kind in ("whole", "number"):
        return number_of(text, int if setting.kind == "whole" else float)
    if setting.read is not None:
        return setting.read(text) or None
    return text.strip() or None


def number_of(text: str, kind: type[int] | type[float]) -> int | float | None:
    """The number that a field holds; None if it is empty or no number."""
    plain = text.strip().replace(",", "") if kind is int else text.strip()
    try:
        number = kind(plain) if plain else None
    except ValueError:
        return None
    return number if number is None or math.isfinite(number) else None


def bad_numbers(submitted: Mapping[str, str], *, names: Sequence[str] = ()) -> list[Fault]:
    """Fields that should hold numbers and do not.

    Args:
        submitted: The fields.
        names: Names of columns, for the fields of `weights`, which end in a column's position.
    """
    faults = []
    for name, text in submitted.items():
        setting, _, place = name.rpartition("-")
        weighed = setting == "weights" and place.isdecimal()
        kind = "number" if weighed else FIELDS[name].kind if name in FIELDS else "text"
        whole = kind == "whole"
        if kind in ("whole", "number") and text.strip() and number_of(text, int if whole else float) is None:
            title = f"weight of {names[int(place)]}" if weighed and int(place) < len(names) else name.replace("_", " ")
            faults.append(Fault(name, f"{title}: must be {'a whole number' if whole else 'a number'}"))
    return faults
