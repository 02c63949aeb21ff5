"""Inspect an input table: refuse one that is too large, convert it to Parquet once, count, and guess roles.

Pages show rows from the Parquet file, one row group at a time. Text is converted in chunks, so that neither the server
nor this worker ever has a large file in memory.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from coterie.errors import ConfigError, DataError
from coterie.files import tables
from coterie.files.csv_in import csv_batches, detect
from coterie.files.dialect import DetectedText, TextSettings
from coterie.files.formats import FORMATS
from coterie.files.frames import check_names
from coterie.files.input import Raw, open_raw
from coterie.files.output import whole_file
from coterie.methods._method import Progress
from coterie.suggesting.proposals import propose
from coterie.suggesting.suggest import MARKS, ColumnProfile, count, guess_from, missing_marks
from coterie.suggesting.together import SAMPLE, not_kept_together, settle, short_list
from coterie.suggesting.toml import suggestion_toml
from coterie.web.data.input_state import note
from coterie.web.parquet_file import GROUP_ROWS, write_parquet
from coterie.web.project import write_json
from coterie.web.settings import MEGABYTE

CHUNK = 1 << 20
READING = tuple(TextSettings.__annotations__)
"""settings with which a text file is read"""


def inspect_job(job: dict[str, Any], _: Path, tell: Progress) -> None:
    """Write `table.parquet` and `facts.json` to the project's folder, and a configuration if there is none."""
    source, folder, configuration = Path(job["source"]), Path(job["project"]), Path(job["configuration"])
    tell("reading the file", 0, 0)
    raw = open_raw(source)
    check_unpacked(raw, job["unpacked_limit"])
    reading, blank = _reading(configuration, folder)
    found, known = _convert(raw, reading, job=job, tell=tell)
    if raw.format == "csv" and blank and reading.get("missing_values", [""]) == [""]:
        marks = _states(folder / "table.parquet")
        if marks:
            # Read again instead of replacing cells, since a quoted mark is text.
            reading["missing_values"] = ["", *marks]
            found, known = _convert(raw, reading, job=job, tell=tell)
    raw.check_content()  # the rows shown must be those that were hashed
    rows = next(iter(known.values())).rows
    with parquet.ParquetFile(folder / "table.parquet") as table:
        # The same number of rows that `init` uses to judge columns together.
        head = pa.Table.from_batches([next(table.iter_batches(batch_size=SAMPLE))])
    guesses = settle([guess_from(name, summary) for name, summary in known.items()])
    guesses = short_list(not_kept_together(guesses, head))
    if blank:
        # A tree must cover every value, so it can only be proposed from all rows.
        proposals = propose(head, guesses) if head.num_rows == rows else []
        text = suggestion_toml(guesses, source=job["name"], rows=rows, reading=reading, proposals=proposals)
        with whole_file(configuration, force=True) as sink:
            sink.write(text.encode())
    facts = ("name", "distinct", "missing", "role", "reason")
    columns = [
        {"index": place, "kind": known[guess.name].kind, **{name: getattr(guess, name) for name in facts}}
        for place, guess in enumerate(guesses)
    ]
    written = {name: getattr(found.dialect, name) if found else "" for name in ("delimiter", "encoding")}
    table_facts = {"rows": rows, "columns": columns, "format": raw.format, **written, "reading": reading}
    write_json(folder / "facts.json", table_facts)
    note(raw, folder)


def _reading(configuration: Path, folder: Path) -> tuple[dict[str, Any], bool]:
    """Return how the configuration says to read the file, and whether it says nothing else.

    Then there is none yet, or only the page's own one for a file that was refused.
    """
    from coterie.settings.toml import read_toml

    if not configuration.is_file():
        return {}, True
    try:
        values = read_toml(configuration)
    except ConfigError:
        return {}, False  # the page shows its errors; the table can be inspected anyway
    blank = configuration.is_relative_to(folder) and set(values) <= set(READING)
    return {name: values[name] for name in READING if name in values}, blank


def check_unpacked(raw: Raw, limit: int) -> None:
    """Refuse a file that would be too large when decompressed, by decompressing it in chunks without storing it."""
    if raw.path is None:
        return
    size = 0
    try:
        if raw.compression:
            size = sum(_unpacked_sizes(raw.path, limit))
        else:
            with raw.open() as stream:
                size = FORMATS[raw.format].unpacked_size(stream)
    except (zlib.error, zipfile.BadZipFile, EOFError, pa.ArrowException):
        raise DataError(f"{raw.name} is damaged or truncated.", hint="Fetch it again.") from None
    if size > limit:
        raise DataError(
            f"{raw.name} would have more than {limit // MEGABYTE:,} MB when decompressed.",
            hint="Decompress it yourself, or use the command line, which has no such limit.",
        )


def _unpacked_sizes(path: Path, limit: int) -> Iterator[int]:
    """Yield the chunk sizes of a gzip file, up to just above the limit."""
    total, unpack = 0, zlib.decompressobj(wbits=31)
    with path.open("rb") as file:
        waiting = file.read(CHUNK)
        while waiting and total <= limit:
            size = len(unpack.decompress(waiting, CHUNK))
            waiting = unpack.unconsumed_tail
            if unpack.eof:
                # A gzip file may consist of several members.
                waiting, unpack = unpack.unused_data.lstrip(b"\0"), zlib.decompressobj(wbits=31)
            waiting = waiting or file.read(CHUNK)
            total += size
            yield size


def _convert(
    raw: Raw, reading: dict[str, Any], *, job: dict[str, Any], tell: Progress
) -> tuple[DetectedText | None, dict[str, ColumnProfile]]:
    """Write the table as Parquet and count the values of every column, with one column in memory at a time."""
    target = Path(job["project"]) / "table.parquet"
    found = _write(raw, target, reading, job=job, tell=tell)
    known = {}
    with parquet.ParquetFile(target) as table:
        names = table.schema_arrow.names
        for place, name in enumerate(names):
            tell("counting", place, len(names))
            known[name] = count(table.read(columns=[name]).column(name))
    return found, known


def _write(
    raw: Raw, target: Path, reading: dict[str, Any], *, job: dict[str, Any], tell: Progress
) -> DetectedText | None:
    """Write the table as Parquet. A text table is sniffed, and only read whole if chunks do not work."""
    found = None
    if raw.format == "csv":
        found = detect(raw.open, raw.name, **reading)
        _check_width(len(found.header), raw.name, job["column_limit"])
        check_names(found.header, raw.name)
        try:
            write_parquet(csv_batches(raw.open, found), target, tell=tell)
            return found
        except ValueError as error:
            if isinstance(error, DataError):
                raise
    elif FORMATS[raw.format].batches:
        with raw.open() as stream:
            _check_width(len(FORMATS[raw.format].describe(stream).schema), raw.name, job["column_limit"])
    source = tables.read(raw.path or "-", **(reading if raw.format == "csv" else {}))
    _check_width(source.table.num_columns, raw.name, job["column_limit"])
    write_parquet(source.table.to_batches(max_chunksize=GROUP_ROWS), target, tell=tell)
    return found


def _check_width(columns: int, name: str, limit: int) -> None:
    if columns > limit:
        raise DataError(
            f"{name} has {columns:,} columns; the app supports up to {limit:,}.",
            hint="Keep only the columns to publish, or use the command line.",
        )


def _states(path: Path) -> list[str]:
    """Return which of the usual marks for missing values the text columns contain."""
    found: set[str] = set()
    with parquet.ParquetFile(path) as table:
        for name in table.schema_arrow.names:
            found.update(missing_marks(table.read(columns=[name]).select([name])))
    return [mark for mark in MARKS if mark in found]
