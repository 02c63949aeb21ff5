"""Compile a method's kernels before its first run, in several processes.

Numba compiles one kernel at a time per process, so helper processes share the work: each is a new interpreter that
receives kernel names and leaves the code in the cache folder. Whatever goes wrong with them, a kernel that was
not compiled here is compiled when it is first called.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from queue import Empty, Queue
from typing import IO

from coterie import kernels

STEP = "compile"
"""the step that progress callbacks are told"""
SWITCH = "COTERIE_COMPILE_PROCESSES"
"""environment variable: helper processes at most; 0 compiles in the process itself"""
MOST = 4
"""helper processes by default: the longest kernel sets the pace of more"""
PATIENCE = 120.0
"""seconds without a kernel compiled after which helpers are given up"""
NOTICE = (
    "coterie compiles its kernels, once after installation; this takes some seconds. "
    'To hide this message: logging.getLogger("coterie").setLevel(logging.ERROR)'
)
# -P and the caller's own path: what lies in the working folder is not imported by accident.
# Two things that take a fifth of a helper's time: looking for rubbish, of which a compiler makes little among many
# objects, and SciPy's linear algebra, which Numba loads to multiply matrices.
_START = """
import gc, json, sys
gc.disable()
sys.modules["scipy.linalg"] = None
sys.path[:] = json.loads(sys.argv[1])
from coterie.kernels.compiling import work
work()
"""
_log = logging.getLogger("coterie.kernels")
_one_at_a_time = threading.Lock()

Tell = Callable[[str, int, int], None]


def is_needed(method: str) -> bool:
    """Return whether some kernels of a method are known not to be compiled yet."""
    return bool(kernels.missing(method))


def compile_ahead(method: str, tell: Tell | None = None, checkpoint: Callable[[], None] = lambda: None) -> None:
    """Compile the kernels of a method unless they already are.

    Args:
        method: Name of a method; others than coterie's own are ignored.
        tell: Called with ("compile", done, total); without it, the log says once that this takes a while.
        checkpoint: Called now and then; raises if the user wants to stop.
    """
    if not is_needed(method):
        return
    if tell is None:
        _log_once()
        tell = _say_nothing
    tell(STEP, 0, len(kernels.missing(method)))
    with _one_at_a_time, _alone(kernels.cache_folder(), checkpoint):
        names = kernels.missing(method)  # less, if another process has compiled meanwhile
        done = _with_helpers(names, tell, checkpoint)
        _here([name for name in names if name not in done], len(names), tell, checkpoint)


def work() -> None:
    """Run as a helper: compile the kernels named on standard input, and acknowledge each on standard output."""
    waiting: Queue[str] = Queue()

    def listen() -> None:
        for line in sys.stdin:
            waiting.put(line.strip())
        os._exit(0)  # whoever asked is gone, or needs no more

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # nothing else may be written between the answers
    threading.Thread(target=listen, daemon=True).start()
    answers.write(f"{kernels.cache_folder()}\n")
    answers.flush()
    while True:
        name = waiting.get()
        kernels.compile_named(name)
        answers.write(f"{name}\n")
        answers.flush()


@cache
def _log_once() -> None:
    _log.warning(NOTICE)


def _say_nothing(step: str, done: int, total: int) -> None:
    pass


def _helpers() -> int:
    """Return the number of helper processes to start; 0 if disabled or impossible."""
    asked = os.environ.get(SWITCH, "")
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    wanted = int(asked) if asked.isdecimal() else min(cores, MOST)
    if wanted < 2:  # one helper alone would only add its own start
        return 0
    # A program that has Python inside is no interpreter: started again, it would be that program again.
    real = Path(sys.executable or "").stem.lower().startswith("python") and not getattr(sys, "frozen", False)
    return wanted if real else 0


def _here(names: Sequence[str], total: int, tell: Tell, checkpoint: Callable[[], None]) -> None:
    """Compile in this process."""
    for done, name in enumerate(names, start=total - len(names) + 1):
        checkpoint()
        kernels.compile_named(name)
        kernels.note_compiled(name)
        tell(STEP, done, total)


def _with_helpers(names: Sequence[str], tell: Tell, checkpoint: Callable[[], None]) -> set[str]:
    """Compile in helper processes as far as that works; return what is done."""
    # Neighbours in the list share parts: helpers begin at opposite ends, so that few parts are compiled twice.
    todo, answers = deque(names), Queue[str | None]()
    helpers: list[subprocess.Popen[str]] = []
    threads: list[threading.Thread] = []
    try:
        with suppress(OSError):  # no more processes can be started
            for number in range(min(_helpers(), len(names))):
                helpers.append(_start_helper())
                take = todo.popleft if number % 2 == 0 else todo.pop
                threads.append(threading.Thread(target=_converse, args=(helpers[-1], take, answers), daemon=True))
                threads[-1].start()
        return _collect(answers, len(helpers), len(names), tell, checkpoint)
    finally:
        for helper in helpers:
            helper.kill()
            helper.wait()
        for thread in threads:
            thread.join()
        for helper in helpers:
            _close(helper)


def _collect(
    answers: Queue[str | None], running: int, total: int, tell: Tell, checkpoint: Callable[[], None]
) -> set[str]:
    """Return the kernels compiled by running helpers, once all have ended or none has answered for long."""
    done: set[str] = set()
    heard = time.monotonic()
    while running and time.monotonic() - heard < PATIENCE:
        checkpoint()
        with suppress(Empty):
            answer = answers.get(timeout=0.2)
            heard = time.monotonic()
            if answer is None:
                running -= 1
                continue
            done.add(answer)
            kernels.note_compiled(answer)
            tell(STEP, len(done), total)
    return done


def _start_helper() -> subprocess.Popen[str]:
    env = os.environ | {"NUMBA_CACHE_DIR": str(kernels.cache_folder().parent)}
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _START, json.dumps(sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=env,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),  # Windows: no window of its own
    )


def _converse(helper: subprocess.Popen[str], take: Callable[[], str], answers: Queue[str | None]) -> None:
    """Send a helper one name after another and pass its answers on; None when there is nothing more to wait for."""
    asked, told = _pipes(helper)
    try:
        # One that keeps its code elsewhere, for whatever reason, is of no use.
        useful = told.readline().rstrip("\n") == str(kernels.cache_folder())
        while useful:
            name = take()
            asked.write(f"{name}\n")
            asked.flush()
            useful = told.readline().strip() == name
            if useful:
                answers.put(name)
    except (IndexError, OSError, ValueError):  # nothing left to do, or the helper is gone
        pass
    answers.put(None)


def _pipes(helper: subprocess.Popen[str]) -> tuple[IO[str], IO[str]]:
    assert helper.stdin is not None
    assert helper.stdout is not None
    return helper.stdin, helper.stdout


def _close(helper: subprocess.Popen[str]) -> None:
    for pipe in _pipes(helper):
        with suppress(OSError, ValueError):
            pipe.close()


@contextmanager
def _alone(folder: Path, checkpoint: Callable[[], None]) -> Iterator[None]:
    """Let one process per machine compile while others wait; the lock ends with its process."""
    if os.name == "nt":  # no such locks: several compile the same, and one result is kept
        yield
        return
    with ExitStack() as held:
        with suppress(OSError):
            file = held.enter_context((folder / "compiling").open("wb"))
            while not _locked(file):
                checkpoint()
                time.sleep(0.1)
        yield


def _locked(file: IO[bytes]) -> bool:
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
