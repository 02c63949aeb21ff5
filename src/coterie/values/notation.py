r"""How values, intervals and sets are written in a published table, and how a set is taken apart again.

    24        a value                     [24-30]   plain numbers from 24 to 30
    {a, b}    one of these values         [-5, 3]   other numbers, and dates
    *         any value                   \*        a category that is called `*`; so too with a leading [ { or \

Inside a set, a backslash stands before each backslash, comma and brace, and before a leading `[` or `*`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from coterie.errors import DataError

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
