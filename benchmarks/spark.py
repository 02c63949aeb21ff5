"""The same file by Spark on two cores and by the embedded engine: the same release, and what each phase costs.

Both cut the file into the same blocks. Each engine runs in a process of its own; what Spark's Java and Python processes
take is counted together. Needs the extra `spark` and Java. Other sizes: `python -m benchmarks.spark 500000`; their
results go to results/quick.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks import harness
from benchmarks.harness import Bench, in_process
from benchmarks.markdown import loss, number, table
from benchmarks.out_of_core import K, _config, _warm, make

TITLE = "Spark"
ROWS = 5_000_000
MEMORY = "1GB"
MASTER = "local[2]"
PHASES = ("plan", "assign", "shuffle", "group", "write", "verify")
# What the embedded engine calls the same work: rows go to the files of their blocks while they are assigned.
EMBEDDED = {"plan": "count", "assign": "cut", "group": "group", "write": "write", "verify": "verify"}
SETTINGS = {
    "spark.driver.memory": "2g",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "8",
}


def run(bench: Bench) -> None:
    measure(bench, 100_000 if bench.quick else ROWS)


def measure(bench: Bench, rows: int) -> None:
    bench.facts |= {"memory": MEMORY, "k": K, "at": rows, "master": MASTER}
    with tempfile.TemporaryDirectory() as folder:
        path, here = Path(folder) / "census.parquet", Path(folder)
        in_process("benchmarks.spark", {"task": "make", "path": str(path), "rows": rows})
        for engine, task in (("blocks", "embedded"), ("spark", "cluster")):
            request = {"task": task, "path": str(path), "out": str(here / f"{engine}.parquet")}
            bench.row(engine=engine, at=rows, **in_process("benchmarks.spark", request))
        same = _same(here / "blocks.parquet", here / "spark.parquet")
    ours, theirs = bench.rows
    bench.holds("Spark and the embedded engine publish the same rows in the same order", same)
    bench.holds("and find the same loss and groups", all(ours[each] == theirs[each] for each in ("gcp", "groups")))
    bench.holds(f"every group has {K} rows", min(ours["smallest"], theirs["smallest"]) >= K)
    bench.note(f"Spark takes {theirs['cpu'] / ours['cpu']:.1f} times the CPU seconds of the embedded engine.")


def _same(one: Path, two: Path) -> bool:
    from pyarrow import parquet

    with parquet.ParquetFile(one) as first, parquet.ParquetFile(two) as second:
        if first.metadata.num_rows != second.metadata.num_rows or first.schema_arrow != second.schema_arrow:
            return False
        pairs = zip(first.iter_batches(2**17), second.iter_batches(2**17), strict=True)
        return all(mine.equals(other) for mine, other in pairs)


class Meter:
    """CPU and clock seconds of phases, all processes of this one together."""

    def __init__(self) -> None:
        self.cpu: dict[str, float] = {}
        self.wall: dict[str, float] = {}
        self._phase: str | None = None
        self._since = (0.0, 0.0)

    def begin(self, phase: str | None) -> None:
        """End the phase that runs, if any, and begin another."""
        now = (family_cpu(), time.perf_counter())
        if self._phase is not None:
            for taken, at, before in zip((self.cpu, self.wall), now, self._since, strict=True):
                taken[self._phase] = round(taken.get(self._phase, 0.0) + at - before, 2)
        self._phase, self._since = phase, now

    def told(self, step: str, done: int, total: int) -> None:
        """Progress of a run: a phase begins where nothing is done of it."""
        if done == total == 0:
            self.begin(step)

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        """A phase, to be run `with` it."""
        self.begin(phase)
        yield
        self.begin(None)


def family_cpu() -> float:
    """CPU seconds of this process and of all that it has started, those that have ended included."""
    parent: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parent[int(folder.name)] = int(fields[1])
            ticks[int(folder.name)] = sum(map(int, fields[11:15]))
    total, waiting = 0, [os.getpid()]
    while waiting:
        process = waiting.pop()
        total += ticks.get(process, 0)
        waiting += [child for child, by in parent.items() if by == process]
    return total / os.sysconf("SC_CLK_TCK")


def embedded(path: str, out: str) -> dict[str, Any]:
    """The embedded engine, phase by phase."""
    from coterie.api.anonymize import anonymize

    _warm()
    meter = Meter()
    before = (family_cpu(), time.perf_counter())
    release = anonymize(path, config=_config(), engine="blocks", memory=MEMORY, output=out, progress=meter.told)
    meter.begin(None)
    phases = {name: theirs for name, theirs in EMBEDDED.items() if theirs in meter.cpu}
    return {
        **_found(release, before),
        "cpu_of": {name: meter.cpu[theirs] for name, theirs in phases.items()},
        "wall_of": {name: meter.wall[theirs] for name, theirs in phases.items()},
    }


def cluster(path: str, out: str) -> dict[str, Any]:
    """Spark from end to end; then its phases one by one, each as far as the one before and one step further."""
    from coterie.engines.engine import Job
    from coterie.engines.spark.run import anonymize as anonymize_file
    from coterie.engines.spark.session import Cluster, session_on

    config = _config().replace(engine="spark", memory=MEMORY)
    with session_on(Cluster(MASTER, SETTINGS)) as session:
        _warm_up(session)
        before = (family_cpu(), time.perf_counter())
        release = anonymize_file(path, Job(config, out))
        found = _found(release, before)
        meter = _phases(session, path, Path(out).with_name("phases"), config, release.config.block_rows)
    return {**found, "cpu_of": _steps(meter.cpu), "wall_of": _steps(meter.wall)}


def _phases(session: Any, path: str, folder: Path, config: Any, block_rows: int) -> Meter:
    from pyspark.sql import functions as sql

    from coterie.engines.spark.group import assigned_rows, group_rows
    from coterie.engines.spark.plan import make_plan
    from coterie.engines.spark.session import SETTINGS as BATCHES
    from coterie.engines.spark.session import settings
    from coterie.engines.spark.source import read_parquet
    from coterie.engines.spark.verify import verified
    from coterie.engines.spark.write import write_verified

    meter = Meter()
    with settings(session, BATCHES):
        rows = read_parquet(session, [path])
        with meter("plan"):
            made = make_plan(rows, config, most=block_rows, threads=2)
        assigned = assigned_rows(rows, made)
        with meter("assign"):
            _nowhere(assigned)
        with meter("shuffle"):
            _nowhere(assigned.repartitionById(made.plan.blocks, sql.col("place")))
        with meter("group"):
            grouped = group_rows(rows, made, persist=True)
        with meter("verify"):
            _, shown = verified(grouped)
        with meter("write"):
            write_verified(grouped, str(folder), shown=shown)
        grouped.frame.unpersist()
    return meter


def _nowhere(frame: Any) -> None:
    frame.write.format("noop").mode("overwrite").save()


def _steps(taken: dict[str, float]) -> dict[str, float]:
    """What each phase added: shuffling assigns too, grouping shuffles too, and what was written is verified again."""
    own = {"shuffle": "assign", "group": "shuffle", "write": "verify"}
    return {name: round(taken[name] - taken.get(own.get(name, ""), 0.0), 2) for name in PHASES}


def _warm_up(session: Any) -> None:
    """Start the Python processes and load the kernels."""
    from benchmarks.census import census
    from coterie.spark import release

    release(session.createDataFrame(census(4_000)), _config(), block_rows=1_000).unpersist()


def _found(release: Any, before: tuple[float, float]) -> dict[str, Any]:
    return {
        "wall": round(time.perf_counter() - before[1], 1),
        "cpu": round(family_cpu() - before[0], 1),
        "gcp": release.measures["gcp"],
        "groups": release.verification.groups,
        "smallest": release.verification.k,
        "blocks": release.blocks,
    }


def lines(result: dict) -> list[str]:
    by = {row["engine"]: row for row in result["rows"]}
    ours, theirs = by["blocks"], by["spark"]
    rows = [
        [phase, *(number(row[of].get(phase), 1) for row in (theirs, ours) for of in ("cpu_of", "wall_of"))]
        for phase in PHASES
    ]
    rows.append(["from end to end", *(number(row[of], 1) for row in (theirs, ours) for of in ("cpu", "wall"))])
    head = ["phase", "Spark, CPU s", "clock s", "embedded, CPU s", "clock s"]
    return [
        f"{result['at']:,} rows of the synthetic census as Parquet, 7 quasi-identifiers, `compact` with effort fast, "
        f"k = {result['k']}, in {ours['blocks']:,} blocks; both engines reach a GCP of {loss(ours['gcp'])} and publish "
        f"the same rows. Spark runs as `{result['master']}`; Java and Python are counted together. The embedded engine "
        "writes rows to the files of their blocks as it assigns them, and restores the row order when it writes; Spark "
        "does this with another shuffle. Spark's phases are differences between runs that each go one step further, so "
        "a small phase may be lost in noise, or even be negative. The last line is a separate run, including job "
        "start-up and a second check.",
        "",
        *table(head, rows),
    ]


TASKS: dict[str, Callable[..., dict[str, Any]]] = {"make": make, "embedded": embedded, "cluster": cluster}

if __name__ == "__main__":
    if len(sys.argv) > 1:
        chosen = Bench("spark", quick=True)
        load, started = harness.load(), time.perf_counter()
        measure(chosen, int(sys.argv[1]))
        print(f"  → {chosen.save(load=load, took=time.perf_counter() - started)}")
    else:
        asked = json.loads(sys.stdin.read())
        print(json.dumps(TASKS[asked.pop("task")](**asked)))
