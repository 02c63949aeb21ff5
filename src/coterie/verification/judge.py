"""The judge: whether classes of equal rows satisfy a guarantee, decided from counts alone.

Its input is the number of rows of a class (s), how many of them have each sensitive value (c), and the same for the
whole release (n, t). It does not know how the release was made and shares no code with what made it. A rule has two
parts: a figure of every class, for display, which floats may round; and whether the class satisfies the guarantee,
which is decided in integers and fractions. Definitions:

    k-anonymity         s ≥ k                                  Sweeney 2002, definition 3; also for people
    k-map               people of a population ≥ k             Sweeney 2001
    l-diversity                                                Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007
      distinct          values ≥ l                             the least that l "well-represented" values can mean
      entropy           −Σ c/s · ln(c/s) ≥ ln l                definition 4.1, entropy l-diversity
      recursive         c₁ < c · (c_l + c_(l+1) + …)           definition 4.2, recursive (c, l)-diversity; c₁ ≥ c₂ ≥ …
      frequency         c₁ / s ≤ 1 / l                         He et al. 2012
    alpha-k             c₁ / s ≤ α and s ≥ k                   Wong, Li, Fu, Wang 2006, α-deassociation of every value
    t-closeness         distance ≤ t (`distances`)             Li, Li, Venkatasubramanian 2007, definition 2
    beta-likeness                                              Cao, Karras 2012
      basic             (c/s − t/n) / (t/n) ≤ β                basic β-likeness, of every value that gains
      enhanced          … ≤ min(β, −ln(t/n))                   enhanced β-likeness
    delta-disclosure    |ln((c/s) / (t/n))| < δ                Brickell, Shmatikov 2008, of every value of the release
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from coterie.arrays import Bool, Float64, Int64
from coterie.verification.counts import ClassValues
from coterie.verification.distances import distance
from coterie.verification.exact import Whole, compare, entropy_reaches, log_exceeds, unsure, wide
from coterie.verification.promises import Promise
from coterie.verification.sensitive import Sensitive

Figure: TypeAlias = Callable[[ClassValues, Sensitive, Promise], npt.NDArray[np.number]]
Keeps: TypeAlias = Callable[[ClassValues, Sensitive, Promise], Bool]


class Rule(NamedTuple):
    """How a guarantee is decided."""

    figure: Figure
    """class → its figure"""
    keeps: Keeps
    """class → whether it satisfies the guarantee, exactly"""
    higher: bool = False
    """whether the figure must reach the limit, rather than stay within it"""


class Finding(NamedTuple):
    """The findings in some classes."""

    figure: float
    """of the worst class"""
    size: int
    """rows of the worst class"""
    worst: int
    """the worst class"""
    failing: int
    """classes that violate the guarantee"""
    rows: int
    """rows in these"""

    def joined(self, other: Finding, *, higher: bool) -> Finding:
        """Merge the findings of these classes and others: a violation is worse than none."""
        one, two = ((each.failing == 0, each.figure if higher else -each.figure) for each in (self, other))
        worst = self if one <= two else other
        return worst._replace(failing=self.failing + other.failing, rows=self.rows + other.rows)


def rule_of(promise: Promise) -> Rule:
    """Return the judge's own rule; for a model that it does not know, the model's plain decision for one class."""
    known = RULES.get(promise.rule) or RULES.get(promise.name)
    return known or Rule(_own_figures, _own_kept, higher=promise.own.higher_is_better)


def judge(promise: Promise, pairs: ClassValues, table: Sensitive, *, decide: bool = True) -> Finding:
    """Decide a guarantee about a sensitive attribute for some classes, at least one; or only find the worst."""
    rule = rule_of(promise)
    figures = rule.figure(pairs, table, promise)
    kept = rule.keeps(pairs, table, promise) if decide else np.ones(len(figures), dtype=np.bool_)
    return found(figures, kept, pairs.sizes, higher=rule.higher)


def judge_counts(limit: Fraction | int, counts: Int64, sizes: Int64, *, classes: Int64 | None = None) -> Finding:
    """Decide whether each class has at least this many rows, people, or people of a population.

    An entry represents one class, or as many as `classes` says.
    """
    return found(counts, compare(counts, Fraction(limit), np.ones_like(counts)) >= 0, sizes, higher=True, times=classes)


def found(
    figures: npt.NDArray[np.number], kept: Bool, sizes: Int64, *, higher: bool, times: Int64 | None = None
) -> Finding:
    """Return the worst class, and the number of violations; each entry may represent several equal classes."""
    broken = np.flatnonzero(~kept)
    # A class that violates the guarantee is the worst, even if rounding shows the same figure for another.
    chosen = broken if len(broken) else np.arange(len(kept))
    worst = int(chosen[np.argmin(figures[chosen]) if higher else np.argmax(figures[chosen])])
    often = np.ones_like(sizes) if times is None else times
    rows = int((sizes * often)[broken].sum())
    return Finding(float(figures[worst]), int(sizes[worst]), worst, int(often[broken].sum()), rows)


# l-diversity


def _most(pairs: ClassValues) -> Int64:
    """Return class → rows of its most frequent value."""
    return pairs.largest(pairs.rows).astype(np.int64)


def _tail(pairs: ClassValues, l: int) -> Int64:  # noqa: E741 - its name in every paper
    """Return class → rows of all values from the l-th most frequent on."""
    order = np.lexsort((-pairs.rows, pairs.of))
    rank = np.arange(len(order)) - pairs.starts[pairs.of]
    return pairs.sum(np.where(rank >= l - 1, pairs.rows[order], 0)).astype(np.int64)


def _recursive(pairs: ClassValues, promise: Promise) -> Float64:
    tail = _tail(pairs, promise.least)
    return np.where(tail > 0, _most(pairs) / np.maximum(tail, 1), np.inf)


def _entropy(pairs: ClassValues) -> Float64:
    s = pairs.sizes
    entropies: Float64 = np.maximum(np.log(s) - pairs.sum(pairs.rows * np.log(pairs.rows)) / s, 0.0)
    return entropies


def _entropy_kept(pairs: ClassValues, limit: Fraction) -> Bool:
    """Decide classes far from ln l by floats, and the others by their counts, equal ones together."""
    gap = _entropy(pairs) - float(np.log(float(limit)))
    kept: Bool = gap >= 0
    for classes, counts in _alike(pairs, np.flatnonzero(unsure(gap, pairs.values))):
        kept[classes] = entropy_reaches(counts, limit)
    return kept


def _alike(pairs: ClassValues, chosen: Int64) -> Iterator[tuple[Int64, tuple[int, ...]]]:
    """Group some classes by their counts in ascending order."""
    counts = pairs.rows[np.lexsort((pairs.rows, pairs.of))]
    for values in np.unique(pairs.values[chosen]):
        classes = chosen[pairs.values[chosen] == values]
        rows, of = np.unique(counts[pairs.starts[classes, None] + np.arange(values)], axis=0, return_inverse=True)
        order = np.argsort(of.ravel(), kind="stable")
        ends = np.cumsum(np.bincount(of.ravel(), minlength=len(rows)))
        for row, members in zip(rows.tolist(), np.split(order, ends[:-1]), strict=True):
            yield classes[members], tuple(row)


# Compared with the whole release


def _share(pairs: ClassValues, table: Sensitive) -> Float64:
    """Return pair → the value's share in the class, divided by that in the release."""
    share: Float64 = pairs.rows / pairs.sizes[pairs.of] / (table.totals[pairs.value] / table.rows)
    return share


def _products(pairs: ClassValues, table: Sensitive) -> tuple[Whole, Whole]:
    """Return pair → c · n and t · s, whose quotient is the above."""
    c, t, s = wide(pairs.largest_class * table.rows, pairs.rows, table.totals[pairs.value], pairs.sizes[pairs.of])
    return c * table.rows, t * s


def _beta(pairs: ClassValues, table: Sensitive, promise: Promise) -> Float64:
    gain: Float64 = pairs.largest(np.maximum(_share(pairs, table) - 1.0, 0.0))
    return gain if promise.kind == "basic" else np.where(_capped(pairs, table), gain, np.inf)


def _beta_kept(pairs: ClassValues, table: Sensitive, promise: Promise) -> Bool:
    held, expected = _products(pairs, table)
    kept = pairs.every(compare(held - expected, promise.limit, expected) <= 0)
    return kept if promise.kind == "basic" else kept & _capped(pairs, table)


def _capped(pairs: ClassValues, table: Sensitive) -> Bool:
    """Return class → whether no value gains more than −ln of its share in the release."""
    held, expected = _products(pairs, table)
    gap = (_share(pairs, table) - 1.0) - np.log(table.rows / table.totals[pairs.value])
    gains: Bool = (held > expected).astype(np.bool_)
    fits = (gap <= 0) | ~gains
    for at in np.flatnonzero(unsure(gap, _share(pairs, table)) & gains):
        gain = Fraction(int(held[at] - expected[at]), int(expected[at]))
        share = Fraction(table.rows, int(table.totals[pairs.value[at]]))
        fits[at] = share > 1 and log_exceeds(share, gain)
    return pairs.every(fits)


def _delta(pairs: ClassValues, table: Sensitive) -> Float64:
    logs = pairs.largest(np.abs(np.log(_share(pairs, table))))
    return np.where(pairs.values == len(table.totals), logs, np.inf)


def _delta_kept(pairs: ClassValues, table: Sensitive, limit: Fraction) -> Bool:
    held, expected = _products(pairs, table)
    gap = np.abs(np.log(_share(pairs, table))) - float(limit)
    fits = gap < 0
    for at in np.flatnonzero(unsure(gap, float(limit))):
        ratio = Fraction(int(held[at]), int(expected[at]))
        fits[at] = not log_exceeds(max(ratio, 1 / ratio), limit)  # equal only for 1 and 0, and δ is above 0
    complete: Bool = pairs.values == len(table.totals)
    return pairs.every(fits) & complete


# Models that the judge has no rule for


def _each(pairs: ClassValues, table: Sensitive) -> Iterator[tuple[list[int], list[int]]]:
    """Yield for each class: value → rows of the class, and value → rows of the release."""
    totals = table.totals.tolist()
    for start, values in zip(pairs.starts.tolist(), pairs.values.tolist(), strict=True):
        counts = [0] * len(totals)
        for value, rows in zip(
            pairs.value[start : start + values].tolist(), pairs.rows[start : start + values].tolist(), strict=True
        ):
            counts[value] = rows
        yield counts, totals


def _own_figures(pairs: ClassValues, table: Sensitive, promise: Promise) -> Float64:
    return np.array([promise.own.figure(*each) for each in _each(pairs, table)], dtype=np.float64)


def _own_kept(pairs: ClassValues, table: Sensitive, promise: Promise) -> Bool:
    return np.array([promise.own.keeps(*each) for each in _each(pairs, table)], dtype=np.bool_)


RULES: dict[str, Rule] = {
    "l-diversity distinct": Rule(
        lambda pairs, table, promise: pairs.values,
        lambda pairs, table, promise: pairs.values >= promise.limit.numerator,
        higher=True,
    ),
    "l-diversity frequency": Rule(
        lambda pairs, table, promise: pairs.sizes / _most(pairs),
        lambda pairs, table, promise: compare(pairs.sizes, promise.limit, _most(pairs)) >= 0,
        higher=True,
    ),
    "l-diversity entropy": Rule(
        lambda pairs, table, promise: np.exp(_entropy(pairs)),
        lambda pairs, table, promise: _entropy_kept(pairs, promise.limit),
        higher=True,
    ),
    "l-diversity recursive": Rule(
        lambda pairs, table, promise: _recursive(pairs, promise),
        lambda pairs, table, promise: compare(_most(pairs), promise.limit, _tail(pairs, promise.least)) < 0,
    ),
    "alpha-k": Rule(
        lambda pairs, table, promise: np.where(pairs.sizes >= promise.least, _most(pairs) / pairs.sizes, np.inf),
        lambda pairs, table, promise: (
            (compare(_most(pairs), promise.limit, pairs.sizes) <= 0) & (pairs.sizes >= promise.least)
        ),
    ),
    "t-closeness": Rule(
        lambda pairs, table, promise: distance(pairs, table, promise.kind).floats,
        lambda pairs, table, promise: (
            compare((far := distance(pairs, table, promise.kind)).above, promise.limit, far.below) <= 0
        ),
    ),
    "beta-likeness": Rule(_beta, _beta_kept),
    "delta-disclosure": Rule(
        lambda pairs, table, promise: _delta(pairs, table),
        lambda pairs, table, promise: _delta_kept(pairs, table, promise.limit),
    ),
}
