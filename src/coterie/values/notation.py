r"""The notation of values, intervals and sets in a published table, written and parsed.

    24        a value                     [24-30]   plain numbers from 24 to 30
    {a, b}    one of these values         [-5, 3]   other numbers, and dates
    *         any value                   \*        a category called `*`; likewise with a leading [ { or \
    [a, c]    ordered categories from a to c

Inside a set or an interval of ordered categories, a backslash precedes each backslash, comma and brace, and a leading
`[` or `*`. A column is written in one of four scripts: numbers, dates and their intervals; ordered categories and their
intervals; values and sets of them; or hierarchy labels, which are left unchanged. Bounds are two columns, `<name>_min`
and `<name>_max`, in the original type: both are missing in place of `*`. A mean or median is a number like any other.

To read a release, start with `distinct_texts` and `read_cell`, and define what a value, an interval or a
set of values means.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.arrays import Int64
from coterie.errors import ConfigError, DataError, Problem
from coterie.files.csv_out import text_cells
from coterie.values.codes import column_codes, row_classes

if TYPE_CHECKING:
    from coterie.table.domain import Domain

ROOT = "*"
SET_LIMIT = 20
_SEPARATOR = ", "
_PLAIN = r"[0-9]+(?:\.[0-9]+)?"
_PLAIN_INTERVAL = re.compile(rf"\[({_PLAIN})-({_PLAIN})\]")
_INTERVAL = re.compile(r"\[(.+?), (.+)\]")
_MEMBER = r"(?:[^\\,]|\\.)*"
_SET = re.compile(rf"\{{{_MEMBER}(?:, {_MEMBER})*\}}", re.DOTALL)
_RANGE = re.compile(rf"\[({_MEMBER}), ({_MEMBER})\]", re.DOTALL)
_MEMBERS = re.compile(rf"(?:^|, )({_MEMBER})", re.DOTALL)
_LOOSE_SET = re.compile(rf"\{{{_MEMBER}(?:,{_MEMBER})*\}}", re.DOTALL)
_LOOSE_MEMBERS = re.compile(rf"(?:^|,)({_MEMBER})", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)

Script = Literal["interval", "order", "set", "label"]
CellKind = Literal["missing", "suppressed", "value", "interval", "set", "label", "unreadable"]
CellText: TypeAlias = str | tuple[str | None, str | None] | None
"""a cell of a table: its text, the two texts of bounds, or None if it is missing"""


class Cell(NamedTuple):
    """The parsed content of a published cell."""

    kind: CellKind
    parts: tuple[str, ...] = ()
    """the value, the label, the two ends or the members, in their original form"""


class DistinctTexts(NamedTuple):
    """The distinct cells of a published column, or of a pair of bounds."""

    of_row: Int64
    """row → distinct cell"""
    texts: list[CellText]
    values: pa.Array
    """the distinct values in their own type, in the order of `texts`, without the missing one; empty for bounds"""


MISSING = Cell("missing")
SUPPRESSED = Cell("suppressed")


def value_texts(domain: Domain) -> pa.Array:
    """Return code → the value as text, null if it is missing. Text is unchanged."""
    try:
        return text_cells(domain.values)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise DataError(
            f"Column {domain.name!r} is of type {domain.values.type}, which cannot be written as text.",
            column=domain.name,
            hint="Convert it to text or numbers first.",
        ) from None


def interval_texts(lo: pa.Array, hi: pa.Array) -> pa.Array:
    """Write `[lo-hi]` if both are plain numbers, else `[lo, hi]`, which is clear with minus signs and dates."""
    plain = pc.and_(
        pc.match_substring_regex(lo, f"^{_PLAIN}$"),
        pc.match_substring_regex(hi, f"^{_PLAIN}$"),
    )
    between = pc.if_else(plain, "-", _SEPARATOR)
    return pc.binary_join_element_wise("[", lo, between, hi, "]", "")


def range_texts(lo: pa.Array, hi: pa.Array) -> pa.Array:
    """Write `[lo, hi]` of ordered categories."""
    return pc.binary_join_element_wise("[", member_texts(lo), _SEPARATOR, member_texts(hi), "]", "")


def lone_texts(texts: pa.Array) -> pa.Array:
    """Write single values for a column that may also contain `*` and sets."""
    return pc.replace_substring_regex(texts, r"^([\\{\[*])", r"\\\1")


def member_texts(texts: pa.Array) -> pa.Array:
    """Write values as members of a set."""
    escaped = pc.replace_substring_regex(texts, r"([\\,{}])", r"\\\1")
    return pc.replace_substring_regex(escaped, r"^([\[*])", r"\\\1")


def set_texts(members: pa.ListArray) -> pa.Array:
    """Write `{a, b}` for each list of members."""
    return pc.binary_join_element_wise("{", pc.binary_join(members, _SEPARATOR), "}", "")


def bound_names(name: str) -> tuple[str, str]:
    """Return the names of the two columns that publish a column as bounds."""
    return f"{name}_min", f"{name}_max"


def columns_of(name: str, present: Collection[str]) -> tuple[str, ...]:
    """Return the release's columns for a column: itself, or its two bounds."""
    return (name,) if name in present else bound_names(name)


def _as_strings(values: pa.Array) -> list[str]:
    return list(text_cells(values).to_pylist())


def distinct_texts(
    column: pa.ChunkedArray,
    upper: pa.ChunkedArray | None = None,
    *,
    name: str,
    write: Callable[[pa.Array], Sequence[str]] = _as_strings,
) -> DistinctTexts:
    """Return the distinct cells of a published column, or of two: lower and upper bounds. `write` gives their texts."""
    low = column_codes(column, name=name)
    lows = [*(write(low.values) if len(low.values) else ()), None]
    if upper is None:
        return DistinctTexts(low.codes, list(lows), low.values)
    high = column_codes(upper, name=name)
    highs = [*(write(high.values) if len(high.values) else ()), None]
    pairs, of_row = np.unique(low.codes * len(highs) + high.codes, return_inverse=True)
    texts: list[CellText] = [(lows[pair // len(highs)], highs[pair % len(highs)]) for pair in pairs.tolist()]
    return DistinctTexts(of_row.astype(np.int64), texts, pa.nulls(0))


def read_cell(text: CellText, script: Script, *, root: str = ROOT) -> Cell:
    """Parse a published cell, given the column's notation and the label for any value, if its hierarchy has its own."""
    if text is None:
        return MISSING
    if isinstance(text, tuple):
        low, high = text
        if low is None or high is None:
            return SUPPRESSED if low is high else Cell("unreadable")
        return Cell("interval", (low, high))
    if text == root:
        return SUPPRESSED
    if script == "label":
        return Cell("label", (text,))
    if script == "order":
        found = _RANGE.fullmatch(text)
        if found is None:
            return Cell("value", (text.removeprefix("\\"),))
        return Cell("interval", tuple(_ESCAPED.sub(r"\1", end) for end in found.groups()))
    if script == "set":
        members = read_set(text)
        return Cell("value", (text.removeprefix("\\"),)) if members is None else Cell("set", tuple(members))
    ends = _PLAIN_INTERVAL.fullmatch(text) or _INTERVAL.fullmatch(text)
    return Cell("value", (text,)) if ends is None else Cell("interval", ends.groups())


def read_set(text: str, *, loose: bool = False) -> list[str] | None:
    """Return the original values of a set; None if the text is not a set.

    A `loose` one, from another tool, may have any number of spaces after its commas.
    """
    whole, members = (_LOOSE_SET, _LOOSE_MEMBERS) if loose else (_SET, _MEMBERS)
    if whole.fullmatch(text) is None:
        return None
    found = members.findall(text[1:-1])
    return [_ESCAPED.sub(r"\1", member.strip() if loose else member) for member in found]


def published_names(columns: Sequence[str], quasi: Sequence[str], k: int | None = None) -> list[str]:
    """Return the columns that publish the quasi-identifiers; ConfigError lists everything that is wrong."""
    problems = [] if quasi else [Problem("quasi", "at least one quasi-identifier must be named")]
    if k is not None and (isinstance(k, bool) or not hasattr(k, "__index__") or k < 1):
        problems.append(Problem("k", "must be a whole number of at least 1"))
    present = list(columns)
    names: list[str] = []
    for name in dict.fromkeys(quasi):
        pair, chosen = bound_names(name), columns_of(name, present)
        absent = [each for each in chosen if each not in present]
        twice = [each for each in chosen if present.count(each) > 1]
        if absent:
            problems.append(Problem("quasi", f"the table has no column {name!r} (nor {pair[0]!r} and {pair[1]!r})"))
        elif twice:
            problems.append(Problem("quasi", f"the table has several columns named {twice[0]!r}; rename them"))
        names += chosen
    if problems:
        raise ConfigError(problems)
    return names


def published_classes(table: pa.Table, quasi: Sequence[str]) -> tuple[Int64, Int64]:
    """Return row → class of equal published quasi-identifiers, and class → number of rows."""
    names = published_names(table.column_names, quasi)
    class_of_row, classes = row_classes([column_codes(table.column(name), name=name) for name in names])
    return class_of_row, np.bincount(class_of_row, minlength=classes).astype(np.int64)
