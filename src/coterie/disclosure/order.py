"""What the order of rows discloses: extracts are often sorted, and a release keeps their order.

If rows are sorted by a column, each value is at least every lower bound above it and at most every upper bound
below it. So running bounds over the published intervals narrow them, often to a single value. The attacker needs no
knowledge of the original: bounds that never cross show that the rows are sorted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import Bool, Int64
from coterie.values.codes import Codes, row_classes
from coterie.values.notation import columns_of, distinct_texts, published_classes, read_cell
from coterie.values.scalars import parse_moment, parse_number

# Orders drawn at random: if one of them fits as well, the order says nothing.
DRAWN = 3


class Bounds(NamedTuple):
    """Row → the ends of a column's published interval, as ranks among all ends."""

    low: Int64
    high: Int64


class OrderLeak(NamedTuple):
    """What the order of rows discloses about one column."""

    column: str
    descending: bool
    narrowed: float
    """share of cells that running bounds narrow"""
    exact_before: float
    """share of cells that are published as one value"""
    exact_after: float
    """share of cells narrowed to one value"""
    below: int
    """rows whose narrowed quasi-identifiers fewer than k rows share"""


def order_leaks(table: pa.Table, *, quasi: Sequence[str], k: int, suppressed: str = "*") -> tuple[OrderLeak, ...]:
    """Try running bounds on every numeric and date column of a release, in its order.

    Args:
        table: The published table, in its published order.
        quasi: Its quasi-identifiers.
        k: The required class size.
        suppressed: The text of a suppressed cell.
    """
    found = []
    for name in quasi:
        bounds = published_bounds(table, name, suppressed=suppressed)
        if bounds is None or not len(bounds.low):
            continue
        for descending in (False, True):
            step = -1 if descending else 1
            ordered = Bounds(bounds.low[::step], bounds.high[::step])
            narrow = running_bounds(ordered)
            if narrow is None or _fits_by_chance(ordered):
                continue
            found.append(_leak(table, name, bounds, Bounds(*(each[::step] for each in narrow)), quasi, k, descending))
            break
    return tuple(found)


def running_bounds(bounds: Bounds) -> Bounds | None:
    """Return the bounds of rows that are sorted in ascending order; None if they cannot be."""
    low = np.maximum.accumulate(bounds.low)
    high = np.minimum.accumulate(bounds.high[::-1])[::-1]
    return Bounds(low, high) if bool(np.all(low <= high)) else None


def _fits_by_chance(bounds: Bounds) -> bool:
    """Return whether other orders would fit too: a few wide intervals can be put in any order."""
    rng = np.random.default_rng(0)
    for _ in range(DRAWN):
        order = rng.permutation(len(bounds.low))
        if running_bounds(Bounds(bounds.low[order], bounds.high[order])) is not None:
            return True
    return False


def _leak(
    table: pa.Table, name: str, before: Bounds, after: Bounds, quasi: Sequence[str], k: int, descending: bool
) -> OrderLeak:
    narrowed: Bool = (after.low > before.low) | (after.high < before.high)
    of_row, sizes = published_classes(table, quasi)
    ends = [Codes(each, int(each.max()) + 1, -1, pa.nulls(0)) for each in after]
    joint, classes = row_classes([Codes(of_row, len(sizes), -1, pa.nulls(0)), *ends])
    counts = np.bincount(joint, minlength=classes)
    return OrderLeak(
        column=name,
        descending=descending,
        narrowed=float(narrowed.mean()),
        exact_before=float(np.mean(before.low == before.high)),
        exact_after=float(np.mean(after.low == after.high)),
        below=int(counts[counts < k].sum()),
    )


def published_bounds(table: pa.Table, name: str, *, suppressed: str = "*") -> Bounds | None:
    """Return the ends of a column's published intervals; None if its cells are neither numbers nor dates."""
    columns = [table.column(each) for each in columns_of(name, table.column_names)]
    cells = distinct_texts(*columns, name=name)
    ends: list[tuple[Any, Any] | None] = []
    for text in cells.texts:
        cell = read_cell(text, "interval", root=suppressed)
        if cell.kind in ("missing", "suppressed"):
            ends.append(None)
            continue
        parts = [_key(part) for part in (cell.parts[0], cell.parts[-1])] if cell.parts else [None]
        if None in parts:
            return None
        ends.append((parts[0], parts[-1]))
    known = [end for end in ends if end is not None]
    if not known or len({type(part) for end in known for part in end}) > 1:
        return None
    rank = {value: place for place, value in enumerate(sorted({part for end in known for part in end}))}
    every = (0, len(rank) - 1)
    places = np.array([every if end is None else (rank[end[0]], rank[end[1]]) for end in ends], dtype=np.int64)
    return Bounds(places[cells.of_row, 0], places[cells.of_row, 1])


def _key(text: str) -> Any:  # noqa: ANN401 - a number or a moment
    number = parse_number(text)
    return parse_moment(text) if number is None else number
