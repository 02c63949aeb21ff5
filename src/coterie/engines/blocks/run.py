"""A release out of core: read in batches, cut into blocks on disk, grouped block by block, written in row order.

    count → sample, tree → rows by leaf → blocks → grouped, one by one → written → verified → given its name

Each step holds no more than a batch, a block or a stripe of rows, whatever the size of the table.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from coterie.engines.block import anonymize_block, suppressed_values
from coterie.engines.blocks.count import count_table
from coterie.engines.blocks.finish import Ending
from coterie.engines.blocks.spill import Spill, SpilledRows
from coterie.engines.blocks.state import WorkFolder, open_work, sweep_work, was_named
from coterie.engines.blocks.store import BlockStore
from coterie.engines.cuts import CutTree, in_sample, plant, sample_share
from coterie.engines.finished import FinishedBlock
from coterie.engines.job import AT_ONCE, BlocksJob, make_job, with_order_of
from coterie.engines.leaves import LeafCounts, join_leaves
from coterie.engines.mapping import block_mapping
from coterie.engines.phases import Phases
from coterie.engines.plan import Plan
from coterie.engines.request import check_blocks
from coterie.engines.row_check import save
from coterie.engines.suppressed import compared, needs_remaining, remaining_of
from coterie.errors import Cancelled
from coterie.files.batches import TableFile, open_table
from coterie.files.destinations import check_apart
from coterie.files.streams import Target, target_of
from coterie.grouping.promises import refuse_impossible
from coterie.publishing.labels import check_styles
from coterie.publishing.mapping import check_mapping
from coterie.settings.memory import give_back, one_allocator

if TYPE_CHECKING:
    from coterie.releases.release import Release
    from coterie.table.codebook import Codebook

__all__ = ["BlocksJob", "anonymize_file", "make_job", "make_plan"]

STRIPE_ROWS = 2**18


def anonymize_file(data: str | os.PathLike[str], job: BlocksJob) -> Release:
    """Anonymize a file that need not fit the memory.

    Args:
        data: The path of a CSV, Parquet or Feather file, or of a folder of Parquet files.
        job: What to do.

    Raises:
        ConfigError: The request is wrong, or cannot be had out of core; all problems at once.
        DataError: The data are not what the configuration says, or have changed since the run that is resumed.
        InfeasibleError: The table cannot give what was asked for.
        VerificationError: The written table did not pass; there is no release.
    """
    check_blocks(job.config)
    check_apart(data, job.config, output=job.output, mapping=job.mapping)
    sweep_work(job.output)
    if job.resume and not job.force and was_named(job.output):
        job = replace(job, force=True)  # in place of what the same run has left
    target_of(job.output, force=job.force)
    check_mapping(job.mapping, force=job.force)
    phases = Phases(job.progress)
    with phases("read"):
        table = open_table(data, job.config)
        job.config.check_columns(table.schema.names, text=table.sniffed is not None)
        job = with_order_of(job, table)
        target = target_of(job.output, force=job.force, like=table)
        work = open_work(
            job.output,
            job.config,
            table.stamp,
            block_rows=job.block_rows,
            resume=job.resume,
            force=job.force,
            mapping=job.mapping is not None,
        )
    kept = False
    try:
        with one_allocator():
            return _release(table, target, work, job=job, phases=phases)
    except (Cancelled, KeyboardInterrupt, MemoryError):
        kept = os.fspath(job.output) != "-" and any(work.blocks.glob("*.json"))
        raise
    except BrokenPipeError:
        raise  # whoever reads standard output has seen enough
    except OSError as error:
        kept = os.fspath(job.output) != "-" and any(work.blocks.glob("*.json"))
        raise work.refused(error) from None
    finally:
        if kept:
            work.lock.give_back()
        else:
            work.remove()


def _release(table: TableFile, target: Target, work: WorkFolder, *, job: BlocksJob, phases: Phases) -> Release:
    """All steps, from counting to the release under its name."""
    with phases("count"):
        book = count_table(table, job.config, memory=job.memory, progress=job.progress)
        check_styles(book.domains, names=table.schema.names, publish=job.config.publish)
        refuse_impossible(book)
    with phases("cut"):
        spill = Spill(work.rows, book)
        plan = make_plan(table, book, spill, job)
        work.note_plan(plan.sha256)
    store = BlockStore(work.blocks, stripe_rows=STRIPE_ROWS)
    if plan.blocks > 1 and needs_remaining(job.config):
        with phases("suppress"):
            plan = _with_left(plan, spill, store, job)
    with phases("group"):
        finished = _group_all(plan, spill, store, job)
    return Ending(table, plan, store, finished, work, job, target, phases).finish()


def make_plan(table: TableFile, book: Codebook, spill: Spill, job: BlocksJob) -> Plan:
    """Cut the table into blocks and leave its rows on disk, by leaf."""
    threads = job.config.usable_threads
    tree = _first_tree(table, book, job, threads)
    counts = LeafCounts(tree.leaves, book)
    done = 0
    for rows, read in _coded(table, book):
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


def _coded(table: TableFile, book: Codebook) -> Iterator[tuple[SpilledRows, int]]:
    """The rows that take part, as codes, a batch at a time; and how many were read."""
    names = [lookup.name for lookup in (*book.lookups, *book.sensitive_lookups)]
    start = 0
    for batch in table.batches(names):
        coded = book.encode(batch)
        numbers = start + np.flatnonzero(coded.keep)
        yield SpilledRows(numbers, coded.codes, coded.sensitive), batch.num_rows
        start += batch.num_rows


def _first_tree(table: TableFile, book: Codebook, job: BlocksJob, threads: int) -> CutTree:
    """The tree from a sample of the whole table."""
    if book.rows <= job.block_rows:
        return CutTree.single()
    share = sample_share(book.rows)
    chosen: list[SpilledRows] = []
    for rows, _ in _coded(table, book):
        job.checkpoint()
        inside = in_sample(rows.numbers, share)
        chosen.append(SpilledRows(rows.numbers[inside], rows.codes[inside], rows.sensitive[inside]))
    codes = np.concatenate([rows.codes for rows in chosen])
    numbers = np.concatenate([rows.numbers for rows in chosen])
    return plant(codes, numbers, book, expected=book.rows, most=job.block_rows, threads=threads)


def _group_all(plan: Plan, spill: Spill, store: BlockStore, job: BlocksJob) -> tuple[FinishedBlock, ...]:
    """Group all blocks that are not finished yet, the largest first."""
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
            threads=inner,
            cancelled=job.cancelled,
            seconds=None if limit is None else each * len(rows.codes),
        )
        if result.one_by_one is not None:
            save(result.one_by_one, store.one_by_one(block))
        if job.mapping is not None:
            store.mapping(block).write_bytes(block_mapping(result, plan))
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
                give_back()  # or memory would creep up with the number of blocks
                _tell(job, plan, found)
        finally:
            for future in futures:
                future.cancel()
    return tuple(found[block] for block in range(plan.blocks))


def _with_left(plan: Plan, spill: Spill, store: BlockStore, job: BlocksJob) -> Plan:
    """The plan with what is left when each block has suppressed its rows: they are grouped for that alone."""
    gone = [np.zeros(domain.size, dtype=np.int64) for domain in compared(plan.book)]
    threads, done = job.config.usable_threads, 0
    for block in range(plan.blocks):
        job.checkpoint()
        found = store.suppressed(block)
        if found is None:
            rows = spill.read(np.flatnonzero(plan.block_of_leaf == block).tolist())
            found = suppressed_values(rows.codes, rows.sensitive, plan, block, threads=threads, cancelled=job.cancelled)
            store.put_suppressed(block, found)
        gone = [all_rows + some for all_rows, some in zip(gone, found, strict=True)]
        done += int(plan.sizes[block])
        if job.progress is not None:
            job.progress("suppress", done, plan.book.rows)
    return replace(plan, remaining=remaining_of(plan.book, gone))


def _tell(job: BlocksJob, plan: Plan, found: dict[int, FinishedBlock]) -> None:
    if job.progress is not None:
        done = int(plan.sizes[list(found)].sum())
        job.progress(f"group: {len(found):,} of {plan.blocks:,} blocks", done, plan.book.rows)
