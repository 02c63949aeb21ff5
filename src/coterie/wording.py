"""Format figures, names and results for people: did-you-mean, counts, shares, durations, bytes, tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from html import escape
from typing import Any

MOST_LISTED = 12
"""the maximum number of names that a message lists before giving a count"""


# What a terminal obeys or a page hides: control characters, and signs that turn or break the line around them.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")


def visible(text: str) -> str:
    """Return a text with the characters escaped that a terminal obeys or that turn the text around them.

    Names of columns may hold anything, such as the sequence that makes a terminal print in red. Everything that shows
    text calls this; what is read again by a program, such as the release itself, contains names unchanged.
    """
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def one_line(text: str) -> str:
    """Return a text as one line: names of columns and files may have line breaks."""
    return visible(" ".join(text.split()))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return ` (did you mean 'age'?)` if a known name is similar, ignoring case; otherwise nothing."""
    folded = {_fold(candidate): candidate for candidate in known}
    near = get_close_matches(_fold(name), folded, n=1, cutoff=0.6)
    return f" (did you mean {folded[near[0]]!r}?)" if near else ""


def _fold(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "").replace(" ", "")


def count_of(number: int, noun: str) -> str:
    """Return `1 row`, `1,234 rows`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def percent_text(share: float) -> str:
    """Format a share as a percentage; very small ones are not rounded to zero."""
    percent = 100 * share
    return f"{percent:.2g} %" if 0 < percent < 0.01 else f"{percent:.2f} %".replace(".00 %", " %")


def seconds_text(seconds: float) -> str:
    """Format a duration."""
    whole = round(seconds)
    if whole < 1:
        return "less than a second"
    if whole < 90:
        return f"{whole} s"
    if whole < 5400:
        return f"{whole // 60} min {whole % 60} s" if whole < 600 else f"{whole // 60} min"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def bytes_text(size: int) -> str:
    """Format a number of bytes: 1.5 GB."""
    for unit, name in ((2**30, "GB"), (2**20, "MB")):
        if size >= unit:
            return f"{size / unit:,.1f} {name}".replace(".0 ", " ")
    return f"{size:,} bytes"


def shortened(columns: Sequence[str]) -> str:
    """List column names for a message: the first ones, and how many more there are."""
    shown = ", ".join(map(repr, columns[:MOST_LISTED]))
    return shown + (f" and {len(columns) - MOST_LISTED:,} more" if len(columns) > MOST_LISTED else "")


class Tabular:
    """Results with a table for notebooks and a frame to work with. Subclasses define `records`."""

    def records(self) -> list[dict[str, Any]]:
        """Return the result as rows of names and values."""
        raise NotImplementedError

    def to_frame(self) -> Any:  # noqa: ANN401 - the frame of an optional library
        """Return a pandas DataFrame; without pandas, a Polars DataFrame or an Arrow table."""
        from importlib.util import find_spec

        import pyarrow as pa

        table = pa.Table.from_pylist(self.records())
        if find_spec("pandas") is not None:
            return table.to_pandas()
        if find_spec("polars") is not None:
            import polars as pl

            return pl.from_arrow(table)
        return table

    def _repr_html_(self) -> str:
        records = self.records()
        head = "".join(f"<th>{escape(visible(str(name)))}</th>" for name in (records[0] if records else ()))
        rows = ("".join(f"<td>{escape(visible(_cell(value)))}</td>" for value in record.values()) for record in records)
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        title = f"<caption>{escape(type(self).__name__)}</caption>"
        return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    """Format a value for a table cell."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}" if isinstance(value, float) else str(value)
