"""Map PostgreSQL's types to Arrow's: how columns are selected, received and stored."""

from __future__ import annotations

from contextlib import suppress

import pyarrow as pa
import pyarrow.compute as pc

from coterie.errors import DataError
from coterie.files.databases.drivers import stored
from coterie.files.databases.place import Place, quoted

# Types received unchanged; all others are selected as text, which PostgreSQL supports for every type.
_PLAIN = frozenset(
    (
        *("bool", "int2", "int4", "int8", "float4", "float8", "text", "varchar", "name", "bytea"),
        *("date", "time", "timestamp", "timestamptz"),
    )
)
# Types that PostgreSQL lacks → those that hold their values.
_WIDER = {pa.int8(): pa.int16(), pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64()}
_WIDER[pa.uint64()] = pa.decimal128(20, 0)
_DIGITS = 38  # of a 128-bit decimal
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # 0001-01-01 and 9999-12-31, in days since 1970
_MICROSECONDS = 86_400_000_000


def asked(field: pa.Field) -> str:
    """Return how a column is selected."""
    name, kind = quoted(field.name), type_name(field)
    if kind == "money":
        return f"given.{name}::numeric AS {name}"
    if kind in _PLAIN or kind == "numeric" or (kind.startswith("_") and kind[1:] in _PLAIN):
        return f"given.{name}"
    return f"given.{name}::text AS {name}"


def type_name(field: pa.Field) -> str:
    """Return PostgreSQL's name for the type of a column, from the driver's metadata."""
    return str((field.metadata or {}).get(b"POSTGRESQL:type", b""), "utf-8")


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """Return the same columns without the driver's metadata."""
    return pa.schema([(each.name, getattr(each.type, "storage_type", each.type)) for each in schema])


def without_notes(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the same rows without the driver's metadata."""
    columns = [column.storage if isinstance(column.type, pa.BaseExtensionType) else column for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, schema=plain_schema(batch.schema))


def arrived(column: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    """Return a received column in its final type."""
    return _numbers(column, field) if type_name(field) == "numeric" else _checked(column, field.name)


def _numbers(column: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    """Parse numeric columns, which the driver returns as text, as decimals; keep text for NaN or over 38 digits."""
    modifier = int((field.metadata or {}).get(b"POSTGRESQL:typmod", b"-1"))
    if modifier >= 0:  # numeric(precision, scale)
        precision, scale = (modifier - 4) >> 16 & 0xFFFF, (modifier - 4) & 0x7FF
        if scale <= precision <= _DIGITS:
            with suppress(pa.ArrowInvalid):
                return column.cast(pa.decimal128(precision, scale))
    parts = pc.extract_regex(column.drop_null(), r"^-?(?P<whole>[0-9]+)(?:\.(?P<part>[0-9]+))?$")
    if parts.null_count:
        return column
    whole, scale = (pc.max(pc.utf8_length(pc.struct_field(parts, each))).as_py() or 0 for each in ("whole", "part"))
    return column if whole + scale > _DIGITS else column.cast(pa.decimal128(_DIGITS, scale))


def _checked(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Refuse infinity and out-of-range years, which would become arbitrary dates."""
    kind = column.type
    if pa.types.is_date32(kind):
        least, most, scale = _FIRST_DAY, _LAST_DAY, pa.int32()
    elif pa.types.is_timestamp(kind):
        least, most, scale = _FIRST_DAY * _MICROSECONDS, (_LAST_DAY + 1) * _MICROSECONDS - 1, pa.int64()
    else:
        return column
    values = column.cast(scale)
    outside = pc.sum(pc.or_(pc.less(values, least), pc.greater(values, most))).as_py()
    if outside:
        raise DataError(
            f"Column {name!r} has {outside:,} dates that are infinite or outside the years 1 to 9999.",
            column=name,
            rows=outside,
            hint="Use a query that turns them into NULL.",
        )
    return column


def storable(column: pa.ChunkedArray, *, name: str, place: Place) -> pa.ChunkedArray:
    """Cast the column to a type that COPY supports."""
    column = stored(column, name=name, place=place)
    kind = column.type
    if kind in _WIDER:
        return column.cast(_WIDER[kind])
    if pa.types.is_time(kind):
        return column.cast(pa.time64("us"), safe=False)
    if pa.types.is_timestamp(kind):
        return column.cast(pa.timestamp("us", kind.tz), safe=False)
    return column.cast(pa.string()) if pa.types.is_duration(kind) else column


def declared(kind: pa.DataType) -> str:
    """Return the SQL type of a new column."""
    if pa.types.is_list(kind):
        return f"{declared(kind.value_type)}[]"
    if pa.types.is_decimal(kind):
        # A numeric without limits was read with as many digits as there can be.
        return "numeric" if kind.precision == _DIGITS else f"numeric({kind.precision},{kind.scale})"
    if pa.types.is_timestamp(kind):
        return "timestamptz" if kind.tz else "timestamp"
    names = {
        pa.bool_(): "boolean",
        pa.int16(): "smallint",
        pa.int32(): "integer",
        pa.int64(): "bigint",
        pa.float32(): "real",
        pa.float64(): "double precision",
        pa.date32(): "date",
        pa.time64("us"): "time",
        pa.binary(): "bytea",
    }
    return names.get(kind, "text")
