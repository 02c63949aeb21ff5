"""The order of a column's values, typed as one value per line, instead of a hierarchy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coterie.hierarchies.check import ColumnValues
from coterie.web.hierarchies.column_values import value_texts
from coterie.wording import count_of

MOST_ORDERED = 1_000
"""the maximum number of values of an order that can be edited on the page"""


def offered(column: ColumnValues, kind: str, order: Sequence[str]) -> bool:
    """Return whether the page has a form for the order: for a category whose values fit on lines, or one with an order.

    Numbers and dates have their own order.
    """
    if len(column.values) > MOST_ORDERED or any(len(name.splitlines()) != 1 for name in value_texts(column)):
        return False
    return bool(order) or kind in ("category", "code", "mixed")


def read_order(fields: Mapping[str, str], column: ColumnValues) -> list[str]:
    """Return the submitted order; spaces around a value are kept only if the data have them."""
    known = set(value_texts(column))
    lines = [line if line in known else line.strip() for line in fields.get("order", "").splitlines()]
    return [line for line in lines if line]


def missing_text(order: Sequence[str], column: ColumnValues) -> list[str]:
    """Say which values of the data an order lacks, if any."""
    lacking = sorted(set(value_texts(column)) - set(order))
    if not lacking:
        return []
    shown = ", ".join(lacking[:10]) + (", …" if len(lacking) > 10 else "")
    verb = "is" if len(lacking) == 1 else "are"
    return [f"{count_of(len(lacking), 'value')} of the data {verb} missing from the order: {shown}."]
