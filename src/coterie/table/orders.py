"""The order that columns bring along: an ordered categorical of pandas, an Enum, an ordered dictionary of Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from coterie.errors import DataError
from coterie.values.scalars import is_text

if TYPE_CHECKING:
    from coterie.settings.config import Config


def with_orders(config: Config, columns: pa.Table | pa.RecordBatch) -> Config:
    """Return the configuration with the order of ordered quasi-identifiers; explicit settings take precedence.

    Raises:
        DataError: The pieces of a column list its values in different orders.
    """
    settled = {*config.ordered, *config.hierarchies, *config.types}
    found = {
        name: _order(columns.column(name), name)
        for name in config.quasi
        if name not in settled and _is_ordered(columns.schema.field(name).type)
    }
    found = {name: order for name, order in found.items() if order}
    return config.replace(ordered={**config.ordered, **found}) if found else config


def _is_ordered(kind: pa.DataType) -> bool:
    # Numbers and dates have an order and distances of their own.
    return bool(pa.types.is_dictionary(kind) and kind.ordered and is_text(kind.value_type))


def _order(column: pa.ChunkedArray | pa.DictionaryArray, name: str) -> tuple[str, ...]:
    pieces = [piece.dictionary.cast(pa.large_string()) for piece in getattr(column, "chunks", [column])]
    order: dict[str, None] = {}
    for piece in pieces:
        order.update(dict.fromkeys(piece.drop_null().to_pylist()))
    listed = pa.array(order, pa.large_string())
    for piece in pieces:
        places = pc.index_in(piece.drop_null(), value_set=listed).to_pylist()
        if places != sorted(places):
            raise DataError(
                f"Column {name!r} is ordered, but its pieces list its values in different orders.",
                column=name,
                hint=f'Give the order as ordered.{name}, or set types.{name} = "category" to go without.',
            )
    return tuple(order)
