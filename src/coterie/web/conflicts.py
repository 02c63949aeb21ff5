"""Detect changes to the configuration made in another tab or an editor while a form is open.

A form has a stamp of the settings it showed. If they have changed when it is submitted, saving it would undo a
change that the user has not seen, so the form is shown again; submitted once more, it is saved.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from coterie.errors import ConfigError
from coterie.web.pages import Fault
from coterie.web.project import Project
from coterie.web.recipe import recipe

FIELD = "stamp"
"""the form field with the stamp"""


def stamp_of(project: Project, step: str) -> str:
    """Return a stamp that changes with any setting of a step."""
    try:
        values = recipe.read_values(project)
    except ConfigError:
        return ""
    # An empty table says nothing, and goes when anything is saved.
    own = {name: value for name, value in values.items() if recipe.screen_of(name) == step and value != {}}
    return hashlib.sha256(json.dumps(own, sort_keys=True, default=str).encode()).hexdigest()[:16]


def changed_elsewhere(
    project: Project, step: str, *, stamp: str, submitted: Mapping[str, str], saved: Mapping[str, str]
) -> list[Fault]:
    """Return the fault of a form whose settings have changed since it was shown; none for a form without a stamp.

    Args:
        project: The project.
        step: The step of the form.
        stamp: The form's stamp.
        submitted: Its fields.
        saved: The same fields as they would be shown now.
    """
    if not stamp or stamp == stamp_of(project, step):
        return []
    differing = ", ".join(name for name, text in saved.items() if name in submitted and submitted[name].strip() != text)
    text = "coterie.toml was changed in another tab or in an editor. Nothing has been saved yet."
    if differing:
        text += f" Your version differs from the file in: {differing}."
    return [Fault("", f"{text} Save again to keep your version.")]
