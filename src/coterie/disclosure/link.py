"""Match the rows of two tables whose cells are compatible.

The first is a release; the second are known people, a population, or rows that will join the release.

Equal rows are one class on either side. A tree over the classes of the first table is walked once for each class of
the second, so that most pairs are never visited.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import Float64, Int32, Int64
from coterie.disclosure.link_cells import Column, Extents, Unknown, read_column, space_of
from coterie.errors import Problem, refuse
from coterie.values.codes import Codes, first_rows, row_classes
from coterie.values.notation import columns_of

if TYPE_CHECKING:
    from coterie.kernels.link import Boxes, BoxTree
    from coterie.settings.config import Config

# The number of pairs in memory at once.
PAIRS = 2**22
# A leaf of the tree has at most this many boxes.
BUCKET = 8


@dataclass(frozen=True, eq=False)
class LinkSide:
    """One of the two tables: its rows in classes of equal rows, each a box of codes."""

    class_of_row: Int64
    sizes: Int64
    """class → rows"""
    first: Int64
    """class → its first row"""
    lo: Int32
    hi: Int32
    set_of: Int32

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.sizes)

    def histogram(self, codes: Int64, size: int) -> tuple[Int64, Int64, Int64]:
        """Return class → the codes of a column in its rows, and how many rows each has, as (starts, codes, counts)."""
        pairs, counts = np.unique(self.class_of_row * size + codes, return_counts=True)
        starts = np.searchsorted(pairs // size, np.arange(self.classes + 1))
        return starts.astype(np.int64), (pairs % size).astype(np.int64), counts.astype(np.int64)

    @property
    def boxes(self) -> Boxes:
        """The classes in the form that kernels take."""
        from coterie.kernels.link import Boxes

        return Boxes(self.lo, self.hi, self.set_of)


class Pairs(NamedTuple):
    """The matching classes of the two tables."""

    start: int
    """the first class of the second table in this piece"""
    found: Int64
    """class of the second table, from `start` on → number of matches"""
    met: Int32
    """the matching classes, one class of the second table after another"""


@dataclass(frozen=True, eq=False)
class Link:
    """Two tables in one set of codes."""

    first: LinkSide
    second: LinkSide
    sizes: tuple[int, ...]
    """column → number of codes"""
    sets: Int64
    """set → where its members begin; one more entry at the end"""
    members: Int32

    @cached_property
    def _tree(self) -> BoxTree:
        return _plant(self.first.lo, self.first.hi, self.sizes)

    def pairs(self) -> Iterator[Pairs]:
        """Yield all pairs of matching classes, in pieces of bounded size."""
        from coterie.kernels.link import matches

        found = np.zeros(self.second.classes, dtype=np.int64)
        if not self.first.classes:
            yield Pairs(0, found, np.zeros(0, dtype=np.int32))
            return
        room = np.empty(PAIRS + self.first.classes, dtype=np.int32)
        start = 0
        while start < self.second.classes:
            end, filled = matches(
                self._tree, self.first.boxes, self.second.boxes, self.sets, self.members, start, found, room
            )
            yield Pairs(start, found[start:end], room[:filled].copy())
            start = end

    def candidates(self) -> Int64:
        """Return class of the second table → matching rows of the first."""
        from coterie.kernels.link import weigh

        parts = [weigh(pairs.found, pairs.met, self.first.sizes) for pairs in self.pairs()]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def link_tables(
    first: pa.Table,
    second: pa.Table,
    *,
    on: Sequence[str],
    config: Config,
    published: tuple[bool, bool] = (True, False),
    unknown: Unknown = "any",
) -> Link:
    """Encode two tables with one set of codes.

    Args:
        first: A table, such as a release.
        second: Another one, such as known people.
        on: The columns to match, by their names before publishing.
        config: Hierarchies, types and publishing styles.
        published: Which of the two is a release.
        unknown: What a missing cell admits.
    """
    check_names(first, on, published=published[0], what="the first table" if not published[0] else "the release")
    check_names(second, on, published=published[1], what="the second table")
    columns = [
        [read_column(table, name, published=flag) for name in on]
        for table, flag in zip((first, second), published, strict=True)
    ]
    spaces = [
        space_of(*pair, name=name, config=config, unknown=unknown) for name, *pair in zip(on, *columns, strict=True)
    ]
    lengths = [len(codes) for space in spaces for codes in space.sets]
    sets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    members = np.asarray([code for space in spaces for codes in space.sets for code in codes], dtype=np.int32)
    offsets = np.cumsum([0, *(len(space.sets) for space in spaces)])
    one = _side(columns[0], [space.first for space in spaces], offsets)
    two = _side(columns[1], [space.second for space in spaces], offsets)
    return Link(one, two, tuple(space.size for space in spaces), sets, members)


def check_names(table: pa.Table, on: Sequence[str], *, published: bool, what: str) -> None:
    """Raise a ConfigError with every column that a table lacks."""
    problems = [] if on else [Problem("on", "is empty; list the known attributes, such as age,zip")]
    for name in on:
        wanted = columns_of(name, table.column_names) if published else (name,)
        if not set(wanted) <= set(table.column_names):
            problems.append(Problem("on", f"{what} has no column {name!r}"))
    refuse(problems)


def _side(columns: Sequence[Column], extents: Sequence[Extents], offsets: Int64) -> LinkSide:
    """Group rows into classes, and classes into boxes."""
    codes = [Codes(column.of_row, len(column.cells), -1, pa.nulls(0)) for column in columns]
    class_of_row, classes = row_classes(codes)
    first = first_rows(class_of_row, classes)
    lo, hi, set_of = (np.empty((classes, len(columns)), dtype=np.int32) for _ in range(3))
    for at, (column, extent) in enumerate(zip(columns, extents, strict=True)):
        cell = column.of_row[first]
        lo[:, at], hi[:, at] = extent.lo[cell], extent.hi[cell]
        chosen = extent.set_of[cell]
        set_of[:, at] = np.where(chosen >= 0, chosen + offsets[at], -1)
    sizes = np.bincount(class_of_row, minlength=classes).astype(np.int64)
    return LinkSide(class_of_row, sizes, first, lo, hi, set_of)


def _plant(lo: Int32, hi: Int32, sizes: tuple[int, ...]) -> BoxTree:
    """Build a tree over at least one box, halved repeatedly at the midpoints of the widest side.

    It is built level by level with one sort each, so that there is no loop over boxes and nothing to compile. The
    numbers of codes, `sizes`, make columns comparable.
    """
    from coterie.kernels.link import BoxTree

    count, columns = lo.shape
    middles = (lo.astype(np.float64) + hi) / np.maximum(np.asarray(sizes, dtype=np.float64), 1.0)
    order = np.arange(count)
    levels = [np.array([0, count])]
    while np.diff(levels[-1]).max() > BUCKET:
        bounds = levels[-1]
        order = _sorted_by_widest(order, middles, bounds)
        halves = (bounds[:-1] + bounds[1:]) // 2
        finer = np.empty(2 * len(bounds) - 1, dtype=np.int64)
        finer[::2], finer[1::2] = bounds, halves
        levels.append(finer)
    node_lo, node_hi = ([np.empty((0, columns), dtype=np.int32)] * len(levels) for _ in range(2))
    leaves = levels[-1]
    node_lo[-1] = np.minimum.reduceat(lo[order], leaves[:-1])
    node_hi[-1] = np.maximum.reduceat(hi[order], leaves[:-1])
    for level in range(len(levels) - 2, -1, -1):
        node_lo[level] = np.minimum(node_lo[level + 1][::2], node_lo[level + 1][1::2])
        node_hi[level] = np.maximum(node_hi[level + 1][::2], node_hi[level + 1][1::2])
    return BoxTree(
        order=order.astype(np.int32),
        start=np.concatenate([bounds[:-1] for bounds in levels]).astype(np.int32),
        end=np.concatenate([bounds[1:] for bounds in levels]).astype(np.int32),
        inner=sum(len(bounds) - 1 for bounds in levels[:-1]),
        lo=np.ascontiguousarray(np.concatenate(node_lo)),
        hi=np.ascontiguousarray(np.concatenate(node_hi)),
    )


def _sorted_by_widest(order: Int64, middles: Float64, bounds: Int64) -> Int64:
    """Return the order, sorted within each part by the column in which the part's boxes lie furthest apart."""
    placed = middles[order]
    spread = np.maximum.reduceat(placed, bounds[:-1]) - np.minimum.reduceat(placed, bounds[:-1])
    part = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    key = placed[np.arange(len(order)), np.argmax(spread, axis=1)[part]]
    sorted_order: Int64 = order[np.lexsort((key, part))]
    return sorted_order
