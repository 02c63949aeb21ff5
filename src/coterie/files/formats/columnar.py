"""Columnar files: Parquet and Feather."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from coterie.errors import DataError
from coterie.files.formats import FileFormat

if TYPE_CHECKING:
    import pyarrow as pa

    from coterie.files.input import Raw
    from coterie.files.output import Sink


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
        from pyarrow import ipc

        with _opened(raw, cls.title) as stream:
            start = stream.read(4)
            stream.seek(0)
            return (ipc.open_stream if start == cls.magic[1] else ipc.open_file)(stream).read_all()

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
