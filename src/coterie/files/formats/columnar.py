"""Columnar files: Parquet and Feather."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from coterie.errors import DataError
from coterie.files.formats import Contents, FileFormat

if TYPE_CHECKING:
    import pyarrow as pa

    from coterie.files.input import Raw
    from coterie.files.output import Sink

BATCH_ROWS = 2**17


class Parquet(FileFormat):
    """Apache Parquet."""

    name, title = "parquet", "Parquet"
    endings, magic = (".parquet", ".pq"), (b"PAR1",)
    batches, released_as = True, ".parquet"

    @classmethod
    def read(cls, raw: Raw, *, sheet: str | int | None = None) -> pa.Table:
        """Read a whole file; columns keep their types."""
        from pyarrow import parquet

        with _opened(raw, cls.title) as stream:
            return parquet.ParquetFile(stream).read()

    @classmethod
    def describe(cls, stream: pa.NativeFile) -> Contents:
        """Read the metadata."""
        from pyarrow import parquet

        found = parquet.ParquetFile(stream)
        size = sum(found.metadata.row_group(at).total_byte_size for at in range(found.num_row_groups))
        return Contents(found.schema_arrow.remove_metadata(), found.metadata.num_rows, size)

    @classmethod
    def read_batches(cls, stream: pa.NativeFile, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows; without buffering ahead, no more than one row group's columns is in memory."""
        from pyarrow import parquet

        with parquet.ParquetFile(stream, pre_buffer=False) as file:
            yield from file.iter_batches(batch_size=BATCH_ROWS, columns=list(columns))

    @classmethod
    def unpacked_size(cls, stream: pa.NativeFile) -> int:
        """Return the size of all row groups, or of one bit per cell if that is more."""
        found = cls.describe(stream)
        return max(found.size, (found.rows or 0) * len(found.schema) // 8)

    @classmethod
    def write_all(cls, tables: Iterable[pa.Table], schema: pa.Schema, sink: Sink) -> None:
        """Write tables as one file."""
        from pyarrow import parquet

        with parquet.ParquetWriter(sink, schema, compression="zstd") as writer:
            for table in tables:
                writer.write_table(table)


class Feather(FileFormat):
    """Arrow's own format, as a file or a stream."""

    name, title = "feather", "Feather"
    endings, magic = (".feather", ".arrow", ".ipc"), (b"ARROW1", b"\xff\xff\xff\xff")
    batches, released_as = True, ".parquet"

    @classmethod
    def read(cls, raw: Raw, *, sheet: str | int | None = None) -> pa.Table:
        """Read a whole file or stream; columns keep their types."""
        with _opened(raw, cls.title) as stream:
            return cls._reader(stream).read_all()

    @classmethod
    def _reader(cls, stream: pa.NativeFile) -> pa.RecordBatchFileReader | pa.RecordBatchStreamReader:
        from pyarrow import ipc

        start = stream.read(4)
        stream.seek(0)
        return (ipc.open_stream if start == cls.magic[1] else ipc.open_file)(stream)

    @classmethod
    def describe(cls, stream: pa.NativeFile) -> Contents:
        """Read the schema; the number of rows is not recorded."""
        return Contents(cls._reader(stream).schema.remove_metadata())

    @classmethod
    def read_batches(cls, stream: pa.NativeFile, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the record batches as they were written."""
        reader = cls._reader(stream)
        numbers = range(getattr(reader, "num_record_batches", 0))  # a stream does not know it
        for batch in map(reader.get_batch, numbers) if numbers else reader:
            yield batch.select(list(columns))

    @classmethod
    def write_all(cls, tables: Iterable[pa.Table], schema: pa.Schema, sink: Sink) -> None:
        """Write tables as one file."""
        import pyarrow as pa
        from pyarrow import ipc

        options = ipc.IpcWriteOptions(compression="zstd", unify_dictionaries=True)
        with pa.PythonFile(sink, mode="w") as file, ipc.new_file(file, schema, options=options) as writer:
            for table in tables:
                writer.write_table(table)


@contextmanager
def _opened(raw: Raw, title: str) -> Iterator[pa.NativeFile]:
    import pyarrow as pa

    try:
        with raw.open() as stream:
            yield stream
    except (pa.ArrowException, OSError, ValueError):
        raise DataError(f"{raw.name} is a {title} file that is damaged or truncated.", hint="Fetch it again.") from None
