"""Every measure of information loss, one function each, with its meaning, formula, range and limitations.

A measure is computed from `Losses`, which every engine fills in the same way, so it needs nothing else to be summed
over blocks. The command line, the report, the notebook, the page and docs/measures.md follow from this list.
A distribution with an entry point in the group `coterie` adds its own with the same decorator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from coterie.measures.measures import AttributeMeasures, ClassSizes
from coterie.settings.registry import MEASURES


class Losses(NamedTuple):
    """The inputs of the measures."""

    rows: int
    suppressed: int
    """rows that were suppressed; they are in no group and cost 1 per cell"""
    k: int
    attributes: Sequence[AttributeMeasures]
    """mean losses of every quasi-identifier, which blocks add up as sums over rows"""
    classes: ClassSizes
    """sizes of all groups, counted over all blocks"""
    fully_generalised: int
    outside: int | None
    """None if the originals are not available"""

    def mean(self, name: str) -> float:
        """Return the mean of an attribute's losses over all attributes."""
        return float(np.mean([getattr(each, name) for each in self.attributes])) if self.attributes else 0.0

    @property
    def cells(self) -> int:
        """The number of quasi-identifier cells."""
        return self.rows * len(self.attributes)


Figure: TypeAlias = Callable[[Losses], float | None]


class Measure(NamedTuple):
    """The description of a measure."""

    name: str
    about: str
    of: Figure
    formula: str = ""
    better: Literal["lower", "higher", ""] = "lower"
    range: str = "0 and above"
    silent: str = ""
    """its limitations"""
    unit: Literal["share", "sum", "rows", "groups"] = "share"
    """what it is: a share or ratio, a sum over cells, or a count of rows or groups"""
    grouped: bool = False
    """whether it is about groups, which rows that are published one by one do not have"""


def measure(about: str, **more: Any) -> Callable[[Figure], Figure]:  # noqa: ANN401 - the fields of `Measure`
    """Register a measure under the name of its function; see `Measure` for the arguments."""

    def add(of: Figure) -> Figure:
        MEASURES.add(of.__name__, Measure(of.__name__, about, of, **more))
        return of

    return add


def evaluate(losses: Losses) -> dict[str, float]:
    """Return every measure by name; undefined ones are left out."""
    found = {name: each.of(losses) for name, each in MEASURES.items()}
    return {name: value for name, value in found.items() if value is not None}


MEAN = "Which rows lost it: a low mean may hide a few rows that lost everything."
HEIGHTS = "How many values lie under a label: labels at the same height cost the same, whether over two or two hundred."
SIZES = "What was lost: groups of equal rows count as much as groups of very different ones."


@measure("mean NCP of the quasi-identifier cells", formula="Σ NCP ÷ cells", range="0 (nothing lost) to 1", silent=MEAN)
def gcp(losses: Losses) -> float:  # noqa: D103 - the decorator says it
    return losses.mean("ncp")


@measure("weighted sum of NCP", formula="Σ weight · NCP", silent=MEAN, unit="sum")
def ncp(losses: Losses) -> float:  # noqa: D103
    return losses.rows * sum(each.weight * each.ncp for each in losses.attributes)


@measure(
    "GCCG's measure, equal to gcp", formula="mean over rows of the mean over attributes", range="0 to 1", silent=MEAN
)
def information_loss(losses: Losses) -> float:  # noqa: D103
    return losses.mean("ncp")


@measure(
    "share of the other values of a column that a cell leaves open",
    formula="mean of (values left open − 1) ÷ (values of the column − 1)",
    range="0 (one value) to 1 (any)",
    silent="How like one another the values are that are left open, and how frequent.",
)
def set_loss(losses: Losses) -> float:  # noqa: D103
    return losses.mean("set_loss")


@measure(
    "k-members' Total-IL: height ratio of categories, width ÷ range of numbers",
    formula="Σ loss",
    silent=HEIGHTS,
    unit="sum",
)
def total_il(losses: Losses) -> float:  # noqa: D103
    return losses.cells * losses.mean("height_loss")


@measure("total_il per cell", formula="total_il ÷ cells", range="0 to 1", silent=HEIGHTS)
def height_loss(losses: Losses) -> float:  # noqa: D103
    return losses.mean("height_loss")


@measure("weighted hierarchical distance, uniform or own level weights", formula="Σ WHD", silent=HEIGHTS, unit="sum")
def distortion(losses: Losses) -> float:  # noqa: D103
    return losses.cells * losses.mean("distortion")


@measure(
    "distortion ÷ distortion of the fully generalized table",
    formula="distortion ÷ cells",
    range="0 to 1",
    silent=HEIGHTS,
)
def distortion_ratio(losses: Losses) -> float:  # noqa: D103
    return losses.mean("distortion")


@measure(
    "distortion with level weights that fall with the distance from the root",
    formula="Σ WHD",
    silent=HEIGHTS,
    unit="sum",
)
def height_distortion(losses: Losses) -> float:  # noqa: D103
    return losses.cells * losses.mean("height_distortion")


@measure(
    "height_distortion ÷ that of the fully generalized table",
    formula="height_distortion ÷ cells",
    range="0 to 1",
    silent=HEIGHTS,
)
def height_distortion_ratio(losses: Losses) -> float:  # noqa: D103
    return losses.mean("height_distortion")


@measure("share of quasi-identifier cells that changed", range="0 to 1", silent="By how much they changed.")
def modification_rate(losses: Losses) -> float:  # noqa: D103
    return losses.mean("changed")


@measure(
    "sum of the squared group sizes (C_DM); a suppressed row costs as much as there are rows",
    formula="Σ |group|² + rows · suppressed",
    range="rows · k and above",
    silent=SIZES,
    grouped=True,
    unit="sum",
)
def discernability(losses: Losses) -> float:  # noqa: D103
    return losses.classes.squares + losses.suppressed * losses.rows


@measure(
    "average group size relative to k (C_AVG)",
    formula="rows ÷ (groups · k)",
    range="1 and above",
    silent=SIZES,
    grouped=True,
    unit="sum",
)
def c_avg(losses: Losses) -> float:  # noqa: D103
    return losses.rows / (max(losses.classes.groups, 1) * losses.k)


@measure("number of groups (equivalence classes)", better="higher", silent=SIZES, grouped=True, unit="groups")
def groups(losses: Losses) -> float:  # noqa: D103
    return losses.classes.groups


@measure("rows in the smallest group", better="", range="k and above", grouped=True, unit="rows")
def smallest(losses: Losses) -> float:  # noqa: D103
    return losses.classes.smallest


@measure("rows in the largest group", range="k and above", grouped=True, unit="rows")
def largest(losses: Losses) -> float:  # noqa: D103
    return losses.classes.largest


@measure("average number of rows in a group", formula="rows in groups ÷ groups", range="k and above", grouped=True)
def average_size(losses: Losses) -> float:  # noqa: D103
    return (losses.rows - losses.suppressed) / max(losses.classes.groups, 1)


@measure("suppressed rows", unit="rows")
def suppressed(losses: Losses) -> float:  # noqa: D103
    return losses.suppressed


@measure("rows in which every quasi-identifier could be any value, suppressed ones included", unit="rows")
def fully_generalised(losses: Losses) -> float:  # noqa: D103
    return losses.fully_generalised


@measure("rows whose original values lie outside the published ones", range="0; anything else is a defect", unit="rows")
def outside(losses: Losses) -> float | None:  # noqa: D103
    return losses.outside
