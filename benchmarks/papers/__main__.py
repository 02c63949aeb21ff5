"""`python -m benchmarks.papers [NAME …] [--quick [--jobs N]] [--fresh] [--again METHOD] [--page]`."""

from __future__ import annotations

import argparse
import sys
import time

from benchmarks import harness
from benchmarks.papers.quick import NAMES, quick, script
from benchmarks.papers.trials import Notebook
from coterie.methods import all_methods


def main() -> int:
    """Run the experiments; 1 if, in the quick run, an effect that held in the full run does not."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description="The papers' experiments again.")
    parser.add_argument("name", nargs="*", help=f"which: {', '.join(NAMES)}; all of them if none is named")
    parser.add_argument("--quick", action="store_true", help="few rows: do the effects have the signs they had?")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="scripts at a time in the quick run; 1")
    parser.add_argument("--fresh", action="store_true", help="measure again what has been measured before")
    parser.add_argument("--again", metavar="METHOD", help="measure the points of this method again")
    parser.add_argument("--page", action="store_true", help="only write docs/papers.md and the plots")
    asked = parser.parse_args()
    unknown = [name for name in asked.name if name not in NAMES]
    if unknown:
        parser.error(f"there is no script {unknown[0]!r}; there are {', '.join(NAMES)}")
    if asked.again is not None and asked.again not in all_methods():
        parser.error(f"there is no method {asked.again!r}; there are {', '.join(all_methods())}")
    names = asked.name or NAMES
    started = time.perf_counter()
    if asked.quick:
        return quick(names, started, jobs=asked.jobs)
    for name in () if asked.page else names:
        print(f"{name}: {script(name).TITLE}", flush=True)
        notebook = Notebook(name, fresh=asked.fresh)
        notebook.forget(asked.again)
        notebook.run(script(name).trials(False), say=_say)
    from benchmarks.papers.page import write

    print(f"Wrote {', '.join(str(path.relative_to(harness.ROOT)) for path in write())}.")
    return 0


def _say(text: str) -> None:
    print(f"  {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
