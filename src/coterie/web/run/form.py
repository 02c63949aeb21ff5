"""The form of a method's options, derived from the method's description, so that a new method needs no page."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from coterie.methods import Method, all_methods
from coterie.settings.texts import default_text, option_value


class Option(NamedTuple):
    """One option of a method, as a form field."""

    name: str
    form: Literal["choice", "number", "text"]
    choices: tuple[str, ...]
    default: str
    """the value if nothing is given"""
    description: str


def methods() -> dict[str, Method]:
    """Return every method by name, the most common first."""
    found = all_methods()
    first = [name for name in ("auto", "compact", "mondrian") if name in found]
    return {name: found[name] for name in (*first, *(name for name in found if name not in first))}


def options_of(method: Method) -> list[Option]:
    """Return the options of a method."""
    fields = method.options.model_fields
    return [
        Option(
            name,
            *_form(field.annotation),
            default="" if field.is_required() else default_text(field.get_default(call_default_factory=True)),
            description=field.description or "",
        )
        for name, field in fields.items()
    ]


def _form(annotation: object) -> tuple[Literal["choice", "number", "text"], tuple[str, ...]]:
    """Return the kind of field for a value of this type."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _form(get_args(annotation)[0])
    if origin is Literal:
        return "choice", tuple(str(value) for value in get_args(annotation))
    if origin in (Union, UnionType):
        parts = [part for part in get_args(annotation) if part is not NoneType]
        return _form(parts[0]) if len(parts) == 1 else ("text", ())
    if annotation is bool:
        return "choice", ("true", "false")
    return ("number", ()) if annotation in (int, float) else ("text", ())


def read_options(submitted: Mapping[str, str]) -> dict[str, Any]:
    """Read the options of a form (fields `options-NAME`); empty ones keep their defaults."""
    return {
        name.removeprefix("options-"): option_value(text.strip())
        for name, text in submitted.items()
        if name.startswith("options-") and text.strip()
    }


def shown_options(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the options of a configuration as a form shows them."""
    return {f"options-{name}": _text(value) for name, value in values.items()}


def _text(value: object) -> str:
    """Format a value so that `option_value` can read it."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f'"{name}" = {_text(inner)}' for name, inner in value.items()) + " }"
    return value if isinstance(value, str) else default_text(value)
