"""Cells of text files that a spreadsheet would run as formulas: kept, escaped or refused.

A spreadsheet runs a cell that begins with =, +, −, @, a tab or a line end, unless it is a number. An apostrophe before
it makes it text. Cells that already have apostrophes before such a character get one as well, so that reading removes
exactly what writing added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from coterie.errors import ConfigError, DataError, Problem

if TYPE_CHECKING:
    from collections.abc import Callable

Formulas: TypeAlias = Literal["keep", "escape", "refuse"]
_Rows = TypeVar("_Rows", pa.Table, pa.RecordBatch)

_SIGNS = r"[=+\-@\t\r\n]"
_RUN = f"^'*{_SIGNS}"
_NUMBER = r"^[+-]?[0-9]+(?:[.,][0-9]+)*(?:[eE][+-]?[0-9]+)?$"
_ESCAPED = f"^'('*{_SIGNS})"


def written_safely(table: pa.Table, formulas: Formulas) -> pa.Table:
    """Return a table as it is written to a text file.

    Raises:
        DataError: There are such cells, and the policy is to refuse them.
        ConfigError: A column name is such a formula; names are not escaped, since references to them would break.
    """
    if formulas == "keep":
        return table
    names = [name for name in table.column_names if pc.match_substring_regex(pa.scalar(name), _RUN).as_py()]
    if names:
        text = f"spreadsheets would run the names of {len(names):,} columns as formulas; rename them"
        raise ConfigError([Problem("formulas", text)])

    def change(column: pa.Array, name: str) -> pa.Array:
        run = pc.and_not(pc.match_substring_regex(column, _RUN), pc.match_substring_regex(column, _NUMBER))
        count = pc.sum(run).as_py() or 0
        if count and formulas == "refuse":
            raise DataError(
                f"Column {name!r} has {count:,} cells that a spreadsheet would run as formulas.",
                column=name,
                rows=count,
                hint='Set formulas = "escape", write Parquet, or drop the column.',
            )
        kind = column.type
        quoted = pc.binary_join_element_wise(pa.scalar("'", kind), column, pa.scalar("", kind))
        return pc.if_else(run, quoted, column) if count else column

    return _changed(table, change)


def read_safely(rows: _Rows, formulas: Formulas) -> _Rows:
    """Return rows of a text file without the apostrophes that `escape` puts before formulas."""
    if formulas != "escape":
        return rows
    return _changed(rows, lambda column, _: pc.replace_substring_regex(column, _ESCAPED, r"\1"))


def _changed(rows: _Rows, change: Callable[[pa.Array, str], pa.Array]) -> _Rows:
    """Change the columns of text."""
    columns = []
    for name, column in zip(rows.schema.names, rows.columns, strict=True):
        if pa.types.is_dictionary(column.type) or pa.types.is_string_view(column.type):
            kind = column.type.value_type if pa.types.is_dictionary(column.type) else pa.large_string()
            column = column.cast(kind)
        text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        columns.append(change(column, name) if text else column)
    return type(rows).from_arrays(columns, names=rows.schema.names)
