"""Edit TOML text in place, preserving comments and formatting."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from coterie.settings.toml import write_toml


def edited(text: str, values: Mapping[str, Any]) -> str:
    """Change a TOML text to have these settings, with its comments kept."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        for name in [name for name in document if name not in values and name != "provenance"]:
            document.remove(name)
        for name, value in values.items():
            _put(document, name, value)
        new = tomlkit.dumps(document)
        said = {name: value for name, value in tomllib.loads(new).items() if name != "provenance"}
        if said == tomllib.loads(write_toml(values)):
            return new
    except (TOMLKitError, tomllib.TOMLDecodeError, ValueError, TypeError):
        pass
    # Losing the comments is better than changing the meaning.
    return write_toml(values)


def _put(place: Any, name: str, value: Any) -> None:  # noqa: ANN401 - parts of a TOML document
    """Set one key of a document or table, leaving equal values untouched."""
    import tomlkit

    there = place.get(name)
    if there is not None and _plain(there) == _plain(value):
        return
    if isinstance(value, Mapping) and isinstance(there, Mapping) and hasattr(there, "remove"):
        for key in [key for key in there if key not in value]:
            there.remove(key)
        for key, inner in value.items():
            _put(there, key, inner)
        return
    if isinstance(value, list | tuple) and len(value) > 3 and all(isinstance(item, str) for item in value):
        array = tomlkit.array()
        array.extend(value)
        place[name] = array.multiline(True)
        return
    place[name] = tomlkit.item(_plain(value))


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever TOML holds
    if hasattr(value, "unwrap"):
        value = value.unwrap()
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value
