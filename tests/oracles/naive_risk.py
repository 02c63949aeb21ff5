"""The slow, obvious twin of the risk measures: Counters, exact fractions, enumeration. Standard library only."""

from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb


def sizes(rows):
    """Row → how many rows are equal to it."""
    counts = Counter(rows)
    return [counts[row] for row in rows]


def prosecutor(rows, threshold):
    """(highest, average, records above the threshold), exactly."""
    risks = [Fraction(1, size) for size in sizes(rows)]
    return max(risks), sum(risks) / len(risks), sum(risk > threshold for risk in risks)


def separation(rows):
    """Share of pairs of rows that differ."""
    pairs = list(combinations(rows, 2))
    return Fraction(sum(a != b for a, b in pairs), len(pairs)) if pairs else Fraction(0)


def zayatz(classes, population):
    """Expected number of unique people, by Bayes' rule on sizes as the sample shows them."""
    rows = sum(classes)
    number = Counter(classes)

    def one_drawn(size):
        return Fraction(comb(size, 1) * comb(population - size, rows - 1), comb(population, rows))

    total = sum(count * one_drawn(size) for size, count in number.items())
    if not number[1] or not total:
        return Fraction(0)
    return number[1] * (number[1] * one_drawn(1) / total) * Fraction(population, rows)


def partitions(total, most=None):
    """Every way to write a number as a sum of positive ones, largest first."""
    if total == 0:
        yield ()
        return
    for first in range(min(total, most or total), 0, -1):
        for rest in partitions(total - first, first):
            yield (first, *rest)


def pitman_uniques(theta, alpha, population):
    """Expected number of classes of one, by seating people one after the other: a Markov chain over all partitions."""
    states = {(1,): 1.0}
    for seated in range(1, population):
        after = Counter()
        for state, chance in states.items():
            alone = (theta + alpha * len(state)) / (theta + seated)
            after[tuple(sorted((*state, 1)))] += chance * alone
            for size, count in Counter(state).items():
                grown = list(state)
                grown[grown.index(size)] += 1
                after[tuple(sorted(grown))] += chance * count * (size - alpha) / (theta + seated)
        states = after
    return sum(chance * state.count(1) for state, chance in states.items())


def pitman_likelihood(theta, alpha, classes):
    """The chance of these class sizes, up to a constant: people seated one after the other, class by class."""
    chance, seated = 1.0, 0
    for number, size in enumerate(classes):
        for place in range(size):
            weight = theta + alpha * number if place == 0 else place - alpha
            chance *= 1.0 if seated == 0 else weight / (theta + seated)
            seated += 1
    return chance


def slide_binomial_counts(number, alpha, beta, fraction, most=4000):
    """Expected numbers of classes of one and of two in a sample, summing over sizes in the population."""
    chance, ones, twos = beta**alpha, 0.0, 0.0
    for size in range(1, most):
        ones += chance * size * fraction * (1 - fraction) ** (size - 1)
        twos += chance * size * (size - 1) / 2 * fraction**2 * (1 - fraction) ** (size - 2) if size > 1 else 0.0
        chance *= (alpha + size - 1) / size * (1 - beta)
    return number * ones, number * twos


def expected_risk(count, fraction, most=200_000):
    """Expected 1 / F if F, given `count` sampled rows, is negative binomial."""
    chance, total = fraction**count, 0.0
    for size in range(count, most):
        total += chance / size
        chance *= size / (size - count + 1) * (1 - fraction)
        if chance < 1e-18 and size > count / fraction:
            break
    return total
