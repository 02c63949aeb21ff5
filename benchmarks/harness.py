"""What benchmarks share: time, checks, and results that say where and when they were measured."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = Path(__file__).resolve().parent / "results"
QUICK = RESULTS / "quick"
"""where `--quick` leaves its results; they are not committed and not on the page"""

SILENT = (
    "method", "attributes", "distinct", "small", "outside", "suppressed", "smallest", "repetitions", "wall_median",
    "cpu_median", "per_row", "peak_before_mb", "against_cpu_min", "against_wall_min",
    "sort_cpu_min",
)  # fmt: skip
"""what is kept but not printed while a benchmark runs"""

PACKAGES = ("coterie", "numpy", "numba", "pyarrow")


@dataclass
class Timing:
    """Seconds of several repetitions of one call."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    """of the whole process, all threads"""
    answer: Any = None
    """what the last call gave back"""

    def once(self, call: Callable[..., Any], *words: Any, **named: Any) -> None:
        """Call once more."""
        wall, cpu = time.perf_counter(), time.process_time()
        self.answer = call(*words, **named)
        self.wall.append(time.perf_counter() - wall)
        self.cpu.append(time.process_time() - cpu)

    def cells(self) -> dict[str, Any]:
        """As plain values for a result."""
        return seconds(self.wall, self.cpu)


def seconds(wall: list[float], cpu: list[float]) -> dict[str, Any]:
    """Least and median seconds by the clock and by the processor."""
    return {
        "repetitions": len(wall),
        "wall_min": round(min(wall), 5),
        "wall_median": round(statistics.median(wall), 5),
        "cpu_min": round(min(cpu), 5),
        "cpu_median": round(statistics.median(cpu), 5),
    }


def timed_in_turn(calls: Mapping[str, Callable[[], Any]], *, repetitions: int) -> dict[str, Timing]:
    """Time several calls in turn, so that a busy moment of the machine hits all of them alike."""
    timings = {name: Timing() for name in calls}
    for _ in range(repetitions):
        for name, call in calls.items():
            timings[name].once(call)
    return timings


@dataclass
class Bench:
    """What a running benchmark writes into."""

    name: str
    quick: bool = False
    rows: list[dict[str, Any]] = field(default_factory=list)
    checks: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[dict[str, str]] = field(default_factory=list)
    """checks that this run could not make, and why"""
    notes: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    """what is true of all rows, such as which hierarchies were used"""

    def say(self, text: str) -> None:
        """Print one line."""
        print(f"  {text}", flush=True)

    def note(self, text: str) -> None:
        """Print one line and keep it for the page."""
        self.notes.append(text)
        self.say(f"note: {text}")

    def row(self, **cells: Any) -> dict[str, Any]:
        """Keep one measurement and print it."""
        self.rows.append(cells)
        shown = (f"{name} {_shown(value)}" for name, value in cells.items() if name not in SILENT)
        self.say(" · ".join(shown))
        return cells

    def check(self, text: str, *, found: Any, wanted: str, passed: bool) -> None:
        """Keep whether something holds."""
        entry = {"text": text, "found": found, "wanted": wanted, "passed": bool(passed)}
        self.checks.append(entry)
        self.say(f"{'ok    ' if passed else 'MISSED'}  {text}: {_shown(found)} (wanted {wanted})")

    def at_most(self, text: str, found: float, limit: float) -> None:
        """Check an upper limit."""
        self.check(text, found=found, wanted=f"at most {limit:g}", passed=found <= limit)

    def at_least(self, text: str, found: float, limit: float) -> None:
        """Check a lower limit."""
        self.check(text, found=found, wanted=f"at least {limit:g}", passed=found >= limit)

    def holds(self, text: str, passed: bool) -> None:
        """Check that something is so."""
        self.check(text, found="yes" if passed else "no", wanted="yes", passed=passed)

    def skip(self, text: str, *, why: str) -> None:
        """Keep and print that something was not checked."""
        self.skipped.append({"text": text, "why": why})
        self.say(f"skipped {text}: {why}")

    @property
    def passed(self) -> bool:
        """Whether every check holds."""
        return all(check["passed"] for check in self.checks)

    def save(self, *, load: tuple[float, ...], took: float) -> Path:
        """Write the result and give back where."""
        folder = QUICK if self.quick else RESULTS
        folder.mkdir(parents=True, exist_ok=True)
        result = {
            "benchmark": self.name,
            "command": f"python -m benchmarks {self.name}" + (" --quick" if self.quick else ""),
            "quick": self.quick,
            "date": dt.datetime.now(dt.UTC).replace(microsecond=0).isoformat(),
            "seconds": round(took, 1),
            "machine": machine(load),
            "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
            "commit": commit(),
            **self.facts,
            "rows": self.rows,
            "checks": self.checks,
            "skipped": self.skipped,
            "notes": self.notes,
        }
        path = folder / f"{self.name}.json"
        path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return path


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def machine(load: tuple[float, ...]) -> dict[str, Any]:
    """What the benchmark ran on. `load` is how busy it was beforehand: processes that wanted a core."""
    processor = platform.processor() or platform.machine()
    memory = 0.0
    if Path("/proc/cpuinfo").exists():
        names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
        processor = names[0].split(":", 1)[1].strip() if names else processor
        total = next(line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemTotal"))
        memory = round(int(total.split()[1]) / 2**20, 1)
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "memory_gb": memory,
        "system": f"{platform.system()} {platform.machine()}",
        "load_before": [round(value, 2) for value in load],
    }


def load() -> tuple[float, ...]:
    """How many processes wanted a core in the last 1, 5 and 15 minutes."""
    return os.getloadavg() if hasattr(os, "getloadavg") else ()


def commit() -> str:
    """The commit that was measured, with + where files differ from it."""

    def git(*words: str) -> str:
        run = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
        return run.stdout.strip() if run.returncode == 0 else ""

    changed = git("status", "--porcelain", "--untracked-files=no", "--", "src", "benchmarks/*.py")
    return (git("rev-parse", "--short=12", "HEAD") or "unknown") + ("+" if changed else "")


def peak_mb() -> float:
    """The most memory that this process has held so far, in MB.

    Linux counts what a parent process held at the fork into ru_maxrss, so the process's own mark is read there.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    import resource

    unit = 2**20 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def in_process(module: str, request: Mapping[str, Any], *, env: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Run `python -m module` in a process of its own: a JSON request in, the JSON on its last line out."""
    run = subprocess.run(
        [sys.executable, "-m", module],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **(env or {})},
        check=False,
    )
    if run.returncode:
        raise RuntimeError(f"{module} failed for {request}:\n{run.stderr[-2000:]}")
    answer: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return answer


def latest(name: str) -> dict[str, Any] | None:
    """The committed result of a benchmark, if there is one."""
    path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
