"""Convert values to text, parse text as exact numbers and dates, and count values that do not fit a hierarchy.

`parse_number` accepts digits with at most one decimal point, a sign and an exponent, and surrounding spaces.
`parse_moment` accepts this part of ISO 8601, and surrounding spaces:

    2024-03-05  20240305  2024-W10-2  2024W102        a day, of the calendar or of a week
    …T10  …T10:15  …T10:15:30  …T10:15:30.25          and a time: a space may stand for T, a comma for the point, colons
    …T1015  …T101530                                  may be left out; up to nine digits of a second
    …Z  …+01  …+01:00  …+0100  …+00:53:28  …+005328   and its distance from UTC, which is none where none is said

Only `2024-03-05`, alone or with a time with colons, makes a text column a date column automatically (`DATE`):
without being asked for dates, coterie reads eight digits as a number.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import Integers
from coterie.errors import HierarchyError, Problem
from coterie.files.csv_out import text_cells
from coterie.wording import count_of

# The maximum number of digits before or after the decimal point. Floats need 324; more is not a measurement.
_MOST_DIGITS = 400
# Enough for every number of that size without rounding.
EXACT = Context(prec=4 * _MOST_DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN)
# Patterns for Python's and for Arrow's expressions.
NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,5})?"
_ZONE = r"(?:Z|[+-][0-9]{2}(?::?[0-9]{2}(?::?[0-9]{2})?)?)?"
DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}(?::[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?)?" + _ZONE + ")?"
_NUMBER = re.compile(NUMBER)
_MOMENT = re.compile(
    r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8}|[0-9]{4}-W[0-9]{2}-[0-9]|[0-9]{4}W[0-9]{3})"
    r"(?:[T ](?P<time>(?:[01][0-9]|2[0-3])(?::[0-9]{2}(?P<seconds>:[0-9]{2})?|[0-9]{2}(?P<last>[0-9]{2})?)?)"
    r"(?:[.,](?P<fraction>[0-9]{1,9}))?(?P<zone>" + _ZONE + "))?"
)
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_FRACTION = re.compile(r"\.[0-9]+")
_MOST_SHOWN = 100


def is_text(kind: pa.DataType) -> bool:
    """Return whether values of this type are strings."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_number(kind: pa.DataType) -> bool:
    """Return whether values of this type are numbers; booleans and dates are not."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def texts(values: pa.Array, *, column: str) -> list[str]:
    """Convert each value to the text that hierarchies use: `17` for 17 and 17.0, ISO 8601 for dates.

    Raises:
        HierarchyError: Values of this type, such as lists, have no text.
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
        written = text_cells(values).to_pylist()
        return [_trim_fraction(text) for text in written]
    raise HierarchyError(
        [Problem(column, f"values of type {kind} cannot be in a hierarchy; convert them to text, numbers or dates")],
        column=column,
    )


def _trim_fraction(text: str) -> str:
    """Remove trailing zeros of fractional seconds, so the text does not depend on the column's unit."""
    return _FRACTION.sub(lambda match: match[0].rstrip("0").rstrip("."), text, count=1)


def float_text(value: np.floating[Any] | float) -> str:
    """Return the shortest decimal text of a float, without an exponent; integers without a decimal point."""
    if not np.isfinite(value):
        return str(float(value))
    text = np.format_float_positional(value, unique=True, trim="-")
    return "0" if text == "-0" else text


def decimal_text(value: Decimal) -> str:
    """Write a decimal without an exponent and without trailing zeros."""
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def parse_number(text: str) -> Decimal | None:
    """Parse a number exactly; None if the text is not a number, or is too large for one."""
    text = text.strip()
    if len(text) > 2 * _MOST_DIGITS or _NUMBER.fullmatch(text) is None:
        return None
    value = Decimal(text)
    if value and abs(value.adjusted()) > _MOST_DIGITS:
        return None
    return value or Decimal(0)  # not −0


class Moment(NamedTuple):
    """A date or time."""

    day: int
    """days from 1970-01-01 to its date, as its own clock shows it"""
    nanoseconds: int
    """from the beginning of 1970 in UTC"""


def parse_moment(text: str) -> Moment | None:
    """Parse a date or time exactly; None if the text is not one."""
    found = _MOMENT.fullmatch(text.strip())
    if found is None or (found["fraction"] and not (found["seconds"] or found["last"])):
        return None
    try:
        clock = dt.datetime.fromisoformat(f"{found['day']}T{found['time'] or '00'}{found['zone'] or 'Z'}")
    except ValueError:
        return None
    seconds = (clock - _EPOCH) // dt.timedelta(seconds=1)
    fraction = int((found["fraction"] or "").ljust(9, "0"))
    return Moment(clock.toordinal() - _EPOCH.toordinal(), seconds * 10**9 + fraction)


def number_text(text: str) -> str | None:
    """Rewrite a number in the form that `texts` gives; None if the text is not a number."""
    value = parse_number(text)
    return None if value is None else decimal_text(value)


@dataclass
class Misfits:
    """Counts the values of a column that a hierarchy lacks; shows them only on request."""

    names: Sequence[str]
    counts: Integers
    column: str
    show_values: bool
    problems: list[Problem] = field(default_factory=list)
    rows: int = 0

    def add(self, places: Sequence[int], one: str, many: str, *, hint: str = "") -> None:
        """Record that the values at these positions do not fit. `one` and `many` are the verb phrases."""
        if not places:
            return
        rows = int(self.counts[np.asarray(places, dtype=np.int64)].sum())
        self.rows += rows
        phrase = one if len(places) == 1 else many
        text = f"{count_of(len(places), 'value')} ({count_of(rows, 'row')}) {phrase}"
        if self.show_values:
            shown = ", ".join(f'"{self.names[place]}"' for place in places[:_MOST_SHOWN])
            more = len(places) - _MOST_SHOWN
            text += f": {shown}" + (f" and {more:,} more" if more > 0 else "")
        self.problems.append(Problem(self.column, f"{text}; {hint}" if hint else text))

    def add_column(self, text: str) -> None:
        """Record that the whole column does not fit."""
        self.rows = int(self.counts.sum())
        self.problems.append(Problem(self.column, text))

    def raise_any(self) -> None:
        """Raise HierarchyError with all recorded problems, if any."""
        if self.problems:
            raise HierarchyError(self.problems, column=self.column or None, rows=self.rows)
