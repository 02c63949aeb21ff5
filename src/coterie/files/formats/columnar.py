"""Columnar files: Parquet and Feather."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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

        return _columnar(raw, cls.title, lambda stream: parquet.ParquetFile(stream).read())

    @classmethod
    def write(cls, table: pa.Table, sink: Sink) -> None:
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
    def write(cls, table: pa.Table, sink: Sink) -> None:
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
