"""A linkage attack: match known people with the published records, and count what that discloses.

For a person whose quasi-identifiers match c published rows, the attacker knows the right row with confidence 1 / c, and
a sensitive value with its share among these rows. The second can be high when the first is low: if all
candidates share a value, the person's value is known whatever c is. The baseline for comparison is the share
of the most frequent value in the whole release, which anybody can guess without linking.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from coterie.arrays import Float64, Int64
from coterie.disclosure.downcoding import Downcoding, classes_of, count_cells, downcode
from coterie.disclosure.intersection import Intersection
from coterie.disclosure.labels import forms_of
from coterie.disclosure.link import Link, link_tables
from coterie.disclosure.order import OrderLeak, in_memory, order_leaks
from coterie.errors import Problem, refuse
from coterie.values.codes import Codes, column_codes
from coterie.values.notation import columns_of
from coterie.wording import Tabular

if TYPE_CHECKING:
    from coterie.settings.config import Config


@dataclass(frozen=True, eq=False)
class ValueAttack:
    """What the attack discloses about one sensitive attribute. Counts are of people with at least one candidate."""

    column: str
    baseline: float
    """share of the most frequent value in the release: confidence without linking"""
    average: float
    """mean confidence in the likeliest value of each person"""
    highest: float
    pinned: int
    """people whose candidates all have the same value"""
    above_baseline: int
    """people about whom more is known than the baseline"""
    lift: float
    """largest factor by which a value is likelier for a person than in the release"""
    right: float | None
    """share of people whose likeliest value is the true one, if the known table has the column"""
    baseline_right: float | None
    """share of people for whom the most frequent value of the release is the true one"""
    confidence: Float64 = field(repr=False)
    """person → confidence in the likeliest value; NaN without candidates"""
    likeliest: pa.Array = field(repr=False)
    """person → the likeliest value: a data value, only shown on request"""

    def to_dict(self) -> dict[str, Any]:
        """Return the figures, without anything about single people."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.repr}


@dataclass(frozen=True, eq=False)
class Attack(Tabular):
    """The result of a linkage attack. Printing it shows only counts."""

    on: tuple[str, ...]
    rows: int
    """published rows"""
    people: int
    """people of the known table"""
    matched: int
    """people with at least one candidate"""
    pinned: int
    """people with exactly one candidate: re-identified, if they are in the release at all"""
    below: int
    """matched people with fewer than k candidates"""
    k: int
    fewest: int
    """the fewest candidates of a matched person"""
    median: float
    highest: float
    """confidence in the identity of the person with the fewest candidates"""
    average: float
    """mean confidence in identity of the matched people"""
    sensitive: Mapping[str, ValueAttack]
    candidates: Int64 = field(repr=False)
    """person → matching published rows"""
    order: tuple[OrderLeak, ...] = ()
    """what the order of the published rows reveals"""
    downcoding: tuple[Downcoding, ...] = ()
    """what tight intervals, sets and labels reveal"""
    joint: Intersection | None = None
    """what other releases of the same people rule out"""

    def to_dict(self) -> dict[str, Any]:
        """Return the figures, without anything about single people."""
        names = ("rows", "people", "matched", "pinned", "below", "k", "fewest", "median", "highest", "average")
        values: dict[str, Any] = {"on": list(self.on)} | {name: getattr(self, name) for name in names}
        values["sensitive"] = [each.to_dict() for each in self.sensitive.values()]
        values |= {name: [each._asdict() for each in getattr(self, name)] for name in ("order", "downcoding")}
        return values | {"joint": None if self.joint is None else self.joint.to_dict()}

    def records(self) -> list[dict[str, Any]]:
        """Return the figures by name, without anything about single people."""
        plain = {name: value for name, value in self.to_dict().items() if isinstance(value, int | float)}
        rows = [{"column": "identity", "figure": name, "value": float(value)} for name, value in plain.items()]
        for each in self.sensitive.values():
            found = {name: value for name, value in each.to_dict().items() if isinstance(value, int | float)}
            rows += [{"column": each.column, "figure": name, "value": float(value)} for name, value in found.items()]
        return rows

    def table(self) -> pa.Table:
        """Return a row per known person: number, candidates, confidence, likeliest values. It shows data values."""
        columns: dict[str, Any] = {
            "person": np.arange(1, self.people + 1),
            "candidates": self.candidates,
            "identity": _confidence(self.candidates),
        }
        for name, found in self.sensitive.items():
            columns[f"likeliest {name}"] = found.likeliest
            columns[f"confidence in {name}"] = found.confidence
        return pa.table(columns)


def attack_table(
    published: pa.Table, known: pa.Table, *, on: Sequence[str], config: Config, sensitive: Sequence[str] = ()
) -> Attack:
    """Match known people with a release.

    Args:
        published: The release.
        known: The people, with their known attributes in the columns `on`. A missing cell is unknown.
        on: Quasi-identifiers that the attacker knows, by their original names.
        config: Hierarchies, types and publishing styles, which the attacker is assumed to know too; and k.
        sensitive: Columns of the release that the attacker wants to learn.
    """
    absent = [name for name in sensitive if name not in published.column_names]
    refuse([Problem("sensitive", f"the release has no column {name!r}") for name in absent])
    link = link_tables(published, known, on=on, config=config)
    of_class = link.candidates()
    candidates = of_class[link.second.class_of_row]
    met = candidates[candidates > 0]
    identity = _confidence(candidates)
    return Attack(
        on=tuple(on),
        rows=published.num_rows,
        people=known.num_rows,
        matched=len(met),
        pinned=int(np.count_nonzero(met == 1)),
        below=int(np.count_nonzero(met < config.k)),
        k=config.k,
        fewest=int(met.min()) if len(met) else 0,
        median=float(np.median(met)) if len(met) else 0.0,
        highest=float(np.nanmax(identity)) if len(met) else 0.0,
        average=float(np.nanmean(identity)) if len(met) else 0.0,
        sensitive={name: _values(name, published, known, link, of_class) for name in sensitive},
        candidates=candidates,
    )


def _confidence(candidates: Int64) -> Float64:
    result: Float64 = np.where(candidates > 0, 1.0 / np.maximum(candidates, 1), np.nan)
    return result


def _values(name: str, published: pa.Table, known: pa.Table, link: Link, candidates: Int64) -> ValueAttack:
    """Measure what the candidates' sensitive values disclose."""
    from coterie.kernels.link import tally

    codes = column_codes(published.column(name), name=name)
    totals = np.bincount(codes.codes, minlength=max(codes.size, 1)).astype(np.int64)
    histogram = link.first.histogram(codes.codes, max(codes.size, 1))
    parts = [tally(pairs.found, pairs.met, *histogram, totals) for pairs in link.pairs()]
    best, most, distinct, lift = (np.concatenate(each) for each in zip(*parts, strict=True))
    person = link.second.class_of_row
    matched = candidates[person] > 0
    confidence = np.where(matched, most[person] / np.maximum(candidates[person], 1), np.nan)
    baseline = float(totals.max(initial=0) / max(int(totals.sum()), 1))
    sure = confidence[matched]
    right, usual = _hits(name, known, codes, best[person][matched], int(np.argmax(totals)), matched)
    shown = np.where(best[person] == codes.missing, -1, best[person])
    return ValueAttack(
        column=name,
        baseline=baseline,
        average=float(sure.mean()) if len(sure) else 0.0,
        highest=float(sure.max(initial=0.0)),
        pinned=int(np.count_nonzero(distinct[person][matched] == 1)),
        # Shares have different denominators; comparing them as integers keeps ties exact.
        above_baseline=int(
            np.count_nonzero(most[person] * int(totals.sum()) > candidates[person] * int(totals.max(initial=0)))
        ),
        lift=float(lift[person].max(initial=0.0)),
        right=right,
        baseline_right=usual,
        confidence=confidence,
        likeliest=codes.values.take(pa.array(shown, mask=shown < 0)),
    )


def with_weaknesses(found: Attack, published: pa.Table, config: Config, *, tight: bool) -> Attack:
    """Add what the release alone reveals: by the order of its rows and the tightness of its cells.

    Cells are `tight` if the method publishes none that are wider than the rows of their group.
    """
    present = published.column_names
    if not config.quasi or any(each not in present for name in config.quasi for each in columns_of(name, present)):
        return found
    order = order_leaks(in_memory(published), present, quasi=config.quasi, k=config.k)
    if not tight:
        return replace(found, order=order)
    forms = forms_of(config)
    counted = count_cells([classes_of(published, config.quasi)], quasi=config.quasi)
    return replace(found, order=order, downcoding=downcode(counted, forms=forms, rounded=config.round))


def _hits(
    name: str, known: pa.Table, codes: Codes, best: Int64, usual: int, matched: np.typing.NDArray[np.bool_]
) -> tuple[float | None, float | None]:
    """Count how often the likeliest value, and the most frequent one, is true; None if the truth is unknown."""
    if name not in known.column_names or not len(best):
        return None, None
    from coterie.values.scalars import texts

    truth = column_codes(known.column(name), name=name)
    place = {text: code for code, text in enumerate(texts(codes.values, column=name))}
    code_of = [place.get(text, -2) for text in texts(truth.values, column=name)] if len(truth.values) else []
    true = np.asarray([*code_of, codes.missing if codes.missing >= 0 else -2])[truth.codes][matched]
    return float(np.mean(true == best)), float(np.mean(true == usual))
