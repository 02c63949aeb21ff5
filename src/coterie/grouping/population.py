"""Encode a population table in the codes of the table to be published, for k-map.

The population may have values that the table lacks. Each quasi-identifier therefore gets one set of codes for the
values of both; the table's codes keep their order in it, so that a group's box is a box there too.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from coterie.arrays import Bool, Int32, Int64
from coterie.errors import ConfigError, DataError, Problem
from coterie.privacy.kmap import KMap
from coterie.publishing.labels import style_of
from coterie.table.grouping import tight_boxes
from coterie.values.notation import SET_LIMIT

if TYPE_CHECKING:
    from coterie.grouping.index import Index
    from coterie.settings.config import Config
    from coterie.table.domain import Domain
    from coterie.table.table import Table


@dataclass(frozen=True, eq=False)
class Population:
    """The rows of a population, and the mapping from the table's codes to its own."""

    index: Index
    domains: tuple[Domain, ...]
    """the quasi-identifiers over the values of both"""
    place: tuple[Int32, ...]
    """quasi-identifier → code of the table → code here, ascending"""
    missing: tuple[int, ...]
    """quasi-identifier → the table's code of missing values, or −1"""
    listed: Bool
    """quasi-identifier → whether it is published as the set of a group's values"""
    labelled: Bool
    """quasi-identifier → whether it is published as a label of its hierarchy"""

    def matches(self, codes: Int32, labels: npt.NDArray[np.signedinteger], groups: int) -> Int64:
        """Return group → matching rows of the population.

        Args:
            codes: [n, d] the rows in the table's codes.
            labels: Row → group 0 … groups − 1, each of which has a row, or −1.
            groups: Number of groups.
        """
        from coterie.kernels.population import count_matches

        rows = np.flatnonzero(labels >= 0)
        of_row = labels[rows].astype(np.int32)
        codes = np.ascontiguousarray(codes[rows])
        lo, hi = tight_boxes(codes, of_row, groups)
        starts = np.zeros(groups + 1, dtype=np.int64)
        np.cumsum(np.bincount(of_row, minlength=groups), out=starts[1:])
        members = np.argsort(of_row, kind="stable").astype(np.int32)
        low, high = self._published(lo, hi)
        translated = np.empty_like(codes)
        for j, place in enumerate(self.place):
            translated[:, j] = place[codes[:, j]]
        result: Int64 = count_matches(
            self.index.nodes, low, high, self.listed, starts, members, translated, np.int64(SET_LIMIT)
        )
        return result

    def _published(self, lo: Int32, hi: Int32) -> tuple[Int32, Int32]:
        """Return the table's boxes as the population's ranges of their published values."""
        low, high = np.empty_like(lo), np.empty_like(hi)
        for j, (domain, place) in enumerate(zip(self.domains, self.place, strict=True)):
            low[:, j], high[:, j] = place[lo[:, j]], place[hi[:, j]]
            wide = hi[:, j] > lo[:, j]
            if self.labelled[j] and domain.tree is not None:
                node = domain.tree.common_ancestor(low[wide, j], high[wide, j])
                low[wide, j], high[wide, j] = domain.tree.first[node], domain.tree.last[node]
            if self.missing[j] >= 0:  # together with other values, missing ones are published as the root
                root = wide & (hi[:, j] == self.missing[j])
                low[root, j], high[root, j] = 0, domain.size - 1
        return low, high


class Populations:
    """The populations named by a configuration's models, each read on first use."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._read: dict[Hashable, Population] = {}

    def of(self, model: KMap, table: Table) -> Population:
        """Return a model's population in the codes of a table, the same at every call.

        Raises:
            ConfigError: The population lacks a quasi-identifier.
            DataError: The population cannot be read, or has values that do not fit a column.
        """
        if model.key not in self._read:
            self._read[model.key] = _bind(model, table, self._config)
        return self._read[model.key]


def populations_of(config: Config) -> Populations | None:
    """Return the populations that a table's models may need, if any."""
    return Populations(config) if config.privacy else None


def _bind(model: KMap, table: Table, config: Config) -> Population:
    from coterie.files import tables
    from coterie.grouping.index import build_index
    from coterie.table.table import Table

    columns = tables.read(model.population, missing_values=config.missing_values, header=True).table
    absent = [domain.name for domain in table.domains if domain.name not in columns.column_names]
    if absent:
        text = f"the population of {model.name} has no column"
        raise ConfigError([Problem("privacy", f"{text} {name!r}") for name in absent])
    joint = [_joint(domain, columns.column(domain.name), config) for domain in table.domains]
    codes = np.column_stack([part for _, _, part in joint]).astype(np.int32)
    domains = tuple(domain for domain, _, _ in joint)
    styles = [style_of(domain, config.publish) for domain in table.domains]
    return Population(
        index=build_index(Table(np.ascontiguousarray(codes), domains)),
        domains=domains,
        place=tuple(place for _, place, _ in joint),
        missing=tuple(domain.missing for domain in table.domains),
        listed=np.array([style == "set" for style in styles]),
        labelled=np.array([style == "ancestor" for style in styles]),
    )


def _kind(domain: Domain) -> Literal["number", "category"]:
    return "number" if domain.kind == "number" else "category"


def _joint(domain: Domain, column: pa.ChunkedArray, config: Config) -> tuple[Domain, Int32, Int32]:
    """Encode a column over the values of table and population: its domain, the table's codes, the population's rows."""
    from coterie.settings.config import Config as Settings
    from coterie.table.encode import encode

    values = domain.values
    if values.type != column.type:
        values, column = values.cast(pa.string()), column.cast(pa.string())
    both = pa.chunked_array([values, *column.chunks], type=values.type)
    hierarchy = config.hierarchies.get(domain.name)
    settings = Settings(
        quasi=(domain.name,),
        hierarchies={} if hierarchy is None else {domain.name: hierarchy},
        ordered={domain.name: domain.order} if domain.order else {},
        types={} if hierarchy is not None or domain.order else {domain.name: _kind(domain)},
        weights={domain.name: domain.weight},
    )
    try:
        joint = encode(pa.table({domain.name: both}), settings).table
    except DataError as error:
        raise DataError(
            f"In the population of {KMap.name}: {error.message}", column=domain.name, rows=error.rows, hint=error.hint
        ) from None
    codes = np.ascontiguousarray(joint.codes[:, 0])
    return joint.domains[0], codes[: domain.size], codes[domain.size :]
