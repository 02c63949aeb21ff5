"""Publish a grouping: the input columns with every quasi-identifier generalized to its group's box.

Sensitive and kept columns stay unchanged, all others are dropped, rows keep their order. Suppressed rows are published
as `*` in every quasi-identifier if enough rows look like that, and removed otherwise: a class of fewer than k all-`*`
rows would violate k-anonymity like any other class.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.arrays import Bool, Int32, Int64
from coterie.files.door import bare_table
from coterie.publishing.labels import Boxes, Labels, check_styles, label, root_text, style_of
from coterie.publishing.read import ReadBoxes, read_boxes
from coterie.values.codes import Codes, row_classes
from coterie.values.notation import SET_LIMIT

if TYPE_CHECKING:
    from coterie.settings.config import Config
    from coterie.table.grouping import Grouping
    from coterie.table.table import Table

__all__ = ["PublishedTable", "ReadBoxes", "check_styles", "publish", "read_boxes", "recode"]

# A text array of Arrow holds 2 GB: pieces of this many rows stay below that unless labels have 8,000 letters.
PIECE = 2**18


class PublishedTable(NamedTuple):
    """A table ready to be written, and how it relates to the original."""

    table: pa.Table
    kept: Int64
    """row of the table → position in the original; shorter if suppressed rows were removed"""
    class_of_group: Int32
    """group → class of groups with equal published cells"""
    roots: Mapping[str, str]
    """quasi-identifier → the text of a suppressed cell"""


def publish(
    columns: pa.Table,
    table: Table,
    grouping: Grouping,
    config: Config,
    *,
    rows: Int64 | None = None,
) -> PublishedTable:
    """Generalize the quasi-identifiers of a table to the boxes of its groups.

    Args:
        columns: The original columns. They are not modified.
        table: Their quasi-identifiers as codes.
        grouping: Row of the table → group → box. A box may be wider than its rows.
        config: Which columns to drop, how to write values, and how to treat suppressed rows.
        rows: Row of the table → position in the columns, if the table lacks some. These are suppressed.
    """
    check_styles(table.domains, names=columns.column_names, publish=config.publish)
    recoded, roots = recode(table, grouping, config)
    grouping = grouping.published_boxes()
    group_of_row = _group_of_row(columns.num_rows, grouping.labels, rows)
    suppressed = group_of_row < 0
    shown = config.suppressed == "auto" and _enough_alike(recoded, grouping.sizes, suppressed, config.k)
    kept = np.arange(columns.num_rows) if shown else np.flatnonzero(~suppressed)
    if config.row_order == "shuffle":
        kept = secret_order(kept)
    group_of_row = group_of_row[kept]
    as_before = {
        domain.name: _spread(domain.values, grouping.lo[:, position][group_of_row])
        for position, domain in enumerate(table.domains)
        if recoded[domain.name].unchanged and not (group_of_row < 0).any()
    }
    arrays: dict[str, pa.ChunkedArray] = {}
    for name in columns.column_names:
        if name in as_before:
            arrays[name] = as_type_of(columns.column(name), as_before[name])
        elif name in recoded:
            index = np.append(recoded[name].of_group, recoded[name].suppressed)[group_of_row]
            spread = [_spread(values, index) for values in recoded[name].values]
            arrays.update(zip(recoded[name].names, spread, strict=True))
        elif name in config.published_unchanged:
            arrays[name] = keep_rows(columns.column(name), kept)
    fields = [
        pa.field(name, array.type) if name not in columns.column_names or name in recoded else columns.field(name)
        for name, array in arrays.items()
    ]
    released = bare_table(pa.Table.from_arrays(list(arrays.values()), schema=pa.schema(fields)))
    return PublishedTable(released, kept, _classes(recoded, grouping.groups), roots)


def recode(table: Table, grouping: Grouping, config: Config) -> tuple[dict[str, Labels], dict[str, str]]:
    """Return quasi-identifier → its published values, and → the text of a suppressed cell."""
    recoded: dict[str, Labels] = {}
    roots: dict[str, str] = {}
    shown = grouping.published_boxes()
    for position, domain in enumerate(table.domains):
        style = style_of(domain, config.publish)
        codes = np.ascontiguousarray(table.codes[:, position])
        boxes = Boxes(
            domain,
            codes,
            shown.labels,
            np.ascontiguousarray(shown.lo[:, position]),
            np.ascontiguousarray(shown.hi[:, position]),
            None if shown.nodes is None else np.ascontiguousarray(shown.nodes[:, position]),
            grouping.values_held(codes, at_most=SET_LIMIT) if style == "set" else None,
        )
        recoded[domain.name] = label(boxes, style)
        roots[domain.name] = root_text(domain, style)
    return recoded, roots


def secret_order(rows: Int64) -> Int64:
    """Shuffle the rows into an irreproducible order, independent of the seed."""
    return np.random.default_rng(secrets.randbits(128)).permutation(rows)


def _group_of_row(count: int, labels: Int32, rows: Int64 | None) -> Int32:
    if len(labels) != (count if rows is None else len(rows)):
        raise ValueError("the grouping and the columns differ in their number of rows")
    if rows is None:
        return labels
    group_of_row = np.full(count, -1, dtype=np.int32)
    group_of_row[rows] = labels
    return group_of_row


def _enough_alike(
    recoded: Mapping[str, Labels],
    sizes: Int64,
    suppressed: Bool,
    k: int,
) -> bool:
    """Return whether suppressed rows, together with groups published as `*` throughout, are at least k (or none)."""
    count = int(np.count_nonzero(suppressed))
    alike = np.ones(len(sizes), dtype=np.bool_)
    for labels in recoded.values():
        alike &= labels.of_group == labels.suppressed
    return count == 0 or count + int(sizes[alike].sum()) >= k


def _classes(recoded: Mapping[str, Labels], groups: int) -> Int32:
    """Return group → class of groups with equal published cells."""
    if groups == 0:
        return np.zeros(0, dtype=np.int32)
    columns = [
        Codes(labels.of_group.astype(np.int64), len(labels.values[0]), -1, labels.values[0])
        for labels in recoded.values()
    ]
    return row_classes(columns)[0].astype(np.int32)


def _spread(values: pa.Array, index: Int32) -> pa.ChunkedArray:
    """Return row → value, through an index of the values."""
    pieces = [values.take(pa.array(index[start : start + PIECE])) for start in range(0, len(index), PIECE)]
    return pa.chunked_array(pieces, type=values.type)


def keep_rows(column: pa.ChunkedArray, kept: Int64) -> pa.ChunkedArray:
    """Return the kept rows of an unchanged column, without dictionary values that only removed rows had."""
    if np.array_equal(kept, np.arange(len(column))):
        return column
    kind = column.type
    if pa.types.is_dictionary(kind):
        return as_type_of(column, column.cast(kind.value_type).take(pa.array(kept)))
    # Arrow cannot take rows of these:
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        plain = pa.large_string() if pa.types.is_string_view(kind) else pa.large_binary()
        return column.cast(plain).take(pa.array(kept)).cast(kind)
    if pa.types.is_run_end_encoded(kind):
        whole = pa.chunked_array(map(pc.run_end_decode, column.chunks), type=kind.value_type)
        return as_type_of(column, whole.take(pa.array(kept)))
    return column.take(pa.array(kept))


def as_type_of(original: pa.ChunkedArray, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Convert the column to the original's type. A dictionary keeps its order and lists only values that occur."""
    kind = original.type
    if pa.types.is_run_end_encoded(kind):
        runs = [pc.run_end_encode(chunk, run_end_type=kind.run_end_type) for chunk in column.chunks]
        return pa.chunked_array(runs, type=kind)
    if not pa.types.is_dictionary(kind):
        return column if column.type.equals(kind) else column.cast(kind)
    if original.num_chunks == 0 or len(column) == 0:
        return pa.chunked_array([], type=kind)
    listed = original.unify_dictionaries().chunk(0).dictionary
    occurring = listed.filter(pc.is_in(listed, value_set=column.unique().drop_null()))
    indices = pc.index_in(column.combine_chunks(), value_set=occurring).cast(kind.index_type)
    encoded = pa.DictionaryArray.from_arrays(indices, occurring, ordered=kind.ordered)
    return pa.chunked_array([encoded], type=kind)
