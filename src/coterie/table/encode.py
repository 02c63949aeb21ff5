"""Encode columns. Strings, numbers, dates and missing values end here; methods only see integers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import Bool, Int32, Int64, in_threads
from coterie.errors import DataError
from coterie.table.codebook import Codebook, CountedValues, counted_domain, make_codebook, refuse_missing
from coterie.table.domain import Domain
from coterie.table.orders import with_orders
from coterie.table.table import Table
from coterie.values.numbers import guess_type
from coterie.values.plain import plain_column

if TYPE_CHECKING:
    from coterie.settings.config import Config
    from coterie.table.masks import Mask


class EncodedTable(NamedTuple):
    """A table of codes, and the original positions of its rows."""

    table: Table
    rows: Int64
    """row of the table → position in the columns; shorter if rows are suppressed from the start"""
    book: Codebook
    """the codebook"""


@dataclass(frozen=True, eq=False)
class _Values:
    """A column's distinct values (without missing ones) and the index of each row's value."""

    distinct: pa.Array
    index: Int32
    """row → place in `distinct`, or len(distinct) for a missing value"""

    @property
    def is_missing(self) -> Bool:
        return np.equal(self.index, len(self.distinct))

    @cached_property
    def counted(self) -> CountedValues:
        counts = np.bincount(self.index, minlength=len(self.distinct) + 1)
        return CountedValues(self.distinct, counts[:-1], int(counts[-1]))


def encode(columns: pa.Table, config: Config, mask: Mask | None = None) -> EncodedTable:
    """Encode the configured quasi-identifiers and sensitive attributes, people last.

    Rows suppressed by the mask are left out; suppressed cells are missing.
    """
    config = with_orders(config, columns)
    people = () if config.entity is None else (config.entity,)
    names = (*config.quasi, *config.sensitive, *people)
    read = dict(zip(names, in_threads(lambda name: _values(columns.column(name), name=name), names), strict=True))
    refuse_missing({name: read[name].counted.missing for name in config.quasi}, config)
    keep = np.ones(len(next(iter(read.values())).index), dtype=np.bool_)
    if config.missing == "suppress":
        for name in config.quasi:
            keep &= ~read[name].is_missing
    if mask is not None:
        keep = keep if mask.rows is None else keep & ~mask.rows
        for name, flags in mask.cells.items():
            index = np.where(flags, len(read[name].distinct), read[name].index).astype(np.int32)
            read[name] = _only_present(_Values(read[name].distinct, index))
    if not keep.all():
        read = {name: _only_present(_Values(values.distinct, values.index[keep])) for name, values in read.items()}
    rows = np.flatnonzero(keep)
    counted = {name: values.counted for name, values in read.items()}
    book = make_codebook(config, counted, rows=len(rows), all_rows=len(keep), mask=mask)
    parts = []
    for lookups in (book.lookups, book.sensitive_lookups):
        codes = np.empty((len(rows), len(lookups)), dtype=np.int32)
        for j, lookup in enumerate(lookups):
            codes[:, j] = lookup.codes[read[lookup.name].index]
        parts.append(codes)
    return EncodedTable(Table(parts[0], book.domains, parts[1], book.sensitive, config.leaf_counts), rows, book)


def encode_values(column: pa.ChunkedArray, *, name: str, config: Config) -> tuple[Domain, Int32]:
    """Encode a column without a role in the configuration as a domain and a code per row."""
    values = _values(column, name=name)
    counted = values.counted
    if name not in config.types and name not in config.hierarchies:
        try:
            guess_type(counted.values, counted.counts, column=name)
        except DataError:
            # Nobody was asked about this column: what looks like numbers with text among them is text.
            config = config.model_copy(update={"types": {**config.types, name: "category"}})
    domain, lookup = counted_domain(name, counted, config)
    return domain, lookup.codes[values.index]


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
    encoded = encoded.unify_dictionaries().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):  # no chunks at all
        encoded = (
            pa.concat_arrays(encoded.chunks) if encoded.num_chunks else pa.array([], column.type).dictionary_encode()
        )
    distinct = encoded.dictionary
    places = encoded.indices.fill_null(len(distinct)) if encoded.null_count else encoded.indices
    index = places.to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    return _only_present(_Values(distinct, index))


def _only_present(values: _Values) -> _Values:
    """Drop values that no row has (a categorical column may list such)."""
    used = values.counted.counts > 0
    if used.all():
        return values
    place = np.cumsum(np.append(used, True)) - 1
    return _Values(values.distinct.filter(pa.array(used)), place[values.index].astype(np.int32))
