"""The interval that is published of some numbers whose ends are rounded outward, in fractions."""

from fractions import Fraction
from math import ceil, floor


def rounded(values, step):
    """Return the two ends as fractions."""
    step = Fraction(step)
    low = floor(min(map(Fraction, values)) / step) * step
    high = ceil(max(map(Fraction, values)) / step) * step
    return low, high + step if low == high else high
