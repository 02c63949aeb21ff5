"""The flags that commands share. Nothing heavy is imported here: `coterie --help` must respond instantly."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from operator import getitem
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from coterie.cli import complete
from coterie.cli.complete import Complete
from coterie.cli.options import changes_of, configured
from coterie.settings.registry import FIELDS

if TYPE_CHECKING:
    from coterie.settings.config import Config
    from coterie.settings.fields._setting import Setting

    Settings: TypeAlias = Config
else:
    Settings = object  # annotations of commands are evaluated when they are defined, and Config is slow to import

ConfigFile = Annotated[
    Path | None, typer.Option("--config", "-c", metavar="FILE", help="Configuration file; `coterie init` writes one.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with code 1 unless the verdict is pass.")]


def option(default: object, metavar: str, help: str, *names: str, complete: Complete | None = None) -> Any:  # noqa: ANN401
    """Define an option of a single command as the default of its parameter, whose name it has unless given others."""
    return typer.Option(default, *names, metavar=metavar or None, autocompletion=complete, help=help)


def switch(name: str, help: str) -> Any:  # noqa: ANN401 - a default of any type
    """Define an option without a value, which is off by default, as the default of its parameter."""
    return typer.Option(False, name, help=help)


def flag(setting: Setting) -> object:
    """Make the option of a setting; everything about it follows from the setting."""
    kinds: dict[str, object] = {"switch": bool, "whole": int, "number": float}
    kinds |= dict.fromkeys(("columns", "models", "table"), list[str])
    both = f"{setting.option}/--no-{setting.option[2:]}"
    names = [both] if setting.kind == "switch" else [*([setting.short] if setting.short else []), setting.option]
    text = setting.help
    if setting.default is not None and setting.kind in ("whole", "number", "text"):
        text += f" [default: {setting.default}]"
    elif setting.default is None and setting.why:
        text += f" {setting.why}"
    made = typer.Option(*names, metavar=setting.placeholder or None, autocompletion=complete.of(setting), help=text)
    return getitem(Annotated, (kinds.get(setting.kind, str) | None, made))  # type: ignore[operator]


FLAGS: dict[str, Any] = {"config": ConfigFile, **{each.parameter: flag(each) for each in FIELDS.values()}}
"""name of an option without dashes → the option"""
MethodName, Fraction = FLAGS["method"], FLAGS["fraction"]


_LIMITS: dict[str, str] = {}
"""option of a privacy model's limit, without dashes → name of the model"""


def takes_settings(command: str, *, also: str = "") -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of its settings, and pass it the resulting configuration as `settings`.

    A command without a configuration has a parameter `reading` instead: the settings given as options, by name.

    Args:
        command: The name by which settings refer to it. Their options take the place of that parameter;
            an option that is also the command's own parameter keeps its place.
        also: The settings that the command also receives as separate arguments.
    """
    listed, twice = [each.parameter for each in FIELDS.values() if command in each.users], also.split()

    def decorate(body: Callable[..., None]) -> Callable[..., None]:
        own = dict(inspect.signature(body, eval_str=True).parameters)
        whole = "settings" in own
        options = ["config", *listed] if whole else listed
        settings = [name for name in options if name not in own or name in twice]

        def parameter(name: str) -> inspect.Parameter:
            if name not in settings:
                return own[name]
            return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=FLAGS[name])

        @wraps(body)
        def run(**values: Any) -> None:  # noqa: ANN401 - what flags hold
            given = {name: values[name] for name in settings if name != "config"}
            arguments = {name: value for name, value in values.items() if name in own}
            if not whole:
                body(**arguments, reading=changes_of(given))
                return
            made = configured(values.get("config"), **given)
            models = [f"{model}:{values[name]}" for name, model in _LIMITS.items() if values.get(name) is not None]
            made = made.replace(privacy=[*made.privacy, *models]) if models else made
            body(**arguments, settings=made)

        order = [
            each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for name in own
            for each in (
                map(parameter, options) if name in ("settings", "reading") else () if name in options else (own[name],)
            )
        ]
        del run.__wrapped__
        return _taking(run, order)

    return decorate


def offer_limits(command: Callable[..., None]) -> None:
    """Give a command an option for the limit of each privacy model, after `--privacy`.

    Called only when the command runs, because models are slow to import.
    """
    from coterie.settings.registry import MODELS

    order = list(inspect.signature(command).parameters.values())
    for model in MODELS.values():
        name, taken = model.limit_option(), [each.name for each in order]
        if name and name not in taken:
            made = typer.Option(f"--{name}", metavar=name.upper(), help=f"{model.name}: {model.meaning}")
            option = inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[str | None, made]
            )
            order.insert(taken.index("privacy") + 1 + len(set(_LIMITS) & set(taken)), option)
            _LIMITS[name] = model.name
    _taking(command, order)


def _taking(command: Callable[..., None], order: list[inspect.Parameter]) -> Callable[..., None]:
    """Return the command with these parameters for Typer."""
    command.__annotations__ = {each.name: each.annotation for each in order}
    command.__signature__ = inspect.Signature(order)  # type: ignore[attr-defined]
    return command
