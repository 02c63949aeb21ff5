"""Share code between the drivers that read and write database tables.

A table is read in batches within one transaction and written in batches within one transaction, so it is written
completely or not at all. Drivers' messages may quote cells, so none of them is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

import pyarrow as pa
import pyarrow.compute as pc

from coterie.errors import ConfigError, DataError, Problem
from coterie.files.databases.place import Place

BATCH = 20_000
"""rows per batch of a driver"""

_MOST_NAMED = 10


def no_table(place: Place, there: Sequence[str]) -> DataError:
    """Return the error for a missing table, which suggests those with similar names, or else the first ones."""
    near = get_close_matches(place.label, there, n=3, cutoff=0.6)
    some = near or list(there)[:_MOST_NAMED]
    more = f" and {len(there) - len(some):,} more" if len(there) > len(some) and not near else ""
    hint = f"There {'is' if len(some) == 1 else 'are'} {', '.join(some)}{more}." if some else "It has no tables."
    return DataError(f"There is no table {place.label} in {place.shown}.", hint=hint)


def target_exists(place: Place, *, force: bool, kind: str) -> None:
    """Refuse an existing target, unless it is a table that may be replaced."""
    if not force:
        raise ConfigError(
            [Problem("output", f"{place.name} exists already")],
            hint="Choose another name, or overwrite it with force=True.",
        )
    if kind != "table":
        raise ConfigError([Problem("output", f"{place.name} is a {kind}, not a table")], hint="Choose another name.")


def refuse_names(names: Sequence[str], place: Place, *, fold: bool = False, longest: int | None = None) -> None:
    """Refuse column names that the database would truncate, reject or treat as equal."""
    folded = [name.lower() if fold else name for name in names]
    twice = sorted({name for name, same in zip(names, folded, strict=True) if folded.count(same) > 1})
    if twice:
        listed = ", ".join(map(repr, twice))
        raise DataError(f"{place.shown} takes the columns {listed} for the same.", hint="Rename one of them.")
    for name in (*names, place.table or "", place.schema or ""):
        if longest is not None and len(name.encode()) > longest:
            raise DataError(f"The name {name!r} is longer than {longest} bytes.", hint="Choose a shorter one.")
        if "\0" in name:
            raise DataError("A name contains a zero byte, which databases do not accept.", hint="Rename the column.")
    if "" in names:
        raise DataError(f"{place.shown} does not accept a column without a name.", hint="Give it one.")


def stored(column: pa.ChunkedArray, *, name: str, place: Place) -> pa.ChunkedArray:
    """Return the column without Arrow-specific encodings: dictionaries, views, extension types, run-end encoding."""
    if isinstance(column.type, pa.BaseExtensionType):
        column = pa.chunked_array([chunk.storage for chunk in column.chunks], column.type.storage_type)
    if pa.types.is_run_end_encoded(column.type):
        column = pa.chunked_array(map(pc.run_end_decode, column.chunks), column.type.value_type)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if pa.types.is_nested(kind) and not (pa.types.is_list(kind) and place.lists):
        raise DataError(
            f"Column {name!r} is of type {kind}, which {place.shown} cannot store.",
            column=name,
            hint="Turn it into text, or leave it out.",
        )
    if pa.types.is_null(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return column.cast(pa.string())
    if pa.types.is_fixed_size_binary(kind) or pa.types.is_binary_view(kind) or pa.types.is_large_binary(kind):
        return column.cast(pa.binary())
    if pa.types.is_float16(kind):
        return column.cast(pa.float32())
    if pa.types.is_date64(kind):
        return column.cast(pa.date32())
    return column
