"""Write a release from finished blocks: read the table once more, and write its rows in their original order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from coterie.arrays import Int64
from coterie.engines.blocks.store import FinishedTable, join_pieces
from coterie.files.batches import without_rows
from coterie.files.door import UsedLevels
from coterie.publishing.publish import Publisher
from coterie.verification.sql import RowReader

if TYPE_CHECKING:
    from coterie.methods._method import Progress


@dataclass(frozen=True, eq=False)
class BlockStripes:
    """A release in row order: published quasi-identifiers and untouched columns, a stripe of rows at a time."""

    made: FinishedTable
    shown: bool
    """whether suppressed rows are shown as `*`; otherwise they are left out"""
    removed: Int64
    """the rows that are left out"""
    starred: bool
    """whether there are suppressed rows that are shown"""
    one_dictionary: bool = False
    """whether a column has the same dictionary in all stripes, as Feather requires"""

    @cached_property
    def publisher(self) -> Publisher:
        """What puts columns together."""
        book = self.made.plan.book
        return Publisher(tuple(self.made.original.schema.names), book.domains, book.config)

    @cached_property
    def own(self) -> frozenset[str]:
        """Quasi-identifiers that are published with their own values in every block."""
        unchanged = [all(flags) for flags in zip(*(each.sums.unchanged for each in self.made.finished), strict=True)]
        return self.publisher.own(unchanged, starred=self.starred)

    def stripes(self, progress: Progress | None = None) -> Iterator[pa.Table]:
        """Yield the release in row order."""
        sources = {column.name: column.source for column in self.publisher.columns}
        published = {name: what for name, what in self.publisher.suppressed.items() if sources[name] not in self.own}
        own = {domain.name: domain for domain in self.publisher.domains if domain.name in self.own}
        levels = self._levels() if self.one_dictionary else {}
        # Rows must be counted even if no column is left.
        originals = RowReader(self.made.original.batches(self._kept or [self.publisher.names[0]]))
        done = 0
        for number, rows in self.made.stripes():
            original = originals.take(rows)
            made = join_pieces(
                [piece for _, piece in self.made.pieces(number)],
                rows=rows,
                published=published,
                unchanged=own,
                show_suppressed=self.shown,
            )
            yield self.publisher.table(original, made.columns, kept=made.kept, own=self.own, levels=levels)
            done += rows
            if progress is not None:
                progress("write", done, self.made.plan.book.all_rows)

    @property
    def _kept(self) -> list[str]:
        """The columns of the original that are published as they are, or keep their type."""
        shown = self.publisher.config.published_unchanged.union(self.own)
        return [name for name in self.publisher.names if name in shown]

    def _levels(self) -> dict[str, pa.Array]:
        """Column → the values of its dictionary that some published row holds: read once more, before any is written.

        While writing stripe by stripe, a later stripe's values would come too late for a file already begun.
        """
        original = self.made.original
        fields = [original.schema.field(name) for name in self._kept]
        found = {field.name: UsedLevels.none(field.type) for field in fields if pa.types.is_dictionary(field.type)}
        if not found:
            return {}
        for batch in without_rows(original.batches(list(found)), self.removed):
            columns = pa.Table.from_batches([batch])
            found = {name: before.joined(columns.column(name)) for name, before in found.items()}
        return {name: each.used for name, each in found.items()}
