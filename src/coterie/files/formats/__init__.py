"""File formats, one class each: file extensions, signatures, reading and writing.

A class registers itself and is then available everywhere. Nothing heavy is imported until it is needed.

May import: arrays, errors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from coterie.files.registry import Registry

if TYPE_CHECKING:
    import pyarrow as pa

    from coterie.files.input import Raw
    from coterie.files.output import Sink

FORMATS: Registry[type[FileFormat]] = Registry("coterie.files.formats")
"""every file format by name"""


class Contents(NamedTuple):
    """The contents of a file, as far as they are known without reading its rows."""

    schema: pa.Schema
    rows: int | None = None
    size: int = 0
    """approximate bytes of its cells in memory"""


class FileFormat:
    """A file format. A subclass with a `name` registers itself."""

    name: ClassVar[str]
    title: ClassVar[str]
    endings: ClassVar[tuple[str, ...]]
    """file extensions, the most common first"""
    magic: ClassVar[tuple[bytes, ...]] = ()
    """first bytes of such files; a file that starts with none of them is text"""
    writes: ClassVar[bool] = True
    batches: ClassVar[bool] = False
    """whether it can be read and written in batches: `describe`, `read_batches` and `write_all`"""
    packs: ClassVar[bool] = False
    """whether it may be gzipped"""
    sheets: ClassVar[bool] = False
    released_as: ClassVar[str] = ".csv"
    """file extension of releases that the web app makes from such files"""
    keeps: ClassVar[str] = "types and missing values"
    """what it keeps of a table besides its cells"""

    def __init_subclass__(cls) -> None:
        FORMATS.add(cls.name, cls)

    @classmethod
    def recognizes(cls, start: bytes) -> bool:
        """Return whether a file that starts with these bytes is one."""
        return bool(cls.magic) and start.startswith(cls.magic)

    @classmethod
    def read(cls, raw: Raw, *, sheet: str | int | None = None) -> pa.Table:
        """Read a whole file."""
        raise NotImplementedError

    @classmethod
    def describe(cls, stream: pa.NativeFile) -> Contents:
        """Return the contents of a file without reading its rows."""
        raise NotImplementedError

    @classmethod
    def read_batches(cls, stream: pa.NativeFile, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order, with these columns."""
        raise NotImplementedError

    @classmethod
    def unpacked_size(cls, stream: pa.NativeFile) -> int:
        """Return the size of the decompressed file; 0 if the format does not compress."""
        return 0

    @classmethod
    def write(cls, table: pa.Table, sink: Sink) -> None:
        """Write a whole file."""
        cls.write_all([table], table.schema, sink)

    @classmethod
    def write_all(cls, tables: Iterable[pa.Table], schema: pa.Schema, sink: Sink) -> None:
        """Write tables with the same columns as one file, one after another."""
        raise NotImplementedError


class Text(FileFormat):
    """CSV and its dialects; `csv_in` and `csv_out` read and write them."""

    name, title = "csv", "CSV"
    endings = (".csv", ".tsv", ".txt", ".tab")
    batches = packs = True
    keeps = "delimiter, encoding, quotes and line endings, but no types"
