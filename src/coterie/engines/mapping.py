"""The mapping of a release made in blocks: block by block, with consecutive group numbers, never in memory whole."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyarrow import ipc

from coterie.engines.block import BlockResult, packed
from coterie.files.output import whole_file
from coterie.files.streams import target_of, write_tables
from coterie.publishing.mapping import groups_table, suppressed_table, with_share
from coterie.table.grouping import Grouping

if TYPE_CHECKING:
    from coterie.engines.plan import Plan
    from coterie.files.batches import TableFile
    from coterie.measures.sums import BlockSums


def block_mapping(result: BlockResult, plan: Plan) -> bytes:
    """Return the published values of a block's groups, packed; its groups begin with 0."""
    shown = Grouping(result.group, result.lo, result.hi)
    table = groups_table(
        plan.book.domains, shown, result.labels, leaf_counts=plan.book.config.leaf_counts
    ).combine_chunks()
    return packed(table, compression="zstd")


def join_mappings(
    path: str | os.PathLike[str],
    plan: Plan,
    sums: BlockSums,
    parts: Sequence[Path],
    *,
    removed: bool,
    force: bool,
    like: TableFile | None = None,
) -> None:
    """Write the mapping of a whole release atomically.

    Args:
        path: A file; its extension determines the format.
        plan: The plan.
        sums: Those of all blocks, suppressed rows included.
        parts: Block → file with the result of `block_mapping`.
        removed: Whether suppressed rows are left out of the release.
        force: Whether an existing file may be overwritten.
        like: The table whose delimiter, encoding and quoting a text file keeps.
    """
    target = target_of(path, force=True, like=like, formulas=plan.book.config.formulas)
    with whole_file(path, force=force) as sink:
        write_tables(_tables(plan, sums, parts, removed=removed), sink, target)


def _tables(plan: Plan, sums: BlockSums, parts: Sequence[Path], *, removed: bool) -> Iterator[pa.Table]:
    """Yield the lines, a block at a time; suppressed rows come last."""
    domains = plan.book.domains
    weights = np.array([domain.weight for domain in domains])
    total = float((sums.losses[:, 0] * weights).sum())
    before = 0
    for path in parts:
        with ipc.open_stream(path.read_bytes()) as reader:
            table = reader.read_all()
        group = pa.array(table.column("group").to_numpy() + np.int32(before), pa.int32())
        yield with_share(table.set_column(0, "group", group), total)
        before += table.num_rows // len(domains)
    if sums.suppressed:
        publish = None if removed else plan.book.config.publish
        yield with_share(suppressed_table(domains, sums.suppressed, publish), total)
