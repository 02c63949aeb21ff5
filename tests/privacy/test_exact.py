"""Decisions at a threshold: whole numbers, and logarithms with enough digits."""

from decimal import Decimal, localcontext
from fractions import Fraction
from math import prod

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coterie.privacy.exact import (
    as_fraction,
    entropy_sign,
    entropy_signs,
    log_sign,
    log_signs,
    plain_number,
    ratio_signs,
)


def sign(value):
    return (value > 0) - (value < 0)


@given(
    st.lists(st.tuples(st.integers(0, 2**61), st.integers(1, 2**61)), min_size=1, max_size=20),
    st.fractions(max_denominator=10**9),
    st.booleans(),
)
@example([(1, 3), (10**18, 3 * 10**18)], Fraction(1, 3), False)
def test_ratios_are_compared_exactly(pairs, limit, on_it):
    if on_it:
        limit = Fraction(*pairs[0])
    numerators, denominators = (np.array(part, dtype=np.int64) for part in zip(*pairs, strict=True))
    expected = [sign(Fraction(n, d) - limit) for n, d in pairs]
    assert ratio_signs(numerators, denominators, limit).tolist() == expected
    assert ratio_signs(numerators.astype(object), denominators.astype(object), limit).tolist() == expected


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(-(10**4), 10**4), st.integers(1, 10**3))
def test_logarithms_are_compared_exactly(n, d, p, q):
    limit = Fraction(p, q)
    with localcontext() as context:
        context.prec = 120
        expected = sign((Decimal(n) / Decimal(d)).ln() - Decimal(p) / Decimal(q))
    if n == d and p == 0:
        expected = 0
    assert log_sign(Fraction(n, d), limit) == expected
    assert log_signs(np.array([n]), np.array([d]), limit).tolist() == [expected]


def test_logarithms_closer_than_a_float_can_tell():
    with localcontext() as context:
        context.prec = 60
        digits = str(Decimal(2).ln())
    below, above = Fraction(digits[:52]), Fraction(digits[:52]) + Fraction(1, 10**50)
    assert float(below) == float(above)
    assert log_signs(np.array([2, 2]), np.array([1, 1]), below).tolist() == [1, 1]
    assert log_signs(np.array([2]), np.array([1]), above).tolist() == [-1]


@given(st.lists(st.integers(1, 30), min_size=1, max_size=8), st.fractions(1, 9, max_denominator=20), st.booleans())
@example([4, 1, 1, 1, 1], Fraction(4), False)  # two bits: entropy of exactly ln 4 with five values
@example([2, 1, 1], Fraction(3), False)
def test_entropies_are_compared_exactly(counts, limit, on_it):
    if on_it:
        limit, counts = Fraction(len(counts)), [7] * len(counts)
    n = sum(counts)
    left = n**n * limit.denominator**n
    right = limit.numerator**n * prod(count**count for count in counts)
    assert entropy_sign(counts, limit) == sign(left - right)


def test_entropies_of_large_groups_need_no_large_numbers():
    assert entropy_sign([10**9, 10**9, 10**9], Fraction(3)) == 0
    assert entropy_sign([10**9 + 1, 10**9, 10**9], Fraction(3)) == -1
    assert entropy_sign([4 * 10**8, 10**8, 10**8, 10**8, 10**8], Fraction(4)) == 0
    assert entropy_sign([999_999_937, 999_999_929], Fraction("1.9999999999999998")) == 1


@pytest.mark.parametrize(
    ("value", "fraction"),
    [
        (0.1, "1/10"),
        ("1/3", "1/3"),
        (" 0.25 ", "1/4"),
        (2, "2"),
        (np.float64(0.2), "1/5"),
        (np.int8(3), "3"),
        ("1e-3", "1/1000"),
    ],
)
def test_thresholds_are_read_as_written(value, fraction):
    assert as_fraction(value) == Fraction(fraction)


@pytest.mark.parametrize("value", [True, "x", float("inf"), "nan", "1/0", ""])
def test_no_numbers(value):
    with pytest.raises(ValueError, match="must be a number"):
        as_fraction(value)


def test_fractions_are_shown_as_people_write_them():
    assert plain_number(Fraction(3)) == 3
    assert repr(plain_number(Fraction(1, 10))) == "0.1"
    assert plain_number(Fraction(1, 3)) == Fraction(1, 3)
    assert isinstance(plain_number(Fraction(10**400 + 1, 2)), Fraction)


@given(
    st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=6), min_size=1, max_size=12),
    st.sampled_from(
        [Fraction(1), Fraction(2), Fraction(3), Fraction(4), Fraction(5, 2), Fraction(3_000_000_001, 10**9)]
    ),
)
@example([[7], [2, 2], [4, 1, 1, 1, 1], [3, 3, 3, 3], [1, 2], [1]], Fraction(4))
def test_entropies_of_many_groups_are_those_of_each(groups, limit):
    """Groups of equal counts are decided all at once, other close ones by themselves, the rest by their floats."""
    counts = np.array([count for group in groups for count in group])
    starts = np.cumsum([0, *map(len, groups)])
    shares = [np.array(group) / sum(group) for group in groups]
    entropies = np.array([-(share * np.log(share)).sum() for share in shares])
    found = entropy_signs(entropies, limit, starts=starts, counts=counts)
    assert found.tolist() == [entropy_sign(group, limit) for group in groups]
