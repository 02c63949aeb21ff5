"""Which columns hold numbers or dates, and their values as exact distances from the smallest."""

from __future__ import annotations

import datetime as dt
import re
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from coterie.errors import DataError
from coterie.tree import Float64

ColumnType = Literal["number", "category", "date"]

_INTEGER = re.compile(r"[+-]?(0|[1-9]\d*)")
_DECIMAL = re.compile(r"[+-]?(0|[1-9]\d*)?(\.\d+)?([eE][+-]?\d+)?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:?\d{2})?)?")

# A text column of which this share of the distinct values are numbers is taken for numbers with mistakes in them.
_MOSTLY = 0.9


class Numbers(NamedTuple):
    """Distinct values as numbers."""

    exact: pa.Array
    """the values in a numeric or temporal Arrow type"""
    keys: list[int] | npt.NDArray[np.generic]
    """comparable values, exact"""

    @property
    def order(self) -> npt.NDArray[np.int64]:
        """Places in ascending order of the number; equal numbers in the order of their places."""
        if isinstance(self.keys, list):
            return np.asarray(sorted(range(len(self.keys)), key=self.keys.__getitem__), dtype=np.int64)
        return np.argsort(self.keys, kind="stable")

    @property
    def offsets(self) -> Float64:
        """Place → distance from the smallest value."""
        if isinstance(self.keys, list):
            lowest = min(self.keys, default=0)
            return np.asarray([float(key - lowest) for key in self.keys], dtype=np.float64)
        if len(self.keys) == 0:
            return np.zeros(0)
        lowest = self.keys.min()
        if np.issubdtype(self.keys.dtype, np.integer):
            # Two's complement wraps round to the exact difference, whatever the signs.
            exact: Float64 = (self.keys.astype(np.uint64) - lowest.astype(np.uint64)).astype(np.float64)
            return exact
        distances: Float64 = self.keys.astype(np.float64) - np.float64(lowest)
        if not np.isfinite(distances).all():  # the range exceeds what a float holds
            distances = self.keys.astype(np.float64) / 4 - np.float64(lowest) / 4
        return distances

    @property
    def same_as_before(self) -> npt.NDArray[np.bool_]:
        """In ascending order: whether each number, from the second on, equals the one before."""
        order = self.order
        if isinstance(self.keys, list):
            keys = self.keys
            return np.asarray([keys[a] == keys[b] for a, b in zip(order[1:], order[:-1], strict=True)], dtype=np.bool_)
        ascending = self.keys[order]
        return np.asarray(ascending[1:] == ascending[:-1])


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds strings."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def guess_type(values: pa.Array, counts: npt.NDArray[np.int64], *, column: str) -> ColumnType:
    """What a column without a hierarchy is taken for.

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
    texts = [text.strip() for text in values.to_pylist()]
    numbers = np.asarray([_is_number(text) for text in texts])
    if numbers.all():
        return "number"
    if all(_DATE.fullmatch(text) for text in texts):
        return "date"
    if numbers.mean() >= _MOSTLY:
        wrong = ~numbers
        raise DataError(
            f"Column {column!r} looks like numbers, but {int(wrong.sum()):,} of its distinct values "
            f"({int(counts[wrong].sum()):,} rows) are text.",
            column=column,
            rows=int(counts[wrong].sum()),
            hint=f'Name them in missing_values, or set types.{column} = "category".',
        )
    return "category"


def _is_number(text: str) -> bool:
    return bool(text) and any(c.isdigit() for c in text) and _DECIMAL.fullmatch(text) is not None


def as_numbers(values: pa.Array, counts: npt.NDArray[np.int64], *, column: str) -> Numbers:
    """Distinct values as numbers, dates included.

    Raises:
        DataError: Some value is neither a number nor a date, or is infinite. The message counts, it does not quote.
    """
    kind = values.type
    if is_text(kind):
        return _from_text(values, counts, column=column)
    if pa.types.is_boolean(kind):
        values = values.cast(pa.int8())
    elif pa.types.is_decimal(kind):
        values = values.cast(pa.float64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_temporal(kind)):
        raise DataError(
            f"Column {column!r} holds neither numbers nor dates.",
            column=column,
            hint=f'Set types.{column} = "category".',
        )
    keys = values
    if pa.types.is_temporal(kind):
        keys = values.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
    elif pa.types.is_float16(kind):
        keys = values.cast(pa.float64())
    array = keys.to_numpy(zero_copy_only=False)
    if np.issubdtype(array.dtype, np.floating):
        infinite = ~np.isfinite(array)
        if infinite.any():
            raise _refused("infinite", infinite, counts, column)
    return Numbers(values, array)


def _refused(what: str, wrong: npt.NDArray[np.bool_], counts: npt.NDArray[np.int64], column: str) -> DataError:
    rows = int(counts[wrong].sum())
    return DataError(
        f"Column {column!r} is to be a number, but {int(wrong.sum()):,} of its distinct values ({rows:,} rows) "
        f"are {what}.",
        column=column,
        rows=rows,
        hint=f'Name them in missing_values, or set types.{column} = "category".',
    )


def _from_text(values: pa.Array, counts: npt.NDArray[np.int64], *, column: str) -> Numbers:
    texts = [text.strip() for text in values.to_pylist()]
    if all(_INTEGER.fullmatch(text) for text in texts):
        integers = [int(text) for text in texts]
        if all(-(2**63) <= value < 2**63 for value in integers):
            return Numbers(pa.array(integers, pa.int64()), np.asarray(integers, dtype=np.int64))
        return Numbers(pa.array([float(value) for value in integers]), integers)
    if texts and all(_DATE.fullmatch(text) for text in texts):
        return _from_dates(values, texts, counts, column=column)
    floats = np.full(len(texts), np.nan)
    for place, text in enumerate(texts):
        if any(c.isdigit() for c in text):
            try:
                floats[place] = float(text)
            except ValueError:
                continue
    wrong = ~np.isfinite(floats)
    if wrong.any():
        raise _refused("not numbers", wrong, counts, column)
    floats += 0.0
    return Numbers(pa.array(floats), floats)


def _from_dates(values: pa.Array, texts: list[str], counts: npt.NDArray[np.int64], *, column: str) -> Numbers:
    if all(len(text) == 10 for text in texts):
        try:
            days = pa.array(texts).cast(pa.date32())
        except pa.ArrowInvalid:
            pass
        else:
            return Numbers(days, days.cast(pa.int32()).to_numpy(zero_copy_only=False))
    micros, wrong = np.zeros(len(texts), dtype=np.int64), np.zeros(len(texts), dtype=np.bool_)
    epoch = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    for place, text in enumerate(texts):
        try:
            moment = dt.datetime.fromisoformat(text)
        except ValueError:
            wrong[place] = True
            continue
        micros[place] = (moment.replace(tzinfo=moment.tzinfo or dt.UTC) - epoch) // dt.timedelta(microseconds=1)
    if wrong.any():
        raise _refused("not dates of the calendar", wrong, counts, column)
    return Numbers(pa.array(micros, pa.timestamp("us")), micros)
