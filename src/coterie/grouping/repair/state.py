"""A grouping under repair: groups, their boxes, and how far each is from satisfying its models."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from coterie.arrays import Bool, Float64, Int32, Int64
from coterie.privacy.histogram import Groups, count_columns, count_values
from coterie.privacy.kmap import KMap
from coterie.privacy.model import Model
from coterie.table.grouping import Grouping, by_label, tight_boxes

if TYPE_CHECKING:
    from coterie.grouping.index import Index
    from coterie.table.table import Table

# The minimum shortfall of a group that violates a model, which may be below a float's precision.
LEAST = 1e-6


class Assessment(NamedTuple):
    """Which groups satisfy all models, and how far the others are from it."""

    holds: Bool
    shortfall: Float64
    """0 if all models hold"""


@dataclass(frozen=True, eq=False)
class Aim:
    """The models and their table, constant throughout a repair."""

    table: Table
    models: tuple[Model, ...]
    k: int

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The sensitive attributes."""
        return tuple(domain.name for domain in self.table.sensitive)

    @cached_property
    def values(self) -> Int32:
        """[sensitive attribute, row] → value, in the form that kernels take."""
        return np.ascontiguousarray(self.table.sensitive_codes.T)

    @property
    def promised_values(self) -> Int32:
        """The values of the columns with models; others must not affect the groups."""
        promised = {column for model in self.models for column in model.columns(self.names)}
        return self.values[[name in promised for name in self.names]]

    @cached_property
    def index(self) -> Index:
        """The search index over all rows of the table."""
        from coterie.grouping.index import build_index

        return build_index(self.table)

    def assess(self, groups: Groups) -> Assessment:
        """Judge groups by all models. A group without rows, as a search may leave, violates none."""
        filled = groups.sizes > 0
        if not filled.all():
            holds, shortfall = np.ones(len(filled), dtype=np.bool_), np.zeros(len(filled))
            holds[filled], shortfall[filled] = self.assess(groups.without_empty())
            return Assessment(holds, shortfall)
        holds = np.ones(len(groups.sizes), dtype=np.bool_)
        shortfall = np.zeros(len(groups.sizes))
        for model in self.models:
            for column in model.columns(self.names):
                holds &= model.holds(groups, column)
                shortfall += model.shortfall(groups, column)
        return Assessment(holds, np.where(holds, 0.0, np.maximum(shortfall, LEAST)))

    def count(self, labels: Int32, groups: int) -> Groups:
        """Count the sensitive values of groups of rows, and the matching rows of populations."""
        table = self.table
        counted = count_columns(
            labels, table.sensitive_codes, table.sensitive, groups=groups, totals=table.sensitive_totals
        )
        return replace(counted, matches=self._matches(self.table.codes, labels, groups))

    def count_some(self, labels: Int64, rows: Int32, groups: int, before: Groups) -> Groups:
        """Count groups of some rows, compared with the same whole as other groups."""
        columns = {
            name: count_values(
                labels, self.values[j][rows], groups=groups, values=len(old.totals), tree=old.tree, totals=old.totals
            )
            for j, (name, old) in enumerate(before.columns.items())
        }
        sizes = np.bincount(labels, minlength=groups).astype(np.int64)
        return Groups(sizes, columns, self._matches(self.table.codes[rows], labels, groups) if self.mapped else {})

    @cached_property
    def mapped(self) -> tuple[KMap, ...]:
        """The models that compare with a population."""
        return tuple(model for model in self.models if isinstance(model, KMap))

    def _matches(self, codes: Int32, labels: Int32 | Int64, groups: int) -> dict[Hashable, Int64]:
        found: dict[Hashable, Int64] = {}
        for model in self.mapped:
            if self.table.populations is None:
                raise ValueError(f"a table for {model.name} has to be given its populations: with_populations")
            if model.key not in found:
                found[model.key] = self.table.populations.of(model, self.table).matches(codes, labels, groups)
        return found


@dataclass(frozen=True, eq=False)
class RepairState:
    """Groups of rows. `untouched[g]` is whether group g is as the method made it."""

    aim: Aim
    labels: Int32
    lo: Int32
    hi: Int32
    untouched: Bool

    @classmethod
    def of(cls, aim: Aim, grouping: Grouping) -> RepairState:
        """Return the state before any repair."""
        return cls(aim, grouping.labels, grouping.lo, grouping.hi, np.ones(grouping.groups, dtype=np.bool_))

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(self.lo)

    @cached_property
    def counted(self) -> Groups:
        """The groups' sizes and sensitive values."""
        return self.aim.count(self.labels, self.groups)

    @cached_property
    def assessment(self) -> Assessment:
        """Which groups satisfy all models."""
        return self.aim.assess(self.counted)

    @cached_property
    def cost(self) -> Float64:
        """Group → cost per row."""
        from coterie.kernels.search.costs import box_costs

        costs: Float64 = box_costs(self.aim.table.costs, self.lo, self.hi)
        return costs

    @cached_property
    def members(self) -> tuple[Int64, Int32]:
        """Rows by group, ascending within each, and the start of each group."""
        order = by_label(self.labels).astype(np.int32)
        suppressed = int(np.count_nonzero(self.labels < 0))
        starts = np.zeros(self.groups + 1, dtype=np.int64)
        np.cumsum(self.counted.sizes, out=starts[1:])
        return starts, order[suppressed:]

    def merged(self, pairs: tuple[Int32, Int32], moves: tuple[Int32, Int32]) -> RepairState:
        """Return the state after merging pairs of groups and moving rows to other groups.

        Args:
            pairs: (group, group): each group at most once.
            moves: (row, group it moves to): neither end is in a pair.
        """
        target = np.arange(self.groups, dtype=np.int32)
        target[np.maximum(*pairs)] = np.minimum(*pairs)
        labels = np.append(target, -1)[self.labels]
        touched = np.zeros(self.groups, dtype=np.bool_)
        touched[np.minimum(*pairs)] = True
        touched[self.labels[moves[0]]] = True
        touched[moves[1]] = True
        labels[moves[0]] = moves[1]
        kept = target == np.arange(self.groups)
        number = np.append(np.cumsum(kept) - 1, -1).astype(np.int32)  # the last is for suppressed rows
        trimmed = replace(self, lo=self.lo[kept], hi=self.hi[kept], untouched=self.untouched[kept])
        return trimmed.relabelled(number[labels], touched[kept])

    def relabelled(self, labels: Int32, touched: Bool) -> RepairState:
        """Return the state with other labels. Touched groups get new boxes; new groups are all touched."""
        more = len(touched) - self.groups
        new = np.zeros((more, self.lo.shape[1]), dtype=np.int32)
        lo, hi = np.vstack([self.lo, new]), np.vstack([self.hi, new])
        place = np.append(np.cumsum(touched) - 1, -1).astype(np.int32)
        rows = np.flatnonzero(np.append(touched, False)[labels])
        lo[touched], hi[touched] = tight_boxes(self.aim.table.codes[rows], place[labels[rows]], int(touched.sum()))
        untouched = np.append(self.untouched, np.zeros(more, dtype=np.bool_)) & ~touched
        return replace(self, labels=labels, lo=lo, hi=hi, untouched=untouched)
