"""Detect columns of numbers or dates, and convert their values to exact distances from the smallest."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from coterie.arrays import Bool, Float64, Int64
from coterie.errors import DataError
from coterie.values.plain import plain_array
from coterie.values.scalars import DATE, EXACT, is_text, parse_moment, parse_number, texts
from coterie.wording import count_of

ColumnType = Literal["number", "category", "date"]

# Arrow's expressions, for all distinct values at once.
# A leading zero suggests a zip code or an account number: such texts are numbers only if declared.
_NUMBER = r"^[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"
# What Arrow itself reads, exactly: within 64 bits, or decimals that differ as floats wherever they differ.
_INT64 = r"^-?[0-9]{1,18}$"
_FLOAT = r"^-?[0-9]+\.[0-9]+$"
_FLOAT_DIGITS = 15
# Arrow's calendar has a year 0, others begin with 0001-01-01.
_FIRST_DAY = -719_162

# A text column with this share of numbers among its distinct values is treated as numbers with errors.
_MOSTLY = 0.9
# Distances stay below: twice the largest of them is still a number.
_FAR = 2.0**1000


class Numbers(NamedTuple):
    """Distinct values as numbers."""

    exact: pa.Array
    """the values in a numeric or temporal Arrow type; floats where no such type holds them exactly"""
    keys: npt.NDArray[Any]
    """comparable values, exact: whole numbers and decimals of Python where no other array type holds them"""

    @property
    def order(self) -> Int64:
        """Positions in ascending order of the number; ties keep their order."""
        return np.argsort(self.keys, kind="stable")

    @property
    def offsets(self) -> Float64:
        """Position → distance from the smallest value; huge ranges are scaled down."""
        if len(self.keys) == 0:
            return np.zeros(0)
        lowest = self.keys.min()
        if self.keys.dtype == object:
            exact_ones = [EXACT.subtract(Decimal(key), Decimal(lowest)) for key in self.keys]
            scale = Decimal(1) if max(exact_ones) < Decimal(_FAR) else Decimal(2**30)
            return np.asarray([float(EXACT.divide(distance, scale)) for distance in exact_ones], dtype=np.float64)
        if np.issubdtype(self.keys.dtype, np.integer):
            # Two's complement wraps round to the exact difference, whatever the signs.
            exact: Float64 = (self.keys.astype(np.uint64) - lowest.astype(np.uint64)).astype(np.float64)
            return exact
        values, base = self.keys.astype(np.float64), np.float64(lowest)
        if values.max() / 4 - base / 4 >= _FAR / 4:
            values, base = values / 2**30, base / 2**30
        distances: Float64 = values - base
        return distances

    @property
    def same_as_before(self) -> Bool:
        """In ascending order: whether each number, from the second on, equals the previous one."""
        ascending = self.keys[self.order]
        return np.asarray(ascending[1:] == ascending[:-1], dtype=np.bool_)


def guess_type(values: pa.Array, counts: Int64, *, column: str) -> ColumnType:
    """Guess the type of a column without a hierarchy.

    Raises:
        DataError: Almost all distinct values of a text column are numbers, but some are not.
    """
    kind = values.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    if pa.types.is_temporal(kind):
        return "date"
    if not is_text(kind) or len(values) == 0:
        return "category"
    texts = pc.utf8_trim_whitespace(values)
    numbers = _are_numbers(texts)
    if numbers.all():
        return "number"
    if _all_match(texts, f"^{DATE}$"):
        return "date"
    if numbers.mean() >= _MOSTLY:
        raise _refused("text", ~numbers, counts, column, is_what="looks like numbers")
    return "category"


def _all_match(texts: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(texts, pattern), min_count=0).as_py())


def _are_numbers(texts: pa.Array) -> Bool:
    numbers: Bool = _numpy(pc.match_substring_regex(texts, _NUMBER)).copy()
    # Hundreds of digits are a key or a signature, and do not fit into a float.
    large = pc.or_(pc.match_substring_regex(texts, "[eE]"), pc.greater(pc.utf8_length(texts), 300))
    for place in np.flatnonzero(numbers & _numpy(large)):
        numbers[place] = (value := parse_number(texts[place].as_py())) is not None and abs(float(value)) < np.inf
    return numbers


def _numpy(array: pa.Array) -> npt.NDArray[Any]:
    result: npt.NDArray[Any] = array.to_numpy(zero_copy_only=False)
    return result


def as_numbers(values: pa.Array, counts: Int64, *, column: str) -> Numbers:
    """Convert distinct values, including dates, to numbers.

    Raises:
        DataError: Some value is not a number or date, or is infinite. The message counts such values.
    """
    kind = values.type
    if is_text(kind):
        return _from_text(values, counts, column=column)
    if pa.types.is_decimal(kind):
        return _from_decimals(values)
    if pa.types.is_boolean(kind):
        values = values.cast(pa.int8())
    elif pa.types.is_interval(kind) or not (
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_temporal(kind)
    ):
        raise DataError(
            f"Column {column!r} is of type {kind}, which contains neither numbers nor dates.",
            column=column,
            rows=int(counts.sum()),
            hint=f'Convert it to numbers or dates, or to text and set types.{column} = "category".',
        )
    keys = values
    if pa.types.is_temporal(kind):
        keys = values.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
    array = _numpy(keys)
    if np.issubdtype(array.dtype, np.floating):
        infinite = ~np.isfinite(array)
        if infinite.any():
            raise _refused("infinite", infinite, counts, column)
    return Numbers(values, array)


def as_ranks(values: pa.Array, counts: Int64, *, column: str, order: Sequence[str]) -> Numbers:
    """Return the values of an ordered category as ranks.

    Raises:
        DataError: Values are not in the order; the message counts, it does not quote.
    """
    names = texts(values, column=column)
    rank = {text: at for at, text in enumerate(order)}
    ranks = np.asarray([rank.get(name, -1) for name in names], dtype=np.int64)
    if (wrong := ranks < 0).any():
        rows = int(counts[wrong].sum())
        found = f"{count_of(int(wrong.sum()), 'value')} ({count_of(rows, 'row')})"
        raise DataError(
            f"Column {column!r} is ordered, but its order lacks {found}.",
            column=column,
            rows=rows,
            hint=f"Add what it lacks to ordered.{column}, or to missing_values.",
        )
    return Numbers(pa.array(ranks), ranks)


def _from_decimals(values: pa.Array) -> Numbers:
    floats = values.cast(pa.float64())
    array = _numpy(floats)
    if np.abs(array).max(initial=0.0) < 10.0 ** (_FLOAT_DIGITS - values.type.scale):
        return Numbers(floats, array)
    return Numbers(floats, np.array(values.to_pylist(), dtype=object))


def _refused(
    what: str, wrong: Bool, counts: Int64, column: str, *, is_what: str = "is configured as a number"
) -> DataError:
    rows = int(counts[wrong].sum())
    return DataError(
        f"Column {column!r} {is_what}, but {int(wrong.sum()):,} of its distinct values ({rows:,} rows) are {what}.",
        column=column,
        rows=rows,
        hint=f'List them in missing_values, or set types.{column} = "category".',
    )


def _from_text(values: pa.Array, counts: Int64, *, column: str) -> Numbers:
    texts = pc.utf8_trim_whitespace(values)
    if len(texts) and _all_match(texts, f"^{DATE}$"):
        return _from_dates(texts.to_pylist(), counts, column=column)
    if _all_match(texts, _INT64):
        integers = texts.cast(pa.int64())
        return Numbers(integers, _numpy(integers))
    if _all_match(texts, _FLOAT) and pc.max(pc.utf8_length(texts)).as_py() <= _FLOAT_DIGITS + 1:
        decimals = plain_array(texts.cast(pa.float64()))
        return Numbers(decimals, _numpy(decimals))
    return _from_any_text(texts.to_pylist(), counts, column=column)


def _from_any_text(texts: list[str], counts: Int64, *, column: str) -> Numbers:
    """Parse numbers of any length and spelling, one at a time."""
    parsed = [parse_number(text) for text in texts]
    floats = np.asarray([np.nan if value is None else float(value) for value in parsed], dtype=np.float64)
    wrong = ~np.isfinite(floats)
    if wrong.any():
        raise _refused("not numbers", wrong, counts, column)
    exact = [value for value in parsed if value is not None]
    if all(value == value.to_integral_value() for value in exact):
        integers = [int(value) for value in exact]
        if all(-(2**63) <= value < 2**63 for value in integers):
            return Numbers(pa.array(integers, pa.int64()), np.asarray(integers, dtype=np.int64))
        return Numbers(pa.array(floats), np.array(integers, dtype=object))
    # Below 1e-290 floats begin to lose digits.
    if all(len(value.as_tuple().digits) <= _FLOAT_DIGITS and value.adjusted() > -290 for value in exact):
        return Numbers(pa.array(floats), floats)
    return Numbers(pa.array(floats), np.array(exact, dtype=object))


def _from_dates(texts: list[str], counts: Int64, *, column: str) -> Numbers:
    if all(len(text) == 10 for text in texts):
        with suppress(pa.ArrowInvalid):
            days = pa.array(texts).cast(pa.date32())
            keys = _numpy(days.cast(pa.int32()))
            if keys.min() >= _FIRST_DAY:
                return Numbers(days, keys)
    moments = [parse_moment(text) for text in texts]
    wrong = np.asarray([moment is None for moment in moments], dtype=np.bool_)
    if wrong.any():
        raise _refused("not valid dates", wrong, counts, column)
    nanoseconds = [moment.nanoseconds for moment in moments if moment is not None]
    unit, size = ("us", 1000) if all(each % 1000 == 0 for each in nanoseconds) else ("ns", 1)
    wrong = np.asarray([not -(2**63) <= each // size < 2**63 for each in nanoseconds], dtype=np.bool_)
    if wrong.any():
        raise _refused("too far from 1970 to be counted in nanoseconds, as others of it are", wrong, counts, column)
    keys = np.asarray([each // size for each in nanoseconds], dtype=np.int64)
    return Numbers(pa.array(keys, pa.timestamp(unit)), keys)
