"""Numbers and dates in published cells, read exactly by the judge itself."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from decimal import Decimal
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from coterie.arrays import Bool, Int64
from coterie.errors import DataError
from coterie.verification.cells import is_text

_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,5})?")
_DATE = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
# Digits before or behind the point that a number may have: floats need 324.
_MOST = 400
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def is_number(kind: pa.DataType) -> bool:
    """Whether cells of this type are numbers; truth values and dates are not."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def number_in(text: str) -> Decimal | None:
    """The number that a text holds, exactly; None if it holds none, or one that is beyond all measure."""
    text = text.strip()
    if len(text) > 2 * _MOST or not _NUMBER.fullmatch(text):
        return None
    value = Decimal(text)
    return value if not value or (abs(value.adjusted()) <= _MOST and isfinite(float(value))) else None


def moment_in(text: str) -> int | None:
    """The date or moment that a text holds, in microseconds of 1970; None if it holds none."""
    try:
        moment = dt.datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return (moment.replace(tzinfo=moment.tzinfo or dt.UTC) - _EPOCH) // dt.timedelta(microseconds=1)


def are_dates(texts: Sequence[str]) -> bool:
    """Whether all texts are written as dates or moments are."""
    return len(texts) > 0 and all(map(_DATE.fullmatch, texts))


def numbers_of(cells: pa.Array, rows: Int64, *, name: str) -> Sequence[Any] | npt.NDArray[Any]:
    """Distinct cells, none of them missing, as exact numbers that can be compared; dates are numbers here.

    Raises:
        DataError: Some are none.
    """
    kind = cells.type
    if len(cells) == 0:
        return []
    if is_text(kind):
        texts = [text.strip() for text in cells.to_pylist()]
        dates = are_dates(texts)
        read = [moment_in(text) if dates else number_in(text) for text in texts]
        _refuse(
            np.array([each is None for each in read]),
            rows,
            name,
            "not dates of the calendar" if dates else "not numbers",
        )
        return read
    if pa.types.is_decimal(kind):
        return list(cells.to_pylist())
    if pa.types.is_boolean(kind):
        cells = cells.cast(pa.int8())
    elif pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        cells = cells.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
    elif not is_number(kind):
        raise DataError(
            f"Column {name!r} is of type {kind}, which holds neither numbers nor dates.",
            column=name,
            rows=int(rows.sum()),
            hint=f'Turn it into numbers or dates, or into text and set types.{name} = "category".',
        )
    numbers: npt.NDArray[Any] = cells.to_numpy(zero_copy_only=False)
    _refuse(~np.isfinite(numbers), rows, name, "infinite")
    return numbers


def _refuse(wrong: Bool, rows: Int64, name: str, what: str) -> None:
    if wrong.any():
        count = int(rows[wrong].sum())
        raise DataError(
            f"Column {name!r} is to be a number, but {int(wrong.sum()):,} of its distinct values ({count:,} rows) "
            f"are {what}.",
            column=name,
            rows=count,
            hint=f'Name them in missing_values, or set types.{name} = "category".',
        )
