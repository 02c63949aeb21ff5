"""Count the values of a sensitive attribute per group, which decides all sensitive models.

Only pairs that occur are stored, sorted by group and value, so a million rows are counted in one sort and every
check is a pass over the pairs, without a loop over groups. Missing is a separate value.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from coterie.arrays import Bool, Int32, Int64, Integers
from coterie.hierarchies.tree import Tree
from coterie.table.domain import Domain


@dataclass(frozen=True, eq=False)
class Histogram:
    """One sensitive attribute: group × value → rows. Every group has at least one row."""

    group: Int64
    """pair → group, ascending"""
    value: Int64
    """pair → value, ascending within a group"""
    count: Int64
    """pair → rows, at least 1"""
    sizes: Int64
    """group → rows"""
    totals: Int64
    """value → rows of the whole table: the distribution that groups are compared with"""
    tree: Tree | None = None
    """the hierarchy of the values, if they have one"""

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(self.sizes)

    @cached_property
    def rows(self) -> int:
        """The number of rows of the whole table."""
        return int(self.totals.sum())

    @cached_property
    def starts(self) -> Int64:
        """Group → its first pair; one more entry at the end."""
        starts = np.zeros(self.groups + 1, dtype=np.int64)
        np.cumsum(np.bincount(self.group, minlength=self.groups), out=starts[1:])
        return starts

    def sum(self, per_pair: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return group → sum over its pairs, in the numbers' own type."""
        return self._reduced(np.add, per_pair)

    def _reduced(self, by: np.ufunc, per_pair: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.asarray(by.reduceat(per_pair, self.starts[:-1])) if self.groups else per_pair[:0]

    def each(self) -> Iterator[tuple[list[int], list[int]]]:
        """Yield for each group: value → rows of the group, and value → rows of the table."""
        totals = self.totals.tolist()
        for start, end in pairwise(self.starts.tolist()):
            counts = np.zeros(len(totals), dtype=np.int64)
            counts[self.value[start:end]] = self.count[start:end]
            yield counts.tolist(), totals

    def largest(self, per_pair: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return group → maximum over its pairs."""
        return self._reduced(np.maximum, per_pair)

    def every(self, per_pair: Bool) -> Bool:
        """Return group → whether it is true of all its pairs."""
        return self._reduced(np.logical_and, per_pair)

    @cached_property
    def distinct(self) -> Int64:
        """Group → number of distinct values."""
        return np.diff(self.starts)

    @cached_property
    def most(self) -> Int64:
        """Group → rows of its most frequent value."""
        return self.largest(self.count).astype(np.int64)


def count_values(
    group_of_row: Integers,
    codes: Integers,
    *,
    groups: int,
    values: int,
    tree: Tree | None = None,
    totals: Int64 | None = None,
) -> Histogram:
    """Count a sensitive attribute by group. Rows of group −1 (suppressed) are not counted.

    Args:
        group_of_row: Row → group 0 … groups − 1, each of which has a row, or −1.
        codes: Row → value.
        groups: Number of groups.
        values: Number of values.
        tree: The hierarchy of the values.
        totals: The reference distribution, if not that of the counted rows.
    """
    keys = group_of_row.astype(np.int64) * values + codes
    if (group_of_row < 0).any():
        keys = keys[group_of_row >= 0]
    keys.sort()
    first = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    at = np.flatnonzero(first)
    group, value = np.divmod(keys[at], max(values, 1))
    count = np.diff(np.append(at, len(keys)))
    return _histogram(group, value, count, groups=groups, values=values, tree=tree, totals=totals)


def _histogram(
    group: Int64,
    value: Int64,
    count: Int64,
    *,
    groups: int,
    values: int,
    tree: Tree | None,
    totals: Int64 | None,
) -> Histogram:
    # bincount's weights are floats: exact, since no table has 2**53 rows.
    sizes = np.bincount(group, weights=count, minlength=groups).astype(np.int64)
    if totals is None:
        totals = np.bincount(value, weights=count, minlength=values).astype(np.int64)
    return Histogram(group, value, count, sizes, totals, tree)


def sum_pairs(
    group: Int64, value: Int64, count: Int64, *, groups: int, totals: Int64, tree: Tree | None = None
) -> Histogram:
    """Add up counts of pairs of group and value, which may occur several times; those that come to 0 are left out."""
    keys = group * len(totals) + value
    order = np.argsort(keys, kind="stable")
    keys, count = keys[order], count[order]
    first = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=first[1:])
    at = np.flatnonzero(first)
    count = np.add.reduceat(count, at) if len(at) else count
    kept = count > 0
    group, value = np.divmod(keys[at][kept], max(len(totals), 1))
    return _histogram(group, value, count[kept], groups=groups, values=len(totals), tree=tree, totals=totals)


def combine(histogram: Histogram, parts: tuple[Int64, Int64], changes: tuple[Int64, Int64, Int64]) -> Histogram:
    """Count hypothetical groups: each the union of groups of a histogram, with single rows added or removed.

    Args:
        histogram: The current groups.
        parts: (made, group): group number `group` is part of the new group `made`.
        changes: (made, value, by): the new group has `by` more rows with that value.
    """
    made, group = parts
    lengths = histogram.distinct[group]
    offsets = np.cumsum(lengths) - lengths
    pairs = np.repeat(histogram.starts[group] - offsets, lengths) + np.arange(int(lengths.sum()))
    return sum_pairs(
        np.concatenate([np.repeat(made, lengths), changes[0]]),
        np.concatenate([histogram.value[pairs], changes[1]]),
        np.concatenate([histogram.count[pairs], changes[2]]),
        groups=int(made.max(initial=-1)) + 1,
        totals=histogram.totals,
        tree=histogram.tree,
    )


@dataclass(frozen=True, eq=False)
class Groups:
    """The counts that decide privacy models: sizes, sensitive values and, for k-map, matches in a population."""

    sizes: Int64
    columns: Mapping[str, Histogram] = field(default_factory=lambda: MappingProxyType({}))
    """sensitive column → its histogram"""
    matches: Mapping[Hashable, Int64] = field(default_factory=lambda: MappingProxyType({}))
    """population table → group → rows of the population that its published values match"""

    def without_empty(self) -> Groups:
        """Return the groups with rows, renumbered in order."""
        filled = self.sizes > 0
        number = np.cumsum(filled) - 1
        columns = {
            name: replace(each, group=number[each.group], sizes=each.sizes[filled])
            for name, each in self.columns.items()
        }
        return Groups(self.sizes[filled], columns, {key: each[filled] for key, each in self.matches.items()})

    def column(self, name: str | None) -> Histogram:
        """Return the histogram of a sensitive attribute."""
        assert name is not None, "the model speaks of sensitive columns"
        return self.columns[name]


def count_columns(
    group_of_row: Integers,
    codes: Int32,
    domains: tuple[Domain, ...],
    *,
    groups: int,
    totals: Sequence[Int64] | None = None,
) -> Groups:
    """Count every sensitive attribute of a table by group, as `count_values` does; `totals` are those of columns."""
    columns = {
        domain.name: count_values(
            group_of_row,
            codes[:, j],
            groups=groups,
            values=domain.size,
            tree=domain.tree,
            totals=None if totals is None else totals[j],
        )
        for j, domain in enumerate(domains)
    }
    sizes = np.bincount(group_of_row[group_of_row >= 0], minlength=groups).astype(np.int64)
    return Groups(sizes, columns)
