"""File formats, one class each: file extensions, signatures, reading and writing.

A class registers itself and is then available everywhere. Nothing heavy is imported until it is needed.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar

from coterie.errors import BackendError, ConfigError, DataError, Problem
from coterie.files.registry import Registry

if TYPE_CHECKING:
    import pyarrow as pa

    from coterie.files.input import Raw
    from coterie.files.output import HashedFile

FORMATS: Registry[type[FileFormat]] = Registry("coterie.files.formats")
"""every file format by name"""


class FileFormat:
    """A file format. A subclass with a `name` registers itself."""

    name: ClassVar[str]
    title: ClassVar[str]
    endings: ClassVar[tuple[str, ...]]
    """file extensions, the usual one first"""
    magic: ClassVar[tuple[bytes, ...]] = ()
    """how such files begin; a file that matches none is text"""
    writes: ClassVar[bool] = True
    batches: ClassVar[bool] = False
    """whether engines can read and write it in batches"""
    sheets: ClassVar[bool] = False
    released_as: ClassVar[str] = ".csv"
    """the format in which the web app releases such a table"""
    keeps: ClassVar[str] = "types and missing values"
    """what it preserves of a table besides its cells"""

    def __init_subclass__(cls) -> None:
        FORMATS.add(cls.name, cls)

    @classmethod
    def read(cls, raw: Raw, *, sheet: str | int | None = None) -> pa.Table:
        """Read a whole file."""
        raise NotImplementedError

    @classmethod
    def write(cls, table: pa.Table, sink: HashedFile) -> None:
        """Write a whole file."""
        raise NotImplementedError


class Text(FileFormat):
    """CSV and its dialects; `csv_in` and `csv_out` read and write them."""

    name, title = "csv", "CSV"
    endings = (".csv", ".tsv", ".txt", ".tab")
    batches = True
    keeps = "delimiter, encoding, quotes and line endings, but no types"


class Parquet(FileFormat):
    """Apache Parquet."""

    name, title = "parquet", "Parquet"
    endings, magic = (".parquet", ".pq"), (b"PAR1",)
    batches, released_as = True, ".parquet"

    @classmethod
    def read(cls, raw: Raw, *, sheet: str | int | None = None) -> pa.Table:
        """Read a whole file; columns keep their types."""
        from pyarrow import parquet

        return _columnar(raw, cls.title, lambda stream: parquet.ParquetFile(stream).read())

    @classmethod
    def write(cls, table: pa.Table, sink: HashedFile) -> None:
        """Write a whole file."""
        from pyarrow import parquet

        parquet.write_table(table, sink, compression="zstd")


class Feather(FileFormat):
    """Arrow's own format, as a file or a stream."""

    name, title = "feather", "Feather"
    endings, magic = (".feather", ".arrow", ".ipc"), (b"ARROW1", b"\xff\xff\xff\xff")
    batches, released_as = True, ".parquet"

    @classmethod
    def read(cls, raw: Raw, *, sheet: str | int | None = None) -> pa.Table:
        """Read a whole file or stream; columns keep their types."""
        from pyarrow import ipc

        def opened(stream: Any) -> pa.Table:  # noqa: ANN401 - Arrow's stream
            start = stream.read(4)
            stream.seek(0)
            return (ipc.open_stream if start == cls.magic[1] else ipc.open_file)(stream).read_all()

        return _columnar(raw, cls.title, opened)

    @classmethod
    def write(cls, table: pa.Table, sink: HashedFile) -> None:
        """Write a whole file."""
        import pyarrow as pa
        from pyarrow import ipc

        options = ipc.IpcWriteOptions(compression="zstd")
        with pa.PythonFile(sink, mode="w") as file, ipc.new_file(file, table.schema, options=options) as writer:
            writer.write_table(table)


def _columnar(raw: Raw, title: str, read: Any) -> pa.Table:  # noqa: ANN401 - a function of a stream
    import pyarrow as pa

    try:
        with raw.open() as stream:
            return read(stream)
    except (pa.ArrowException, OSError, ValueError):
        raise DataError(f"{raw.name} is a {title} file that is damaged or truncated.", hint="Fetch it again.") from None


class Excel(FileFormat):
    """Excel workbooks, one sheet at a time."""

    name, title = "excel", "Excel"
    endings, magic = (".xlsx", ".xls"), (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
    writes, sheets = False, True

    @classmethod
    def read(cls, raw: Raw, *, sheet: str | int | None = None) -> pa.Table:
        """Read one sheet of an Excel workbook; the first row is the header."""
        import pyarrow as pa

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
            raise ConfigError(
                [Problem("sheet", f"there is no sheet {sheet!r}; there are {', '.join(book.sheet_names)}")]
            )
        if isinstance(sheet, int) and not 0 <= sheet < len(book.sheet_names):
            raise ConfigError(
                [Problem("sheet", f"there is no sheet {sheet}; sheets are 0 to {len(book.sheet_names) - 1}")]
            )
        try:
            titles = book.load_sheet(sheet or 0, header_row=None, n_rows=1).to_arrow()
            if titles.num_rows == 0:
                raise DataError(f"{raw.name}: the sheet is empty.", hint="Name another with `sheet`.")
            cells = [column[0].as_py() for column in titles.columns]
            batch = book.load_sheet(sheet or 0, header_row=0).to_arrow()
            # Titles as they stand, because fastexcel renames those that occur twice; but numbers as it writes them,
            # 2024 rather than 2024.0.
            shown = zip(cells, batch.schema.names, strict=True)
            names = [cell if isinstance(cell, str) else "" if cell is None else name for cell, name in shown]
        except DataError:
            raise
        except Exception:
            raise DataError(f"{raw.name}: the sheet cannot be read.", hint="Save it as CSV.") from None
        return pa.table([_as_typed(column) for column in batch.columns], names=names)


def _as_typed(column: pa.Array) -> pa.Array:
    """Restore what a person typed into a column: workbooks store integers as floats, and dates as timestamps."""
    import pyarrow as pa

    if pa.types.is_float64(column.type):
        with suppress(pa.ArrowInvalid):  # some have a fraction
            return column.cast(pa.int64())
    if pa.types.is_timestamp(column.type):
        days = column.cast(pa.date32(), safe=False)
        return days if days.cast(column.type).equals(column) else column
    return column
