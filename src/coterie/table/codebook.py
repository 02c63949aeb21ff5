"""Encode tables in two passes: count distinct values first, then look up rows.

Domains are made from all distinct values and their counts, wherever these were counted: in memory, batch by batch or
on a cluster. So costs, hierarchies and published labels are the same in every block, and the same as in one piece.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from coterie.arrays import Bool, Int32, Int64, in_threads
from coterie.errors import DataError
from coterie.hierarchies.hierarchy import Hierarchy
from coterie.table.domain import Domain
from coterie.table.masks import Mask
from coterie.values.numbers import as_numbers, as_ranks, guess_type
from coterie.values.plain import plain_array, plain_column

if TYPE_CHECKING:
    from coterie.settings.config import Config


# Arrow hashes all known values again for every batch; above this many numbers, a binary search is faster.
HASHED = 2**16


class CountedValues(NamedTuple):
    """The distinct values of one column, counted over all rows that are not suppressed from the start."""

    values: pa.Array
    """distinct normalized values, without null, in the order of their first rows"""
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
    """row → whether it is included; rows with missing values may be suppressed from the start"""


@dataclass(frozen=True, eq=False)
class Lookup:
    """Maps the cells of one column to codes."""

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
        """Return row → code.

        Raises:
            DataError: A cell has a value that was not counted, so the table has changed in between.
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
        f"Column {name!r} has values that it did not have when the table was first read: it has changed.",
        column=name,
        hint="Run again when nobody writes to the table.",
    )


@dataclass(frozen=True, eq=False)
class Codebook:
    """Everything that turns rows into codes, and codes into published values; it can be sent to other processes."""

    config: Config
    domains: tuple[Domain, ...]
    lookups: tuple[Lookup, ...]
    sensitive: tuple[Domain, ...]
    sensitive_lookups: tuple[Lookup, ...]
    totals: Mapping[str, Int64]
    """sensitive column → code → rows: the distribution that groups are compared with"""
    rows: int
    """the number of included rows"""
    all_rows: int
    """rows of the table, those that are suppressed from the start included"""
    mask: Mask = field(default_factory=Mask)
    """rows and cells that the user wants suppressed, by row number"""

    @property
    def values(self) -> dict[str, pa.Array]:
        """Quasi-identifier → code → value."""
        return {domain.name: domain.values for domain in self.domains}

    def only(self, quasi: Sequence[int]) -> Codebook:
        """Return the same without some quasi-identifiers; the remaining ones are given by position."""
        domains = tuple(self.domains[at] for at in quasi)
        return replace(self, domains=domains, lookups=tuple(self.lookups[at] for at in quasi))

    def encode(self, batch: pa.RecordBatch | pa.Table, numbers: Int64) -> CodedRows:
        """Encode the rows of a batch, which have these numbers in the table."""
        # Values that occur only in excluded rows were not counted and have no code.
        table, keep = taking_part(batch, self.config, self.mask.of(numbers))
        return CodedRows(*self.coded(table.num_rows, lambda lookup: lookup.find(table.column(lookup.name))), keep)

    def coded(self, rows: int, codes_of: Callable[[Lookup], Int32]) -> tuple[Int32, Int32]:
        """Return the codes of quasi-identifiers, and those of sensitive attributes, column by column."""
        parts = []
        for lookups in (self.lookups, self.sensitive_lookups):
            codes = np.empty((rows, len(lookups)), dtype=np.int32)
            for at, column in enumerate(in_threads(codes_of, lookups)):
                codes[:, at] = column
            parts.append(codes)
        return parts[0], parts[1]


def taking_part(batch: pa.RecordBatch | pa.Table, config: Config, mask: Mask) -> tuple[pa.Table, Bool]:
    """Return the rows of a batch that take part, with suppressed cells missing; and row → whether it takes part.

    Rows may be suppressed by a mask, or under the configured treatment of missing quasi-identifiers.
    """
    table = pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch
    keep = np.ones(table.num_rows, dtype=np.bool_) if mask.rows is None else ~mask.rows
    if config.missing == "suppress" or mask.cells or not keep.all():
        # Arrow cannot choose rows of all types, but of normalized ones.
        table = pa.table({name: plain_column(table.column(name)) for name in table.column_names})
    if config.missing == "suppress":
        for name in config.quasi:
            keep &= table.column(name).is_valid().to_numpy()
    for name, flags in mask.cells.items():
        cells = table.column(name)
        cells = pc.if_else(pa.array(flags), pa.scalar(None, cells.type), cells)
        table = table.set_column(table.schema.get_field_index(name), name, cells)
    return (table if keep.all() else table.filter(pa.array(keep))), keep


def missing_cells(batch: pa.RecordBatch | pa.Table, config: Config) -> Int64:
    """Count the rows without a value of each quasi-identifier, whatever masks say of them."""
    return np.array([plain_array(batch.column(name)).null_count for name in config.quasi], dtype=np.int64)


def coded_columns(config: Config) -> tuple[str, ...]:
    """Return the columns whose distinct values must be counted when the table is not in memory.

    They are the quasi-identifiers, the sensitive attributes of models beyond k, and people last.
    """
    named = {column for model in config.privacy for column in model.columns(config.sensitive)}
    people = () if config.entity is None else (config.entity,)
    return (*config.quasi, *(column for column in config.sensitive if column in named), *people)


def refuse_missing(missing: Int64, config: Config) -> None:
    """Raise a DataError if quasi-identifiers have missing values, counted in their order, and that is forbidden."""
    listed = ", ".join(f"{name} ({rows:,})" for name, rows in zip(config.quasi, missing, strict=True) if rows)
    if config.missing == "error" and listed:
        raise DataError(
            f"Rows have missing values in {listed}.",
            hint='Fill them, or set missing = "category" (a separate value) or "suppress" (remove such rows).',
        )


def make_codebook(
    config: Config, counted: Mapping[str, CountedValues], *, rows: int, all_rows: int, mask: Mask | None = None
) -> Codebook:
    """Make domains from the counted values of the quasi-identifiers, and of what else is to have codes.

    Raises:
        DataError: Values have the wrong type or are missing from their hierarchy.
    """
    sensitive = tuple(name for name in (*config.sensitive, config.entity) if name is not None and name in counted)
    made = {name: counted_domain(name, counted[name], config) for name in (*config.quasi, *sensitive)}
    totals = {}
    for name in sensitive:
        domain, lookup = made[name]
        rows_of = np.append(counted[name].counts, counted[name].missing)[: len(lookup.codes)]
        totals[name] = np.bincount(lookup.codes, weights=rows_of, minlength=domain.size).astype(np.int64)
    return Codebook(
        config,
        tuple(made[name][0] for name in config.quasi),
        tuple(made[name][1] for name in config.quasi),
        tuple(made[name][0] for name in sensitive),
        tuple(made[name][1] for name in sensitive),
        totals,
        rows,
        all_rows,
        mask or Mask(),
    )


def counted_domain(name: str, counted: CountedValues, config: Config) -> tuple[Domain, Lookup]:
    """Return one column as a domain, and a lookup for the codes of its cells."""
    hierarchy = config.hierarchies.get(name)
    weight = float(config.weights.get(name, 1.0))
    if name == config.entity:
        domain, codes = _people(name, counted)
    elif name in config.ordered:
        domain, codes = _numbers(name, counted, weight, config.ordered[name])
    elif hierarchy is not None or _kind(name, counted, config) == "category":
        bound = (hierarchy or Hierarchy.flat()).bind(
            counted.values, counts=counted.counts, column=name, missing=counted.missing > 0
        )
        # Two spellings of one number share a leaf: the domain shows the first of them.
        size = bound.tree.leaves
        first = np.full(size, len(counted.values), dtype=np.int64)
        np.minimum.at(first, bound.codes, np.arange(len(bound.codes)))
        last = size - 1 if counted.missing else -1
        values, labelled = _take(counted.values, first), hierarchy is not None
        domain = Domain(name, "tree", values, None, bound.tree, last, weight, labelled=labelled)
        codes = np.append(bound.codes, size - 1).astype(np.int32)
    else:
        domain, codes = _numbers(name, counted, weight)
    if name in config.round:
        domain = replace(domain, step=Decimal(str(config.round[name])))
    return domain, Lookup(name, counted.values, codes[: len(counted.values) + (counted.missing > 0)])


def _kind(name: str, counted: CountedValues, config: Config) -> str:
    return config.types.get(name) or guess_type(counted.values, counted.counts, column=name)


def _people(name: str, counted: CountedValues) -> tuple[Domain, Int32]:
    """Encode people, only to distinguish them. Rows that name nobody count as one person together, to be safe."""
    distinct = counted.values
    if counted.missing:
        distinct = pa.concat_arrays([distinct, pa.nulls(1, distinct.type)])
    last = len(distinct) - 1 if counted.missing else -1
    domain = Domain(name, "tree", distinct, None, None, last, 1.0, labelled=False)
    return domain, np.arange(len(distinct), dtype=np.int32)


def _numbers(name: str, counted: CountedValues, weight: float, ranks: tuple[str, ...] = ()) -> tuple[Domain, Int32]:
    if ranks:
        numbers = as_ranks(counted.values, counted.counts, column=name, order=ranks)
    else:
        numbers = as_numbers(counted.values, counted.counts, column=name)
    order = numbers.order
    offsets = numbers.offsets[order]
    step = np.ones(len(offsets), dtype=np.bool_)
    step[1:] = ~numbers.same_as_before
    code_of_sorted = np.cumsum(step) - 1
    codes = np.empty(len(order) + 1, dtype=np.int32)
    codes[order] = code_of_sorted
    codes[-1] = code_of_sorted[-1] + 1 if len(order) else 0
    first, offsets = order[step], offsets[step]
    if counted.missing:
        first, offsets = np.append(first, len(order)), np.append(offsets, np.nan)
    last = len(first) - 1 if counted.missing else -1
    values = _take(counted.values, first)
    domain = Domain(name, "number", values, offsets.astype(np.float64), None, last, weight, labelled=False, order=ranks)
    return domain, codes


def _take(distinct: pa.Array, places: Int64) -> pa.Array:
    """Return the values at these positions; null for a position past the end (missing)."""
    return distinct.take(pa.array(places, mask=places >= len(distinct)))
