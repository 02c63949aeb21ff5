"""Shell completion for the values of flags. Nothing is imported before the user presses Tab.

Choices come from where they are defined: the method registry and the types of the settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coterie.settings.fields._setting import Setting

Complete = Callable[[str], list[str]]


def words(*choices: str) -> Complete:
    """Make a completion from these words."""
    return lambda incomplete: _starting(choices, incomplete)


def of(setting: Setting) -> Complete | None:
    """Return the completion for a setting's values; None if there is none."""
    named = {"method": method, "privacy": privacy, "threshold": threshold}
    return named.get(setting.complete) or (words(*setting.values) if setting.kind == "choice" else None)


def method(incomplete: str) -> list[str]:
    """Complete method names."""
    from coterie.methods import all_methods

    return _starting(all_methods(), incomplete)


def methods(incomplete: str) -> list[str]:
    """Complete the last of several comma-separated method names."""
    before, comma, last = incomplete.rpartition(",")
    taken = before.split(",")
    return [before + comma + name for name in method(last) if name not in taken]


def models(incomplete: str) -> list[str]:
    """Complete the names of privacy models."""
    from coterie.settings.registry import MODELS

    return _starting(MODELS, incomplete)


def privacy(incomplete: str) -> list[str]:
    """Complete the names of privacy models, followed by their parameters."""
    from coterie.settings.registry import MODELS

    return _starting((f"{name}:" for name in MODELS), incomplete)


def threshold(incomplete: str) -> list[str]:
    """Complete the names of common thresholds."""
    from coterie.settings.threshold import PRESETS

    return _starting(PRESETS, incomplete)


def _starting(choices: Iterable[str], incomplete: str) -> list[str]:
    return [choice for choice in choices if choice.startswith(incomplete)]
