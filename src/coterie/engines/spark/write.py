"""Write a release from Spark: rows in their original order, and all of them or none."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie.engines.spark.guard import guarded
from coterie.engines.spark.source import literal
from coterie.errors import BackendError, ConfigError, DataError, Problem
from coterie.files.databases.place import is_address
from coterie.files.destinations import check_apart
from coterie.files.locks import LOCK, lock_folder, work_path
from coterie.files.output import replace_folder, sweep_folders

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from coterie.engines.spark.frame import SparkRows
    from coterie.engines.spark.group import GroupedRows
    from coterie.settings.config import Config

PART_ROWS = 1_000_000
"""the approximate number of rows per file of a released folder"""


def write_folder(rows: SparkRows, config: Config, path: str, *, force: bool) -> None:
    """Write a release as a folder of Parquet files, renamed into place only when Spark has verified it."""
    for read in (None, *rows.inputs):
        check_apart(read, config, output=path, settings_beside=False)
    place = place_of(rows.grouped.frame.sparkSession, path)
    with place.beside() as temporary:
        refuse_existing(place, force=force)
        write_verified(rows.grouped, temporary, shown=rows.shown)
        place.take(temporary, force=force)


def refuse_existing(place: LocalPlace | RemotePlace, *, force: bool) -> None:
    """Raise a ConfigError if the output exists and may not be overwritten."""
    if place.exists() and not force:
        hint = "Choose another name, or overwrite it with force=True."
        raise ConfigError([Problem("output", f"{place.path} exists already")], hint=hint)


def write_verified(grouped: GroupedRows, folder: str, *, shown: bool) -> None:
    """Write a release to a new folder, and raise unless the written files pass verification."""
    from coterie.engines.spark.verify import check_frame

    session, sums = grouped.frame.sparkSession, grouped.sums
    with guarded("writing the release"):
        frame = in_order(grouped.released(shown=shown), grouped.plan.book.all_rows)
        frame.drop("coterie_row").write.parquet(folder, compression="zstd")
        written = session.read.parquet(folder if is_address(folder) else literal(Path(folder)))
    found = check_frame(written, grouped, shown=shown).verification
    found.raise_for_failure()
    _refuse_other_rows(grouped.released(shown=shown), written)
    wanted = sums.rows - (0 if shown else sums.suppressed)
    if found.rows != wanted:
        raise DataError(
            f"{found.rows:,} rows were written, but the release has {wanted:,}.",
            hint="Check the free disk space, and run again.",
        )


def _refuse_other_rows(released: DataFrame, written: DataFrame) -> None:
    """Refuse files whose rows differ from those verified before writing, which the files alone would not show."""
    from coterie.engines.spark.verify import content

    names = [name for name in released.columns if name != "coterie_row"]
    with guarded("checking the release"):
        same = content(released, names) == content(written, names)
    if not same:
        raise DataError(
            "The written rows differ from the verified ones.",
            hint="Check the free disk space, and run again.",
        )


def collect_mapping(grouped: GroupedRows, folder: Path) -> list[Path]:
    """Save the mappings of all blocks to files on the driver, one by one."""
    from pyspark.sql import functions as sql

    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = grouped.frame.where(sql.col("mapping").isNotNull()).select("facts", "mapping")
    with guarded("collecting the mapping"):
        for row in found.toLocalIterator():
            (folder / f"{json.loads(bytes(row['facts']))['block']:06}").write_bytes(bytes(row["mapping"]))
    return sorted(folder.iterdir())


def in_order(frame: DataFrame, rows: int) -> DataFrame:
    """Return the rows of a release in the order of the original, partition by partition."""
    from pyspark.sql import functions as sql

    from coterie.engines.spark.group import places_rows

    parts = max(1, -(-rows // PART_ROWS))
    if places_rows(frame):
        place = (sql.col("coterie_row") / sql.lit(PART_ROWS)).cast("int")
        return frame.repartitionById(parts, place).sortWithinPartitions("coterie_row")
    return frame.repartitionByRange(parts, "coterie_row").sortWithinPartitions("coterie_row")


class LocalPlace:
    """A folder on disks that all executors reach under the same path."""

    def __init__(self, path: str) -> None:
        self.path = Path(path.removeprefix("file://")).resolve()

    def exists(self) -> bool:
        """Return whether it already exists."""
        return self.path.exists()

    @contextmanager
    def beside(self) -> Iterator[str]:
        """Return a path next to it for temporary files, with the output locked; what killed runs have left goes."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        work = work_path(self.path)
        lock = lock_folder(work)
        temporary = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}.part")
        try:
            sweep_folders(self.path)
            yield str(temporary)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
            if [each.name for each in work.iterdir()] == [LOCK]:  # a run in blocks cannot resume from this
                shutil.rmtree(work, ignore_errors=True)
            lock.give_back()

    def tidy(self, temporary: str) -> None:
        """Call the files of a finished folder part-00000.parquet and so on; others are removed."""
        folder = Path(temporary)
        for number, part in enumerate(sorted(folder.glob("part-*.parquet"))):
            part.rename(folder / f"part-{number:05}.parquet")
        for other in (*folder.glob("_SUCCESS"), *folder.glob(".*.crc")):
            other.unlink()

    def take(self, temporary: str, *, force: bool) -> None:
        """Rename a finished folder into place; an existing one is only removed afterwards."""
        refuse_existing(self, force=force)
        self.tidy(temporary)
        replace_folder(Path(temporary), self.path)


class RemotePlace:
    """A folder in a file system that Spark knows, by its address."""

    def __init__(self, session: SparkSession, path: str) -> None:
        gateway: Any = getattr(session, "_jvm", None)
        if gateway is None:
            raise BackendError(
                "A session of Spark Connect cannot rename folders.",
                hint="Write release.frame yourself, or give a path that this machine reaches too.",
            )
        self.path = path.rstrip("/")
        self._path = gateway.org.apache.hadoop.fs.Path
        self._system = self._path(self.path).getFileSystem(session._jsc.hadoopConfiguration())

    def exists(self) -> bool:
        """Return whether it already exists."""
        with guarded("looking at the output"):
            return bool(self._system.exists(self._path(self.path)))

    @contextmanager
    def beside(self) -> Iterator[str]:
        """Return a path next to it for temporary files, with the output locked; what killed runs have left goes.

        The lock is a file: a file system cannot tell whether its owner is alive, so a killed run leaves it.
        """
        lock = self._path(self._beside("lock"))
        with guarded("locking the output"):
            held = bool(self._system.createNewFile(lock))
        if not held:
            text = f"another run to {self.path} is in progress, or was killed"
            raise ConfigError([Problem("output", text)], hint=f"If none is, delete {self._beside('lock')}.")
        temporary = self._beside(f"{secrets.token_hex(4)}.part")
        try:
            self._sweep()
            yield temporary
        finally:
            self._system.delete(self._path(temporary), True)
            self._system.delete(lock, False)

    def _beside(self, ending: str) -> str:
        parent, name = os.path.split(self.path)
        return f"{parent}/.{name}.{ending}"

    def _sweep(self) -> None:
        """Remove what killed runs have left; a release that was just being replaced comes back."""
        parent, name = os.path.split(self.path)
        pattern = re.compile(rf"\.{re.escape(name)}\.[0-9a-f]{{8}}\.(part|old)")
        with guarded("looking at the output"):
            left = [each.getPath() for each in self._system.listStatus(self._path(parent))]
            for each in left:
                found = pattern.fullmatch(str(each.getName()))
                if found is not None and found[1] == "old" and not self.exists():
                    self._system.rename(each, self._path(self.path))
                elif found is not None:
                    self._system.delete(each, True)

    def take(self, temporary: str, *, force: bool) -> None:
        """Rename a finished folder into place; an existing one is only removed afterwards."""
        refuse_existing(self, force=force)
        target, old = self._path(self.path), self._path(self._beside(f"{secrets.token_hex(4)}.old"))
        with guarded("renaming the release"):
            aside, done = self.exists() and bool(self._system.rename(target, old)), False
            try:
                done = bool(self._system.rename(self._path(temporary), target))
            finally:
                if aside and not done:
                    self._system.rename(old, target)
                elif aside:
                    self._system.delete(old, True)
        if not done:
            raise DataError(
                f"The release could not be renamed to {self.path}.", hint="Check the permissions of its folder."
            )


def place_of(session: SparkSession, path: str) -> LocalPlace | RemotePlace:
    """Return the target of a release."""
    return RemotePlace(session, path) if is_address(path) else LocalPlace(path)
