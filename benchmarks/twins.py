"""Each method beside the slow twin that the tests hold it to: the same groups, and how long both take.

Twins are plain Python over lists, straight from the papers, so part of the difference is the language. They are run on
the first rows of Adult, twice as many the second time, which shows how their time grows.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.cases import adult_hierarchies_from, case
from benchmarks.harness import ROOT, Bench, Timing
from benchmarks.markdown import number, table
from benchmarks.variants import variants
from coterie.methods import Run, find_method
from coterie.table.domain import Domain
from coterie.table.grouping import renumber
from coterie.table.table import Table

TITLE = "Methods and their reference implementations"
K = 5
ROWS = (250, 500)
WHOLE = 30_162

Plain = dict[str, Any]


def plain_attributes(domains: tuple[Domain, ...]) -> list[Plain]:
    """The attributes as the twins take them; see tests/oracles/naive_costs.py."""
    made: list[Plain] = []
    for domain in domains:
        if domain.tree is None:
            assert domain.numbers is not None
            values = [None if math.isnan(value) else value for value in domain.numbers.tolist()]
            made.append({"kind": "number", "values": values, "weight": domain.weight})
        else:
            parents = [None if parent < 0 else parent for parent in domain.tree.parent.tolist()]
            leaves = domain.tree.leaf_node.tolist()
            made.append({"kind": "tree", "parents": parents, "leaves": leaves, "weight": domain.weight})
    return made


def _key() -> int:
    return int(Run(seed=0).rng().integers(2**64, dtype=np.uint64))


def _order(rows: int) -> list[int]:
    return list(Run(seed=0).rng().permutation(rows).tolist())


# Method → its twin's module and what it is called with besides rows, attributes and k.
TWINS: dict[str, tuple[str, Callable[[int], dict[str, Any]]]] = {
    "bottom-up": ("bottom_up", lambda rows: {}),
    "cb": ("cb", lambda rows: {"key": _key()}),
    "gccg": ("gccg", lambda rows: {}),
    "kaca": ("kaca", lambda rows: {"seed": 0}),
    "kmembers": ("kmembers", lambda rows: {"seed": 0}),
    "mondrian": ("mondrian", lambda rows: {}),
    "top-down": ("top_down", lambda rows: {"order": _order(rows)}),
}


def run(bench: Bench) -> None:
    sys.path.insert(0, str(ROOT / "tests"))
    bench.facts |= {"hierarchies": adult_hierarchies_from(), "whole": WHOLE}
    known = [variant.method for variant in variants(all_options=False)]
    left_out = [f"`{name}`" for name in known if name not in TWINS]
    if left_out:
        bench.note(f"Not included: {', '.join(left_out)}. Their tests do not compare groups.")
    for name in (name for name in known if name in TWINS):
        method = find_method(name)
        module, more = TWINS[name]
        twin = getattr(import_module(f"oracles.naive_{module}"), module)
        for rows in (100,) if bench.quick else ROWS:
            few = case("adult", rows=rows).table()
            plain, attributes = few.codes.tolist(), plain_attributes(few.domains)
            slow, fast = Timing(), Timing()
            slow.once(twin, plain, attributes, K, **more(rows))
            method.run(few, K, None, Run(seed=0))
            for _ in range(5):
                fast.once(method.run, Table(few.codes, few.domains), K, None, Run(seed=0))
            same = np.array_equal(fast.answer.labels, _labels(slow.answer, rows))
            bench.row(
                method=name, label=name, rows=rows, twin_cpu=round(slow.cpu[0], 3), cpu_min=round(min(fast.cpu), 6),
                times=round(slow.cpu[0] / min(fast.cpu)), same=same,
            )  # fmt: skip
            bench.holds(f"{name}, {rows} rows: the same groups", same)


def _labels(answer: list[Any], rows: int) -> np.ndarray:
    """A twin's answer, labels or lists of rows, as labels."""
    if answer and isinstance(answer[0], list):
        labels = np.full(rows, -1)
        for number_, group in enumerate(answer):
            labels[group] = number_
        return renumber(labels)
    return renumber(np.asarray(answer))


def lines(result: dict) -> list[str]:
    cells = []
    for name in dict.fromkeys(row["label"] for row in result["rows"]):
        few, many = (row for row in result["rows"] if row["label"] == name)
        growth = many["twin_cpu"] / few["twin_cpu"]
        hours = many["twin_cpu"] * (result["whole"] / many["rows"]) ** math.log2(growth) / 3600
        cells.append([
            f"`{name}`", number(few["twin_cpu"]), number(many["twin_cpu"]), number(growth, 1),
            number(1000 * many["cpu_min"], 2), f"{many['times']:,}", f"{hours:,.1f}",
        ])  # fmt: skip
    few, many = sorted({row["rows"] for row in result["rows"]})
    head = [
        "",
        f"reference, {few} rows, s",
        f"{many} rows, s",
        "growth",
        f"method, {many} rows, ms",
        "ratio",
        "reference, whole table, h",
    ]
    return [
        "The tests compare every method with a reference implementation in plain Python that follows its paper and "
        f"scans everything. On the first {few} and {many} rows of Adult, k = {K}, both form the same groups. The last "
        f"column extrapolates the reference to {result['whole']:,} rows. Part of the ratio is due to the language: the "
        "next table has a compiled brute-force search.",
        "",
        *table(head, cells),
    ]
