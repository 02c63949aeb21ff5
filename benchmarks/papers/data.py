"""The tables of the papers, each as codes to group and codes to judge the groups by."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.datasets import ADULT_QUASI, ADULT_SENSITIVE, adult, adult_hierarchies
from coterie.hierarchies.hierarchy import Hierarchy
from coterie.settings.config import Config
from coterie.table.encode import encode
from coterie.table.table import Table

LI_QUASI = (*ADULT_QUASI, ADULT_SENSITIVE)
"""Table 2 of Li et al., in its order"""
XU_QUASI = (
    "age", "workclass", "education-num", "marital-status", "occupation", "race", "sex", "native-country",
)  # fmt: skip
XU_TREES = ("workclass", "marital-status")
"""the two attributes of Xu et al. that have a hierarchy (their Fig. 6); all others are numbers or flat"""
NI_QUASI = ("age", "sex", "race", "education")
MADE_VALUES = 16
"""synthetic attributes of Xu et al. are whole numbers from 1 to this"""


class Data(NamedTuple):
    """A table of a paper."""

    table: Table
    """what methods group"""
    judge: Table
    """what groups are measured by; the same rows, perhaps with other hierarchies"""
    columns: pa.Table
    config: Config
    """of `judge`"""
    numbered: Data | None = None
    """the same rows with categories as numbers, if these are what methods group"""


@lru_cache(maxsize=4)
def _made(name: str, size: tuple[tuple[str, Any], ...]) -> Data:
    made: Data = MAKERS[name](**dict(size))
    return made


def data(name: str, size: dict[str, Any]) -> Data:
    """A table by name. Its codes are shared between calls; methods are given a fresh Table around them."""
    return _made(name, tuple(sorted((key, _frozen(value)) for key, value in size.items())))


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _sampled(columns: pa.Table, rows: int | None) -> pa.Table:
    """All rows, or so many drawn at random, in their order: the first rows of a file may be unlike the others."""
    if rows is None or rows >= columns.num_rows:
        return columns
    drawn = np.random.default_rng(0).choice(columns.num_rows, rows, replace=False)
    return columns.take(np.sort(drawn))


def _alike(columns: pa.Table, config: Config) -> Data:
    table = encode(columns, config).table
    return Data(table, table, columns, config)


def _li(attributes: int = 9, rows: int | None = None) -> Data:
    """Adult with 45,222 complete rows, ages in ranges of 5, 10 and 20 years; the first attributes of Table 2."""
    quasi = LI_QUASI[:attributes]
    trees = {name: tree for name, tree in adult_hierarchies().items() if name in quasi}
    return _alike(_sampled(adult(complete=True), rows).select(quasi), Config(quasi=quasi, hierarchies=trees))


def _xu(rows: int | None = None, numbers: bool = False) -> Data:
    """Adult with 30,162 rows; with `numbers`, categories are numbered in alphabetical order and cut as numbers are."""
    columns = _sampled(adult(complete=True, part="train"), rows).select(XU_QUASI)
    bundled = adult_hierarchies()
    categories = [name for name in XU_QUASI if pa.types.is_string(columns.schema.field(name).type)]
    trees = {name: bundled[name] if name in XU_TREES else Hierarchy.flat() for name in categories}
    made = _alike(columns, Config(quasi=XU_QUASI, hierarchies=trees))
    if not numbers:
        return made
    other = _numbered(columns, categories)
    return made._replace(table=other.table, numbered=other)


def _numbered(columns: pa.Table, categories: list[str]) -> Data:
    types = dict.fromkeys(columns.column_names, "number")
    return _alike(_ranked(columns, categories), Config(quasi=tuple(columns.column_names), types=types))


def _ranked(columns: pa.Table, names: list[str]) -> pa.Table:
    """Texts as their places in alphabetical order."""
    for name in names:
        rank = pc.index_in(columns[name], pc.unique(columns[name]).sort())
        columns = columns.set_column(columns.schema.get_field_index(name), name, rank)
    return columns


def _synthetic(
    shape: str, rows: int = 10_000, attributes: int = 4, sigma: float = 1.0, seed: int = 0, weights: Any = ()
) -> Data:
    """Independent whole numbers from 1 to 16: uniform, or Gaussian around the middle, rounded and clipped."""
    rng = np.random.default_rng((seed, rows, attributes))
    if shape == "uniform":
        values = rng.integers(1, MADE_VALUES + 1, size=(rows, attributes))
    else:
        middle = (1 + MADE_VALUES) / 2
        values = np.clip(np.rint(rng.normal(middle, sigma, size=(rows, attributes))), 1, MADE_VALUES).astype(np.int64)
    columns = pa.table({f"A{j + 1}": values[:, j] for j in range(attributes)})
    quasi = tuple(columns.column_names)
    own = dict(zip(quasi, weights, strict=True)) if weights else {}
    return _alike(columns, Config(quasi=quasi, types=dict.fromkeys(quasi, "number"), weights=own))


def ni_rows() -> pa.Table:
    """The training rows whose work class is known, without the column occupation and without duplicates."""
    known = adult(part="train")
    known = known.filter(pc.is_valid(known["workclass"])).drop_columns(["occupation", "part"])
    numbered = known.append_column("at", pa.array(np.arange(known.num_rows)))
    first = numbered.group_by(known.column_names, use_threads=False).aggregate([("at", "min")])["at_min"]
    return known.take(pa.array(np.sort(first)))


def _ni(age: str = "number", rows: int | None = None) -> Data:
    """Adult as 30,661 rows with four attributes; ages as numbers, or in the ranges that Incognito and KACA need.

    Education has three levels (Table 9): the values, the upper labels of the bundled hierarchy, and the root.
    """
    columns = _sampled(ni_rows(), rows).select(NI_QUASI)
    upper: dict[str, list[str]] = {}
    for value in sorted(set(columns["education"].to_pylist())):
        upper.setdefault(_upper_label(value), []).append(value)
    trees = {"sex": Hierarchy.flat(), "race": Hierarchy.flat(), "education": Hierarchy.from_mapping(upper)}
    made = _alike(columns, Config(quasi=NI_QUASI, hierarchies=trees))
    if age == "number":
        return made
    ranges = Config(quasi=NI_QUASI, hierarchies={**trees, "age": Hierarchy.intervals(5, 10, 20)})
    table = encode(columns, ranges).table
    # Ages stand in the same order in both, so a box of one is a box of the other.
    assert (table.codes == made.judge.codes).all()
    return made._replace(table=table)


@lru_cache
def _upper_labels() -> dict[str, str]:
    from coterie.datasets import adult_hierarchy_files

    lines = adult_hierarchy_files()["education"].read_text(encoding="utf-8").splitlines()
    return {line.split(";")[0]: line.split(";")[-2] for line in lines}


def _upper_label(value: str) -> str:
    return _upper_labels()[value]


def _sal(attributes: int = 7, rows: int = 500_000, ordered: bool = False) -> Data:
    """The synthetic census of the SAL schema; race and country are numbers, as Table 3 of He et al. has them."""
    from benchmarks.census import QUASI, census, hierarchies

    trees = {name: tree for name, tree in hierarchies().items() if name not in ("race", "country")}
    return _census(census(rows, attributes=attributes).select(QUASI[:attributes]), trees, ordered=ordered)


def _income(attributes: int = 7, rows: int = 600_000, ordered: bool = False) -> Data:
    from benchmarks.papers.income import QUASI, hierarchies, income

    return _census(income(rows).select(QUASI[:attributes]), hierarchies(), ordered=ordered)


def _census(columns: pa.Table, trees: dict[str, Hierarchy], *, ordered: bool) -> Data:
    """Categories with their trees; all others are numbers, texts by their rank. With `ordered`, categories are too."""
    quasi = tuple(columns.column_names)
    trees = {} if ordered else {name: tree for name, tree in trees.items() if name in quasi}
    texts = [name for name in quasi if name not in trees and pa.types.is_string(columns.schema.field(name).type)]
    types = {name: "number" for name in quasi if name not in trees}
    return _alike(_ranked(columns, texts), Config(quasi=quasi, hierarchies=trees, types=types))


def _kdd(attributes: int = 7, rows: int | None = None) -> Data:
    """Census-income, a real census: age is a number, all categories hang directly under their root."""
    from benchmarks.kdd import QUASI, census_income

    quasi = QUASI[:attributes]
    trees = {name: Hierarchy.flat() for name in quasi if name != "age"}
    return _alike(_sampled(census_income(), rows).select(quasi), Config(quasi=quasi, hierarchies=trees))


MAKERS = {
    "li": _li,
    "xu": _xu,
    "synthetic": _synthetic,
    "ni": _ni,
    "sal": _sal,
    "income": _income,
    "kdd": _kdd,
}
