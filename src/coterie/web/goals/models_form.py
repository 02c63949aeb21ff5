"""Privacy models as rows of a form: model, parameter, column and variant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from coterie.errors import ConfigError
from coterie.settings.models import parse_model
from coterie.settings.registry import MODELS
from coterie.web.pages import Fault


def fields_of(name: str) -> dict[str, str]:
    """Return parameter of a model → its form field: limit, column, variant and any others."""
    model = MODELS.get(name)
    if model is None:
        return {}
    first, *others = model.parts
    named = {part: part if part == "on" else "variant" if part == model.variant else "further" for part in others}
    return {first: "limit", **named}


def variants_of(name: str) -> tuple[str, ...]:
    """Return the definitions of a model, if there are several."""
    model = MODELS[name]
    return model.choices(model.variant) if model.variant else ()


def variant_titles() -> dict[str, str]:
    """Return variant → its title, with its model."""
    return {variant: f"{variant} ({name})" for name in MODELS for variant in variants_of(name)}


class ModelRow(NamedTuple):
    """One row of the form, as text."""

    model: str = ""
    limit: str = ""
    on: str = ""
    """a sensitive attribute, or nothing for all of them"""
    variant: str = ""
    further: str = ""

    def values(self) -> dict[str, Any]:
        """Return the row as a privacy model's fields; empty ones keep their defaults."""
        submitted = {"model": self.model}
        for part, field in fields_of(self.model).items():
            if text := getattr(self, field):
                submitted[part] = text
        return submitted


def shown_promises(specs: object) -> list[ModelRow]:
    """Return the models of a configuration as rows; one that cannot be parsed is reported as an error instead."""
    entries = specs if isinstance(specs, list) else [] if specs is None else [specs]
    return [_shown(entry) for entry in entries]


def _shown(entry: object) -> ModelRow:
    try:
        model = parse_model(entry)
    except ConfigError:
        # Shown as far as possible, so that it can be corrected.
        parts = [part.strip() for part in entry.split(":")] if isinstance(entry, str) else []
        return ModelRow(*parts[:5])
    values = {field: getattr(model, part) for part, field in fields_of(model.name).items()}
    return ModelRow(model.name, **{field: "" if value is None else str(value) for field, value in values.items()})


def read_promises(submitted: Mapping[str, str]) -> list[ModelRow]:
    """Read the non-empty rows `privacy-0-model`, `privacy-0-limit`, … of a form."""
    places = sorted(
        int(name.split("-")[1])
        for name in submitted
        if name.startswith("privacy-") and name.endswith("-model") and name.split("-")[1].isdecimal()
    )
    found = [[submitted.get(f"privacy-{place}-{field}", "").strip() for field in ModelRow._fields] for place in places]
    return [row for row in map(ModelRow._make, found) if row.model]


def promise_faults(rows: Sequence[ModelRow]) -> list[Fault]:
    """Return the errors of each row."""
    faults = []
    for place, row in enumerate(rows):
        try:
            parse_model(row.values())
        except ConfigError as error:
            for problem in error.problems:
                what = problem.path if problem.path in fields_of(row.model) else ""
                text = f"{row.model}: {what} {problem.text}" if what else f"{row.model}: {problem.text}"
                faults.append(Fault(f"privacy-{place}-{fields_of(row.model).get(problem.path, 'model')}", text))
    return faults


def specs_of(rows: Sequence[ModelRow]) -> list[str | dict[str, Any]]:
    """Return rows without errors in the configuration's notation."""
    return [parse_model(row.values()).spec for row in rows]
