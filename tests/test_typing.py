"""Type checkers take right calls and refuse wrong ones: a misspelt setting, a value of another type."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from coterie.releases.release import Release

CALLS = Path(__file__).parent / "helpers" / "typed_calls.py"
LINES = list(enumerate(CALLS.read_text(encoding="utf-8").splitlines(), 1))
WRONG = {at for at, line in LINES if line.endswith("# wrong")}
WRONG_FOR_PYRIGHT = {at for at, line in LINES if line.endswith("# wrong for pyright")}


def refused(*words: str | Path) -> set[int]:
    """The lines at which a checker finds an error."""
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, cwd=CALLS.parents[2])
    found = re.findall(r"typed_calls\.py:(\d+)(?::\d+)?[:-].*error", done.stdout)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return set(map(int, found))


def test_the_file_has_wrong_calls():
    assert len(WRONG) > 15
    assert len(WRONG_FOR_PYRIGHT) > 1


def test_mypy_refuses_the_wrong_calls_only(tmp_path):
    assert refused(sys.executable, "-m", "mypy", "--cache-dir", CALLS.parents[2] / ".mypy_cache", CALLS) == WRONG


def test_pyright_refuses_the_wrong_calls_only():
    pyright = shutil.which("pyright", path=str(Path(sys.executable).parent)) or shutil.which("pyright")
    if pyright is None:
        pytest.skip("pyright is not installed: pip install pyright")
    tried = subprocess.run([pyright, "--version"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip("pyright cannot be started: it loads itself from npm, which is not to be had here")
    python = ["--pythonpath", sys.executable]
    assert refused(pyright, *python, "--level", "error", CALLS) == WRONG | WRONG_FOR_PYRIGHT


def test_a_release_takes_its_kind_of_frame_at_run_time():
    assert repr(Release[str]) == "coterie.releases.release.Release[str]"
