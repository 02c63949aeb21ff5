"""The first run: kernels are compiled ahead, by helper processes, and whoever waits is told."""

import importlib
import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import numba
import pyarrow as pa
import pytest

import coterie
from coterie import kernels
from coterie.errors import Cancelled
from coterie.kernels import compiling
from coterie.kernels.signatures import METHODS, SIGNATURES
from coterie.methods import Run, all_methods

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")

# Little to compile, so that these tests do not take long.
SMALL = ("methods.kaca.label_rows", "distinct._distinct_rows", "search.nearby._too_short")


@pytest.fixture
def first_run(monkeypatch):
    """No method is compiled yet, as far as anybody knows; the kernels of one are few."""
    noted = []
    monkeypatch.setattr(
        kernels,
        "missing",
        lambda method: tuple(name for name in SMALL if name not in noted) if method in METHODS else (),
    )
    monkeypatch.setattr(kernels, "note_compiled", noted.append)
    compiling._log_once.cache_clear()
    monkeypatch.setattr(logging.getLogger("coterie.kernels"), "level", logging.NOTSET)  # commands speak themselves
    logging.getLogger("coterie").manager._clear_cache()
    yield noted
    compiling._log_once.cache_clear()


def test_every_method_has_its_kernels():
    assert list(METHODS) == list(all_methods())
    assert {name for names in METHODS.values() for name in names} == set(SIGNATURES)


@pytest.mark.parametrize("processes", ["0", "2"])
def test_kernels_are_compiled_for_the_types_that_they_are_called_with(first_run, monkeypatch, processes):
    monkeypatch.setenv(compiling.SWITCH, processes)
    told = []
    compiling.compile_ahead("kaca", lambda *step: told.append(step))
    assert told == [("compile", done, len(SMALL)) for done in range(len(SMALL) + 1)]
    assert sorted(first_run) == sorted(SMALL)
    compiling.compile_ahead("kaca", lambda *step: told.append(step))
    assert len(told) == len(SMALL) + 1, "the second time there is nothing to do"


def test_helpers_leave_their_code_where_others_find_it(tmp_path):
    code = """
import sys
from coterie import kernels
from coterie.kernels import compiling
from coterie.kernels import signatures
signatures.METHODS["kaca"] = ("methods.kaca.label_rows", "search.nearby._too_short")
assert kernels.missing("kaca") == signatures.METHODS["kaca"]
compile_named, kernels.compile_named = kernels.compile_named, None  # all is done by helpers, or this fails
compiling.compile_ahead("kaca", lambda *step: None)
assert not compiling.is_needed("kaca")
from coterie.kernels.search.nearby import _too_short
compile_named("search.nearby._too_short")
assert sum(_too_short.stats.cache_hits.values()) == 1, _too_short.stats
"""
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), compiling.SWITCH: "2"}
    subprocess.run([sys.executable, "-c", code], env=env, check=True)


@pytest.mark.parametrize("executable", ["", "/opt/app/frozen-app"])
def test_a_program_that_is_no_interpreter_is_not_started_again(first_run, monkeypatch, executable):
    monkeypatch.setattr(sys, "executable", executable)
    monkeypatch.setattr(subprocess, "Popen", None)
    compiling.compile_ahead("kaca", lambda *step: None)
    assert sorted(first_run) == sorted(SMALL)


def test_helpers_that_die_are_done_without(first_run, monkeypatch):
    monkeypatch.setenv(compiling.SWITCH, "2")
    monkeypatch.setattr(compiling, "_START", "raise SystemExit(3)")
    told = []
    compiling.compile_ahead("kaca", lambda *step: told.append(step))
    assert told[-1] == ("compile", len(SMALL), len(SMALL))


def test_helpers_that_hang_are_given_up(first_run, monkeypatch):
    monkeypatch.setenv(compiling.SWITCH, "2")
    monkeypatch.setattr(compiling, "_START", "import time; time.sleep(1000)")
    monkeypatch.setattr(compiling, "PATIENCE", 0.3)
    compiling.compile_ahead("kaca", lambda *step: None)
    assert sorted(first_run) == sorted(SMALL)


def test_compiling_can_be_stopped(first_run, monkeypatch):
    monkeypatch.setenv(compiling.SWITCH, "2")
    monkeypatch.setattr(compiling, "_START", "import time; time.sleep(1000)")
    with pytest.raises(Cancelled):
        compiling.compile_ahead("kaca", lambda *step: None, Run(cancelled=lambda: True).checkpoint)
    assert first_run == []


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks at processes")
def test_a_killed_parent_leaves_no_helper(tmp_path):
    code = "from coterie.kernels import compiling; h = compiling._start_helper(); print(h.pid, flush=True); h.wait()"
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=env)
    helper = Path("/proc") / parent.stdout.readline().strip()
    assert helper.is_dir()
    parent.kill()
    parent.communicate()
    until = time.monotonic() + 60
    while helper.is_dir() and "Z" not in (helper / "stat").read_text().split()[2] and time.monotonic() < until:
        time.sleep(0.1)
    assert not helper.is_dir() or "Z" in (helper / "stat").read_text().split()[2]


TABLE = pa.table({"age": [20, 21, 40, 41], "job": ["a", "a", "b", "c"]})


def test_python_is_told_once_by_the_log(first_run, caplog):
    for _ in range(2):
        coterie.anonymize(TABLE, quasi=["age", "job"], k=2, method="mondrian")
    (record,) = [each for each in caplog.records if each.name.startswith("coterie")]
    assert "once after installation" in record.getMessage()
    assert record.levelno == logging.WARNING, "shown without any handler"


def test_the_log_can_be_turned_off(first_run, capfd):
    logger = logging.getLogger("coterie")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        coterie.anonymize(TABLE, quasi=["age", "job"], k=2, method="mondrian")
    finally:
        logger.setLevel(before)
    assert capfd.readouterr() == ("", "")


def test_a_progress_callback_is_told_instead(first_run, caplog):
    told = []
    coterie.anonymize(
        TABLE, quasi=["age", "job"], k=2, method="mondrian", progress=lambda step, done, total: told.append(step)
    )
    assert "compile" in told
    assert [each for each in caplog.records if each.name.startswith("coterie")] == []


def test_parts_are_not_called_from_python():
    from coterie.kernels.sorting import sort_pairs

    importlib.import_module("coterie.kernels.improve.ruin")
    with pytest.raises(TypeError, match="part of kernels"):
        sort_pairs(1, 2, 3)
