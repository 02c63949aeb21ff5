"""Group the blocks of a table, some at a time, and store the results on disk."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from coterie.engines.block import anonymize_block, suppressed_values
from coterie.engines.engine import AT_ONCE, Job
from coterie.engines.mapping import block_mapping
from coterie.engines.suppressed import compared, remaining_of
from coterie.settings.memory import give_back

if TYPE_CHECKING:
    from coterie.engines.blocks.spill import Spill
    from coterie.engines.blocks.store import BlockStore
    from coterie.engines.finished import FinishedBlock
    from coterie.engines.plan import Plan


def group_blocks(plan: Plan, spill: Spill, store: BlockStore, job: Job) -> tuple[FinishedBlock, ...]:
    """Group all unfinished blocks, the largest first."""
    leaves = [np.flatnonzero(plan.block_of_leaf == block).tolist() for block in range(plan.blocks)]
    found: dict[int, FinishedBlock] = {}
    for block in range(plan.blocks):
        if (before := store.done(block)) is not None:
            found[block] = before
            spill.drop(leaves[block])
    waiting = sorted((block for block in range(plan.blocks) if block not in found), key=lambda b: -plan.sizes[b])
    at_once = max(1, min(AT_ONCE, job.config.usable_threads, len(waiting)))
    inner = max(1, job.config.usable_threads // at_once)

    limit = job.config.time_limit
    each = 0.0 if limit is None else limit * at_once / max(int(plan.sizes[waiting].sum()), 1)

    def group(block: int) -> tuple[int, FinishedBlock]:
        job.checkpoint()
        rows = spill.read(leaves[block])
        result = anonymize_block(
            rows.codes,
            rows.sensitive,
            plan,
            block,
            rows=rows.numbers,
            threads=inner,
            cancelled=job.cancelled,
            seconds=None if limit is None else each * len(rows.codes),
        )
        if result.one_by_one is not None:
            store.put_arrays(block, "one-by-one", **result.one_by_one._asdict())
        if job.mapping is not None:
            store.path(block, "mapping").write_bytes(block_mapping(result, plan))
        finished = store.put(block, rows.numbers, result)
        spill.drop(leaves[block])
        return block, finished

    _tell(job, plan, found)
    with ThreadPoolExecutor(at_once) as pool:
        futures = [pool.submit(group, block) for block in waiting]
        try:
            for future in as_completed(futures):
                block, finished = future.result()
                found[block] = finished
                give_back()  # otherwise memory would grow with the number of blocks
                _tell(job, plan, found)
        finally:
            for future in futures:
                future.cancel()
    return tuple(found[block] for block in range(plan.blocks))


def with_remaining(plan: Plan, spill: Spill, store: BlockStore, job: Job) -> Plan:
    """Return the plan with the rows that remain after suppression: the blocks are grouped just for that."""
    gone = [np.zeros(domain.size, dtype=np.int64) for domain in compared(plan.book)]
    threads, done = job.config.usable_threads, 0
    for block in range(plan.blocks):
        job.checkpoint()
        before = store.arrays(block, "suppressed")
        if before is None:
            rows = spill.read(np.flatnonzero(plan.block_of_leaf == block).tolist())
            found = suppressed_values(rows.codes, rows.sensitive, plan, block, threads=threads, cancelled=job.cancelled)
            before = {str(at): each for at, each in enumerate(found)}
            store.put_arrays(block, "suppressed", **before)
        gone = [all_rows + some for all_rows, some in zip(gone, before.values(), strict=True)]
        done += int(plan.sizes[block])
        if job.progress is not None:
            job.progress("suppress", done, plan.book.rows)
    return replace(plan, remaining=remaining_of(plan.book, gone))


def _tell(job: Job, plan: Plan, found: dict[int, FinishedBlock]) -> None:
    if job.progress is not None:
        done = int(plan.sizes[list(found)].sum())
        job.progress(f"group: {len(found):,} of {plan.blocks:,} blocks", done, plan.book.rows)
