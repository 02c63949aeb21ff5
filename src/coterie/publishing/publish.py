"""Publish groups: the caller's columns with every quasi-identifier generalized to its group's box.

Sensitive and kept columns stay as they are, all others go, rows keep their order. Suppressed rows are published as
`*` in every quasi-identifier if enough rows look like that, and are removed otherwise: a class of fewer than k all-`*`
rows would break the promise as any other class does.

A `Publisher` knows the columns of a release and puts cells into them, for every engine: all rows of a table in memory,
a stretch of a file, the rows of a task.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.arrays import Bool, Int32, Int64, in_threads
from coterie.files.csv_out import Repeated
from coterie.files.door import bare_table
from coterie.publishing.labels import Boxes, Labels, check_styles, label, listed_values, roots_of, style_of
from coterie.publishing.read import ReadBoxes, read_boxes
from coterie.values.codes import Codes, row_classes
from coterie.values.notation import SET_LIMIT, bound_names

if TYPE_CHECKING:
    from coterie.settings.config import Config
    from coterie.settings.fields.hierarchies import Publish as Style
    from coterie.table.domain import Domain
    from coterie.table.grouping import Grouping
    from coterie.table.table import Table

__all__ = ["PublishedTable", "Publisher", "ReadBoxes", "check_styles", "publish", "read_boxes", "recode"]

# Arrow's string arrays are limited to 2 GB: chunks of this many rows stay below, unless labels exceed 8,000 letters.
PIECE = 2**18


class PublishedColumn(NamedTuple):
    """One column of a release."""

    name: str
    source: str
    """the column of the original that it is made from"""
    attribute: int = -1
    """position of that among the quasi-identifiers; −1 for others, which are published as they are"""


@dataclass(frozen=True, eq=False)
class Publisher:
    """The columns of a release, and their contents."""

    names: tuple[str, ...]
    """the columns of the original"""
    domains: tuple[Domain, ...]
    config: Config

    @cached_property
    def columns(self) -> tuple[PublishedColumn, ...]:
        """The published columns in their order."""
        found: list[PublishedColumn] = []
        places = {domain.name: at for at, domain in enumerate(self.domains)}
        for name in self.names:
            if name in places:
                style = style_of(self.domains[places[name]], self.config.publish)
                shown = bound_names(name) if style == "bounds" else (name,)
                found += [PublishedColumn(each, name, places[name]) for each in shown]
            elif name in self.config.published_unchanged:
                found.append(PublishedColumn(name, name))
        return tuple(found)

    @cached_property
    def suppressed(self) -> dict[str, tuple[pa.DataType, Any]]:
        """Published column of a quasi-identifier → its type, and its cell in a suppressed row."""
        every = [published_as(domain, self.config.publish) for domain in self.domains]
        return {each.name: every[each.attribute][each.name] for each in self.columns if each.attribute >= 0}

    def own(self, unchanged: Sequence[bool] | Bool, *, starred: bool) -> frozenset[str]:
        """Return the quasi-identifiers that are published with their own values, in their own type.

        These are the ones that every group leaves unchanged, if no suppressed rows are shown.
        """
        same = zip(self.domains, unchanged, strict=True)
        return frozenset() if starred else frozenset(domain.name for domain, as_before in same if as_before)

    def table(
        self,
        original: pa.Table,
        cells: Mapping[str, pa.ChunkedArray],
        *,
        kept: Int64,
        own: Collection[str],
        levels: Mapping[str, pa.Array] | None = None,
    ) -> pa.Table:
        """Return published rows.

        Args:
            original: Rows of the original, as far as columns are published as they are or in their own type.
            cells: Published column of a quasi-identifier → cells of the published rows.
            kept: Published row → row of the original.
            own: Quasi-identifiers that are published with their own values.
            levels: Column → its dictionary, where several tables share one.
        """
        fields, arrays = [], []
        for name, source, attribute in self.columns:
            if attribute < 0:
                array, field = keep_rows(original.column(source), kept), original.schema.field(source)
            else:
                array = as_type_of(original.column(source), cells[name]) if source in own else cells[name]
                field = pa.field(name, array.type)
            arrays.append(array)
            fields.append(field)
        return bare_table(pa.Table.from_arrays(arrays, schema=pa.schema(fields)), levels=levels)


class PublishedTable(NamedTuple):
    """A table ready to be written, and how it relates to the original."""

    table: pa.Table
    kept: Int64
    """row of the table → position in the original; shorter if suppressed rows were removed"""
    class_of_group: Int32
    """group → class of groups with equal published cells"""
    roots: Mapping[str, str]
    """quasi-identifier → what a suppressed cell looks like in it"""
    listed: Int64 | None = None
    """[groups, d] how many values the published sets list, 0 where no set stands; None where nobody counted"""
    repeated: Repeated | None = None
    """the published quasi-identifiers, which all rows of a box have in common, if their boxes are known"""


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
    recoded = recode(table, grouping, config)
    grouping = grouping.published_boxes()
    group_of_row = _group_of_row(columns.num_rows, grouping.labels, rows)
    suppressed = group_of_row < 0
    starred = starred_rows(recoded.values(), grouping.sizes)
    shown = may_show(config, suppressed=int(np.count_nonzero(suppressed)), starred=starred)
    kept = np.arange(columns.num_rows) if shown else np.flatnonzero(~suppressed)
    if config.row_order == "shuffle":
        kept = np.random.default_rng(secrets.randbits(128)).permutation(kept)  # independent of the seed
    publisher = Publisher(tuple(columns.column_names), table.domains, config)
    group = group_of_row[kept]
    unchanged = [recoded[domain.name].unchanged for domain in table.domains]
    own = publisher.own(unchanged, starred=bool((group < 0).any()))

    def spread(at: int) -> dict[str, pa.ChunkedArray]:
        domain = table.domains[at]
        if domain.name in own:
            return {domain.name: _spread(domain.values, grouping.lo[:, at][group])}
        labels = recoded[domain.name]
        of_row = labels.of_rows(group)
        return {name: _spread(values, of_row) for name, values in zip(labels.names, labels.values, strict=True)}

    every = in_threads(spread, range(len(table.domains)))
    cells = {name: column for columns_of in every for name, column in columns_of.items()}
    released = publisher.table(columns, cells, kept=kept, own=own)
    roots, listed = roots_of(table.domains, config.publish), listed_values(recoded.values())
    repeated = Repeated(frozenset(cells), group + np.int32(1))  # suppressed rows have a box as well
    return PublishedTable(released, kept, _classes(recoded, grouping.groups), roots, listed, repeated)


def recode(table: Table, grouping: Grouping, config: Config) -> dict[str, Labels]:
    """Return quasi-identifier → its published values."""
    recoded: dict[str, Labels] = {}
    shown = grouping.published_boxes()
    nodes = shown.chosen_nodes()
    labelled = published_nodes(table.domains, shown, config.publish)
    for position, domain in enumerate(table.domains):
        style = style_of(domain, config.publish)
        codes = np.ascontiguousarray(table.codes[:, position])
        boxes = Boxes(
            domain,
            codes,
            shown.labels,
            np.ascontiguousarray(shown.lo[:, position]),
            np.ascontiguousarray(shown.hi[:, position]),
            None if nodes is None else np.ascontiguousarray(nodes[:, position]),
            grouping.values_held(codes, at_most=SET_LIMIT) if style == "set" else None,
        )
        chosen = None if labelled is None else labelled[:, position]
        recoded[domain.name] = label(boxes, style)._replace(nodes=chosen)
    return recoded


def published_nodes(domains: Sequence[Domain], shown: Grouping, publish: Mapping[str, Style]) -> Int32 | None:
    """Return [boxes, d] nodes whose labels are published; −1 for sets, None for the lowest that cover the boxes."""
    nodes = shown.chosen_nodes()
    if nodes is None:
        return None
    as_sets = [domain.labelled and style_of(domain, publish) == "set" for domain in domains]
    return np.where(np.array(as_sets, dtype=np.bool_), np.int32(-1), nodes)


# How suppressed rows are shown: whether they are, and the content of their cells.


def published_as(domain: Domain, publish: Mapping[str, Style]) -> dict[str, tuple[pa.DataType, Any]]:
    """Return a quasi-identifier's published columns → their types and the value for a suppressed row."""
    one = np.zeros(1, dtype=np.int32)
    labels = label(Boxes(domain, one, one, one, one), style_of(domain, publish))
    return {
        name: (values.type, values[labels.suppressed].as_py())
        for name, values in zip(labels.names, labels.values, strict=True)
    }


def starred_rows(recoded: Iterable[Labels], sizes: Int64) -> int:
    """Count the rows of the groups published as `*` throughout."""
    starred = np.ones(len(sizes), dtype=np.bool_)
    for labels in recoded:
        starred &= labels.of_group == labels.suppressed
    return int(sizes[starred].sum())


def may_show(config: Config, *, suppressed: int, starred: int) -> bool:
    """Return whether suppressed rows, with the groups published as `*` throughout, are enough to be shown."""
    return config.suppressed == "auto" and (suppressed == 0 or suppressed + starred >= config.k)


def _group_of_row(count: int, labels: Int32, rows: Int64 | None) -> Int32:
    if len(labels) != (count if rows is None else len(rows)):
        raise ValueError("the grouping and the columns differ in their number of rows")
    if rows is None:
        return labels
    group_of_row = np.full(count, -1, dtype=np.int32)
    group_of_row[rows] = labels
    return group_of_row


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
