"""What a newcomer waits for: the first `coterie demo` after installation, the second, and `coterie --help`."""

from __future__ import annotations

import hashlib
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.harness import Bench
from benchmarks.markdown import number, table

TITLE = "First run, second run, help"
FIRST_S, SECOND_S, HELP_S = 20.0, 4.0, 0.5
# First run over second, by the clock: kernels are compiled side by side, on as many cores as there are.
TIMES, TIMES_MANY, MANY_CORES = 5.0, 3.0, 4


def run(bench: Bench) -> None:
    turns = 1 if bench.quick else 3
    made: dict[str, list[dict[str, Any]]] = {"first": [], "second": [], "help": []}
    with tempfile.TemporaryDirectory() as shared:
        # Installers leave byte code beside the modules. Not all environments for development have it.
        code = Path(shared)
        _coterie(code, code, "demo")
        for _ in range(turns):
            with tempfile.TemporaryDirectory() as folder:
                home = Path(folder)
                made["first"].append(_coterie(home, code, "demo"))
                made["second"].append(_coterie(home, code, "demo"))
                made["help"] += [_coterie(home, code, "--help") for _ in range(3)]
    for name, kept in made.items():
        cells = {
            clock: round(min(each[clock] for each in kept), 3) for clock in ("wall", "cpu", "step") if clock in kept[0]
        }
        bench.row(run=name, repetitions=len(kept), **cells)
    bench.holds("the first run says that it compiles", all("compiling" in each["err"] for each in made["first"]))
    bench.holds("the second does not", not any("compiling" in each["err"] for each in made["second"]))
    bench.holds("every run satisfies the guarantees", all(each["kept"] for each in made["first"] + made["second"]))
    released = {each["release"] for each in made["first"] + made["second"]}
    bench.holds("all runs make the same release", len(released) == 1)
    first, second, short = bench.rows
    for clock in ("wall", "cpu"):
        first[f"{clock}_ratio"] = round(first[clock] / second[clock], 2)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    bench.at_most(
        f"first run, in times the second by the clock ({cores} cores)",
        first["wall_ratio"],
        TIMES_MANY if cores >= MANY_CORES else TIMES,
    )
    bench.at_most("first run: anonymization step, seconds", first["step"], FIRST_S)
    bench.at_most("second run: all of it, seconds", second["wall"], SECOND_S)
    bench.at_most("`coterie --help`, seconds", short["wall"], HELP_S)


def _coterie(home: Path, code: Path, *words: str) -> dict[str, Any]:
    """Run a command with a cache folder of its own, and with byte code from a folder that all runs share."""
    left_out = ("NUMBA_CACHE_DIR", "PYTHONDONTWRITEBYTECODE", "COTERIE_COMPILE_PROCESSES")
    env = {name: value for name, value in os.environ.items() if name not in left_out}
    env |= {"XDG_CACHE_HOME": str(home / "cache"), "PYTHONPYCACHEPREFIX": str(code / "bytes")}
    command = Path(sys.executable).with_name("coterie")
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([command, *words], cwd=home, env=env, capture_output=True, text=True, check=False)
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"coterie {' '.join(words)} failed:\n{done.stderr[-2000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found: dict[str, Any] = {"wall": wall, "cpu": cpu, "err": done.stderr}
    step = re.search(r"^([\d.]+) s: read", done.stdout, re.MULTILINE)
    if step:
        found["step"] = float(step[1])
        found["kept"] = re.search(r"^  promises +pass ", done.stdout, re.MULTILINE) is not None
        found["release"] = hashlib.sha256((home / "out.csv").read_bytes()).hexdigest()
    return found


def lines(result: dict) -> list[str]:
    names = {"first": "first `coterie demo`", "second": "second `coterie demo`", "help": "`coterie --help`"}
    rows = [
        [
            names[row["run"]],
            *(number(row.get(cell)) for cell in ("wall", "cpu", "step", "wall_ratio", "cpu_ratio")),
        ]
        for row in result["rows"]
    ]
    return [
        "In a fresh environment with an empty cache folder, so that the first run compiles. The step is everything "
        "that `anonymize` does, from reading to measures. Ratios are relative to the second run.",
        "",
        *table(["command", "clock s", "CPU s", "step, clock s", "clock ratio", "CPU ratio"], rows),
    ]
