"""The runs of a project: started from its configuration, followed, cancelled, removed."""

from __future__ import annotations

import datetime as dt
import hashlib
import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from coterie.errors import ConfigError, Problem
from coterie.files.output import whole_file
from coterie.web.configuration import configuration
from coterie.web.data.input_state import check_unchanged
from coterie.web.jobs import Jobs, JobState
from coterie.web.project import Project, private_folder, read_json

STEPS = {
    "read": "Reading the table",
    "encode": "Matching values to their hierarchies",
    "group": "Grouping rows",
    "refine": "Grouping rows: lowering the loss by local search",
    "repair": "Grouping rows: repairing groups that violate a guarantee",
    "publish": "Writing the groups' values",
    "verify": "Verifying the release from its published cells",
    "measure": "Measuring information loss",
    "write": "Writing files",
}
"""the steps of a run, as shown on the page"""
FINGERPRINT = "configuration.sha256"
"""the fingerprint of a run's configuration"""
RESULT = "result.json"
"""the figures of a run, available as soon as its release is verified and written"""
LONGEST = 60
"""the maximum number of characters shown of a setting"""
COMPILING = "group: compiling, once after installation"


class RunInfo(NamedTuple):
    """One run as shown in lists."""

    name: str
    """0001, 0002, …"""
    folder: Path
    state: JobState
    result: Mapping[str, Any] = {}
    """the figures of a finished run; see job.py"""
    differs: str = ""
    """settings that differ from other runs"""

    @property
    def number(self) -> int:
        """Its number, as shown."""
        return int(self.name)

    @property
    def settings(self) -> dict[str, Any]:
        """The method and k that it uses."""
        return {"method": "auto", "k": "", **settings_of_run(self.folder), **self.result}

    @property
    def started(self) -> str:
        """When it was started."""
        return dt.datetime.fromtimestamp(self.state.started).strftime("%Y-%m-%d %H:%M") if self.state.started else ""


def step_text(state: JobState) -> str:
    """Describe the current step of a run."""
    if state.state == "queued" or not state.step:
        return "Starting"
    if state.step == COMPILING:
        return f"{STEPS['group']} (compiling first, once after installation)"
    return STEPS.get(state.step) or f"Grouping rows: {state.step}"


def start_run(jobs: Jobs, project: Project) -> Path:
    """Start a run with the current configuration. Raises a ConfigError if another is in progress."""
    with project.lock:
        check_startable(jobs, project)
        text = configuration.frozen(project)
        number = 1 + max((int(folder.name) for folder in project.runs), default=0)
        private_folder(project.runs_folder, exist_ok=True)
        folder = private_folder(project.runs_folder / f"{number:04d}")
        with whole_file(folder / "coterie.toml", force=False) as sink:
            sink.write(text.encode())
        (folder / FINGERPRINT).write_text(configuration.fingerprint(project))
        jobs.start("run", folder, project)
    return folder


def check_startable(jobs: Jobs, project: Project) -> None:
    """Raise a ConfigError if a run is in progress, or if the file is no longer the inspected one."""
    if active_run(jobs, project) is not None:
        raise ConfigError([Problem("", "a run of this project is in progress; wait for it or cancel it first")])
    check_unchanged(project)


def differences(project: Project) -> dict[str, str]:
    """Return run → the settings that differ from other runs, except k and method, which are always shown."""
    settings = {folder.name: _flat(settings_of_run(folder)) for folder in project.runs}
    names = dict.fromkeys(name for each in settings.values() for name in each)
    differing = [
        name
        for name in names
        if name not in ("k", "method") and len({each.get(name) for each in settings.values()}) > 1
    ]
    return {
        run: ", ".join(f"{name} = {each.get(name, 'not set')}" for name in differing) for run, each in settings.items()
    }


def _flat(values: Mapping[str, Any], before: str = "") -> dict[str, str]:
    """Flatten settings with the names of tables as prefixes; long ones are abbreviated by hash."""
    found: dict[str, str] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{before}{name}.")
            continue
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        short = text if len(text) <= LONGEST else f"{text[:20]}… ({hashlib.sha256(text.encode()).hexdigest()[:6]})"
        found[f"{before}{name}"] = short or "nothing"
    return found


def settings_of_run(folder: Path) -> dict[str, Any]:
    """Return the settings of a run."""
    try:
        return tomllib.loads((folder / "coterie.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def changed_since(project: Project, run: Path) -> bool:
    """Return whether the configuration, or a hierarchy that it names, has changed since a run was started."""
    try:
        return (run / FINGERPRINT).read_text() != configuration.fingerprint(project)
    except OSError:
        return False


def runs_of(jobs: Jobs, project: Project) -> list[RunInfo]:
    """Return every run, the latest first."""
    differing = differences(project)
    return [
        RunInfo(folder.name, folder, jobs.state(folder), read_json(folder / RESULT), differing.get(folder.name, ""))
        for folder in project.runs
    ]


def active_run(jobs: Jobs, project: Project) -> RunInfo | None:
    """Return the run in progress."""
    states = ((folder, jobs.state(folder)) for folder in project.runs)
    return next((RunInfo(folder.name, folder, state) for folder, state in states if state.active), None)


def remove_run(jobs: Jobs, folder: Path) -> None:
    """Stop a run if necessary, and delete its output."""
    jobs.cancel_below(folder)
    shutil.rmtree(folder, ignore_errors=True)
