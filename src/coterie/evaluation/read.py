"""Published columns → cells: each distinct text is read once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from coterie.arrays import Float64, Int32, Int64
from coterie.errors import DataError
from coterie.evaluation.cells import Cells, present_numbers
from coterie.publishing.labels import style_of
from coterie.publishing.read import read_boxes
from coterie.values.axis import axis_of
from coterie.values.codes import column_codes
from coterie.values.notation import read_set, value_texts

if TYPE_CHECKING:
    from coterie.settings.config import Config
    from coterie.table.domain import Domain


def published_cells(published: pa.Table, domain: Domain, config: Config) -> Cells:
    """What a release says in the column of one quasi-identifier.

    Args:
        published: The release.
        domain: The values of the original column.
        config: How the column was published. A mean or median is taken for the number that it is.

    Raises:
        DataError: The release has no such column.
    """
    name = domain.name
    if name in published.column_names:
        found = column_codes(published.column(name), name=name)
        distinct = pa.chunked_array([pa.concat_arrays([found.values, pa.nulls(1, found.values.type)])])
        return _read(found.codes, distinct, domain, config)
    ends = [f"{name}_{end}" for end in ("min", "max")]
    if any(end not in published.column_names for end in ends):
        raise DataError(
            f"The release has no column {name!r}.",
            column=name,
            hint="Give the configuration that the release was made with.",
        )
    lower, upper = (column_codes(published.column(end), name=end) for end in ends)
    pairs, of_row = np.unique(lower.codes * (upper.size + 1) + upper.codes, return_inverse=True)
    low, high = np.divmod(pairs, upper.size + 1)
    columns = [
        pa.chunked_array([each.values.take(pa.array(at, mask=at >= len(each.values)))])
        for each, at in ((lower, low), (upper, high))
    ]
    return _read(of_row.astype(np.int64), columns[0], domain, config, upper=columns[1])


def _read(
    of_row: Int64,
    distinct: pa.ChunkedArray,
    domain: Domain,
    config: Config,
    *,
    upper: pa.ChunkedArray | None = None,
) -> Cells:
    style = style_of(domain, config.publish)
    texts = distinct.cast(pa.string()).to_pylist()
    centres = _centres(texts, domain) if upper is None and domain.kind == "number" else np.full(len(texts), np.nan)
    if style in ("mean", "median"):
        style = "interval"
    # A number that is no value of the original is a centre: it is set to missing for the reader of intervals.
    readable = distinct
    if not np.isnan(centres).all():
        shown = [None if known else text for text, known in zip(texts, ~np.isnan(centres), strict=True)]
        readable = pa.chunked_array([pa.array(shown, type=pa.string())])
    boxes = read_boxes(readable, domain, upper=upper, style=style)
    if domain.kind == "number":
        return _number_cells(of_row, boxes.lo, boxes.hi, domain, centres)
    lo, hi = boxes.lo, boxes.hi
    set_of, sets = _sets(texts, domain) if style == "set" or not domain.labelled else (np.full(len(texts), -1), [])
    nothing = np.full(len(lo), np.nan)
    return Cells(domain, of_row, lo, hi, nothing, nothing, np.zeros(len(lo)), set_of, sets)


def _number_cells(of_row: Int64, lo: Int32, hi: Int32, domain: Domain, centres: Float64) -> Cells:
    numbers = present_numbers(domain)
    missing = domain.missing
    alone, joined = lo == missing, (hi == missing) & (lo < hi)
    if missing < 0:
        alone, joined = np.zeros(len(lo), dtype=np.bool_), np.zeros(len(lo), dtype=np.bool_)
    last = len(numbers) - 1
    if last < 0:  # nothing but missing values
        nothing = np.full(len(lo), np.nan)
        return Cells(domain, of_row, lo, hi, nothing, nothing, np.ones(len(lo)), np.full(len(lo), -1))
    low = np.where(alone, np.nan, numbers[np.minimum(lo, last)])
    high = np.where(alone, np.nan, numbers[np.minimum(hi, last)])
    blank = np.where(alone, 1.0, np.where(joined, 1.0 / domain.size, 0.0))
    known = ~np.isnan(centres)
    low, high, blank = np.where(known, centres, low), np.where(known, centres, high), np.where(known, 0.0, blank)
    nearest = np.clip(np.searchsorted(numbers, np.nan_to_num(centres)), 0, last).astype(np.int32)
    lo, hi = (np.where(known, nearest, ends).astype(np.int32) for ends in (lo, hi))
    return Cells(domain, of_row, lo, hi, low, high, blank, np.full(len(lo), -1))


def _centres(texts: list[str | None], domain: Domain) -> Float64:
    """Distinct text → the number that it is, where this is no value of the original; NaN for all others."""
    known = set(value_texts(domain).to_pylist())
    axis = axis_of(domain)
    found = np.full(len(texts), np.nan)
    if axis.temporal:
        return found
    for place, text in enumerate(texts):
        if text is not None and text not in known:
            offset = axis.place(text)
            found[place] = np.nan if offset is None else offset
    # The same number in another spelling is the value itself.
    same = np.isin(found, present_numbers(domain))
    return np.where(same, np.nan, found)


def _sets(texts: list[str | None], domain: Domain) -> tuple[Int64, list[Int64]]:
    """Distinct text → set, −1 for texts that are no sets of several values of the column."""
    by_value = {text: code for code, text in enumerate(value_texts(domain).to_pylist()) if text is not None}
    set_of = np.full(len(texts), -1, dtype=np.int64)
    sets: list[Int64] = []
    for place, text in enumerate(texts):
        members = {by_value.get(member, -1) for member in (read_set(text) or ())} if text is not None else set()
        if len(members) > 1 and min(members) >= 0:
            set_of[place] = len(sets)
            sets.append(np.asarray(sorted(members), dtype=np.int64))
    return set_of, sets
