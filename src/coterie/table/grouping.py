"""Grouping: the recoding that a method returns. Row → group, group → box.

A grouping is published as it is: local recoding. `recoding` has the other kinds. Code that publishes, judges,
measures or explains asks the recoding, and need not know its kind:

    published_boxes()     row → box, as published
    chosen_nodes()        the tree nodes to publish for these boxes, if the method has chosen them
    values_held()         the values behind each of these boxes, if not just those of the rows in it
    counts_for_judge()    the input of the check of rows published one by one; nothing for groups
    measures()            those measures that say something about it
    boxes_around()        the boxes that a row may have been published with
    with_stars()          the same with some cells suppressed
    regrouped()           the same kind of recoding after groups were changed

What holds for every recoding of a kind is an attribute of the class, so it can be asked before a method has run and
where no rows are in memory: `Method.kind`, `Release.kind`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from coterie.arrays import Bool, Int32, Int64, Integers

if TYPE_CHECKING:
    from coterie.measures.losses import Measure
    from coterie.table.domain import Domain
    from coterie.table.recoding import OneByOne

SUPPRESSED = -1


class Held(NamedTuple):
    """The distinct values of one column behind each box: pairs (box, code), ascending."""

    box: Int64
    code: Int64
    counts: Int64
    """box → its number of distinct codes; pairs are listed only for boxes with few enough"""


@dataclass(frozen=True, eq=False)
class Grouping:
    """Rows assigned to groups, each group published as one box (an interval of codes per quasi-identifier).

    `labels[row]` is the row's group 0 … groups − 1, or −1 for a suppressed row. `lo` and `hi` are [groups, d].
    """

    labels: Int32
    lo: Int32
    hi: Int32

    recoding: ClassVar[Literal["local", "global", "per-row"]] = "local"
    """the name of its kind"""
    by_rows: ClassVar[bool] = False
    """whether rows are published one by one: each with a separate box, which lies within that of its group"""
    tight: ClassVar[bool] = True
    """whether the boxes are free to be as narrow as the rows of their groups"""
    unit: ClassVar[Literal["group", "ring"]] = "group"
    """what the rows with the same label are called"""
    in_blocks: ClassVar[str] = ""
    """what the method did for each block separately, if a table in one block has it only once"""

    @classmethod
    def measures(cls, every: Mapping[str, Measure]) -> dict[str, Measure]:
        """Return those of the measures that say something about a recoding of this kind."""
        return {name: measure for name, measure in every.items() if not (cls.by_rows and measure.grouped)}

    def published_boxes(self) -> Grouping:
        """Return row → box as published."""
        return self

    def chosen_nodes(self) -> Int32 | None:
        """Return the tree nodes to publish, [boxes, d], −1 for numbers; None for the lowest that hold the boxes."""
        return None

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

    def with_stars(self, starred: Mapping[int, Int32], domains: Sequence[Domain]) -> Grouping:
        """Widen boxes to the whole domain: column → groups in which its cell is suppressed."""
        lo, hi = self.lo.copy(), self.hi.copy()
        for at, groups in starred.items():
            lo[groups, at], hi[groups, at] = 0, domains[at].size - 1
        return replace(self, lo=lo, hi=hi)

    def regrouped(self, changed: Grouping, *, same: Int64, domains: Sequence[Domain]) -> Grouping:
        """Return other groups of the same rows as a recoding of this kind.

        Args:
            changed: The groups.
            same: Group of these → the group here that it is still the same as, −1 if it was changed.
            domains: The columns.
        """
        return changed

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
    known = labels[kept]
    least, most = (int(known.min()), int(known.max())) if len(known) else (0, 0)
    if most - least > 2 * len(labels):
        values, known = np.unique(known, return_inverse=True)
        least, most = 0, len(values) - 1
    first = np.full(most - least + 1, len(known), dtype=np.int64)
    # The last assignment wins: the first row of the group.
    first[known[::-1] - least] = np.arange(len(known) - 1, -1, -1)
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first), dtype=np.int32)
    result = np.full(len(labels), SUPPRESSED, dtype=np.int32)
    result[kept] = rank[known - least]
    return result


def by_label(labels: Int32) -> Int64:
    """Return the rows by their labels, those with the same label in order: NumPy sorts by digits if there are 16 bits.

    Labels are −1 or more.
    """
    digits = labels + 1
    order = np.argsort(digits.astype(np.uint16), kind="stable")
    if len(labels) and digits.max() > np.iinfo(np.uint16).max:
        order = order[np.argsort((digits >> 16).astype(np.uint16)[order], kind="stable")]
    return order


def tight_boxes(codes: Int32, labels: Int32, groups: int) -> tuple[Int32, Int32]:
    """Return the smallest box around each group's rows, as (lo, hi), both [groups, d]."""
    if groups == 0:
        return np.zeros((0, codes.shape[1]), dtype=np.int32), np.zeros((0, codes.shape[1]), dtype=np.int32)
    sizes = np.bincount(labels + 1, minlength=groups + 1)
    rows = np.take(codes, by_label(labels)[sizes[0] :], axis=0)
    starts = np.cumsum(sizes[1:]) - sizes[1:]
    return np.minimum.reduceat(rows, starts, axis=0), np.maximum.reduceat(rows, starts, axis=0)
