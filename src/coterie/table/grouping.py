"""Grouping: what a method returns. Row → group, group → box; or row → box, where rows are published one by one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from coterie.arrays import Bool, Int32, Int64, Integers

if TYPE_CHECKING:
    from coterie.table.rings import Rings

SUPPRESSED = -1


@dataclass(frozen=True, eq=False)
class Grouping:
    """Rows assigned to groups, each group published as one box (an interval of codes per quasi-identifier).

    `labels[row]` is the row's group 0 … groups − 1, or −1 for a suppressed row. `lo` and `hi` are [groups, d].
    """

    labels: Int32
    lo: Int32
    hi: Int32
    nodes: Int32 | None = None
    """[groups, d] the tree nodes to publish, −1 for numbers; without it, the lowest nodes that hold the boxes.

    The two differ where a node has one child only among the values present: both hold the same codes.
    """
    rings: Rings | None = None
    """for methods that publish rows one by one: the boxes of single rows, which lie within those of their groups"""

    @cached_property
    def published(self) -> Grouping:
        """Row → box as published. It is the grouping itself, unless rows of a group have boxes of their own."""
        if self.rings is None:
            return self
        return Grouping(self.rings.slot_of_row, self.rings.lo, self.rings.hi)

    @property
    def groups(self) -> int:
        """Number of groups."""
        return len(self.lo)

    @cached_property
    def sizes(self) -> Int64:
        """Group → number of rows."""
        return np.bincount(self.labels[self.labels >= 0], minlength=self.groups).astype(np.int64)

    @cached_property
    def suppressed(self) -> Bool:
        """Row → whether it is suppressed."""
        return np.equal(self.labels, SUPPRESSED)

    @classmethod
    def of(cls, codes: Int32, labels: npt.ArrayLike) -> Grouping:
        """The grouping with these labels and the tightest boxes around its rows.

        Labels may be any integers; −1 is a suppressed row. Groups are renumbered by their first row.
        """
        numbered = renumber(np.asarray(labels))
        groups = int(numbered.max(initial=-1)) + 1
        lo, hi = tight_boxes(codes, numbered, groups)
        return cls(numbered, lo, hi)


def renumber(labels: Integers) -> Int32:
    """The same partition with groups numbered 0, 1, … in the order of their first rows; −1 stays."""
    kept = labels != SUPPRESSED
    values, first, inverse = np.unique(labels[kept], return_index=True, return_inverse=True)
    rank = np.empty(len(values), dtype=np.int32)
    rank[np.argsort(first, kind="stable")] = np.arange(len(values), dtype=np.int32)
    result = np.full(len(labels), SUPPRESSED, dtype=np.int32)
    result[kept] = rank[inverse]
    return result


def tight_boxes(codes: Int32, labels: Int32, groups: int) -> tuple[Int32, Int32]:
    """The smallest box around each group's rows, as (lo, hi), both [groups, d]."""
    d = codes.shape[1]
    lo = np.zeros((groups, d), dtype=np.int32)
    hi = np.zeros((groups, d), dtype=np.int32)
    if groups == 0:
        return lo, hi
    order = np.argsort(labels, kind="stable")
    order = order[np.count_nonzero(labels == SUPPRESSED) :]
    starts = np.searchsorted(labels[order], np.arange(groups))
    for column in range(d):
        values = codes[order, column]
        lo[:, column] = np.minimum.reduceat(values, starts)
        hi[:, column] = np.maximum.reduceat(values, starts)
    return lo, hi
