"""Associations between pairs of columns, before and after.

* two categories: Cramér's V of the expected counts, each cell spread evenly over its possible values;
* two numbers: Pearson's correlation of cell midpoints;
* a number and a category: the correlation ratio η of the number's midpoints over the category's values.

All lie between 0 and 1, correlations between −1 and 1. Pairs with a missing value are excluded from
correlations; for categories, missing is a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from coterie.arrays import Float64, Int64
from coterie.evaluation.before_after import BeforeAfter, joint_cells
from coterie.evaluation.bins import Bins, bins_of

if TYPE_CHECKING:
    from coterie.evaluation.cells import Cells

Kind = Literal["cramers_v", "correlation", "correlation_ratio"]

# Tables of counts with more rows than this say little; hierarchies are cut above, rare values joined.
MOST_VALUES = 60


@dataclass(frozen=True)
class Association:
    """The association of two columns; None if a column is constant."""

    first: str
    second: str
    measure: Kind
    before: float | None
    after: float | None

    @property
    def difference(self) -> float | None:
        """The increase in the association."""
        return None if self.before is None or self.after is None else self.after - self.before

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        named = {"first": self.first, "second": self.second, "measure": self.measure}
        return {**named, "before": self.before, "after": self.after, "difference": self.difference}


def associations(tables: BeforeAfter, columns: Sequence[str]) -> tuple[Association, ...]:
    """Measure every pair of these columns before and after."""
    pairs = {name: tables.column(name) for name in columns}
    bins = {
        name: bins_of(pair.domain, most=MOST_VALUES, before=pair.before)
        for name, pair in pairs.items()
        if pair.domain.kind != "number"
    }
    found = []
    for first, second in combinations(columns, 2):
        numbers = [name for name in (first, second) if name not in bins]
        kind: Kind = ("cramers_v", "correlation_ratio", "correlation")[len(numbers)]
        sides = [
            _associated(getattr(pairs[first], side), getattr(pairs[second], side), bins.get(first), bins.get(second))
            for side in ("before", "after")
        ]
        found.append(Association(first, second, kind, sides[0], sides[1]))
    return tuple(found)


def _associated(first: Cells, second: Cells, first_bins: Bins | None, second_bins: Bins | None) -> float | None:
    if len(first.of_row) == 0:
        return None
    classes, starts = joint_cells([first, second])
    rows = np.bincount(classes).astype(np.float64)
    one, two = first.of_row[starts], second.of_row[starts]
    if first_bins is not None and second_bins is not None:
        return cramers_v(_contingency(first_bins.spread(first), second_bins.spread(second), one, two, rows))
    if first_bins is None and second_bins is None:
        return correlation(first.middle()[one], second.middle()[two], rows)
    if first_bins is None:
        assert second_bins is not None
        return correlation_ratio(first.middle()[one], second_bins.spread(second)[two], rows)
    return correlation_ratio(second.middle()[two], first_bins.spread(first)[one], rows)


def _contingency(first: Float64, second: Float64, one: Int64, two: Int64, rows: Float64) -> Float64:
    """Return the expected counts: pairs of cells with their rows, each spread over both columns' bins."""
    # Σ rows · first[one] ⊗ second[two], added up by the first cell first: it has far fewer values than there are pairs.
    by_first = np.zeros((len(first), second.shape[1]))
    for at in range(second.shape[1]):
        by_first[:, at] = np.bincount(one, weights=rows * second[two, at], minlength=len(first))
    table: Float64 = first.T @ by_first
    return table


def cramers_v(table: Float64) -> float | None:
    """Return Cramér's V of a table of counts; None if either column has only one value."""
    table = table[table.sum(axis=1) > 0.0][:, table.sum(axis=0) > 0.0]
    smaller = min(table.shape) - 1
    if smaller < 1:
        return None
    total = float(table.sum())
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    squares = float(((table - expected) ** 2 / expected).sum())
    return float(np.sqrt(min(max(squares / (total * smaller), 0.0), 1.0)))


def correlation(first: Float64, second: Float64, rows: Float64) -> float | None:
    """Return Pearson's correlation of weighted pairs; None if either is constant."""
    known = ~(np.isnan(first) | np.isnan(second))
    first, second, rows = first[known], second[known], rows[known]
    if rows.sum() <= 0.0 or np.ptp(first) == 0.0 or np.ptp(second) == 0.0:
        return None
    one = first - np.average(first, weights=rows)
    two = second - np.average(second, weights=rows)
    spread = float(np.sqrt((rows @ one**2) * (rows @ two**2)))
    return float(np.clip(float(rows @ (one * two)) / spread, -1.0, 1.0)) if spread > 0.0 else None


def correlation_ratio(numbers: Float64, shares: Float64, rows: Float64) -> float | None:
    """Return η: the root of the share of a number's variance explained by category means; None if it is constant.

    Args:
        numbers: Pair → number.
        shares: [pair, category] probability of the category.
        rows: Pair → its number of rows.
    """
    known = ~np.isnan(numbers)
    numbers, shares, rows = numbers[known], shares[known], rows[known]
    if rows.sum() <= 0.0 or np.ptp(numbers) == 0.0:
        return None
    centred = numbers - np.average(numbers, weights=rows)
    mass = shares.T @ rows
    held = mass > 0.0
    means = (shares.T @ (rows * centred))[held] / mass[held]
    explained = float(mass[held] @ means**2) / float(rows @ centred**2)
    return float(np.sqrt(min(max(explained, 0.0), 1.0)))
