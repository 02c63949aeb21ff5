"""Parse published columns into cells, each distinct text once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from coterie.arrays import Float64, Int32, Int64
from coterie.errors import DataError
from coterie.evaluation.cells import Cells, present_numbers
from coterie.publishing.labels import style_of
from coterie.publishing.read import CellReader
from coterie.values.notation import columns_of, distinct_texts

if TYPE_CHECKING:
    from coterie.settings.config import Config
    from coterie.table.domain import Domain


def published_cells(published: pa.Table, domain: Domain, config: Config) -> Cells:
    """Parse a release's column for one quasi-identifier.

    Args:
        published: The release.
        domain: The values of the original column.
        config: How the column was published. A mean or median is taken as a number.

    Raises:
        DataError: The release has no such column.
    """
    name = domain.name
    names = columns_of(name, published.column_names)
    if any(each not in published.column_names for each in names):
        raise DataError(
            f"The release has no column {name!r}.",
            column=name,
            hint="Give the configuration that the release was made with.",
        )
    of_row, texts, _ = distinct_texts(*(published.column(each) for each in names), name=name)
    style = style_of(domain, config.publish)
    reader = CellReader(domain, "interval" if style in ("mean", "median") else style)
    cells = [reader.read(text) for text in texts]
    boxes = reader.boxes(cells)
    lo, hi = boxes.lo, boxes.hi
    if domain.kind == "number":
        centres = [reader.centre(cell) for cell in cells]
        found = np.asarray([np.nan if centre is None else centre for centre in centres], dtype=np.float64)
        return _number_cells(of_row, lo, hi, domain, found)
    members = [reader.members(cell) for cell in cells]
    several = np.asarray([len(codes) > 1 for codes in members], dtype=np.bool_)
    sets = [np.asarray(codes, dtype=np.int64) for codes in members if len(codes) > 1]
    nothing = np.full(len(lo), np.nan)
    set_of = np.where(several, np.cumsum(several) - 1, -1).astype(np.int64)
    return Cells(domain, of_row, lo, hi, nothing, nothing, np.zeros(len(lo)), set_of, sets)


def _number_cells(of_row: Int64, lo: Int32, hi: Int32, domain: Domain, centres: Float64) -> Cells:
    """Parse numeric cells; a mean or median that is not an original value is taken as a number."""
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
