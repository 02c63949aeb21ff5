"""Detect changes to the configuration made in another tab or an editor while a form is open.

A form has a stamp of the settings it showed. If they have changed when it is submitted, saving it would undo a
change that the user has not seen, so the form is shown again; submitted once more, it is saved.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from coterie.errors import ConfigError
from coterie.web.configuration import configuration
from coterie.web.pages import Fault
from coterie.web.project import Project

FIELD = "stamp"
"""the form field with the stamp"""


def stamp_of(project: Project, step: str) -> str:
    """Return a stamp that changes with the settings of a step."""
    try:
        values = configuration.read_values(project)
    except ConfigError:
        return ""
    # Empty tables are ignored, since saving drops them.
    own = {name: value for name, value in values.items() if configuration.screen_of(name) == step and value != {}}
    return stamp(own)


def stamp(*parts: object) -> str:
    """Return a short hash of some values."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]


def changed_elsewhere(
    now: str, submitted: Mapping[str, str], *, saved: Mapping[str, str] | None = None, what: str = "coterie.toml"
) -> list[Fault]:
    """Return the error of a form whose settings have changed since it was shown; none for a form without a stamp.

    Args:
        now: The stamp of the current settings.
        submitted: The fields of the form, with its stamp.
        saved: The same fields as they would be shown now.
        what: What was changed.
    """
    if submitted.get(FIELD, "") in ("", now):
        return []
    shown = (saved or {}).items()
    differing = ", ".join(name for name, text in shown if name in submitted and submitted[name].strip() != text)
    text = f"{what} was changed in another tab or in an editor. Nothing has been saved yet."
    if differing:
        text += f" Your version differs from the file in: {differing}."
    return [Fault("", f"{text} Save again to keep your version.")]
