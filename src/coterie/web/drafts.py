"""Form input that could not be saved yet: kept with the project until the next visit, or in conflict with a change.

A form has a stamp of the settings it showed. If they have changed in another tab or an editor when it is submitted,
saving it would undo a change that the user has not seen, so the form is shown again; submitted once more, it is saved.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

from coterie.web.configuration import configuration
from coterie.web.forms import simple
from coterie.web.pages import Fault, go
from coterie.web.project import Project, private_folder, read_json, write_json

FORMS = ("data", "goals", "run")
"""steps whose forms are kept here"""
STAMP = "stamp"
"""the form field with the stamp"""


def keep_draft(project: Project, step: str, submitted: Mapping[str, str]) -> None:
    """Keep the fields of a form with errors."""
    folder = private_folder(project.folder / "drafts", exist_ok=True)
    write_json(folder / f"{step}.json", submitted)


def send_back(request: Request, project: Project, step: str, submitted: Mapping[str, str]) -> Response:
    """Keep a form that cannot be saved and redirect to it, so that Back and Reload do not submit it again."""
    # Browsers omit unchecked boxes, which must stay unchecked when the form is shown again.
    boxes = {name: "" for name, each in simple(step).items() if each.kind == "switch"}
    keep_draft(project, step, boxes | dict(submitted))
    return go(f"{project.url}/{step}", request)


def draft_of(project: Project, step: str) -> dict[str, str] | None:
    """Return the fields of a form that had errors when last submitted, if any."""
    values = read_json(project.folder / "drafts" / f"{step}.json")
    return {name: str(value) for name, value in values.items()} or None


def drop_draft(project: Project, step: str) -> None:
    """Discard a form's draft after it was saved or reset."""
    (project.folder / "drafts" / f"{step}.json").unlink(missing_ok=True)


def stamp_of(project: Project, step: str) -> str:
    """Return a stamp that changes with the settings of a step."""
    values = configuration.readable_values(project)
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
    if submitted.get(STAMP, "") in ("", now):
        return []
    shown = (saved or {}).items()
    differing = ", ".join(name for name, text in shown if name in submitted and submitted[name].strip() != text)
    text = f"{what} was changed in another tab or in an editor. Nothing has been saved yet."
    if differing:
        text += f" Your version differs from the file in: {differing}."
    return [Fault("", f"{text} Save again to keep your version.")]
