"""Output bytes: files are written atomically, and their SHA-256 is known."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TypeAlias

from coterie.errors import ConfigError, DataError, Problem
from coterie.files.csv_out import Content
from coterie.files.databases.place import place_of, target_of
from coterie.files.formats import FORMATS
from coterie.files.input import Format
from coterie.files.locks import hold, is_abandoned

_MANY_BYTES = 1 << 16  # for which another thread is worth its while


def writable() -> str:
    """Return the file extensions that can be written."""
    endings = [ending for each in FORMATS.values() if each.writes for ending in each.endings]
    return f"{', '.join(endings[:-1])} or {endings[-1]} (text also with .gz)"


class HashedFile(io.RawIOBase):
    """A file open for writing that computes the SHA-256 of its content."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self._hash = hashlib.sha256()
        self._size = 0
        self._beside = ThreadPoolExecutor(1)
        self.before_name: Callable[[str], None] | None = None
        """called with the SHA-256 when all bytes are on disk but the file is not yet renamed"""

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Content, /) -> int:
        """Append bytes."""
        view = memoryview(data).cast("B")
        if len(view) < _MANY_BYTES:
            self._file.write(view)
            self._hash.update(view)
        else:  # hashing takes as long as writing
            hashing = self._beside.submit(self._hash.update, view)
            try:
                self._file.write(view)
            finally:  # the caller's bytes may be gone afterwards
                hashing.result()
        self._size += len(view)
        return len(view)

    def tell(self) -> int:
        """Return the number of bytes written."""
        return self._size

    @property
    def sha256(self) -> str:
        """The SHA-256 of all bytes so far, in hexadecimal."""
        return self._hash.hexdigest()


Sink: TypeAlias = "HashedFile | gzip.GzipFile"
"""what a table is written into"""


def format_of(path: str | os.PathLike[str]) -> tuple[Format, bool]:
    """Return the format for this name, and whether to gzip it. A ConfigError lists the formats."""
    if os.fspath(path) == "-":
        return "csv", False
    name = Path(path).name.lower()
    zipped = name.endswith(".gz")
    ending = Path(name.removesuffix(".gz")).suffix
    kind = next((name for name, each in FORMATS.items() if each.writes and ending in each.endings), None)
    if kind is None or (zipped and not FORMATS[kind].packs):
        raise ConfigError(
            [Problem("output", f"cannot write {os.fspath(path)}: the name must end in {writable()}, or be -")]
        )
    return kind, zipped


def check_target(path: str | os.PathLike[str], *, force: bool) -> None:
    """Refuse a path that cannot be written, before any work is done."""
    if os.fspath(path) == "-":
        return
    if (place := target_of(path)) is not None:
        place.check(force=force)
        return
    target = Path(path)
    if target.is_dir():
        raise ConfigError([Problem("output", f"{target} is a folder")], hint="Give the name of a file in it.")
    if not target.parent.is_dir():
        raise ConfigError([Problem("output", f"there is no folder {target.parent}")], hint="Create it first.")
    if target.is_file() and not force:
        raise ConfigError(
            [Problem("output", f"{target} exists already")],
            hint="Choose another name, or overwrite it with force=True.",
        )


@contextmanager
def whole_file(path: str | os.PathLike[str], *, force: bool) -> Iterator[HashedFile]:
    """Write a file that appears under its name only when it is complete.

    Bytes go to a temporary file in the same folder, are synced to disk, and the file is renamed. If anything fails,
    the temporary file is removed and the previous file stays. "-" is standard output; pipes and devices are written
    directly.
    """
    check_target(path, force=force)
    if os.fspath(path) == "-":
        yield HashedFile(sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return
    target = Path(path).resolve()  # through links, so that a link is not replaced by a file
    try:
        if target.exists() and not target.is_file():
            with target.open("wb") as file:
                yield HashedFile(file)
            return
        sweep_parts(target)
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
        try:
            with _created(temporary, like=target) as file:
                hold(file.fileno())  # an unlocked partial file may be removed by others
                sink = HashedFile(file)
                yield sink
                file.flush()
                os.fsync(file.fileno())
                if sink.before_name is not None:
                    sink.before_name(sink.sha256)
                appear(temporary, target, force=force)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise DataError(
            f"{os.fspath(path)} cannot be written: {error.strerror or 'output error'}.",
            hint="Check the folder's permissions and free space.",
        ) from None


def sweep_parts(target: Path) -> None:
    """Remove the partial files of killed runs: those that no process has locked."""
    pattern = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{8}}\.part")
    try:
        left = [each for each in target.parent.iterdir() if pattern.fullmatch(each.name)]
    except OSError:
        return
    for each in left:
        if not each.is_symlink() and is_abandoned(each):
            with suppress(OSError):
                each.unlink()


def replace_folder(fresh: Path, target: Path) -> None:
    """Rename a finished folder into place; an existing one is only removed afterwards."""
    old = target.with_name(f".{target.name}.{secrets.token_hex(4)}.old")
    if not target.exists():
        fresh.rename(target)
        return
    target.rename(old)
    try:
        fresh.rename(target)
    except BaseException:
        old.rename(target)
        raise
    _remove(old)


def sweep_folders(target: Path) -> None:
    """Remove the remains of killed runs next to a folder; a release that was being replaced is restored.

    The caller holds the lock of the output, so no other run is active.
    """
    pattern = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{8}}\.(part|old)")
    for each in sorted(target.parent.iterdir()) if target.parent.is_dir() else []:
        found = pattern.fullmatch(each.name)
        if found is None or each.is_symlink() or not each.is_dir():
            continue
        if found[1] == "old" and not target.exists():
            each.rename(target)
        else:
            _remove(each)


def _remove(path: Path) -> None:
    """Remove a folder or a file, as far as possible."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


@contextmanager
def _created(temporary: Path, *, like: Path) -> Iterator[BinaryIO]:
    # 0o666 less the umask, as any program would create it; tempfile's private mode would survive the rename.
    descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    with os.fdopen(descriptor, "wb") as file:
        if like.exists():
            temporary.chmod(stat.S_IMODE(like.stat().st_mode))
        yield file


def appear(temporary: Path, target: Path, *, force: bool) -> None:
    """Rename the finished file into place; without force, never over a file that appeared meanwhile."""
    if force:
        temporary.replace(target)
    else:
        try:
            os.link(temporary, target)
        except FileExistsError:
            check_target(target, force=False)
        except OSError:  # a file system without hard links
            check_target(target, force=False)
            temporary.replace(target)
    if os.name == "posix":
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def gzipped(sink: HashedFile) -> gzip.GzipFile:
    """Compress what is written, without time or name, so that the same table gives the same bytes."""
    return gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=sink, mtime=0)


def provenance_path(output: str | os.PathLike[str]) -> Path:
    """Return the path of the configuration: out.csv → out.coterie.toml, out.parquet → out.parquet.coterie.toml.

    Only .csv is dropped, so that releases with one name in several formats have a file each. A database table,
    sqlite:///a.db#out, has out.coterie.toml in the current folder.
    """
    if (place := place_of(output)) is not None:
        return Path(re.sub(r"[^\w.-]", "_", place.label) + ".coterie.toml")
    path = Path(output)
    return path.with_name(path.name.removesuffix(".csv") + ".coterie.toml")
