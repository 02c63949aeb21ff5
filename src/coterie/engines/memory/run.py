"""The engine that keeps the whole table in memory, in separate steps for callers that group one table many times."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from coterie.arrays import AnyTable
from coterie.engines.memory.group import check_possible, group_rows
from coterie.engines.memory.source import PreparedTable, prepare
from coterie.engines.memory.verify import check
from coterie.engines.phases import Phases
from coterie.engines.steps import start_run
from coterie.errors import Problem
from coterie.files.destinations import check_outputs
from coterie.measures.measures import measure_grouping
from coterie.publishing.mapping import write_mapping
from coterie.publishing.publish import publish
from coterie.releases.bound import LateBound
from coterie.releases.place import HeldRows
from coterie.releases.release import Release
from coterie.table.orders import with_orders

if TYPE_CHECKING:
    from coterie.engines.engine import Job
    from coterie.methods import Run
    from coterie.settings.config import Config


def problems(data: AnyTable, job: Job) -> list[Problem]:
    """Return what cannot be done in memory."""
    if not job.resume:
        return []
    return [Problem("resume", "a run in memory cannot be resumed; choose another engine")]


def anonymize(data: AnyTable, job: Job) -> Release:
    """Anonymize a frame, a file or a database table. Raises the same errors as `coterie.anonymize`."""
    config = job.config
    check_outputs(data, config, output=job.output, mapping=job.mapping, force=job.force)
    phases = Phases(job.progress)
    masks = {"suppress_rows": job.suppress_rows, "suppress_cells": job.suppress_cells}
    prepared = prepare(data, config, phases=phases, **masks)
    release = make_release(prepared, config, start_run(config, job.progress, job.cancelled), phases=phases)
    if job.output is not None:
        release.write(job.output, force=job.force)
    if job.mapping is not None:
        write_mapping(release, job.mapping, force=job.force)
    return release


def make_release(prepared: PreparedTable, config: Config, run: Run, *, phases: Phases | None = None) -> Release:
    """Group, publish, verify and measure a table. Raises the same errors as `anonymize`."""
    phases = phases or Phases()
    source, encoded = prepared.source, prepared.encoded
    config = with_orders(config, source.table)
    check_possible(prepared, config)
    with phases("group"):
        grouping = group_rows(prepared, config, run)
    with phases("publish"):
        published = publish(source.table, encoded.table, grouping, config, rows=encoded.rows)
    with phases("verify"):
        verification = check(published, source.table, config, encoded=encoded, grouping=grouping)
        if not verification.passed and len(published.kept) > grouping.sizes.sum():
            # Suppressed rows are shown only if they satisfy every guarantee; removing them does not change the others.
            hidden = config.replace(suppressed="remove")
            published = publish(source.table, encoded.table, grouping, hidden, rows=encoded.rows)
            verification = check(published, source.table, config, encoded=encoded, grouping=grouping)
        verification.raise_for_failure()
    with phases("measure"):
        measures = measure_grouping(
            encoded.table,
            grouping,
            config,
            removed=source.table.num_rows - encoded.table.rows,
            listed=published.listed,
            class_of_group=published.class_of_group,
        )
        bound = LateBound(encoded.table, config, run.threads)
        # Rows published one by one may lose less than any grouping, so there is no ratio for them.
        ratio = {} if grouping.by_rows else {"loss_over_bound": partial(bound.ratio, measures["ncp"])}
        measures = measures.with_late(bound=bound.per_cell, **ratio)
    return Release(
        config=config,
        measures=measures,
        verification=verification,
        place=HeldRows(source, encoded, grouping, published, verification),
        seconds=phases.seconds,
        masked=encoded.book.mask.note,
        masks_sha256=encoded.book.mask.sha256,
        notes=tuple(run.notes),
    )
