"""A table in memory: read and encoded once, to be grouped and published many times."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from coterie.arrays import AnyFlags, AnyTable
from coterie.engines.phases import Phases
from coterie.files import tables
from coterie.files.tables import read_source
from coterie.grouping.population import populations_of
from coterie.publishing.labels import check_styles
from coterie.table.encode import EncodedTable, encode
from coterie.table.masks import read_mask
from coterie.table.orders import with_orders

if TYPE_CHECKING:
    from coterie.settings.config import Config


@dataclass(frozen=True, eq=False)
class PreparedTable:
    """A table that was read and encoded, but not grouped."""

    source: tables.Source
    encoded: EncodedTable

    def under(self, config: Config) -> PreparedTable:
        """Return the same codes for another configuration, which differs only in method, k or privacy models."""
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
        config: The configuration.
        suppress_rows: Row → whether it is suppressed.
        suppress_cells: Quasi-identifier → row → whether the cell is suppressed.
        phases: Times the steps.
        publishes: Whether the release will be published: then every column needs a role.
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
    return PreparedTable(source, encoded)
