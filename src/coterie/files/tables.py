"""Read and write files, frames and database tables: Narwhals, files and drivers outside, Arrow inside.

    read(frame or path)  →  Source.table  →  …  →  to_native(table, source)  or  write(table, path, like=source)

Text files are read with every column as text; frames and Parquet keep their types. The output follows the
input: the same kind of frame, or a CSV file with the same delimiter, encoding, quotes and line endings. The index of
a pandas frame is dropped unless requested: it often contains identifiers.
A database address works wherever a path does; see `coterie.files.databases.place` for the syntax.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict

import pyarrow as pa

from coterie.arrays import AnyTable
from coterie.errors import ConfigError, DataError, Problem
from coterie.files import tables
from coterie.files.csv_in import read_csv
from coterie.files.csv_out import csv_chunks
from coterie.files.databases.place import Place, place_of, target_of
from coterie.files.destinations import check_apart
from coterie.files.dialect import Dialect
from coterie.files.formats import FORMATS
from coterie.files.formulas import Formulas, read_safely, written_safely
from coterie.files.frames import FrameKind, Native, Rows, Taken, check_names, give_frame, take_frame
from coterie.files.input import Format, Raw, open_raw
from coterie.files.output import HashedFile, check_target, format_of, gzipped, whole_file

__all__ = ["Dialect", "Source", "check_target", "place_of", "read", "to_native", "whole_file", "write"]


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

    @property
    def digest(self) -> str:
        """The SHA-256 of the file, or else of the table."""
        return self.sha256 or table_hash(self.table)


def table_hash(table: pa.Table) -> str:
    """Return the SHA-256 of a table's cells, names and types as an Arrow IPC stream, independent of its chunks."""
    whole = table.combine_chunks()
    with Path(os.devnull).open("wb") as nowhere:
        sink = HashedFile(nowhere)
        with pa.PythonFile(sink, mode="w") as file, pa.ipc.new_stream(file, whole.schema) as writer:
            writer.write_table(whole)
        return sink.sha256


class TextSettings(TypedDict):
    """How to read a text file; see `read` for the meaning of each field."""

    missing_values: tuple[str, ...]
    delimiter: str | None
    encoding: str | None
    header: bool | None
    skip_rows: int


def read(
    data: Native | str | os.PathLike[str],
    *,
    missing_values: Sequence[str] = ("",),
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    skip_rows: int = 0,
    sheet: str | int | None = None,
) -> Source:
    """Read a frame, a file, or a database table.

    Args:
        data: a pandas, Polars or PyArrow frame, any other frame that Narwhals supports, the path of a file, or "-" for
            standard input. Lazy frames are collected. The file format is detected from the content, not the name.
            A database table is given by its address, "sqlite:///people.db#people", and a sheet of a workbook
            likewise: "people.xlsx#2024".
        missing_values: texts of a CSV file that mean "missing". Quoted, they are ordinary text. Frames,
            JSON, Parquet, Feather, Excel and databases have their own missing values.
        delimiter: of a CSV file; by default detected among comma, semicolon, tab and bar.
        encoding: of a CSV file; by default UTF-8, UTF-16, Windows-1252 and Latin-1 are detected.
        header: whether the first line of a CSV file is its header. Without one, columns are called column_1, column_2
            and so on. By default, a first line that looks like data is refused.
        skip_rows: lines above the header of a CSV file, which are skipped.
        sheet: name or number (from 0) of a sheet of an Excel file; by default the first.

    Raises:
        DataError: the file does not exist, cannot be read, or has no rows; column names are not text or not
            unique; the first line of a CSV file looks like data and `header` is not given.
        ConfigError: the delimiter, encoding or sheet is invalid.
        BackendError: the file is an Excel file and the `excel` extra is not installed, or the table is in PostgreSQL
            and the `db` extra is not.
    """
    if (place := place_of(data)) is not None:
        source = _read_database(place, sheet=sheet)
    elif isinstance(data, str | os.PathLike):
        data, sheet = _with_sheet(data, sheet)
        text = TextSettings(
            missing_values=tuple(missing_values),
            delimiter=delimiter,
            encoding=encoding,
            header=header,
            skip_rows=skip_rows,
        )
        source = _read_file(data, text, sheet=sheet)
    else:
        taken = take_frame(data)
        source = Source(taken.table, taken.kind, taken.name, native=taken.native)
    table = source.table
    check_names(table.column_names, source.name)
    if table.num_columns == 0:
        raise DataError(f"{source.name} has no columns.", hint="Give a table with at least one column and one row.")
    if table.num_rows == 0:
        raise DataError(f"{source.name} has a header but no rows.", hint="Give a table with at least one row.")
    # Notes on the columns by another program (pandas' index, statistics) would no longer hold for what is published.
    return replace(source, table=table.replace_schema_metadata(None))


def _read_database(place: Place, *, sheet: str | int | None) -> Source:
    if sheet is not None:
        raise ConfigError([Problem("sheet", f"{place.name} is not an Excel file and has no sheets")])
    return Source(place.read(), "file", place.name, origin=place.without_password())


def _with_sheet(
    path: str | os.PathLike[str], sheet: str | int | None
) -> tuple[str | os.PathLike[str], str | int | None]:
    """Split a path at its last # into file and sheet, if the path itself is not a file."""
    text = os.fspath(path)
    base, mark, name = text.rpartition("#") if isinstance(text, str) else ("", "", "")
    # os.path rather than pathlib: it answers for any text, however long.
    named = bool(mark and name) and not os.path.exists(text) and os.path.isfile(base)  # noqa: PTH110, PTH113
    return (base, name) if sheet is None and named else (path, sheet)


def _read_file(path: str | os.PathLike[str], text: TextSettings, *, sheet: str | int | None) -> Source:
    raw = open_raw(path)
    source = _parsed(raw, text, sheet=sheet)
    raw.check_content()  # a file is read twice, to be hashed and to be parsed: these have to be the same bytes
    return source


def _parsed(raw: Raw, text: TextSettings, *, sheet: str | int | None) -> Source:
    dialect = None
    kind = FORMATS[raw.format]
    if sheet is not None and not kind.sheets:
        raise ConfigError([Problem("sheet", f"{raw.name} is not an Excel file and has no sheets")])
    if raw.format == "csv":
        table, dialect = read_csv(raw.open, name=raw.name, **text)
    else:
        table = kind.read(raw, sheet=sheet)
    return Source(
        table,
        "file",
        raw.name,
        path=raw.path,
        sha256=raw.sha256,
        format=raw.format,
        dialect=dialect,
        compression=raw.compression,
        origin=None if raw.path is None else raw.path.absolute(),
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
        recoded: columns (the quasi-identifiers) that are never taken from the caller's frame, even if they look
            unchanged: pandas distinguishes several kinds of missing values that Arrow, and so verification, does not.
        keep_index: whether a pandas frame keeps its index; otherwise rows are numbered from 0.
    """
    if source.kind == "file":
        return table
    expected = source.table.num_rows if kept is None else len(kept)
    if table.num_rows != expected:
        raise ValueError(f"{table.num_rows} rows to give back, {expected} expected: say which rows are kept")
    taken = Taken(source.table, source.kind, source.native, source.name)
    return give_frame(table, taken, kept=kept, recoded=recoded, keep_index=keep_index)


def write(
    table: pa.Table,
    path: str | os.PathLike[str],
    *,
    like: Source | None = None,
    force: bool = False,
    dialect: Dialect | None = None,
    formulas: Formulas = "keep",
    before_name: Callable[[str], None] | None = None,
) -> str:
    """Write a table atomically and return the SHA-256 of the file ("" for a database).

    Args:
        table: the table to write.
        path: its extension determines the format: .csv, .tsv, .txt, .json, .jsonl (each also with .gz), .parquet or
            .feather. "-" writes CSV to standard output. A database table is written in one transaction.
        like: the source whose delimiter, encoding, quotes and line ends a CSV file keeps.
        force: overwrite an existing file or table.
        dialect: the dialect of a CSV file, instead of that of `like`.
        formulas: what becomes of cells of a CSV file that a spreadsheet would run.
        before_name: called with the SHA-256 when the file is complete but not yet renamed; not for databases.

    Raises:
        ConfigError: the file already exists, its folder does not, the extension is not supported, or it is the
            source itself.
        DataError: writing to disk fails, or a column cannot be written in this format or encoding.
    """
    if like is not None:
        check_apart(like.origin, None, output=path, settings_beside=False)
    if (place := target_of(path)) is not None:
        place.write(table, force=force)
        return ""
    kind, zipped = format_of(path)
    with whole_file(path, force=force) as sink:
        sink.before_name = before_name
        with gzipped(sink) if zipped else nullcontext(sink) as out:
            if kind != "csv":
                # Without metadata: another program's notes on the columns would no longer hold.
                FORMATS[kind].write(table.replace_schema_metadata(None), out)
            else:
                for chunk in csv_chunks(written_safely(table, formulas), dialect or _dialect(path, like)):
                    out.write(chunk)
    return sink.sha256


def _dialect(path: str | os.PathLike[str], like: Source | None) -> Dialect:
    return dialect_of(path, dialect=like.dialect if like else None, before=like.path if like else None)


def dialect_of(path: str | os.PathLike[str], *, dialect: Dialect | None, before: Path | None) -> Dialect:
    """Return the dialect for a CSV file: that of the source, but .tsv has tabs, and .csv from a .tsv has commas.

    Args:
        path: The name.
        dialect: The source's dialect, if it was text.
        before: The source's name, if it has one.
    """

    def tabs(name: object) -> bool:
        return str(name).lower().removesuffix(".gz").endswith((".tsv", ".tab"))

    dialect = dialect or Dialect()
    if tabs(path):
        return replace(dialect, delimiter="\t")
    if dialect.delimiter == "\t" and tabs(before) and str(path) != "-":
        return replace(dialect, delimiter=",")
    return dialect


if TYPE_CHECKING:
    import pyarrow as pa

    from coterie.settings.config import Config


def read_source(data: AnyTable, config: Config) -> tables.Source:
    """Read a frame or a file according to the configuration."""
    source = tables.read(
        data,
        missing_values=config.missing_values,
        delimiter=config.delimiter,
        encoding=config.encoding,
        header=config.header,
        skip_rows=config.skip_rows,
    )
    return source if source.dialect is None else replace(source, table=read_safely(source.table, config.formulas))


def read_pair(original: AnyTable, published: AnyTable, config: Config) -> tuple[pa.Table, pa.Table]:
    """Read an original and its release; the original must have the configured columns."""
    before, after = read_source(original, config), read_source(published, config.for_release())
    config.check_columns(before.table.column_names, publishes=False, text=before.dialect is not None)
    if config.row_order == "shuffle":
        from coterie.files.rows_file import in_original_order

        return before.table, in_original_order(after.table, published)
    return before.table, after.table
