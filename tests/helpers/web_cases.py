"""What tests of the page share."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.testclient import TestClient

PORT = 8765
ORIGIN = f"http://127.0.0.1:{PORT}"


def send(client: TestClient, address: str, **fields: object) -> Any:
    """What somebody sees after a form: where there are faults, the page that the answer leads to."""
    answer = client.post(address, **fields)
    assert answer.status_code == 303, answer.status_code
    return client.get(answer.headers["location"])


def wait(app: Starlette, folder: Path, *, seconds: float = 240) -> str:
    """The state of a job once it is over."""
    end = time.monotonic() + seconds
    while app.state.jobs.state(folder).active:
        assert time.monotonic() < end, "the job takes too long"
        time.sleep(0.05)
    return str(app.state.jobs.state(folder).state)
