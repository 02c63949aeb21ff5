"""Write a table that is never in memory whole: chunk by chunk to one file or a folder of Parquet files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from coterie.errors import ConfigError, Problem
from coterie.files.csv_out import Repeated, csv_stream
from coterie.files.dialect import Dialect, dialect_of
from coterie.files.formats import FORMATS
from coterie.files.formulas import Formulas, written_safely
from coterie.files.output import HashedFile, check_target, format_of, gzipped, provenance_path

if TYPE_CHECKING:
    from coterie.files.batches import TableFile
    from coterie.files.input import Format
    from coterie.settings.config import Config


class Target(NamedTuple):
    """The output and its format."""

    format: Format
    zipped: bool = False
    folder: bool = False
    """a folder of Parquet files instead of one file"""
    dialect: Dialect | None = None
    formulas: Formulas = "keep"
    """how cells of a text file that a spreadsheet would run are written"""

    def reading(self, config: Config) -> Config:
        """Return how to read the output."""
        if self.dialect is None:
            return config
        return config.for_release().replace(
            delimiter=self.dialect.delimiter, encoding=self.dialect.encoding, header=True
        )

    @property
    def suffix(self) -> str:
        """The file extension of this format."""
        if self.folder:
            return ""
        return FORMATS[self.format].endings[0] + ".gz" * self.zipped


def target_of(
    output: str | os.PathLike[str], *, force: bool, like: TableFile | None = None, formulas: Formulas = "keep"
) -> Target:
    """Return the target for a file, - for standard output, or a folder, whose name ends in a slash.

    A text file keeps the delimiter, encoding and quoting of `like`. ConfigError if the target cannot be written.
    """
    name = os.fspath(output)
    if name.endswith(("/", os.sep)):
        folder = Path(name)
        if not folder.resolve().parent.is_dir():
            raise ConfigError([Problem("output", f"there is no folder {folder.parent}")], hint="Create it first.")
        if folder.exists() and not force:
            hint = "Choose another name, or overwrite it with force=True."
            raise ConfigError([Problem("output", f"{folder} exists already")], hint=hint)
        if folder.exists() and any(each.suffix != ".parquet" for each in folder.iterdir()):
            raise ConfigError([Problem("output", f"{folder} contains files other than Parquet; it was not changed")])
        check_target(provenance_path(output), force=force)
        return Target("parquet", folder=True)
    kind, zipped = format_of(output)
    if not FORMATS[kind].batches:
        raise ConfigError([Problem("engine", f"{FORMATS[kind].title} cannot be written in blocks; use engine memory")])
    check_target(output, force=force)
    if name != "-":
        check_target(provenance_path(output), force=force)
    if kind != "csv":
        return Target(kind)
    dialect = None if like is None or like.sniffed is None else like.sniffed.dialect
    before = None if like is None else like.parts[0].path
    return Target(kind, zipped, dialect=dialect_of(output, dialect=dialect, before=before), formulas=formulas)


class WrittenFile(NamedTuple):
    """A file that was written."""

    rows: int
    sha256: str
    """of the file, or of the digests of a folder's files in order"""


def write_release(stripes: Iterable[pa.Table], path: Path, target: Target) -> WrittenFile:
    """Write a release, whose rows come some at a time, to a new file or folder."""
    if not target.folder:
        return _write_file(stripes, path, target)
    path.mkdir()
    parts = [
        _write_file([stripe], path / f"part-{number:05}.parquet", Target("parquet"))
        for number, stripe in enumerate(stripes)
    ]
    digest = hashlib.sha256("".join(part.sha256 for part in parts).encode()).hexdigest()
    return WrittenFile(sum(part.rows for part in parts), digest)


def _write_file(stripes: Iterable[pa.Table], path: Path, target: Target) -> WrittenFile:
    rows = 0

    def counted() -> Iterator[pa.Table]:
        nonlocal rows
        for stripe in stripes:
            rows += stripe.num_rows
            yield stripe

    with path.open("wb") as file:
        sink = HashedFile(file)
        write_tables(counted(), sink, target)
        file.flush()
        os.fsync(file.fileno())
    return WrittenFile(rows, sink.sha256)


def write_tables(
    tables: Iterable[pa.Table], sink: HashedFile, target: Target, repeated: Repeated | None = None
) -> None:
    """Write one or more tables with the same columns to one file, one after another.

    `repeated` tells which cells rows have in common: a text file is written faster with it.
    """
    waiting = iter(tables)
    first = next(waiting)
    every = chain([first], waiting)
    with gzipped(sink) if target.zipped else nullcontext(sink) as out:
        if target.format == "csv":
            safe = (written_safely(table, target.formulas) for table in every)
            for chunk in csv_stream(safe, first.column_names, target.dialect or Dialect(), repeated):
                out.write(chunk)
        elif FORMATS[target.format].batches:
            FORMATS[target.format].write_all(every, first.schema, out)
        else:
            FORMATS[target.format].write(pa.concat_tables(every), out)
