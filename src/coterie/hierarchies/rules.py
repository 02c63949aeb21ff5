"""Hierarchy rules: intervals, prefixes and flat; dates are in `dates`.

A rule gives each value its path to the root. It has no values of its own: once bound to a column, its whole
hierarchy is the one over that column's values. Levels are written from fine to coarse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, partial
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from coterie.errors import ConfigError, Problem
from coterie.values.scalars import EXACT, Misfits, decimal_text, is_number, is_text, parse_number

# One character at a time up to this length; beyond it every value would add a long chain.
_MOST_PREFIXES = 64


class Way(NamedTuple):
    """A value's labels from itself up to just below the root, and its sort key among the others."""

    key: Any
    labels: tuple[str, ...]


class HierarchyRule(Protocol):
    """The interface of every rule."""

    kind: ClassVar[str]

    @property
    def spec(self) -> object:
        """The rule as plain values for TOML and JSON."""

    def ways(self, values: pa.Array, names: Sequence[str], *, misfits: Misfits) -> list[Way]:
        """Return each value's path, given its text. Values that do not fit are noted and make the result void."""


@dataclass(frozen=True)
class Flat:
    """Every value directly under the root, in ascending order."""

    kind: ClassVar[str] = "flat"

    @property
    def spec(self) -> object:
        """The rule as plain values for TOML and JSON."""
        return "flat"

    def ways(self, values: pa.Array, names: Sequence[str], *, misfits: Misfits) -> list[Way]:
        """Return each value's path; numbers and dates are sorted as such, text by its characters."""
        if is_text(values.type) or pa.types.is_null(values.type):
            return [Way(name, (name,)) for name in names]
        import pyarrow.compute as pc

        ranks = np.argsort(pc.sort_indices(values)).tolist()
        return [Way(rank, (name,)) for rank, name in zip(ranks, names, strict=True)]


@dataclass(frozen=True)
class Intervals:
    """Numbers grouped into intervals of increasing width, each a multiple of the one before."""

    widths: tuple[Decimal, ...]
    start: Decimal
    kind: ClassVar[str] = "intervals"

    @classmethod
    def of(cls, widths: Sequence[object], start: object) -> Intervals:
        """Validate the widths and return the rule; ConfigError lists every problem."""
        problems = [] if widths else [Problem("intervals", "give at least one width, such as intervals(5, 10, 20)")]
        good: list[Decimal] = []
        for width in widths:
            number = _setting(width)
            if number is None or number <= 0:
                problems.append(Problem("intervals", f"{width!r} is not a width; a width is a number above 0"))
            else:
                good.append(number)
        for narrow, wide in pairwise(good):
            if wide <= narrow or EXACT.remainder(wide, narrow) != 0:
                text = f"{decimal_text(wide)} is not a multiple of {decimal_text(narrow)}"
                problems.append(Problem("intervals", f"{text}; widths grow, and each must divide the next"))
        origin = _setting(start)
        if origin is None:
            problems.append(Problem("start", f"{start!r} is not a number; it is the start of one of the intervals"))
        if problems or origin is None:
            raise ConfigError(problems)
        return cls(tuple(good), origin)

    @property
    def spec(self) -> object:
        """The rule as plain values for TOML and JSON."""
        rule: dict[str, object] = {"intervals": [_plain(width) for width in self.widths]}
        return rule | {"start": _plain(self.start)} if self.start else rule

    def ways(self, values: pa.Array, names: Sequence[str], *, misfits: Misfits) -> list[Way]:
        """Return each value's path; integers lie in `[20-24]`, or `[-5, -1]` below 0, decimals in `[20, 25)`."""
        if not (is_number(values.type) or is_text(values.type) or pa.types.is_null(values.type)):
            other = "dates; use dates(…) instead" if pa.types.is_temporal(values.type) else "no numbers"
            misfits.add_column(f"intervals are for numbers, but the column contains {other}")
            return []
        numbers = [parse_number(name) for name in names]
        wrong = [place for place, number in enumerate(numbers) if number is None]
        misfits.add(wrong, "is not a number", "are not numbers", hint="intervals are for numbers only")
        exact = [number for number in numbers if number is not None]
        if wrong:
            return []
        # All numbers are scaled to integers by one power of ten, so that every bound is exact.
        digits = max((_decimals(number) for number in (*exact, *self.widths, self.start)), default=0)
        scaled = [_scaled(number, digits) for number in exact]
        start = _scaled(self.start, digits)
        widths = [_scaled(width, digits) for width in self.widths]
        label = cache(partial(_interval, digits=digits))
        ways = []
        for value, name in zip(scaled, names, strict=True):
            labels = [name]
            for width in widths:
                low = value - (value - start) % width
                if digits or width > 1:  # among whole numbers an interval of width 1 is the number itself
                    labels.append(label(low, width))
            ways.append(Way((value, name), tuple(labels)))
        return ways


def _interval(low: int, width: int, *, digits: int) -> str:
    """Write an interval of numbers that were scaled by this power of ten."""
    if digits == 0:
        high = low + width - 1
        return f"[{low}-{high}]" if low >= 0 else f"[{low}, {high}]"
    ends = [decimal_text(EXACT.scaleb(Decimal(end), -digits)) for end in (low, low + width)]
    return f"[{ends[0]}, {ends[1]})"


def _setting(setting: object) -> Decimal | None:
    """Return a number given by the user, exactly as written; None for anything else."""
    if isinstance(setting, bool) or not isinstance(setting, int | float | str | Decimal):
        return None
    return parse_number(format(setting, "f") if isinstance(setting, Decimal) else str(setting))


def _plain(number: Decimal) -> int | float | str:
    if _decimals(number) == 0:
        return int(number)
    # A float if it represents the same number, otherwise its digits as text.
    return float(number) if parse_number(repr(float(number))) == number else decimal_text(number)


def _decimals(number: Decimal) -> int:
    """Return the number of decimal places that a number needs."""
    return len(decimal_text(number).partition(".")[2])


def _scaled(number: Decimal, digits: int) -> int:
    return int(EXACT.scaleb(number, digits))


@dataclass(frozen=True)
class Prefixes:
    """Codes grouped by their first characters: zip codes, ICD-10, phone numbers."""

    lengths: tuple[int, ...]
    """none: one character at a time"""
    mask: str
    kind: ClassVar[str] = "prefixes"

    @classmethod
    def of(cls, lengths: Sequence[object], mask: object) -> Prefixes:
        """Validate the lengths and return the rule; ConfigError lists every problem."""
        problems = []
        good = []
        for length in lengths:
            if isinstance(length, int) and not isinstance(length, bool) and length > 0:
                good.append(length)
            else:
                problems.append(Problem("prefixes", f"{length!r} is not a length; a length is a whole number above 0"))
        for longer, shorter in pairwise(good):
            if shorter >= longer:
                text = f"{shorter} comes after {longer}; lengths go from long to short, such as 5, 3"
                problems.append(Problem("prefixes", text))
        if not isinstance(mask, str) or len(mask) != 1 or mask.isspace():
            problems.append(Problem("mask", f"{mask!r} is not a mask; it is one character, such as '*' or '#'"))
        if problems or not isinstance(mask, str):
            raise ConfigError(problems)
        return cls(tuple(good), mask)

    @property
    def spec(self) -> object:
        """The rule as plain values for TOML and JSON."""
        rule: dict[str, object] = {"prefixes": list(self.lengths)}
        return rule if self.mask == "*" else rule | {"mask": self.mask}

    def ways(self, values: pa.Array, names: Sequence[str], *, misfits: Misfits) -> list[Way]:
        """Return each value's path; `02138` lies in `0213*`, `021**`, … A shorter code is placed where it ends."""
        self._check(values, names, misfits)
        if misfits.problems:
            return []
        longest = max(map(len, names), default=0)
        lengths = self.lengths or tuple(range(longest - 1, 0, -1))
        if not self.lengths and longest > _MOST_PREFIXES:
            misfits.add_column(
                f"the longest value has {longest:,} characters, too many for a level each; "
                "give the lengths, such as prefixes(5, 3)"
            )
            return []
        used = [length for length in lengths if length < longest]
        ways = []
        for name in names:
            above = [name[:length].ljust(longest, self.mask) for length in used if length <= len(name)]
            ways.append(Way(name, (name, *above)))
        return ways

    def _check(self, values: pa.Array, names: Sequence[str], misfits: Misfits) -> None:
        if is_number(values.type):
            if len(set(map(len, names))) > 1 or not all(name.isdecimal() for name in names):
                misfits.add_column(
                    "prefixes are for codes, but the column contains numbers of unequal length or with signs or "
                    "decimals; keep the column as text, with its leading zeros"
                )
            return
        if not (is_text(values.type) or pa.types.is_null(values.type)):
            other = "dates; use dates(…) instead" if pa.types.is_temporal(values.type) else f"type {values.type}"
            misfits.add_column(f"prefixes are for codes, but the column contains {other}")
            return
        masked = [place for place, name in enumerate(names) if self.mask in name]
        misfits.add(
            masked,
            f'contains the mask "{self.mask}"',
            f'contain the mask "{self.mask}"',
            hint="choose a mask that no value contains, such as prefixes(mask='#')",
        )
