"""The process that does long work: `python -m coterie.web.worker FOLDER`. See jobs.py for its interface."""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
import warnings
from importlib import import_module
from pathlib import Path

from coterie.errors import CoterieError
from coterie.web.jobs import clear, state_of
from coterie.web.project import read_json, write_json

KINDS = {
    "inspect": "data.inspect_table.inspect_job",
    "risk": "roles.column_risk.risk_job",
    "run": "run.job.run_job",
    "late": "run.job.late_job",
    "curve": "results.jobs.curve_job",
    "explain": "results.jobs.explain_job",
    "map": "results.jobs.map_job",
}
"""kind of job → the function of coterie.web that does it: (job, folder, tell) → None"""
WRITE_EVERY = 0.2
"""seconds between two progress notes"""


class ProgressFile:
    """Writes the progress of the work to `state.json`, now and then."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = state_of(folder)._replace(state="running")
        self._lock = threading.Lock()
        self._written = 0.0
        self._write()

    def __call__(self, step: str, done: int, total: int) -> None:
        """Report that `done` of `total` units of the step are finished; methods may call this from several threads."""
        with self._lock:
            fresh = step.partition(": ")[0] != self.state.step.partition(": ")[0]
            started = time.time() if fresh else self.state.step_started
            self.state = self.state._replace(step=step, done=int(done), total=int(total), step_started=started)
            if fresh or time.monotonic() - self._written > WRITE_EVERY:
                self._write()

    def end(self, state: str, message: str = "") -> None:
        """Write the final state."""
        with self._lock:
            took = time.time() - self.state.started
            self.state = self.state._replace(state=state, message=message, seconds=took)
            self._write()

    def _write(self) -> None:
        self._written = time.monotonic()
        write_json(self.folder / "state.json", self.state._asdict())


def main(arguments: list[str]) -> int:
    """Do the job described in a folder."""
    folder = Path(arguments[0])
    job = read_json(folder / "job.json")
    _end_with_the_server()
    if hasattr(os, "nice"):
        os.nice(5)  # pages come first
    tell = ProgressFile(folder)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module, _, function = KINDS[job["kind"]].rpartition(".")
            getattr(import_module(f"coterie.web.{module}"), function)(job, folder, tell)
    except CoterieError as error:
        # People know an upload by their own name for it.
        return _failed(folder, tell, str(error).replace(str(job["source"]), str(job["name"])))
    except MemoryError:
        return _failed(folder, tell, "Not enough memory for this table. Close other programs or use fewer rows.")
    except OSError as error:
        return _failed(folder, tell, f"A file cannot be used: {(error.strerror or 'input or output error').lower()}.")
    except Exception as error:
        # Messages of other libraries' exceptions may quote cells, so only their type and place are shown.
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{type(error).__name__} in {Path(place.filename).name}:{place.lineno}"
        return _failed(folder, tell, f"Unexpected {where}; this is a bug in coterie.")
    tell.end("finished")
    return 0


def _failed(folder: Path, tell: ProgressFile, text: str) -> int:
    clear(folder)
    tell.end("failed", " ".join(text.split()))
    return 1


def _end_with_the_server() -> None:
    """End with the server: standard input is a pipe that only the server holds."""

    def listen() -> None:
        while os.read(0, 1):
            pass
        os._exit(1)

    threading.Thread(target=listen, daemon=True).start()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
