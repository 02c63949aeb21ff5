"""Format types, defaults, options and hierarchies of settings for people."""

from __future__ import annotations

from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

_RULES = ("flat", "prefixes", "intervals", "dates")


def type_text(annotation: object) -> str:
    """Describe a type: `number`, `true or false`, `strict | relaxed`."""
    words = {int: "whole number", float: "number", bool: "true or false", str: "text", NoneType: "nothing"}
    origin = get_origin(annotation)
    if origin is Annotated:
        return type_text(get_args(annotation)[0])
    if origin is Literal:
        return " | ".join(str(value) for value in get_args(annotation))
    if origin in (Union, UnionType):
        return " | ".join(type_text(part) for part in get_args(annotation) if part is not NoneType)
    if origin in (tuple, list):
        inner = next((part for part in get_args(annotation) if part is not Ellipsis), object)
        return f"list of {type_text(inner)}"
    if origin is dict:
        return f"table of {type_text(get_args(annotation)[1])}"
    if annotation in words:
        return words[annotation]
    return "any" if annotation in (Any, object) else getattr(annotation, "__name__", str(annotation)).lower()


def default_text(value: object) -> str:
    """Format a default as in a TOML file."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return "[" + ", ".join(default_text(part) for part in value) + "]"
    if isinstance(value, dict):
        return "{ }" if not value else str(value)
    return f'"{value}"' if isinstance(value, str) else str(value)


def option_value(text: str) -> object:
    """Parse lists and tables as TOML; anything else is text for the option's own type to parse."""
    if text.startswith(("[", "{")):
        import tomllib

        try:
            return tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            return text
    return text


def hierarchy_spec(text: str) -> object:
    """Parse a hierarchy flag: a rule with its parameters, or the path of a file."""
    word, colon, rest = text.partition(":")
    if word not in _RULES or (colon and word == "flat"):
        # A path on the command line starts at the current folder, not at the folder of the TOML file.
        return str(Path(text).absolute())
    if word == "flat":
        return "flat"
    parts = [part.strip() for part in rest.split(",") if part.strip()]
    return {word: parts if word == "dates" else [_number(part) for part in parts]}


def _number(text: str) -> object:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
