"""Run tests on a planted fault, in forked processes: see mutants.py."""

from __future__ import annotations

import hashlib
import importlib.abc
import importlib.util
import io
import json
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LIBRARIES = ("numpy", "pyarrow", "pyarrow.parquet", "pyarrow.compute", "pandas", "polars", "duckdb", "numba",
             "hypothesis", "pytest", "pydantic", "typer")  # fmt: skip
# They look at what is imported and called, or compile kernels: slow to trace, and not meant to notice a fault.
LEFT_OUT = (
    "tests/verification/test_independence.py",
    "tests/verification/test_models.py::test_anonymize_keeps_what_it_was_asked_for",
    "tests/privacy/test_docs.py",
)
OPTIONS = (
    *(f"--deselect={each}" for each in LEFT_OUT),
    *("-q", "-x", "-m", "not slow", "--no-header", "--tb=no", "-p", "no:cacheprovider", f"--rootdir={ROOT}"),
    *("-c", str(ROOT / "pyproject.toml"), "-W", "ignore::pytest.PytestAssertRewriteWarning"),
)
KNOWN = ROOT / ".venv" / "mutants"
"""where it is kept which lines tests reach"""
_fork = threading.Lock()


class Trial(NamedTuple):
    """A module and its replacement source."""

    module: str
    source: str


class Reached(NamedTuple):
    """A test, the lines that it reaches, and its duration."""

    name: str
    lines: Mapping[str, frozenset[int]]
    """file → lines; those that run on import are reached by all"""
    seconds: float

    def reaches(self, path: Path, lines: range) -> bool:
        """Return whether it runs any of these lines of a file."""
        return not self.lines.get(str(path), frozenset()).isdisjoint(lines)


class _Planted(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module from another source."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.looking = False

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name != self.trial.module or self.looking:
            return None
        self.looking = True
        real = importlib.util.find_spec(name)
        self.looking = False
        assert real is not None
        spec = importlib.util.spec_from_loader(
            name, self, origin=real.origin, is_package=real.submodule_search_locations is not None
        )
        assert spec is not None
        self.file, spec.has_location = real.origin, True
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.trial.source, str(self.file), "exec"), module.__dict__)


class _Tracer:
    """A pytest plugin that records which lines of some files each test runs."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self.paths = {str(path) for path in paths}
        self.on_import: set[tuple[str, int]] = set()
        self.now = self.on_import
        self.tests: list[tuple[str, set[tuple[str, int]], float]] = []
        self.failed: list[str] = []

    def trace(self, frame: FrameType, event: str, _: Any) -> Any:  # noqa: ANN401 - what sys.settrace has
        code: CodeType = frame.f_code
        if code.co_filename not in self.paths:
            return None
        return self.line(frame, event, _)

    def line(self, frame: FrameType, event: str, _: Any) -> Any:  # noqa: ANN401 - what sys.settrace has
        self.now.add((frame.f_code.co_filename, frame.f_lineno))
        return self.line

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.now, self.started = set(), time.process_time()

    def pytest_runtest_logreport(self, report: Any) -> None:  # noqa: ANN401 - pytest's own
        if report.failed:
            self.failed.append(report.nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.tests.append((nodeid, self.now, time.process_time() - self.started))
        self.now = self.on_import


def load_libraries() -> None:
    """Load slow libraries once, so that forked processes have them."""
    for name in LIBRARIES:
        try:
            importlib.import_module(name)
        except ImportError:
            continue


class BrokenTestsError(Exception):
    """Tests fail without any fault."""


def covered(paths: Sequence[Path], tests: Sequence[str], *, seconds: float) -> list[Reached] | None:
    """Return which lines of some files each test reaches; None if that takes longer. Cached until a file changes.

    Raises:
        BrokenTestsError: Some fail.
    """
    load_libraries()
    answer = KNOWN / f"{_state([*map(str, paths), *tests])}.json"
    if not answer.exists():
        KNOWN.mkdir(parents=True, exist_ok=True)
        _ended(_forked(lambda: _trace(paths, tests, answer)), seconds)
    if not answer.exists():
        return None
    found = json.loads(answer.read_text())
    if found["failed"]:
        raise BrokenTestsError(f"Tests fail without any fault: {', '.join(found['failed'][:3])}")
    reached = []
    for name, lines, each in found["tests"]:
        by_file: dict[str, set[int]] = {}
        for file, line in (*found["on_import"], *lines):
            by_file.setdefault(file, set()).add(line)
        reached.append(Reached(name, {file: frozenset(held) for file, held in by_file.items()}, each))
    return reached


def _state(asked: Sequence[str]) -> str:
    """Return a fingerprint of everything that determines which lines tests reach."""
    digest = hashlib.sha256("\n".join(asked).encode())
    for folder in ("src/coterie", "tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:32]


def _trace(paths: Sequence[Path], tests: Sequence[str], answer: Path) -> int:
    import pytest

    tracer = _Tracer(paths)
    threading.settrace(tracer.trace)
    sys.settrace(tracer.trace)
    pytest.main([*OPTIONS, *tests], plugins=[tracer])
    sys.settrace(None)
    found = [(name, sorted(lines), seconds) for name, lines, seconds in tracer.tests]
    answer.write_text(json.dumps({"on_import": sorted(tracer.on_import), "tests": found, "failed": tracer.failed}))
    return 0


def outcome(trial: Trial, tests: Sequence[str], limit: float) -> str:
    """Return whether the planted fault is noticed or unnoticed by the tests, or they are out of time."""

    def run() -> int:
        import pytest

        sys.meta_path.insert(0, _Planted(trial))
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            return int(pytest.main([*OPTIONS, *tests]))

    with _fork:
        child = _forked(run)
    code = _ended(child, limit)
    return "out of time" if code is None else "noticed" if code else "unnoticed"


def _ended(child: int, limit: float) -> int | None:
    """Return the exit code of a process; None if it took too long and was ended."""
    handle = os.pidfd_open(child)
    try:
        ready, _, _ = select.select([handle], [], [], limit)
        if not ready:
            os.killpg(child, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return code if ready else None
    finally:
        os.close(handle)


def _forked(work: Any) -> int:  # noqa: ANN401 - a function
    """Run something in a forked process; return its id."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        os.setsid()
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        os.chdir(ROOT)
        code = work()
    finally:
        os._exit(code)
