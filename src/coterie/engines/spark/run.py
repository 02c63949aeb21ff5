"""Anonymize a file on Spark, for `coterie anonymize --engine spark`."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from coterie.arrays import AnyTable
from coterie.engines.finished import give_name, stored_rows
from coterie.engines.mapping import join_mappings
from coterie.engines.phases import Phases
from coterie.engines.request import block_problems
from coterie.engines.spark.frame import SparkRows, release_rows
from coterie.engines.spark.session import session_on
from coterie.engines.spark.source import NumberedRows, hand_over, list_files, literal, read_parquet
from coterie.engines.spark.write import (
    LocalPlace,
    RemotePlace,
    collect_mapping,
    place_of,
    refuse_existing,
    write_verified,
)
from coterie.errors import Problem, VerificationError, refuse
from coterie.files.batches import TableFile, open_table
from coterie.files.databases.place import is_address
from coterie.files.destinations import check_apart
from coterie.files.door import bare_table
from coterie.files.input import changed_input
from coterie.files.streams import Target, WrittenFile, target_of, write_release
from coterie.publishing.mapping import check_mapping
from coterie.releases.place import write_settings
from coterie.releases.release import Release
from coterie.table.masks import read_mask

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from coterie.engines.engine import Job


def problems(data: AnyTable, job: Job) -> list[Problem]:
    """Return what cannot be done on Spark."""
    found = block_problems(data, job, "spark")
    if job.resume:
        found.append(Problem("resume", "Spark retries lost work itself and keeps nothing after a run"))
    return found


def anonymize(data: AnyTable, job: Job) -> Release:
    """Anonymize a file on Spark.

    Args:
        data: The path of a CSV, Parquet or Feather file or of a folder of Parquet files, or the address of Parquet
            files, such as hdfs://….
        job: The job.

    Raises:
        ConfigError: The request is invalid or not possible in blocks; reports all problems at once.
        DataError: The data do not match the configuration.
        InfeasibleError: The request is infeasible for this table.
        BackendError: Spark is not installed, does not start, or a job failed.
        VerificationError: The written table did not pass verification; there is no release.
    """
    refuse(problems(data, job))
    check_apart(data, job.config, output=job.place, mapping=job.mapping)
    check_mapping(job.mapping, force=job.force)
    name, phases = os.fspath(data), Phases(job.progress)
    target = _target(job)
    with phases("read"):
        table = None if is_address(name) else open_table(name, job.config)
        if table is not None:
            job.config.check_columns(table.schema.names, text=table.sniffed is not None)
            job = job.ordered_by(table)
            target = _target(job, like=table)
    with ExitStack() as stack:
        with phases("start"):
            session = stack.enter_context(session_on(job.cluster))
        try:
            return _Run(job, phases, session, target, table).finish(name)
        except VerificationError:
            if table is not None:
                table.check_content()  # a changed input is not a bug in coterie
            raise


def _target(job: Job, like: TableFile | None = None) -> Target:
    if is_address(os.fspath(job.place)):
        return Target("parquet", folder=True)
    return target_of(job.place, force=job.force, like=like, formulas=job.config.formulas)


@dataclass(frozen=True, eq=False)
class _Run:
    """A run with its session."""

    job: Job
    phases: Phases
    session: SparkSession
    target: Target
    table: TableFile | None

    @property
    def output(self) -> str:
        return os.fspath(self.job.place)

    def finish(self, name: str) -> Release:
        job = self.job
        place = place_of(self.session, _beside(self.output))
        before = self._listing(name)
        with place.beside() as temporary:
            refuse_existing(place, force=job.force)
            rows = self._rows(name, Path(f"{temporary}/input"))
            job.checkpoint()
            made = release_rows(
                rows,
                job.config,
                block_rows=job.block_rows,
                progress=job.progress,
                mapping=job.mapping is not None,
                mask=read_mask(job.suppress_rows, job.suppress_cells, count=None, quasi=job.config.quasi),
            )
            self.phases.seconds.update(made.seconds)
            folder, held = f"{temporary}/release", made.place
            assert isinstance(held, SparkRows)
            with self.phases("write"):
                write_verified(held.grouped, folder, shown=held.shown)
                # The executors have read the files in several passes.
                if self.table is not None:
                    self.table.check_content()
                elif self._listing(name) != before:
                    raise changed_input(name)
                path, written = self._ready(made, folder, place)
                plan, removed = held.plan, held.removed()
                stored = stored_rows(job, plan, held.checked, written, self.target, removed, original=self.table)
                release = replace(
                    made,
                    config=job.settled("spark"),
                    place=stored,
                    seconds=self.phases.seconds,
                    written={stored.where: written.sha256} if written.sha256 else {},
                )
                if not is_address(self.output) and self.output != "-":
                    write_settings(release, self.output, force=job.force, pyspark=version("pyspark"))
                if isinstance(place, RemotePlace) or self.target.folder:
                    place.take(path, force=job.force)
                else:
                    give_name(Path(path), self.output, force=job.force)
                if job.mapping is not None:
                    parts = collect_mapping(held.grouped, Path(f"{temporary}/mapping"))
                    how = {"removed": not held.shown, "force": job.force}
                    join_mappings(job.mapping, held.plan, held.grouped.sums, parts, **how, like=self.table)
        made.unpersist()
        return release

    def _listing(self, name: str) -> list[tuple[str, int, int]]:
        """Return sizes and times of the files at an address; nothing for local files, which are hashed."""
        return [] if self.table is not None else list_files(self.session, name)

    def _rows(self, name: str, folder: Path) -> NumberedRows:
        if self.table is None:
            return read_parquet(self.session, [name])
        if self.table.format == "parquet":
            paths = [part.path for part in self.table.parts if part.path is not None]
            return read_parquet(self.session, [literal(path) for path in paths])
        with self.phases("hand over"):
            return read_parquet(self.session, [literal(hand_over(self.table, folder))])

    def _ready(self, made: Release, folder: str, place: LocalPlace | RemotePlace) -> tuple[str, WrittenFile]:
        """Return the path of the release, a folder or one file that only lacks its name, and what was written there."""
        rows = made.verification.rows
        if isinstance(place, RemotePlace):
            return folder, WrittenFile(rows, "")
        if self.target.folder:
            place.tidy(folder)
            return folder, WrittenFile(rows, _digest(Path(folder)))
        one = Path(folder).with_name(f"release{self.target.suffix}")
        return str(one), write_release(_stripes(Path(folder)), one, self.target)


def _stripes(folder: Path) -> Iterator[pa.Table]:
    """Yield the rows of the files of a released folder, one after another."""
    from pyarrow import parquet

    for part in sorted(folder.glob("part-*.parquet")):
        with parquet.ParquetFile(part) as file:
            for batch in file.iter_batches(batch_size=2**18):
                yield bare_table(pa.Table.from_batches([batch]))


def _beside(output: str) -> str:
    """Return the path next to which temporary folders are created."""
    return str(Path.cwd() / f"standard-output-{os.getpid()}") if output == "-" else output


def _digest(folder: Path) -> str:
    """Return the digest of the digests of a folder's files, in order."""
    digests = []
    for part in sorted(folder.glob("*.parquet")):
        with part.open("rb") as file:
            digests.append(hashlib.file_digest(file, "sha256").hexdigest())
    return hashlib.sha256("".join(digests).encode()).hexdigest()
