"""Normalize columns so that equal values compare equal.

Extension types, run-end encoding and dictionaries are unwrapped; NaN becomes missing and −0.0 becomes 0.0; views and
half floats, which Arrow can neither compare nor take from, are widened.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


def plain_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the normalized column."""
    column = unwrapped(column)
    if pa.types.is_dictionary(column.type):
        kind = _plain_type(column.type.value_type)
        parts = [chunk.dictionary.cast(kind).take(chunk.indices) for chunk in column.chunks]
        column = pa.chunked_array(parts, type=kind)
    kind = _plain_type(column.type)
    if not kind.equals(column.type):
        column = column.cast(kind)
    if pa.types.is_floating(kind):
        column = pc.add(column, pa.scalar(0.0, kind))  # −0.0 + 0.0 is 0.0
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, kind), column)
    return column


def plain_array(values: Any) -> pa.Array:  # noqa: ANN401 - any array of values
    """Return the normalized values as one array; accepts lists and other libraries' columns."""
    if not isinstance(values, pa.Array | pa.ChunkedArray):
        values = pa.array(values)
    if isinstance(values, pa.Array):
        values = pa.chunked_array([values], type=values.type)
    plain = plain_column(values)
    if plain.num_chunks == 1:
        return plain.chunk(0)
    return pa.concat_arrays(plain.chunks) if plain.num_chunks else pa.array([], plain.type)


def unwrapped(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the same values without an extension type or run-end encoding."""
    if isinstance(column.type, pa.BaseExtensionType):
        column = pa.chunked_array([chunk.storage for chunk in column.chunks], type=column.type.storage_type)
    if pa.types.is_run_end_encoded(column.type):
        column = pa.chunked_array(map(pc.run_end_decode, column.chunks), type=column.type.value_type)
    return column


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_string_view(kind):
        return pa.large_string()
    if pa.types.is_binary_view(kind):
        return pa.large_binary()
    return pa.float32() if pa.types.is_float16(kind) else kind
