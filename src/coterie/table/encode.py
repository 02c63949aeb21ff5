"""Encode columns. Strings, numbers, dates and missing values end here; methods only see integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import Int32, Int64, in_threads
from coterie.errors import DataError
from coterie.table.codebook import (
    Codebook,
    CountedValues,
    counted_domain,
    make_codebook,
    missing_cells,
    refuse_missing,
    taking_part,
)
from coterie.table.domain import Domain
from coterie.table.masks import Mask
from coterie.table.orders import with_orders
from coterie.table.table import Table
from coterie.values.numbers import guess_type
from coterie.values.plain import plain_column

if TYPE_CHECKING:
    from coterie.settings.config import Config


class EncodedTable(NamedTuple):
    """A table of codes, and the original positions of its rows."""

    table: Table
    rows: Int64
    """row of the table → position in the columns; shorter if rows are suppressed from the start"""
    book: Codebook
    """the codebook"""


class _Values(NamedTuple):
    """A column's distinct values (without missing ones) and the index of each row's value."""

    distinct: pa.Array
    place: Int32
    """row → place in `distinct`, or len(distinct) for a missing value"""

    def counted(self) -> CountedValues:
        counts = np.bincount(self.place, minlength=len(self.distinct) + 1)
        return CountedValues(self.distinct, counts[:-1], int(counts[-1]))


def encode(columns: pa.Table, config: Config, mask: Mask | None = None) -> EncodedTable:
    """Encode the configured quasi-identifiers and sensitive attributes, people last.

    Rows suppressed by the mask are left out; suppressed cells are missing.
    """
    config = with_orders(config, columns)
    people = () if config.entity is None else (config.entity,)
    names = list(dict.fromkeys((*config.quasi, *config.sensitive, *people)))
    part, keep = taking_part(columns.select(names), config, mask or Mask())

    def look(name: str) -> tuple[_Values, CountedValues]:
        values = _values(part.column(name), name=name)
        return values, values.counted()

    read = dict(zip(names, in_threads(look, names), strict=True))
    if config.missing == "error":
        refuse_missing(missing_cells(columns, config), config)
    rows = np.flatnonzero(keep)
    counted = {name: found for name, (_, found) in read.items()}
    book = make_codebook(config, counted, rows=len(rows), all_rows=len(keep), mask=mask)
    codes, sensitive = book.coded(len(rows), lambda lookup: lookup.codes[read[lookup.name][0].place])
    return EncodedTable(Table(codes, book.domains, sensitive, book.sensitive, config.leaf_counts), rows, book)


def encode_values(column: pa.ChunkedArray, *, name: str, config: Config) -> tuple[Domain, Int32]:
    """Encode a column without a role in the configuration as a domain and a code per row."""
    values = _values(column, name=name)
    counted = values.counted()
    if name not in config.types and name not in config.hierarchies:
        try:
            guess_type(counted.values, counted.counts, column=name)
        except DataError:
            # The column has no declared type: numbers mixed with text are text.
            config = config.model_copy(update={"types": {**config.types, name: "category"}})
    domain, lookup = counted_domain(name, counted, config)
    return domain, lookup.codes[values.place]


def _values(column: pa.ChunkedArray, *, name: str) -> _Values:
    """Return the distinct values of a column and each row's index; NaN is missing, −0.0 is 0.0."""
    column = plain_column(column)
    if pa.types.is_null(column.type):  # Arrow encodes such columns in one chunk only
        return _Values(pa.nulls(0), np.zeros(len(column), dtype=np.int32))
    try:
        encoded = column.dictionary_encode()
    except pa.ArrowNotImplementedError:
        raise DataError(
            f"Column {name!r} is of type {column.type}, whose values cannot be compared.",
            column=name,
            rows=len(column),
            hint="Convert it to text, numbers or dates, or list it in keep or drop instead.",
        ) from None
    # All chunks have the same dictionary.
    distinct = encoded.chunk(0).dictionary if encoded.num_chunks else pa.array([], column.type)
    places = [each.indices.fill_null(len(distinct)) if each.null_count else each.indices for each in encoded.chunks]
    parts = [each.to_numpy(zero_copy_only=False) for each in places]
    return _Values(distinct, parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, dtype=np.int32), *parts]))
