"""The mapping of a release made in blocks: block by block, with consecutive group numbers, never in memory whole."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyarrow import ipc

from coterie.files.output import whole_file
from coterie.files.streams import target_of, write_tables
from coterie.publishing.mapping import groups_table, suppressed_table, with_share
from coterie.publishing.suppressed import published_as
from coterie.table.grouping import Grouping

if TYPE_CHECKING:
    from coterie.engines.block import BlockResult
    from coterie.engines.plan import Plan
    from coterie.files.batches import TableFile
    from coterie.measures.sums import BlockSums


def block_mapping(result: BlockResult, plan: Plan) -> bytes:
    """Return the published values of a block's groups, packed; its groups begin with 0."""
    shown = Grouping(result.group, result.lo, result.hi)
    table = groups_table(
        plan.book.domains, shown, result.labels, leaf_counts=plan.book.config.leaf_counts
    ).combine_chunks()
    sink = io.BytesIO()
    with ipc.new_stream(sink, table.schema, options=ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    return sink.getvalue()


@dataclass(frozen=True, eq=False)
class WholeMapping:
    """The mapping of a whole release."""

    plan: Plan
    sums: BlockSums
    """of all blocks, suppressed rows included"""
    parts: Sequence[Path]
    """block → file with the result of `block_mapping`"""
    removed: bool
    """whether suppressed rows are left out of the release"""

    def tables(self) -> Iterator[pa.Table]:
        """Yield its lines, a block at a time; suppressed rows come last."""
        domains = self.plan.book.domains
        weights = np.array([domain.weight for domain in domains])
        total = float((self.sums.losses[:, 0] * weights).sum())
        before = 0
        for path in self.parts:
            with ipc.open_stream(path.read_bytes()) as reader:
                table = reader.read_all()
            groups = table.num_rows // len(domains)
            group = pa.array(table.column("group").to_numpy() + np.int32(before), pa.int32())
            yield with_share(table.set_column(0, "group", group), total)
            before += groups
        if self.sums.suppressed:
            texts = {} if self.removed else {domain.name: self._text(at) for at, domain in enumerate(domains)}
            yield with_share(suppressed_table(domains, self.sums.suppressed, texts), total)

    def _text(self, at: int) -> str | None:
        """Return the published text of a suppressed row; empty if it is a number."""
        book = self.plan.book
        shown = [value for _, value in published_as(book.domains[at], book.config.publish).values()]
        return str(shown[0]) if len(shown) == 1 and shown[0] is not None else None

    def write(self, path: str | os.PathLike[str], *, force: bool, like: TableFile | None = None) -> None:
        """Write it atomically.

        Args:
            path: A file; its extension determines the format.
            force: Whether an existing file may be overwritten.
            like: The table whose delimiter, encoding and quoting a text file keeps.
        """
        target = target_of(path, force=True, like=like, formulas=self.plan.book.config.formulas)
        with whole_file(path, force=force) as sink:
            write_tables(self.tables(), sink, target)
