r"""How values, intervals and sets are written in a published table, and how a set is taken apart again.

    24        a value                     [24-30]   plain numbers from 24 to 30
    {a, b}    one of these values         [-5, 3]   other numbers, and dates
    *         any value                   \*        a category that is called `*`; so too with a leading [ { or \

Inside a set, a backslash stands before each backslash, comma and brace, and before a leading `[` or `*`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.arrays import Int64
from coterie.errors import ConfigError, DataError, Problem
from coterie.values.codes import column_codes, row_classes

if TYPE_CHECKING:
    from coterie.table.domain import Domain

ROOT = "*"
SET_LIMIT = 20
SEPARATOR = ", "
PLAIN = r"[0-9]+(\.[0-9]+)?"


def value_texts(domain: Domain) -> pa.Array:
    """Code → the value as text, null where it is missing. Text stays as it is."""
    try:
        return domain.values.cast(pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise DataError(
            f"Column {domain.name!r} is of type {domain.values.type}, which cannot be written as text.",
            column=domain.name,
            hint="Turn it into text or numbers first.",
        ) from None


def interval_texts(lo: pa.Array, hi: pa.Array) -> pa.Array:
    """`[lo-hi]` where both are plain numbers, `[lo, hi]` otherwise: a minus or a date would make the first unclear."""
    plain = pc.and_(
        pc.match_substring_regex(lo, f"^{PLAIN}$"),
        pc.match_substring_regex(hi, f"^{PLAIN}$"),
    )
    between = pc.if_else(plain, "-", SEPARATOR)
    return pc.binary_join_element_wise("[", lo, between, hi, "]", "")


def lone_texts(texts: pa.Array) -> pa.Array:
    """Values as they stand by themselves in a column that may also hold `*` and sets."""
    return pc.replace_substring_regex(texts, r"^([\\{\[*])", r"\\\1")


def member_texts(texts: pa.Array) -> pa.Array:
    """Values as they stand inside a set."""
    escaped = pc.replace_substring_regex(texts, r"([\\,{}])", r"\\\1")
    return pc.replace_substring_regex(escaped, r"^([\[*])", r"\\\1")


def set_texts(members: pa.ListArray) -> pa.Array:
    """`{a, b}` for each list of members."""
    return pc.binary_join_element_wise("{", pc.binary_join(members, SEPARATOR), "}", "")


def read_set(text: str) -> list[str] | None:
    """The values in a set, as they were before they were written; None if the text is no set."""
    if not (text.startswith("{") and text.endswith("}")):
        return None
    if "\\" not in text:
        plain = text[1:-1].split(SEPARATOR)
        return None if any("," in member for member in plain) else plain
    members: list[str] = []
    member: list[str] = []
    inner = iter(text[1:-1])
    for letter in inner:
        if letter == "\\":
            member.append(next(inner, ""))
        elif letter == ",":
            if next(inner, "") != " ":
                return None
            members.append("".join(member))
            member = []
        else:
            member.append(letter)
    return [*members, "".join(member)]


def published_names(columns: Sequence[str], quasi: Sequence[str], k: int | None = None) -> list[str]:
    """The columns that stand for the quasi-identifiers; a ConfigError with everything that is wrong otherwise."""
    problems = [] if quasi else [Problem("quasi", "at least one quasi-identifier must be named")]
    if k is not None and (isinstance(k, bool) or not hasattr(k, "__index__") or k < 1):
        problems.append(Problem("k", "must be a whole number of at least 1"))
    present = list(columns)
    names: list[str] = []
    for name in dict.fromkeys(quasi):
        pair = [f"{name}_min", f"{name}_max"]
        chosen = [name] if name in present else pair
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
    """Row → class of rows with equal published quasi-identifiers, and class → rows."""
    names = published_names(table.column_names, quasi)
    class_of_row, classes = row_classes([column_codes(table.column(name), name=name) for name in names])
    return class_of_row, np.bincount(class_of_row, minlength=classes).astype(np.int64)
