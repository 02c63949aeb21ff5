"""Write Arrow tables as delimited text in a given dialect.

Columns are joined with Arrow's string functions, in batches: pyarrow's CSV writer quotes either every
text or none, and cannot preserve line endings.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, groupby, pairwise
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from coterie.arrays import Int32, in_threads
from coterie.errors import DataError
from coterie.files.dialect import Dialect

_BATCH_BYTES = 1 << 24
_BATCH_ROWS = 1 << 16
_FEW = 4  # rows to a number, on average, below which copying gains little

Content: TypeAlias = "pa.Buffer | bytes"
Quoted: TypeAlias = Sequence[bool | None]
"""column → whether all its values are quoted; None if its texts are to be written as they are"""


class Repeated(NamedTuple):
    """Columns with equal cells in all rows of the same number, such as the rows of a group."""

    columns: frozenset[str]
    of_row: Int32
    """row → number, 0 or more"""


def csv_stream(
    tables: Iterable[pa.Table], names: list[str], dialect: Dialect, repeated: Repeated | None = None
) -> Iterator[Content]:
    """Yield consecutive tables with the same columns as encoded chunks of one file in the dialect, header first.

    `repeated` is about the rows of all tables: such cells are put together once, and then copied.
    """
    encode = _encoder(dialect)
    titles = [pa.array([title], pa.string()) for title in names]
    # A name may be empty (pandas leaves its index unnamed), but an empty line would not be read as a header.
    bare = () if len(names) > 1 else ("",)
    header = _joined(titles, [dialect.quoted_header] * len(names), dialect, bare)
    yield encode(text_bytes(header), titles, names)
    like_missing = (*dialect.missing_values, dialect.missing)
    everything = dialect.quoting == "all"
    quoted: Quoted = [everything or title in dialect.quoted_columns for title in names]
    batches: Iterator[pa.RecordBatch] = (batch for table in tables for batch in _batches(table))
    # Another encoding may lack a character, and the error names the column of it.
    if repeated is not None and dialect.encoding == "utf-8":
        join = partial(_joined, dialect=dialect, like_missing=like_missing, end="")
        batches, names, quoted = _put_together(list(batches), names, quoted, repeated, join)

    def written(batch: pa.RecordBatch) -> tuple[Content, list[pa.Array]]:
        columns = [_as_text(column, name) for column, name in zip(batch.columns, names, strict=True)]
        # The values of an Arrow string array lie end to end: they are the text.
        return text_bytes(_joined(columns, quoted, dialect, like_missing)), columns

    for content, columns in in_threads(written, batches):
        yield encode(content, columns, names)


def _batches(table: pa.Table) -> list[pa.RecordBatch]:
    rows = max(1, min(_BATCH_ROWS, _BATCH_BYTES * table.num_rows // max(1, table.nbytes)))
    return list(table.to_batches(max_chunksize=rows))


def _put_together(
    batches: Sequence[pa.RecordBatch],
    names: list[str],
    quoted: Quoted,
    repeated: Repeated,
    join: Callable[[list[pa.Array], Quoted], pa.Array],
) -> tuple[Iterator[pa.RecordBatch], list[str], Quoted]:
    """Make one column, of texts as they are written, of repeated ones side by side; return names and quotes as well."""
    count = int(repeated.of_row.max(initial=-1)) + 1
    if _FEW * count > len(repeated.of_row) or not batches:
        return iter(batches), names, quoted
    first = np.zeros(count, dtype=np.int64)
    first[repeated.of_row[::-1]] = np.arange(len(repeated.of_row))[::-1]  # the last assignment wins
    firsts, text = np.unique(first, return_inverse=True)
    text_of_row = text.astype(np.int32)[repeated.of_row]
    ends = list(accumulate((batch.num_rows for batch in batches), initial=0))

    def texts(number: int, places: Sequence[int]) -> pa.Array:
        begin, end = np.searchsorted(firsts, ends[number : number + 2])
        rows = pa.array(firsts[begin:end] - ends[number])
        cells = [batches[number].column(at).take(rows) for at in places]
        return join(cells, [quoted[at] for at in places]).cast(pa.large_string())  # all together may be large

    def is_repeated(at: int) -> bool:
        return names[at] in repeated.columns and _is_text(batches[0].schema.field(at).type)

    columns: list[list[pa.Array]] = []
    titles: list[str] = []
    kinds: list[bool | None] = []
    for same, some in groupby(range(len(names)), is_repeated):
        places = list(some)
        if same and len(places) > 1:
            each = pa.concat_arrays(in_threads(partial(texts, places=places), range(len(batches))))
            rows = (pa.array(text_of_row[begin:end]) for begin, end in pairwise(ends))
            columns.append([pa.DictionaryArray.from_arrays(index, each) for index in rows])
            titles.append(names[places[0]])
            kinds.append(None)
        else:
            columns += [[batch.column(at) for batch in batches] for at in places]
            titles += [names[at] for at in places]
            kinds += [quoted[at] for at in places]
    return (pa.record_batch(list(each), names=titles) for each in zip(*columns, strict=True)), titles, kinds


def _joined(
    columns: list[pa.Array], quoted: Quoted, dialect: Dialect, like_missing: tuple[str, ...], end: str | None = None
) -> pa.Array:
    """Return some rows as texts, each with its line ending or another end."""
    import pyarrow.compute as pc

    cells = [
        (column, "") if always is None else _quoted(column, dialect, always=always, like_missing=like_missing)
        for column, always in zip(columns, quoted, strict=True)
    ]
    # Arrow joins texts of one type only.
    kind = pa.large_string() if any(pa.types.is_large_string(texts.type) for texts, _ in cells) else pa.string()
    pieces: list[pa.Array | pa.Scalar] = []
    before = quote = ""
    for texts, quote in cells:
        pieces += [pa.scalar(before + quote, kind), texts.cast(kind)] if before + quote else [texts.cast(kind)]
        before = quote + dialect.delimiter
    ends = pa.scalar(quote + (dialect.line_end if end is None else end), kind), pa.scalar("", kind)
    return pc.binary_join_element_wise(*pieces, *ends, null_handling="replace", null_replacement=dialect.missing)


def text_bytes(column: pa.Array) -> Content:
    """Return the concatenated bytes of all values of a string array."""
    _, offsets, values = column.buffers()
    kind = np.int64 if pa.types.is_large_string(column.type) else np.int32
    bounds = np.frombuffer(offsets, dtype=kind)
    start, stop = int(bounds[column.offset]), int(bounds[column.offset + len(column)])
    return values.slice(start, stop - start) if values is not None else b""


def _quoted(
    column: pa.Array, dialect: Dialect, *, always: bool, like_missing: tuple[str, ...]
) -> tuple[pa.Array, Literal["", '"']]:
    """Quote the cells that would be misread, or all that are not missing; return the quotes that all still need."""
    import pyarrow.compute as pc

    content = bytes(text_bytes(column))
    # Looking once through all bytes is far cheaper than asking each cell, and most columns need no quotes.
    present = [sign for sign in ('"', dialect.delimiter, "\n", "\r") if sign.encode() in content]

    def doubled() -> pa.Array:
        return pc.replace_substring(column, '"', '""') if '"' in present else column

    def wrapped() -> pa.Array:
        quote, nothing = pa.scalar('"', column.type), pa.scalar("", column.type)
        return pc.binary_join_element_wise(quote, doubled(), quote, nothing)

    if always:
        # Quotes cost nothing as part of what stands between two columns, but a null has none.
        return (wrapped(), "") if column.null_count else (doubled(), '"')
    # A null is written as the missing text and never quoted; a value that only looks like one has to be.
    needs = pc.and_(pc.is_in(column, value_set=pa.array(like_missing, column.type)), column.is_valid())
    if present:
        pattern = "[" + "".join(f"\\x{{{ord(sign):x}}}" for sign in present) + "]"
        needs = pc.or_(needs, pc.match_substring_regex(column, pattern))
    elif not pc.any(needs).as_py():
        return column, ""
    return pc.if_else(needs, wrapped(), column), ""


def _as_text(column: pa.Array, name: str) -> pa.Array:
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _as_text(column.dictionary_decode(), name)
    if _is_text(kind):
        return column
    try:
        return text_cells(column)
    except pa.ArrowException:
        raise DataError(
            f"Column {name!r} contains {kind} values, which cannot be written as text.",
            column=name,
            hint="Write Parquet (.parquet) or drop the column.",
        ) from None


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def text_cells(cells: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return cells as text; moments with the whole distance of their clock from UTC.

    Arrow writes hours and minutes of it alone. Before zones were introduced clocks went by the sun: Berlin's was
    53 minutes and 28 seconds ahead until 1893, and a text without the 28 is another moment.
    """
    import pyarrow.compute as pc

    written, kind = cells.cast(pa.string()), cells.type
    if not pa.types.is_timestamp(kind) or kind.tz is None:
        return written
    ticks = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
    ahead = pc.divide(pc.subtract(pc.local_timestamp(cells).cast(pa.int64()), cells.cast(pa.int64())), ticks)
    seconds = pc.abs(pc.subtract(ahead, pc.multiply(pc.divide(ahead, 60), 60)))
    if not pc.any(pc.greater(seconds, 0)).as_py():
        return written
    more = pc.utf8_lpad(seconds.cast(pa.string()), 2, "0")
    return pc.if_else(pc.greater(seconds, 0), pc.binary_join_element_wise(written, more, ""), written)


def _encoder(dialect: Dialect) -> Callable[[Content, list[pa.Array], list[str]], Content]:
    """Return a function that re-encodes chunks of UTF-8 in the dialect's encoding."""
    if dialect.encoding == "utf-8":
        return lambda content, columns, names: content
    encoder = codecs.getincrementalencoder(dialect.encoding)()
    marked = dialect.bom and dialect.encoding in ("utf-16-le", "utf-16-be")
    start = "\ufeff" if marked else ""

    def encode(content: Content, columns: list[pa.Array], names: list[str]) -> Content:
        nonlocal start
        text, start = start + bytes(content).decode("utf-8"), ""
        try:
            return encoder.encode(text)
        except UnicodeEncodeError:
            raise _not_encodable(columns, names, dialect.encoding) from None

    return encode


def _not_encodable(columns: list[pa.Array], names: list[str], encoding: str) -> DataError:
    bad = None
    for column, name in zip(columns, names, strict=True):
        try:
            bytes(text_bytes(column)).decode("utf-8").encode(encoding)
        except UnicodeEncodeError:
            bad = name
            break
    return DataError(
        f"{'The table' if bad is None else f'Column {bad!r}'} has characters that {encoding} cannot encode.",
        column=bad,
        hint="Convert the input to UTF-8 first, or write Parquet (.parquet).",
    )
