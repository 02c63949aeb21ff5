"""The quick run: every script on few rows, and whether the effects of the committed run are still there."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from types import ModuleType
from typing import NamedTuple

from benchmarks.papers.effects import Effect
from benchmarks.papers.trials import RESULTS, Notebook, read

NAMES = ("li2006", "xu2006", "xu2006_made", "xu2006_seeds", "xu2006_queries", "ni2017", "he2012")
LONG = ("xu2006_queries", "xu2006")
"""those that take the most time in the quick run"""


def script(name: str) -> ModuleType:
    """The script of a paper."""
    return import_module(f"benchmarks.papers.{name}")


class Look(NamedTuple):
    """What the quick run of one script found."""

    lines: list[str]
    passed: int
    failed: int


def quick(names: Sequence[str], started: float, *, jobs: int = 1) -> int:
    """Run everything on few rows; the last line is in the form of pytest's, for whoever adds up."""
    found = []
    for each in _looks(names, jobs):
        print("\n".join(each.lines), flush=True)
        found.append(each)
    passed, failed = sum(each.passed for each in found), sum(each.failed for each in found)
    print(f"{passed} passed, {failed} failed in {time.perf_counter() - started:.1f}s")
    return 1 if failed or not passed else 0


def _looks(names: Sequence[str], jobs: int) -> Iterator[Look]:
    """Each script's run in the order of their names, several at a time in processes of their own."""
    if min(jobs, len(names)) <= 1:
        yield from map(_look, names)
        return
    # A process that has threads must not be forked.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        # The longest first, so that it does not run alone in the end.
        begun = {name: pool.submit(_look, name) for name in sorted(names, key=lambda name: name not in LONG)}
        yield from (begun[name].result() for name in names)


def _look(name: str) -> Look:
    """Run one script on few rows, and compare its effects with those of the committed run."""
    notebook = Notebook(name, quick=True, fresh=True)
    before = time.process_time()
    notebook.run(script(name).trials(True))
    held = effects_that_held(name)
    lines = [f"{name}: {len(notebook.points)} points, {time.process_time() - before:.0f} CPU seconds"]
    asked = [each for each in script(name).effects(notebook.points) if each.quick and each.key in held]
    mark = {True: "ok    ", False: "MISSED"}
    lines += [f"  {mark[bool(each.holds)]} {each.key}: {each.says}: {each.found}" for each in asked]
    passed = sum(bool(each.holds) for each in asked)
    return Look(lines, passed, len(asked) - passed)


def effects_that_held(name: str) -> set[str]:
    """What came out as the paper says in the committed run."""
    full = read(RESULTS / f"{name}.json")
    found: list[Effect] = script(name).effects(full["points"]) if full else []
    return {effect.key for effect in found if effect.holds}
