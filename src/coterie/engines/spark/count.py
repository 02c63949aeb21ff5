"""The first pass over a table on Spark: each column's distinct values, counted where the rows are."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from coterie.arrays import Bool, Int64
from coterie.engines.spark.guard import guarded, guarded_task
from coterie.engines.spark.rows import RowNumbers, all_rows_sum, fingerprints, numbers_from
from coterie.engines.spark.tasks import MESSAGE, Batches, message, named, opened
from coterie.errors import ConfigError, DataError, Problem
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
    from pyspark.sql import DataFrame

    from coterie.engines.spark.source import NumberedRows
    from coterie.settings.config import Config
    from coterie.table.masks import Mask


def _refuse_nested(rows: NumberedRows, config: Config) -> None:
    """Refuse lists and structs, which have no order and no hierarchy."""
    for name in coded_columns(config):
        kind = rows.frame.schema[f"c{rows.names.index(name)}"].dataType
        if kind.typeName() in ("array", "map", "struct", "variant"):
            raise DataError(
                f"Column {name!r} is of type {kind.typeName()}, whose values cannot be compared.",
                column=name,
                hint="Convert it to text, numbers or dates, or list it in keep or drop instead.",
            )


def messages(frame: DataFrame, task: Callable[..., Any]) -> list[tuple[str, pa.Table]]:
    """Collect the tasks' messages to the driver, by kind."""
    found = frame.mapInArrow(task, MESSAGE).toArrow()
    pairs = zip(found.column("kind").to_pylist(), found.column("body").to_pylist(), strict=True)
    return [(kind, opened(body)) for kind, body in pairs]


def count_table(rows: NumberedRows, frame: DataFrame, config: Config, mask: Mask) -> tuple[Codebook, RowNumbers]:
    """Read a table once and fix the codes of all its values, and the numbers of its rows."""
    _refuse_nested(rows, config)
    with guarded("counting values"):
        found = messages(frame, partial(count_values, config=config, mask=mask))
    parts = [table for kind, table in found if kind == "rows" and table.num_rows]
    if not parts:
        raise DataError("The DataFrame has no rows.", hint="Give a table with at least one row.")
    seen = pa.concat_tables(parts)
    total, kept = (int(np.sum(seen.column(name).to_numpy())) for name in ("rows", "kept"))
    numbers = RowNumbers()
    if not rows.dense:
        numbers = numbers_from(seen.column("partition").to_numpy(), seen.column("rows").to_numpy())
    elif int(np.sum(seen.column("sum").to_numpy())) % 2**64 != all_rows_sum(total):
        raise _no_row_numbers(rows, total)
    mask.check(total)
    missing = [table.column("rows").to_numpy() for kind, table in found if kind == "missing"]
    refuse_missing(np.sum(missing, axis=0), config)
    counted = {name: _of_column(found, name) for name in coded_columns(config)}
    return make_codebook(config, counted, rows=kept, all_rows=total, mask=mask), numbers


def _no_row_numbers(rows: NumberedRows, total: int) -> Exception:
    if rows.named is None:
        return DataError("The files have changed while they were read.", hint="Run again when nobody writes to them.")
    text = f"column {rows.named!r} does not number the {total:,} rows 0 to {total - 1:,}, each once"
    return ConfigError([Problem("row_number", text)])


def _of_column(found: list[tuple[str, pa.Table]], name: str) -> CountedValues:
    parts = [table for kind, table in found if kind == f"values:{name}"]
    if not parts:
        return CountedValues(pa.nulls(0), np.zeros(0, dtype=np.int64), 0)
    merged = merged_counts(parts).sort_by("first")
    values, counts = merged.column("value").combine_chunks(), merged.column("rows").to_numpy()
    missing = values.is_null().to_numpy(zero_copy_only=False)
    return CountedValues(values.drop_null(), counts[~missing], int(counts[missing].sum()))


# Distinct values that are kept apart before they are counted together.
PENDING = 2**20


@guarded_task
def count_values(batches: Batches, *, config: Config, mask: Mask) -> Batches:
    """Distinct values of each column with their rows and the first of these; and the rows of each partition."""
    names = coded_columns(config)
    parts: dict[str, list[pa.Table]] = {name: [] for name in names}
    held = 0
    rows: dict[int, list[int]] = {}
    missing = np.zeros(len(config.quasi), dtype=np.int64)
    for batch in batches:
        keys = batch.column(batch.num_columns - 1).fill_null(-1).to_numpy(zero_copy_only=False)
        table = named(batch, names)
        if config.missing == "error":
            missing += missing_cells(table, config)
        table, keep = taking_part(table, config, mask.of(keys))
        _count_rows(rows, keys, keep)
        keys = keys[keep]
        for name in names:
            found = pa.table({"value": plain_array(table.column(name)), "rows": np.ones(len(keys), np.int64)})
            parts[name].append(merged_counts([found.append_column("first", pa.array(keys, pa.int64()))]))
            held += parts[name][-1].num_rows
        if held > PENDING:
            parts = {name: [merged_counts(tables)] for name, tables in parts.items() if tables}
            held = 0
    for name, tables in parts.items():
        if tables:
            yield message(f"values:{name}", merged_counts(tables))
    yield message("missing", pa.table({"rows": missing}))
    seen = sorted(rows)
    columns = {
        "partition": pa.array(seen, pa.int64()),
        "rows": pa.array([rows[each][0] for each in seen], pa.int64()),
        "kept": pa.array([rows[each][1] for each in seen], pa.int64()),
        # All row numbers of a table leave the same sum, whatever their order.
        "sum": pa.array([rows[each][2] for each in seen], pa.uint64()),
    }
    yield message("rows", pa.table(columns))


def _count_rows(rows: dict[int, list[int]], keys: Int64, keep: Bool) -> None:
    partition = keys >> RowNumbers.SHIFT
    for each in np.unique(partition):
        mine = partition == each
        found = rows.setdefault(int(each), [0, 0, 0])
        found[0] += int(np.count_nonzero(mine))
        found[1] += int(np.count_nonzero(mine & keep))
        found[2] = (found[2] + int(fingerprints(keys[mine]).sum())) % 2**64


def merged_counts(parts: list[pa.Table]) -> pa.Table:
    """Add up counts of one column from several places."""
    joined = pa.concat_tables(parts)
    grouped = joined.group_by("value", use_threads=False).aggregate([("rows", "sum"), ("first", "min")])
    return grouped.select(["value", "rows_sum", "first_min"]).rename_columns(["value", "rows", "first"])
