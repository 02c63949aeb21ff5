"""The re-identification risk of a table's records, before or after it is published.

Three attackers, after El Emam and Dankar 2008:

* The prosecutor knows that a person is in the table. A record in a class of f rows is the right one with probability
  1 / f.
* The journalist does not know who is in the table and compares it with the population it comes from. Of F people who
  match the published values, one is the right one: 1 / F. F is counted in a population table, or estimated from the
  sampling fraction π: given f sampled rows, F is negative binomial (Benedetti and Franconi 1998), so the expected
  1 / F is ∫ u^(f−1) / (1 + u (1 − π) / π) du from 0 to 1.
* The marketer links all records and does not mind mistakes: the expected share of correct links.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import Float64, Int64
from coterie.disclosure.population import PopulationUniques, estimate_uniques
from coterie.errors import Problem, refuse
from coterie.settings.threshold import PRESETS, Threshold, find_threshold
from coterie.values.codes import column_codes
from coterie.values.notation import published_classes
from coterie.wording import Tabular

if TYPE_CHECKING:
    from coterie.settings.config import Config

__all__ = ["PRESETS", "Attacker", "Risk", "RiskChange", "Threshold", "find_threshold", "risk_of_table"]


@dataclass(frozen=True)
class Attacker:
    """The risk of records under one attacker model."""

    highest: float
    """of the record most at risk"""
    average: float
    above: int
    """records whose risk is above the threshold"""
    share_above: float


@dataclass(frozen=True)
class Risk(Tabular):
    """The risk of a table's records."""

    rows: int
    classes: int
    quasi: tuple[str, ...]
    counted: Literal["rows", "people"]
    """the unit of class sizes: people if a person may have several rows"""
    threshold: Threshold
    prosecutor: Attacker
    journalist: Attacker | None
    """None if nothing is known about the population"""
    marketer: float
    """expected share of correct links when all records are linked: against the population if one is known"""
    uniques: int
    """records that are unique"""
    population: int | None = None
    """size of the population, if it is known"""
    population_uniques: PopulationUniques | None = None
    """estimates of population uniques, from a sampling fraction"""
    unique_matches: int | None = None
    """records whose values match exactly one person of the population table"""

    @property
    def unique_share(self) -> float:
        """Share of records that are unique."""
        return self.uniques / self.rows if self.rows else 0.0

    def records(self) -> list[dict[str, Any]]:
        """Return one row per attacker: the highest risk, the mean, and the share above the threshold."""
        known = {"prosecutor": self.prosecutor, "journalist": self.journalist}
        rows = [
            {"attacker": name, **asdict(each), "threshold": float(self.threshold.value)}
            for name, each in known.items()
            if each is not None
        ]
        marketer = dict.fromkeys(("highest", "above", "share_above"))
        return [*rows, {"attacker": "marketer", **marketer, "average": self.marketer, "threshold": None}]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        values = asdict(self)
        values["quasi"] = list(self.quasi)
        values["unique_share"] = self.unique_share
        name, value, source = self.threshold
        values["threshold"] = {"name": name, "value": float(value), "source": source}
        if (estimates := self.population_uniques) is not None:
            numbers = {name: None if value != value else value for name, value in estimates._asdict().items()}
            values["population_uniques"] = {**numbers, "estimate": estimates.estimate, "share": estimates.share}
        return values


class RiskChange(NamedTuple):
    """The risk of a table before and after it was published."""

    before: Risk
    after: Risk

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"before": self.before.to_dict(), "after": self.after.to_dict()}


def risk_of_table(
    table: pa.Table,
    *,
    quasi: Sequence[str],
    threshold: str | float | Fraction | Threshold = "ema",
    population: pa.Table | None = None,
    fraction: float | None = None,
    people: pa.ChunkedArray | None = None,
    config: Config | None = None,
) -> Risk:
    """Estimate the risk of a table's records, original or published.

    Args:
        table: The table.
        quasi: Its quasi-identifiers.
        threshold: The highest accepted risk: a number or the name of a preset.
        population: The population that it is a sample of, one row per person.
        fraction: Or the sampling fraction.
        people: Row → person, if a person may have several rows.
        config: Hierarchies, types and publishing styles, needed to compare a release with a population.
    """
    check_population(population, fraction)
    found = classes_of_table(table, quasi, people)
    matches, size = None, None
    if population is not None:
        class_of_row, _ = published_classes(table, quasi)
        matches = _matches(table, population, class_of_row, quasi=quasi, config=config)
        size = population.num_rows
    return risk_of_classes(
        found,
        quasi=quasi,
        threshold=threshold,
        fraction=fraction,
        matches=matches,
        population=size,
    )


class ClassCounts(NamedTuple):
    """The class sizes of a table: each entry is one class, or all classes with the same counts."""

    counts: Int64
    """rows of each class, or people"""
    rows: Int64
    """rows of all of these classes"""
    classes: Int64
    """the number of classes"""
    counted: Literal["rows", "people"] = "rows"

    def among(self, k: int) -> ClassCounts:
        """Return the same for rows published one by one: each is hidden among k, however it looks."""
        return self._replace(counts=np.maximum(self.counts, k))


def classes_of_table(table: pa.Table, quasi: Sequence[str], people: pa.ChunkedArray | None = None) -> ClassCounts:
    """Return the classes of an original or published table, one by one; `people` if they may have several rows."""
    class_of_row, sizes = published_classes(table, quasi)
    one = np.ones(len(sizes), dtype=np.int64)
    if people is None:
        return ClassCounts(sizes, sizes, one)
    # Rows without a person count as one person together, to be safe.
    codes = column_codes(people, name="entity")
    pairs = np.unique(class_of_row * max(codes.size, 1) + codes.codes)
    counts = np.bincount(pairs // max(codes.size, 1), minlength=len(sizes)).astype(np.int64)
    return ClassCounts(counts, sizes, one, "people")


def risk_of_classes(
    found: ClassCounts,
    *,
    quasi: Sequence[str],
    threshold: str | float | Fraction | Threshold = "ema",
    fraction: float | None = None,
    matches: Int64 | None = None,
    population: int | None = None,
) -> Risk:
    """Estimate the risk of records from their class sizes; other arguments as for `risk_of_table`.

    In place of a population table there is its size, and class → matching people.
    """
    limit = find_threshold(threshold)  # a risk of 1 ÷ count is above it where the count is below its rows, exactly
    counts, sizes = found.counts, found.rows
    prosecutor = _attacker(1.0 / np.maximum(counts, 1), sizes, counts < limit.rows)
    journalist = None
    if matches is not None:
        matches = np.maximum(matches, counts)
        journalist = _attacker(1.0 / matches, sizes, matches < limit.rows)
    elif fraction is not None:
        risks = expected_risks(counts, fraction)
        journalist = _attacker(risks, sizes, risks > float(limit.value))
    uniques = None if fraction is None else estimate_uniques(np.repeat(counts, found.classes), fraction)
    return Risk(
        rows=int(sizes.sum()),
        classes=int(found.classes.sum()),
        quasi=tuple(quasi),
        counted=found.counted,
        threshold=limit,
        prosecutor=prosecutor,
        journalist=journalist,
        marketer=(journalist or prosecutor).average,
        uniques=int(sizes[counts == 1].sum()),
        population=population if uniques is None else uniques.population,
        population_uniques=uniques,
        unique_matches=None if matches is None else int(sizes[matches == 1].sum()),
    )


def check_population(population: object, fraction: float | None) -> None:
    """Raise a ConfigError if the arguments about the population are invalid."""
    problems = []
    if population is not None and fraction is not None:
        problems.append(Problem("fraction", "conflicts with a population table; give only one of them"))
    if fraction is not None and not 0 < fraction <= 1:
        problems.append(Problem("fraction", "must be above 0 and up to 1: the share of the population in the table"))
    refuse(problems)


def _attacker(risks: Float64, rows: Int64, above: np.typing.NDArray[np.bool_]) -> Attacker:
    total = int(rows.sum())
    count = int(rows[above].sum())
    return Attacker(
        highest=float(risks.max(initial=0.0)),
        average=float((risks * rows).sum() / total) if total else 0.0,
        above=count,
        share_above=count / total if total else 0.0,
    )


def _matches(
    table: pa.Table, population: pa.Table, class_of_row: Int64, *, quasi: Sequence[str], config: Config | None
) -> Int64:
    """Return class → matching people of the population."""
    from coterie.disclosure.link import check_names, link_tables
    from coterie.settings.config import Config

    check_names(population, quasi, published=False, what="the population")
    link = link_tables(population, table, on=quasi, config=config or Config(), published=(False, True), unknown="value")
    fitting = np.zeros(int(class_of_row.max(initial=-1)) + 1, dtype=np.int64)
    fitting[class_of_row] = link.candidates()[link.second.class_of_row]
    return fitting


def expected_risks(counts: Int64, fraction: float) -> Float64:
    """Return class of f sampled rows → expected 1 / F, F being its size in the population.

    With A_f = ∫ u^(f−1) / (1 + ρu) du and ρ = (1 − π) / π, the terms follow from one another: A_f + ρ A_(f+1) = 1 / f.
    Upwards the rounding errors are divided by ρ, downwards multiplied by it, so ρ determines the direction.
    """
    most = int(counts.max(initial=1))
    rho = (1.0 - fraction) / fraction
    terms = np.empty(most + 1)
    if rho >= 1.0:
        terms[1] = math.log1p(rho) / rho
        for f in range(1, most):
            terms[f + 1] = (1.0 / f - terms[f]) / rho
    else:
        # Far above, A_f is about 1 / (f (1 + ρ)); the error has vanished when `most` is reached.
        beyond = most + int(40.0 / (1.001 - rho))
        term = 1.0 / (beyond * (1.0 + rho))
        for f in range(beyond - 1, 0, -1):
            term = 1.0 / f - rho * term
            if f <= most:
                terms[f] = term
    result: Float64 = terms[np.maximum(counts, 1)]
    return result
