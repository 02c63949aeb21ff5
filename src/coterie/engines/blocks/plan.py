"""Plan a release in blocks: cut a sample, and write all rows to disk by leaf."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from coterie.engines.blocks.source import coded_rows
from coterie.engines.blocks.spill import Spill, SpilledRows
from coterie.engines.cuts import CutTree, in_sample, plant, sample_share
from coterie.engines.leaves import LeafCounts, join_leaves

if TYPE_CHECKING:
    from coterie.engines.engine import Job
    from coterie.engines.plan import Plan
    from coterie.files.batches import TableFile
    from coterie.table.codebook import Codebook


def make_plan(table: TableFile, book: Codebook, spill: Spill, job: Job) -> Plan:
    """Cut the table into blocks and write its rows to disk by leaf."""
    threads = job.config.usable_threads
    tree = _first_tree(table, book, job, threads)
    counts = LeafCounts(tree.leaves, book)
    done = 0
    for rows, read in coded_rows(table, book):
        job.checkpoint()
        leaf = tree.leaf_of(rows.codes, rows.numbers)
        counts.add(leaf, rows.sensitive)
        spill.add(leaf, rows)
        done += read
        if job.progress is not None:
            job.progress("cut", done, book.all_rows)
    spill.flush()
    tree, counts = spill.fit(tree, counts, most=job.block_rows, threads=threads)
    return join_leaves(tree, counts, book, most=job.block_rows)


def _first_tree(table: TableFile, book: Codebook, job: Job, threads: int) -> CutTree:
    """Build the tree from a sample of the whole table."""
    if book.rows <= job.block_rows:
        return CutTree.single()
    share = sample_share(book.rows)
    chosen: list[SpilledRows] = []
    for rows, _ in coded_rows(table, book):
        job.checkpoint()
        inside = in_sample(rows.numbers, share)
        chosen.append(SpilledRows(rows.numbers[inside], rows.codes[inside], rows.sensitive[inside]))
    codes = np.concatenate([rows.codes for rows in chosen])
    numbers = np.concatenate([rows.numbers for rows in chosen])
    return plant(codes, numbers, book, expected=book.rows, most=job.block_rows, threads=threads)
