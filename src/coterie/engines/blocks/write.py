"""Write a release from finished blocks: read the table once more, and write its rows in their original order."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.engines.blocks.store import BlockStore, join_pieces
from coterie.engines.finished import FinishedBlock
from coterie.files.door import UsedLevels, bare_table
from coterie.publishing.publish import as_type_of, keep_rows
from coterie.publishing.suppressed import published_as

if TYPE_CHECKING:
    from coterie.engines.plan import Plan
    from coterie.files.batches import TableFile
    from coterie.methods._method import Progress
    from coterie.table.domain import Domain


class Publisher(NamedTuple):
    """Combines published quasi-identifiers and unchanged columns, a stripe of rows at a time."""

    table: TableFile
    plan: Plan
    store: BlockStore
    finished: tuple[FinishedBlock, ...]
    show_suppressed: bool
    """whether suppressed rows are shown as `*`; otherwise they are left out"""
    suppressed: int
    """the number of suppressed rows"""
    one_dictionary: bool = False
    """whether a column has the same dictionary in all stripes, as Feather requires"""

    @property
    def unchanged(self) -> dict[str, Domain]:
        """Quasi-identifiers that are published unchanged in every block."""
        if self.suppressed and self.show_suppressed:
            return {}
        sums = [each.sums for each in self.finished]
        return {
            domain.name: domain
            for at, domain in enumerate(self.plan.book.domains)
            if all(each.unchanged[at] for each in sums)
        }

    def stripes(self, progress: Progress | None = None) -> Iterator[pa.Table]:
        """Yield the release in row order."""
        unchanged = self.unchanged
        names = {domain.name: published_as(domain, self.plan.book.config.publish) for domain in self.plan.book.domains}
        published = {
            column: what for name, columns in names.items() if name not in unchanged for column, what in columns.items()
        }
        levels = self._levels(unchanged) if self.one_dictionary else {}
        done = 0
        for number, original in enumerate(self._originals(unchanged)):
            found = [self.store.piece(block, each, number) for block, each in enumerate(self.finished)]
            made = join_pieces(
                [piece for piece in found if piece is not None],
                rows=original.num_rows,
                published=published,
                unchanged=unchanged,
                show_suppressed=self.show_suppressed,
            )
            joined = self._joined(original, made.columns, made.kept, names=names, unchanged=unchanged)
            yield bare_table(joined, levels=levels)
            done += original.num_rows
            if progress is not None:
                progress("write", done, self.plan.book.all_rows)

    def _originals(self, unchanged: dict[str, Domain], only: Container[str] | None = None) -> Iterator[pa.Table]:
        """Yield the columns that are published unchanged, or some, by stripe; also those whose type must be kept."""
        config = self.plan.book.config
        shown = config.published_unchanged.union(unchanged)
        wanted = [name for name in self.table.schema.names if name in shown and (only is None or name in only)]
        # Rows have to be counted even where no column is left.
        counting = wanted or [self.table.schema.names[0]]
        waiting: list[pa.RecordBatch] = []
        held = 0
        for batch in self.table.batches(counting):
            waiting.append(batch)
            held += batch.num_rows
            while held >= self.store.stripe_rows:
                whole = pa.Table.from_batches(waiting)
                yield whole.slice(0, self.store.stripe_rows)
                rest = whole.slice(self.store.stripe_rows)
                waiting, held = rest.to_batches(), rest.num_rows
        if held:
            yield pa.Table.from_batches(waiting)

    def _levels(self, unchanged: dict[str, Domain]) -> dict[str, pa.Array]:
        """Return column → the dictionary values that some published row has, in a pass before writing.

        While writing stripe by stripe, a later stripe's values would come too late for a file already begun.
        """
        shown = self.plan.book.config.published_unchanged.union(unchanged)
        found = {
            field.name: UsedLevels.none(field.type)
            for field in self.table.schema
            if pa.types.is_dictionary(field.type) and field.name in shown
        }
        if not found:
            return {}
        for number, original in enumerate(self._originals(unchanged, only=found)):
            if self.suppressed and not self.show_suppressed:
                kept = self.store.published(self.finished, number, original.num_rows)
                original = original.filter(pa.array(kept))
            found = {name: before.joined(original.column(name)) for name, before in found.items()}
        return {name: each.used for name, each in found.items()}

    def _joined(
        self,
        original: pa.Table,
        cells: dict[str, pa.Array],
        kept: np.ndarray[Any, np.dtype[np.int64]],
        *,
        names: dict[str, dict[str, Any]],
        unchanged: dict[str, Domain],
    ) -> pa.Table:
        fields: list[pa.Field] = []
        arrays: list[pa.ChunkedArray] = []
        for field in self.table.schema:
            if field.name in unchanged:
                column = pa.chunked_array([cells[field.name]])
                arrays.append(as_type_of(original.column(field.name), column))
                fields.append(pa.field(field.name, field.type))
            elif field.name in names:
                for name in names[field.name]:
                    arrays.append(pa.chunked_array([cells[name]]))
                    fields.append(pa.field(name, cells[name].type))
            elif field.name in self.plan.book.config.published_unchanged:
                arrays.append(keep_rows(original.column(field.name), kept))
                fields.append(field)
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))
