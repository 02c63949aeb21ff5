"""What the shell offers for the value of a flag when somebody presses Tab. Nothing is imported before that.

Choices come from where they are defined: the registry of methods, the types of the settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coterie.settings.fields._setting import Setting

Complete = Callable[[str], list[str]]


def words(*choices: str) -> Complete:
    """A completion from these words."""
    return lambda incomplete: _starting(choices, incomplete)


def of(setting: Setting) -> Complete | None:
    """The completion of a setting's values; None where there is nothing to offer."""
    named = {"method": method, "privacy": privacy, "threshold": threshold}
    return named.get(setting.complete) or (words(*setting.values) if setting.kind == "choice" else None)


def method(incomplete: str) -> list[str]:
    """Names of methods."""
    from coterie.methods import all_methods

    return _starting(all_methods(), incomplete)


def methods(incomplete: str) -> list[str]:
    """Names of methods separated by commas, of which the last is incomplete."""
    before, comma, last = incomplete.rpartition(",")
    taken = before.split(",")
    return [before + comma + name for name in method(last) if name not in taken]


def models(incomplete: str) -> list[str]:
    """Names of privacy models."""
    from coterie.settings.registry import MODELS

    return _starting(MODELS, incomplete)


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
