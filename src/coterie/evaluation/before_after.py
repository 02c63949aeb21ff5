"""An original and its release, column by column, for comparing queries, learning and distributions."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import Float64, Int32, Int64
from coterie.errors import ConfigError, DataError, Problem
from coterie.evaluation.cells import Cells, original_cells, present_numbers
from coterie.publishing.labels import style_of
from coterie.publishing.read import CellReader
from coterie.table.encode import EncodedTable, encode, encode_values
from coterie.values.notation import columns_of, distinct_texts
from coterie.values.plain import plain_array
from coterie.values.scalars import is_text
from coterie.values.scalars import texts as value_texts

if TYPE_CHECKING:
    from coterie.releases.release import Release
    from coterie.settings.config import Config
    from coterie.table.domain import Domain


class ColumnPair(NamedTuple):
    """One column before and after, in the same codes."""

    domain: Domain
    before: Cells
    after: Cells


@dataclass(frozen=True, eq=False)
class BeforeAfter:
    """An original table and its published version."""

    original: pa.Table
    published: pa.Table
    config: Config
    known_rows: Int64 | None = None
    """published row → position in the original, if known"""
    _columns: dict[str, ColumnPair] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of_release(cls, release: Release) -> BeforeAfter:
        """Return the original and the published table of a release."""
        return cls(release.source.table, release.published.table, release.config, release.published.kept)

    @cached_property
    def encoded(self) -> EncodedTable:
        """All rows of the original as codes; missing is a value, even in suppressed rows."""
        return encode(self.original, self.config.replace(missing="category", privacy=(), sensitive=(), entity=None))

    @cached_property
    def kept(self) -> Int64:
        """Published row → position in the original; matched in order if unknown."""
        if self.known_rows is not None:
            return self.known_rows
        from coterie.measures.published import match_rows

        return match_rows(self.published, table=self.encoded.table, config=self.config)

    def column(self, name: str) -> ColumnPair:
        """Return a column before and after.

        Raises:
            ConfigError: The original has no such column, or the release omits it.
        """
        if name not in self._columns:
            self._columns[name] = self._generalised(name) if name in self.config.quasi else self._plain(name)
        return self._columns[name]

    def _generalised(self, name: str) -> ColumnPair:
        at = self.config.quasi.index(name)
        table = self.encoded.table
        domain = table.domains[at]
        return ColumnPair(
            domain, original_cells(domain, table.codes[:, at]), published_cells(self.published, domain, self.config)
        )

    def _plain(self, name: str) -> ColumnPair:
        """Encode a column that is published unchanged: both tables' values share one set of codes."""
        for table, where in ((self.original, "original"), (self.published, "release")):
            if name not in table.column_names:
                text = f"there is no column {name!r} in the {where}"
                raise ConfigError([Problem("column", f"{text}; the columns are {', '.join(table.column_names)}")])
        before, after = (plain_array(table.column(name)) for table in (self.original, self.published))
        if not before.type.equals(after.type):
            before, after = (_as_text(each, name) for each in (before, after))
        count = len(before)
        domain, codes = encode_values(pa.chunked_array([before, after]), name=name, config=self.config)
        return ColumnPair(domain, original_cells(domain, codes[:count]), original_cells(domain, codes[count:]))


def _as_text(values: pa.Array, name: str) -> pa.Array:
    """Convert the values to text, so that 17 in one file equals 17 in another."""
    if is_text(values.type):
        return values.cast(pa.large_string())
    distinct = values.dictionary_encode()
    texts = pa.array(value_texts(distinct.dictionary, column=name), type=pa.large_string())
    return texts.take(distinct.indices)


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


def joint_cells(columns: list[Cells]) -> tuple[Int64, Int64]:
    """Return row → its combination of cells, and combination → its first row."""
    from coterie.values.codes import Codes, row_classes

    classes, count = row_classes([Codes(each.of_row, max(each.count, 1), -1, pa.nulls(0)) for each in columns])
    # Classes are numbered in the order of their first rows: each begins where the largest number so far grows.
    first = np.flatnonzero(np.diff(np.maximum.accumulate(classes), prepend=-1) > 0)
    assert len(first) == count
    return classes, first
