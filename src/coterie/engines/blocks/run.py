"""Out-of-core releases: read in batches, cut into blocks on disk, grouped block by block, written in row order.

    count → sample, tree → rows by leaf → blocks → grouped, one by one → written → verified → renamed

Each step needs only a batch, a block or a stripe of rows in memory, whatever the size of the table.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from coterie.arrays import AnyTable
from coterie.engines.blocks.count import count_table
from coterie.engines.blocks.finish import Ending
from coterie.engines.blocks.group import group_blocks, with_remaining
from coterie.engines.blocks.plan import make_plan
from coterie.engines.blocks.spill import Spill
from coterie.engines.blocks.state import WorkFolder, open_work, refused, sweep_work, was_named
from coterie.engines.blocks.store import STRIPE_ROWS, BlockStore, FinishedTable
from coterie.engines.phases import Phases
from coterie.engines.request import block_problems
from coterie.engines.suppressed import needs_remaining
from coterie.errors import Cancelled, Problem, refuse
from coterie.files.batches import TableFile, open_table
from coterie.files.destinations import check_apart
from coterie.files.streams import Target, target_of
from coterie.grouping.promises import refuse_impossible
from coterie.publishing.labels import check_styles
from coterie.publishing.mapping import check_mapping
from coterie.settings.memory import one_allocator
from coterie.table.masks import Mask, read_mask

if TYPE_CHECKING:
    from coterie.engines.engine import Job
    from coterie.releases.release import Release


def problems(data: AnyTable, job: Job) -> list[Problem]:
    """Return what cannot be done in blocks."""
    return block_problems(data, job, "blocks")


def anonymize(data: AnyTable, job: Job) -> Release:
    """Anonymize a file that need not fit in memory.

    Args:
        data: The path of a CSV, Parquet or Feather file, or of a folder of Parquet files.
        job: The job.

    Raises:
        ConfigError: The request is invalid or not possible out of core; reports all problems at once.
        DataError: The data do not match the configuration, or have changed since the resumed run.
        InfeasibleError: The request is infeasible for this table.
        VerificationError: The written table did not pass verification; there is no release.
    """
    refuse(problems(data, job))
    check_apart(data, job.config, output=job.place, mapping=job.mapping)
    sweep_work(job.place)
    if job.resume and not job.force and was_named(job.place):
        job = replace(job, force=True)  # replaces what the same run has left
    target_of(job.place, force=job.force)
    check_mapping(job.mapping, force=job.force)
    mask = read_mask(job.suppress_rows, job.suppress_cells, count=None, quasi=job.config.quasi)
    phases = Phases(job.progress)
    with phases("read"):
        table = open_table(data, job.config)
        job.config.check_columns(table.schema.names, text=table.sniffed is not None)
        job = job.ordered_by(table)
        target = target_of(job.place, force=job.force, like=table, formulas=job.config.formulas)
        work = open_work(job, table.stamp, mask.sha256)
    kept = False
    try:
        with one_allocator():
            return _release(table, target, work, mask, job=job, phases=phases)
    except (Cancelled, KeyboardInterrupt, MemoryError):
        kept = os.fspath(job.place) != "-" and any(work.blocks.glob("*.json"))
        raise
    except BrokenPipeError:
        raise  # the reader has closed standard output
    except OSError as error:
        kept = os.fspath(job.place) != "-" and any(work.blocks.glob("*.json"))
        raise refused(work.path, error) from None
    finally:
        if kept:
            work.lock.give_back()
        else:
            work.remove()


def _release(table: TableFile, target: Target, work: WorkFolder, mask: Mask, *, job: Job, phases: Phases) -> Release:
    """Run all steps, from counting to the finished release."""
    with phases("count"):
        book = count_table(table, job.config, mask, memory=job.memory, progress=job.progress)
        check_styles(book.domains, names=table.schema.names, publish=job.config.publish)
        refuse_impossible(book)
    with phases("cut"):
        spill = Spill(work.rows, book)
        plan = make_plan(table, book, spill, job)
        work.note_plan(plan.sha256)
    store = BlockStore(work.blocks, stripe_rows=STRIPE_ROWS)
    if plan.blocks > 1 and needs_remaining(job.config):
        with phases("suppress"):
            plan = with_remaining(plan, spill, store, job)
    with phases("group"):
        finished = group_blocks(plan, spill, store, job)
    return Ending(FinishedTable(table, plan, store, finished), work, job, target, phases).finish()
