"""Place numbers and dates written by a person on the axis of a column's values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa

from coterie.arrays import Float64
from coterie.errors import DataError
from coterie.values.numbers import as_numbers, guess_type
from coterie.values.scalars import EXACT, parse_moment, parse_number, texts

if TYPE_CHECKING:
    from coterie.table.domain import Domain

# Above this, distances between values were scaled down and no longer locate a number.
_FAR = 2.0**999
_NANOSECONDS = {"day": 86_400 * 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


class Axis(NamedTuple):
    """Numbers as distances from a column's smallest value."""

    lowest: Decimal | float
    """the smallest value, exactly where its kind allows"""
    kind: pa.DataType
    floating: bool
    """whether distances are differences of floats"""
    whole: bool
    """whether all values are whole numbers, as dates and ranks are, too: only whole numbers are counted then"""
    ranks: Mapping[str, int] | None = None
    """ordered categories: value → its rank among all that may occur"""

    @property
    def temporal(self) -> bool:
        """Whether these are dates or times."""
        return bool(pa.types.is_temporal(self.kind))

    def place(self, text: str) -> float | None:
        """Return the distance of a number, date or ordered value from the smallest; None if the text is none."""
        if self.ranks is not None:
            return float(self.ranks[text] - int(self.lowest)) if text in self.ranks else None
        if self.temporal:
            moment = _ticks(text, self.kind)
            return None if moment is None else float(EXACT.subtract(moment, Decimal(self.lowest)))
        number = parse_number(text)
        if number is None:
            return None
        if self.floating:  # the same operation that made the column's own distances
            return float(np.float64(float(number)) - np.float64(float(self.lowest)))
        return float(EXACT.subtract(number, Decimal(self.lowest)))


# Cached, since axes are needed repeatedly; freed with their columns.
_KNOWN: WeakKeyDictionary[Domain, Axis] = WeakKeyDictionary()


def axis_of(domain: Domain) -> Axis:
    """Return the axis of a column of numbers or dates."""
    if domain not in _KNOWN:
        _KNOWN[domain] = _axis(domain)
    return _KNOWN[domain]


def _axis(domain: Domain) -> Axis:
    values = domain.values if domain.missing < 0 else domain.values[:-1]
    if domain.order:
        ranks = {text: rank for rank, text in enumerate(domain.order)}
        first = min((ranks[text] for text in texts(values, column=domain.name)), default=0)
        return Axis(Decimal(first), pa.int64(), floating=False, whole=True, ranks=ranks)
    if len(values) == 0:
        return Axis(Decimal(0), pa.int64(), floating=False, whole=True)
    numbers = as_numbers(values, np.ones(len(values), dtype=np.int64), column=domain.name)
    if domain.numbers is not None and np.nanmax(domain.numbers) >= _FAR:
        raise DataError(
            f"Column {domain.name!r} has a range too wide for floating-point numbers.",
            column=domain.name,
            hint="Leave it out, or rescale it.",
        )
    floating = bool(np.issubdtype(numbers.keys.dtype, np.floating))
    smallest, kind = numbers.keys.min(), numbers.exact.type
    lowest = Decimal(smallest.item() if isinstance(smallest, np.generic) else smallest)
    present = np.zeros(0) if domain.numbers is None else domain.numbers[: len(values)]
    if pa.types.is_date32(kind) and len(present) and present.max() != numbers.offsets.max():
        # Texts of days, some of which the table has with a time, too: then it counts in microseconds.
        kind, lowest = pa.timestamp("us"), lowest * (_NANOSECONDS["day"] // _NANOSECONDS["us"])
    whole = bool(np.all(present == np.floor(present)) and np.all(present < 2.0**53))
    whole = whole and lowest == lowest.to_integral_value()
    return Axis(float(lowest) if floating else lowest, kind, floating, whole)


def floats_of(domain: Domain) -> Float64 | None:
    """Return code → number, NaN for missing values; None if the values are not numbers."""
    if domain.order:
        return None
    values = domain.values if domain.missing < 0 else domain.values[:-1]
    ones = np.ones(len(values), dtype=np.int64)
    try:
        if domain.kind != "number" and guess_type(values, ones, column=domain.name) != "number":
            return None
        exact = as_numbers(values, ones, column=domain.name).exact
    except DataError:
        return None
    if pa.types.is_temporal(exact.type):
        return None
    floats: Float64 = exact.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return floats if domain.missing < 0 else np.append(floats, np.nan)


def decimals_of(numbers: Float64) -> int:
    """Return how many decimals a figure made from numbers may have: as many as they have, and no more than they tell.

    Nine tenths of the numbers do with them, so that a few odd ones give none away; and the last is not far below a
    ten-thousandth of the range of the numbers.
    """
    present = numbers[np.isfinite(numbers)]
    with np.errstate(over="ignore"):
        spread = float(np.ptp(present)) if len(present) else 0.0
    # An infinite range has no decimals.
    most = max(4 - math.floor(math.log10(spread)), 0) if 0 < spread < math.inf else 0
    enough = (each for each in range(most) if np.mean(np.round(present, each) == present) >= 0.9)
    return next(enough, most)


def _ticks(text: str, kind: pa.DataType) -> Decimal | None:
    """Return a date or time in the column's unit: days, seconds, microseconds, …."""
    moment = parse_moment(text)
    if moment is None or not (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        return None
    unit = kind.unit if pa.types.is_timestamp(kind) else "day" if pa.types.is_date32(kind) else "ms"
    return EXACT.divide(Decimal(moment.nanoseconds), _NANOSECONDS[unit])
