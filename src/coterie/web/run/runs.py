"""The runs of a project: started from its recipe, followed, cancelled, removed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, NamedTuple

from coterie.errors import ConfigError, Problem
from coterie.files.output import whole_file
from coterie.web.jobs import Jobs, JobState
from coterie.web.project import Project, private_folder, read_json
from coterie.web.recipe import recipe

STEPS = {
    "read": "Reading the table",
    "encode": "Finding the places of values in their hierarchies",
    "group": "Grouping rows",
    "refine": "Grouping rows: lowering the loss by local search",
    "repair": "Grouping rows: mending groups that break a promise",
    "publish": "Writing the groups' values",
    "verify": "Verifying the release from its own cells",
    "measure": "Measuring what was lost",
    "write": "Writing files",
    "risk": "Measuring risk before and after",
    "report": "Writing reports",
}
"""steps of a run, in the words of the page"""
FINGERPRINT = "recipe.sha256"
"""what a run was started with"""
COMPILING = "group: compiling, once after installation"


class RunInfo(NamedTuple):
    """One run as lists show it."""

    name: str
    """0001, 0002, …"""
    folder: Path
    state: JobState
    result: dict[str, Any]
    """the figures of a finished run; see job.py"""

    @property
    def number(self) -> int:
        """What people call it."""
        return int(self.name)

    @property
    def step_text(self) -> str:
        """What it is doing, in a sentence."""
        return step_text(self.state)


def step_text(state: JobState) -> str:
    """What a run is doing, in words."""
    if state.state == "queued" or not state.step:
        return "Starting"
    if state.step == COMPILING:
        return f"{STEPS['group']} (compiling first, once after installation)"
    return STEPS.get(state.step) or f"Grouping rows: {state.step}"


def start_run(jobs: Jobs, project: Project) -> Path:
    """Start a run with the recipe as it is now. Raises a ConfigError if one is under way already."""
    with project.lock:
        if active_run(jobs, project) is not None:
            raise ConfigError([Problem("", "a run of this project is under way; wait for it or cancel it first")])
        text = recipe.frozen(project)
        number = 1 + max((int(folder.name) for folder in project.runs), default=0)
        if not project.runs_folder.is_dir():
            private_folder(project.runs_folder)
        folder = private_folder(project.runs_folder / f"{number:04d}")
        with whole_file(folder / "coterie.toml", force=False) as sink:
            sink.write(text.encode())
        (folder / FINGERPRINT).write_text(recipe.fingerprint(project))
        jobs.start("run", folder, project)
    return folder


def changed_since(project: Project, run: Path) -> bool:
    """Whether the recipe, or a hierarchy that it names, is another than the one that a run was started with."""
    try:
        return (run / FINGERPRINT).read_text() != recipe.fingerprint(project)
    except OSError:
        return False


def runs_of(jobs: Jobs, project: Project) -> list[RunInfo]:
    """Every run, the latest first."""
    return [
        RunInfo(folder.name, folder, jobs.state(folder), read_json(folder / "result.json")) for folder in project.runs
    ]


def active_run(jobs: Jobs, project: Project) -> RunInfo | None:
    """The run that is under way."""
    return next((run for run in runs_of(jobs, project) if run.state.active), None)


def remove_run(jobs: Jobs, folder: Path) -> None:
    """Stop a run if need be, and delete all that it made."""
    jobs.cancel(folder)
    shutil.rmtree(folder, ignore_errors=True)
