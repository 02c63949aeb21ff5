"""The values of a sensitive attribute, as guarantees compare them: distinct, ordered, and with ancestors.

A column with a hierarchy has the hierarchy's leaves; others are numbers, dates or categories, as configured
or else as all of their values look. The judge reads them independently, from the published cells.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from coterie.arrays import Bool, Int64
from coterie.errors import DataError
from coterie.verification.ancestors import Ancestors, climb
from coterie.verification.cells import are_dates, is_text, number_in, numbers_of
from coterie.verification.counts import CellCounts

if TYPE_CHECKING:
    from coterie.settings.config import Config

# A leading zero suggests a zip code or an account number: such texts are numbers only if declared.
_NO_CODE = re.compile(r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
# A text column with this share of numbers among its distinct values is treated as numbers with errors.
_MOSTLY = 0.9


@dataclass(frozen=True, eq=False)
class Sensitive:
    """The values of one sensitive attribute, numbered in order."""

    cells: pa.Array
    """distinct cells, without missing ones"""
    of_cell: Int64
    """index of a cell → value; one more entry for missing cells"""
    totals: Int64
    """value → rows of the release, at least 1"""
    ordered: bool
    """whether the order is meaningful: that of numbers, dates or a hierarchy"""
    tree: Ancestors | None
    """the ancestors of each value, if the column has a hierarchy"""

    @property
    def rows(self) -> int:
        """The number of rows of the release."""
        return int(self.totals.sum())

    def find(self, cells: pa.Array) -> Int64:
        """Return row → value, for cells of this column."""
        kind = self.cells.type
        if not cells.type.equals(kind) and not pa.types.is_null(kind):
            cells = cells.cast(kind)
        places = pc.index_in(cells, self.cells, skip_nulls=True)
        found: Int64 = self.of_cell[places.fill_null(len(self.cells)).to_numpy(zero_copy_only=False)]
        return found


def sensitive_of(name: str, counts: CellCounts, config: Config) -> Sensitive:
    """Read the values of a sensitive attribute from its distinct cells, some of which may have no rows.

    Raises:
        DataError: Values do not fit the type or the hierarchy.
    """
    held = np.flatnonzero(counts.rows)
    cells = counts.values.take(pa.array(held)) if len(held) < len(counts.rows) else counts.values
    rows, hierarchy, kind = counts.rows[held], config.hierarchies.get(name), "category"
    climbed = None if hierarchy is None else climb(hierarchy.form, cells, rows, name=name)
    if climbed is None and (kind := config.types.get(name) or _looks_like(cells, rows, name)) != "category":
        keys = numbers_of(cells, rows, name=name)
    else:
        keys = _plain_order(cells) if climbed is None else climbed.keys
    order, new = _ranked(keys)
    values = int(np.count_nonzero(new))
    of_cell = np.full(len(counts.rows) + 1, values, dtype=np.int64)  # missing values come after the largest
    of_cell[held[order]] = np.cumsum(new) - 1
    every = np.append(counts.rows, counts.missing)
    totals = np.bincount(of_cell, weights=every, minlength=values + 1)[: values + (counts.missing > 0)]
    tree = None
    if climbed is not None:
        paths = [climbed.paths[place] for place in order[new]]
        tree = Ancestors.of(paths, climbed.heights, missing=counts.missing > 0)
    ordered = tree is not None or kind != "category"
    return Sensitive(counts.values, of_cell, totals.astype(np.int64), ordered, tree)


def _ranked(keys: Sequence[Any] | npt.NDArray[Any]) -> tuple[Int64, Bool]:
    """Return positions in ascending order of their keys, and which of them have another key than the previous one."""
    if isinstance(keys, np.ndarray):
        order = np.argsort(keys, kind="stable")
        ascending = keys[order]
        return order, np.append(True, ascending[1:] != ascending[:-1])[: len(order)]
    order = np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
    new = [at == 0 or keys[order[at - 1]] != keys[place] for at, place in enumerate(order)]
    return order, np.array(new, dtype=np.bool_)


def _plain_order(cells: pa.Array) -> Sequence[Any] | npt.NDArray[Any]:
    """Return keys of categories: an arbitrary but stable order."""
    if is_text(cells.type) or not len(cells):
        return list(cells.to_pylist())
    return np.argsort(pc.sort_indices(cells).to_numpy(zero_copy_only=False))


def _looks_like(cells: pa.Array, rows: Int64, name: str) -> str:
    """Guess the type of a column without a hierarchy from its type or, for text, from all of its values."""
    kind = cells.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    if pa.types.is_temporal(kind):
        return "date"
    if not is_text(kind) or len(cells) == 0:
        return "category"
    texts = [text.strip() for text in cells.to_pylist()]
    numbers = np.array([bool(_NO_CODE.fullmatch(text)) and number_in(text) is not None for text in texts])
    if numbers.all():
        return "number"
    if are_dates(texts):
        return "date"
    if numbers.mean() >= _MOSTLY:
        wrong = int(rows[~numbers].sum())
        raise DataError(
            f"Column {name!r} looks like numbers, but {int((~numbers).sum()):,} of its distinct values "
            f"({wrong:,} rows) are text.",
            column=name,
            rows=wrong,
            hint=f'List them in missing_values, or set types.{name} = "category".',
        )
    return "category"
