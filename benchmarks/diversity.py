"""What l = 3 costs over k alone on Adult: `compact`, `cb` with its own l-diversity, `mondrian`, and plain repair."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from benchmarks.cases import Case, adult_hierarchies_from, adult_with, judged
from benchmarks.harness import Bench, Timing
from benchmarks.markdown import loss, number, table
from coterie.grouping.promises import models_of
from coterie.grouping.repair.repair import repair
from coterie.methods import Run, find_method
from coterie.table.grouping import Grouping
from coterie.table.table import Table

TITLE = "The cost of l-diversity"
K, L = 10, 3
SENSITIVE = "occupation"
PLAIN = "k alone"
MODELS = {
    PLAIN: (),
    "distinct": (f"l-diversity:{L}:{SENSITIVE}",),
    "frequency": (f"l-diversity:{L}:{SENSITIVE}:frequency",),
}
# Label → method, and whether it considers the model, or groups for k alone and is repaired afterwards.
WAYS = {
    "compact": ("compact", True),
    "compact, repaired": ("compact", False),
    "cb": ("cb", True),
    "cb, repaired": ("cb", False),
    "mondrian": ("mondrian", True),
    "mondrian, repaired": ("mondrian", False),
}
REPETITIONS = 3


def run(bench: Bench) -> None:
    adult = adult_with(SENSITIVE, rows=2_000 if bench.quick else None)
    values = np.unique(np.array(adult.columns[SENSITIVE].to_pylist()), return_counts=True)[1]
    bench.facts |= {"hierarchies": adult_hierarchies_from(), "rows_of_adult": adult.columns.num_rows}
    bench.facts |= {"values": len(values), "most_frequent": round(float(values.max() / values.sum()), 4)}
    for label, (method, told) in WAYS.items():
        _grouped(adult, method, MODELS["distinct"], told=told, repetitions=1)  # its loops are compiled or loaded
        for name, models in MODELS.items():
            found = _grouped(adult, method, models, told=told, repetitions=1 if bench.quick else REPETITIONS)
            bench.row(label=label, method=method, model=name, **found)
            kept = not found["small"] + found["outside"] and _diverse(found, name)
            bench.holds(f"{label}, {name}: every row inside the box of a group of {K} that is l-diverse", kept)
    if not bench.quick:
        _limits(bench)


def _limits(bench: Bench) -> None:
    for name in MODELS:
        of = {row["label"]: row["gcp"] for row in bench.rows if row["model"] == name}
        others = min(value for label, value in of.items() if not label.startswith("compact"))
        bench.at_most(f"compact's GCP ÷ the lowest of other methods, {name}", round(of["compact"] / others, 4), 1.0)


def _diverse(found: dict[str, Any], name: str) -> bool:
    return bool({PLAIN: True, "distinct": found["fewest"] >= L, "frequency": found["share"] <= 1 / L}[name])


def _grouped(case: Case, method: str, models: tuple[str, ...], *, told: bool, repetitions: int) -> dict[str, Any]:
    """Groups that keep the models, how long they took, and what they lost."""
    asked = Case(case.columns, case.config.replace(privacy=models, k=K))
    wanted, encoded, chosen = models_of(asked.config), asked.table(), find_method(method)

    def step(table: Table) -> Grouping:
        run = Run(seed=0, threads=os.cpu_count() or 1, privacy=wanted if told else ())
        grouping = chosen.run(table, K, None, run)
        return repair(table, grouping, wanted, k=K, run=run)

    timing = Timing()
    for _ in range(repetitions):
        fresh = Table(encoded.codes, encoded.domains, encoded.sensitive_codes, encoded.sensitive)
        timing.once(step, fresh)
    return {
        **judged(encoded, timing.answer, K), **_counted(timing.answer, encoded.sensitive_codes[:, 0]), **timing.cells()
    }  # fmt: skip


def _counted(grouping: Grouping, values: np.ndarray) -> dict[str, float]:
    """The fewest distinct sensitive values of a group, and the largest share of one: counted by sorting pairs."""
    pairs, counts = np.unique(np.column_stack([grouping.labels, values]), axis=0, return_counts=True)
    most = np.zeros(grouping.groups)
    np.maximum.at(most, pairs[:, 0], counts)
    fewest = int(np.bincount(pairs[:, 0], minlength=grouping.groups).min())
    return {"fewest": fewest, "share": round(float((most / grouping.sizes).max()), 6)}


def lines(result: dict) -> list[str]:
    rows = result["rows"]
    at = {(row["label"], row["model"]): row for row in rows}
    best = {name: min(row["gcp"] for row in rows if row["model"] == name) for name in MODELS}
    cells = []
    for label in dict.fromkeys(row["label"] for row in rows):
        of = {name: at[label, name] for name in MODELS}
        plain = of[PLAIN]["gcp"]
        cell = [f"`{label.split(',')[0]}`{label[len(label.split(',')[0]) :]}"]
        for name in MODELS:
            cell.append(loss(of[name]["gcp"], best=of[name]["gcp"] == best[name]))
            cell += [] if name == PLAIN else [f"{100 * (of[name]['gcp'] / plain - 1):+.1f} %"]
        cells.append([*cell, *(number(of[name]["cpu_min"], 2) for name in MODELS)])
    head = ["GCP", PLAIN, f"distinct l = {L}", "", f"frequency l = {L}", "", "CPU s", "distinct", "frequency"]
    return [
        f"Adult, {result['rows_of_adult']:,} rows, k = {K}; {SENSITIVE} is the sensitive column and the other seven "
        f"are the quasi-identifiers, with {result['hierarchies']}'s hierarchies. Distinct: at least {L} of its "
        f"{result['values']} values in every group. Frequency: none in more than a third of a group (the most "
        f"frequent is {100 * result['most_frequent']:.1f} % of all). Methods consider the model while they group "
        "or, if marked *repaired*, group for k alone before the shared repair step. `cb` has its own l-diversity, by "
        "frequency; distinct l-diversity always needs the repair. Percentages are relative to the same method with k "
        "alone.",
        "",
        *table(head, cells),
    ]
