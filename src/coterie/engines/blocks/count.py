"""The first pass over a large table: each column's distinct values and their row counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from coterie.arrays import Int64
from coterie.errors import DataError
from coterie.table.codebook import (
    Codebook,
    CountedValues,
    coded_columns,
    make_codebook,
    missing_cells,
    refuse_missing,
    taking_part,
)
from coterie.values.plain import plain_array

if TYPE_CHECKING:
    from coterie.files.batches import TableFile
    from coterie.methods._method import Progress
    from coterie.settings.config import Config
    from coterie.table.masks import Mask

# Distinct values of batches to keep before merging equal ones.
PENDING = 2**19
# Total bytes per distinct value: as a value, a number, a code, and during lookup.
VALUE_BYTES = 256


class _Tally:
    """The distinct values of one column, in order of first appearance."""

    def __init__(self, name: str, limit: int) -> None:
        self.name, self.limit = name, limit
        self.missing = 0
        self._values: list[pa.Array] = []
        self._counts: list[Int64] = []
        self._held = 0

    def add(self, column: pa.Array) -> None:
        cells = plain_array(column)
        self.missing += cells.null_count
        try:
            found = pc.value_counts(cells.drop_null())
        except pa.ArrowNotImplementedError:
            raise DataError(
                f"Column {self.name!r} is of type {cells.type}, whose values cannot be compared.",
                column=self.name,
                hint="Convert it to text, numbers or dates, or list it in keep or drop instead.",
            ) from None
        self._values.append(found.field("values"))
        self._counts.append(found.field("counts").to_numpy())
        self._held += len(found)
        if self._held > PENDING:
            self._add_up()

    def _add_up(self) -> None:
        kinds = {part.type for part in self._values}
        wanted = next(iter(kinds)) if len(kinds) == 1 else next(kind for kind in kinds if not pa.types.is_null(kind))
        whole = pa.concat_arrays([part.cast(wanted) for part in self._values])
        counts = np.concatenate(self._counts)
        if not pa.types.is_null(wanted):
            encoded = whole.dictionary_encode()
            whole = encoded.dictionary
            places = encoded.indices.to_numpy(zero_copy_only=False)
            counts = np.bincount(places, weights=counts, minlength=len(whole)).astype(np.int64)
        self._values, self._counts = [whole], [counts]
        self._held = 0
        if len(whole) > self.limit:
            raise DataError(
                f"Column {self.name!r} has more than {self.limit:,} distinct values, the most that fit in memory.",
                column=self.name,
                hint="Round its values, allow more memory, or list it in keep or drop instead.",
            )

    def result(self) -> CountedValues:
        if self._values:
            self._add_up()
            return CountedValues(self._values[0], self._counts[0], self.missing)
        return CountedValues(pa.nulls(0), np.zeros(0, dtype=np.int64), self.missing)


def count_table(
    table: TableFile, config: Config, mask: Mask, *, memory: int, progress: Progress | None = None
) -> Codebook:
    """Read a table once and fix the codes of all its values, of which there may be as many as fit in memory."""
    names = coded_columns(config)
    tallies = {name: _Tally(name, memory // VALUE_BYTES) for name in names}
    missing = np.zeros(len(config.quasi), dtype=np.int64)
    rows = kept = 0
    for batch in table.batches(names):
        if config.missing == "error":
            missing += missing_cells(batch, config)
        part, _ = taking_part(batch, config, mask.of(np.arange(rows, rows + batch.num_rows)))
        rows += batch.num_rows
        kept += part.num_rows
        for name, tally in tallies.items():
            tally.add(part.column(name))
        if progress is not None:
            progress("read", rows, table.rows or 0)
    if rows == 0:
        raise DataError(f"{table.name} has a header but no rows.", hint="Give a table with at least one row.")
    mask.check(rows)
    refuse_missing(missing, config)
    counted = {name: tally.result() for name, tally in tallies.items()}
    return make_codebook(config, counted, rows=kept, all_rows=rows, mask=mask)
