"""`coterie methods`: list the methods and their options."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coterie.cli import complete
from coterie.cli.flags import AsJson
from coterie.cli.show import Voice
from coterie.settings.registry import DEFAULT_METHOD
from coterie.settings.texts import default_text, type_text

if TYPE_CHECKING:
    from coterie.methods import Method


def methods(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", autocompletion=complete.method)] = None,
    as_json: AsJson = False,
) -> None:
    """List the methods that group rows or, with NAME, one method's options."""
    from coterie.methods import all_methods, find_method

    chosen = [find_method(name)] if name else list(all_methods().values())
    if as_json:
        typer.echo(json.dumps([described(method) for method in chosen], indent=2))
    elif name:
        _show(chosen[0])
    else:
        rows = [[method.name, method.recoding, method.summary, method.paper] for method in chosen]
        Voice().table(["name", "recoding", "what it does", "paper"], rows)
        Voice().say(f"Without --method it is {DEFAULT_METHOD}. `coterie methods NAME` shows a method's options.")


def described(method: Method) -> dict[str, Any]:
    """Describe a method and its options as plain values for the command, the docs and the web app."""
    return {
        "name": method.name,
        "summary": method.summary,
        "paper": method.paper,
        "recoding": method.recoding,
        "options": [
            {
                "name": name,
                "type": type_text(field.annotation),
                "default": None if field.is_required() else field.get_default(call_default_factory=True),
                "description": field.description or "",
            }
            for name, field in method.options.model_fields.items()
        ],
        "published": None if method.published is None else dict(method.published),
    }


def _show(method: Method) -> None:

    voice = Voice()
    description = described(method)
    voice.say(f"{method.name}: {method.summary}")
    voice.say(f"paper: {method.paper} · recoding: {method.recoding}")
    voice.say()
    if not description["options"]:
        voice.say("It has no options.")
        return
    rows = [
        [option["name"], option["type"], default_text(option["default"]), option["description"]]
        for option in description["options"]
    ]
    voice.table(["option", "type", "default", "what it does"], rows)
    first = description["options"][0]
    voice.say(f"Given as --option {first['name']}=VALUE, or in the [options] table of the TOML file.")
    if description["published"] is not None:
        voice.say(preset_text(description["published"]))


def preset_text(published: Mapping[str, Any]) -> str:
    """Return the settings of `preset = "paper"` as text."""
    if not published:
        return "preset = paper: the defaults are the paper's."
    return "preset = paper: " + ", ".join(f"{name} = {default_text(value)}" for name, value in published.items()) + "."
