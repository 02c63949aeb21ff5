"""How changing one setting affects others: by keyword, by flag, or on the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from coterie.settings.registry import FIELDS
from coterie.settings.roles import ROLES


def per_column() -> list[str]:
    """Return the settings that are tables by column."""
    return [name for name, setting in FIELDS.items() if setting.keys]


def listed(value: object) -> object:
    """Return a list: one name gives a list of one; any other iterable except a mapping becomes a list."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Iterable) and not isinstance(value, Mapping | bytes):
        return tuple(value)
    return value


def changed(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with some of them changed, and without those that the change makes obsolete."""
    result = {**values, **changes}
    if "options" not in changes and changes.get("method", values.get("method")) != values.get("method"):
        result.pop("options", None)
    if "quasi" in changes or "sensitive" in changes:
        kept = {*_names(result.get("quasi")), *_names(result.get("sensitive"))}
        for setting in per_column():
            table = values.get(setting)
            if setting not in changes and isinstance(table, Mapping):
                result[setting] = {name: value for name, value in table.items() if name in kept}
    # A new role overrides `keep` and `drop`. The entity column may also be dropped.
    for setting, roles in (("keep", (*ROLES, "entity")), ("drop", ROLES)):
        elsewhere = {name for role in roles for name in _names(changes.get(role))}
        if setting not in changes and elsewhere.intersection(_names(values.get(setting))):
            result[setting] = [name for name in _names(values[setting]) if name not in elsewhere]
    return result


def _names(value: object) -> tuple[object, ...]:
    found = listed(value)
    return found if isinstance(found, tuple) else ()
