"""Bytes that come in: where they are, their SHA-256, and what kind of file they are, told by their first bytes."""

from __future__ import annotations

import hashlib
import logging
import os
import stat
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import pyarrow as pa

from coterie.errors import BackendError, ConfigError, DataError, Problem

Format = Literal["csv", "parquet", "feather", "excel"]

_MAGIC: tuple[tuple[bytes, Format], ...] = (
    (b"PAR1", "parquet"),
    (b"ARROW1", "feather"),
    (b"\xff\xff\xff\xff", "feather"),  # an Arrow stream rather than a file
    (b"PK\x03\x04", "excel"),
    (b"\xd0\xcf\x11\xe0", "excel"),
)
_GZIP = b"\x1f\x8b"


class FileStamp(NamedTuple):
    """What a file's system says of it, which changes when somebody writes to it or puts another in its place."""

    size: int
    modified: int
    """nanoseconds"""
    device: int
    number: int

    @classmethod
    def of(cls, found: os.stat_result) -> FileStamp:
        """Return it from what `stat` says."""
        return cls(found.st_size, found.st_mtime_ns, found.st_dev, found.st_ino)


@dataclass(frozen=True)
class Raw:
    """The bytes of an input: a file, or what came through standard input."""

    name: str
    path: Path | None
    data: bytes | None
    sha256: str
    format: Format
    compression: Literal["gzip"] | None
    stamp: FileStamp | None = None
    """of the file when its bytes were hashed"""

    def check_stamp(self) -> None:
        """Raise a DataError if somebody has written to the file since it was hashed."""
        if self.stamp is None or self.path is None or self.data is not None:
            return
        try:
            same = FileStamp.of(self.path.stat()) == self.stamp
        except OSError:
            same = False
        if not same:
            raise _changed(self.name)

    def check_content(self) -> None:
        """Raise a DataError if the file does not hold the bytes any more that were hashed, whatever its stamp says."""
        self.check_stamp()
        if self.path is not None and self.data is None:
            try:
                with self.path.open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
            except OSError:
                digest = ""
            if digest != self.sha256:
                raise _changed(self.name)
            self.check_stamp()

    def open(self) -> pa.NativeFile:
        """A fresh stream of the bytes, decompressed."""
        stream = pa.OSFile(str(self.path), "rb") if self.data is None else pa.BufferReader(self.data)
        return pa.CompressedInputStream(stream, "gzip") if self.compression else stream


def open_raw(path: str | os.PathLike[str]) -> Raw:
    """Find a file ("-" is standard input), its SHA-256, and what kind it is, by its first bytes."""
    if os.fspath(path) == "-":
        return _raw("standard input", None, sys.stdin.buffer.read())
    text = os.fspath(path)
    # A table's text given in place of a path must not be repeated in a message.
    if not isinstance(text, str) or "\n" in text or "\0" in text:
        raise DataError("What was given is not a path.", hint="Give the path of a file, or a frame.")
    found, name = Path(text), text
    try:
        mode = found.stat().st_mode
        if stat.S_ISDIR(mode):
            raise DataError(f"{name} is a folder, not a file.", hint="Give the path of a file in it.")
        # Pipes and devices can be read only once, so they are read whole.
        return _raw(name, found, None if stat.S_ISREG(mode) else found.read_bytes())
    except FileNotFoundError:
        raise DataError(f"There is no file {name}.", hint=f"Relative paths start at {Path.cwd()}.") from None
    except OSError as error:
        raise DataError(
            f"{name} cannot be read: {error.strerror or 'input error'}.", hint="Check its rights."
        ) from None


def _changed(name: str) -> DataError:
    return DataError(
        f"{name} changed while it was read, so nothing is published from it.",
        hint="Run again when nobody writes to it.",
    )


def _raw(name: str, path: Path | None, data: bytes | None) -> Raw:
    stamp = None
    if data is None and path is not None:
        with path.open("rb") as file:
            stamp = FileStamp.of(os.fstat(file.fileno()))
            start = file.read(8)
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            if FileStamp.of(os.fstat(file.fileno())) != stamp:
                raise _changed(name)
    else:
        start, digest = (data or b"")[:8], hashlib.sha256(data or b"").hexdigest()
    if not start:
        raise DataError(f"{name} is empty.", hint="Give a file with a header row and at least one row of data.")
    return Raw(name, path, data, digest, format_by(start), "gzip" if is_gzip(start) else None, stamp)


def format_by(start: bytes) -> Format:
    """What kind of file it is, by its first bytes."""
    return next((kind for magic, kind in _MAGIC if start.startswith(magic)), "csv")


def is_gzip(start: bytes) -> bool:
    """Whether a file is compressed, by its first bytes."""
    return start.startswith(_GZIP)


def read_columnar(raw: Raw) -> pa.Table:
    """Read Parquet or Arrow (Feather); columns keep their types."""
    try:
        with raw.open() as stream:
            if raw.format == "parquet":
                from pyarrow import parquet

                return parquet.ParquetFile(stream).read()
            from pyarrow import ipc

            start = stream.read(4)
            stream.seek(0)
            return (ipc.open_stream if start == b"\xff\xff\xff\xff" else ipc.open_file)(stream).read_all()
    except (pa.ArrowException, OSError, ValueError):
        kind = raw.format.capitalize()
        raise DataError(f"{raw.name} is a {kind} file that is damaged or cut short.", hint="Fetch it again.") from None


def read_excel(raw: Raw, *, sheet: str | int | None) -> pa.Table:
    """Read one sheet of an Excel workbook; the first row is the header."""
    try:
        import fastexcel
    except ImportError:
        raise BackendError(
            f"Reading {raw.name} needs the excel extra.", hint="Install it: pip install 'coterie[excel]'"
        ) from None
    logger = logging.getLogger("fastexcel")
    if not logger.handlers:  # its notes on empty columns would go to standard error
        logger.addHandler(logging.NullHandler())
    with raw.open() as stream:
        content = stream.read()
    try:
        book = fastexcel.read_excel(content)
    except Exception:
        # fastexcel's errors have no base class that promises to leave cells out of the message.
        raise DataError(
            f"{raw.name} is a zip or Office file but not an Excel workbook.", hint="Unpack it, or save it as CSV."
        ) from None
    if isinstance(sheet, str) and sheet not in book.sheet_names:
        raise ConfigError([Problem("sheet", f"there is no sheet {sheet!r}; there are {', '.join(book.sheet_names)}")])
    if isinstance(sheet, int) and not 0 <= sheet < len(book.sheet_names):
        raise ConfigError([Problem("sheet", f"there is no sheet {sheet}; sheets are 0 to {len(book.sheet_names) - 1}")])
    try:
        titles = book.load_sheet(sheet or 0, header_row=None, n_rows=1).to_arrow()
        if titles.num_rows == 0:
            raise DataError(f"{raw.name}: the sheet is empty.", hint="Name another with `sheet`.")
        cells = [column[0].as_py() for column in titles.columns]
        batch = book.load_sheet(sheet or 0, header_row=0).to_arrow()
        # Titles as they stand, because fastexcel renames those that occur twice; but numbers as it writes them, 2024
        # rather than 2024.0.
        shown = zip(cells, batch.schema.names, strict=True)
        names = [cell if isinstance(cell, str) else "" if cell is None else name for cell, name in shown]
    except DataError:
        raise
    except Exception:
        raise DataError(f"{raw.name}: the sheet cannot be read.", hint="Save it as CSV.") from None
    return pa.table([_as_typed(column) for column in batch.columns], names=names)


def _as_typed(column: pa.Array) -> pa.Array:
    """What a person typed into a column: workbooks store whole numbers as floats, and days as moments."""
    if pa.types.is_float64(column.type):
        with suppress(pa.ArrowInvalid):  # some have a fraction
            return column.cast(pa.int64())
    if pa.types.is_timestamp(column.type):
        days = column.cast(pa.date32(), safe=False)
        return days if days.cast(column.type).equals(column) else column
    return column
