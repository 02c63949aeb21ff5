"""Suggest a role for each column of a table, for a person to review, as in `coterie init`.

A suggestion is based on the column's name and on counts of its content; its reason is given, cells never are. When in
doubt a column becomes a quasi-identifier: that may cost detail, but the opposite mistake may cost somebody's privacy.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.suggesting.contents import looks_like
from coterie.suggesting.names import Meaning, Role, meaning
from coterie.suggesting.together import not_kept_together, settle, short_list
from coterie.values.plain import plain_column
from coterie.values.scalars import DATE, NUMBER, is_text

Kind = Literal["integer", "decimal", "date", "code", "mixed", "category", "empty"]

# What texts look like shows in this many of them.
SAMPLE = 5_000
# A column of which nearly every cell differs points at single persons.
NEARLY_UNIQUE = 0.95
# With fewer rows, a column of distinct cells is not conclusive.
ENOUGH_ROWS = 30
LONG_TEXT = 40
FEW_VALUES = 100
FEW_REPEATED = 20
# Whole numbers with fewer values are codes, unless the name says that they count something.
FEW_CODES = 8

# Cells that mean "missing" in most files. "NA" and "-" may mean something else, so a person has to look at it.
MARKS = ("?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "-", ".")

# pandas writes whole numbers as 21.0 where cells of the column are missing.
_INTEGER = r"^\s*[+-]?(0|[1-9][0-9]*)(\.0*)?\s*$"
_DECIMAL = rf"^\s*{NUMBER}\s*$"
_LEADING_ZERO = r"^\s*0[0-9]+\s*$"
_DATE = rf"^\s*{DATE}\s*$"
_DAY_FIRST = r"^[0-9]{1,2}[./-][0-9]{1,2}[./-]([0-9]{2}|[0-9]{4})$"
_COMMA = r"^\s*[+-]?[0-9]{1,3}(\.?[0-9]{3})*(,[0-9]+)?\s*$"


_TEXTS = ("category", "mixed")


class ColumnProfile(NamedTuple):
    """The counts of a column's cells."""

    rows: int
    distinct: int
    missing: int
    kind: Kind
    length: float
    """mean length of its distinct texts"""
    looks_like: str
    """an e-mail address, a telephone number, … or nothing"""
    unread: str = ""
    """how its cells would have to be written to be recognized, or nothing"""

    @property
    def share(self) -> float:
        """Distinct values per non-missing cell."""
        return self.distinct / max(self.rows - self.missing, 1)


class Guess(NamedTuple):
    """A column, its suggested role, and the reason."""

    name: str
    role: Role
    type: Literal["category"] | None
    """written only if the values alone would suggest another"""
    hierarchy: object
    """specification, or None for none"""
    reason: str
    distinct: int
    missing: int
    rows: int
    number: bool
    """whether its values are numbers"""
    entity: bool = False
    """whether it identifies the person of a row, and people have several rows"""


def guess_table(table: pa.Table) -> list[Guess]:
    """Suggest a role for each column of the table."""
    guesses = settle([guess_from(name, count(table.column(name))) for name in table.column_names])
    return short_list(not_kept_together(guesses, table))


def missing_marks(table: pa.Table) -> list[str]:
    """Return which of the usual marks for missing values, such as `?`, occur as cells in the table's text columns."""
    found: set[str] = set()
    marks = pa.array(MARKS)
    for column in table.columns:
        if is_text(column.type):
            values = pc.unique(column).cast(pa.string())
            found.update(values.filter(pc.is_in(values, value_set=marks)).to_pylist())
    return [mark for mark in MARKS if mark in found]


def without_marks(table: pa.Table, marks: list[str]) -> pa.Table:
    """Return the table with these cells missing."""
    columns = [
        pc.if_else(pc.is_in(column, value_set=pa.array(marks, column.type)), pa.scalar(None, column.type), column)
        if marks and is_text(column.type)
        else column
        for column in table.columns
    ]
    return pa.table(columns, names=table.column_names)


def guess_from(name: str, profile: ColumnProfile) -> Guess:
    """Suggest a role from a column's name and counts."""
    role, reason = _role(profile, meaning(name))
    kind, hierarchy = _generalised(profile, meaning(name)) if role == "quasi" else (None, None)
    if role == "quasi" and profile.unread:
        reason = f"{reason}; {profile.unread}"
    number = profile.kind in ("integer", "decimal")
    return Guess(name, role, kind, hierarchy, reason, profile.distinct, profile.missing, profile.rows, number)


def count(column: pa.ChunkedArray) -> ColumnProfile:
    """Count a column's values and detect their kind; NaN is missing."""
    rows = len(column)
    column = plain_column(column)
    missing = column.null_count
    values = pc.drop_null(pc.unique(column))
    length, looks = 0.0, ""
    kind, some = _kind(values), values[:SAMPLE]
    if is_text(values.type) and len(values):
        length = float(pc.mean(pc.utf8_length(some)).as_py())
        looks = looks_like(some.cast(pa.string()).to_pylist())
    elif kind == "integer":
        looks = looks_like([f"{value:.0f}" for value in some.to_pylist()])
    return ColumnProfile(rows, len(values), missing, kind, length, looks, _unread(values) if kind in _TEXTS else "")


def _all(texts: pa.Array, pattern: str, *, share: float = 1.0) -> bool:
    matched = pc.sum(pc.match_substring_regex(texts, pattern)).as_py() or 0
    return len(texts) > 0 and matched >= share * len(texts)


def _kind(values: pa.Array) -> Kind:
    kind = values.type
    if len(values) == 0:
        return "empty"
    if pa.types.is_integer(kind):
        return "integer"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        whole = np.asarray(values.cast(pa.float64()).to_numpy(zero_copy_only=False))
        return "integer" if bool(np.all(whole == np.floor(whole))) else "decimal"
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return "date"
    if not is_text(kind):
        return "category"
    if _all(values, _DECIMAL) and pc.any(pc.match_substring_regex(values, _LEADING_ZERO)).as_py():
        return "code"
    kinds: dict[Kind, str] = {"integer": _INTEGER, "decimal": _DECIMAL, "date": _DATE}
    for name, pattern in kinds.items():
        if _all(values, pattern):
            return name
    # Taken for numbers with mistakes in them, were its type not said.
    return "mixed" if _all(values, _DECIMAL, share=0.5) else "category"


def _unread(values: pa.Array) -> str:
    """Advise on text that people, but not coterie, read as dates or numbers, because it is ambiguous."""
    if not is_text(values.type):
        return ""
    if _all(values, _DAY_FIRST):
        return "texts that look like dates: written as 2024-03-05 they keep months and years"
    if _all(values, _COMMA):
        return "texts that look like numbers: written with a decimal point they are published as ranges"
    return ""


def _role(profile: ColumnProfile, named: Meaning | None) -> tuple[Role, str]:
    """Return the role and the reason for it."""
    unique = profile.share >= NEARLY_UNIQUE and profile.rows >= ENOUGH_ROWS and not profile.unread
    if profile.looks_like:
        return "identifier", f"its cells look like {profile.looks_like}"
    if named is not None and named.role == "identifier":
        # "mobile" may be yes or no: a few values that repeat do not identify anybody by themselves.
        if profile.distinct <= FEW_REPEATED and profile.rows >= ENOUGH_ROWS and profile.share < 1 / 4:
            return "quasi", f"the name suggests {named.what}, but few values repeat; uncertain, so protected"
        return "identifier", f"the name suggests {named.what}"
    if profile.kind == "empty":
        return "other", "it has no values"
    if profile.distinct == 1 and not profile.missing and named is None:
        return "other", "all its values are the same"
    keyed = profile.kind in ("category", "code", "mixed") and (named is None or named.form not in ("zip", "date"))
    if unique and keyed:
        return "identifier", "nearly every value is different"
    if profile.kind == "category" and profile.length > LONG_TEXT and profile.distinct > FEW_VALUES:
        return "identifier", "long texts may name people"
    if named is not None:
        return named.role, f"the name suggests {named.what}"
    if unique and profile.kind == "integer":
        return "identifier", "whole numbers, nearly all different, as record numbers are"
    if unique and profile.kind == "decimal":
        return "quasi", "decimal numbers, nearly all different: they single people out; uncertain, so protected"
    if profile.kind == "decimal":
        return "other", "decimal numbers, as measurements are; make it a quasi-identifier if others may know it"
    if profile.kind == "date":
        return "quasi", "a date that others may know; uncertain, so protected"
    return "quasi", "others may know it; uncertain, so protected"


def _generalised(profile: ColumnProfile, named: Meaning | None) -> tuple[Literal["category"] | None, object]:
    """Return the type (if the values alone would suggest another) and the hierarchy of a quasi-identifier."""
    form = named.form if named is not None else ""
    if form == "zip" or profile.kind == "code":
        # Digits that are a code: neighbours in number are not neighbours in meaning, but prefixes are.
        return "category", {"prefixes": []}
    if profile.kind == "date":
        return None, {"dates": ["month", "year", "decade"]}
    coded = form == "code" or (named is None and profile.distinct <= FEW_CODES and profile.rows >= ENOUGH_ROWS)
    if profile.kind == "mixed" or (profile.kind == "integer" and coded):
        return "category", None
    return None, None
