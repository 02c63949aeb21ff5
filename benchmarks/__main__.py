"""`python -m benchmarks [NAME …] [--quick] [--page]`."""

from __future__ import annotations

import argparse
import importlib
import sys
import time

from benchmarks import harness
from benchmarks.cases import told_hierarchies

NAMES = (
    "kmembers_speed",
    "kmembers_scale",
    "pipeline",
    "verdict",
    "first_run",
    "local_page",
    "methods",
    "efforts",
    "bound",
    "compare",
    "diversity",
    "twins",
    "peers",
    "kdd",
    "scale",
    "out_of_core",
    "spark",
)


def main() -> int:
    """Run the benchmarks and write the page; 1 if an answer is wrong or a limit is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Benchmarks that check their answers.")
    parser.add_argument("name", nargs="*", help=f"which: {', '.join(NAMES)}; all of them if none is named")
    parser.add_argument("--quick", action="store_true", help="few rows, few repetitions: does it work at all?")
    parser.add_argument("--page", action="store_true", help="only write docs/benchmarks.md from the results that exist")
    asked = parser.parse_args()
    unknown = [name for name in asked.name if name not in NAMES]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]!r}; there are {', '.join(NAMES)}")
    if not asked.page:
        print(told_hierarchies(), flush=True)
    missed = [] if asked.page else [name for name in asked.name or NAMES if not run(name, quick=asked.quick)]
    if not asked.quick:
        from benchmarks.page import write

        print(f"Wrote {', '.join(str(path.relative_to(harness.ROOT)) for path in write())}.")
    if missed:
        print(f"Missed: {', '.join(missed)}.")
    return 1 if missed else 0


def run(name: str, *, quick: bool) -> bool:
    """Run one benchmark and save what it found; whether every check holds."""
    module = importlib.import_module(f"benchmarks.{name}")
    print(f"{name}: {module.TITLE}", flush=True)
    bench = harness.Bench(name, quick=quick)
    load, started = harness.load(), time.perf_counter()
    module.run(bench)
    path = bench.save(load=load, took=time.perf_counter() - started)
    print(f"  → {path.relative_to(harness.ROOT)}", flush=True)
    return bench.passed


if __name__ == "__main__":
    sys.exit(main())
