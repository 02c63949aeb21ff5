"""Distributions before and after: how well a release preserves each column and each pair of columns.

The mass of a generalized cell is spread evenly over its possible values (`cells.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from coterie.arrays import Float64
from coterie.errors import ConfigError, Problem
from coterie.evaluation.associations import Association, associations
from coterie.evaluation.bins import OTHER, bins_of
from coterie.values.axis import floats_of

if TYPE_CHECKING:
    from coterie.evaluation.before_after import BeforeAfter, ColumnPair
    from coterie.evaluation.cells import Cells

# Distinct values of a category to compare; with more, hierarchy levels are compared or rare values merged.
MOST_VALUES = 1000


@dataclass(frozen=True)
class LevelShare:
    """The share of a column's cells at one generalization level."""

    level: int
    """steps above the values: 0 is the value itself; a set or an interval is 1"""
    label: str
    share: float


@dataclass(frozen=True)
class ColumnDistribution:
    """One column before and after, as shares of the rows."""

    name: str
    kind: Literal["number", "category"]
    labels: tuple[str, ...]
    """bin → its name: values of the original, which are confidential"""
    edges: tuple[float, ...] | None
    """numbers: where bins begin and the last one ends"""
    before: tuple[float, ...]
    after: tuple[float, ...]
    distance: float
    """total variation: the share of rows that would have to change their bin, 0 (identical) to 1"""
    levels: tuple[LevelShare, ...]
    mean_before: float | None = None
    mean_after: float | None = None
    deviation_before: float | None = None
    """standard deviation"""
    deviation_after: float | None = None
    """standard deviation over the cells' possible values, including the width of intervals"""

    def top(self, limit: int) -> ColumnDistribution:
        """Return the same with at most this many bins; the rarest categories before share one."""
        if self.kind == "number" or len(self.labels) <= limit:
            return self
        order = np.argsort(-np.asarray(self.before), kind="stable")
        kept, rest = np.sort(order[: limit - 1]), order[limit - 1 :]

        def merged(shares: tuple[float, ...]) -> tuple[float, ...]:
            return (*(shares[at] for at in kept), float(np.asarray(shares)[rest].sum()))

        labels = (*(self.labels[at] for at in kept), OTHER)
        return replace(self, labels=labels, before=merged(self.before), after=merged(self.after))

    def to_dict(self, *, values: bool = True) -> dict[str, Any]:
        """Return plain values; without `values`, no bin names or ends, which are values of the original."""
        found = asdict(self)
        hidden = () if values else ("labels", "edges")
        return {name: value for name, value in found.items() if name not in hidden}


@dataclass(frozen=True)
class Distributions:
    """Every column before and after, and pairs of columns."""

    columns: dict[str, ColumnDistribution]
    associations: tuple[Association, ...] = ()

    @property
    def mean_distance(self) -> float:
        """Mean total variation distance of the columns."""
        return float(np.mean([each.distance for each in self.columns.values()])) if self.columns else 0.0

    @property
    def association_change(self) -> float:
        """Mean |after − before| of the associations that exist in both tables."""
        known = [each.difference for each in self.associations if each.difference is not None]
        return float(np.mean(np.abs(known))) if known else 0.0

    def to_dict(self, *, values: bool = True) -> dict[str, Any]:
        """Return plain values; without `values`, none of the original's."""
        return {
            "mean_distance": self.mean_distance,
            "association_change": self.association_change,
            "columns": {name: each.to_dict(values=values) for name, each in self.columns.items()},
            "associations": [each.to_dict() for each in self.associations],
        }


def distributions(
    tables: BeforeAfter, *, columns: Sequence[str] | None = None, bins: int = 20, pairs: bool = True
) -> Distributions:
    """Compare the columns of a release with the original.

    Args:
        tables: The original and its release.
        columns: The columns; by default all quasi-identifiers and, for pairs, the published sensitive attributes.
        bins: The number of equal-width bins for numbers.
        pairs: Whether to compare pairs of columns too.
    """
    if bins < 1:
        raise ConfigError([Problem("bins", "must be at least 1")])
    chosen = tuple(columns) if columns is not None else tables.config.quasi
    found = {name: _column(tables.column(name), bins) for name in chosen}
    if not pairs:
        return Distributions(found)
    beside = () if columns is not None else tables.config.sensitive
    joined = (*chosen, *(name for name in beside if name in tables.published.column_names))
    return Distributions(found, associations(tables, joined))


def _column(pair: ColumnPair, bins: int) -> ColumnDistribution:
    domain, number = pair.domain, pair.domain.kind == "number"
    made = bins_of(domain, most=bins if number else MOST_VALUES, before=pair.before)
    before, after = _shares(made.mass(pair.before)), _shares(made.mass(pair.after))
    moments: dict[str, float | None] = {}
    values = floats_of(domain) if number else None
    if values is not None and len(values):
        for side, cells in (("before", pair.before), ("after", pair.after)):
            moments[f"mean_{side}"], moments[f"deviation_{side}"] = _moments(cells, float(values[0]))
    return ColumnDistribution(
        name=domain.name,
        kind="number" if number else "category",
        labels=made.labels,
        edges=made.edges,
        before=tuple(before.tolist()),
        after=tuple(after.tolist()),
        distance=float(np.abs(before - after).sum() / 2),
        levels=_levels(pair.after),
        **moments,
    )


def _shares(mass: Float64) -> Float64:
    return mass / max(float(mass.sum()), 1e-300)


def _moments(cells: Cells, base: float) -> tuple[float | None, float | None]:
    """Return the mean and standard deviation over the cells' possible values, without missing ones."""
    weights = cells.rows * (1.0 - cells.blank)
    total = float(weights.sum())
    if total <= 0.0:
        return None, None
    middle = np.nan_to_num(cells.middle())
    mean = float(weights @ middle) / total
    width = np.nan_to_num(cells.high - cells.low)
    # The variance of an even spread: w(w + 2)/12 over w + 1 whole numbers, w²/12 over a length w.
    inner = (width * (width + 2.0) if cells.whole else width**2) / 12.0
    variance = float(weights @ ((middle - mean) ** 2 + inner)) / total
    return base + mean, float(np.sqrt(max(variance, 0.0)))


def _levels(cells: Cells) -> tuple[LevelShare, ...]:
    """Return the shares of cells by generalization level."""
    domain, rows = cells.domain, cells.rows.astype(np.float64)
    level = np.where(cells.exact, 0, 1)
    names = {0: "value", 1: "interval" if domain.kind == "number" else "set"}
    if domain.tree is not None and domain.labelled and not cells.sets:
        tree = domain.tree
        level = tree.height[tree.common_ancestor(cells.lo, cells.hi)].astype(np.int64)
        level[cells.exact] = 0
        names |= {each: f"level {each}" for each in range(1, int(tree.height[0]) + 1)}
    top = max(max(names), 2 if domain.tree is None or not domain.labelled or cells.sets else 1)
    level = np.where(cells.root, top, level)
    names[top] = "any value"
    total = max(float(rows.sum()), 1.0)
    counted = np.bincount(level, weights=rows, minlength=top + 1)
    return tuple(LevelShare(at, names[at], float(counted[at] / total)) for at in sorted(names))
