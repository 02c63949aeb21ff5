"""`python -m benchmarks.papers [NAME …] [--quick] [--fresh] [--again METHOD] [--page]`."""

from __future__ import annotations

import argparse
import sys
import time
from importlib import import_module
from types import ModuleType

from benchmarks import harness
from benchmarks.papers.effects import Effect
from benchmarks.papers.trials import RESULTS, Notebook, read

NAMES = ("li2006", "xu2006", "xu2006_made", "xu2006_seeds", "xu2006_queries", "ni2017", "he2012")


def script(name: str) -> ModuleType:
    """The script of a paper."""
    return import_module(f"benchmarks.papers.{name}")


def main() -> int:
    """Run the experiments; 1 if, in the quick run, an effect that held in the full run does not."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.papers", description="The papers' experiments again.")
    parser.add_argument("name", nargs="*", help=f"which: {', '.join(NAMES)}; all of them if none is named")
    parser.add_argument("--quick", action="store_true", help="few rows: do the effects have the signs they had?")
    parser.add_argument("--fresh", action="store_true", help="measure again what has been measured before")
    parser.add_argument("--again", metavar="METHOD", help="measure the points of this method again")
    parser.add_argument("--page", action="store_true", help="only write docs/papers.md and the plots")
    asked = parser.parse_args()
    unknown = [name for name in asked.name if name not in NAMES]
    if unknown:
        parser.error(f"there is no script {unknown[0]!r}; there are {', '.join(NAMES)}")
    names = asked.name or NAMES
    started = time.perf_counter()
    if asked.quick:
        return _quick(names, started)
    for name in () if asked.page else names:
        print(f"{name}: {script(name).TITLE}", flush=True)
        notebook = Notebook(name, fresh=asked.fresh)
        notebook.forget(asked.again)
        notebook.run(script(name).trials(False), say=_say)
    from benchmarks.papers.page import write

    print(f"Wrote {', '.join(str(path.relative_to(harness.ROOT)) for path in write())}.")
    return 0


def _quick(names: tuple[str, ...] | list[str], started: float) -> int:
    """Run everything on few rows; the last line is in the form of pytest's, for whoever adds up."""
    passed = failed = 0
    for name in names:
        notebook = Notebook(name, quick=True, fresh=True)
        before = time.process_time()
        notebook.run(script(name).trials(True))
        held = effects_that_held(name)
        print(f"{name}: {len(notebook.points)} points, {time.process_time() - before:.0f} CPU seconds", flush=True)
        for effect in script(name).effects(notebook.points):
            if effect.quick and effect.key in held:
                passed, failed = passed + effect.holds, failed + (not effect.holds)
                print(f"  {'ok    ' if effect.holds else 'MISSED'} {effect.key}: {effect.says}: {effect.found}")
    print(f"{passed} passed, {failed} failed in {time.perf_counter() - started:.1f}s")
    return 1 if failed or not passed else 0


def effects_that_held(name: str) -> set[str]:
    """What came out as the paper says in the committed run."""
    full = read(RESULTS / f"{name}.json")
    found: list[Effect] = script(name).effects(full["points"]) if full else []
    return {effect.key for effect in found if effect.holds}


def _say(text: str) -> None:
    print(f"  {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
