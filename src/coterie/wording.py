"""How figures and names are put for people: did-you-mean, counts, shares, lengths of time, bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

MOST_LISTED = 12
"""names that a message lists; of more, it says how many there are"""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """` (did you mean 'age'?)` when a known name is near, otherwise nothing. Case does not count."""
    folded = {_fold(candidate): candidate for candidate in known}
    near = get_close_matches(_fold(name), folded, n=1, cutoff=0.6)
    return f" (did you mean {folded[near[0]]!r}?)" if near else ""


def _fold(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "").replace(" ", "")


def count_of(number: int, noun: str) -> str:
    """`1 row`, `1,234 rows`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def percent_text(share: float) -> str:
    """A share as per cents; very small ones are not rounded to nothing."""
    percent = 100 * share
    return f"{percent:.2g} %" if 0 < percent < 0.01 else f"{percent:.2f} %".replace(".00 %", " %")


def seconds_text(seconds: float) -> str:
    """A length of time for people to read."""
    whole = round(seconds)
    if whole < 1:
        return "less than a second"
    if whole < 90:
        return f"{whole} s"
    if whole < 5400:
        return f"{whole // 60} min {whole % 60} s" if whole < 600 else f"{whole // 60} min"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def bytes_text(size: int) -> str:
    """A number of bytes for people: 1.5 GB."""
    for unit, name in ((2**30, "GB"), (2**20, "MB")):
        if size >= unit:
            return f"{size / unit:,.1f} {name}".replace(".0 ", " ")
    return f"{size:,} bytes"


def shortened(columns: Sequence[str]) -> str:
    """Names of columns for a message: the first of them, and how many more there are."""
    shown = ", ".join(map(repr, columns[:MOST_LISTED]))
    return shown + (f" and {len(columns) - MOST_LISTED:,} more" if len(columns) > MOST_LISTED else "")
