"""Excel workbooks."""

from __future__ import annotations

import logging
import zipfile
from contextlib import suppress
from typing import TYPE_CHECKING

from coterie.errors import BackendError, ConfigError, DataError, Problem
from coterie.files.formats import FileFormat

if TYPE_CHECKING:
    import pyarrow as pa

    from coterie.files.input import Raw


class Excel(FileFormat):
    """Excel workbooks, one sheet at a time."""

    name, title = "excel", "Excel"
    endings, magic = (".xlsx", ".xls"), (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
    writes, sheets = False, True

    @classmethod
    def unpacked_size(cls, stream: pa.NativeFile) -> int:
        """Return the size of all parts of a workbook, which is a zip file; older ones are not compressed."""
        if not zipfile.is_zipfile(stream):
            return 0
        with zipfile.ZipFile(stream) as book:
            return sum(entry.file_size for entry in book.infolist())

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
            # The original titles, because fastexcel renames duplicates; but numbers as it writes them,
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
