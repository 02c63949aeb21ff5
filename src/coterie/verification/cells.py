"""What a published cell is to the judge: missing, suppressed or a value; and which rows are published alike.

This is the judge's own reader. Null and NaN are missing, and missing is a value like any other; −0.0 is 0.0; run ends,
extension types and dictionaries are looked through; `*` or the root label of a hierarchy is a suppressed cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.arrays import Bool, Int64
from coterie.errors import DataError

MARK = "*"
# Numbers of several columns make one int64 as long as that cannot reach this.
ROOM = 2**62


class Cells(NamedTuple):
    """One column: its distinct values, and which of them each row holds."""

    values: pa.Array
    """the distinct values; some may be in no row"""
    of_row: Int64
    """row → place among the values; the number of values for a missing cell"""

    @property
    def missing(self) -> Bool:
        """Row → whether the cell is missing."""
        return np.equal(self.of_row, len(self.values))

    def suppressed(self, root: str = MARK) -> Bool:
        """Row → whether the cell is suppressed. Columns of numbers have no room for a mark: missing goes for it."""
        if not is_text(self.values.type):
            return self.missing
        place: int = self.values.cast(pa.large_string()).index(root).as_py()
        return np.equal(self.of_row, place)


def is_text(kind: pa.DataType) -> bool:
    """Whether cells of this type are texts, also by way of a dictionary."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def read_cells(column: pa.ChunkedArray | pa.Array, *, name: str) -> Cells:
    """Tell the cells of a column apart.

    Raises:
        DataError: Cells of its type, such as lists, cannot be compared.
    """
    cells = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column], type=column.type)
    if isinstance(cells.type, pa.BaseExtensionType):
        cells = pa.chunked_array([chunk.storage for chunk in cells.chunks], type=cells.type.storage_type)
    if pa.types.is_run_end_encoded(cells.type):
        cells = pa.chunked_array(map(pc.run_end_decode, cells.chunks), type=cells.type.value_type)
    if pa.types.is_null(cells.type):
        return Cells(pa.nulls(0), np.zeros(len(cells), dtype=np.int64))
    if pa.types.is_dictionary(cells.type):
        return _through_dictionary(cells, name=name)
    if pa.types.is_floating(cells.type):
        cells = cells.cast(pa.float32()) if pa.types.is_float16(cells.type) else cells
        cells = pc.if_else(pc.is_nan(cells), None, pc.add(cells, pa.scalar(0.0, cells.type)))
    try:
        encoded = cells.dictionary_encode()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise DataError(
            f"Column {name!r} is of type {cells.type}, whose cells cannot be compared.",
            column=name,
            rows=len(cells),
            hint="Publish it as text or as numbers.",
        ) from None
    values = encoded.chunk(0).dictionary if encoded.num_chunks else pa.array([], cells.type)
    return Cells(values, _places([chunk.indices for chunk in encoded.chunks], missing=len(values)))


def _through_dictionary(cells: pa.ChunkedArray, *, name: str) -> Cells:
    """A dictionary may hold an entry twice, or null as an entry: it is read as a column itself."""
    if cells.num_chunks == 0:
        return Cells(pa.array([], cells.type.value_type), np.zeros(0, dtype=np.int64))
    cells = cells.unify_dictionaries()
    entries = read_cells(cells.chunk(0).dictionary, name=name)
    entry = _places([chunk.indices for chunk in cells.chunks], missing=len(entries.of_row))
    return Cells(entries.values, np.append(entries.of_row, len(entries.values))[entry])


def _places(indices: Sequence[pa.Array], *, missing: int) -> Int64:
    """Indices in one piece, with a number for null."""
    parts = [part.cast(pa.int64()).fill_null(missing).to_numpy(zero_copy_only=False) for part in indices]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def equal_rows(columns: Sequence[Cells]) -> tuple[Int64, int]:
    """Row → class of rows with equal cells, numbered in the order of their first rows; and how many there are."""
    of_row, classes = np.zeros(len(columns[0].of_row), dtype=np.int64), 1
    for column in columns:
        distinct = len(column.values) + 1
        if classes * distinct >= ROOM:
            of_row, classes = _numbered(of_row)
        of_row, classes = of_row * distinct + column.of_row, classes * distinct
    return _numbered(of_row)


def _numbered(keys: Int64) -> tuple[Int64, int]:
    encoded = pa.array(keys).dictionary_encode()
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), len(encoded.dictionary)
