"""The codes of a table that is never seen whole: distinct values are counted first, rows are looked up afterwards.

Domains are made from all distinct values and their counts by the same code that encodes a table in memory. So costs,
hierarchies and published labels are the same in every block, and the same as in one piece.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from coterie.arrays import Bool, Int32, Int64
from coterie.errors import DataError
from coterie.table.domain import Domain
from coterie.table.encode import encode_distinct, encode_people
from coterie.values.plain import plain_array

if TYPE_CHECKING:
    from coterie.settings.config import Config


# Arrow hashes all known values anew for every batch of cells; of more numbers than this, a binary search is quicker.
HASHED = 2**16


class CountedValues(NamedTuple):
    """The distinct values of one column, counted over all rows that are not suppressed from the start."""

    values: pa.Array
    """distinct values in plain form, without null, in the order of their first rows"""
    counts: Int64
    """value → rows"""
    missing: int
    """rows without a value"""


class CodedRows(NamedTuple):
    """A batch of rows as codes."""

    codes: Int32
    """[n, d], C-contiguous"""
    sensitive: Int32
    """[n, s]"""
    keep: Bool
    """row → whether it takes part; rows with missing values may be suppressed from the start"""


@dataclass(frozen=True, eq=False)
class Lookup:
    """The cells of one column → codes."""

    name: str
    values: pa.Array
    """place → value"""
    codes: Int32
    """place → code; one more entry for missing values, if there are any"""

    @cached_property
    def _sorted(self) -> tuple[npt.NDArray[Any], Int64]:
        keys = _keys(self.values)
        order = np.argsort(keys, kind="stable")
        return keys[order], order

    def find(self, column: pa.ChunkedArray | pa.Array) -> Int32:
        """Row → code.

        Raises:
            DataError: A cell holds a value that was not counted, so the table has changed in between.
        """
        cells = plain_array(column)
        if pa.types.is_null(cells.type):
            return np.full(len(cells), self.codes[-1], dtype=np.int32)
        found: pa.Array | pa.ChunkedArray
        if len(self.values) > HASHED and _has_keys(self.values.type) and cells.type.equals(self.values.type):
            found = self._search(cells)
        else:
            kind = self.values.type
            if not cells.type.equals(kind) and not pa.types.is_null(kind):
                cells = cells.cast(kind)
            found = pc.index_in(cells, value_set=self.values, skip_nulls=True)
        if found.null_count != cells.null_count or (cells.null_count and len(self.codes) == len(self.values)):
            raise _changed(self.name)
        places = found.fill_null(len(self.values)).to_numpy(zero_copy_only=False)
        codes: Int32 = self.codes[places]
        return codes

    def _search(self, cells: pa.Array) -> pa.Array:
        keys, order = self._sorted
        wanted = _keys(cells.fill_null(pa.scalar(0, pa.int64()).cast(cells.type)))
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        empty = ~cells.is_valid().to_numpy(zero_copy_only=False)
        return pa.array(order[at], mask=(keys[at] != wanted) | empty)


def _has_keys(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_temporal(kind))


def _keys(values: pa.Array) -> npt.NDArray[Any]:
    if pa.types.is_temporal(values.type):
        values = values.cast(pa.int32() if values.type.bit_width == 32 else pa.int64())
    keys: npt.NDArray[Any] = values.to_numpy(zero_copy_only=False)
    return keys


def _changed(name: str) -> DataError:
    return DataError(
        f"Column {name!r} holds values that were not there when the table was read before: it has changed.",
        column=name,
        hint="Run again when nobody writes to the table.",
    )


@dataclass(frozen=True, eq=False)
class Codebook:
    """All that turns the rows of a table into codes, and codes into published values; it can be sent elsewhere."""

    config: Config
    domains: tuple[Domain, ...]
    lookups: tuple[Lookup, ...]
    sensitive: tuple[Domain, ...]
    sensitive_lookups: tuple[Lookup, ...]
    totals: Mapping[str, Int64]
    """sensitive column → code → rows: the distribution that groups are compared with"""
    rows: int
    """rows that take part"""
    all_rows: int
    """rows of the table, those that are suppressed from the start included"""

    def encode(self, batch: pa.RecordBatch | pa.Table) -> CodedRows:
        """The rows of a batch as codes."""
        keep = kept_rows(batch, self.config)
        if not keep.all():
            # Their values may have no code: they were not counted.
            batch = batch.filter(pa.array(keep))
        count = len(keep) if keep.all() else int(keep.sum())
        parts = []
        for lookups in (self.lookups, self.sensitive_lookups):
            codes = np.empty((count, len(lookups)), dtype=np.int32)
            for j, lookup in enumerate(lookups):
                codes[:, j] = lookup.find(batch.column(lookup.name))
            parts.append(codes)
        return CodedRows(parts[0], parts[1], keep)


def kept_rows(batch: pa.RecordBatch | pa.Table, config: Config) -> Bool:
    """Row of a batch → whether it takes part under the configured treatment of missing quasi-identifiers."""
    keep = np.ones(batch.num_rows, dtype=np.bool_)
    if config.missing == "suppress":
        for name in config.quasi:
            keep &= plain_array(batch.column(name)).is_valid().to_numpy(zero_copy_only=False)
    return keep


class Roles(NamedTuple):
    """The columns that have to be encoded."""

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    """those that some promise beyond k speaks of, people last; others are published as they are"""

    @property
    def all(self) -> tuple[str, ...]:
        """Both."""
        return (*self.quasi, *self.sensitive)


def coded_columns(config: Config) -> Roles:
    """The columns of which distinct values are to be counted."""
    named = {column for model in config.privacy for column in model.columns(config.sensitive)}
    people = () if config.entity is None else (config.entity,)
    sensitive = tuple(column for column in config.sensitive if column in named and column not in people)
    return Roles(tuple(config.quasi), (*sensitive, *people))


def make_codebook(config: Config, counted: Mapping[str, CountedValues], *, rows: int, all_rows: int) -> Codebook:
    """Domains from counted values.

    Args:
        config: Roles, types, hierarchies, weights and what becomes of missing values.
        counted: Column → its values, for each of `coded_columns`.
        rows: Rows that take part.
        all_rows: Rows of the table.

    Raises:
        DataError: As encoding a table does: values that are missing, of a wrong type or not in their hierarchy.
    """
    missing = {name: counted[name].missing for name in config.quasi if counted[name].missing}
    if config.missing == "error" and missing:
        listed = ", ".join(f"{name} ({count:,})" for name, count in missing.items())
        raise DataError(
            f"Rows have missing values in {listed}.",
            hint='Fill them, or set missing = "category" (a value of its own) or "suppress" (take such rows out).',
        )
    roles = coded_columns(config)
    made = {name: counted_domain(name, counted[name], config) for name in roles.all}
    totals = {}
    for name in roles.sensitive:
        domain, lookup = made[name]
        rows_of = np.append(counted[name].counts, counted[name].missing)[: len(lookup.codes)]
        totals[name] = np.bincount(lookup.codes, weights=rows_of, minlength=domain.size).astype(np.int64)
    return Codebook(
        config,
        tuple(made[name][0] for name in roles.quasi),
        tuple(made[name][1] for name in roles.quasi),
        tuple(made[name][0] for name in roles.sensitive),
        tuple(made[name][1] for name in roles.sensitive),
        totals,
        rows,
        all_rows,
    )


def counted_domain(name: str, counted: CountedValues, config: Config) -> tuple[Domain, Lookup]:
    """One column as a domain, and what finds the codes of its cells."""
    if name == config.entity:
        domain, codes = encode_people(name, counted.values, missing=counted.missing > 0)
        return domain, Lookup(name, counted.values, codes)
    domain, codes = encode_distinct(
        name, counted.values, counts=counted.counts, missing=counted.missing > 0, config=config
    )
    return domain, Lookup(name, counted.values, codes)
