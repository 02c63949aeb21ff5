"""Other Python packages for k-anonymity on the same table, judged by the same measure.

They live in an environment of their own, .venv-peers, which this benchmark makes: one of them asks for exact versions
of numpy. From what they publish, groups are taken and their boxes drawn as tightly as their rows allow.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import venv
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.cases import adult_hierarchies_from, case
from benchmarks.harness import ROOT, Bench, in_process, seconds
from benchmarks.markdown import loss, number, table
from benchmarks.variants import compile_all, variants
from coterie.datasets import ADULT_QUASI, ADULT_SENSITIVE, adult
from coterie.hierarchies.hierarchy import Hierarchy
from coterie.measures.measures import measure_boxes
from coterie.table.domain import Domain
from coterie.table.grouping import Grouping
from coterie.table.table import Table

TITLE = "Other Python packages on Adult"
K = 10
PEERS = {"anonypy": ("anonypy==0.2.1", "pandas<3"), "anjana": ("anjana==1.2.3",)}
"""what pip installs for each; anonypy does not say that it needs pandas"""
KINDS = {
    "anonypy": "Mondrian, sets of values",
    "anjana": "full-domain generalization, up to 1 % of rows suppressed",
}
PLACE = ROOT / ".venv-peers"


def run(bench: Bench) -> None:
    rows = 1_000 if bench.quick else None
    whole = case("adult", rows=rows)
    encoded = whole.table()
    bench.facts["hierarchies"] = adult_hierarchies_from()
    for peer, requirements in PEERS.items():
        reason = installed(requirements)
        if reason:
            bench.note(f"{peer} is left out: {reason}")
            continue
        made = [_run_peer(peer, encoded, rows) for _ in range(1 if bench.quick else 3)]
        judged = made[0]["judged"]
        times = seconds([each["wall"] for each in made], [each["cpu"] for each in made])
        peak = max(each["peak_mb"] for each in made)
        bench.row(label=f"{peer} {made[0]['version']}", kind=KINDS[peer], **judged, **times, peak_mb=peak)
        bench.holds(f"{peer}: all rows are accounted for", judged["rows"] == encoded.rows)
    known = variants(all_options=not bench.quick)
    compile_all(known)
    for variant in known:
        request = {
            "data": "adult", "rows": rows, "method": variant.method, "options": variant.options, "k": K,
            "repetitions": 1 if bench.quick else 3, "against": None,
        }  # fmt: skip
        bench.row(label=variant.label, kind="coterie", **in_process("benchmarks.worker", request))
    best = min(row["gcp"] for row in bench.rows if row["kind"] == "coterie")
    for row in bench.rows:
        if row["kind"] != "coterie":
            bench.at_least(f"GCP of {row['label']} ÷ that of our best", round(row["gcp"] / best, 2), 1.0)


def installed(requirements: tuple[str, ...]) -> str | None:
    """Install a peer if need be; None if it is there, else why not."""
    python = PLACE / "bin" / "python"
    if not python.exists():
        venv.create(PLACE, with_pip=True, clear=True)
        (PLACE / ".gitignore").write_text("*\n")
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    errors = [line for line in done.stderr.splitlines() if "ERROR" in line]
    return (errors or ["pip failed"])[-1] if done.returncode else None


def _run_peer(peer: str, encoded: Table, rows: int | None) -> dict[str, Any]:
    """Anonymize Adult by a peer and judge what it published."""
    from pyarrow import csv

    columns = adult(complete=True, part="train").slice(0, rows).select([*ADULT_QUASI, ADULT_SENSITIVE])
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder) / "adult.csv", Path(folder) / "out.csv"
        csv.write_csv(columns, data)
        request = {
            "peer": peer,
            "data": str(data),
            "out": str(out),
            "quasi": list(ADULT_QUASI),
            "sensitive": ADULT_SENSITIVE,
            "k": K,
            "hierarchies": _levels(columns, rows),
        }
        script = str(Path(__file__).with_name("peers_inside.py"))
        done = subprocess.run(
            [PLACE / "bin" / "python", script, json.dumps(request)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{peer} failed:\n{done.stderr[-1500:]}")
        figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        text = csv.ConvertOptions(column_types=dict.fromkeys(ADULT_QUASI, pa.string()))
        published = csv.read_csv(out, convert_options=text)
    judge = {"anonypy": judge_counts, "anjana": judge_rows}[peer]
    return {**figures, "judged": judge(published, encoded)}


def _levels(columns: pa.Table, rows: int | None) -> dict[str, list[list[str]]]:
    """The hierarchies as rows from value to root, ages in intervals of 5, 10 and 20 years."""
    trees = {**case("adult", rows=rows).config.hierarchies, "age": Hierarchy.intervals(5, 10, 20)}
    return {
        name: [line.split(";") for line in tree.csv_text(columns[name].unique()).splitlines()]
        for name, tree in trees.items()
    }


def judge_rows(published: pa.Table, encoded: Table) -> dict[str, Any]:
    """Rows published alike are a group; `row` tells which rows they are, those that are absent are suppressed."""
    keys = published.select(ADULT_QUASI).to_pandas()
    group = keys.groupby(list(ADULT_QUASI), sort=False).ngroup().to_numpy()
    labels = np.full(encoded.rows, -1, dtype=np.int32)
    labels[published["row"].to_numpy()] = group
    return _judged(encoded, Grouping.of(encoded.codes, labels), encoded.rows)


def judge_counts(published: pa.Table, encoded: Table) -> dict[str, Any]:
    """One line for each class and sensitive value, with a count; cells are 17-25 or a,b,c and tight as they are."""
    keys = published.select(ADULT_QUASI).to_pandas()
    of_line = keys.groupby(list(ADULT_QUASI), sort=False).ngroup().to_numpy()
    classes = keys.groupby(list(ADULT_QUASI), sort=False).head(1)
    lo, hi = (np.empty((len(classes), encoded.attributes), dtype=np.int32) for _ in range(2))
    for j, domain in enumerate(encoded.domains):
        lo[:, j], hi[:, j] = zip(*(_codes(domain, cell) for cell in classes[domain.name]), strict=True)
    labels = np.repeat(of_line, published["count"].to_numpy()).astype(np.int32)
    return _judged(encoded, Grouping(labels, lo, hi), len(labels))


def _codes(domain: Domain, cell: str) -> tuple[int, int]:
    """Smallest and largest code in a cell of anonypy."""
    code = {str(value): at for at, value in enumerate(domain.values.to_pylist())}
    parts = cell.split("-") if domain.kind == "number" else cell.split(",")
    codes = [code[part] for part in parts]
    return min(codes), max(codes)


def _judged(encoded: Table, grouping: Grouping, rows: int) -> dict[str, Any]:
    measures = measure_boxes(encoded.domains, lo=grouping.lo, hi=grouping.hi, labels=grouping.labels, k=K)
    found = {name: measures[name] for name in ("gcp", "groups", "smallest", "largest", "suppressed")}
    return {"rows": rows, **found}


def lines(result: dict) -> list[str]:
    cells = []
    best = min(row["gcp"] for row in result["rows"])
    for row in result["rows"]:
        name = row["label"] if row["kind"] != "coterie" else f"coterie, `{row['label'].replace(', ', '`, ', 1)}"
        name += "" if row["kind"] != "coterie" or "," in row["label"] else "`"
        cells.append([
            name, loss(row["gcp"], best=row["gcp"] == best), f"{row['groups']:,.0f}",
            f"{row['smallest']:,.0f}", f"{row['suppressed']:,.0f}", number(row["cpu_min"], 2),
            number(row["wall_min"], 2), f"{row['peak_mb']:,.0f}",
        ])  # fmt: skip
    head = ["tool", "GCP", "groups", "smallest", "suppressed", "CPU s", "clock s", "peak MB"]
    kinds = "; ".join(f"{peer}: {kind}" for peer, kind in KINDS.items())
    return [
        f"Adult as above, k = {K}; {kinds}. Their time is that of the call that anonymizes a pandas frame; ours is the "
        "grouping step. Groups are taken from their output, with boxes drawn as tightly as the rows allow, which "
        "favours them over their own cells.",
        "",
        *table(head, cells),
    ]
