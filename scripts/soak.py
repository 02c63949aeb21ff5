"""Soak test: random tables, methods, models, engines and formats, with kills at random moments.

    python scripts/soak.py --releases 10000           this many releases, or
    python scripts/soak.py --minutes 20               as many as there is time for
    python scripts/soak.py --spark 100                a hundred more on Spark, where it is installed

Each round draws a small table and settings, and asks a worker process for a release, in memory or in blocks. In some
rounds the worker is killed at a random moment; the run is then resumed if the engine supports it, or
restarted. The result is read back and judged by `naive_judge` of tests/oracles, which imports nothing
from coterie: class sizes, the requested guarantees, whether each row is published and its other cells are
unchanged. A round also fails if anything is left behind: partial files, work folders, a release without its settings,
or any file after a refusal. With --write the last lines go into docs/how-it-is-tested.md.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "helpers")]

METHODS = (
    "mondrian",
    "compact",
    "kmembers",
    "kaca",
    "top-down",
    "bottom-up",
    "cb",
    "gccg",
    "incognito",
    "nh",
    "optimal",
)
IN_BLOCKS = ("mondrian", "compact", "kmembers", "kaca", "top-down", "bottom-up", "cb", "gccg")
MODELS = (
    "",
    "",
    "l-diversity:2",
    "entropy-l-diversity:1.5",
    "t-closeness:0.6",
    "alpha-k:0.8",
    "beta-likeness:3",
    "delta-disclosure:2",
)
FORMATS = ("csv", "tsv", "csv.gz", "parquet", "feather")
DOCS = ROOT / "docs" / "how-it-is-tested.md"
START, END = "<!-- soak: made by scripts/soak.py -->", "<!-- end of soak -->"


def draw(rng: random.Random) -> dict[str, Any]:
    """Draw a round: a table and a request."""
    rows = rng.choice([rng.randint(4, 30), rng.randint(30, 120), rng.randint(120, 400)])
    columns: dict[str, list[Any]] = {
        "number": [rng.choice([None, *range(9)]) if rng.random() < 0.9 else rng.randint(-50, 50) for _ in range(rows)],
        "text": [rng.choice(["a", "b", "B", "*", "", "[1-2]", 'ä,"ö"', "-", "x y"]) for _ in range(rows)],
        "amount": [rng.choice([0.5, 1.25, 2.0, 1e9, -3.75]) for _ in range(rows)],
    }
    quasi = rng.sample(sorted(columns), rng.randint(1, 3))
    columns = {name: columns[name] for name in quasi}
    columns["ill"] = [rng.choice(["flu", "pox", "gout", "cold"]) for _ in range(rows)]
    columns["at"] = list(range(rows))
    engine = rng.choice(["memory", "memory", "blocks"])
    method = rng.choice(IN_BLOCKS if engine == "blocks" else METHODS if rows <= 40 else METHODS[:-1])
    model = "" if method == "nh" else rng.choice(MODELS)
    return {
        "columns": columns,
        "input": rng.choice(["csv", "parquet"]),
        "output": rng.choice(FORMATS),
        "killed": rng.random() < 0.3,
        "after": rng.random() ** 2 * 1.5,
        "settings": {
            "quasi": quasi,
            "sensitive": ["ill"],
            "keep": ["at"],
            "k": rng.randint(2, 5),
            "seed": rng.randint(0, 9),
            "method": method,
            "engine": engine,
            "threads": 1,
            **({"block_rows": rng.choice([20, 50])} if engine == "blocks" else {}),
            **({"privacy": [model]} if model else {}),
        },
    }


def work(folder: str, round_: dict[str, Any], resume: bool) -> None:
    """Do the worker's job: one release, from file to file."""
    import coterie
    from coterie.errors import CoterieError

    place = Path(folder)
    try:
        more = {"resume": True} if resume else {"force": True}
        source, out = place / f"in.{round_['input']}", place / f"out.{round_['output']}"
        coterie.anonymize(source, output=out, **round_["settings"], **more)
        answer = "made"
    except CoterieError as error:
        answer = f"{type(error).__name__}: {error}"
    # Whole or not at all: a kill may come here, too.
    (place / "answer.part").write_text(json.dumps(answer))
    (place / "answer.part").replace(place / "answer.json")


def warm_up() -> None:
    """Load what workers need once: they are forked from here."""
    rng = random.Random(0)
    for engine, methods in (("memory", METHODS), ("blocks", IN_BLOCKS)):
        for method in methods:
            round_ = draw(rng)
            while len(round_["columns"]["at"]) > 40:
                round_ = draw(rng)
            asked = round_["settings"] | {"method": method, "engine": engine, "k": 2, "block_rows": 20, "privacy": []}
            if engine == "memory":
                del asked["block_rows"]
            with tempfile.TemporaryDirectory(prefix="coterie-soak-") as folder:
                place = Path(folder)
                write_table(round_, place)
                work(folder, round_ | {"settings": asked}, resume=False)


def write_table(round_: dict[str, Any], folder: Path) -> Any:  # noqa: ANN401 - an Arrow table
    """Write the original of a round."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    table = pa.table(round_["columns"])
    path = folder / f"in.{round_['input']}"
    csv.write_csv(table, path) if round_["input"] == "csv" else parquet.write_table(table, path)
    return table


class Forked:
    """A worker for one run, forked from here."""

    def __init__(self) -> None:
        self._process: Any = None

    def run(self, folder: Path, round_: dict[str, Any], seconds: float, *, resume: bool) -> bool:
        """Ask for a release; return whether the worker ended in time. One that did not is killed."""
        self._process = multiprocessing.get_context("fork").Process(target=work, args=(str(folder), round_, resume))
        self._process.start()
        self._process.join(seconds)
        return not killed(self._process)


class OnSpark:
    """A worker with a session of Spark, which is kept from run to run until it is killed."""

    def __init__(self) -> None:
        self._process: Any = None
        self._ours: Any = None

    def run(self, folder: Path, round_: dict[str, Any], seconds: float, *, resume: bool) -> bool:
        """Ask for a release; return whether it came in time. Otherwise the worker is killed."""
        if self._process is None:
            spawn = multiprocessing.get_context("spawn")
            self._ours, theirs = spawn.Pipe()
            self._process = spawn.Process(target=serve_spark, args=(theirs,), daemon=True)
            self._process.start()
            self._ours.recv()
        self._ours.send((str(folder), round_, resume))
        if self._ours.poll(seconds):
            self._ours.recv()
            return True
        killed(self._process)
        self._process = None
        return False


def serve_spark(asked: Any) -> None:  # noqa: ANN401 - one end of a pipe
    """Run what is asked for, in one session of Spark."""
    from pyspark.sql import SparkSession  # noqa: TID251 - it asks for releases as users do
    from spark_session import SETTINGS

    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    builder = SparkSession.builder.master("local[1]").appName("soak")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    builder.getOrCreate()
    asked.send("ready")
    with suppress(EOFError):  # the other end is closed: all is done
        while True:
            work(*asked.recv())
            asked.send("done")


def killed(process: Any) -> bool:  # noqa: ANN401 - a process
    """Kill a process that still runs; return whether it did."""
    alive: bool = process.is_alive()
    if alive:
        os.kill(process.pid, signal.SIGKILL)
        process.join()
    return alive


def one_round(round_: dict[str, Any], folder: Path, worker: Forked | OnSpark) -> tuple[str, list[str]]:
    """Run one round; return (its outcome, its faults)."""
    table = write_table(round_, folder)
    cut_short = round_["killed"] and not worker.run(folder, round_, round_["after"], resume=False)
    if not (folder / "answer.json").exists():
        waiting = (folder / f".out.{round_['output']}.coterie").exists()
        resume = cut_short and round_["settings"]["engine"] == "blocks" and waiting
        if not worker.run(folder, round_, 300, resume=resume):
            return "hung", ["the run did not end"]
    if not (folder / "answer.json").exists():
        return "crashed", ["the process ended and said nothing"]
    answer = json.loads((folder / "answer.json").read_text())
    return judged(round_, table, folder, answer, killed=cut_short)


def read_back(path: Path) -> dict[str, list[str | None]]:
    """Return column → cells as text, None if a cell is missing."""
    name = path.name
    if name.endswith((".parquet", ".feather")):
        from pyarrow import feather, parquet

        table = parquet.read_table(path) if name.endswith(".parquet") else feather.read_table(path)
        return {column: [_text(cell) for cell in cells] for column, cells in table.to_pydict().items()}
    import csv
    import gzip
    import io

    data = gzip.decompress(path.read_bytes()) if name.endswith(".gz") else path.read_bytes()
    lines = list(csv.reader(io.StringIO(data.decode()), delimiter="\t" if ".tsv" in name else ","))
    return {column: [row[at] or None for row in lines[1:]] for at, column in enumerate(lines[0])}


def _text(cell: object) -> str | None:
    """Return a cell as it would be written."""
    if cell is None or cell != cell:
        return None
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


def judged(round_: dict[str, Any], table: Any, folder: Path, answer: str, *, killed: bool) -> tuple[str, list[str]]:  # noqa: ANN401
    """Return the faults of the output folder."""
    from oracles.naive_judge import faults_of

    inside = {each.name for each in folder.iterdir()} - {"answer.json", "answer.part", f"in.{round_['input']}"}
    out = f"out.{round_['output']}"
    wrong = [f"left behind: {name}; {answer}" for name in inside if name.startswith(".")]
    if answer != "made":
        # A killed run may have left a release of its own that is whole.
        if inside and not killed:
            wrong.append(f"refused, and yet there is {sorted(inside)}")
        return ("refused" if answer.split(":")[0] in ("InfeasibleError", "DataError", "ConfigError") else "broken"), (
            wrong if answer.split(":")[0] in ("InfeasibleError", "DataError", "ConfigError") else [*wrong, answer]
        )
    settings = {out, f"{out.removesuffix('.csv')}.coterie.toml"}
    if inside != settings:
        wrong.append(f"there is {sorted(inside)} in place of {sorted(settings)}")
        return "made", wrong
    wrong += faults_of(table.to_pydict(), read_back(folder / out), round_["settings"])
    return "made", wrong


class Share(NamedTuple):
    """The rounds of one process, and what came of them."""

    numbers: range
    releases: int
    until: float
    on_spark: bool

    def run(self) -> tuple[Counter[str], Counter[str], list[str]]:
        """Return how rounds ended, what releases were made with, and all faults."""
        ended: Counter[str] = Counter()
        made: Counter[str] = Counter()
        faults: list[str] = []
        worker = OnSpark() if self.on_spark else Forked()
        for number in self.numbers:
            if ended["made"] >= self.releases or time.monotonic() > self.until:
                break
            round_ = draw(random.Random(number))
            if self.on_spark:
                to_spark(round_, random.Random(number))
            folder = Path(tempfile.mkdtemp(prefix="coterie-soak-"))
            try:
                came, found = one_round(round_, folder, worker)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            ended.update([came, "rounds", *(["killed"] if round_["killed"] else [])])
            if came == "made":
                made.update([round_["settings"]["engine"], round_["output"], round_["settings"]["method"]])
            faults += [f"round {number} ({round_['settings']}, {round_['output']}): {fault}" for fault in found]
            for fault in faults[len(faults) - len(found) :]:
                print(fault, flush=True)
            if ended["rounds"] % 250 == 0:
                print(f"{ended['rounds']} rounds, {ended['made']} releases, {len(faults)} faults", flush=True)
        return ended, made, faults


def to_spark(round_: dict[str, Any], rng: random.Random) -> None:
    """Turn a round into one for Spark: fewer kills, since a session takes seconds to start again."""
    settings = round_["settings"]
    settings |= {"engine": "spark", "block_rows": rng.choice([20, 50, 1000]), "method": rng.choice(IN_BLOCKS)}
    round_ |= {"killed": rng.random() < 0.1, "input": "parquet", "output": "parquet"}


def main(arguments: list[str] | None = None) -> int:
    """Run rounds; return 0 if nothing is wrong."""
    parser = argparse.ArgumentParser(description="Random releases with random kills, judged from outside.")
    parser.add_argument("--releases", type=int, default=10_000)
    parser.add_argument("--minutes", type=float, default=24 * 60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="processes side by side")
    parser.add_argument("--spark", type=int, default=0, help="how many more releases on Spark")
    parser.add_argument("--write", action="store_true", help=f"write the figures into {DOCS.name}")
    options = parser.parse_args(arguments)
    until, begun = time.monotonic() + 60 * options.minutes, time.time()
    first = options.seed + 1
    shares = [
        Share(range(first + job, sys.maxsize, options.jobs), -(-options.releases // options.jobs), until, False)
        for job in range(options.jobs)
    ]
    # Before the others, which are many: a session of Spark must not be forked.
    done = [Share(range(first, sys.maxsize), options.spark, until, True).run()] if options.spark else []
    warm_up()
    with ProcessPoolExecutor(options.jobs, mp_context=multiprocessing.get_context("fork")) as pool:
        done += pool.map(Share.run, shares)
    ended, made = (sum((each[at] for each in done), Counter[str]()) for at in (0, 1))
    faults = [fault for each in done for fault in each[2]]
    text = (
        f"{ended['rounds']:,} rounds from seed {options.seed}: {ended['made']:,} releases made and judged, "
        f"{ended['refused']:,} refused with a message, {ended['killed']:,} with a kill at a random moment, "
        f"{len(faults):,} faults, in {(time.time() - begun) / 60:.0f} minutes. Releases by engine, format and method: "
        + ", ".join(f"{name} {count:,}" for name, count in sorted(made.items()))
        + "."
    )
    print(text)
    if options.write:
        page = DOCS.read_text(encoding="utf-8")
        before, _, rest = page.partition(START)
        DOCS.write_text(f"{before}{START}\n\n{text}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
