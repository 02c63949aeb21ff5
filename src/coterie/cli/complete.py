"""What the shell offers for the value of a flag when somebody presses Tab. Nothing is imported before that.

Choices come from where they are defined: the registry of methods, the types of the settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, get_args, get_origin

Complete = Callable[[str], list[str]]


def words(*choices: str) -> Complete:
    """A completion from these words."""
    return lambda incomplete: _starting(choices, incomplete)


def setting(name: str) -> Complete:
    """A completion from the values that a setting of `Config` may have."""

    def complete(incomplete: str) -> list[str]:
        from coterie.settings.config import Config

        return _starting(_literals(Config.model_fields[name].annotation), incomplete)

    return complete


def method(incomplete: str) -> list[str]:
    """Names of methods."""
    from coterie.methods import all_methods

    return _starting(all_methods(), incomplete)


def methods(incomplete: str) -> list[str]:
    """Names of methods separated by commas, of which the last is incomplete."""
    before, comma, last = incomplete.rpartition(",")
    taken = before.split(",")
    return [before + comma + name for name in method(last) if name not in taken]


def privacy(incomplete: str) -> list[str]:
    """Names of privacy models, ready for their parameters."""
    from coterie.settings.registry import MODELS

    return _starting((f"{name}:" for name in MODELS), incomplete)


def threshold(incomplete: str) -> list[str]:
    """Names of thresholds in use."""
    from coterie.settings.threshold import PRESETS

    return _starting(PRESETS, incomplete)


def _starting(choices: Iterable[str], incomplete: str) -> list[str]:
    return [choice for choice in choices if choice.startswith(incomplete)]


def _literals(annotation: object) -> list[str]:
    """The texts among the values of a type, such as `Literal["a", "b"] | None`."""
    if get_origin(annotation) is Literal:
        return [value for value in get_args(annotation) if isinstance(value, str)]
    return [value for part in get_args(annotation) for value in _literals(part)]
