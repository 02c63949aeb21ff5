"""Read and write files, frames and database tables: Narwhals, files and drivers outside, Arrow inside.

    read(frame or path)  →  Source.table  →  …  →  to_native(table, source)  or  write(table, path, like=source)

Text files are read with every column as text; frames and Parquet keep their types. The output follows the
input: the same kind of frame, or a CSV file with the same delimiter, encoding, quotes and line endings. The index of
a pandas frame is dropped unless requested: it often contains identifiers.
A database address works wherever a path does; see `coterie.files.databases.place` for the syntax.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import pyarrow as pa

from coterie.arrays import AnyTable
from coterie.errors import ConfigError, DataError, Problem
from coterie.files.csv_in import read_csv
from coterie.files.csv_out import Repeated
from coterie.files.databases.place import place_of, target_of
from coterie.files.destinations import check_apart
from coterie.files.dialect import Dialect, TextSettings, dialect_of, text_settings
from coterie.files.formats import FORMATS
from coterie.files.formulas import Formulas, read_safely
from coterie.files.frames import Native, Source, check_names, take_frame, to_native
from coterie.files.input import open_raw, with_sheet
from coterie.files.output import HashedFile, check_target, format_of, whole_file
from coterie.files.streams import Target, write_tables

if TYPE_CHECKING:
    from coterie.settings.config import Config

__all__ = ["Dialect", "Source", "check_target", "place_of", "read", "to_native", "whole_file", "write"]


def read(
    data: Native | str | os.PathLike[str], *, sheet: str | int | None = None, **text: Unpack[TextSettings]
) -> Source:
    """Read a frame, a file, or a database table.

    Args:
        data: a pandas, Polars or PyArrow frame, any other frame that Narwhals supports, the path of a file, or "-" for
            standard input. Lazy frames are collected. The file format is detected from the content, not the name.
            A database table is given by its address, "sqlite:///people.db#people", and a sheet of a workbook
            likewise: "people.xlsx#2024".
        sheet: name or number (from 0) of a sheet of an Excel file; by default the first.
        **text: how to read a CSV file: missing_values, delimiter, encoding, header and skip_rows. Frames, JSON,
            Parquet, Feather, Excel and databases have their own missing values.

    Raises:
        DataError: the file does not exist, cannot be read, or has no rows; column names are not text or not
            unique; the first line of a CSV file looks like data and `header` is not given.
        ConfigError: the delimiter, encoding or sheet is invalid.
        BackendError: the file is an Excel file and the `excel` extra is not installed, or the table is in PostgreSQL
            and the `db` extra is not.
    """
    if unknown := text.keys() - TextSettings.__annotations__:
        raise TypeError(f"read() got an unexpected keyword argument {min(unknown)!r}")
    if (place := place_of(data)) is not None:
        _refuse_sheet(sheet, place.name)
        source = Source(place.read(), "file", place.name, origin=place.without_password())
    elif isinstance(data, str | os.PathLike):
        data, named = with_sheet(data) if sheet is None else (data, sheet)
        source = _read_file(data, text, sheet=named)
    else:
        source = take_frame(data)
    table = source.table
    check_names(table.column_names, source.name)
    if table.num_rows == 0:
        raise DataError(f"{source.name} has a header but no rows.", hint="Give a table with at least one row.")
    # Metadata of other programs (pandas' index, statistics) would no longer be valid for the release.
    return replace(source, table=table.replace_schema_metadata(None))


def _refuse_sheet(sheet: str | int | None, name: str) -> None:
    if sheet is not None:
        raise ConfigError([Problem("sheet", f"{name} is not an Excel file and has no sheets")])


def _read_file(path: str | os.PathLike[str], text: TextSettings, *, sheet: str | int | None) -> Source:
    raw = open_raw(path, whole=True)
    dialect = None
    kind = FORMATS[raw.format]
    if not kind.sheets:
        _refuse_sheet(sheet, raw.name)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(getattr, raw, "sha256")  # hashed while it is parsed
        if raw.format == "csv":
            table, dialect = read_csv(raw.open, raw.name, held=None if raw.compression else raw.data, **text)
        else:
            table = kind.read(raw, sheet=sheet)
    raw.check_content()  # a file that was being overwritten may be half old, half new
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


def write(
    table: pa.Table,
    path: str | os.PathLike[str],
    *,
    like: Source | None = None,
    force: bool = False,
    dialect: Dialect | None = None,
    formulas: Formulas = "keep",
    before_name: Callable[[str], None] | None = None,
    repeated: Repeated | None = None,
) -> str:
    """Write a table atomically and return the SHA-256 of the file ("" for a database).

    Args:
        table: the table to write.
        path: its extension determines the format: .csv, .tsv, .txt, .json, .jsonl (each also with .gz), .parquet or
            .feather. "-" writes CSV to standard output. A database table is written in one transaction.
        like: the source whose delimiter, encoding, quotes and line ends a CSV file keeps.
        force: overwrite an existing file or table.
        dialect: the dialect of a CSV file, instead of that of `like`.
        formulas: how cells of a CSV file that a spreadsheet would run are written.
        before_name: called with the SHA-256 when the file is complete but not yet renamed; not for databases.
        repeated: which cells rows have in common, if known: a CSV file is then written faster.

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
    if dialect is None:
        dialect = dialect_of(path, dialect=like.dialect if like else None, before=like.path if like else None)
    with whole_file(path, force=force) as sink:
        sink.before_name = before_name
        # Without metadata of other programs, which would no longer be valid.
        plain = table.replace_schema_metadata(None)
        write_tables([plain], sink, Target(kind, zipped, dialect=dialect, formulas=formulas), repeated)
    return sink.sha256


def read_source(data: AnyTable, config: Config) -> Source:
    """Read a frame or a file according to the configuration."""
    source = read(data, **text_settings(config))
    return source if source.dialect is None else replace(source, table=read_safely(source.table, config.formulas))


def read_pair(original: AnyTable, published: AnyTable, config: Config) -> tuple[pa.Table, pa.Table]:
    """Read an original and its release; the original must have the configured columns."""
    before, after = read_source(original, config), read_source(published, config.for_release())
    config.check_columns(before.table.column_names, publishes=False, text=before.dialect is not None)
    if config.row_order == "shuffle":
        from coterie.files.rows_file import in_original_order

        return before.table, in_original_order(after.table, published)
    return before.table, after.table


def source_hash(source: Source) -> str:
    """Return the SHA-256 of the file or, of a frame or database, that of its table."""
    return source.sha256 or table_hash(source.table)


def table_hash(table: pa.Table) -> str:
    """Return the SHA-256 of a table's cells, names and types as an Arrow IPC stream, independent of its chunks."""
    whole = table.combine_chunks()
    with Path(os.devnull).open("wb") as nowhere:
        sink = HashedFile(nowhere)
        with pa.PythonFile(sink, mode="w") as file, pa.ipc.new_stream(file, whole.schema) as writer:
            writer.write_table(whole)
        return sink.sha256
