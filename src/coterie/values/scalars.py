"""Values of a column as text and as exact numbers, and the count of those that do not fit a hierarchy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from coterie.arrays import Integers
from coterie.errors import HierarchyError, Problem

# Digits in front of or behind the decimal point that a number may have. Floats need 324; more is no measurement.
_MOST_DIGITS = 400
# Enough to hold every number of that size without rounding.
EXACT = Context(prec=4 * _MOST_DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN)
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,5})?")
_FRACTION = re.compile(r"\.[0-9]+")
_MOST_SHOWN = 100


def plain_array(values: Any) -> pa.Array:  # noqa: ANN401 - any array of values
    """The values as one Arrow array without dictionary encoding; lists and other columns are taken too."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
        if isinstance(values, pa.ChunkedArray):
            values = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)
    if not isinstance(values, pa.Array):
        values = pa.array(values)
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    return values


def is_text(kind: pa.DataType) -> bool:
    """Whether values of this type are strings."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_number(kind: pa.DataType) -> bool:
    """Whether values of this type are numbers; truth values and dates are not."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def texts(values: pa.Array, *, column: str) -> list[str]:
    """Each value as the text by which hierarchies know it: `17` for 17 and 17.0, ISO 8601 for dates.

    Raises:
        HierarchyError: The type has no text, such as lists.
    """
    kind = values.type
    if is_text(kind) or pa.types.is_null(kind):
        return list(values.to_pylist())
    if pa.types.is_boolean(kind):
        return ["true" if value else "false" for value in values.to_pylist()]
    if pa.types.is_integer(kind):
        return [str(value) for value in values.to_pylist()]
    if pa.types.is_floating(kind):
        return [float_text(value) for value in values.to_numpy(zero_copy_only=False)]
    if pa.types.is_decimal(kind):
        return [decimal_text(value) for value in values.to_pylist()]
    if pa.types.is_temporal(kind) and not pa.types.is_duration(kind):
        written = values.cast(pa.string()).to_pylist()
        return [_trim_fraction(text) for text in written]
    raise HierarchyError(
        [Problem(column, f"values of type {kind} have no place in a hierarchy; turn them into text, numbers or dates")],
        column=column,
    )


def _trim_fraction(text: str) -> str:
    """A moment without the trailing zeros of its fraction of a second: one text whatever the column's unit."""
    return _FRACTION.sub(lambda match: match[0].rstrip("0").rstrip("."), text, count=1)


def float_text(value: np.floating[Any] | float) -> str:
    """The shortest decimal text of a float, without an exponent; whole numbers without a point."""
    if not np.isfinite(value):
        return str(float(value))
    text = np.format_float_positional(value, unique=True, trim="-")
    return "0" if text == "-0" else text


def decimal_text(value: Decimal) -> str:
    """A decimal without exponent and without trailing zeros."""
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def parse_number(text: str) -> Decimal | None:
    """The number that a text holds, exactly, or None if it holds none (or one beyond all measure)."""
    text = text.strip()
    if len(text) > 2 * _MOST_DIGITS or _NUMBER.fullmatch(text) is None:
        return None
    value = Decimal(text)
    if value and abs(value.adjusted()) > _MOST_DIGITS:
        return None
    return value


def number_text(text: str) -> str | None:
    """The text of the same number in the one form that `texts` gives, or None if it is no number."""
    value = parse_number(text)
    return None if value is None else decimal_text(value)


def count_of(number: int, noun: str) -> str:
    """`1 row`, `1,234 rows`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


class Misfits:
    """Collects the values of a column that a hierarchy cannot place, as counts; shows them only on request."""

    def __init__(self, names: Sequence[str], *, counts: Integers, column: str, show_values: bool) -> None:
        self._names = names
        self._counts = counts
        self._show = show_values
        self.column = column
        self.problems: list[Problem] = []
        self.rows = 0

    def add(self, places: Sequence[int], one: str, many: str, *, hint: str = "") -> None:
        """Note that the values at these places do not fit. `one` and `many` are the verb phrase for 1 and for more."""
        if not places:
            return
        rows = int(self._counts[np.asarray(places, dtype=np.int64)].sum())
        self.rows += rows
        phrase = one if len(places) == 1 else many
        text = f"{count_of(len(places), 'value')} ({count_of(rows, 'row')}) {phrase}"
        if self._show:
            shown = ", ".join(f'"{self._names[place]}"' for place in places[:_MOST_SHOWN])
            more = len(places) - _MOST_SHOWN
            text += f": {shown}" + (f" and {more:,} more" if more > 0 else "")
        self.problems.append(Problem(self.column, f"{text}; {hint}" if hint else text))

    def add_column(self, text: str) -> None:
        """Note that the column as a whole does not fit."""
        self.rows = int(self._counts.sum())
        self.problems.append(Problem(self.column, text))

    def raise_any(self) -> None:
        """Raise HierarchyError with everything noted, if anything was."""
        if self.problems:
            raise HierarchyError(self.problems, column=self.column or None, rows=self.rows)
