"""Long work in separate processes, which survive a closed tab and can be stopped.

A job is a folder with a `state.json`. The worker writes it and pages read it; nothing else is shared. A worker ends
with the server: it listens to a pipe that only the server holds.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from coterie.web.project import Project, private_folder, read_json, write_json
from coterie.web.settings import Settings

if TYPE_CHECKING:
    from starlette.requests import Request

WAITING = ("queued", "running")
PATIENCE = 2.0
"""seconds between asking a worker to end and killing it"""
KEPT = ("coterie.toml", "state.json")
"""what remains of a run that was cancelled or failed"""


class JobState(NamedTuple):
    """The state of a job. Its text never contains data values."""

    state: str
    """none, queued, running, finished, failed or cancelled"""
    step: str = ""
    done: int = 0
    total: int = 0
    message: str = ""
    started: float = 0.0
    """seconds since 1970"""
    step_started: float = 0.0
    seconds: float = 0.0
    """how long it took, once it is over"""

    @property
    def active(self) -> bool:
        """Whether it may still change."""
        return self.state in WAITING

    @property
    def elapsed(self) -> float:
        """Elapsed seconds."""
        return max(time.time() - self.started, 0.0) if self.active else self.seconds

    @property
    def left(self) -> float | None:
        """The estimated remaining seconds of the current step, if it reports progress."""
        if not self.active or not self.total or not 0 < self.done < self.total:
            return None
        return (time.time() - self.step_started) / self.done * (self.total - self.done)


def state_of(folder: Path) -> JobState:
    """Return the state that a job has written."""
    values = read_json(folder / "state.json")
    if "state" not in values:
        return JobState("none")
    return JobState(**{name: values[name] for name in JobState._fields if name in values})


def end_left_over(folder: Path) -> None:
    """Mark all jobs below a folder as ended: the server that started them is gone."""
    for path in folder.rglob("state.json"):
        found = state_of(path.parent)
        if found.active:
            text = "coterie was stopped while this was running; nothing was saved. Start it again."
            _end(path.parent, found._replace(state="cancelled", message=text))


def _end(folder: Path, state: JobState) -> JobState:
    """Write the final state of a job without a result, and remove its output."""
    write_json(folder / "state.json", state._asdict())
    clear(folder)
    return state


class Jobs:
    """The workers of a server."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._running: dict[Path, subprocess.Popen[bytes]] = {}
        self._lock = threading.Lock()

    def start(self, kind: str, folder: Path, project: Project, **more: Any) -> None:  # noqa: ANN401 - what JSON holds
        """Start a worker of one of `worker.KINDS` on the folder of its output, replacing one that is still running."""
        self.cancel(folder)
        private_folder(folder, exist_ok=True)
        write_json(folder / "state.json", JobState("queued", started=time.time())._asdict())
        job = {
            "kind": kind,
            "project": project.folder,
            "source": project.source,
            "sha256": read_json(project.folder / "input.json").get("sha256", ""),
            "name": project.name,
            "configuration": project.config_path,
            "unpacked_limit": self.settings.unpacked_limit,
            "column_limit": self.settings.column_limit,
        }
        write_json(folder / "job.json", {**job, **more})
        with self._lock:
            # -P: a file called numpy.py in the user's folder must not shadow the library.
            self._running[folder] = subprocess.Popen(
                [sys.executable, "-P", "-m", "coterie.web.worker", str(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=project.folder,
                start_new_session=True,
            )

    def state(self, folder: Path) -> JobState:
        """Return the state of a job; one whose process ended silently has failed."""
        found = state_of(folder)
        with self._lock:
            process = self._running.get(folder)
        if process is None or process.poll() is None:
            return found
        found = state_of(folder)  # it may have finished between the two checks
        with self._lock:
            self._running.pop(folder, None)
        _close(process)
        if found.active:
            text = "The job ended unexpectedly; perhaps it ran out of memory. Use fewer rows or columns."
            found = _end(folder, found._replace(state="failed", message=text, seconds=found.elapsed))
        return found

    def cancel(self, folder: Path) -> None:
        """Stop a job, if it is running, and remove its partial output."""
        with self._lock:
            process = self._running.pop(folder, None)
        if process is None:
            return
        found = state_of(folder)
        stop(process)
        if state_of(folder).active:
            text = "Cancelled; nothing was saved."
            _end(folder, found._replace(state="cancelled", message=text, seconds=found.elapsed))

    def cancel_below(self, folder: Path) -> None:
        """Stop all jobs of a project or a run."""
        for each in [each for each in self._running if each.is_relative_to(folder)]:
            self.cancel(each)

    def stop_all(self) -> None:
        """Stop every job when the server ends."""
        self.cancel_below(self.settings.work_folder)


def jobs_of(request: Request) -> Jobs:
    """Return the jobs of the request's server."""
    jobs = request.app.state.jobs
    assert isinstance(jobs, Jobs)
    return jobs


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a worker and all its child processes."""
    for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        try:
            if hasattr(os, "killpg"):
                os.killpg(process.pid, number)
            else:
                process.terminate()
        except (ProcessLookupError, PermissionError):
            pass
        try:
            process.wait(PATIENCE)
            break
        except subprocess.TimeoutExpired:
            continue
    _close(process)


def _close(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()


def clear(folder: Path) -> None:
    """Remove the output of a job, except for a few files."""
    for each in folder.iterdir():
        if each.name in KEPT:
            continue
        if each.is_dir() and not each.is_symlink():
            shutil.rmtree(each, ignore_errors=True)
        else:
            each.unlink(missing_ok=True)
