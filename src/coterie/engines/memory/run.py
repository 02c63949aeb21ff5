"""The steps of a release, apart: a table is read and encoded once, and may then be grouped and published many times."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from coterie.arrays import AnyFlags, AnyTable
from coterie.engines.per_row import check_request, verify_rule
from coterie.engines.phases import Phases
from coterie.errors import ConfigError, Problem
from coterie.files import tables
from coterie.files.tables import read_source
from coterie.grouping.bound import with_bound
from coterie.grouping.population import populations_of
from coterie.grouping.promises import keep_promises, models_of, refuse_impossible, rules_of
from coterie.measures.measures import Measures, measure_boxes, published_nodes
from coterie.publishing.publish import PublishedTable, check_styles, publish
from coterie.releases.release import Release
from coterie.table.encode import EncodedTable, encode
from coterie.table.masks import Mask, check_limit, read_mask, star_masked
from coterie.verification.verify import Verification, verify_table

if TYPE_CHECKING:
    import pyarrow as pa

    from coterie.methods import Run
    from coterie.methods._method import Progress
    from coterie.settings.config import Config
    from coterie.table.grouping import Grouping


@dataclass(frozen=True, eq=False)
class PreparedTable:
    """A table that was read and encoded, before any row is grouped."""

    source: tables.Source
    encoded: EncodedTable
    mask: Mask

    def under(self, config: Config) -> PreparedTable:
        """The same codes for another configuration, which differs in its method, k or promises only."""
        table = self.encoded.table.with_populations(populations_of(config))
        return replace(self, encoded=self.encoded._replace(table=table))


def prepare(
    data: AnyTable,
    config: Config,
    *,
    suppress_rows: AnyFlags = None,
    suppress_cells: AnyFlags = None,
    phases: Phases | None = None,
    publishes: bool = True,
) -> PreparedTable:
    """Read and encode a table.

    Args:
        data: A frame, a path or "-".
        config: What is wanted.
        suppress_rows: Row → whether it is suppressed.
        suppress_cells: Quasi-identifier → row → whether the cell is suppressed.
        phases: Times the steps.
        publishes: Whether a release is to be given away: then every column needs a role.
    """
    phases = phases or Phases()
    with phases("read"):
        source = read_source(data, config)
        config.check_columns(source.table.column_names, publishes=publishes, text=source.dialect is not None)
        mask = read_mask(suppress_rows, suppress_cells, count=source.table.num_rows, quasi=config.quasi)
    with phases("encode"):
        encoded = encode(source.table, config, mask)
        encoded = encoded._replace(table=encoded.table.with_populations(populations_of(config)))
        check_styles(encoded.table.domains, names=source.table.column_names, publish=config.publish)
    return PreparedTable(source, encoded, mask)


def make_release(prepared: PreparedTable, config: Config, run: Run, *, phases: Phases | None = None) -> Release:
    """Group, publish, verify and measure a table. Raises as `anonymize` does."""
    phases = phases or Phases()
    source, encoded = prepared.source, prepared.encoded
    check_possible(prepared, config)
    with phases("group"):
        grouping = group_rows(prepared, config, run)
    with phases("publish"):
        published = publish(source.table, encoded.table, grouping, config, rows=encoded.rows)
    with phases("verify"):
        verification = _check(published, source.table, config, encoded=encoded, grouping=grouping)
        if not verification.passed and len(published.kept) > grouping.sizes.sum():
            # Suppressed rows are shown only where they keep every promise; without them the others are what they were.
            hidden = config.replace(suppressed="remove")
            published = publish(source.table, encoded.table, grouping, hidden, rows=encoded.rows)
            verification = _check(published, source.table, config, encoded=encoded, grouping=grouping)
        verification.raise_for_failure()
    with phases("measure"):
        measures = _measured(encoded, grouping, published, config, source.table.num_rows)
        grouped = grouping.rings is None
        measures = with_bound(measures, encoded.table, k=config.k, threads=run.threads, grouped=grouped)
    return Release(
        config=config,
        measures=measures,
        verification=verification,
        source=source,
        table=encoded.table,
        grouping=grouping,
        rows=encoded.rows,
        published=published,
        seconds=phases.seconds,
        masked=prepared.mask.note,
        masks_sha256=prepared.mask.sha256,
        notes=tuple(run.notes),
    )


def check_possible(prepared: PreparedTable, config: Config) -> None:
    """Raise, before any work, for what the method does not do and for what no grouping of the table can keep."""
    check_request(config)
    refuse_impossible(prepared.encoded, config, prepared.source.table.num_rows)


def group_rows(prepared: PreparedTable, config: Config, run: Run) -> Grouping:
    """Rows → groups that keep every promise, by the configured method."""
    source, encoded, mask = prepared.source, prepared.encoded, prepared.mask
    run.notes += [mask.note] if mask.note else []
    grouping = _group(encoded, config, run)
    check_limit(grouping, config)
    grouping = keep_promises(grouping, encoded, config, columns=source.table, run=run)
    if config.refine:
        grouping = _refined(grouping, encoded, config, run)
        # Local search compares with the whole table; where rows are suppressed, what is published differs from it.
        grouping = keep_promises(grouping, encoded, config, columns=source.table, run=run)
    cells = {name: flags[encoded.rows] for name, flags in mask.cells.items()}
    return star_masked(grouping, encoded.table, cells)


def _check(
    published: PublishedTable, columns: pa.Table, config: Config, *, encoded: EncodedTable, grouping: Grouping
) -> Verification:
    """Check what was published, from its cells; people are counted in the original, which alone names them."""
    if grouping.rings is not None:
        rule = verify_rule(published, encoded, grouping.rings, config)
        return verify_table(published.table, quasi=config.quasi, roots=published.roots, rules=[rule])
    rules = rules_of(config, columns=columns, kept=published.kept)
    return verify_table(published.table, quasi=config.quasi, k=config.k, roots=published.roots, rules=rules)


def _measured(
    encoded: EncodedTable, grouping: Grouping, published: PublishedTable, config: Config, rows: int
) -> Measures:
    """Measure the release. Rows that were suppressed from the start count as such."""
    grouping = grouping.published
    labels, codes = grouping.labels, encoded.table.codes
    if len(labels) < rows:
        labels = np.full(rows, -1, dtype=np.int32)
        codes = np.zeros((rows, encoded.table.attributes), dtype=np.int32)
        labels[encoded.rows], codes[encoded.rows] = grouping.labels, encoded.table.codes
    return measure_boxes(
        encoded.table.domains,
        lo=grouping.lo,
        hi=grouping.hi,
        labels=labels,
        k=config.k,
        codes=codes,
        nodes=published_nodes(encoded.table.domains, grouping.nodes, config),
        class_of_group=published.class_of_group,
        leaf_counts=config.leaf_counts,
    )


def start_run(config: Config, progress: Progress | None = None, cancelled: Callable[[], bool] | None = None) -> Run:
    """What a method is given besides the table."""
    from coterie.methods import Run

    run = Run(seed=config.seed, threads=config.usable_threads, privacy=models_of(config))
    if config.time_limit is not None:
        run.deadline = time.monotonic() + config.time_limit
    if progress is not None:
        run.progress = progress
    if cancelled is not None:
        run.cancelled = cancelled
    return run


def _refined(grouping: Grouping, encoded: EncodedTable, config: Config, run: Run) -> Grouping:
    """The grouping after local search, which takes boxes that are tight around the rows of each group."""
    from coterie.grouping.refine import keeps, refine
    from coterie.methods import find_method

    recoding = find_method(config.method).recoding
    if recoding != "local":
        text = f"local search works on local recoding, but {config.method!r} is {recoding}; leave it out"
        raise ConfigError([Problem("refine", text)])
    allowed = keeps(encoded.table, run.privacy, config.k)
    return refine(encoded.table, grouping, k=config.k, run=run, allowed=allowed)


def _group(encoded: EncodedTable, config: Config, run: Run) -> Grouping:
    from coterie.methods import find_method

    return find_method(config.method).run(encoded.table, config.k, config.method_options(), run)
