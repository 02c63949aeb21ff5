"""Check that a release belongs to its original: every original value lies inside its published cell.

Counts of equal rows do not show that: a release whose boxes are those of other rows is as anonymous as the right one.
So both tables are read side by side, the published cells as the judge reads them: nothing here is shared with what
groups and publishes rows. A mean or median is compared with all originals of its class: see `centres`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.arrays import Bool, Int64, Integers, in_threads
from coterie.engines.centres import Centres
from coterie.errors import DataError, VerificationError
from coterie.files.csv_out import text_cells
from coterie.verification.ancestors import cell_texts
from coterie.verification.cells import MARK, ColumnCells, TableCells, read_cells
from coterie.verification.readings import (
    ANY,
    Reading,
    Readings,
    Shown,
    SingleValue,
    interval_ends,
    numbered,
    read_both,
)
from coterie.wording import shortened

if TYPE_CHECKING:
    from coterie.settings.config import Config


def count_strangers(
    original: pa.Table,
    published: pa.Table,
    config: Config,
    *,
    kept: Int64 | None = None,
    read: TableCells | None = None,
    centres: Centres | None = None,
) -> Counter[str]:
    """Return column → rows whose published cell does not hold their original value, or is not the same if unchanged.

    Args:
        original: Rows of the original, at least with the columns that are published.
        published: The same rows of the release.
        config: Roles, hierarchies and publishing styles.
        kept: Row of the release → row of the original, if these are not the same.
        read: The cells of the release, if others read them as well.
        centres: Collects means and medians if these are only some of the rows: their classes may have others.
    """
    same = kept is None or np.array_equal(kept, np.arange(original.num_rows))
    rows = slice(None) if same or kept is None else kept
    read = TableCells(published) if read is None else read
    held = centres or Centres(config)
    held.add(original, published, rows)
    found = held.strangers() if centres is None else Counter[str]()
    within = [name for name in config.quasi if name not in held.styles]

    def outside(name: str) -> int:
        return _outside(_own(original, name, rows), read, published.column_names, config, name)

    found.update(dict(zip(within, in_threads(outside, within), strict=True)))
    for name in config.published_unchanged.intersection(published.column_names, original.column_names):
        found[name] = _altered(original, published, name, rows)
    return +found


def refuse_strangers(found: Mapping[str, int]) -> None:
    """Raise a VerificationError if some rows are published with cells of others."""
    if found:
        raise VerificationError(
            f"The release does not belong to its original: {max(found.values()):,} rows or more are published with "
            f"values that are not theirs, in {shortened(sorted(found))}."
        )


def _own(original: pa.Table, name: str, kept: Int64 | slice) -> ColumnCells:
    """Read a column of the original; rows are chosen when it is read, since Arrow cannot choose from all types."""
    cells = read_cells(original.column(name), name=name)
    return ColumnCells(cells.values, cells.of_row[kept])


def _outside(own: ColumnCells, published: TableCells, names: Sequence[str], config: Config, name: str) -> int:
    """Count the rows of a quasi-identifier whose published cell does not hold their value."""
    ends = [name] if name in names else [f"{name}_min", f"{name}_max"]
    cells = [published[end] for end in ends]
    hierarchy = config.hierarchies.get(name)
    form = None if hierarchy is None or config.publish.get(name) == "set" else hierarchy.form

    def texts(values: pa.Array) -> list[str | None]:
        return [*(text_cells(values).to_pylist() if form is None else cell_texts(values, name=name)), None]

    def read(owned: Sequence[str | None]) -> Readings:
        kind = "category" if config.types.get(name) == "category" else None
        order = config.ordered.get(name, ())
        return read_both(owned, shown, form=form, kind=kind, type_=own.values.type, name=name, order=order)

    try:
        exact, (shown, of_row) = texts(own.values), _shown(cells, [_or_missing(texts(each.values)) for each in cells])
    except pa.ArrowException:
        return 0
    owned = _or_missing(exact)
    readings = read(owned)
    unread = any(isinstance(each, SingleValue) and each.text is not None for each in readings[1])
    if form is None and pa.types.is_temporal(own.values.type) and unread:
        readings = _times(own.values.type, owned, shown) or readings
    if len(ends) == 2:  # bounds cannot contain `*`; a missing cell means it
        readings = readings[0], [ANY if cell is None else each for cell, each in zip(shown, readings[1], strict=True)]
    distinct, counts = _pairs(own.of_row * np.int64(len(shown)) + of_row, len(owned) * len(shown))
    value, cell = np.divmod(distinct, len(shown))
    inside = _held(readings[0], readings[1], value, cell)
    empty = np.array([text == "" for text in exact], dtype=np.bool_)
    if empty.any():  # sets and trees have empty texts as values
        inside |= empty[value] & _held(*read(exact), value, cell)
    return int(counts[~inside].sum())


def _or_missing(texts: Sequence[str | None]) -> list[str | None]:
    """Return texts with empty ones as missing: a text file has nothing else for a missing cell."""
    return [text or None for text in texts]


def _pairs(numbers: Int64, possible: int) -> tuple[Int64, Int64]:
    """Return the distinct numbers, and how often each occurs; counting is faster than sorting while there is room."""
    if possible > max(len(numbers), 1 << 20):
        return np.unique(numbers, return_counts=True)
    counts = np.bincount(numbers, minlength=possible)
    distinct = np.flatnonzero(counts)
    return distinct, counts[distinct]


def _shown(cells: Sequence[ColumnCells], texts: Sequence[list[str | None]]) -> tuple[list[Shown], Integers]:
    """Return the distinct cells of a column, or of two that are read as one; and row → cell."""
    if len(cells) == 1:
        return list(texts[0]), cells[0].of_row
    pairs, of_row = np.unique(cells[0].of_row * np.int64(len(texts[1])) + cells[1].of_row, return_inverse=True)
    low, high = np.divmod(pairs, len(texts[1]))
    both = [(texts[0][a], texts[1][b]) for a, b in zip(low, high, strict=True)]
    return [None if pair == (None, None) else (pair[0] or "", pair[1] or "") for pair in both], of_row.astype(np.int64)


def _held(own: Sequence[Reading], shown: Sequence[Reading], value: Int64, cell: Int64) -> Bool:
    """Return pair of an original value and a published cell → whether the cell admits the value."""
    values, cells = numbered(own, shown)
    inside: Bool = (cells[cell, 0] <= values[value, 0]) & (values[value, 1] <= cells[cell, 1])
    sets = np.array([isinstance(each, frozenset) for each in shown], dtype=np.bool_)
    for at in np.flatnonzero(sets[cell]):
        one, members = own[value[at]], shown[cell[at]]
        assert isinstance(members, frozenset)
        inside[at] = isinstance(one, SingleValue) and one.text in members
    return inside


def _times(kind: pa.DataType, own: Sequence[str | None], shown: Sequence[Shown]) -> Readings | None:
    """Read times of day, and dates beyond the calendar, as Arrow writes them; None if they cannot be read."""
    texts = {
        text
        for cell in (*own, *shown)
        if cell is not None and cell != MARK
        for text in (interval_ends(cell) if isinstance(cell, str) else cell)
    }
    number: dict[str, Any] = {text: text for text in texts}  # times of day are in order as texts, too
    if not pa.types.is_time(kind):
        width = pa.int32() if kind.bit_width == 32 else pa.int64()
        try:
            number = {text: pa.array([text]).cast(kind).cast(width)[0].as_py() for text in texts}
        except pa.ArrowException:
            return None

    def reading(cell: Shown) -> Reading:
        if cell is None or cell == MARK:
            return SingleValue(None) if cell is None else ANY
        low, high = interval_ends(cell) if isinstance(cell, str) else cell
        return number.get(low), number.get(high)

    return [reading(cell) for cell in own], [reading(cell) for cell in shown]


def _altered(original: pa.Table, published: pa.Table, name: str, kept: Int64 | slice) -> int:
    """Count the rows of a column that is published unchanged whose cells differ."""
    before, after = original.column(name), published.column(name)
    if isinstance(kept, slice) and before.type == after.type and before.equals(after):
        return 0
    try:
        own, shown = _own(original, name, kept), read_cells(after, name=name)
        values, cells = own.values, shown.values
        if values.type != cells.type or pa.types.is_string_view(cells.type):
            values, cells = text_cells(values).cast(pa.large_string()), text_cells(cells).cast(pa.large_string())
        place = pc.index_in(cells, value_set=values).fill_null(-1).to_numpy(zero_copy_only=False)
        if pa.types.is_large_string(cells.type) or pa.types.is_string(cells.type):
            # In a text file, a missing cell may be an empty one.
            place = np.where(pc.equal(cells, "").to_numpy(zero_copy_only=False) & (place < 0), len(values), place)
    except (pa.ArrowException, DataError):
        # Lists and structs have no dictionary, but can be compared directly.
        rows = before if isinstance(kept, slice) else before.take(pa.array(kept))
        return 0 if rows.type != after.type or rows.equals(after) else len(after)
    return int(np.count_nonzero(np.append(place, len(values))[shown.of_row] != own.of_row))
