"""Measure a release from its published table and the original, without knowing how it was made."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import AnyFlags, Bool, Int32, Int64
from coterie.errors import CoterieWarning, DataError
from coterie.measures.measures import Measures, measure_boxes
from coterie.publishing.labels import style_of
from coterie.publishing.read import read_boxes
from coterie.table.masks import read_mask
from coterie.values.notation import columns_of, published_classes
from coterie.wording import count_of

if TYPE_CHECKING:
    from coterie.settings.config import Config
    from coterie.table.table import Table


class PublishedCells(NamedTuple):
    """The published cells as intervals of codes, both [rows, d]."""

    lo: Int32
    hi: Int32
    nodes: Int32
    """the tree nodes whose labels the cells are; −1 for numbers, values and sets"""
    listed: Int32
    """how many values the cells list as sets, 0 where they are none"""
    unread: Bool
    """row → whether some cell of it could not be read"""
    root: Bool
    """row → whether it is fully suppressed"""
    unknown: dict[str, int]
    """column without a hierarchy → rows whose cells could not be read: they may be labels of one"""


class _Originals(NamedTuple):
    """The original rows as codes."""

    codes: Int32
    encoded: Bool
    """row → whether it has codes: a row left out because of missing values or a mask has none"""


def measure_tables(
    original: pa.Table,
    published: pa.Table,
    config: Config,
    *,
    suppress_rows: AnyFlags = None,
    suppress_cells: AnyFlags = None,
) -> Measures:
    """Measure the loss of a published table, from the two tables as read and the masks of the release, if it had any.

    What masks suppress has no influence on the values and the range of a column. The release does not show it.
    """
    from coterie.table.encode import encode

    config.check_columns(original.column_names, publishes=False)
    mask = read_mask(suppress_rows, suppress_cells, count=original.num_rows, quasi=config.quasi)
    encoded = encode(original, config, mask)
    return measure_release(original, published, table=encoded.table, config=config, rows=encoded.rows)


def measure_release(
    original: pa.Table,
    published: pa.Table,
    *,
    table: Table,
    config: Config,
    rows: Int64 | None = None,
    kept: Int64 | None = None,
) -> Measures:
    """Measure the loss of a published table against its original, and whether it contains the original.

    Groups are the sets of identical published rows. Rows missing from the release are suppressed rows. A row published
    as `*` throughout is a row like any other here: whether it was suppressed is not visible.

    Args:
        original: The original columns.
        published: The published columns, in the original's order.
        table: The original's quasi-identifiers as codes.
        config: How the columns were published, and k.
        rows: Row of the table → position in the original, if the table lacks some (missing values, masks).
        kept: Row of the published table → position in the original. If not given and rows were removed, each
            published row is matched with the next original row inside it.

    Raises:
        DataError: The release has more rows than the original, or a column that cannot be read as intervals.
    """
    count = original.num_rows
    if published.num_rows > count:
        raise DataError(
            f"The release has {published.num_rows:,} rows, the original only {count:,}.",
            rows=published.num_rows,
            hint="Give the table that the release was made from.",
        )
    class_of_row, _ = published_classes(published, config.quasi)
    cells = read_cells(published, table, config)
    for name, unread in cells.unknown.items():
        warnings.warn(_unknown_labels(name, unread), CoterieWarning, stacklevel=4)
    originals = _originals(table, rows, count)
    if kept is None:
        kept = _match(cells, originals)
    inside = _inside(cells, originals, published=np.arange(published.num_rows), own=kept)
    labels = np.full(count, -1, dtype=np.int32)
    labels[kept] = np.where(originals.encoded[kept], class_of_row, -1)
    first = np.unique(class_of_row, return_index=True)[1]
    measured = measure_boxes(
        table.domains,
        lo=cells.lo[first],
        hi=cells.hi[first],
        nodes=cells.nodes[first],
        listed=cells.listed[first].astype(np.int64),
        labels=labels,
        k=config.k,
        class_of_group=np.arange(len(first), dtype=np.int32),
        leaf_counts=config.leaf_counts,
    )
    return measured.with_values(outside=int(np.count_nonzero(~inside)))


def read_cells(published: pa.Table, table: Table, config: Config) -> PublishedCells:
    """Parse the published quasi-identifiers as intervals of the original's codes."""
    shape = (published.num_rows, len(table.domains))
    lo, hi = np.zeros(shape, dtype=np.int32), np.zeros(shape, dtype=np.int32)
    nodes, listed, unread = np.full(shape, -1, dtype=np.int32), lo.copy(), np.zeros(len(lo), dtype=np.bool_)
    unknown = {}
    for at, domain in enumerate(table.domains):
        style = style_of(domain, config.publish)
        lower, *upper = (published.column(each) for each in columns_of(domain.name, published.column_names))
        boxes = read_boxes(lower, domain, upper=upper[0] if upper else None, style=style)
        lo[:, at], hi[:, at], nodes[:, at], listed[:, at] = boxes.lo, boxes.hi, boxes.node, boxes.listed
        unread |= boxes.unread
        if boxes.unread.any() and not domain.labelled and not domain.order:
            unknown[domain.name] = int(np.count_nonzero(boxes.unread))
    last = np.array([domain.size - 1 for domain in table.domains], dtype=np.int32)
    return PublishedCells(lo, hi, nodes, listed, unread, ((lo == 0) & (hi == last)).all(axis=1), unknown)


def _unknown_labels(name: str, rows: int) -> str:
    """Say that cells of a column may be labels of a hierarchy that was not given."""
    return (
        f"Column {name!r} has no hierarchy, and {count_of(rows, 'cell')} of the release cannot be read: they count as "
        "any value, and their rows as outside. If they are labels, give the hierarchy with "
        f"--hierarchy {name}=FILE (in Python: hierarchies=)."
    )


def match_rows(published: pa.Table, *, table: Table, config: Config) -> Int64:
    """Match published rows to positions in the original, in order; a row that fits none takes the position next to it.

    Arguments as for `measure_release`.
    """
    if published.num_rows == table.rows:
        return np.arange(table.rows)
    return _match(read_cells(published, table, config), _originals(table, None, table.rows))


def _originals(table: Table, rows: Int64 | None, count: int) -> _Originals:
    if rows is None:
        return _Originals(table.codes, np.ones(count, dtype=np.bool_))
    codes = np.zeros((count, len(table.domains)), dtype=np.int32)
    codes[rows] = table.codes
    encoded = np.zeros(count, dtype=np.bool_)
    encoded[rows] = True
    return _Originals(codes, encoded)


def _inside(cells: PublishedCells, originals: _Originals, *, published: Int64, own: Int64) -> Bool:
    """Return whether each original row lies inside the published row next to it."""
    codes = originals.codes[own]
    held = ((cells.lo[published] <= codes) & (codes <= cells.hi[published])).all(axis=1)
    return np.where(originals.encoded[own], held, cells.root[published]) & ~cells.unread[published]


def _match(cells: PublishedCells, originals: _Originals) -> Int64:
    """Match published rows to original rows inside them, in order, as far as possible.

    Each published row takes the first original after its predecessor's that lies inside it: if the rows can be matched
    in order at all, this matches them. It skips runs that fit and stops only where rows were removed.
    """
    count, slack = len(cells.lo), len(originals.codes) - len(cells.lo)
    every, encoded = np.arange(count), np.flatnonzero(originals.encoded)
    if slack == 0:
        return every
    if count == len(encoded) and _inside(cells, originals, published=every, own=encoded).all():
        return encoded

    def misfits(rows: Int64, shift: int) -> Bool:
        return ~_inside(cells, originals, published=rows, own=rows + shift)

    def fits(own: Int64, row: int) -> Bool:
        return _inside(cells, originals, published=np.full(len(own), row), own=own)

    kept, done, shift = np.zeros(count, dtype=np.int64), 0, 0
    while True:
        row = _first(misfits, shift, start=done, end=count)
        # Of the rows after it, no more can be skipped than are missing.
        own = _first(fits, row, start=row + shift + 1, end=row + slack + 1) if row < count else row + slack + 1
        if own > row + slack:
            kept[done:] = every[done:] + shift
            return kept
        kept[done:row] = every[done:row] + shift
        done, shift = row, own - row


def _first(wanted: Callable[[Int64, int], Bool], what: int, *, start: int, end: int) -> int:
    """Return the first position from `start` on that is wanted, or `end`; asked for in stretches that double."""
    width = 64
    while start < end:
        found = wanted(np.arange(start, min(start + width, end)), what)
        if found.any():
            return start + int(np.argmax(found))
        start, width = start + width, 2 * width
    return end
