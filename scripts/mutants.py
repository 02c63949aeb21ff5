"""Mutation testing: plant small faults one at a time; a test that reaches the place must fail.

    python scripts/mutants.py                     a sample of the faults of every file of TARGETS
    python scripts/mutants.py verification/rows   of some files
    python scripts/mutants.py --all               every fault: hours
    python scripts/mutants.py --changed           only lines that differ from an earlier commit; reports, never fails

First all tests of a file run once to record the lines that each of them reaches. Then every fault is tried in
its own process, forked from one that has loaded the large libraries, by the tests that reach its line, the
fastest first; the first failure ends it. The file itself is never written: the process gets another source.
Samples are drawn by a hash of the fault's name: the same faults on every machine, today and tomorrow.

A surviving fault is a hole in the tests, or has no visible effect. The latter are listed with the reason
in tests/mutants.toml; any other survivor, and any reason for a fault that is gone or caught, exits with code 1.
With --changed the earlier commit is MUTANTS_BASE, else where the branch left origin/main, else the last tag, else
the parent; there survivors are only told, since the time for it is limited.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from mutants_faults import SOURCE, Mutant, mutants_of
from mutants_run import BrokenTestsError, Reached, Trial, covered, outcome

ROOT = Path(__file__).resolve().parent.parent
REASONS = ROOT / "tests" / "mutants.toml"
SLOWEST = 40.0
"""seconds that a fault may take beyond what its tests take without it: endless loops are noticed, too"""
TRACING = 0.6
"""share of the time that is left in which lines are recorded"""
QUICK = 10.0
"""CPU seconds of a test, while lines are recorded: slower ones are left out, and a quick one has to notice"""


class Target(NamedTuple):
    """The tests of some files, and how many faults are tried in each of them."""

    tests: tuple[str, ...]
    sample: int = 5


# What is worth it: whether a promise holds, what is published, and files that appear whole or not at all.
TARGETS = {
    "verification/*.py": Target(("tests/verification",)),
    "privacy/*.py": Target(("tests/privacy", "tests/grouping/repair", "tests/grouping/test_population.py")),
    "publishing/*.py": Target(("tests/publishing", "tests/property/test_publish_properties.py")),
    "values/notation.py": Target(
        ("tests/values/test_notation.py", "tests/publishing", "tests/verification/test_verify.py"), 10
    ),
    "files/[do][oeu]*.py": Target(
        ("tests/files/test_door.py", "tests/files/test_destinations.py", "tests/files/test_output.py"), 10
    ),
    "files/frames.py": Target(
        ("tests/files/test_frames.py", "tests/files/test_door.py", "tests/files/test_beneath_nulls.py"), 10
    ),
}
WHOLE = {
    "verification/rows.py": ("count_rows",),
}
"""functions whose every fault is tried: a hole in them was found once"""


def tests_of(file: str) -> tuple[str, Target]:
    """Return the pattern of the files that share these tests, and the tests."""
    return next((pattern, target) for pattern, target in TARGETS.items() if fnmatch(file, pattern))


def sampled(mutants: Sequence[Mutant], many: int) -> list[Mutant]:
    """Return a sample of a file's faults, in line order, with all faults of functions of which all are wanted."""
    chosen = {each.name for each in sorted(mutants, key=lambda each: each.rank)[:many]}
    return [each for each in mutants if each.name in chosen or each.function in WHOLE.get(each.file, ())]


class Base(NamedTuple):
    """An earlier commit."""

    commit: str
    what: str


def earlier_commit() -> Base | None:
    """Return the commit that changes are compared with; None where there is no history."""
    head = _git("rev-parse", "HEAD")
    ways = {
        "MUTANTS_BASE": lambda: _git("rev-parse", "--verify", f"{os.environ['MUTANTS_BASE']}^{{commit}}"),
        "the place where the branch left origin/main": lambda: _git("merge-base", "HEAD", "origin/main"),
        "the last tag": lambda: _git("rev-list", "-n", "1", _git("describe", "--tags", "--abbrev=0") or "-"),
        "the parent commit": lambda: _git("rev-parse", "--verify", "HEAD^"),
    }
    asked = os.environ.get("MUTANTS_BASE")
    for what, find in ways.items():
        if (what == "MUTANTS_BASE") == bool(asked) and (found := find()) and (found != head or asked):
            return Base(found, what)
    return None


def _git(*words: str) -> str:
    """Return what git says; "" if it fails or is not there."""
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def changed_lines(base: str) -> dict[str, set[int]]:
    """Return file below src/coterie → its lines that differ from a commit."""
    found: dict[str, set[int]] = {}
    file = ""
    for line in _git("diff", "--unified=0", "--no-color", "--no-ext-diff", base, "--", "src/coterie").splitlines():
        if line.startswith("+++ "):
            file = line[4:].removeprefix("b/src/coterie/")
        elif line.startswith("@@"):
            start, _, many = line.split(" ")[2].removeprefix("+").partition(",")
            found.setdefault(file, set()).update(range(int(start), int(start) + int(many or 1)))
    return found


class Tried(NamedTuple):
    """A fault, and what came of it: noticed, unnoticed, out of time, or not tried."""

    mutant: Mutant
    outcome: str


def try_all(mutants: Sequence[Mutant], *, jobs: int, until: float, tests: Sequence[str] = ()) -> Iterator[Tried]:
    """Plant faults, one after another.

    Raises:
        BrokenTestsError: Tests fail without any fault.
    """

    def trial(mutant: Mutant, every: Sequence[Reached] | None, end: float) -> Tried:
        if (left := end - time.monotonic()) <= 0 or every is None:
            return Tried(mutant, "not tried")
        quick = [test for test in every if test.seconds <= QUICK]
        reached = [test for test in quick if test.reaches(SOURCE / mutant.file, mutant.lines)]
        if not reached:
            return Tried(mutant, "unnoticed")
        limit = min(SLOWEST + 5 * sum(test.seconds for test in reached), left)
        names = [test.name for test in sorted(reached, key=lambda test: test.seconds)]
        found = outcome(Trial(mutant.module, mutant.source), names, limit)
        return Tried(mutant, "not tried" if found == "out of time" and time.monotonic() >= end else found)

    targets = [(pattern, list(some)) for pattern, some in groupby(mutants, key=lambda each: tests_of(each.file)[0])]
    with ThreadPoolExecutor(jobs) as pool:
        for at, (pattern, some) in enumerate(targets):
            seconds = max(until - time.monotonic(), 0.0) * TRACING
            every = covered(sorted(SOURCE.glob(pattern)), tests or TARGETS[pattern].tests, seconds=seconds)
            # The time is shared among the targets that are left.
            end = time.monotonic() + max(until - time.monotonic(), 0.0) / (len(targets) - at)
            yield from pool.map(lambda mutant, every=every, end=end: trial(mutant, every, end), some)


def main(arguments: Sequence[str] | None = None) -> int:
    """Try faults; return 0 if every survivor has a reason."""
    parser = argparse.ArgumentParser(description="Plant small faults and see whether tests notice.")
    parser.add_argument("files", nargs="*", help="such as verification/rows; all when left out")
    parser.add_argument("--changed", action="store_true", help="only lines that differ from an earlier commit")
    parser.add_argument("--all", action="store_true", help="every fault instead of a sample")
    parser.add_argument("--named", default="", help="only faults whose name contains this")
    parser.add_argument("--tests", nargs="*", default=[], help="these tests instead of those of TARGETS")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=24 * 60.0, help="stop then, and say what was left out")
    options = parser.parse_args(arguments)
    if not options.changed:
        return run(options)
    try:
        return run(options)
    except Exception as error:  # what only reports must not keep others from landing
        print(f"Mutation tests ended early: {error!r}")
        return 0


def run(options: argparse.Namespace) -> int:
    """Try the faults that are asked for, and tell what came of them."""
    os.environ.setdefault("HYPOTHESIS_PROFILE", "mutants")
    until = time.monotonic() + 60 * options.minutes
    mutants = wanted(options)
    if mutants is None:
        return 0
    reasons: dict[str, str] = tomllib.loads(REASONS.read_text(encoding="utf-8")) if REASONS.exists() else {}
    tried: list[Tried] = []
    trials = try_all(mutants, jobs=options.jobs, until=until, tests=options.tests)
    try:
        for file, some in groupby(trials, key=lambda each: each.mutant.file):
            held = list(some)
            tried += held
            _tell(file, held, reasons)
    except BrokenTestsError as error:
        print(error)
        if not options.changed:
            return 1
    holes = [each for each in tried if each.outcome == "unnoticed" and each.mutant.name not in reasons]
    stale = [] if options.changed or options.named else _stale(tried, reasons)
    for name in stale:
        print(f"has a reason in {REASONS.name}, but is gone or noticed: {name}")
    done = sum(each.outcome != "not tried" for each in tried)
    left = f", {len(mutants) - done} not tried: no time" if done < len(mutants) else ""
    print(f"{done} faults tried, {len(holes)} unnoticed without a reason{left}")
    return 0 if options.changed else int(bool(holes or stale))


def wanted(options: argparse.Namespace) -> list[Mutant] | None:
    """Return the faults to try; None, with a line that says why, if there is nothing to compare with."""
    lines: dict[str, set[int]] | None = None
    if options.changed:
        base = earlier_commit()
        if base is None:
            print("No faults are planted: there is no earlier commit to compare with (a shallow clone, or no git).")
            return None
        lines = changed_lines(base.commit)
        print(f"Faults in lines that differ from {base.commit[:12]}, {base.what}.", flush=True)
    found: list[Mutant] = []
    for pattern, target in TARGETS.items():
        for path in sorted(SOURCE.glob(pattern)):
            file = path.relative_to(SOURCE).as_posix()
            if options.files and not any(file.startswith(each) for each in options.files):
                continue
            if lines is not None and file not in lines:
                continue
            every = mutants_of(path)
            if lines is not None:
                every = [each for each in every if not lines[file].isdisjoint(each.lines)]
            if not options.all and not options.named:
                every = sampled(every, target.sample)
            found += [each for each in every if options.named in each.name]
    return found


def _tell(file: str, tried: Sequence[Tried], reasons: dict[str, str]) -> None:
    """Print what came of the faults of a file."""
    unnoticed = [each.mutant.name for each in tried if each.outcome == "unnoticed"]
    slow = sum(each.outcome == "out of time" for each in tried)
    done = sum(each.outcome != "not tried" for each in tried)
    if not done:
        return
    print(f"{file}: {done} faults, {len(unnoticed)} unnoticed" + (f", {slow} without an end" if slow else ""))
    for name in unnoticed:
        print(f"  {'(has a reason) ' if name in reasons else ''}{name}")
    sys.stdout.flush()


def _stale(tried: Sequence[Tried], reasons: dict[str, str]) -> list[str]:
    """Return reasons for faults that are gone, or that a test notices."""
    noticed = {each.mutant.name for each in tried if each.outcome in ("noticed", "out of time")}
    there = {each.name for file in {each.mutant.file for each in tried} for each in mutants_of(SOURCE / file)}
    files = {each.mutant.file for each in tried}
    return [name for name in reasons if name in noticed or (name.split(" ")[0] in files and name not in there)]


if __name__ == "__main__":
    sys.exit(main())
