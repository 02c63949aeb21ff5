"""Privacy models about a single group: its number of rows, and the number and evenness of its sensitive values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from coterie.arrays import Bool, Float64, Int64
from coterie.errors import ConfigError, Problem
from coterie.privacy.exact import as_fraction, entropy_signs, ratio_signs
from coterie.privacy.histogram import Groups, Histogram
from coterie.privacy.model import AtLeastK, Model, Number, shown

Kind = Literal["distinct", "frequency", "entropy", "recursive"]


@dataclass(frozen=True)
class KAnonymity(AtLeastK):
    """Every group has at least k rows: Sweeney 2002."""

    k: int

    name: ClassVar[str] = "k-anonymity"
    paper: ClassVar[str] = "Sweeney 2002"
    parts: ClassVar[tuple[str, ...]] = ("k",)
    meaning: ClassVar[str] = "Every group has at least k rows; the same as the setting k."
    not_proved: ClassVar[str] = (
        "That nothing is learned about a person: the rows of a group may share a sensitive value. Only the columns "
        "named as quasi-identifiers count; attackers may know other columns."
    )
    counts: ClassVar[Literal["values", "rows", "population"]] = "rows"

    def __post_init__(self) -> None:
        self._check_whole("k")

    def count(self, groups: Groups) -> Int64:
        """Return group → its number of rows."""
        return groups.sizes


@dataclass(frozen=True)
class LDiversity(Model):
    """Every group has l well-represented sensitive values: Machanavajjhala et al. 2006/2007.

    `kind` defines well-represented: `distinct` (l values), `frequency` (no value in more than 1/l of the
    rows; He et al. 2012), `entropy` (entropy of at least ln l) or `recursive` (with c: the most frequent value is rarer
    than c times all values from the l-th most frequent on).
    """

    l: Number  # noqa: E741 - its name in every paper
    on: str | None = None
    kind: Kind = "distinct"
    c: Number | None = None

    name: ClassVar[str] = "l-diversity"
    paper: ClassVar[str] = "Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007"
    parts: ClassVar[tuple[str, ...]] = ("l", "on", "kind", "c")
    meaning: ClassVar[str] = "Every group has at least l different values of the sensitive attribute."
    not_proved: ClassVar[str] = (
        "That the values of a group differ in meaning (two names for one disease count as two), or that they are "
        "as likely as in the whole table: a value may still be much more likely in a group."
    )
    parts_help: ClassVar[Mapping[str, str]] = {"c": "c, for the recursive variant"}
    variant: ClassVar[str] = "kind"

    @property
    def threshold(self) -> str:
        """The field with the limit: c for the recursive kind, whose l is part of the definition."""
        return "c" if self.kind == "recursive" else "l"

    @property
    def floor(self) -> str:
        """The l of the recursive kind."""
        return "l" if self.kind == "recursive" else ""

    @property
    def higher_is_better(self) -> bool:
        """Whether the measured value must reach the limit: an l must, a c must not."""
        return self.kind != "recursive"

    def __post_init__(self) -> None:
        self._check_choice("kind")
        self._check_on()
        if self.kind in ("distinct", "recursive"):
            self._check_whole("l")
        else:
            self._check_number("l", least=1)
        if self.kind == "recursive":
            if self.c is None:
                raise ConfigError([Problem("c", "recursive l-diversity needs c, such as l-diversity:3::recursive:2")])
            self._check_number("c", least=0, strict=True)
        elif self.c is not None:
            raise ConfigError([Problem("c", "belongs to recursive l-diversity only; remove it or set that kind")])

    @property
    def title(self) -> str:
        """The guarantee, in a few words."""
        if self.kind == "recursive":
            assert self.c is not None
            return f"recursive ({shown(self.c)}, {shown(self.l)})-diversity"
        return f"{self.kind} {shown(self.l)}-diversity"

    def _entropies(self, histogram: Histogram) -> Float64:
        sizes = histogram.sizes.astype(np.float64)
        logs = histogram.sum(histogram.count * np.log(histogram.count)).astype(np.float64)
        entropies: Float64 = np.maximum(np.log(sizes) - logs / sizes, 0.0)
        return entropies

    def _tail(self, histogram: Histogram) -> Int64:
        """Return group → rows of all values from the l-th most frequent on."""
        counts = histogram.count[np.lexsort((-histogram.count, histogram.group))]
        rank = np.arange(len(counts)) - histogram.starts[histogram.group]
        return histogram.sum(np.where(rank >= int(self.l) - 1, counts, 0)).astype(np.int64)

    def measure(self, groups: Groups, column: str | None = None) -> Float64:
        """Return group → the largest l it satisfies or, for the recursive kind, the c that must be exceeded."""
        histogram = groups.column(column)
        if self.kind == "distinct":
            return histogram.distinct.astype(np.float64)
        if self.kind == "frequency":
            return np.asarray(histogram.sizes / histogram.most, dtype=np.float64)
        if self.kind == "entropy":
            return np.exp(self._entropies(histogram))
        tail = self._tail(histogram)
        return np.where(tail > 0, histogram.most / np.maximum(tail, 1), np.inf)

    def holds(self, groups: Groups, column: str | None = None) -> Bool:
        """Return group → whether it is l-diverse."""
        histogram = groups.column(column)
        if self.kind == "distinct":
            return histogram.distinct >= int(self.l)
        if self.kind == "frequency":
            return ratio_signs(histogram.sizes, histogram.most, self.limit) >= 0
        if self.kind == "entropy":
            entropies = self._entropies(histogram)
            return entropy_signs(entropies, self.limit, starts=histogram.starts, counts=histogram.count) >= 0
        tail = self._tail(histogram)
        return (tail > 0) & (ratio_signs(histogram.most, np.maximum(tail, 1), self.limit) < 0)

    def best(self, whole: Groups, column: str | None = None) -> tuple[float, str]:
        """Return the strictest threshold that the whole table satisfies; for the recursive kind perhaps the l."""
        if self.kind != "recursive":
            return super().best(whole, column)
        found = float(self.measure(whole, column)[0])
        if np.isinf(found):
            values = int(whole.column(column).distinct[0])
            return float(values), f"in this table l can be at most {values:,}"
        return found, f"in this table c must be more than {np.ceil(found * 10_000) / 10_000:,.10g}"

    def shortfall(self, groups: Groups, column: str | None = None) -> Float64:
        """Return group → how far it is from l-diversity, relative to l or to the size of the group."""
        histogram = groups.column(column)
        wanted = float(as_fraction(self.l))
        if self.kind == "distinct":
            lacking: Float64 = np.maximum(wanted - histogram.distinct, 0) / wanted
            return lacking
        if self.kind == "frequency":
            return np.maximum(histogram.most / histogram.sizes - 1 / wanted, 0)
        if self.kind == "entropy":
            aim = np.log(wanted)
            return np.maximum(aim - self._entropies(histogram), 0) / aim if aim > 0 else np.zeros(histogram.groups)
        tail = self._tail(histogram)
        return np.maximum(histogram.most - self.wanted * tail, 0) / histogram.sizes


@dataclass(frozen=True)
class AlphaK(Model):
    """No sensitive value has more than a share alpha of a group of at least k rows: Wong et al. 2006."""

    alpha: Number
    k: int | None = None
    on: str | None = None

    name: ClassVar[str] = "alpha-k"
    paper: ClassVar[str] = "Wong, Li, Fu, Wang 2006"
    parts: ClassVar[tuple[str, ...]] = ("alpha", "on", "k")
    meaning: ClassVar[str] = "No sensitive value makes up more than a share alpha of a group."
    not_proved: ClassVar[str] = (
        "That values rarer than alpha are protected: one of them may be far more likely in a group than in the "
        "whole table."
    )
    parts_help: ClassVar[Mapping[str, str]] = {"k": "its own k, instead of the setting k"}

    floor = "k"

    def __post_init__(self) -> None:
        self._check_number("alpha", least=0, strict=True, most=1)
        if self.k is not None:
            self._check_whole("k")
        self._check_on()

    @property
    def title(self) -> str:
        """The guarantee, in a few words."""
        return f"({shown(self.alpha)}, {'k' if self.k is None else f'{self.k:,}'})-anonymity"

    def measure(self, groups: Groups, column: str | None = None) -> Float64:
        """Return group → share of its most frequent value; infinite if the group is too small for any alpha."""
        histogram = groups.column(column)
        return np.where(histogram.sizes >= (self.k or 1), histogram.most / histogram.sizes, np.inf)

    def holds(self, groups: Groups, column: str | None = None) -> Bool:
        """Return group → whether no value exceeds alpha and the group has k rows."""
        histogram = groups.column(column)
        within = ratio_signs(histogram.most, histogram.sizes, self.limit) <= 0
        return within & (histogram.sizes >= (self.k or 1))

    def shortfall(self, groups: Groups, column: str | None = None) -> Float64:
        """Return group → by how much its most frequent value exceeds alpha, plus the missing share of k."""
        histogram = groups.column(column)
        k = self.k or 1
        lacking = np.maximum(k - histogram.sizes, 0) / k
        excess: Float64 = np.maximum(histogram.most / histogram.sizes - self.wanted, 0)
        return excess + lacking
