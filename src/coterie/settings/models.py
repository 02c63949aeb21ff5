"""Parse privacy models in a configuration.

A model is an object such as `LDiversity(3, on="disease")`, a text such as `l-diversity:3:disease`, or a dict such as
`{"model": "l-diversity", "l": 3, "on": "disease"}`. The fields of a text are in the order of the model's `parts`;
an empty one keeps its default, and without a column the model applies to every sensitive attribute.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from coterie.errors import ConfigError, Problem
from coterie.settings.registry import MODELS

if TYPE_CHECKING:
    from coterie.privacy.model import Model


def parse_privacy(value: object, *, base: Path | None = None) -> tuple[Model, ...]:
    """Parse one or several models from objects, texts or dicts; a ConfigError reports every problem at once.

    Relative paths of population tables start at `base`, by default the current folder.
    """
    entries = _entries(value)
    models: list[Model] = []
    problems: list[Problem] = []
    for place, entry in enumerate(entries):
        try:
            model = parse_model(entry)
            models.append(model if base is None else model.located(base))
        except ConfigError as error:
            path = "" if len(entries) == 1 else str(place)
            problems += [Problem(".".join(filter(None, (path, p.path))), p.text) for p in error.problems]
    if problems:
        raise ConfigError(problems)
    return tuple(models)


def population_paths(value: object) -> list[str]:
    """Return the tables that a configuration's models name; models that cannot be parsed name none.

    Such a model is refused wherever it would be used, so nothing is read for it.
    """
    found = []
    for entry in _entries(value):
        try:
            population = getattr(parse_model(entry), "population", None)
        except ConfigError:
            continue
        found += [str(population)] if isinstance(population, str) else []
    return found


def _entries(value: object) -> list[object]:
    single = isinstance(value, str | Mapping) or _is_model(value)
    return list(value) if isinstance(value, Iterable) and not single else [value]


def _is_model(value: object) -> TypeGuard[Model]:
    return isinstance(value, tuple(MODELS.values()))


def parse_model(entry: object) -> Model:
    """Parse one model from an object, text or dict."""
    if _is_model(entry):
        return entry
    if isinstance(entry, str):
        name, *texts = (part.strip() for part in entry.split(":"))
        model = find_model(name)
        most = len(model.parts)
        if model.colons_at_the_end and len(texts) > most:
            texts = [*texts[: most - 1], ":".join(texts[most - 1 :])]
        if len(texts) > most:
            raise ConfigError([Problem("", f"{name} takes at most {form_of(model)}")])
        values: dict[str, Any] = {part: text for part, text in zip(model.parts, texts, strict=False) if text}
        return _build(model, values)
    if isinstance(entry, Mapping):
        values = {str(key): value for key, value in entry.items()}
        name = values.pop("model", None)
        if not isinstance(name, str):
            raise ConfigError([Problem("model", f"is required: one of {', '.join(MODELS)}")])
        return _build(find_model(name), values)
    raise ConfigError([Problem("", 'must be a privacy model or its text, such as "l-diversity:3:disease"')])


def find_model(name: str) -> type[Model]:
    """Return the model with this name."""
    folded = name.casefold().replace("_", "-").replace(" ", "-")
    if folded in MODELS:
        found: type[Model] = MODELS[folded]
        return found
    near = get_close_matches(folded, MODELS, n=1, cutoff=0.5)
    meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(MODELS)}"
    raise ConfigError([Problem("", f"there is no privacy model {name!r}; {meant}")])


def form_of(model: type[Model]) -> str:
    """Return the text form of a model: `l-diversity:L:COLUMN:KIND:C`."""
    return ":".join([model.name, *(part.upper() if part != "on" else "COLUMN" for part in model.parts)])


def _build(model: type[Model], values: Mapping[str, Any]) -> Model:
    known = {each.name: each for each in fields(model) if each.init}  # type: ignore[arg-type]
    problems = [
        Problem(name, f"{model.name} has no such field; it has {', '.join(known)}")
        for name in values
        if name not in known
    ]
    problems += [
        Problem(name, f"is required, as in {form_of(model)}")
        for name, each in known.items()
        if each.default is MISSING and name not in values
    ]
    if problems:
        raise ConfigError(problems)
    return model(**values)


def column_problems(models: Sequence[Model], sensitive: Sequence[str]) -> list[Problem]:
    """Return the problems of these models with these sensitive attributes."""
    problems = []
    for model in models:
        if not model.needs_sensitive:
            continue
        if model.on is not None and model.on not in sensitive:
            text = f"{model.name} is on column {model.on!r}, which is not in sensitive; add it"
            problems.append(Problem("privacy", text))
        elif not sensitive:
            problems.append(Problem("privacy", f"{model.name} needs a sensitive column; name one in sensitive"))
    return problems
