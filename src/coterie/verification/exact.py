"""Comparisons without rounding: a class exactly at a threshold is decided by the definition.

Ratios are compared as integers. Logarithms are compared by intervals of decimal numbers, with more digits until
the sign is certain; if two of them may be equal, as powers of integers.
"""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import gcd, prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from coterie.arrays import Bool, Float64, Int8

Whole: TypeAlias = npt.NDArray[Any]
"""int64, or Python's integers of any length"""

# Whole numbers below this, and the difference of two of them, fit an int64.
ROOM = 2**62
DIGITS = (50, 200, 800)


def wide(bound: int, *arrays: Whole) -> list[Whole]:
    """Return arrays in a type in which results up to a bound are exact."""
    return [array.astype(np.int64 if bound < ROOM else object) for array in arrays]


def compare(left: Whole, limit: Fraction, right: Whole) -> Int8:
    """Return the sign of left − limit · right, one by one."""
    sizes = [max(map(abs, (int(array.min(initial=0)), int(array.max(initial=0))))) for array in (left, right)]
    bound = max(sizes[0] * limit.denominator, sizes[1] * abs(limit.numerator))
    left, right = wide(bound, left, right)
    gap = left * limit.denominator - right * limit.numerator
    signs: Int8 = (gap > 0).astype(np.int8) - (gap < 0).astype(np.int8)
    return signs


@lru_cache(2**16)
def log_exceeds(ratio: Fraction, limit: Fraction) -> bool:
    """Return whether ln(ratio) > limit.

    The logarithm of a fraction other than 1 is not a fraction (Lindemann 1882), so enough digits always decide.
    """
    if ratio == 1:
        return limit < 0
    digits = DIGITS[0]
    while True:
        with localcontext(Context(prec=digits)) as exact:
            log, aim = (Decimal(ratio.numerator) / ratio.denominator).ln(), Decimal(limit.numerator) / limit.denominator
            # Each of the operations is off by one unit in the last digit at most, that inside ln by as much again.
            if abs(log - aim) > (1 + abs(log) + abs(aim)) * Decimal(10) ** (3 - exact.prec):
                return log > aim
        digits *= 2


@lru_cache(2**16)
def entropy_reaches(counts: tuple[int, ...], limit: Fraction) -> bool:
    """Return whether counts of sum n have an entropy of at least ln(limit): n^n ≥ limit^n · Π c^c."""
    common = gcd(*counts)
    counts = tuple(count // common for count in counts)  # the same shares, the same entropy
    n = sum(counts)
    for digits in DIGITS:
        with localcontext(Context(prec=digits)):
            terms = [n * Decimal(n).ln(), n * Decimal(limit.denominator).ln(), -n * Decimal(limit.numerator).ln()]
            terms += [-count * Decimal(count).ln() for count in counts]
            gap = sum(terms, Decimal(0))
            error = sum(map(abs, terms), Decimal(1)) * len(terms) * Decimal(10) ** (3 - digits)
            if abs(gap) > error:
                return gap > 0
    # Equal or nearly so: decided with integers of any length.
    return bool((n * limit.denominator) ** n >= limit.numerator**n * prod(count**count for count in counts))


def unsure(gap: Float64, terms: npt.NDArray[Any] | float) -> Bool:
    """Return where the sign of a float may be wrong that was summed from this many terms, each below 2**7.

    The relative error of every operation is at most 2**-53.
    """
    close: Bool = np.abs(gap) <= (terms + 16.0) * (1.0 + np.abs(gap)) * 2.0**-44
    return close
