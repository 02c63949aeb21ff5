"""Settings forms: both their fields and the parsing of their input follow from the settings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from coterie.settings.fields._setting import Group, Setting, of_screen
from coterie.settings.registry import FIELDS
from coterie.web.pages import Fault


def simple(screen: str) -> dict[str, Setting]:
    """Return the settings of a screen with one field each; tables and models have their own forms."""
    return {name: each for name, each in of_screen(screen).items() if each.kind not in ("table", "models")}


def grouped(settings: Mapping[str, Setting], *, but: Sequence[str] = ()) -> dict[type[Group], list[Setting]]:
    """Return the settings by group, without those shown elsewhere."""
    groups: dict[type[Group], list[Setting]] = {}
    for name, setting in settings.items():
        if name not in but:
            groups.setdefault(setting.group, []).append(setting)
    return groups


def shown(settings: Mapping[str, Setting], values: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings as form fields show them: their values, or else their defaults."""
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
    """Parse settings from the fields of a form, whose numbers are valid; None means not set.

    A default that was not set `before` stays unset, unless it is the setting `always`.
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
    """Return the number in a field; None if it is empty or not a number."""
    plain = text.strip().replace(",", "") if kind is int else text.strip()
    try:
        number = kind(plain) if plain else None
    except ValueError:
        return None
    return number if number is None or math.isfinite(number) else None


def bad_numbers(submitted: Mapping[str, str], *, names: Sequence[str] = ()) -> list[Fault]:
    """Return the fields that should contain numbers but do not; fields of `weights` end in the position of a column."""
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
