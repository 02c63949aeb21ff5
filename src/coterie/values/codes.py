"""Encode the columns of a published table as integers, and its rows as equivalence classes, from its cells alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.arrays import Int64
from coterie.errors import DataError
from coterie.values.plain import plain_column, unwrapped

# Codes of several columns are packed into one int64 as long as no packed value can reach this.
PACK_LIMIT = 2**62


class Codes(NamedTuple):
    """One column as codes 0 … size − 1, equal exactly if the published values are equal."""

    codes: Int64
    """row → code"""
    size: int
    missing: int
    """the code of missing cells (null and NaN alike), or −1 if no cell is missing"""
    values: pa.Array
    """code → published value; the code of missing cells has no entry"""

    @property
    def missing_cells(self) -> int:
        """The number of missing cells."""
        return int(np.count_nonzero(self.codes == self.missing)) if self.missing >= 0 else 0


def column_codes(column: pa.ChunkedArray | pa.Array, *, name: str) -> Codes:
    """Encode a column: null and NaN are one separate value, −0.0 is 0.0, and dictionaries are decoded."""
    chunked = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column], type=column.type)
    chunked = unwrapped(chunked)
    if pa.types.is_dictionary(chunked.type):
        return _through_dictionary(chunked, name=name)
    if pa.types.is_null(chunked.type):
        return Codes(np.zeros(len(chunked), dtype=np.int64), 1, 0, pa.nulls(0))
    chunked = plain_column(chunked)
    try:
        encoded = chunked.dictionary_encode()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise DataError(
            f"Column {name!r} is of type {chunked.type}, whose cells cannot be compared.",
            column=name,
            rows=len(chunked),
            hint="Publish it as text or as numbers.",
        ) from None
    values = encoded.chunk(0).dictionary if encoded.num_chunks else pa.array([], type=chunked.type)
    return _with_missing([chunk.indices for chunk in encoded.chunks], values)


def _through_dictionary(column: pa.ChunkedArray, *, name: str) -> Codes:
    """Encode a dictionary column. Arrow allows repeated and null entries, so the dictionary is encoded too."""
    if column.num_chunks == 0:
        return Codes(np.zeros(0, dtype=np.int64), 0, -1, pa.array([], type=column.type.value_type))
    unified = column.unify_dictionaries()
    entries = column_codes(unified.chunk(0).dictionary, name=name)
    present = np.append(entries.codes, -1)
    if entries.missing >= 0:
        present[present == entries.missing] = -1
    indices = [_numpy(pc.fill_null(chunk.indices.cast(pa.int64()), -1)) for chunk in unified.chunks]
    mapped = present[np.concatenate(indices)]
    return _with_missing([pa.array(mapped, mask=mapped < 0)], entries.values)


def _with_missing(indices: Sequence[pa.Array], values: pa.Array) -> Codes:
    parts = [_numpy(pc.fill_null(part.cast(pa.int64()), len(values))) for part in indices]
    codes = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
    missing = len(values) if any(part.null_count for part in indices) else -1
    return Codes(codes, len(values) + (missing >= 0), missing, values)


def _numpy(array: pa.Array) -> Int64:
    result: Int64 = array.to_numpy(zero_copy_only=False)
    return result


def row_classes(columns: Sequence[Codes]) -> tuple[Int64, int]:
    """Return row → equivalence class over all columns, numbered by first row, and the number of classes."""
    packed = columns[0].codes.copy()
    span = columns[0].size
    for column in columns[1:]:
        if span * column.size > PACK_LIMIT:
            packed, span = _renumbered(packed)
        packed *= column.size
        packed += column.codes
        span *= column.size
    return _renumbered(packed)


def first_rows(of_row: Int64, classes: int) -> Int64:
    """Return class → its first row."""
    first = np.zeros(classes, dtype=np.int64)
    first[of_row[::-1]] = np.arange(len(of_row) - 1, -1, -1)  # the last assignment wins
    return first


def _renumbered(packed: Int64) -> tuple[Int64, int]:
    encoded = pa.array(packed).dictionary_encode()
    return _numpy(encoded.indices).astype(np.int64), len(encoded.dictionary)
