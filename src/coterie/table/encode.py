"""Columns → codes. Strings, numbers, dates and missing values end here; methods see integers only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import Bool, Int32, Int64
from coterie.errors import DataError
from coterie.hierarchies.hierarchy import Hierarchy
from coterie.table.domain import Domain
from coterie.table.table import Table
from coterie.values.numbers import as_numbers, guess_type
from coterie.values.plain import plain_column

if TYPE_CHECKING:
    from coterie.settings.config import Config
    from coterie.table.masks import Mask


class EncodedTable(NamedTuple):
    """A table of codes and where its rows come from."""

    table: Table
    rows: Int64
    """row of the table → position in the columns; shorter than these where rows are suppressed from the start"""


@dataclass(frozen=True, eq=False)
class _Values:
    """A column as its distinct values (missing ones apart) and, per row, which of them it holds."""

    distinct: pa.Array
    index: Int32
    """row → place in `distinct`, or len(distinct) for a missing value"""
    tally: Int64 | None = None
    """place → rows, where these were counted elsewhere"""

    def counts(self) -> Int64:
        if self.tally is not None:
            return self.tally
        return np.bincount(self.index, minlength=len(self.distinct) + 1)[: len(self.distinct)]

    @property
    def is_missing(self) -> Bool:
        return np.equal(self.index, len(self.distinct))


def encode(columns: pa.Table, config: Config, mask: Mask | None = None) -> EncodedTable:
    """Encode the quasi-identifiers and sensitive columns that the configuration names, people last.

    Rows that the mask suppresses are left out; cells that it suppresses are missing.
    """
    people = () if config.entity is None else (config.entity,)
    read = {name: _values(columns.column(name), name=name) for name in (*config.quasi, *config.sensitive, *people)}
    keep = _rows_to_keep(read, config)
    if mask is not None:
        keep = keep if mask.rows is None else keep & ~mask.rows
        for name, flags in mask.cells.items():
            index = np.where(flags, len(read[name].distinct), read[name].index).astype(np.int32)
            read[name] = _only_present(_Values(read[name].distinct, index))
    if not keep.all():
        read = {name: _Values(values.distinct, values.index[keep]) for name, values in read.items()}
        read = {name: _only_present(values) for name, values in read.items()}

    def encode_all(names: tuple[str, ...]) -> tuple[tuple[Domain, ...], Int32]:
        made = [
            _person_domain(name, read[name]) if name == config.entity else encode_column(name, read[name], config)
            for name in names
        ]
        codes = np.empty((int(keep.sum()), len(names)), dtype=np.int32)
        for j, (_, column) in enumerate(made):
            codes[:, j] = column
        return tuple(domain for domain, _ in made), codes

    domains, codes = encode_all(config.quasi)
    sensitive, sensitive_codes = encode_all((*config.sensitive, *people))
    table = Table(codes, domains, sensitive_codes, sensitive, config.leaf_counts)
    return EncodedTable(table, np.flatnonzero(keep))


def _person_domain(name: str, values: _Values) -> tuple[Domain, Int32]:
    """People are told apart and nothing else. Rows that name nobody are one person together: the safe side."""
    missing = bool(values.is_missing.any())
    distinct = values.distinct
    if missing:
        distinct = pa.concat_arrays([distinct, pa.nulls(1, distinct.type)])
    last = len(distinct) - 1 if missing else -1
    return Domain(name, "tree", distinct, None, None, last, 1.0, labelled=False), values.index


def _values(column: pa.ChunkedArray, *, name: str) -> _Values:
    """The distinct values of a column and where they stand; NaN is missing, −0.0 is 0.0."""
    column = plain_column(column)
    if pa.types.is_null(column.type):  # Arrow encodes such columns in one chunk only
        return _Values(pa.nulls(0), np.zeros(len(column), dtype=np.int32))
    try:
        encoded = column.dictionary_encode()
    except pa.ArrowNotImplementedError:
        raise DataError(
            f"Column {name!r} is of type {column.type}, whose values cannot be compared.",
            column=name,
            rows=len(column),
            hint="Turn it into text, numbers or dates, or list it in keep or drop instead.",
        ) from None
    encoded = encoded.unify_dictionaries().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):  # no chunks at all
        encoded = (
            pa.concat_arrays(encoded.chunks) if encoded.num_chunks else pa.array([], column.type).dictionary_encode()
        )
    distinct = encoded.dictionary
    index = encoded.indices.fill_null(len(distinct)).to_numpy(zero_copy_only=False).astype(np.int32)
    return _only_present(_Values(distinct, index))


def _only_present(values: _Values) -> _Values:
    """Drop values that no row holds (a categorical column may list such)."""
    used = values.counts() > 0
    if used.all():
        return values
    place = np.cumsum(np.append(used, True)) - 1
    return _Values(values.distinct.filter(pa.array(used)), place[values.index].astype(np.int32))


def _rows_to_keep(read: dict[str, _Values], config: Config) -> Bool:
    """Which rows stay under the configured treatment of missing quasi-identifiers."""
    missing = {name: int(read[name].is_missing.sum()) for name in config.quasi}
    rows = len(next(iter(read.values())).index)
    keep = np.ones(rows, dtype=np.bool_)
    if config.missing == "error" and any(missing.values()):
        listed = ", ".join(f"{name} ({count:,})" for name, count in missing.items() if count)
        raise DataError(
            f"Rows have missing values in {listed}.",
            hint='Fill them, or set missing = "category" (a value of its own) or "suppress" (take such rows out).',
        )
    if config.missing == "suppress":
        for name in config.quasi:
            keep &= ~read[name].is_missing
    return keep


def encode_column(name: str, values: _Values, config: Config) -> tuple[Domain, Int32]:
    """One column as a domain and a code per row."""
    hierarchy = config.hierarchies.get(name)
    missing = bool(values.is_missing.any())
    counts = values.counts()
    weight = float(config.weights.get(name, 1.0))
    kind = config.types.get(name)
    if hierarchy is None and (kind or guess_type(values.distinct, counts, column=name)) != "category":
        return _number_domain(name, values, missing=missing, weight=weight)
    bound = (hierarchy or Hierarchy.flat()).bind(values.distinct, counts=counts, column=name, missing=missing)
    # Two spellings of one number share a leaf: the domain shows the first of them.
    size = bound.tree.leaves
    first = np.full(size, len(values.distinct), dtype=np.int64)
    np.minimum.at(first, bound.codes, np.arange(len(bound.codes)))
    codes = np.append(bound.codes, size - 1).astype(np.int32)
    domain = Domain(
        name=name,
        kind="tree",
        values=_take(values.distinct, first),
        numbers=None,
        tree=bound.tree,
        missing=size - 1 if missing else -1,
        weight=weight,
        labelled=hierarchy is not None,
    )
    return domain, codes[values.index]


def encode_distinct(
    name: str, distinct: pa.Array, *, counts: Int64, missing: bool, config: Config
) -> tuple[Domain, Int32]:
    """A column that was counted elsewhere, as a domain and a code per distinct value; the last code is of missing ones.

    Args:
        name: The column.
        distinct: Its distinct values without null, in plain form, in the order of their first rows.
        counts: Distinct value → rows.
        missing: Whether values are missing.
        config: Types, hierarchies and weights.
    """
    index = np.arange(len(distinct) + missing, dtype=np.int32)
    return encode_column(name, _Values(distinct, index, counts), config)


def encode_people(name: str, distinct: pa.Array, *, missing: bool) -> tuple[Domain, Int32]:
    """People that were counted elsewhere, as `encode_distinct` has other columns."""
    return _person_domain(name, _Values(distinct, np.arange(len(distinct) + missing, dtype=np.int32)))


def encode_values(column: pa.ChunkedArray, *, name: str, config: Config) -> tuple[Domain, Int32]:
    """A column that need not have a role in the configuration, as a domain and a code per row."""
    values = _values(column, name=name)
    if name not in config.types and name not in config.hierarchies:
        try:
            guess_type(values.distinct, values.counts(), column=name)
        except DataError:
            # Nobody was asked about this column: what looks like numbers with text among them is text.
            config = config.model_copy(update={"types": {**config.types, name: "category"}})
    return encode_column(name, values, config)


def _number_domain(name: str, values: _Values, *, missing: bool, weight: float) -> tuple[Domain, Int32]:
    numbers = as_numbers(values.distinct, values.counts(), column=name)
    order = numbers.order
    offsets = numbers.offsets[order]
    step = np.ones(len(offsets), dtype=np.bool_)
    step[1:] = ~numbers.same_as_before
    code_of_sorted = np.cumsum(step) - 1
    codes = np.empty(len(order) + 1, dtype=np.int32)
    codes[order] = code_of_sorted
    codes[-1] = code_of_sorted[-1] + 1 if len(order) else 0
    first = order[step]
    if missing:
        first = np.append(first, len(order))
        offsets = np.append(offsets[step], np.nan)
    else:
        offsets = offsets[step]
    domain = Domain(
        name=name,
        kind="number",
        values=_take(values.distinct, first),
        numbers=offsets.astype(np.float64),
        tree=None,
        missing=len(first) - 1 if missing else -1,
        weight=weight,
        labelled=False,
    )
    return domain, codes[values.index]


def _take(distinct: pa.Array, places: Int64) -> pa.Array:
    """Values at these places; null where the place is past the end (missing)."""
    return distinct.take(pa.array(places, mask=places >= len(distinct)))
