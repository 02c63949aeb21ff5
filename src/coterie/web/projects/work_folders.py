"""Where projects are kept: in a folder that stays, or in one that is deleted when the server ends.

A folder belongs to one server at a time, which holds its lock. The token is kept in it as well, so that a page which is
still open goes on after the server was stopped and started again; who can read the token can read the projects.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from coterie.errors import ConfigError, Problem
from coterie.files.locks import hold, is_abandoned

PREFIX = "coterie-page-"
LOCK = "lock"
TOKEN = "token"


def data_folder() -> Path:
    """Where programs keep what belongs to this user, and coterie its projects."""
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Application Support"
    else:
        base = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    return base / "coterie" / "projects"


@contextmanager
def project_folder(folder: Path | None = None) -> Iterator[Path]:
    """A folder of projects that stays, held by this process alone.

    Args:
        folder: Which one; made if need be. The one in the user's data folder when left out.

    Raises:
        ConfigError: It cannot be used, or another server uses it.
    """
    chosen = (folder or data_folder()).absolute()
    try:
        new = not chosen.exists()
        chosen.mkdir(parents=True, exist_ok=True, mode=0o700)
        if new:
            chosen.chmod(0o700)  # whatever the umask was
        lock = (chosen / LOCK).open("a+")
    except OSError as error:
        text = f"{chosen} cannot be used: {(error.strerror or 'input or output error').lower()}"
        raise ConfigError([Problem("project", text)]) from None
    with lock:
        if not hold(lock.fileno()):
            text = f"another coterie serve uses {chosen}; stop it first, or name another folder"
            raise ConfigError([Problem("project", text)])
        yield chosen


def kept_token(folder: Path) -> str:
    """The token of a folder of projects; made when there is none."""
    path = folder / TOKEN
    try:
        found = path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        found = ""
    if len(found) >= 40:
        return found
    fresh = secrets.token_urlsafe(32)
    path.unlink(missing_ok=True)
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(fresh)
    return fresh


@contextmanager
def passing_folder() -> Iterator[Path]:
    """A folder among the temporary files, removed at the end; those that a crash left behind go as well."""
    root = Path(tempfile.gettempdir())
    for left in root.glob(f"{PREFIX}*"):
        _remove_abandoned(left)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=root))
    with (folder / LOCK).open("w") as lock:
        hold(lock.fileno())
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned(folder: Path) -> None:
    """Delete a folder whose server is gone: nobody holds its lock any more."""
    if os.name != "posix":
        return
    try:
        if folder.is_symlink() or folder.stat().st_uid != os.getuid():
            return
    except OSError:
        return
    if is_abandoned(folder / LOCK):
        shutil.rmtree(folder, ignore_errors=True)
