"""Files that do not fit the memory: the synthetic census in blocks on disk, within 1 GB, from 1 to 20 million rows.

Each size is written and anonymized in a process of its own, whose largest memory is read at the end. A million rows are
also grouped in one piece, for what blocks lose. Other sizes: `python -m benchmarks.out_of_core 500000 2000000`; their
results go to results/quick.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import harness
from benchmarks.harness import Bench, in_process, peak_mb
from benchmarks.markdown import loss, number, table

TITLE = "Out of core"
K = 10
MEMORY = "1GB"
SIZES = (1_000_000, 5_000_000, 20_000_000)
WHOLE = 1_000_000
"""rows that are grouped in one piece too"""
PEAK_MB = 1.3 * 1024
GROWTH = 1.10
"""of memory from the middle size to the largest"""
TIME_GROWTH = 1.25
"""of CPU seconds per row"""
LOSS = 1.03
PHASES = ("count", "cut", "group", "write", "verify")


def run(bench: Bench) -> None:
    measure(bench, (50_000, 100_000, 200_000) if bench.quick else SIZES, whole=100_000 if bench.quick else WHOLE)


def measure(bench: Bench, sizes: tuple[int, ...], *, whole: int) -> None:
    bench.facts |= {"memory": MEMORY, "k": K}
    with tempfile.TemporaryDirectory() as folder:
        for rows in sizes:
            path = Path(folder) / f"census-{rows}.parquet"
            made = in_process("benchmarks.out_of_core", {"task": "make", "path": str(path), "rows": rows})
            request = {"task": "blocks", "path": str(path), "out": str(Path(folder) / "out.parquet")}
            found = in_process("benchmarks.out_of_core", request)
            bench.row(engine="blocks", at=rows, file_mb=made["file_mb"], **found)
            if rows == whole:
                found = in_process("benchmarks.out_of_core", {"task": "whole", "path": str(path)})
                bench.row(engine="memory", at=rows, file_mb=made["file_mb"], **found)
            path.unlink()
    _limits(bench, sizes, whole)


def _limits(bench: Bench, sizes: tuple[int, ...], whole: int) -> None:
    by = {(row["engine"], row["at"]): row for row in bench.rows}
    blocks = {at: by["blocks", at] for at in sizes}
    bench.holds("all rows are published", all(row["published"] == at for at, row in blocks.items()))
    bench.holds(
        f"every release is {K}-anonymous by its own check", all(row["smallest"] >= K for row in blocks.values())
    )
    bench.at_most("peak memory in MB", max(row["peak_mb"] for row in blocks.values()), PEAK_MB)
    if ("memory", whole) in by:
        ratio = blocks[whole]["gcp"] / by["memory", whole]["gcp"]
        bench.at_most(f"loss of {whole:,} rows in blocks ÷ in one piece", round(ratio, 4), LOSS)
    if len(sizes) > 1:
        few, many = blocks[sizes[-2]], blocks[sizes[-1]]
        between = f"{sizes[-2]:,} → {sizes[-1]:,} rows"
        if few["blocks"] > 4:  # below, memory is not full yet: so many blocks are grouped at a time
            bench.at_most(f"{between}, memory grows", round(many["peak_mb"] / few["peak_mb"], 3), GROWTH)
        per_row = [row["cpu"] / at for at, row in ((sizes[-2], few), (sizes[-1], many))]
        bench.at_most(f"{between}, CPU seconds per row grow", round(per_row[1] / per_row[0], 3), TIME_GROWTH)


def make(path: str, rows: int) -> dict[str, Any]:
    """Write the census, a block of rows at a time."""
    from benchmarks.census import write_census

    write_census(Path(path), rows)
    return {"file_mb": round(Path(path).stat().st_size / 2**20, 1)}


def blocks(path: str, out: str) -> dict[str, Any]:
    """Anonymize the file in blocks."""
    from coterie.api.anonymize import anonymize

    _warm()
    wall, cpu = time.perf_counter(), time.process_time()
    release = anonymize(path, config=_config(), engine="blocks", memory=MEMORY, output=out, force=True)
    assert not release.complete
    return {
        **_common(release, wall, cpu),
        "blocks": release.blocks,
        "block_rows": release.config.block_rows,
        "out_mb": round(Path(out).stat().st_size / 2**20, 1),
        "published": release.verification.rows,
        "sha256": release.provenance()["output_sha256"],
    }


def whole(path: str) -> dict[str, Any]:
    """Anonymize the file in one piece."""
    from coterie.api.anonymize import anonymize

    _warm()
    wall, cpu = time.perf_counter(), time.process_time()
    release = anonymize(path, config=_config(), engine="memory")
    return {**_common(release, wall, cpu), "published": release.verification.rows}


def _common(release: Any, wall: float, cpu: float) -> dict[str, Any]:
    return {
        "wall": round(time.perf_counter() - wall, 1),
        "cpu": round(time.process_time() - cpu, 1),
        "peak_mb": round(peak_mb(), 1),
        "gcp": release.measures["gcp"],
        "smallest": release.verification.k,
        "groups": release.verification.groups,
        "phases": {phase: round(took, 2) for phase, took in release.seconds.items()},
    }


def _warm() -> None:
    """Compile or load what every process loads once."""
    from benchmarks.census import census
    from coterie.api.anonymize import anonymize

    anonymize(census(1_000), config=_config())


def _config() -> Any:
    from benchmarks.census import QUASI, SENSITIVE, hierarchies
    from coterie.settings.config import Config

    options = {"effort": "fast"}
    return Config.build(
        quasi=QUASI, sensitive=[SENSITIVE], hierarchies=hierarchies(), k=K, method="compact", options=options
    )


def lines(result: dict) -> list[str]:
    rows = []
    for row in result["rows"]:
        where = f"{row['blocks']:,} blocks" if row["engine"] == "blocks" else "*in one piece*"
        took = [number(row["phases"].get(phase), 1) for phase in PHASES]
        rows.append(
            [f"{row['at']:,}", where, loss(row["gcp"]), number(row["wall"], 0), number(row["cpu"], 0), *took,
             number(row["peak_mb"], 0)]
        )  # fmt: skip
    head = ["rows", "", "GCP", "clock s", "CPU s", *(f"{phase} s" for phase in PHASES), "peak MB"]
    return [
        f"The synthetic census as Parquet, 7 quasi-identifiers, `compact` with effort fast, k = {result['k']}, "
        f"`--engine blocks --memory {result['memory']}`. Phases are wall-clock times. Each size runs in a separate "
        "process; the peak is the largest memory use of that process, including the program itself.",
        "",
        *table(head, rows),
    ]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        chosen = Bench("out_of_core", quick=True)
        load, started = harness.load(), time.perf_counter()
        measure(chosen, tuple(int(word) for word in sys.argv[1:]), whole=int(sys.argv[1]))
        print(f"  → {chosen.save(load=load, took=time.perf_counter() - started)}")
    else:
        request = json.loads(sys.stdin.read())
        task = {"make": make, "blocks": blocks, "whole": whole}[request.pop("task")]
        print(json.dumps(task(**request)))
