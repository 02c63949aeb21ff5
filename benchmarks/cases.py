"""The tables that methods are measured on, as columns with a configuration, and as codes."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coterie.datasets import ADULT_QUASI, adult, adult_hierarchies
from coterie.hierarchies.hierarchy import Hierarchy
from coterie.measures.measures import measure_boxes
from coterie.settings.config import Config
from coterie.table.encode import encode
from coterie.table.table import Table

if TYPE_CHECKING:
    import pyarrow as pa

    from coterie.table.grouping import Grouping

ARX = Path(os.environ.get("COTERIE_ARX", Path(__file__).resolve().parents[2] / "shared/data/hierarchies/arx"))
"""a folder with the hierarchies for Adult that ARX ships, to compare with what others measured; it may be absent"""

# Adult by the order in which curves over the number of attributes take its columns.
ADULT_WIDE = (
    "age", "sex", "race", "workclass", "education", "marital-status", "occupation", "native-country", "salary-class",
    "hours-per-week", "relationship", "capital-gain",
)  # fmt: skip

MIXED_ROWS = 1_000_000
SPREADS = (0.5, 0.4, 1.0, 0.6, 0.5, 0.8, 1.0)


class Case(NamedTuple):
    """A table to anonymize."""

    columns: pa.Table
    config: Config

    def table(self) -> Table:
        """Its codes, fresh: nothing that a method would have to work out is there yet."""
        return encode(self.columns, self.config).table


def case(name: str, *, rows: int | None = None, attributes: int | None = None) -> Case:
    """A table by name, see `CASES`; the first rows and attributes of it, if these are given."""
    return CASES[name](rows, attributes)


def adult_hierarchies_from() -> str:
    """Whose hierarchies the Adult table is measured with."""
    return "ARX" if ARX.is_dir() else "coterie"


def no_arx() -> str:
    """Why figures with ARX's hierarchies cannot be compared; empty if they can."""
    return "" if adult_hierarchies_from() == "ARX" else f"ARX's hierarchies are not in {ARX} (COTERIE_ARX)"


def told_hierarchies() -> str:
    """The line that every run begins with."""
    why = no_arx()
    told = f"{why}; checks against figures with them are skipped" if why else f"from {ARX}"
    return f"Adult is measured with {adult_hierarchies_from()}'s hierarchies: {told}."


@cache
def _adult_trees() -> dict[str, Hierarchy]:
    bundled = adult_hierarchies()
    files = {name: ARX / f"adult_hierarchy_{name}.csv" for name in bundled}
    return bundled | {name: Hierarchy.from_csv(path) for name, path in files.items() if path.exists()}


def _adult(rows: int | None, attributes: int | None, *, numbers: tuple[str, ...] = ("age",)) -> Case:
    columns = adult(complete=True, part="train")
    quasi = ADULT_QUASI if attributes is None else ADULT_WIDE[:attributes]
    trees = {name: tree for name, tree in _adult_trees().items() if name in quasi and name not in numbers}
    return Case(columns.slice(0, rows).select(quasi), Config(quasi=quasi, hierarchies=trees))


def adult_with(sensitive: str, *, rows: int | None = None) -> Case:
    """Adult with one of its quasi-identifiers as the sensitive column instead."""
    columns = adult(complete=True, part="train").slice(0, rows).select(ADULT_QUASI)
    quasi = tuple(name for name in ADULT_QUASI if name != sensitive)
    trees = {name: tree for name, tree in _adult_trees().items() if name in quasi and name != "age"}
    return Case(columns, Config(quasi=quasi, sensitive=(sensitive,), hierarchies=trees))


def _census(rows: int | None, attributes: int | None) -> Case:
    from benchmarks.census import QUASI, census, hierarchies

    quasi = QUASI[: attributes or len(QUASI)]
    columns = census(rows or 100_000, attributes=len(quasi))
    trees = {name: tree for name, tree in hierarchies().items() if name in quasi}
    return Case(columns.select(quasi), Config(quasi=quasi, hierarchies=trees))


def _kdd(rows: int | None, attributes: int | None) -> Case:
    from benchmarks.kdd import QUASI, census_income

    quasi = QUASI[: attributes or len(QUASI)]
    flat = {name: Hierarchy.flat() for name in quasi if name != "age"}
    return Case(census_income().slice(0, rows).select(quasi), Config(quasi=quasi, hierarchies=flat))


def _numbers(rows: int | None, attributes: int | None) -> Case:
    """Numbers that go together, skewed, nearly all of them distinct."""
    import pyarrow as pa

    rng = np.random.default_rng(20)
    count, size = rows or 20_000, attributes or 5
    common = rng.normal(size=count)
    values = {f"x{at}": np.round(np.exp(0.6 * common + 0.8 * rng.normal(size=count)), 3) for at in range(size)}
    return Case(pa.table(values), Config(quasi=tuple(values)))


def _mixed(rows: int | None, attributes: int | None) -> Case:
    """Numbers of different spread and categories, some with a hierarchy, that go together; nearly all rows distinct."""
    import pyarrow as pa

    count = rows or 100_000
    rng = np.random.default_rng(21)
    # A column at a time, over the largest table: the first rows of a larger table are those of a smaller one.
    draw = [rng.random(MIXED_ROWS)[:count] for _ in range(8)]
    level = draw[0]  # what all columns have in common
    near = [np.clip(level + spread * (each - 0.5), 0, 0.999999) for spread, each in zip(SPREADS, draw[1:], strict=True)]
    places = np.array([f"{at // 60}-{at // 12 % 5}-{at:03}" for at in range(300)])
    values = {
        "age": 18 + (70 * near[0]).astype(np.int64),
        "income": np.round(np.exp(8 + 3.5 * near[1])).astype(np.int64) // 10 * 10,
        "hours": (60 * np.sqrt(draw[2])).astype(np.int64),
        "weight": np.round(45 + 60 * near[3], 1),
        "place": places[(300 * near[4] ** 2).astype(np.int64)],
        "trade": np.char.add("trade ", (40 * near[5] ** 3).astype(np.int64).astype(str)),
        "state": np.char.add("state ", (6 * draw[7] ** 2).astype(np.int64).astype(str)),
    }
    chosen = dict(list(values.items())[: attributes or len(values)])
    rows_of_places = [(place, place[:3], place[:1], "*") for place in places.tolist()]
    trees = {"place": Hierarchy.from_rows(rows_of_places), "trade": Hierarchy.flat(), "state": Hierarchy.flat()}
    trees = {name: tree for name, tree in trees.items() if name in chosen}
    return Case(pa.table(chosen), Config(quasi=tuple(chosen), hierarchies=trees))


CASES: dict[str, Callable[[int | None, int | None], Case]] = {
    "adult": _adult,
    "adult-trees": partial(_adult, numbers=()),
    "census": _census,
    "kdd": _kdd,
    "mixed": _mixed,
    "numbers": _numbers,
}
"""adult-trees is Adult with a hierarchy on every column, age included"""


def bound_of(table: Table, k: int) -> float:
    """The GCP below which no groups of at least k rows can be had."""
    from coterie.releases.bound import guided_bound

    return guided_bound(table, k, threads=os.cpu_count() or 1) / (table.rows * table.attributes)


def judged(table: Table, grouping: Grouping, k: int) -> dict[str, float]:
    """What a grouping is worth, and whether it is one: `outside` and `small` are rows and groups that break it."""
    boxes = grouping.published_boxes()
    measures = measure_boxes(table.domains, lo=boxes.lo, hi=boxes.hi, labels=boxes.labels, k=k, codes=table.codes)
    return {
        "gcp": measures["gcp"],
        "groups": grouping.groups,
        "smallest": int(grouping.sizes.min(initial=table.rows)),
        "largest": int(grouping.sizes.max(initial=0)),
        "suppressed": int(measures["suppressed"]),
        "outside": int(measures["outside"]),
        "small": int(np.count_nonzero(grouping.sizes < k)),
        "per_row": grouping.by_rows,
    }
