"""File locks held for the life of a process: the holder of a lock is alive, whatever its process id suggests."""

from __future__ import annotations

import os
from pathlib import Path


def hold(handle: int) -> bool:
    """Lock an open file until the process ends or closes it; return whether that succeeded.

    On systems without file locks it always succeeds.
    """
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def is_abandoned(path: Path) -> bool:
    """Return whether nobody has locked a file; False on systems without file locks, where that is unknown."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


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
            os.close(handle)  # whoever held it has removed it meanwhile

    def give_back(self) -> None:
        """Release the lock."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def holder_of(path: Path) -> str:
    """Return the process that holds a file, as recorded in it; "another process" if it is not."""
    try:
        number = path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        number = ""
    return f"process {number}" if number.isdecimal() else "another process"
