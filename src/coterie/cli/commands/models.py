"""`coterie models`: list the privacy models and their parameters."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from coterie.cli import complete
from coterie.cli.flags import AsJson
from coterie.cli.show import Voice


def models(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", autocompletion=complete.models)] = None,
    as_json: AsJson = False,
) -> None:
    """List the privacy models or, with NAME, show one of them."""
    from coterie.settings.models import find_model, form_of
    from coterie.settings.registry import MODELS

    chosen = [find_model(name)] if name else list(MODELS.values())
    if as_json:
        told = ("name", "meaning", "not_proved", "paper")
        values = [{fact: getattr(each, fact) for fact in told} | {"form": form_of(each)} for each in chosen]
        typer.echo(json.dumps(values, indent=2))
        return
    voice = Voice()
    if name is None:
        voice.table(["model", "what it guarantees"], [[each.name, each.meaning] for each in chosen])
        voice.say("`coterie models NAME` shows one of them. Use them with --privacy.")
        return
    (model,) = chosen
    variants = model.choices(model.variant) if model.variant else ()
    facts = [("model", model.name), ("guarantees", model.meaning), ("does not guarantee", model.not_proved)]
    facts += [("variants", ", ".join(variants))] if variants else []
    facts += [(part, text) for part, text in model.parts_help.items()]
    voice.summary([*facts, ("paper", model.paper), ("use", f"--privacy {form_of(model)}")])
