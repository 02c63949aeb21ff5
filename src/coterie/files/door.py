"""Strip everything but the cells from a table before it is published.

A table contains more than its cells. A dictionary (a pandas Categorical, a Polars Enum) lists values that no row
has any more, fields carry metadata from other programs, and the memory of a missing cell may still contain the
masked value. Every published table is stripped here before
it is verified, so that what is published is what was verified.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.arrays import Bool
from coterie.errors import DataError

__all__ = ["UsedLevels", "bare_table"]

_LISTS = (
    (pa.types.is_list, pa.list_),
    (pa.types.is_large_list, pa.large_list),
    (pa.types.is_list_view, pa.list_view),
    (pa.types.is_large_list_view, pa.large_list_view),
)

_SILENT = ("arrow.uuid", "arrow.json", "arrow.bool8")
"""extension types without parameters; others may carry text, so their cells become the storage type"""


def bare_table(table: pa.Table, *, levels: Mapping[str, pa.Array] | None = None) -> pa.Table:
    """Return the same cells without unused dictionary values, without metadata, and without values beneath nulls.

    A dictionary keeps its order and whether it is ordered. Dictionaries inside lists and structs become plain values.

    Args:
        table: The table to publish.
        levels: Column → its dictionary, if several tables share one; by default each lists the values it uses.

    Raises:
        DataError: A column has dictionaries within a type that Arrow cannot decode.
    """
    fields = [_bare_field(field) for field in table.schema]
    columns = [
        _nothing_beneath(_bare_column(column, field, (levels or {}).get(field.name)))
        for column, field in zip(table.columns, fields, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


class UsedLevels(NamedTuple):
    """The values of a dictionary, and which of them occur."""

    listed: pa.Array
    occur: Bool

    @classmethod
    def none(cls, kind: pa.DictionaryType) -> UsedLevels:
        """Return the levels of a column without rows."""
        return cls(pa.array([], kind.value_type), np.zeros(0, dtype=np.bool_))

    @property
    def used(self) -> pa.Array:
        """The values that occur, in the dictionary's order."""
        if pa.types.is_string_view(self.listed.type):  # Arrow cannot filter these
            return self.listed.cast(pa.large_string()).filter(pa.array(self.occur)).cast(self.listed.type)
        return self.listed.filter(pa.array(self.occur))

    def joined(self, column: pa.ChunkedArray) -> UsedLevels:
        """Add more rows of the same column; new values come last."""
        if not len(column):
            return self
        found = _levels(column.unify_dictionaries())
        if not len(self.listed) or self.listed.equals(found.listed):
            before = self.occur if len(self.listed) else np.zeros(len(found.listed), dtype=np.bool_)
            return found._replace(occur=found.occur | before)
        fresh = found.listed.filter(pc.invert(pc.is_in(found.listed, value_set=self.listed)))
        listed = pa.concat_arrays([self.listed, fresh])
        occur = np.append(self.occur, np.zeros(len(fresh), dtype=np.bool_))
        occur |= pc.is_in(listed, value_set=found.used).to_numpy(zero_copy_only=False)
        return UsedLevels(listed, occur)


def _bare_column(column: pa.ChunkedArray, field: pa.Field, levels: pa.Array | None) -> pa.ChunkedArray:
    """Convert the column to the type of the bare field."""
    if isinstance(column.type, pa.BaseExtensionType) and column.type != field.type:
        column = pa.chunked_array([chunk.storage for chunk in column.chunks], type=column.type.storage_type)
    kind, before = field.type, column.type
    if pa.types.is_dictionary(kind) and not _is_or_holds(before.value_type):
        column = _relabelled(column, kind)
        return _with_used_levels(column) if levels is None else _with_levels(column, levels)
    if not _is_or_holds(before):
        return _relabelled(column, kind)
    try:
        if not _is_or_holds(kind):
            return column.cast(kind)
    except pa.ArrowNotImplementedError:
        pass
    raise DataError(
        f"Column {field.name!r} has dictionaries inside another type, which may list values that no row has.",
        column=field.name,
        hint="Convert it to plain values, for example text.",
    )


def _with_used_levels(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a dictionary column that lists only the values that occur."""
    if not column.num_chunks:
        return column
    try:
        shared = column.unify_dictionaries()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        # Too many values for the index type, or nested ones: each chunk keeps its own dictionary.
        return pa.chunked_array([_recoded(chunk, _levels(pa.chunked_array([chunk]))) for chunk in column.chunks])
    levels = _levels(shared)
    if levels.occur.all():
        return shared
    return pa.chunked_array([_recoded(chunk, levels) for chunk in shared.chunks], type=column.type)


def _with_levels(column: pa.ChunkedArray, levels: pa.Array) -> pa.ChunkedArray:
    """Return a dictionary column that lists these values, which include all that occur."""
    kind = column.type
    plain = column.cast(kind.value_type)
    pieces = [pc.index_in(chunk, value_set=levels).cast(kind.index_type) for chunk in plain.chunks]
    made = [pa.DictionaryArray.from_arrays(piece, levels, ordered=kind.ordered) for piece in pieces]
    return pa.chunked_array(made, type=kind)


def _levels(column: pa.ChunkedArray) -> UsedLevels:
    """Return the values of the dictionary that all chunks share, and which of them occur."""
    listed = column.chunk(0).dictionary
    occur = np.zeros(len(listed), dtype=np.bool_)
    for chunk in column.chunks:
        occur[chunk.indices.drop_null().unique().to_numpy(zero_copy_only=False)] = True
    return UsedLevels(listed, occur)


def _recoded(array: pa.DictionaryArray, levels: UsedLevels) -> pa.DictionaryArray:
    """Re-encode the cells with a dictionary of only the values that occur."""
    places = pa.array(np.maximum(np.cumsum(levels.occur) - 1, 0), array.type.index_type)
    return pa.DictionaryArray.from_arrays(places.take(array.indices), levels.used, ordered=array.type.ordered)


def _nothing_beneath(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Copy the cells so that the memory of missing ones is empty."""
    if not column.null_count and not pa.types.is_nested(column.type):
        return column
    return pa.chunked_array([_cleared(chunk) for chunk in column.chunks], type=column.type)


def _cleared(array: pa.Array) -> pa.Array:
    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return pa.ExtensionArray.from_storage(kind, _cleared(array.storage))
    if pa.types.is_dictionary(kind):
        return pa.DictionaryArray.from_arrays(_cleared(array.indices), array.dictionary, ordered=kind.ordered)
    if pa.types.is_struct(kind):
        # flatten() lets the cells of a missing struct be missing, too.
        parts = [_cleared(part) for part in array.flatten()]
        return pa.StructArray.from_arrays(parts, fields=list(kind), mask=array.is_null()) if parts else array
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):  # Arrow cannot take from these
        plain = pa.large_string() if pa.types.is_string_view(kind) else pa.large_binary()
        return _cleared(array.cast(plain)).cast(kind)
    try:
        return array.take(pa.array(np.arange(len(array))))
    except pa.ArrowNotImplementedError:
        return pa.array(array.to_pylist(), type=kind)


def _bare_field(field: pa.Field, *, inside: bool = False) -> pa.Field:
    return pa.field(field.name, _bare_type(field.type, inside=inside), nullable=field.nullable)


def _bare_type(kind: pa.DataType, *, inside: bool) -> pa.DataType:
    """Return the type without field metadata and, when nested, without dictionaries."""
    if pa.types.is_dictionary(kind):
        value = _bare_type(kind.value_type, inside=True)
        return value if inside else pa.dictionary(kind.index_type, value, kind.ordered)
    if pa.types.is_struct(kind):
        return pa.struct([_bare_field(field, inside=True) for field in kind])
    if pa.types.is_map(kind):
        key, item = (_bare_field(field, inside=True) for field in (kind.key_field, kind.item_field))
        return pa.map_(key, item, keys_sorted=kind.keys_sorted)
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_bare_field(kind.value_field, inside=True), kind.list_size)
    for is_it, make in _LISTS:
        if is_it(kind):
            return make(_bare_field(kind.value_field, inside=True))
    if pa.types.is_run_end_encoded(kind):
        return pa.run_end_encoded(kind.run_end_type, _bare_type(kind.value_type, inside=True))
    if pa.types.is_union(kind):
        fields = [_bare_field(kind.field(at), inside=True) for at in range(kind.num_fields)]
        return pa.union(fields, kind.mode, kind.type_codes)
    if isinstance(kind, pa.BaseExtensionType) and kind.extension_name not in _SILENT:
        return _bare_type(kind.storage_type, inside=inside)
    return kind


def _is_or_holds(kind: pa.DataType) -> bool:
    """Return whether a type is a dictionary, or has some inside, as lists, structs and the like may."""
    if isinstance(kind, pa.BaseExtensionType):
        return _is_or_holds(kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return pa.types.is_dictionary(kind) or _is_or_holds(kind.value_type)
    return any(_is_or_holds(kind.field(at).type) for at in range(kind.num_fields))


def _relabelled(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """Reinterpret the same memory as a type that differs only in metadata."""
    if column.type.equals(kind, check_metadata=True):
        return column
    return pa.chunked_array([pa.array(_Relabelled(chunk, kind)) for chunk in column.chunks], type=kind)


class _Relabelled(NamedTuple):
    """An array exported as another type, which works for types that casts do not support."""

    array: pa.Array
    kind: pa.DataType

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self.kind.__arrow_c_schema__(), self.array.__arrow_c_array__()[1]
