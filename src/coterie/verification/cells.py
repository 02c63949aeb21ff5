"""How the judge reads published cells: missing, suppressed or a value; and which rows are equal.

This is the judge's own reader. Null and NaN are missing, and missing is a value like any other; −0.0 is 0.0; run-end
encoding, extension types and dictionaries are unwrapped; `*` or the root label of a hierarchy is a suppressed cell.
Numbers and dates are read exactly, from whatever type or text they are published in.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from decimal import Decimal
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from coterie.arrays import Bool, Int32, Int64
from coterie.errors import DataError

MARK = "*"
# Numbers of several columns are combined into one int64 below this limit.
ROOM = 2**62
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,5})?")
_DATE = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"
    r"(Z|[+-][0-9]{2}:?[0-9]{2}(:?[0-9]{2})?)?)?"
)
# The maximum number of digits before or after the decimal point: floats need 324.
_MOST = 400
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


class ColumnCells(NamedTuple):
    """One column: its distinct values, and the value of each row."""

    values: pa.Array
    """the distinct values; some may be in no row"""
    of_row: Int32
    """row → index among the values; the number of values for a missing cell"""

    @property
    def missing(self) -> Bool:
        """Row → whether the cell is missing."""
        return np.equal(self.of_row, len(self.values))

    @property
    def plain(self) -> pa.Array:
        """Row → cell, in a plain type and with null for every missing cell."""
        cells = self.values.take(pa.array(self.of_row, mask=self.missing))
        return cells.cast(pa.large_string()) if pa.types.is_string_view(cells.type) else cells

    def suppressed(self, root: str = MARK) -> Bool:
        """Return row → whether the cell is suppressed. Numeric columns cannot contain a mark: missing stands for it."""
        if not is_text(self.values.type):
            return self.missing
        place: int = self.values.cast(pa.large_string()).index(root).as_py()
        return np.equal(self.of_row, place)


def is_text(kind: pa.DataType) -> bool:
    """Return whether cells of this type are text, possibly in a dictionary."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def read_cells(column: pa.ChunkedArray | pa.Array, *, name: str) -> ColumnCells:
    """Distinguish the cells of a column.

    Raises:
        DataError: Cells of its type, such as lists, cannot be compared.
    """
    cells = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column], type=column.type)
    if isinstance(cells.type, pa.BaseExtensionType):
        cells = pa.chunked_array([chunk.storage for chunk in cells.chunks], type=cells.type.storage_type)
    if pa.types.is_run_end_encoded(cells.type):
        cells = pa.chunked_array(map(pc.run_end_decode, cells.chunks), type=cells.type.value_type)
    if pa.types.is_null(cells.type):
        return ColumnCells(pa.nulls(0), np.zeros(len(cells), dtype=np.int32))
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
    return ColumnCells(values, _places([chunk.indices for chunk in encoded.chunks], missing=len(values)))


class TableCells(dict[str, ColumnCells]):
    """The columns of a table by name, each read once."""

    def __init__(self, table: pa.Table) -> None:
        super().__init__()
        self._table = table

    def __missing__(self, name: str) -> ColumnCells:
        self[name] = read_cells(self._table.column(name), name=name)
        return self[name]


def _through_dictionary(cells: pa.ChunkedArray, *, name: str) -> ColumnCells:
    """Decode a dictionary, which may contain an entry twice, or null as an entry: it is read as a column itself."""
    if cells.num_chunks == 0:
        return ColumnCells(pa.array([], cells.type.value_type), np.zeros(0, dtype=np.int32))
    cells = cells.unify_dictionaries()
    entries = read_cells(cells.chunk(0).dictionary, name=name)
    entry = _places([chunk.indices for chunk in cells.chunks], missing=len(entries.of_row))
    return ColumnCells(entries.values, np.append(entries.of_row, np.int32(len(entries.values)))[entry])


def _places(indices: Sequence[pa.Array], *, missing: int) -> Int32:
    """Return indices in one piece, with a number for null."""
    whole = [part.cast(pa.int32()).fill_null(missing) if part.null_count else part for part in indices]
    parts = [part.to_numpy().astype(np.int32, copy=False) for part in whole]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)


def equal_rows(columns: Sequence[ColumnCells], within: tuple[Int64, int] | None = None) -> tuple[Int64, int]:
    """Return row → class of rows with equal cells, numbered by first row; and the number of classes.

    `within` are classes that are divided further.
    """
    of_row, classes = within or (np.zeros(len(columns[0].of_row), dtype=np.int64), 1)
    for column in columns:
        distinct = len(column.values) + 1
        if classes * distinct >= ROOM:
            of_row, classes = numbered(of_row)
        of_row, classes = of_row * distinct + column.of_row, classes * distinct
    return numbered(of_row)


def numbered(keys: Int64) -> tuple[Int64, int]:
    """Assign the numbers 0, 1, … to keys in the order of their first rows; return them and their count."""
    encoded = pa.array(keys).dictionary_encode()
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), len(encoded.dictionary)


def first_rows(of_row: Int64, classes: int) -> Int64:
    """Return class → its first row."""
    first = np.zeros(classes, dtype=np.int64)
    first[of_row[::-1]] = np.arange(len(of_row) - 1, -1, -1)  # the last assignment wins
    return first


def is_number(kind: pa.DataType) -> bool:
    """Return whether cells of this type are numbers; booleans and dates are not."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def number_in(text: str) -> Decimal | None:
    """Parse a number exactly; None if the text is not one, or is too large for one."""
    text = text.strip()
    if len(text) > 2 * _MOST or not _NUMBER.fullmatch(text):
        return None
    value = Decimal(text)
    return value if not value or (abs(value.adjusted()) <= _MOST and isfinite(float(value))) else None


def moment_in(text: str) -> int | None:
    """Parse a date or timestamp as microseconds since 1970; None if the text is not one."""
    try:
        moment = dt.datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return (moment.replace(tzinfo=moment.tzinfo or dt.UTC) - _EPOCH) // dt.timedelta(microseconds=1)


def are_dates(texts: Sequence[str]) -> bool:
    """Return whether all texts are written as dates or timestamps."""
    return len(texts) > 0 and all(map(_DATE.fullmatch, texts))


def numbers_of(cells: pa.Array, rows: Int64, *, name: str) -> Sequence[Any] | npt.NDArray[Any]:
    """Convert distinct, non-missing cells to exact comparable numbers; dates are numbers here.

    Raises:
        DataError: Some are not numbers.
    """
    kind = cells.type
    if len(cells) == 0:
        return []
    if is_text(kind):
        texts = [text.strip() for text in cells.to_pylist()]
        dates = are_dates(texts)
        read = [moment_in(text) if dates else number_in(text) for text in texts]
        _refuse(
            np.array([each is None for each in read]),
            rows,
            name,
            "not valid dates" if dates else "not numbers",
        )
        return read
    if pa.types.is_decimal(kind):
        return list(cells.to_pylist())
    if pa.types.is_boolean(kind):
        cells = cells.cast(pa.int8())
    elif pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        cells = cells.cast(pa.int32() if kind.bit_width == 32 else pa.int64())
    elif not is_number(kind):
        raise DataError(
            f"Column {name!r} is of type {kind}, which contains neither numbers nor dates.",
            column=name,
            rows=int(rows.sum()),
            hint=f'Convert it to numbers or dates, or to text and set types.{name} = "category".',
        )
    numbers: npt.NDArray[Any] = cells.to_numpy(zero_copy_only=False)
    _refuse(~np.isfinite(numbers), rows, name, "infinite")
    return numbers


def _refuse(wrong: Bool, rows: Int64, name: str, what: str) -> None:
    if wrong.any():
        count = int(rows[wrong].sum())
        raise DataError(
            f"Column {name!r} is configured as a number, but {int(wrong.sum()):,} of "
            f"its distinct values ({count:,} rows) "
            f"are {what}.",
            column=name,
            rows=count,
            hint=f'List them in missing_values, or set types.{name} = "category".',
        )
