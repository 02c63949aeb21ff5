"""A table on disk, read repeatedly in batches and never loaded whole.

Arrow reads the batches with the same options as whole tables: the same cells with the same types, whatever the size.
"""

from __future__ import annotations

import codecs
import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from coterie.arrays import Int64
from coterie.errors import ConfigError, DataError, Problem
from coterie.files.csv_in import chunks_of, csv_batches, detect, in_eight_bits, no_rows
from coterie.files.dialect import SAMPLE_BYTES, DetectedText, sniff, text_settings
from coterie.files.formats import FORMATS, Contents
from coterie.files.formulas import Formulas, read_safely
from coterie.files.frames import check_names
from coterie.files.input import START_BYTES, Format, Raw, format_by, is_gzip, open_raw

if TYPE_CHECKING:
    from coterie.settings.config import Config

# Approximate compression ratio of gzipped text.
PACKED = 5


class Stamp(NamedTuple):
    """Identifies a file's state, to detect changes since it was read."""

    sha256: str
    size: int


@dataclass(frozen=True, eq=False)
class TableFile:
    """A file, or a folder of Parquet files sorted by name."""

    name: str
    """its name in messages"""
    parts: tuple[Raw, ...]
    schema: pa.Schema
    sniffed: DetectedText | None = None
    """the dialect of a text file"""
    rows: int | None = None
    """as far as it is known without reading"""
    formulas: Formulas = "keep"
    """how cells of a text file that a spreadsheet would run were written"""
    raw_bytes: int = 0
    """the approximate size of its cells in memory, if known without reading"""

    @property
    def format(self) -> Format:
        """The file format."""
        return self.parts[0].format

    @property
    def stamp(self) -> Stamp:
        """The file's stamp, which changes when the file does."""
        digests = [part.sha256 for part in self.parts]
        joined = digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()
        return Stamp(joined, sum(part.path.stat().st_size for part in self.parts if part.path is not None))

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order, with some of the columns or all.

        Raises:
            DataError: A file cannot be read, or has changed since it was opened.
        """
        wanted = list(self.schema.names if columns is None else columns)
        for part in self.parts:
            part.check_stamp()
            try:
                yield from self._part(part, wanted)
            except (pa.ArrowException, OSError, ValueError) as error:
                part.check_stamp()  # a file that is being written must not be reported as damaged
                if isinstance(error, DataError):
                    raise
                raise _unreadable(self.name, self.format) from None
            part.check_stamp()

    def check_content(self) -> None:
        """Raise a DataError if the files' bytes no longer match their hash; reads them all again."""
        for part in self.parts:
            part.check_content()

    def _part(self, part: Raw, wanted: list[str]) -> Iterator[pa.RecordBatch]:
        if self.sniffed is not None:
            for batch in csv_batches(part.open, self.sniffed):
                yield read_safely(batch.select(wanted), self.formulas)
            return
        with part.open() as stream:
            yield from FORMATS[part.format].read_batches(stream, wanted)


class Size(NamedTuple):
    """The approximate size of a table."""

    rows: int
    columns: int


def look_at(path: Path, config: Config) -> Size | None:
    """Estimate a file's number of rows from its first bytes or metadata; None if that is not possible."""
    if path.is_dir():
        sizes = [size for size in (look_at(file, config) for file in _parquet_files(path)) if size is not None]
        return Size(sum(size.rows for size in sizes), sizes[0].columns) if sizes else None
    with path.open("rb") as file:
        start = file.read(START_BYTES)
    raw = Raw(str(path), path, None, "", format_by(start), "gzip" if is_gzip(start) else None)
    if not FORMATS[raw.format].batches:
        return None
    with raw.open() as stream:
        if raw.format != "csv":
            try:
                known = FORMATS[raw.format].describe(stream)
            except (pa.ArrowException, OSError, ValueError):
                raise _unreadable(raw.name, raw.format) from None
            return None if known.rows is None else Size(known.rows, len(known.schema))
        sample = stream.read(SAMPLE_BYTES)
    found = sniff(sample, whole=False, name=raw.name, **text_settings(config))
    lines = max(sample.count(b"\n"), sample.count(b"\r"), 1)
    size = path.stat().st_size * (PACKED if raw.compression else 1)
    return Size(int(size * lines / max(len(sample), 1)), len(found.header))


def open_table(path: str | os.PathLike[str], config: Config) -> TableFile:
    """Detect a file's format without reading all of it.

    Raises:
        DataError: The file does not exist, is damaged, or has no columns.
        ConfigError: Its format cannot be read in batches.
    """
    name = os.fspath(path)
    if name == "-":
        raise ConfigError(
            [Problem("engine", "standard input can be read only once; give a file, or use engine memory")]
        )
    if Path(name).is_dir():
        raws = tuple(open_raw(file) for file in _parquet_files(Path(name)))
        if not raws:
            raise DataError(f"{name} is a folder without Parquet files.", hint="Give the path of a file.")
        if any(raw.format != "parquet" for raw in raws):
            raise DataError(f"{name} contains files that are named as Parquet but are not.", hint="Remove them.")
    else:
        raws = (open_raw(path),)
        if not FORMATS[raws[0].format].batches or raws[0].data is not None:
            titles = " or ".join(each.title for each in FORMATS.values() if each.batches)
            text = f"{name} cannot be read in blocks; give {titles}, or use engine memory"
            raise ConfigError([Problem("engine", text)])
    table = _open_text(raws[0], config) if raws[0].format == "csv" else _open_columnar(name, raws)
    check_names(table.schema.names, table.name)
    return table


def _parquet_files(folder: Path) -> list[Path]:
    return sorted(each for each in folder.iterdir() if each.suffix in FORMATS["parquet"].endings)


def _open_columnar(name: str, raws: tuple[Raw, ...]) -> TableFile:
    found: list[Contents] = []
    try:
        for raw in raws:
            with raw.open() as stream:
                found.append(FORMATS[raw.format].describe(stream))
    except (pa.ArrowException, OSError, ValueError):
        raise _unreadable(name, raws[0].format) from None
    if any(each.schema != found[0].schema for each in found):
        raise DataError(f"The files in {name} differ in their columns.", hint="Give files with the same columns.")
    counts = [each.rows for each in found if each.rows is not None]
    rows = sum(counts) if len(counts) == len(found) else None
    return TableFile(name, raws, found[0].schema, rows=rows, raw_bytes=sum(each.size for each in found))


def _open_text(raw: Raw, config: Config) -> TableFile:
    text = text_settings(config)
    found = detect(raw.open, raw.name, **text)
    if config.encoding is None and found.dialect.encoding == "utf-8" and not _is_utf8(raw):
        found = in_eight_bits(raw.open, raw.name, **text)
    if found.empty:
        raise no_rows(raw.name)
    fields = [pa.field(title, pa.string()) for title in found.header]
    size = raw.path.stat().st_size if raw.path is not None else 0
    size *= 4 if raw.compression else 1
    return TableFile(raw.name, (raw,), pa.schema(fields), found, formulas=config.formulas, raw_bytes=size)


def _is_utf8(raw: Raw) -> bool:
    try:
        for _ in codecs.iterdecode(chunks_of(raw.open), "utf-8"):
            pass
    except UnicodeDecodeError:
        return False
    return True


def _unreadable(name: str, kind: Format) -> DataError:
    if kind == "csv":
        return DataError(
            f"{name} cannot be read in pieces: rows differ in length, a quote is never closed, or it is damaged.",
            hint="Use engine memory to find out which row it is.",
        )
    return DataError(f"{name} is a {kind.capitalize()} file that is damaged or truncated.", hint="Fetch it again.")


def without_rows(batches: Iterator[pa.RecordBatch], removed: Int64) -> Iterator[pa.RecordBatch]:
    """Yield the rows of batches except those at some positions, which ascend."""
    start = 0
    for batch in batches:
        gone = removed[slice(*np.searchsorted(removed, [start, start + batch.num_rows]))] - start
        start += batch.num_rows
        if len(gone):
            kept = np.ones(batch.num_rows, dtype=np.bool_)
            kept[gone] = False
            batch = batch.filter(pa.array(kept))
        yield batch
