"""Function signatures that list all settings, for `help`, notebooks and editors."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from coterie.settings.registry import FIELDS

Given = ParamSpec("Given")
Result = TypeVar("Result")


def spelled_out(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Return the same function; `inspect.signature` lists every setting, also of plug-ins, instead of `**settings`."""
    found = inspect.signature(function)
    own = [each for each in found.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    taken = {each.name for each in own}
    settings = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=each.annotation)
        for name, each in FIELDS.items()
        if name not in taken
    ]
    function.__signature__ = found.replace(parameters=[*own, *settings])  # type: ignore[attr-defined]
    return function
