"""Form input that could not be saved yet, kept with the project until the next visit."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

from coterie.web.forms import simple
from coterie.web.pages import go
from coterie.web.project import Project, private_folder, read_json, write_json

FORMS = ("data", "goals", "run")
"""steps whose forms are kept here"""


def keep_draft(project: Project, step: str, submitted: Mapping[str, str]) -> None:
    """Keep the fields of a form with errors."""
    folder = project.folder / "drafts"
    if not folder.is_dir():
        private_folder(folder)
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
