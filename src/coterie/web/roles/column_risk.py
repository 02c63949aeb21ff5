"""Each column's contribution to the re-identification risk, computed in a worker.

For a quasi-identifier it is the risk that leaving it out would remove; for any other column, the risk that making it
one would add.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from coterie.arrays import Int64
from coterie.disclosure.columns import rank_columns
from coterie.errors import DataError
from coterie.methods._method import Progress
from coterie.values.codes import Codes, column_codes, row_classes
from coterie.web.project import Project, read_json, write_json

MOST_OTHERS = 60
"""the maximum number of columns besides quasi-identifiers"""


class AddedRisk(NamedTuple):
    """The contribution of one column."""

    share: float
    """to the average risk of a row, 0 to 1"""
    uniques: int
    """rows that are unique because of it"""


class Risks(NamedTuple):
    """The contributions of all columns, for one choice of quasi-identifiers."""

    quasi: list[str]
    average: float
    """mean risk of a row: 1 ÷ rows like it"""
    uniques: int
    """rows that are unique on their quasi-identifiers"""
    rows: int
    added: dict[str, AddedRisk]


def risk_folder(project: Project) -> Path:
    """Return the folder of the worker's progress."""
    return project.folder / "risk"


def risks_of(project: Project) -> Risks | None:
    """Return the last result, if any."""
    values = read_json(project.folder / "risk.json")
    if not values:
        return None
    added = {name: AddedRisk(*each) for name, each in values.pop("added").items()}
    return Risks(**values, added=added)


def risk_job(job: dict[str, Any], _: Path, tell: Progress) -> None:
    """Write `risk.json` to the project's folder. `quasi` and `others` are given by the job."""
    folder, quasi, others = Path(job["project"]), job["quasi"], job["others"][:MOST_OTHERS]
    with parquet.ParquetFile(folder / "table.parquet") as file:
        tell("comparing rows", 0, 1 + len(others))
        table = file.read(columns=quasi) if quasi else pa.table({})
        found = rank_columns(table, quasi=quasi, pairs=False) if quasi else None
        added = {} if found is None else {r.columns[0]: AddedRisk(r.adds, r.adds_uniques) for r in found.single}
        rows = file.metadata.num_rows
        classes = _classes(table, quasi, rows)
        average, uniques = _risk(classes.codes, classes.size)
        for place, name in enumerate(others):
            tell("comparing rows", 1 + place, 1 + len(others))
            try:
                column = column_codes(file.read(columns=[name]).column(name), name=name)
            except DataError:
                continue  # cells that cannot be compared, such as lists
            new_average, new_uniques = _risk(*row_classes([classes, column]))
            added[name] = AddedRisk(new_average - average, new_uniques - uniques)
    write_json(folder / "risk.json", Risks(quasi, average, uniques, rows, added)._asdict())


def _risk(of_row: Int64, classes: int) -> tuple[float, int]:
    """Return the mean risk of a row, and the number of rows alone in their class."""
    sizes = np.bincount(of_row, minlength=classes)
    return int(np.count_nonzero(sizes)) / max(len(of_row), 1), int(np.count_nonzero(sizes == 1))


def _classes(table: pa.Table, quasi: Sequence[str], rows: int) -> Codes:
    """Return the equivalence classes over all quasi-identifiers as one column of codes."""
    if not quasi:
        return Codes(np.zeros(rows, dtype=np.int64), 1, -1, pa.nulls(0))
    of_row, size = row_classes([column_codes(table.column(name), name=name) for name in quasi])
    return Codes(of_row, size, -1, pa.nulls(0))
