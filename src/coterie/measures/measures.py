"""Information loss: certainty penalty, distortion, discernability and group sizes.

docs/measures.md gives the formula of each measure, an example, and its limitations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from coterie.arrays import Int32, Int64
from coterie.measures.costs import interval_costs
from coterie.settings.fields.missing import LeafCounts
from coterie.wording import Tabular

if TYPE_CHECKING:
    from coterie.settings.config import Config
    from coterie.table.domain import Domain
    from coterie.table.grouping import Grouping
    from coterie.table.table import Table


@dataclass(frozen=True)
class AttributeMeasures:
    """The loss of one quasi-identifier, as means of the costs of its cells (0 to 1): see `IntervalCosts`."""

    name: str
    weight: float
    ncp: float
    changed: float
    """share of its cells that changed"""
    distortion: float
    height_distortion: float
    height_loss: float
    set_loss: float
    left_open: float


class Measures(Mapping[str, float], Tabular):
    """Measures by name, and by attribute in `.attributes`."""

    def __init__(
        self,
        values: Mapping[str, float],
        attributes: Sequence[AttributeMeasures] = (),
        late: Mapping[str, Callable[[], float]] | None = None,
    ) -> None:
        self._values = dict(values)
        # Slow measures are computed on first access.
        self._late = dict(late or {})
        self.attributes: dict[str, AttributeMeasures] = {each.name: each for each in attributes}

    def __getitem__(self, name: str) -> float:
        if name in self._late and name not in self._values:
            self._values[name] = self._late[name]()
        if name not in self._values:
            raise KeyError(f"no measure {name!r}; there are {', '.join(self)}")
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._values, **self._late})

    def __len__(self) -> int:
        return len({**self._values, **self._late})

    def __reduce__(self) -> tuple[object, ...]:
        # Pickling does not compute slow measures; they are computed on access.
        return Measures, (self._values, tuple(self.attributes.values()), self._late)

    def records(self) -> list[dict[str, Any]]:
        """Return one row per measure that is already computed, with its description."""
        from coterie.settings.registry import MEASURES

        about = {name: each.about for name, each in MEASURES.items()}
        return [{"measure": name, "value": float(v), "about": about.get(name, "")} for name, v in self._values.items()]

    @property
    def known(self) -> frozenset[str]:
        """The measures that are already computed."""
        return frozenset(self._values)

    @property
    def late(self) -> frozenset[str]:
        """The slow measures, which are computed on first access."""
        return frozenset(self._late)

    def __repr__(self) -> str:
        return f"Measures({', '.join(f'{name}={value:.6g}' for name, value in self._values.items())})"

    def with_values(self, **values: float) -> Measures:
        """Return the same measures and some more, such as a bound."""
        return Measures({**self._values, **values}, tuple(self.attributes.values()), self._late)

    def with_late(self, **late: Callable[[], float]) -> Measures:
        """Return the same measures and some that are computed on first access."""
        return Measures(self._values, tuple(self.attributes.values()), {**self._late, **late})


def measure_grouping(table: Table, grouping: Grouping, config: Config, **more: Any) -> Measures:  # noqa: ANN401 - as below
    """Measure a recoding of a table; more arguments are those of `measure_boxes`."""
    from coterie.publishing.publish import published_nodes

    shown = grouping.published_boxes()
    boxes: dict[str, Any] = {"lo": shown.lo, "hi": shown.hi, "labels": shown.labels, "codes": table.codes}
    boxes["nodes"] = published_nodes(table.domains, shown, config.publish)
    return measure_boxes(table.domains, k=config.k, leaf_counts=config.leaf_counts, **boxes, **more)


def measure_boxes(
    domains: Sequence[Domain],
    *,
    lo: Int32,
    hi: Int32,
    labels: Int32,
    k: int,
    removed: int = 0,
    codes: Int32 | None = None,
    nodes: Int32 | None = None,
    listed: Int64 | None = None,
    class_of_group: Int32 | None = None,
    leaf_counts: LeafCounts = "present",
    beta: float = 1.0,
    level_weights: Mapping[str, Sequence[float]] | None = None,
) -> Measures:
    """Measure a grouping.

    Args:
        domains: The quasi-identifiers.
        lo: [groups, d] smallest codes of the boxes.
        hi: [groups, d] largest codes of the boxes.
        labels: Row → group, −1 for suppressed rows, which cost 1 per cell.
        k: The requested k, for C_AVG.
        removed: Further rows that are suppressed, without a label.
        codes: [rows, d] the rows' own codes, to count rows outside their box.
        nodes: [groups, d] the tree nodes whose labels are published, −1 or None for the lowest that contain the boxes.
        listed: [groups, d] number of values in the published sets, 0 for cells that are not sets.
        class_of_group: Group → class of groups with equal published cells. Without it, these are the groups whose
            boxes are the same interval or have the same ancestor everywhere.
        leaf_counts: Whether NCP counts the leaves present in the table, or all leaves of the hierarchy.
        beta: How fast the level weights of `height_distortion` fall with the distance from the root.
        level_weights: Column → custom weights for `distortion`, from the root downwards.
    """
    rows, sizes = len(labels) + removed, np.bincount(labels[labels >= 0], minlength=len(lo)).astype(np.int64)
    suppressed = rows - int(sizes.sum())
    costs = [
        interval_costs(
            domain,
            lo=lo[:, at],
            hi=hi[:, at],
            node=None if nodes is None else nodes[:, at],
            listed=None if listed is None else listed[:, at],
            leaf_counts=leaf_counts,
            beta=beta,
            level_weights=(level_weights or {}).get(domain.name),
        )
        for at, domain in enumerate(domains)
    ]
    counts = sizes.astype(np.float64)
    attributes = [
        # Not `cost @ counts`: its last digit depends on the threads that BLAS may use, and so on the engine.
        AttributeMeasures(
            domain.name,
            domain.weight,
            *(float(((cost * counts).sum() + suppressed) / max(rows, 1)) for cost in each),
        )
        for domain, each in zip(domains, costs, strict=True)
    ]
    if class_of_group is None:
        class_of_group = same_boxes(domains, lo=lo, hi=hi)
    class_sizes = np.bincount(class_of_group, weights=sizes, minlength=0).astype(np.int64)
    root = np.ones(len(lo), dtype=np.bool_)
    for domain, cost in zip(domains, costs, strict=True):
        root &= (cost.ncp >= 1.0) | (domain.size == 1)
    return measures_from(
        rows=rows,
        suppressed=suppressed,
        k=k,
        attributes=attributes,
        classes=ClassSizes.of(class_sizes[class_sizes > 0]),
        fully_generalised=suppressed + int(sizes[root].sum()),
        outside=None if codes is None else rows_outside(codes, lo=lo, hi=hi, labels=labels),
    )


def measures_from(**losses: Any) -> Measures:  # noqa: ANN401 - the fields of `Losses`
    """Compute all measures from `Losses`."""
    from coterie.measures.losses import Losses, evaluate

    found = Losses(**losses)
    return Measures(evaluate(found), found.attributes)


class ClassSizes(NamedTuple):
    """The summary of class sizes that measures need."""

    groups: int
    smallest: int
    largest: int
    squares: int
    """sum of the squared sizes"""

    @classmethod
    def of(cls, sizes: Int64) -> ClassSizes:
        """Summarize classes whose sizes are known."""
        found = len(sizes) > 0
        return cls(
            len(sizes), int(sizes.min()) if found else 0, int(sizes.max()) if found else 0, int((sizes**2).sum())
        )


def same_boxes(domains: Sequence[Domain], *, lo: Int32, hi: Int32) -> Int32:
    """Return group → class of groups with equivalent boxes: equal intervals of numbers, equal ancestors in trees."""
    from coterie.values.codes import Codes, row_classes

    if len(lo) == 0:
        return np.zeros(0, dtype=np.int32)
    columns: list[Codes] = []
    for at, domain in enumerate(domains):
        low, high = lo[:, at].astype(np.int64), hi[:, at].astype(np.int64)
        if domain.tree is not None:
            low = domain.tree.common_ancestor(low, high).astype(np.int64)
            columns.append(Codes(low, domain.tree.nodes, -1, None))
        else:
            # Missing values joined with others are published as the root, wherever the interval begins.
            low = np.where((high == domain.missing) & (low < high), 0, low)
            columns += [Codes(low, domain.size, -1, None), Codes(high, domain.size, -1, None)]
    return row_classes(columns)[0].astype(np.int32)


def rows_outside(codes: Int32, *, lo: Int32, hi: Int32, labels: Int32) -> int:
    """Count the rows with a code outside their group's box."""
    grouped = labels >= 0
    outside = np.zeros(len(codes), dtype=np.bool_)
    # A suppressed row's label −1 picks the last box; it is not counted.
    for at in range(codes.shape[1] if len(lo) else 0):
        code, low, high = (np.ascontiguousarray(each[:, at]) for each in (codes, lo, hi))
        outside |= (code < low[labels]) | (code > high[labels])
    return int(np.count_nonzero(outside & grouped))
