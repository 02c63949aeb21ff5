"""Other programs as judges, each in a Python of its own; where there is none, these tests are skipped and say why."""

import json
import os
import subprocess
from pathlib import Path

import pytest

PYTHON = "COTERIE_PEERS_PYTHON"


class Pycanon:
    """A process that answers for pycanon."""

    def __init__(self, python):
        script = Path(__file__).with_name("pycanon_answers.py")
        self._process = subprocess.Popen(
            [python, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def __call__(self, frame, quasi, sensitive=(), checks=("k",)):
        """Name of a check → what pycanon finds in a pandas frame; missing cells arrive there as None."""
        columns = {name: frame[name].astype(object).where(frame[name].notna(), None).tolist() for name in frame}
        asked = {"columns": columns, "quasi": list(quasi), "sensitive": list(sensitive), "checks": list(checks)}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self):
        """End the process, and make sure that it did not break on the way."""
        with self._process as process:
            process.stdin.close()
            assert process.wait(timeout=60) == 0


@pytest.fixture(scope="session")
def pycanon():
    """pycanon, by the interpreter that `make test-peers` has installed it for."""
    python = os.environ.get(PYTHON)
    if not python:
        pytest.skip("pycanon lives in an environment of its own: make test-peers runs these")
    peer = Pycanon(python)
    yield peer
    peer.close()
