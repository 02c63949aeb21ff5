"""Convert any kind of frame to Arrow and back to the same kind.

Narwhals identifies frames. An unchanged column is returned as the caller's own, with its dtype and time
zone; a changed one is built from Arrow with the nearest dtype. pandas' other metadata (the index, `attrs`,
the name of the columns) is dropped. The caller's frame is only read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from coterie.errors import DataError
from coterie.files.header import listed_twice

if TYPE_CHECKING:
    from pathlib import Path

    from coterie.files.databases.place import Place
    from coterie.files.dialect import Dialect
    from coterie.files.input import Format

FrameKind = Literal["pandas", "polars", "pyarrow", "batch", "arrow", "narwhals"]

Native: TypeAlias = Any
"""a frame, a series or a dtype of whichever library the caller uses"""
Rows: TypeAlias = "np.ndarray[Any, np.dtype[np.integer[Any]]]"
"""positions of rows"""

_NUMBER = re.compile(r"\s*[-+]?[\d.,:/-]*\d[\d.,:/-]*\s*")
_CONVERSION = (pa.ArrowException, TypeError, ValueError, OverflowError)


@dataclass(frozen=True, eq=False)
class Source:
    """A table that was read, with what is needed to return it the same way."""

    table: pa.Table
    kind: FrameKind | Literal["file"]
    name: str
    """its name in messages: "people.csv", "standard input", "the pandas frame", "sqlite:///people.db#people" """
    native: Native = None
    """the caller's frame: collected if it was lazy, copied if it is pandas"""
    path: Path | None = None
    """None for frames, for standard input and for databases"""
    sha256: str | None = None
    """of the file on disk, compressed or not; None for frames and databases"""
    format: Format | None = None
    dialect: Dialect | None = None
    """the dialect of a text file"""
    compression: Literal["gzip"] | None = None
    origin: Path | Place | None = field(default=None, repr=False)
    """its absolute path or address, which may not be overwritten"""


def take_frame(data: Native) -> Source:
    """Convert any frame to an Arrow table. Lazy frames are collected."""
    if isinstance(data, pa.Table):
        return Source(data, "pyarrow", "the PyArrow table", data)
    if isinstance(data, pa.RecordBatch):
        return Source(pa.Table.from_batches([data]), "batch", "the PyArrow record batch", data)
    import narwhals as nw

    if is_pandas(data):
        # Arrow shares memory with pandas. With a copy, later changes to the caller's frame cannot affect the table.
        data = data.copy()
        return Source(_from_pandas(data), "pandas", "the pandas frame", data)
    if nw.dependencies.is_polars_lazyframe(data):
        data = data.collect()
    if nw.dependencies.is_polars_dataframe(data):
        return Source(_from_polars(data), "polars", "the Polars frame", data)
    frame = nw.from_native(data, pass_through=True)
    name = f"the {type(data).__name__}"
    if isinstance(frame, nw.LazyFrame):
        return Source(_collected(lambda: frame.collect("pyarrow").to_native(), name), "arrow", name)
    if isinstance(frame, nw.DataFrame):
        return Source(_collected(frame.to_arrow, name), "narwhals", name, frame)
    if hasattr(data, "__arrow_c_stream__"):
        with suppress(*_CONVERSION):  # a single column streams too
            return Source(pa.table(data), "arrow", name)
    raise DataError(
        f"A {type(data).__name__} is not a table.",
        hint="Give a pandas, Polars or PyArrow frame, anything else that Narwhals takes, or the path of a file.",
    )


def is_pandas(data: Native) -> bool:
    """Return whether this is a pandas frame."""
    import narwhals as nw

    return bool(nw.dependencies.is_pandas_dataframe(data))


def _collected(collect: Callable[[], pa.Table], name: str) -> pa.Table:
    try:
        return collect()
    except Exception:
        # The message of any engine may quote a cell.
        raise DataError(
            f"{name} could not be collected into an Arrow table.", hint="Collect it yourself to see why."
        ) from None


def _from_pandas(frame: Native) -> pa.Table:
    check_names(list(frame.columns), "the pandas frame")
    columns = {}
    for position, name in enumerate(frame.columns):
        series = frame.iloc[:, position]
        try:
            columns[name] = pa.array(series, from_pandas=True)
        except _CONVERSION:
            raise _mixed(name) from None
    return pa.table(columns) if columns else pa.table({})


def _from_polars(frame: Native) -> pa.Table:
    import polars as pl

    columns = {}
    for series in frame.iter_columns():
        if series.dtype == pl.Object:  # Polars would export the objects' addresses
            raise _mixed(series.name)
        column = series.to_arrow()
        if pa.types.is_string_view(column.type):
            column = column.cast(pa.large_string())
        columns[series.name] = column
    return pa.table(columns)


def _mixed(name: str) -> DataError:
    return DataError(
        f"Column {name!r} contains values of several types, or Python objects.",
        column=name,
        hint="Make it one type, for example text, or drop it.",
    )


def check_names(names: list[Any], what: str) -> None:
    """Refuse a table without columns, and names that are not text or that occur twice."""
    if not names:
        raise DataError(f"{what} has no columns.", hint="Give a table with at least one column and one row.")
    odd = sum(not isinstance(name, str) for name in names)
    if odd:
        raise DataError(
            f"{what}: {odd} of the {len(names)} columns {'has a name that is' if odd == 1 else 'have names that are'} "
            "not text.",
            hint="Rename them, in pandas by frame.columns = frame.columns.map(str).",
        )
    if len(set(names)) < len(names):
        # A number among the names: this may be a file without a header, whose "names" are a person's data.
        shown = not any(_NUMBER.fullmatch(name) for name in names)
        raise DataError(
            f"{what}: columns {listed_twice(names, shown=shown)} have the same name.",
            hint="Give each column a unique name; the first row of a file must be its header.",
        )


def to_native(
    table: pa.Table,
    source: Source,
    *,
    kept: Rows | None = None,
    recoded: Collection[str] = (),
    keep_index: bool = False,
) -> Native:
    """Return a table as the kind of frame that was read.

    pandas and Polars frames get the caller's own columns back where nothing changed.
    A record batch is returned as one, a lazy Polars frame as a DataFrame; for files, DuckDB relations and other lazy
    frames the result is a PyArrow table.

    Args:
        table: the table to return.
        source: the input.
        kept: positions of the table's rows in the source, if some were left out.
        recoded: columns (the quasi-identifiers) to rebuild even if they look unchanged. Arrow, and so verification,
            knows one kind of missing value; pandas knows None, NaN and NA, and which of these a row had must not
            distinguish rows of a group.
        keep_index: whether a pandas frame keeps its index; otherwise rows are numbered from 0.
    """
    if source.kind == "file":
        return table
    expected = source.table.num_rows if kept is None else len(kept)
    if table.num_rows != expected:
        raise ValueError(f"{table.num_rows} rows to give back, {expected} expected: say which rows are kept")
    if source.kind == "pandas":
        return _to_pandas(table, source, kept=kept, recoded=recoded, keep_index=keep_index)
    if source.kind == "polars":
        return _to_polars(table, source, kept=kept)
    if source.kind == "batch":
        batches = table.combine_chunks().to_batches()
        return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=table.schema)
    return new_frame(table, source.kind, source.native)


def new_frame(table: pa.Table, kind: str, native: Native) -> Native:
    """Convert a new table to the same kind of frame as the input; an Arrow table if the input was not a frame."""
    if kind == "pandas":
        return table.to_pandas()
    if kind == "polars":
        import polars as pl

        return pl.from_arrow(table)
    if kind == "narwhals":
        import narwhals as nw

        return nw.from_arrow(table, backend=native.implementation).to_native()
    return table


def _unchanged(table: pa.Table, before: pa.Table, kept: Rows | None) -> set[str]:
    """Return the names of unchanged columns."""
    known = set(before.column_names)
    rows = None if kept is None else pa.array(kept)

    def same(name: str) -> bool:
        new, old = table.column(name), before.column(name)
        same_type = new.type.equals(old.type, check_metadata=True)
        return bool(same_type and new.equals(old if rows is None else old.take(rows)))

    return {name for name in table.column_names if name in known and same(name)}


def _to_polars(table: pa.Table, source: Source, *, kept: Rows | None) -> Native:
    import polars as pl

    before = source.native
    unchanged = _unchanged(table, source.table, kept)

    def series(name: str) -> Native:
        old = before.schema[name] if name in before.columns else None
        coded = isinstance(old, pl.Categorical | pl.Enum)
        if name in unchanged and not coded and not (own := before.get_column(name)).has_nulls():
            return own if kept is None else own.gather(kept)
        # Rebuilt from the stripped table: the memory of missing cells may contain anything.
        column = table.column(name)
        new = pl.Series(name, column)
        if isinstance(old, pl.Enum) and pa.types.is_dictionary(column.type):
            # Only the categories that occur are left.
            listed = column.unify_dictionaries().chunk(0).dictionary if column.num_chunks else []
            return new.cast(pl.Enum([str(each) for each in listed]))
        if coded:
            return new.cast(pl.Categorical)
        return new.cast(before.schema[name]) if name in unchanged else new

    return pl.DataFrame([series(name) for name in table.column_names])


def _to_pandas(
    table: pa.Table, source: Source, *, kept: Rows | None, recoded: Iterable[str], keep_index: bool
) -> Native:
    import pandas as pd

    before = source.native
    unchanged = _unchanged(table, source.table, kept) - set(recoded)

    def series(name: str) -> Native:
        if name in unchanged:
            # A copy, so that changing the result does not change the caller's frame.
            own = before[name].copy() if kept is None else before[name].take(kept)
            values, dtype = own.array, own.dtype
            if own.hasnans and (hasattr(values, "_mask") or hasattr(values, "_pa_array")):
                # The memory of missing cells in such arrays may contain anything.
                values = pd.array(own.to_numpy(dtype=object), dtype=dtype)
        else:
            values = _pandas_values(table.column(name), before[name].dtype if name in before.columns else None)
            dtype = values.dtype
        # With an explicit dtype: pandas would infer text for objects, and None would become NaN.
        return pd.Series(values, dtype=dtype)

    frame = pd.DataFrame({name: series(name) for name in table.column_names}, index=pd.RangeIndex(table.num_rows))
    if keep_index:
        frame.index = _index_of(before, kept)
    return frame


def _index_of(frame: Native, kept: Rows | None) -> Native:
    """Return the index of the kept rows, without unused levels."""
    import pandas as pd

    index = frame.index if kept is None else frame.index.take(kept)
    if isinstance(index, pd.MultiIndex):
        return index.remove_unused_levels()
    return index.remove_unused_categories() if isinstance(index, pd.CategoricalIndex) else index


def _pandas_values(column: pa.ChunkedArray, dtype: Native) -> Native:
    """Return a column in the dtype nearest to its original one."""
    import pandas as pd

    if isinstance(dtype, pd.ArrowDtype):
        return pd.arrays.ArrowExtensionArray(column)
    if pd.api.types.is_object_dtype(dtype) and _is_text(column.type):
        return pd.arrays.NumpyExtensionArray(column.to_numpy())  # missing cells are None
    if isinstance(dtype, pd.StringDtype) and _is_text(column.type):
        return dtype.__from_arrow__(column)  # missing cells are this dtype's own missing value
    if isinstance(dtype, pd.CategoricalDtype):
        plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        new = plain.to_pandas()
        present = set(new.dropna().unique())
        if present <= set(dtype.categories):
            # Only those that occur: the others would reveal values of the original.
            categories = [category for category in dtype.categories if category in present]
            return pd.Categorical(new, categories=categories, ordered=dtype.ordered)
        return pd.Categorical(new)
    nullable = {pa.string(): pd.StringDtype(), pa.large_string(): pd.StringDtype(), pa.bool_(): pd.BooleanDtype()}
    for name in ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64"):
        nullable[getattr(pa, name.lower())()] = getattr(pd, f"{name}Dtype")()
    if isinstance(dtype, pd.api.extensions.ExtensionDtype) and column.type in nullable:
        return column.to_pandas(types_mapper=nullable.get).array
    if pa.types.is_integer(column.type) and column.null_count:
        # Plain pandas would convert them to floats, and large numbers would lose digits.
        return column.to_pandas(types_mapper=nullable.get).array
    return column.to_pandas().array


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))
