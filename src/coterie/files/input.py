"""Input bytes: their source, their SHA-256, and their format, detected from the first bytes."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import pyarrow as pa

from coterie.errors import DataError
from coterie.files.formats import FORMATS

Format: TypeAlias = str
"""the name of a format"""
_GZIP = b"\x1f\x8b"
START_BYTES = 1 << 16
"""bytes from which the format is detected"""
_CHUNK_BYTES = 1 << 16


class FileStamp(NamedTuple):
    """A file's metadata, which changes when it is modified or replaced."""

    size: int
    modified: int
    """nanoseconds"""
    device: int
    number: int

    @classmethod
    def of(cls, found: os.stat_result) -> FileStamp:
        """Create a stamp from a `stat` result."""
        return cls(found.st_size, found.st_mtime_ns, found.st_dev, found.st_ino)


@dataclass(frozen=True)
class Raw:
    """The bytes of an input: a file or standard input."""

    name: str
    path: Path | None
    data: bytes | None
    """all bytes, if they are in memory"""
    digest: str
    """of a file that is not"""
    format: Format
    compression: Literal["gzip"] | None
    stamp: FileStamp | None = None
    """of the file when its bytes were read or hashed"""

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the bytes."""
        return self.digest if self.data is None else hashlib.sha256(self.data).hexdigest()

    def check_stamp(self) -> None:
        """Raise a DataError if the file has changed since it was read or hashed."""
        self._check(lambda path: FileStamp.of(path.stat()) == self.stamp)

    def check_content(self) -> None:
        """Raise a DataError if the file's bytes are not those that were read or hashed, whatever its stamp says."""
        self.check_stamp()
        self._check(self._is_content_of)
        self.check_stamp()

    def _check(self, is_same: Callable[[Path], bool]) -> None:
        if self.stamp is None or self.path is None:
            return
        with suppress(OSError):
            if is_same(self.path):
                return
        raise changed_input(self.name)

    def _is_content_of(self, path: Path) -> bool:
        with path.open("rb") as file:
            if self.data is None:
                return hashlib.file_digest(file, "sha256").hexdigest() == self.digest
            # One chunk more than expected: the file may have grown.
            starts = range(0, len(self.data) + 1, _CHUNK_BYTES)
            return all(file.read(_CHUNK_BYTES) == self.data[start : start + _CHUNK_BYTES] for start in starts)

    def open(self) -> pa.NativeFile:
        """Open a new stream of the bytes, decompressed."""
        stream = pa.OSFile(str(self.path), "rb") if self.data is None else pa.BufferReader(self.data)
        return pa.CompressedInputStream(stream, "gzip") if self.compression else stream


def open_raw(path: str | os.PathLike[str], *, whole: bool = False) -> Raw:
    """Open a file ("-" is standard input) and detect its format.

    Args:
        path: The file.
        whole: Read all bytes into memory instead of hashing them on disk.
    """
    if os.fspath(path) == "-":
        return _raw("standard input", None, sys.stdin.buffer.read())
    text = os.fspath(path)
    # The text of a table passed instead of a path must not be repeated in a message.
    if not isinstance(text, str) or "\n" in text or "\0" in text:
        raise DataError("The input is not a path.", hint="Give the path of a file, or a frame.")
    found, name = Path(text), text
    try:
        mode = found.stat().st_mode
        if stat.S_ISDIR(mode):
            raise DataError(f"{name} is a folder, not a file.", hint="Give the path of a file in it.")
        # Pipes and devices can be read only once, so they are read whole.
        return _raw(name, found, None if stat.S_ISREG(mode) else found.read_bytes(), whole=whole)
    except FileNotFoundError:
        raise DataError(f"There is no file {name}.", hint=f"Relative paths start at {Path.cwd()}.") from None
    except OSError as error:
        raise DataError(
            f"{name} cannot be read: {error.strerror or 'input error'}.", hint="Check its rights."
        ) from None


def with_sheet(path: str | os.PathLike[str]) -> tuple[str | os.PathLike[str], str | None]:
    """Split a path at its last # into file and sheet, if the path itself is not a file."""
    text = os.fspath(path)
    base, _, name = text.rpartition("#") if isinstance(text, str) else ("", "", "")
    # os.path rather than pathlib: it answers for any text, however long.
    named = name and not os.path.exists(text) and os.path.isfile(base)  # noqa: PTH110, PTH113
    return (base, name) if named else (path, None)


def changed_input(name: str) -> DataError:
    """Return the error of an input that has changed since it was first read."""
    return DataError(
        f"{name} changed while it was read, so nothing is published from it.",
        hint="Run again when nobody writes to it.",
    )


def _raw(name: str, path: Path | None, data: bytes | None, *, whole: bool = True) -> Raw:
    stamp, digest = None, ""
    if data is None and path is not None:
        with path.open("rb") as file:
            stamp = FileStamp.of(os.fstat(file.fileno()))
            start = file.read(START_BYTES)
            file.seek(0)
            if whole:
                data = file.read()
            else:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            if FileStamp.of(os.fstat(file.fileno())) != stamp:
                raise changed_input(name)
    else:
        start = (data or b"")[:START_BYTES]
    if not start:
        raise DataError(f"{name} is empty.", hint="Give a file with a header row and at least one row of data.")
    return Raw(name, path, data, digest, format_by(start), "gzip" if is_gzip(start) else None, stamp)


def format_by(start: bytes) -> Format:
    """Detect the file format from the first bytes, decompressed if gzipped. Text of no other format is CSV."""
    packed = is_gzip(start)
    if packed:
        with suppress(zlib.error):
            start = zlib.decompressobj(wbits=31).decompress(start, START_BYTES)
    kinds = (name for name, each in FORMATS.items() if (each.packs or not packed) and each.recognizes(start))
    return next(kinds, "csv")


def is_gzip(start: bytes) -> bool:
    """Return whether a file is gzipped, from its first bytes."""
    return start.startswith(_GZIP)
