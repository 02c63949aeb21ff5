"""What tests of the page share."""

from __future__ import annotations

import time
from pathlib import Path

from starlette.applications import Starlette

PORT = 8765
ORIGIN = f"http://127.0.0.1:{PORT}"


def wait(app: Starlette, folder: Path, *, seconds: float = 240) -> str:
    """The state of a job once it is over."""
    end = time.monotonic() + seconds
    while app.state.jobs.state(folder).active:
        assert time.monotonic() < end, "the job takes too long"
        time.sleep(0.05)
    return str(app.state.jobs.state(folder).state)
