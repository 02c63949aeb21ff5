"""Grouping: the recoding that a method returns. Row → group, group → box.

Methods that publish rows one by one return their own kind of grouping (`rings`). Code that publishes, judges,
measures or explains queries the recoding, and need not know its kind:

    published_boxes()     row → box, as published
    values_held()         the values behind each of these boxes, if not just those of the rows in it
    counts_for_judge()    the input of the check of rows published one by one; nothing for groups
    boxes_around()        the boxes that a row may have been published with
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.arrays import Bool, Int32, Int64, Integers

SUPPRESSED = -1


class Held(NamedTuple):
    """The distinct values of one column behind each box: pairs (box, code), ascending."""

    box: Int64
    code: Int64
    counts: Int64
    """box → its number of distinct codes; pairs are listed only for boxes with few enough"""


class OneByOne(NamedTuple):
    """Rows that are published one by one, as far as their check needs them: each is at a place of a ring."""

    codes: Int32
    """[places, d] the rows' codes, ring after ring"""
    start: Int64
    """ring → its first place; one more entry at the end"""
    back: Int64
    """place → how many places before it stands the slot of its row"""
    rank: Int64
    """slot → which of the rows that are in rings is published in it, by row number"""


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

    by_rows: ClassVar[bool] = False
    """whether rows are published one by one: each with a box of its own, which lies within that of its group"""

    def published_boxes(self) -> Grouping:
        """Return row → box as published."""
        return self

    def boxes_around(self, row: int) -> tuple[Int32, Int32]:
        """Return the boxes, [boxes, d] each, that a row may have been published with."""
        label = self.labels[row]
        return self.lo[label][None, :], self.hi[label][None, :]

    def values_held(self, codes: Int32, *, at_most: int) -> Held | None:
        """Return the distinct codes of one column behind each box, if they differ from those of the rows in it."""
        return None

    def counts_for_judge(self, codes: Int32) -> OneByOne | None:
        """Return the input of the check of rows published one by one, from the codes of all rows."""
        return None

    @property
    def groups(self) -> int:
        """The number of groups."""
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
        """Return the grouping with these labels and the tightest boxes around its rows.

        Labels may be any integers; −1 is a suppressed row. Groups are renumbered by their first row.
        """
        numbered = renumber(np.asarray(labels))
        groups = int(numbered.max(initial=-1)) + 1
        lo, hi = tight_boxes(codes, numbered, groups)
        return cls(numbered, lo, hi)


def renumber(labels: Integers) -> Int32:
    """Renumber groups 0, 1, … in the order of their first rows; −1 stays."""
    kept = labels != SUPPRESSED
    values, first, inverse = np.unique(labels[kept], return_index=True, return_inverse=True)
    rank = np.empty(len(values), dtype=np.int32)
    rank[np.argsort(first, kind="stable")] = np.arange(len(values), dtype=np.int32)
    result = np.full(len(labels), SUPPRESSED, dtype=np.int32)
    result[kept] = rank[inverse]
    return result


def tight_boxes(codes: Int32, labels: Int32, groups: int) -> tuple[Int32, Int32]:
    """Return the smallest box around each group's rows, as (lo, hi), both [groups, d]."""
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
