"""Sample a release that is not in memory by whole classes, so that groups keep their sizes.

Classes are drawn by a hash of their published cells: the same release gives the same sample, in whatever order and
batches it is read. The original rows are then read by position.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from coterie.arrays import Int64, UInt64
from coterie.files.tables import Source
from coterie.publishing.labels import roots_of, style_of
from coterie.publishing.publish import PublishedTable, read_boxes
from coterie.releases.place import HeldRows
from coterie.table.encode import EncodedTable
from coterie.table.grouping import Grouping
from coterie.table.table import Table
from coterie.values.notation import published_names
from coterie.values.plain import plain_array
from coterie.verification.verify import verify_table

if TYPE_CHECKING:
    from coterie.files.batches import TableFile
    from coterie.settings.config import Config
    from coterie.table.codebook import Codebook

SAMPLE = 20_000
"""the approximate number of rows of a sample"""
_MIX = np.uint64(0x9E3779B97F4A7C15)


def sample_of(
    published: Iterator[pa.RecordBatch],
    original: TableFile,
    book: Codebook,
    *,
    positions: Callable[[Int64], Int64],
    rows: int,
) -> HeldRows:
    """Draw whole classes of a release with this many rows, together with their original rows.

    `positions` turns ascending places in the release into positions in the original.
    """
    config = book.config
    after, places = _drawn(published, config, share=min(1.0, SAMPLE / max(rows, 1)))
    found_at = positions(places)
    order = np.argsort(found_at, kind="stable")
    after, found_at = after.take(pa.array(order)), found_at[order]
    before = _rows_at(original, found_at)
    coded = book.encode(before, found_at)
    table = Table(coded.codes, book.domains, coded.sensitive, book.sensitive, config.leaf_counts)
    roots = roots_of(book.domains, config.publish)
    found = verify_table(after, quasi=config.quasi, roots=roots)
    inside = np.flatnonzero(coded.keep)
    grouping = _grouping(after.take(pa.array(inside)), table, found.class_of_row[inside], config)
    alone = np.arange(grouping.groups, dtype=np.int32)
    return HeldRows(
        source=_source(original, before),
        encoded=EncodedTable(table, inside, book),
        grouping=grouping,
        published=PublishedTable(after, np.arange(len(found_at)), alone, roots),
        verification=found,
        complete=False,
    )


def _drawn(batches: Iterator[pa.RecordBatch], config: Config, *, share: float) -> tuple[pa.Table, Int64]:
    """Return the rows of the drawn classes, and their positions in the release."""
    parts, places, start = [], [], 0
    for batch in batches:
        names = published_names(batch.schema.names, config.quasi)
        marks = class_marks([batch.column(name) for name in names], batch.num_rows)
        chosen = np.flatnonzero(marks <= np.uint64(min(int(share * 2.0**64), 2**64 - 1)))
        parts.append(pa.Table.from_batches([batch]).take(pa.array(chosen)))
        places.append(chosen + start)
        start += batch.num_rows
    return pa.concat_tables(parts), np.concatenate(places)


def class_marks(columns: Sequence[pa.Array], rows: int) -> UInt64:
    """Return row → a uniform hash of its cells."""
    marks = np.zeros(rows, dtype=np.uint64)
    for column in columns:
        cells = plain_array(column)
        if pa.types.is_null(cells.type):
            cells = cells.cast(pa.string())
        encoded = cells.dictionary_encode()
        texts = encoded.dictionary.cast(pa.string()).to_pylist()
        digests = [hashlib.blake2b(each.encode(), digest_size=8).digest() for each in texts]
        numbers = np.append(np.frombuffer(b"".join(digests), dtype="<u8"), _MIX).astype(np.uint64)
        index = encoded.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
        marks = (marks ^ numbers[index]) * _MIX
        marks ^= marks >> np.uint64(29)
    return marks * _MIX


def _rows_at(table: TableFile, positions: Int64) -> pa.Table:
    """Return the rows of a table at some positions, ascending."""
    parts, start = [], 0
    for batch in table.batches():
        first, last = np.searchsorted(positions, [start, start + batch.num_rows])
        parts.append(pa.Table.from_batches([batch]).take(pa.array(positions[first:last] - start)))
        start += batch.num_rows
    return pa.concat_tables(parts)


def _grouping(published: pa.Table, table: Table, labels: Int64, config: Config) -> Grouping:
    """Group rows into classes of equal published cells, with the boxes of these cells."""
    grouping = Grouping.of(table.codes, labels)
    first = np.unique(grouping.labels, return_index=True)[1]
    cells = published.take(pa.array(first))
    for at, domain in enumerate(table.domains):
        style = style_of(domain, config.publish)
        if style in ("mean", "median"):
            continue  # they do not determine a range, so boxes are drawn around the rows
        names = published_names(published.column_names, [domain.name])
        upper = cells.column(names[1]) if len(names) > 1 else None
        boxes = read_boxes(cells.column(names[0]), domain, upper=upper, style=style)
        grouping.lo[:, at], grouping.hi[:, at] = boxes.lo, boxes.hi
    return grouping


def _source(original: TableFile, rows: pa.Table) -> Source:
    path = original.parts[0].path
    return Source(
        rows,
        "file",
        original.name,
        path=path if path is None or len(original.parts) == 1 else path.parent,
        sha256=original.stamp.sha256,
        format=original.format,
        dialect=None if original.sniffed is None else original.sniffed.dialect,
        origin=None if path is None else Path(path),
    )
