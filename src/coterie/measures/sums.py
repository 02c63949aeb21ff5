"""Additive losses of blocks, and the measures of a release from the sums of all its blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from coterie.arrays import Bool, Float64
from coterie.measures.costs import IntervalCosts
from coterie.measures.measures import AttributeMeasures, ClassSizes, Measures, measure_grouping, measures_from
from coterie.publishing.labels import Labels, listed_values
from coterie.publishing.publish import starred_rows
from coterie.table.table import Table

if TYPE_CHECKING:
    from coterie.engines.plan import Plan
    from coterie.table.grouping import Grouping

_MEANS = IntervalCosts._fields


@dataclass(frozen=True, eq=False)
class BlockSums:
    """The losses of a block, as sums that can be added over blocks."""

    rows: int
    suppressed: int
    starred: int
    """rows of groups published as `*` throughout"""
    fully_generalised: int
    outside: int
    losses: Float64
    """[attribute, measure] summed over rows"""
    unchanged: Bool
    """attribute → whether every row is published with its own value"""

    @classmethod
    def none(cls, attributes: int) -> BlockSums:
        """Return the sums of no rows."""
        return cls(0, 0, 0, 0, 0, np.zeros((attributes, len(_MEANS))), np.ones(attributes, dtype=np.bool_))

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of all sums in their order, which tell stored sums of another coterie apart."""
        return [*(each.name for each in fields(cls)), *_MEANS]

    def __add__(self, other: BlockSums) -> BlockSums:
        added = {each.name: getattr(self, each.name) + getattr(other, each.name) for each in fields(self)}
        return BlockSums(**added | {"unchanged": self.unchanged & other.unchanged})

    def to_dict(self) -> dict[str, object]:
        """Return plain values, from which `from_dict` restores the same sums, bit for bit."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return (
            values
            | {"losses": [[x.hex() for x in row] for row in self.losses.tolist()]}
            | {"unchanged": self.unchanged.tolist()}
        )

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> BlockSums:
        """Restore sums from `to_dict`."""
        plain = dict(values)
        rows: Sequence[Sequence[str]] = plain.pop("losses")  # type: ignore[assignment]
        losses = np.array([[float.fromhex(x) for x in row] for row in rows], dtype=np.float64)
        unchanged = np.array(plain.pop("unchanged"), dtype=np.bool_)
        counts: dict[str, int] = plain  # type: ignore[assignment]
        return cls(**counts, losses=losses.reshape(len(unchanged), len(_MEANS)), unchanged=unchanged)


def sums_of(table: Table, grouping: Grouping, labels: Mapping[str, Labels], plan: Plan) -> BlockSums:
    """Compute the losses of the rows of a block, with their boxes and values as published."""
    alone = np.arange(grouping.groups, dtype=np.int32)
    found = measure_grouping(
        table, grouping, plan.book.config, listed=listed_values(labels.values()), class_of_group=alone
    )
    losses = [[getattr(each, name) * table.rows for name in _MEANS] for each in found.attributes.values()]
    return BlockSums(
        rows=table.rows,
        suppressed=int(found["suppressed"]),
        starred=starred_rows(labels.values(), grouping.sizes),
        fully_generalised=int(found["fully_generalised"]),
        outside=int(found["outside"]),
        losses=np.array(losses, dtype=np.float64).reshape(len(table.domains), len(_MEANS)),
        unchanged=np.array([labels[domain.name].unchanged for domain in table.domains], dtype=np.bool_),
    )


def measures_of(sums: BlockSums, plan: Plan, *, classes: ClassSizes) -> Measures:
    """Compute the measures of the whole release.

    The sums are those of all blocks in order, with suppressed rows; the classes those of equal rows, without them.
    """
    rows = max(sums.rows, 1)
    attributes = [
        AttributeMeasures(domain.name, domain.weight, *(losses / rows).tolist())
        for domain, losses in zip(plan.book.domains, sums.losses, strict=True)
    ]
    return measures_from(
        rows=sums.rows,
        suppressed=sums.suppressed,
        k=plan.book.config.k,
        attributes=attributes,
        classes=classes,
        fully_generalised=sums.fully_generalised,
        outside=sums.outside,
    )
