"""One million rows from CSV to CSV: what coterie adds to reading and writing the file.

Reading, encoding, publishing and writing together are compared with PyArrow reading the same file into typed columns
and writing it again, each in a process of its own, in turn, after a thousand other rows have warmed it up. Grouping,
verification and measures are shown beside them, and so is the whole from file to file.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.harness import Bench, in_process, peak_mb
from benchmarks.markdown import number, table

TITLE = "From file to file"
K = 10
TIMES = 3
MEMORY_MB = 1536
AROUND = ("read", "encode", "publish", "write")
"""the phases that are there whatever the method"""
PHASES = ("read", "encode", "group", "publish", "verify", "measure", "write")


def run(bench: Bench) -> None:
    from pyarrow import csv

    from benchmarks.census import census

    count = 100_000 if bench.quick else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "census.csv"
        csv.write_csv(census(count), path)
        bench.facts |= {"count": count, "file_mb": round(path.stat().st_size / 2**20, 1)}
        made: dict[str, list[dict[str, Any]]] = {"arrow": [], "coterie": []}
        for turn in range(1 if bench.quick else 5):
            for who, kept in made.items():
                request = {"who": who, "path": str(path), "out": str(Path(folder) / f"{who}{turn}.csv")}
                kept.append(in_process("benchmarks.pipeline", request))
        for who, kept in made.items():
            for phase in kept[0]["wall"]:
                walls, cpus = ([each[clock][phase] for each in kept] for clock in ("wall", "cpu"))
                bench.row(who=who, phase=phase, wall_min=min(walls), cpu_min=min(cpus), repetitions=len(walls))
        _check(bench, made, count)


def _check(bench: Bench, made: dict[str, list[dict[str, Any]]], count: int) -> None:
    def least(who: str, clock: str, phases: tuple[str, ...]) -> float:
        return min(sum(each[clock][phase] for phase in phases) for each in made[who])

    ours, theirs = least("coterie", "wall", AROUND), least("arrow", "wall", ("read", "write"))
    by_cpu = least("coterie", "cpu", AROUND) / least("arrow", "cpu", ("read", "write"))
    whole, whole_cpu = least("coterie", "wall", PHASES), least("coterie", "cpu", PHASES)
    peaks = {who: max(each["peak_mb"] for each in kept) for who, kept in made.items()}
    bench.facts |= {
        "ours": round(ours, 3), "theirs": round(theirs, 3), "ratio_cpu": round(by_cpu, 2), "peak_mb": peaks,
        "whole": round(whole, 3), "whole_ratio": round(whole / theirs, 2),
        "whole_ratio_cpu": round(whole_cpu / least("arrow", "cpu", ("read", "write")), 2),
    }  # fmt: skip
    bench.holds("all rows are published", all(each["rows"] == count for each in made["coterie"]))
    bench.holds(f"the written file is {K}-anonymous", all(each["k"] >= K for each in made["coterie"]))
    bench.holds("every run writes the same bytes", len({each["sha256"] for each in made["coterie"]}) == 1)
    bench.at_most("read, encode, publish, write ÷ PyArrow's read, write", round(ours / theirs, 2), TIMES)
    bench.at_most("peak memory in MB", peaks["coterie"], MEMORY_MB)


def arrow(path: str, out: str) -> dict[str, Any]:
    """Read the file into typed columns and write it again."""
    from pyarrow import csv

    from benchmarks.census import census

    warm = Path(out).with_suffix(".warm.csv")
    csv.write_csv(census(1_000), warm)
    csv.read_csv(warm)
    clock = _Clock()
    columns = csv.read_csv(path)
    clock.ends("read")
    csv.write_csv(columns, out)
    clock.ends("write")
    return {**clock.seconds, "peak_mb": round(peak_mb(), 1), "rows": columns.num_rows}


def coterie(path: str, out: str) -> dict[str, Any]:
    """Anonymize the file and write the release."""
    import hashlib

    from pyarrow import csv

    from benchmarks.census import census
    from coterie.api.anonymize import anonymize, verify

    # Compiling and loading of what every process loads once is what `first_run` measures.
    warm = Path(out).with_suffix(".warm.csv")
    csv.write_csv(census(1_000), warm)
    anonymize(warm, config=_config()).write(Path(out).with_suffix(".warm-out.csv"))
    clock = _Clock()
    steps = list(PHASES)

    def told(step: str, done: int, total: int) -> None:
        # A step is announced when it begins: the one before it has ended.
        if step in PHASES[1:] and step == steps[1]:
            clock.ends(steps.pop(0))

    release = anonymize(path, config=_config(), progress=told)
    clock.ends(steps.pop(0))
    release.write(out)
    clock.ends("write")
    peak = peak_mb()
    digest = hashlib.sha256(Path(out).read_bytes()).hexdigest()
    found = verify(out, quasi=_config().quasi)
    return {**clock.seconds, "peak_mb": round(peak, 1), "rows": found.rows, "k": found.k, "sha256": digest}


class _Clock:
    """Seconds between the ends of phases, by the clock and by the processor."""

    def __init__(self) -> None:
        self.seconds: dict[str, dict[str, float]] = {"wall": {}, "cpu": {}}
        self._last = (time.perf_counter(), time.process_time())

    def ends(self, phase: str) -> None:
        now = (time.perf_counter(), time.process_time())
        for name, before, after in zip(("wall", "cpu"), self._last, now, strict=True):
            self.seconds[name][phase] = round(after - before, 4)
        self._last = now


def _config() -> Any:
    from benchmarks.census import QUASI, SENSITIVE, hierarchies
    from coterie.settings.config import Config

    return Config(quasi=QUASI, sensitive=[SENSITIVE], hierarchies=hierarchies(), k=K, method="mondrian")


def lines(result: dict) -> list[str]:
    by = {(row["who"], row["phase"]): row for row in result["rows"]}
    rows = []
    for phase in PHASES:
        cells = [phase if phase in AROUND else f"*{phase}*"]
        for who in ("coterie", "arrow"):
            row = by.get((who, phase))
            cells += [number(row["wall_min"]), number(row["cpu_min"])] if row else ["", ""]
        rows.append(cells)
    peaks, whole = result["peak_mb"], ""
    if "whole" in result:  # results before 2026-11-18 lack it
        whole = (
            f"The whole of it, with grouping, verification and measures, takes {result['whole']:.2f} s: "
            f"{result['whole_ratio']:.1f} times as much by the clock, {result['whole_ratio_cpu']:.1f} in CPU time. "
        )
    return [
        f"{result['count']:,} rows of the synthetic census, a CSV file of {result['file_mb']:.0f} MB, `mondrian`, "
        f"k = {K}. Reading, encoding, publishing and writing take {result['ours']:.2f} s, PyArrow's typed reading and "
        f"writing {result['theirs']:.2f} s: {result['ours'] / result['theirs']:.1f} times as much by the clock, "
        f"{result['ratio_cpu']:.1f} times in CPU time. {whole}"
        f"The process used at most {peaks['coterie']:,.0f} MB (PyArrow's {peaks['arrow']:,.0f} MB).",
        "",
        *table(["phase", "coterie, clock s", "CPU s", "PyArrow, clock s", "CPU s"], rows),
    ]


if __name__ == "__main__":
    request = json.loads(sys.stdin.read())
    task = {"arrow": arrow, "coterie": coterie}[request.pop("who")]
    print(json.dumps(task(**request)))
