"""Exact decisions at a threshold: integers where possible, bounded error elsewhere.

A group exactly at a threshold satisfies or violates a model by definition, but a rounded float may say
either. Ratios are therefore compared as integers. Logarithms of fractions are irrational (except that of 1), so they
never equal a threshold that is a fraction: floats decide what is far from it, and enough decimal digits the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from math import gcd
from numbers import Rational
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from coterie.arrays import Bool, Float64, Int8, Int64

Whole: TypeAlias = npt.NDArray[Any]
"""int64, or Python integers where products might not fit"""

# Products below this cannot leave an int64.
SAFE = 2**62
# Relative error that a float result below may have, generously: a few dozen roundings of 2**-53 each.
CLOSE = 1e-12


def as_fraction(value: object) -> Fraction:
    """Convert a threshold to a fraction. A float means the decimal number that it prints as: 0.1 is one tenth.

    Raises:
        ValueError: It is not a finite number.
    """
    if isinstance(value, bool):
        raise ValueError("must be a number")
    if isinstance(value, Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    if isinstance(value, np.integer):
        return Fraction(int(value))
    text = str(value).strip() if isinstance(value, str | Decimal) else repr(float(value))  # type: ignore[arg-type]
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError, OverflowError):
        raise ValueError("must be a number") from None


def plain_number(value: Fraction) -> int | float | Fraction:
    """Format a fraction for people: an integer, a decimal number if that is equal, or a fraction."""
    if value.denominator == 1:
        return int(value)
    try:
        short = float(value)
    except OverflowError:
        return value
    return short if Fraction(repr(short)) == value else value


def ratio_signs(numerator: Whole, denominator: Whole, limit: Fraction) -> Int8:
    """Return the sign of numerator / denominator − limit, element by element, exactly. Denominators are positive."""
    if numerator.dtype != object and denominator.dtype != object:
        top = int(np.abs(numerator).max(initial=0)) * limit.denominator
        bottom = int(denominator.max(initial=0)) * abs(limit.numerator)
        if max(top, bottom) < SAFE:
            sign: Int8 = np.sign(numerator * limit.denominator - denominator * limit.numerator).astype(np.int8)
            return sign
    left = numerator.astype(object) * limit.denominator
    right = denominator.astype(object) * limit.numerator
    signs: Int8 = (left > right).astype(np.int8) - (left < right).astype(np.int8)
    return signs


def log_signs(numerator: Int64, denominator: Int64, limit: Fraction) -> Int8:
    """Return the sign of ln(numerator / denominator) − limit, element by element, exactly. Integers are positive."""
    estimate = np.log(numerator / denominator)
    gap = estimate - float(limit)
    signs: Int8 = np.sign(gap).astype(np.int8)
    for at in np.flatnonzero(np.abs(gap) <= CLOSE * (1.0 + np.abs(estimate) + abs(float(limit)))):
        signs[at] = log_sign(Fraction(int(numerator[at]), int(denominator[at])), limit)
    return signs


def log_sign(ratio: Fraction, limit: Fraction) -> int:
    """Return the sign of ln(ratio) − limit. By Lindemann's theorem it is 0 only for a ratio of 1 and a limit of 0."""
    if ratio == 1:
        return (limit < 0) - (limit > 0)
    digits = 40
    while True:
        with localcontext(Context(prec=digits)):
            left = (Decimal(ratio.numerator) / ratio.denominator).ln()
            right = Decimal(limit.numerator) / limit.denominator
            # Three results, each correctly rounded, and the first division again inside the logarithm.
            error = (abs(left) + abs(right) + 1).scaleb(4 - digits)
            gap = left - right
            if abs(gap) > error:
                return 1 if gap > 0 else -1
        digits *= 2


def entropy_sign(counts: Sequence[int], limit: Fraction) -> int:
    """Return the sign of (entropy of the counts) − ln(limit), exactly.

    Entropy ≥ ln l is g^g ≥ l^g · Π c^c for counts c of sum g. Both sides are products of powers of integers, so
    their equality can be decided without large numbers. If they differ, so do their logarithms, and
    enough digits show by how much.
    """
    common = gcd(*counts)
    size = sum(counts) // common  # the same shares, the same entropy
    times = Counter(count // common for count in counts)
    powers = [(size, size), (limit.denominator, size), (limit.numerator, -size)]
    powers += [(count, -count * often) for count, often in times.items()]
    if _cancel(powers):
        return 0
    digits = 40
    while True:
        with localcontext(Context(prec=digits)):
            terms = [Decimal(exponent) * Decimal(base).ln() for base, exponent in powers if base > 1]
            total = sum(terms, Decimal(0))
            error = sum((abs(term) for term in terms), Decimal(1)).scaleb(4 - digits) * len(terms)
            if abs(total) > error:
                return 1 if total > 0 else -1
        digits *= 2


def _cancel(powers: Sequence[tuple[int, int]]) -> bool:
    """Return whether Π base^exponent is 1, by splitting the bases until no two have a common divisor."""
    waiting = list(powers)
    apart: list[tuple[int, int]] = []
    while waiting:
        base, exponent = waiting.pop()
        if base == 1 or exponent == 0:
            continue
        for at, (other, times) in enumerate(apart):
            common = gcd(base, other)
            if common > 1:
                del apart[at]
                waiting += [(base // common, exponent), (other // common, times), (common, exponent + times)]
                break
        else:
            apart.append((base, exponent))
    return not apart


def entropy_signs(entropies: Float64, limit: Fraction, *, starts: Int64, counts: Int64) -> Int8:
    """Return the sign of entropy − ln(limit) for each group; `counts[starts[g]:starts[g + 1]]` are its counts.

    `entropies` are floats; only groups that are too close to call are recomputed.
    """
    wanted = float(np.log(float(limit)))
    gap = entropies - wanted
    signs: Int8 = np.sign(gap).astype(np.int8)
    # Terms of a group's sum are at most ln(size) each and their rounding errors add up.
    terms = np.diff(starts)
    error = CLOSE * (1.0 + wanted + terms)
    close = np.abs(gap) <= error
    # Equal counts have the entropy ln(values): the common case on a threshold, possibly for many groups.
    even = close & _alike(starts, counts)
    signs[even] = ratio_signs(terms[even], np.ones(np.count_nonzero(even), dtype=np.int64), limit)
    seen: dict[tuple[int, ...], int] = {}
    for at in np.flatnonzero(close & ~even):
        key = tuple(np.sort(counts[starts[at] : starts[at + 1]]).tolist())
        if key not in seen:
            seen[key] = entropy_sign(key, limit)
        signs[at] = seen[key]
    return signs


def _alike(starts: Int64, counts: Int64) -> Bool:
    """Return group → whether it has counts and all of them are equal."""
    alike = np.diff(starts) > 0
    if alike.any():
        first = starts[:-1][alike]
        alike[alike] = np.maximum.reduceat(counts, first) == np.minimum.reduceat(counts, first)
    return alike
