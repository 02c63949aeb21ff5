"""The verdict of a million rows and ten columns beside the release that it is about: which takes more CPU?

Seven quasi-identifiers and the occupation of the synthetic census, and two columns that are kept. Release and verdict
are made in turn in one process, on one thread, after a small table has warmed it up.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from benchmarks.harness import Bench, Timing, in_process
from benchmarks.markdown import number, table

TITLE = "The verdict"
K = 12
QUESTIONS = {"promises", "singling-out", "inference", "utility"}


def run(bench: Bench) -> None:
    count = 50_000 if bench.quick else 1_000_000
    found = in_process("benchmarks.verdict", {"count": count, "rounds": 1 if bench.quick else 3})
    bench.facts |= {"count": count, "columns": found["columns"], "state": found["state"]}
    for who in ("release", "verdict"):
        bench.row(who=who, **found[who])
    bench.holds("the verdict answers all four questions", set(found["questions"]) == QUESTIONS)
    bench.holds("rows unique with the kept columns are counted as by hand", found["unique"] == found["by_hand"])
    share = found["verdict"]["cpu_min"] / found["release"]["cpu_min"]
    bench.facts["share"] = round(share, 2)
    if not bench.quick:
        bench.at_most("CPU of the verdict ÷ that of mondrian's release", round(share, 2), 1.0)


def _rows(count: int) -> Any:
    """The census with two columns that are kept."""
    import numpy as np

    from benchmarks.census import census

    rng = np.random.default_rng(0)
    rows = census(count).append_column("ward", [rng.integers(0, 9, count)])
    return rows.append_column("visits", [rng.integers(0, 30, count)])


def _released(rows: Any) -> Any:
    import coterie
    from benchmarks.census import QUASI, SENSITIVE, hierarchies

    return coterie.anonymize(
        rows, quasi=QUASI, sensitive=[SENSITIVE], keep=["ward", "visits"], hierarchies=hierarchies(), k=K,
        method="mondrian", threads=1,
    )  # fmt: skip


def _judged(release: Any) -> Any:
    from coterie.verdict.verdict import verdict_of

    return verdict_of(release)


def _unique(frame: Any) -> int:
    """Rows that are alone with what is published but for the sensitive column, counted by Arrow."""
    from benchmarks.census import SENSITIVE

    columns = [name for name in frame.column_names if name != SENSITIVE]
    counts = frame.group_by(columns).aggregate([([], "count_all")]).column("count_all")
    return sum(1 for count in counts.to_pylist() if count == 1)


def measure(count: int, rounds: int) -> dict[str, Any]:
    """Make releases and verdicts in turn."""
    release, verdict = Timing(), Timing()
    rows = _rows(count)
    _judged(_released(rows.slice(0, 5_000)))
    for _ in range(rounds):
        release.once(_released, rows)
        verdict.once(_judged, release.answer)
    made = release.answer
    questions = verdict.answer.questions
    return {
        "columns": made.frame.num_columns,
        "state": verdict.answer.state,
        "questions": list(questions),
        "unique": questions["singling-out"].figures["published"]["unique"],
        "by_hand": _unique(made.frame),
        "release": release.cells(),
        "verdict": verdict.cells(),
    }


def lines(result: dict) -> list[str]:
    rows = [
        [row["who"], number(row["cpu_min"]), number(row["cpu_median"]), number(row["wall_min"])]
        for row in result["rows"]
    ]
    return [
        f"{result['count']:,} rows and {result['columns']} columns of the synthetic census, two of them kept, "
        f"`mondrian`, k = {K}, one thread. The verdict takes {result['share']:.2f} times the CPU of the release.",
        "",
        *table(["", "CPU s, least", "median", "clock s, least"], rows),
    ]


if __name__ == "__main__":
    print(json.dumps(measure(**json.loads(sys.stdin.read()))))
