"""Form input that could not be saved yet, kept with the project until the next visit."""

from __future__ import annotations

from collections.abc import Mapping

from coterie.web.project import Project, private_folder, read_json, write_json

FORMS = ("goals", "run")
"""steps whose forms are kept here"""


def keep_draft(project: Project, step: str, submitted: Mapping[str, str]) -> None:
    """Keep the fields of a form with errors."""
    folder = project.folder / "drafts"
    if not folder.is_dir():
        private_folder(folder)
    write_json(folder / f"{step}.json", submitted)


def draft_of(project: Project, step: str) -> dict[str, str] | None:
    """Return the fields of a form that had errors when last submitted, if any."""
    values = read_json(project.folder / "drafts" / f"{step}.json")
    return {name: str(value) for name, value in values.items()} or None


def drop_draft(project: Project, step: str) -> None:
    """Discard a form's draft after it was saved or reset."""
    (project.folder / "drafts" / f"{step}.json").unlink(missing_ok=True)
