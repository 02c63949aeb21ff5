"""The steps above every page, each with its state."""

from __future__ import annotations

from coterie.web.configuration import configuration
from coterie.web.drafts import FORMS, draft_of
from coterie.web.jobs import state_of
from coterie.web.pages import STEPS
from coterie.web.project import Project
from coterie.web.run.runs import changed_since


def states_of(project: Project) -> dict[str, str]:
    """Return step → its state: done, open, faulty, or later (not yet possible)."""
    if not project.table_path.is_file():
        failed = state_of(project.folder / "inspect").state == "failed"
        return {key: "later" for key, _ in STEPS} | {"data": "faulty" if failed else "open"}
    # The middle steps are done once they were saved; the others, when they have something to show.
    states = {key: "done" if key in project.seen else "open" for key, _ in STEPS} | {"data": "done"}
    states |= _run_states(project)
    # Input that could not be saved is an error of its step, too.
    typed = {key for key in FORMS if draft_of(project, key) is not None}
    return states | dict.fromkeys(configuration.faulty_steps(project) | typed, "faulty")


def _run_states(project: Project) -> dict[str, str]:
    """Return the states of Run and Results: done if there are results (for Run, of the current configuration)."""
    states = [(folder, state_of(folder).state) for folder in project.runs]
    finished = next((folder for folder, state in states if state == "finished"), None)
    latest = next((state for _, state in states if state not in ("cancelled", "none")), "")
    if finished is None:
        return {"run": "faulty" if latest == "failed" else "open", "results": "later"}
    run = "done" if latest == "finished" and not changed_since(project, finished) else "open"
    return {"run": "faulty" if latest == "failed" else run, "results": "done"}
