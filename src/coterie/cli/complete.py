"""Shell completion for the values of flags. Nothing is imported before the user presses Tab.

Choices come from where they are defined: the method registry and the types of the settings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from coterie.settings.registry import METHODS, MODELS
from coterie.settings.threshold import PRESETS

if TYPE_CHECKING:
    from coterie.settings.fields._setting import Setting

Complete = Callable[[str], list[str]]


def words(choices: Iterable[str], *, end: str = "") -> Complete:
    """Make a completion from these words, each with this end; a registry is loaded when the user presses Tab."""
    return lambda incomplete: [word + end for word in choices if (word + end).startswith(incomplete)]


models, threshold = words(MODELS), words(PRESETS)
privacy = words(MODELS, end=":")
"""the names of privacy models, followed by their parameters"""


def of(setting: Setting) -> Complete | None:
    """Return the completion for a setting's values; None if there is none."""
    named = {"method": method, "privacy": privacy, "threshold": threshold}
    return named.get(setting.complete) or (words(setting.values) if setting.kind == "choice" else None)


def method(incomplete: str) -> list[str]:
    """Complete method names."""
    return words(sorted(METHODS))(incomplete)


def methods(incomplete: str) -> list[str]:
    """Complete the last of several comma-separated method names."""
    before, comma, last = incomplete.rpartition(",")
    taken = before.split(",")
    return [before + comma + name for name in method(last) if name not in taken]
