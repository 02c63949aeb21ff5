"""The steps of a release, apart: a table is read and encoded once, and may then be grouped and published many times."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from coterie.arrays import AnyFlags, AnyTable
from coterie.engines.phases import Phases
from coterie.engines.plan import Plan
from coterie.engines.request import check_request
from coterie.engines.row_check import memory_rule
from coterie.engines.steps import group_block
from coterie.files import tables
from coterie.files.tables import read_source
from coterie.grouping.bound import with_bound
from coterie.grouping.population import populations_of
from coterie.grouping.promises import refuse_impossible, rules_of
from coterie.measures.measures import Measures, measure_boxes, published_nodes
from coterie.publishing.publish import PublishedTable, check_styles, publish
from coterie.releases.place import HeldRows
from coterie.releases.release import Release
from coterie.table.encode import EncodedTable, encode
from coterie.table.masks import Mask, read_mask, star_masked
from coterie.table.orders import with_orders
from coterie.verification.verify import Verification, verify_table

if TYPE_CHECKING:
    import pyarrow as pa

    from coterie.methods import Run
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
        config = with_orders(config, source.table)
        encoded = encode(source.table, config, mask)
        encoded = encoded._replace(table=encoded.table.with_populations(populations_of(config)))
        check_styles(encoded.table.domains, names=source.table.column_names, publish=config.publish)
    return PreparedTable(source, encoded, mask)


def make_release(prepared: PreparedTable, config: Config, run: Run, *, phases: Phases | None = None) -> Release:
    """Group, publish, verify and measure a table. Raises as `anonymize` does."""
    phases = phases or Phases()
    source, encoded = prepared.source, prepared.encoded
    config = with_orders(config, source.table)
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
        grouped = not grouping.by_rows
        measures = with_bound(measures, encoded.table, k=config.k, threads=run.threads, grouped=grouped)
    return Release(
        config=config,
        measures=measures,
        verification=verification,
        place=HeldRows(source, encoded, grouping, published, verification),
        seconds=phases.seconds,
        masked=prepared.mask.note,
        masks_sha256=prepared.mask.sha256,
        notes=tuple(run.notes),
    )


def check_possible(prepared: PreparedTable, config: Config) -> None:
    """Raise, before any work, for what the method does not do and for what no grouping of the table can keep."""
    check_request(config)
    refuse_impossible(replace(prepared.encoded.book, config=config), prepared.encoded.table)


def group_rows(prepared: PreparedTable, config: Config, run: Run) -> Grouping:
    """Rows → groups that keep every promise, by the configured method."""
    encoded, mask = prepared.encoded, prepared.mask
    run.notes += [mask.note] if mask.note else []
    grouping = group_block(encoded.table, Plan.whole(replace(encoded.book, config=config)), run)
    cells = {name: flags[encoded.rows] for name, flags in mask.cells.items()}
    return star_masked(grouping, encoded.table, cells)


def _check(
    published: PublishedTable, columns: pa.Table, config: Config, *, encoded: EncodedTable, grouping: Grouping
) -> Verification:
    """Check what was published, from its cells; people are counted in the original, which alone names them."""
    if (one_by_one := grouping.counts_for_judge(encoded.table.codes)) is not None:
        rule = memory_rule(published, encoded, grouping, one_by_one, config)
        return verify_table(published.table, quasi=config.quasi, roots=published.roots, rules=[rule])
    rules = rules_of(config, columns=columns, kept=published.kept)
    return verify_table(published.table, quasi=config.quasi, k=config.k, roots=published.roots, rules=rules)


def _measured(
    encoded: EncodedTable, grouping: Grouping, published: PublishedTable, config: Config, rows: int
) -> Measures:
    """Measure the release. Rows that were suppressed from the start count as such."""
    grouping = grouping.published_boxes()
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
        listed=published.listed,
        class_of_group=published.class_of_group,
        leaf_counts=config.leaf_counts,
    )
