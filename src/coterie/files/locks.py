"""Files that belong to a process for as long as it lives: who holds one is alive, whatever a process number says."""

from __future__ import annotations

import os
from pathlib import Path


def hold(handle: int) -> bool:
    """Hold an open file until the process ends or closes it; says whether nobody else does.

    Where files cannot be locked, nobody is kept out.
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
    """Whether nobody holds a file; not known, so not, where files cannot be locked."""
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
    """A file that is held by its path."""

    def __init__(self, path: Path, handle: int) -> None:
        self.path, self._handle = path, handle

    @classmethod
    def take(cls, path: Path) -> Lock | None:
        """Hold a file, made if need be; None if somebody else does."""
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
        """Let others have it."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def holder_of(path: Path) -> str:
    """The process that holds a file, as it says itself; "another process" if it does not."""
    try:
        number = path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        number = ""
    return f"process {number}" if number.isdecimal() else "another process"
