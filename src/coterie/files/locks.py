"""File locks held for the life of a process: the holder of a lock is alive, whatever its process id suggests."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from coterie.errors import ConfigError, Problem

LOCK = "lock"


def work_path(output: str | os.PathLike[str]) -> Path:
    """Return the work folder of a run: out.parquet → .out.parquet.coterie; for standard output, one per process."""
    if os.fspath(output) == "-":
        return Path(tempfile.gettempdir()) / f"coterie-{os.getpid()}"
    target = Path(output).resolve()
    return target.with_name(f".{target.name}.coterie")


def _locked(handle: int) -> bool | None:
    """Lock an open file; return whether that succeeded, or None on systems and file systems without locks."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return None
    return True


def hold(handle: int) -> bool:
    """Lock an open file until the process ends or closes it; return whether that succeeded.

    Without file locks it always succeeds.
    """
    return _locked(handle) is not False


def is_abandoned(path: Path) -> bool:
    """Return whether nobody has locked a file; False without file locks, where that is unknown."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        return _locked(handle) is True
    finally:
        os.close(handle)


class Lock:
    """A lock on a path."""

    def __init__(self, path: Path, handle: int) -> None:
        self.path, self._handle = path, handle

    @classmethod
    def take(cls, path: Path) -> Lock | None:
        """Lock a file, creating it if necessary; return None if another process has it."""
        while True:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            if not hold(handle):
                os.close(handle)
                return None
            try:
                same = os.path.samestat(os.fstat(handle), path.stat())
            except OSError:
                same = False
            if same:
                os.truncate(handle, 0)
                os.write(handle, str(os.getpid()).encode())
                return cls(path, handle)
            os.close(handle)  # its previous holder has removed it in the meantime

    def give_back(self) -> None:
        """Release the lock."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def lock_folder(path: Path) -> Lock:
    """Lock the work folder of a run, creating it; raise a ConfigError that names the process that has it."""
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        lock = Lock.take(path / LOCK)
    except FileNotFoundError:  # the previous run has just ended and removed its folder
        path.mkdir(mode=0o700, exist_ok=True)
        lock = Lock.take(path / LOCK)
    if lock is None:
        text = f"another run to this file is in progress ({holder_of(path / LOCK)})"
        raise ConfigError([Problem("output", text)], hint="Wait for it, stop it, or choose another output.")
    return lock


def holder_of(path: Path) -> str:
    """Return the process that holds a file, as recorded in it; "another process" if it is not."""
    try:
        number = path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        number = ""
    return f"process {number}" if number.isdecimal() else "another process"
