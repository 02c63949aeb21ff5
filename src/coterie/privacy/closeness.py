"""Privacy models that compare a group with the whole table: how much more do its sensitive values reveal?"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from coterie.arrays import Bool, Float64
from coterie.privacy.distance import Distance, distance
from coterie.privacy.exact import log_sign, log_signs, ratio_signs
from coterie.privacy.histogram import Groups, Histogram
from coterie.privacy.model import Model, Number, shown

if TYPE_CHECKING:
    from coterie.table.domain import Domain


@dataclass(frozen=True)
class TCloseness(Model):
    """In every group, sensitive values are distributed nearly as in the whole table: Li, Li, Venkatasubramanian 2007.

    `distance` is the ground distance between values: `equal` (all 1), `ordered` (by rank) or `hierarchical` (by the
    column's hierarchy).
    """

    t: Number
    on: str | None = None
    distance: Distance = "equal"

    name: ClassVar[str] = "t-closeness"
    paper: ClassVar[str] = "Li, Li, Venkatasubramanian 2007"
    parts: ClassVar[tuple[str, ...]] = ("t", "on", "distance")
    meaning: ClassVar[str] = (
        "The sensitive values of every group are distributed as in the whole table, up to a distance of t (0 to 1)."
    )
    not_proved: ClassVar[str] = (
        "That no rare value becomes many times more likely in some group: the distance is a sum over all values. "
        "What the whole table reveals about everybody in it is not limited."
    )
    variant: ClassVar[str] = "distance"

    def __post_init__(self) -> None:
        self._check_number("t", least=0, most=1)
        self._check_choice("distance")
        self._check_on()

    @property
    def title(self) -> str:
        """The guarantee, in a few words."""
        return f"{shown(self.t)}-closeness ({self.distance} distance)"

    def domain_problem(self, domain: Domain) -> str:
        """Return why a column does not fit: ordered distance needs an order, hierarchical distance a hierarchy."""
        if self.distance == "equal" or domain.labelled:
            return ""
        if self.distance == "hierarchical":
            return "has no hierarchy; give it one in hierarchies, or use the equal distance"
        if domain.kind == "number":
            return ""
        return "has no order; give it a hierarchy that lists its values in order, or use the equal distance"

    def measure(self, groups: Groups, column: str | None = None) -> Float64:
        """Return group → distance from the whole table."""
        return distance(groups.column(column), self.distance).floats()

    def holds(self, groups: Groups, column: str | None = None) -> Bool:
        """Return group → whether it is within t."""
        return ratio_signs(*distance(groups.column(column), self.distance), self.limit) <= 0

    def shortfall(self, groups: Groups, column: str | None = None) -> Float64:
        """Return group → how much its distance exceeds t."""
        return np.maximum(self.measure(groups, column) - self.wanted, 0)


@dataclass(frozen=True)
class BetaLikeness(Model):
    """No value's share in a group exceeds its share in the table by more than a factor 1 + beta: Cao, Karras 2012.

    `enhanced` also limits the gain to −ln of the value's share in the table, so that no value becomes certain.
    """

    beta: Number
    on: str | None = None
    kind: Literal["basic", "enhanced"] = "basic"

    name: ClassVar[str] = "beta-likeness"
    paper: ClassVar[str] = "Cao, Karras 2012"
    parts: ClassVar[tuple[str, ...]] = ("beta", "on", "kind")
    meaning: ClassVar[str] = (
        "No sensitive value is more than 1 + beta times as frequent in a group as in the whole table."
    )
    not_proved: ClassVar[str] = (
        "That nothing is learned from values that become less frequent in a group: basic beta-likeness limits "
        "gains only."
    )
    variant: ClassVar[str] = "kind"

    def __post_init__(self) -> None:
        self._check_number("beta", least=0, strict=True)
        self._check_choice("kind")
        self._check_on()

    @property
    def title(self) -> str:
        """The guarantee, in a few words."""
        return f"{self.kind} {shown(self.beta)}-likeness"

    def measure(self, groups: Groups, column: str | None = None) -> Float64:
        """Return group → largest relative gain of a value; infinite if the enhanced kind forbids it at any beta."""
        histogram = groups.column(column)
        gain = histogram.largest(np.maximum(_shares(histogram) - 1.0, 0.0)).astype(np.float64)
        return gain if self.kind == "basic" else np.where(self._capped(histogram), gain, np.inf)

    def holds(self, groups: Groups, column: str | None = None) -> Bool:
        """Return group → whether no value gains more than allowed."""
        histogram = groups.column(column)
        n, total = histogram.rows, histogram.totals[histogram.value]
        # A table has fewer than 2**31 rows, so these products fit.
        held, expected = histogram.count * n, total * histogram.sizes[histogram.group]
        within = histogram.every(ratio_signs(held, expected, 1 + self.limit) <= 0)
        return within if self.kind == "basic" else within & self._capped(histogram)

    def _capped(self, histogram: Histogram) -> Bool:
        """Return group → whether no value gains more than −ln of its share in the table, decided exactly."""
        gains = _shares(histogram) - 1.0
        caps = np.log(histogram.rows / histogram.totals[histogram.value])
        gap = gains - caps
        fits = gap <= 0
        for at in np.flatnonzero(np.abs(gap) <= 1e-11 * (1.0 + np.abs(gains) + caps)):
            count, size = int(histogram.count[at]), int(histogram.sizes[histogram.group[at]])
            total, n = int(histogram.totals[histogram.value[at]]), histogram.rows
            fits[at] = log_sign(Fraction(n, total), Fraction(count * n, total * size) - 1) >= 0
        return histogram.every(fits)

    def shortfall(self, groups: Groups, column: str | None = None) -> Float64:
        """Return group → share of its rows in excess of some value's limit."""
        histogram = groups.column(column)
        share = histogram.totals[histogram.value] / histogram.rows
        most = np.full(len(share), self.wanted)
        if self.kind == "enhanced":
            most = np.minimum(most, -np.log(share))
        held = histogram.count / histogram.sizes[histogram.group]
        return histogram.sum(np.maximum(held - (1.0 + most) * share, 0.0)).astype(np.float64)


@dataclass(frozen=True)
class DeltaDisclosure(Model):
    """Every value's share in every group is within a factor e^delta of that in the table: Brickell, Shmatikov 2008.

    A group that lacks a value of the table is infinitely far away. Logarithms are natural.
    """

    delta: Number
    on: str | None = None

    name: ClassVar[str] = "delta-disclosure"
    paper: ClassVar[str] = "Brickell, Shmatikov 2008"
    parts: ClassVar[tuple[str, ...]] = ("delta", "on")
    meaning: ClassVar[str] = (
        "Every sensitive value is as frequent in a group as in the whole table, up to a factor of e^delta."
    )
    not_proved: ClassVar[str] = "That nothing is learned: the probability of a value may change by the accepted factor."

    def __post_init__(self) -> None:
        self._check_number("delta", least=0, strict=True)
        self._check_on()

    @property
    def title(self) -> str:
        """The guarantee, in a few words."""
        return f"{shown(self.delta)}-disclosure privacy"

    def _complete(self, histogram: Histogram) -> Bool:
        """Return group → whether it has every value of the table."""
        complete: Bool = histogram.distinct == np.count_nonzero(histogram.totals)
        return complete

    def measure(self, groups: Groups, column: str | None = None) -> Float64:
        """Return group → largest |ln(share in the group / share in the table)|; infinite if a value is absent."""
        histogram = groups.column(column)
        logs = np.abs(np.log(_shares(histogram)))
        return np.where(self._complete(histogram), histogram.largest(logs).astype(np.float64), np.inf)

    def holds(self, groups: Groups, column: str | None = None) -> Bool:
        """Return group → whether every share is strictly within the factor."""
        histogram = groups.column(column)
        complete = self._complete(histogram)
        of = complete[histogram.group]
        held = histogram.count[of] * histogram.rows
        expected = histogram.totals[histogram.value[of]] * histogram.sizes[histogram.group[of]]
        fits = np.zeros(len(of), dtype=np.bool_)
        fits[of] = (log_signs(held, expected, self.limit) < 0) & (log_signs(held, expected, -self.limit) > 0)
        return complete & histogram.every(fits)

    def shortfall(self, groups: Groups, column: str | None = None) -> Float64:
        """Return group → share of its rows above or below some value's limits."""
        histogram = groups.column(column)
        factor = float(np.exp(self.wanted))
        share = histogram.totals / histogram.rows
        expected = share[histogram.value]
        held = histogram.count / histogram.sizes[histogram.group]
        off = np.maximum(held - expected * factor, 0.0) + np.maximum(expected / factor - held, 0.0)
        # Absent values lack their whole least share.
        return (histogram.sum(off - expected / factor) + 1.0 / factor).astype(np.float64)


def _shares(histogram: Histogram) -> Float64:
    """Return pair → share of the value in the group, relative to that in the table."""
    share = histogram.totals[histogram.value] / histogram.rows
    return np.asarray(histogram.count / histogram.sizes[histogram.group] / share, dtype=np.float64)
