"""Published cells → intervals of codes: what a release says about each row, read back from its text.

Endpoints that are values of the column are found as they stand. Others (a release made elsewhere) are compared as
numbers or dates, and mean the values of the column that lie between them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from coterie.arrays import Bool, Float64, Int32, Int64
from coterie.errors import DataError
from coterie.publishing.labels import Style, root_text, style_of
from coterie.values.codes import Codes, column_codes
from coterie.values.notation import PLAIN, ROOT, SEPARATOR, lone_texts, read_set, value_texts

if TYPE_CHECKING:
    from coterie.table.domain import Domain

_PLAIN_INTERVAL = re.compile(rf"\[(?P<lo>{PLAIN})-(?P<hi>{PLAIN})\]")
_UNREAD = (-1, -1)

Interval: TypeAlias = tuple[int, int]
Reader: TypeAlias = Callable[[str], Interval]


class ReadBoxes(NamedTuple):
    """What the cells of one published column say. A cell that could not be read says nothing: any value."""

    lo: Int32
    """row → smallest code"""
    hi: Int32
    """row → largest code"""
    unread: Bool
    """row → whether the cell could not be read, or holds no value of the column"""


def read_boxes(
    column: pa.ChunkedArray,
    domain: Domain,
    *,
    upper: pa.ChunkedArray | None = None,
    style: Style | None = None,
) -> ReadBoxes:
    """Read a published column back into intervals of codes.

    Args:
        column: The published column; with `upper`, the column of smallest values.
        domain: The values of the original column.
        upper: The column of largest values, if the column was published as bounds.
        style: How it was published, if not by the default of its kind.

    Raises:
        DataError: The column holds numbers that are no values of the original: a mean or median says nothing about
            the interval it came from.
    """
    style = style or style_of(domain, {})
    if style in ("mean", "median"):
        raise _is_centre(domain, len(column))
    reader = _number_reader(domain) if domain.kind == "number" else _tree_reader(domain, style)
    codes = column_codes(column, name=domain.name)
    lo, hi = _read_distinct(codes, domain, reader)
    if upper is not None:
        tops = column_codes(upper, name=domain.name)
        _, top = _read_distinct(tops, domain, reader)
        # A null in both is the root; a null in only one of them is a fault.
        half = (codes.codes == codes.missing) != (tops.codes == tops.missing)
        none = (codes.codes == codes.missing) & (tops.codes == tops.missing)
        lo, hi = np.where(none, 0, lo), np.where(none, domain.size - 1, top)
        lo = np.where(half, -1, lo)
    unread = (lo < 0) | (hi < lo)
    return ReadBoxes(
        np.where(unread, 0, lo).astype(np.int32), np.where(unread, domain.size - 1, hi).astype(np.int32), unread
    )


def _read_distinct(codes: Codes, domain: Domain, reader: Reader) -> tuple[Int64, Int64]:
    """Row → (lo, hi), by reading each distinct text once; −1 where it cannot be read."""
    texts = codes.values.cast(pa.string()).to_pylist() if len(codes.values) else []
    intervals = np.array([*map(reader, texts), (domain.missing, domain.missing)], dtype=np.int64).reshape(-1, 2)
    unread = intervals[:-1, 0] < 0
    if unread.any() and _keys(domain)[0] is _as_float:
        single = [at for at in np.flatnonzero(unread) if _as_float(texts[at]) is not None]
        if single:
            raise _is_centre(domain, int(np.isin(codes.codes, single).sum()))
    lo, hi = intervals[codes.codes].T
    return lo, hi


def _is_centre(domain: Domain, rows: int) -> DataError:
    return DataError(
        f"Column {domain.name!r} holds single numbers in place of intervals in {rows:,} rows, as means and medians "
        "are: these do not say what was generalised.",
        column=domain.name,
        rows=rows,
        hint=f'Measure the release when it is made, or set publish.{domain.name} = "interval" or "bounds". '
        "`coterie.utility`, and --queries, --target and --distributions, need no intervals.",
    )


def _number_reader(domain: Domain) -> Reader:
    place = {text: code for code, text in enumerate(value_texts(domain).to_pylist()) if text is not None}
    present = domain.size - (domain.missing >= 0)
    key, keys = _keys(domain)

    def inside(low: str, high: str) -> Interval:
        """The codes of the values between two texts."""
        first, last = place.get(low, -1), place.get(high, -1)
        if first < 0 and (end := key(low)) is not None:
            first = int(np.searchsorted(keys, end, side="left"))
        if last < 0 and (end := key(high)) is not None:
            last = int(np.searchsorted(keys, end, side="right")) - 1
        return (first, last) if 0 <= first <= last < present else _UNREAD

    def read(text: str) -> Interval:
        if text == ROOT:
            return 0, domain.size - 1
        if text in place:
            return place[text], place[text]
        if match := _PLAIN_INTERVAL.fullmatch(text):
            return inside(match["lo"], match["hi"])
        if text.startswith("[") and text.endswith("]"):
            parts = text[1:-1].split(SEPARATOR)
            splits = [(SEPARATOR.join(parts[:at]), SEPARATOR.join(parts[at:])) for at in range(1, len(parts))]
            return next((found for split in splits if (found := inside(*split)) != _UNREAD), _UNREAD)
        return inside(text, text)

    return read


def _keys(domain: Domain) -> tuple[Callable[[str], float | None], Float64]:
    """A way to compare texts with the values of a column, and the values' own keys."""
    if domain.kind != "number":
        return (lambda _: None), np.zeros(0)
    from coterie.values.numbers import as_numbers

    values = domain.values if domain.missing < 0 else domain.values[:-1]
    exact = as_numbers(values, np.ones(len(values), dtype=np.int64), column=domain.name).exact
    if pa.types.is_date(exact.type) or pa.types.is_timestamp(exact.type):
        micros = exact.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
        return _as_micros, micros.to_numpy(zero_copy_only=False).astype(np.float64)
    if pa.types.is_temporal(exact.type):
        return (lambda _: None), np.zeros(0)
    return _as_float, exact.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)


def _as_float(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def _as_micros(text: str) -> float | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() * 1e6


def _tree_reader(domain: Domain, style: Style) -> Reader:
    tree = domain.tree
    assert tree is not None
    texts = value_texts(domain)
    by_value = {text: code for code, text in enumerate(texts.to_pylist()) if text is not None}
    whole = (0, domain.size - 1)
    if style == "ancestor" and domain.labelled:
        known: dict[str, Interval] = {text: (code, code) for text, code in by_value.items()}
        inner = np.setdiff1d(np.arange(tree.nodes), tree.leaf_node)
        # Deepest first: of two nodes with one label, the reading is the one that surely holds the value.
        for node in inner[np.argsort(-tree.depth[inner], kind="stable")]:
            known[tree.labels[node]] = int(tree.first[node]), int(tree.last[node])
        known[root_text(domain, style)] = whole
        return lambda text: known.get(text, _UNREAD)
    alone = {text: code for code, text in enumerate(lone_texts(texts).to_pylist()) if text is not None}

    def read(text: str) -> Interval:
        if text == ROOT:
            return whole
        if text in alone:
            return alone[text], alone[text]
        members = [by_value.get(member, -1) for member in read_set(text) or ()]
        return (min(members), max(members)) if members and min(members) >= 0 else _UNREAD

    return read
