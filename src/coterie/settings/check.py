"""Validate a configuration, with messages in our own words.

Pydantic validates single values; its messages quote the input, so they are replaced here. Checks across several
settings, or against the columns of a table, are plain functions that return
problems, so that a user sees all of them at once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from coterie.errors import ConfigError, Problem
from coterie.settings.changes import per_column
from coterie.settings.models import column_problems as model_problems
from coterie.settings.registry import FIELDS, METHODS
from coterie.settings.roles import named_columns, undecided_problems
from coterie.wording import did_you_mean, shortened

if TYPE_CHECKING:
    from coterie.settings.config import Config

_TEXTS = {
    "missing": "is required",
    "finite_number": "must be a finite number",
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be more than {gt}",
    "less_than_equal": "must be at most {le}",
    "less_than": "must be less than {lt}",
    "literal_error": "must be {expected}",
    "string_too_short": "must not be empty",
    "is_instance_of": "must be a hierarchy",
}

_KINDS = {
    "int": "must be a whole number",
    "float": "must be a number",
    "decimal": "must be a number",
    "bool": "must be true or false",
    "string": "must be text",
    **dict.fromkeys(("tuple", "list", "set", "iterable"), "must be a list"),
    **dict.fromkeys(("dict", "mapping"), "must be a table of names and values"),
}


def unknown_setting(name: str, known: Sequence[str]) -> Problem:
    """Return the problem of an unknown setting, with the one that was probably meant."""
    meant = [setting.name for setting in FIELDS.values() if name in (setting.flag, *setting.aliases)]
    near = f" (did you mean {meant[0]!r}?)" if meant else did_you_mean(name, known)
    return Problem(name, f"there is no such setting{near}")


def translate(error: ValidationError, *, prefix: str = "", model: type[BaseModel] | None = None) -> list[Problem]:
    """Convert Pydantic's errors to problems in our own words, never quoting the given value."""
    problems: list[Problem] = []
    for found in error.errors(include_url=False, include_input=False):
        path = ".".join(str(part) for part in (prefix, *found["loc"]) if part != "")
        cause = found.get("ctx", {}).get("error")
        if isinstance(cause, ConfigError):
            problems += [Problem(_below(path, problem.path), problem.text) for problem in cause.problems]
        elif found["type"] == "extra_forbidden":
            known = sorted(model.model_fields) if model is not None else []
            problems.append(Problem(path, f"there is no such option{did_you_mean(str(found['loc'][-1]), known)}"))
        else:
            problems.append(Problem(path, _text(found["type"], found.get("ctx", {}))))
    return list(dict.fromkeys(problems))


def _below(path: str, inner: str) -> str:
    return ".".join(part for part in (path, inner) if part)


def _text(kind: str, context: Mapping[str, Any]) -> str:
    if kind in _TEXTS:
        tidy = {name: f"{limit:g}" if isinstance(limit, float) else limit for name, limit in context.items()}
        return _TEXTS[kind].format_map(tidy)
    if kind == "value_error":
        # Raised by coterie's own validators, whose messages follow the rules of this module.
        return str(context["error"])
    return _KINDS.get(kind.split("_")[0], "is not a value that this setting can have")


def order_problems(ordered: Collection[str], hierarchies: Collection[str], types: Mapping[str, str]) -> list[Problem]:
    """Return the orders of columns that have a hierarchy, or are declared not to be categories."""
    found = []
    for column in ordered:
        if column in hierarchies:
            found.append((column, "the column has a hierarchy, too; leave one of the two out"))
        if types.get(column, "category") != "category":
            found.append((column, f"a {types[column]} column has its own order; leave this or its type out"))
    return [Problem(f"ordered.{column}", text) for column, text in found]


def publish_problems(
    publish: Mapping[str, str], types: Mapping[str, str], ordered: Collection[str] = ()
) -> list[Problem]:
    """Return the publishing styles that a column's declared type or order rules out."""
    texts = {}
    for column, way in publish.items():
        kind = types.get(column)
        if column in ordered and way not in ("interval", "bounds"):
            texts[column] = f"ordered categories are published as intervals, not as {way}; use 'interval' or 'bounds'"
        elif column not in ordered and way in ("mean", "median") and kind in ("category", "date"):
            texts[column] = f"a {kind} column has no {way}; use it for columns of type 'number'"
        elif column not in ordered and way in ("interval", "bounds") and kind == "category":
            texts[column] = f"a category column has no {way}; use 'ancestor' or 'set'"
    return [Problem(f"publish.{column}", text) for column, text in texts.items()]


def option_problems(method: str, options: Mapping[str, object]) -> tuple[dict[str, object], list[Problem]]:
    """Return the method's options in their own types, and the problems with them or with the method's name."""
    methods = sorted(METHODS)
    if method not in methods:
        known = ", ".join(methods)
        return dict(options), [
            Problem("method", f"there is no method {method!r}{did_you_mean(method, methods)}; there are {known}")
        ]
    model = METHODS[method].options
    try:
        checked = model.model_validate(dict(options))
    except ValidationError as error:
        problems = translate(error, prefix="options", model=model)
        for at, problem in enumerate(problems):
            if "no such option" in problem.text:
                name = problem.path.rsplit(".", 1)[-1]
                problems[at] = Problem(problem.path, problem.text + _other_options(method, name))
        return dict(options), problems
    return checked.model_dump(exclude_unset=True), []


def _other_options(method: str, unknown: str) -> str:
    """Name the options that a method has, and the methods that have the unknown one."""
    names = ", ".join(METHODS[method].options.model_fields) or "none"
    others = ", ".join(name for name in sorted(METHODS) if unknown in METHODS[name].options.model_fields)
    return f" (options of {method}: {names}{others and f'; methods with it: {others}'})"


def column_problems(
    config: Config, names: Sequence[str], *, publishes: bool = True, sure: bool = True
) -> list[Problem]:
    """Return every mismatch between a configuration and a table with these columns.

    If a release will be made, every column needs a role. Unless it is sure that these are names, they may be the first
    row of a file without a header.
    """
    by_role = named_columns(config)
    named = {column for columns in by_role.values() for column in columns}
    if not sure and named and named.isdisjoint(names):
        return [_no_column_known(named, len(names))]
    problems: list[Problem] = []
    if not config.quasi:
        problems.append(Problem("quasi", 'is empty; list the quasi-identifiers, for example quasi = ["age"]'))
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if list(names).count(name) > 1})
        problems.append(
            Problem("", f"the table has columns of the same name: {', '.join(map(repr, twice))}; rename them")
        )
    unknown = [(role, column) for role, columns in by_role.items() for column in columns if column not in set(names)]
    problems += [_no_column(role, column, names) for role, column in unknown]
    problems += undecided_problems(config, names) if publishes else []
    problems += model_problems(config.privacy, config.sensitive)
    problems += _setting_problems(config, names, {column for role, column in unknown if role != "entity"})
    if config.quasi and all(config.weights.get(column, 1.0) == 0 for column in config.quasi):
        problems.append(Problem("weights", "every quasi-identifier weighs 0; give at least one a positive weight"))
    return problems


def _no_column_known(named: Collection[str], count: int) -> Problem:
    """Return the problem of a file whose first line has none of the configured columns, and so may be data."""
    return Problem(
        "header",
        f"none of the configured columns ({shortened(sorted(named))}) is among the {count:,} of the file; is its "
        "first line the header? Set header = true (--header) or, if the file has none, header = false "
        "(--no-header)",
    )


def _setting_problems(config: Config, names: Sequence[str], reported: set[str]) -> list[Problem]:
    # A sensitive column may have a type and a hierarchy too: t-closeness measures distances with them.
    problems = []
    for setting in per_column():
        columns = {column for role in FIELDS[setting].keys for column in getattr(config, role)}
        for column in getattr(config, setting):
            if column in columns or column in reported:
                continue
            path = f"{setting}.{column}"
            text = f"column {column!r} is not a quasi-identifier; add it to quasi or remove this"
            problems.append(Problem(path, text) if column in names else _no_column(path, column, names))
    return problems


def _no_column(path: str, column: str, names: Sequence[str]) -> Problem:
    near = did_you_mean(column, names) or f"; it has {shortened(names)}"
    return Problem(path, f"the table has no column {column!r}{near}")
