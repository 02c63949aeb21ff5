"""Write a release from finished blocks: read the table once more, and write its rows in their original order."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from coterie.engines.blocks.source import stretches
from coterie.engines.blocks.store import BlockStore, join_pieces
from coterie.engines.finished import FinishedBlock
from coterie.files.door import UsedLevels
from coterie.publishing.publish import Publisher

if TYPE_CHECKING:
    from coterie.engines.plan import Plan
    from coterie.files.batches import TableFile
    from coterie.methods._method import Progress


@dataclass(frozen=True, eq=False)
class BlockStripes:
    """A release in row order: published quasi-identifiers and untouched columns, a stripe of rows at a time."""

    original: TableFile
    plan: Plan
    store: BlockStore
    finished: tuple[FinishedBlock, ...]
    show_suppressed: bool
    """whether suppressed rows are shown as `*`; otherwise they are left out"""
    suppressed: int
    """the number of suppressed rows"""
    one_dictionary: bool = False
    """whether a column has the same dictionary in all stripes, as Feather requires"""

    @cached_property
    def publisher(self) -> Publisher:
        """What puts columns together."""
        return Publisher(tuple(self.original.schema.names), self.plan.book.domains, self.plan.book.config)

    @cached_property
    def own(self) -> frozenset[str]:
        """Quasi-identifiers that are published with their own values in every block."""
        unchanged = [all(flags) for flags in zip(*(each.sums.unchanged for each in self.finished), strict=True)]
        return self.publisher.own(unchanged, starred=self.show_suppressed and self.suppressed > 0)

    def stripes(self, progress: Progress | None = None) -> Iterator[pa.Table]:
        """Yield the release in row order."""
        sources = {column.name: column.source for column in self.publisher.columns}
        published = {name: what for name, what in self.publisher.suppressed.items() if sources[name] not in self.own}
        own = {domain.name: domain for domain in self.plan.book.domains if domain.name in self.own}
        levels = self._levels() if self.one_dictionary else {}
        done = 0
        for number, original in enumerate(self._originals()):
            found = [self.store.piece(block, each, number) for block, each in enumerate(self.finished)]
            made = join_pieces(
                [piece for piece in found if piece is not None],
                rows=original.num_rows,
                published=published,
                unchanged=own,
                show_suppressed=self.show_suppressed,
            )
            yield self.publisher.table(original, made.columns, kept=made.kept, own=self.own, levels=levels)
            done += original.num_rows
            if progress is not None:
                progress("write", done, self.plan.book.all_rows)

    def _originals(self, only: Collection[str] | None = None) -> Iterator[pa.Table]:
        """Read the columns that are published as they are, or some, by stripe; also those whose type is kept."""
        shown = self.plan.book.config.published_unchanged.union(self.own)
        wanted = [name for name in self.publisher.names if name in shown and (only is None or name in only)]
        # Rows have to be counted even where no column is left.
        return stretches(self.original, wanted or [self.publisher.names[0]], rows=self.store.stripe_rows)

    def _levels(self) -> dict[str, pa.Array]:
        """Column → the values of its dictionary that some published row holds: read once more, before any is written.

        While writing stripe by stripe, a later stripe's values would come too late for a file already begun.
        """
        shown = self.plan.book.config.published_unchanged.union(self.own)
        found = {
            field.name: UsedLevels.none(field.type)
            for field in self.original.schema
            if pa.types.is_dictionary(field.type) and field.name in shown
        }
        if not found:
            return {}
        for number, original in enumerate(self._originals(only=found)):
            if self.suppressed and not self.show_suppressed:
                kept = self.store.published(self.finished, number, original.num_rows)
                original = original.filter(pa.array(kept))
            found = {name: before.joined(original.column(name)) for name, before in found.items()}
        return {name: each.used for name, each in found.items()}
