"""Estimate how many people are unique in the population that a table is a sample of.

A record that is unique in the sample need not be unique in the population. Three models estimate how many are, from the
number of sample classes of each size. Notation as in Dankar, El Emam, Neisa, Roffey 2012: n rows of a population of
N, π = n / N, u classes in the sample, s_i of them with i rows.

* Zayatz 1991: the population's classes are assumed to have the sizes that the sample shows; by Bayes' rule a class
  of one sampled row then has one row in the population with the probability p₁ P(1 | 1) / Σ p_j P(1 | j), where
  P(1 | j) is hypergeometric and p_j = s_j / u.
* Pitman's sampling formula (Hoshino 2001): θ and α by maximum likelihood; N · Γ(θ + 1) Γ(θ + α + N − 1) / (Γ(θ + α)
  Γ(θ + N)) people are then expected to be unique. Hoshino's Γ(θ + 1) / Γ(θ + α) · N^α is its limit for large N.
* Slide negative binomial (Chen, McNulty 1998): the size of a class in the population, less one, is negative binomial
  with parameters α and β; these are such that s₁ and s₂ are what is expected of a sample. The number K of classes in
  the population is Shlosser's estimate as modified by Haas and Stokes 1998. K · β^α people are unique.

Dankar et al. compared them by simulation and found a rule that does well throughout: Pitman's model for π ≤ 0.1,
otherwise the smaller of the other two. If that model has no solution, Zayatz' is used instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from coterie.arrays import Int64

Name = Literal["none", "pitman", "zayatz", "snb"]

# Dankar et al.: up to this sampling fraction Pitman's model is best.
SMALL_FRACTION = 0.1


class Sample(NamedTuple):
    """The input of the models: the number of a sample's classes of each size."""

    sizes: Int64
    """the sizes that occur, ascending"""
    classes: Int64
    """the number of classes of that size"""
    fraction: float

    @property
    def rows(self) -> int:
        """The number of rows of the sample, n."""
        return int((self.sizes * self.classes).sum())

    @property
    def population(self) -> int:
        """The size of the population, N."""
        return max(round(self.rows / self.fraction), self.rows)

    @property
    def total(self) -> int:
        """The number of classes, u."""
        return int(self.classes.sum())

    def of_size(self, size: int) -> int:
        """Return the number of classes of a size, s_i."""
        return int(self.classes[self.sizes == size].sum())


class PopulationUniques(NamedTuple):
    """Estimated numbers of population uniques; NaN if a model has no solution."""

    fraction: float
    population: int
    """N, the size of the population"""
    pitman: float
    zayatz: float
    snb: float
    chosen: Name
    """the model chosen by the rule of Dankar et al.; none if the sample has no unique rows"""

    @property
    def estimate(self) -> float:
        """The number of population uniques by the chosen model."""
        return 0.0 if self.chosen == "none" else float(getattr(self, self.chosen))

    @property
    def share(self) -> float:
        """The estimate as a share of the population."""
        return self.estimate / self.population if self.population else 0.0


def estimate_uniques(class_sizes: Int64, fraction: float) -> PopulationUniques:
    """Estimate how many people are unique in the population, of which the sample is a fraction."""
    sizes, classes = np.unique(class_sizes, return_counts=True)
    sample = Sample(sizes.astype(np.int64), classes.astype(np.int64), fraction)
    if sample.of_size(1) == 0:
        return PopulationUniques(fraction, sample.population, 0.0, 0.0, 0.0, "none")
    estimates = {"pitman": pitman(sample), "zayatz": zayatz(sample), "snb": slide_negative_binomial(sample)}
    chosen: Name = "zayatz"
    if fraction <= SMALL_FRACTION:
        chosen = "zayatz" if math.isnan(estimates["pitman"]) else "pitman"
    elif estimates["snb"] <= estimates["zayatz"]:
        chosen = "snb"
    return PopulationUniques(fraction, sample.population, **estimates, chosen=chosen)


def zayatz(sample: Sample) -> float:
    """Estimate unique people by Zayatz' model."""
    rows, population = sample.rows, sample.population

    def one_drawn(size: int) -> float:
        """Return the probability that a sample has exactly one row of a class of the population."""
        rest = population - size
        if rows - 1 > rest:
            return 0.0
        return size * math.exp(_log_choose(rest, rows - 1) - _log_choose(population, rows))

    pairs = zip(sample.sizes.tolist(), sample.classes.tolist(), strict=True)
    weighted = math.fsum(count * one_drawn(size) for size, count in pairs)
    single = sample.of_size(1)
    conditional = single * one_drawn(1) / weighted if weighted else 0.0
    return single * conditional * population / rows


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def pitman(sample: Sample) -> float:
    """Estimate unique people by Pitman's model; NaN if all or none of the sample's classes have one row."""
    if sample.total in (1, sample.rows):
        return math.nan
    theta, alpha = pitman_parameters(sample)
    population = sample.population
    logs = math.lgamma(theta + 1) + math.lgamma(theta + alpha + population - 1)
    logs -= math.lgamma(theta + alpha) + math.lgamma(theta + population)
    return population * math.exp(logs)


def pitman_parameters(sample: Sample) -> tuple[float, float]:
    """Return the maximum-likelihood θ and α.

    For each α the derivative by θ crosses 0 once, which bisection finds; that leaves one number to search.
    """
    u, n = sample.total, sample.rows
    sizes, classes = sample.sizes.tolist(), sample.classes.tolist()

    def best_theta(alpha: float) -> float:
        def slope(theta: float) -> float:
            drawn = (digamma(theta / alpha + u) - digamma(theta / alpha + 1)) / alpha
            return drawn - (digamma(theta + n) - digamma(theta + 1))

        # θ > −α; with u < n the root is not above n².
        return -alpha + math.exp(_root(lambda log: -slope(math.exp(log) - alpha), -40.0, 2 * math.log(n) + 5.0))

    def likelihood(alpha: float) -> float:
        theta = best_theta(alpha)
        logs = (u - 1) * math.log(alpha) + math.lgamma(theta / alpha + u) - math.lgamma(theta / alpha + 1)
        logs -= math.lgamma(theta + n) - math.lgamma(theta + 1)
        below = math.lgamma(1 - alpha)
        return logs + math.fsum(
            count * (math.lgamma(size - alpha) - below) for size, count in zip(sizes, classes, strict=True)
        )

    alpha = _peak(likelihood, 1e-4, 1 - 1e-9)
    return best_theta(alpha), alpha


def slide_negative_binomial(sample: Sample) -> float:
    """Estimate unique people by the slide negative binomial model; NaN if it has no solution."""
    kept = 1.0 - sample.fraction
    single, double = sample.of_size(1), sample.of_size(2)
    if kept <= 0.0:
        return float(single)
    number = shlosser(sample)
    if double == 0:
        return math.nan

    def expected(alpha: float, beta: float) -> tuple[float, float]:
        """Return the expected sample: log s₁, and s₂."""
        drop = kept * (1.0 - beta)
        fall = alpha * math.log(beta / (1.0 - drop))
        one = math.log(sample.fraction * number) + fall + math.log1p(alpha * drop / (1.0 - drop))
        two = sample.fraction**2 / 2 * number * math.exp(fall) * alpha * (1.0 - beta) / (1.0 - drop) ** 2
        return one, two * (2.0 + (alpha - 1.0) * drop)

    def alpha_of(beta: float) -> float:
        """Return the α at which s₁ is as expected; log s₁ rises at most to one peak and then falls for good."""
        drop = kept * (1.0 - beta)
        peak = max(-1.0 / math.log(beta / (1.0 - drop)) - (1.0 - drop) / drop, 1e-12)
        if expected(peak, beta)[0] < math.log(single):
            return math.nan
        return math.exp(
            _root(lambda log: math.log(single) - expected(math.exp(log), beta)[0], math.log(peak), math.log(peak) + 60)
        )

    def excess(log_odds: float) -> float:
        beta = _logistic(log_odds)
        return expected(alpha_of(beta), beta)[1] - double

    grid = np.linspace(-16.0, 16.0, 257)
    values = np.array([excess(float(log_odds)) for log_odds in grid])
    for at in np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) <= 0):
        sign = 1.0 if values[at + 1] > values[at] else -1.0
        beta = _logistic(_root(lambda x, sign=sign: sign * excess(x), float(grid[at]), float(grid[at + 1])))  # type: ignore[misc]
        return float(number * beta ** alpha_of(beta))
    return math.nan


def _logistic(log_odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-log_odds))


def shlosser(sample: Sample) -> float:
    """Estimate the population's classes by Shlosser's estimator, as modified by Haas and Stokes 1998."""
    pi, sizes, classes = sample.fraction, sample.sizes.astype(np.float64), sample.classes
    unseen = classes * (1 - pi) ** sizes
    one = float((classes * sizes * pi**2 * (1 - pi**2) ** (sizes - 1)).sum())
    two = float((unseen * ((1 + pi) ** np.minimum(sizes, 700.0) - 1)).sum())
    three = float((classes * sizes * pi * (1 - pi) ** (sizes - 1)).sum())
    if two <= 0.0 or three <= 0.0:
        return float(sample.total)
    return sample.total + sample.of_size(1) * (one / two) * (float(unseen.sum()) / three) ** 2


def digamma(x: float) -> float:
    """Return the derivative of log Γ, for x > 0."""
    shift = 0.0
    while x < 10.0:
        shift -= 1.0 / x
        x += 1.0
    square = 1.0 / (x * x)
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square / 132))))
    return shift + math.log(x) - 0.5 / x - series


def _root(rising: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function changes from below 0 to above; the nearer end if it does not."""
    for _ in range(80):
        middle = 0.5 * (low + high)
        if rising(middle) < 0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def _peak(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function is largest: the best of a grid, refined by golden-section search."""
    grid = np.linspace(low, high, 33)
    best = int(np.argmax([function(float(x)) for x in grid]))
    left, right = float(grid[max(best - 1, 0)]), float(grid[min(best + 1, len(grid) - 1)])
    golden = (math.sqrt(5) - 1) / 2
    a, b = right - golden * (right - left), left + golden * (right - left)
    at_a, at_b = function(a), function(b)
    for _ in range(40):
        if at_a >= at_b:
            right, b, at_b = b, a, at_a
            a = right - golden * (right - left)
            at_a = function(a)
        else:
            left, a, at_a = a, b, at_b
            b = left + golden * (right - left)
            at_b = function(b)
    return 0.5 * (left + right)
