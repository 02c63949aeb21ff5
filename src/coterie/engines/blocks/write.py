"""Write a release from finished blocks: the table is read once more, and its rows leave in the order they came."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Container, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from coterie.engines.blocks.store import BlockStore, Finished, join_pieces
from coterie.errors import ConfigError, Problem
from coterie.files.csv_out import csv_stream
from coterie.files.dialect import Dialect
from coterie.files.door import Levels, bare_table
from coterie.files.output import HashedFile, check_target, format_of, gzipped, provenance_path
from coterie.files.tables import dialect_of
from coterie.publishing.labels import Boxes, label, style_of
from coterie.publishing.publish import as_type_of, keep_rows

if TYPE_CHECKING:
    from coterie.engines.plan import Plan
    from coterie.files.batches import TableFile
    from coterie.files.input import Format
    from coterie.methods._method import Progress
    from coterie.table.domain import Domain


class Target(NamedTuple):
    """What is written, and how."""

    format: Format
    zipped: bool = False
    folder: bool = False
    """a folder of Parquet files in place of one file"""
    dialect: Dialect | None = None

    @property
    def suffix(self) -> str:
        """What the name of a file of this format ends in."""
        if self.folder:
            return ""
        return {"parquet": ".parquet", "feather": ".feather"}.get(self.format, ".csv") + ".gz" * self.zipped


def target_of(output: str | os.PathLike[str], *, force: bool, like: TableFile | None = None) -> Target:
    """What to write under a name; a ConfigError where nothing may be written.

    Args:
        output: A file by its ending, - for standard output, or a folder (its name ends in a slash).
        force: Whether something may be there.
        like: The table whose delimiter, encoding and quotes a text file keeps.
    """
    name = os.fspath(output)
    if name.endswith(("/", os.sep)):
        folder = Path(name)
        if not folder.resolve().parent.is_dir():
            raise ConfigError([Problem("output", f"there is no folder {folder.parent}")], hint="Create it first.")
        if folder.exists() and not force:
            hint = "Choose another name, or overwrite it with --force."
            raise ConfigError([Problem("output", f"{folder} exists already")], hint=hint)
        if folder.exists() and any(each.suffix != ".parquet" for each in folder.iterdir()):
            raise ConfigError([Problem("output", f"{folder} holds other files than Parquet; it is left alone")])
        check_target(provenance_path(output), force=force)
        return Target("parquet", folder=True)
    kind, zipped = format_of(output)
    check_target(output, force=force)
    if name != "-":
        check_target(provenance_path(output), force=force)
    if kind != "csv":
        return Target(kind)
    dialect = None if like is None or like.sniffed is None else like.sniffed.dialect
    before = None if like is None else like.parts[0].path
    return Target(kind, zipped, dialect=dialect_of(output, dialect=dialect, before=before))


class Written(NamedTuple):
    """What was written."""

    rows: int
    sha256: str
    """of the file, or of the digests of a folder's files in their order"""


@dataclass(frozen=True, eq=False)
class Publisher:
    """Puts published quasi-identifiers and untouched columns together, a stripe of rows at a time."""

    table: TableFile
    plan: Plan
    store: BlockStore
    finished: tuple[Finished, ...]
    show_suppressed: bool
    """whether suppressed rows are shown as `*`; otherwise they are left out"""
    suppressed: int
    """rows that are"""
    one_dictionary: bool = False
    """whether a column has the same dictionary in all stripes, as Feather needs it"""

    @property
    def unchanged(self) -> dict[str, Domain]:
        """Quasi-identifiers that are published with their own values in every block."""
        if self.suppressed and self.show_suppressed:
            return {}
        sums = [each.sums for each in self.finished]
        return {
            domain.name: domain
            for at, domain in enumerate(self.plan.book.domains)
            if all(each.unchanged[at] for each in sums)
        }

    def stripes(self, progress: Progress | None = None) -> Iterator[pa.Table]:
        """The release in row order."""
        unchanged = self.unchanged
        names = {domain.name: published_as(domain, self.plan) for domain in self.plan.book.domains}
        published = {
            column: what for name, columns in names.items() if name not in unchanged for column, what in columns.items()
        }
        levels = self._levels(unchanged) if self.one_dictionary else {}
        done = 0
        for number, original in enumerate(self._originals(unchanged)):
            found = [self.store.piece(block, each, number) for block, each in enumerate(self.finished)]
            made = join_pieces(
                [piece for piece in found if piece is not None],
                rows=original.num_rows,
                published=published,
                unchanged=unchanged,
                show_suppressed=self.show_suppressed,
            )
            joined = self._joined(original, made.columns, made.kept, names=names, unchanged=unchanged)
            yield bare_table(joined, levels=levels)
            done += original.num_rows
            if progress is not None:
                progress("write", done, self.plan.book.all_rows)

    def _originals(self, unchanged: dict[str, Domain], only: Container[str] | None = None) -> Iterator[pa.Table]:
        """The columns that are published as they are, or some, by stripe; also those whose type has to be kept."""
        config = self.plan.book.config
        shown = config.published_unchanged.union(unchanged)
        wanted = [name for name in self.table.schema.names if name in shown and (only is None or name in only)]
        # Rows have to be counted even where no column is left.
        counting = wanted or [self.table.schema.names[0]]
        waiting: list[pa.RecordBatch] = []
        held = 0
        for batch in self.table.batches(counting):
            waiting.append(batch)
            held += batch.num_rows
            while held >= self.store.stripe_rows:
                whole = pa.Table.from_batches(waiting)
                yield whole.slice(0, self.store.stripe_rows)
                rest = whole.slice(self.store.stripe_rows)
                waiting, held = rest.to_batches(), rest.num_rows
        if held:
            yield pa.Table.from_batches(waiting)

    def _levels(self, unchanged: dict[str, Domain]) -> dict[str, pa.Array]:
        """Column → the values of its dictionary that some published row holds: read once more, before any is written.

        Stripe by stripe, another stripe's values would come in too late for a file that has begun.
        """
        shown = self.plan.book.config.published_unchanged.union(unchanged)
        found = {
            field.name: Levels.none(field.type)
            for field in self.table.schema
            if pa.types.is_dictionary(field.type) and field.name in shown
        }
        if not found:
            return {}
        for number, original in enumerate(self._originals(unchanged, only=found)):
            if self.suppressed and not self.show_suppressed:
                kept = self.store.published(self.finished, number, original.num_rows)
                original = original.filter(pa.array(kept))
            found = {name: before.joined(original.column(name)) for name, before in found.items()}
        return {name: each.used for name, each in found.items()}

    def _joined(
        self,
        original: pa.Table,
        cells: dict[str, pa.Array],
        kept: np.ndarray[Any, np.dtype[np.int64]],
        *,
        names: dict[str, dict[str, Any]],
        unchanged: dict[str, Domain],
    ) -> pa.Table:
        fields: list[pa.Field] = []
        arrays: list[pa.ChunkedArray] = []
        for field in self.table.schema:
            if field.name in unchanged:
                column = pa.chunked_array([cells[field.name]])
                arrays.append(as_type_of(original.column(field.name), column))
                fields.append(pa.field(field.name, field.type))
            elif field.name in names:
                for name in names[field.name]:
                    arrays.append(pa.chunked_array([cells[name]]))
                    fields.append(pa.field(name, cells[name].type))
            elif field.name in self.plan.book.config.published_unchanged:
                arrays.append(keep_rows(original.column(field.name), kept))
                fields.append(field)
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def published_as(domain: Domain, plan: Plan) -> dict[str, tuple[pa.DataType, Any]]:
    """The published columns of a quasi-identifier → their types, and what stands there for a suppressed row."""
    one = np.zeros(1, dtype=np.int32)
    labels = label(Boxes(domain, one, one, one, one), style_of(domain, plan.book.config.publish))
    return {
        name: (values.type, values[labels.suppressed].as_py())
        for name, values in zip(labels.names, labels.values, strict=True)
    }


class Stripes(Protocol):
    """A release that can be read in row order, some rows at a time."""

    def stripes(self, progress: Progress | None = None) -> Iterator[pa.Table]:
        """Its rows."""


def write_release(publisher: Stripes, path: Path, target: Target, *, progress: Progress | None = None) -> Written:
    """Write the release.

    Args:
        publisher: What to write.
        path: A new file, or a new folder.
        target: Its format.
        progress: Told how many rows are written.
    """
    stripes = publisher.stripes(progress)
    if target.folder:
        return _write_folder(stripes, path)
    counted = _Counted(stripes)
    with path.open("wb") as file:
        sink = HashedFile(file)
        write_tables(counted, sink, target)
        file.flush()
        os.fsync(file.fileno())
    return Written(counted.rows, sink.sha256)


class _Counted:
    """Tables that go by, and how many rows they had."""

    def __init__(self, tables: Iterator[pa.Table]) -> None:
        self._tables = tables
        self.rows = 0

    def __iter__(self) -> Iterator[pa.Table]:
        for table in self._tables:
            self.rows += table.num_rows
            yield table


def _write_folder(stripes: Iterator[pa.Table], path: Path) -> Written:
    path.mkdir()
    rows, digests = 0, []
    for number, stripe in enumerate(stripes):
        with (path / f"part-{number:05}.parquet").open("wb") as file:
            sink = HashedFile(file)
            write_tables([stripe], sink, Target("parquet"))
            file.flush()
            os.fsync(file.fileno())
        rows += stripe.num_rows
        digests.append(sink.sha256)
    return Written(rows, hashlib.sha256("".join(digests).encode()).hexdigest())


def write_tables(tables: Iterable[pa.Table], sink: HashedFile, target: Target) -> None:
    """Write tables with the same columns one after the other into one file.

    Args:
        tables: At least one.
        sink: The file.
        target: Its format.
    """
    waiting = iter(tables)
    first = next(waiting)
    every = chain([first], waiting)
    if target.format == "parquet":
        from pyarrow import parquet

        with parquet.ParquetWriter(sink, first.schema, compression="zstd") as writer:
            for table in every:
                writer.write_table(table)
    elif target.format == "feather":
        from pyarrow import ipc

        options = ipc.IpcWriteOptions(compression="zstd", unify_dictionaries=True)
        with pa.PythonFile(sink, mode="w") as file, ipc.new_file(file, first.schema, options=options) as writer:
            for table in every:
                writer.write_table(table)
    else:
        chunks = csv_stream(every, first.column_names, target.dialect or Dialect())
        with gzipped(sink) if target.zipped else nullcontext(sink) as packed:
            for chunk in chunks:
                packed.write(chunk)
