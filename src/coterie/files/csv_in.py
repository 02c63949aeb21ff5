"""Read delimited text into Arrow, keeping every cell as text.

Columns are read as strings, so "02138" and "1.50" are kept unchanged; whether a column is numeric is decided later,
from its distinct values. pyarrow's messages quote rejected rows, so none of them is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pyarrow as pa

from coterie.errors import DataError
from coterie.files.dialect import SAMPLE_BYTES, DetectedText, Dialect, TextSettings, eight_bit_encoding, not_text, sniff
from coterie.wording import count_of

if TYPE_CHECKING:
    from pyarrow import csv

_BLOCK_BYTES = 1 << 22
_CHUNK_BYTES = 1 << 20
_CACHED = 1 << 18
_PARSING = (pa.ArrowException, UnicodeError, OSError, EOFError)

Opener = Callable[[], pa.NativeFile]
"""opens the (decompressed) text as a new stream of bytes"""


def detect(opened: Opener, name: str, **text: Unpack[TextSettings]) -> DetectedText:
    """Detect the dialect and columns of a text table from its beginning."""
    try:
        with opened() as stream:
            sample = stream.read(SAMPLE_BYTES + 1)
    except _PARSING:
        raise damaged(name) from None
    return sniff(sample[:SAMPLE_BYTES], whole=len(sample) <= SAMPLE_BYTES, name=name, **text)


def read_csv(
    opened: Opener, name: str, *, held: bytes | None = None, **text: Unpack[TextSettings]
) -> tuple[pa.Table, Dialect]:
    """Read a delimited text table, all columns as strings, and detect its dialect.

    `held` are the bytes of the text, if they are in memory.
    """
    found = detect(opened, name, **text)
    try:
        table = _parse_lines(opened, found, held)
        if table is None:
            table = _parse(opened, found)
    except _PARSING as error:
        if text.get("encoding") is not None or found.dialect.encoding != "utf-8" or "UTF8" not in str(error):
            raise _explained(error, opened, found, name) from None
        found = in_eight_bits(opened, name, **text)
        try:
            table = _parse(opened, found)
        except _PARSING as again:
            raise _explained(again, opened, found, name) from None
    if table.num_rows == 0:
        raise no_rows(name)
    _refuse_open_quote(table, opened, name)
    return table, found.dialect


def _parse_lines(opened: Opener, found: DetectedText, held: bytes | None) -> pa.Table | None:
    """Parse a text whose every line is a row, and return None for others; quicker than `_parse`, on several threads.

    Blocks of the text are cut at any line end. If one is within quotes, pyarrow notices it, or drops that line, or ends
    the cell with the block. So there are as many rows as lines, and no line end in the last column, only if none is.
    """
    if held is None or not found.dialect.encoding.startswith("utf-8"):
        return None
    quotes = b'"' in held
    if quotes and b"\r" in held:
        return None  # lines are not as easily counted
    try:
        table = _parse(opened, found, within_quotes=False)
    except _PARSING:
        return None
    if quotes:
        lines = _line_ends(held) + (not held.endswith(b"\n"))
        last = table.column(table.num_columns - 1)
        if table.num_rows + found.has_header + found.skipped != lines or _has_line_end(last):
            return None
    return table


def _line_ends(text: bytes) -> int:
    # In pieces that stay in the processor's cache.
    signs = np.frombuffer(text, dtype=np.uint8)
    return sum(int(np.count_nonzero(signs[at : at + _CACHED] == ord("\n"))) for at in range(0, len(signs), _CACHED))


def _has_line_end(column: pa.ChunkedArray) -> bool:
    return any(b"\n" in bytes(chunk.buffers()[2] or b"") for chunk in column.chunks)


def in_eight_bits(opened: Opener, name: str, **text: Unpack[TextSettings]) -> DetectedText:
    """Detect the dialect of a text that is ASCII for the length of the sample and no UTF-8 later."""
    return detect(opened, name, **(text | {"encoding": eight_bit_encoding(chunks_of(opened))}))


def _parse(
    opened: Opener,
    found: DetectedText,
    *,
    block_size: int = _BLOCK_BYTES,
    on_bad_row: Callable[[csv.InvalidRow], str] | None = None,
    within_quotes: bool = True,
) -> pa.Table:
    """Parse with pyarrow. Raises pyarrow's own errors, whose text contains cell values."""
    from pyarrow import csv

    def once(names: list[str]) -> pa.Table:
        options = _options(found, names, block_size=block_size, on_bad_row=on_bad_row, within_quotes=within_quotes)
        with opened() as stream:
            return csv.read_csv(stream, **options)

    try:
        table = once(found.header)
    except pa.ArrowInvalid as error:
        if "cannot infer number of columns" in str(error):
            return pa.table({title: pa.array([], pa.string()) for title in found.header})
        if "straddl" not in str(error) or block_size > _BLOCK_BYTES or not within_quotes:
            raise
        # One cell is larger than a block.
        return _parse(opened, found, block_size=(1 << 31) - 1, on_bad_row=on_bad_row)
    if any(kind != pa.string() for kind in table.schema.types):
        # pyarrow read a name otherwise than we did, and so guessed that column's type.
        table = once(table.column_names)
    return table


def _options(
    found: DetectedText,
    names: list[str],
    *,
    block_size: int = _BLOCK_BYTES,
    on_bad_row: Callable[[csv.InvalidRow], str] | None = None,
    within_quotes: bool = True,
) -> dict[str, Any]:
    """Return pyarrow's options for reading these columns as text; line ends may be within quotes, or nowhere."""
    from pyarrow import csv

    dialect = found.dialect
    one = len(found.header) == 1  # then an empty line is a row whose only value is missing
    return {
        "read_options": csv.ReadOptions(
            encoding="utf8" if dialect.encoding.startswith("utf-8") else dialect.encoding,
            block_size=block_size,
            use_threads=on_bad_row is None,  # only a single thread knows the numbers of rows
            skip_rows=found.skipped + (found.blank_lines if one else 0),
            column_names=None if found.has_header else found.header,
        ),
        "parse_options": csv.ParseOptions(
            delimiter=dialect.delimiter,
            newlines_in_values=within_quotes,
            ignore_empty_lines=not one,
            invalid_row_handler=on_bad_row,
        ),
        "convert_options": csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            null_values=list(dialect.missing_values),
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    }


def no_rows(name: str) -> DataError:
    """Return the error for a file with a header but no rows, the same in every engine."""
    return DataError(f"{name} has a header but no rows.", hint="Give a file with at least one row of data.")


def csv_batches(opened: Opener, found: DetectedText) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a text table in batches, for tables larger than memory.

    Raises a ValueError if only `read_csv`, which reads the whole file, can read it or explain what is wrong.
    """
    from pyarrow import csv

    try:
        with opened() as stream, csv.open_csv(stream, **_options(found, found.header)) as reader:
            if reader.schema.names != found.header:
                raise ValueError("pyarrow reads the header otherwise")
            last = None
            for batch in reader:
                last = batch if batch.num_rows else last
                yield batch
    except _PARSING:
        raise ValueError("cannot be read in pieces") from None
    if last is None or {"\r", "\n"} & set(last.column(last.num_columns - 1)[-1].as_py() or ""):
        raise ValueError("no rows, or a quote that may never be closed")


def _explained(error: BaseException, opened: Opener, found: DetectedText, name: str) -> DataError:
    """Explain why pyarrow rejected a text, without its message, which quotes the row."""
    text = str(error)
    if "Expected" in text and "columns" in text:
        ragged = _ragged(opened, found, name)
        if ragged is not None:
            return ragged
    if "UTF8" in text or isinstance(error, UnicodeError):
        return not_text(name, found.dialect.encoding)
    if isinstance(error, OSError | EOFError) and not isinstance(error, pa.ArrowInvalid):
        return damaged(name)
    return DataError(
        f"{name} cannot be parsed as text with {_spelled(found.dialect.delimiter)} between its columns.",
        hint="Check its quotes, or give the delimiter.",
    )


def damaged(name: str) -> DataError:
    """Return the error for a file that ends too early, or is none of its kind at some place."""
    return DataError(f"{name} cannot be read to its end: it is damaged or truncated.", hint="Fetch it again.")


def _ragged(opened: Opener, found: DetectedText, name: str) -> DataError | None:
    """Return the error for rows of unequal length; None if another reading finds none."""
    first: csv.InvalidRow | None = None
    rows = 0

    def note(row: csv.InvalidRow) -> str:
        nonlocal first, rows
        first, rows = first or row, rows + 1
        return "skip"

    with suppress(*_PARSING):
        _parse(opened, found, on_bad_row=note)
    if first is None:
        return None
    where = f"row {first.number}" if first.number else "a row"
    more = f", and {rows - 1:,} more rows do not fit" if rows > 1 else ""
    head, columns = ("header", "The header is row 1; columns") if found.has_header else ("first row", "Columns")
    return DataError(
        f"{name}: {where} has {count_of(first.actual_columns, 'column')} where the {head} has "
        f"{first.expected_columns}{more}. {columns} are separated by {_spelled(found.dialect.delimiter)}.",
        rows=rows,
        hint="Correct these rows, or give the delimiter.",
    )


def _spelled(delimiter: str) -> str:
    return {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}.get(delimiter, f"{delimiter!r}")


def chunks_of(opened: Opener) -> Iterator[bytes]:
    """Yield a text piece by piece."""
    with opened() as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            yield chunk


def _refuse_open_quote(table: pa.Table, opened: Opener, name: str) -> None:
    """Refuse a text with an unclosed quote, which would silently swallow the rest of the file into one cell."""
    last = table.column(table.num_columns - 1)[-1].as_py()
    if last is None or not {"\r", "\n"} & set(last):
        return
    tail = b""
    for chunk in chunks_of(opened):
        tail = (tail + chunk)[-16:]
    # Zero bytes are UTF-16's; a value that was closed ends in a quote, or a delimiter-free rest after one.
    if not tail.replace(b"\0", b"").rstrip(b"\r\n").endswith(b'"'):
        raise DataError(
            f"{name}: a quoted value is never closed, so the rest of the file would become part of it.",
            rows=1,
            hint=f"Look for a lone quote near row {table.num_rows + 1:,} (the header is row 1).",
        )
