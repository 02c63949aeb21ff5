"""The folder of the projects: a permanent one, or a temporary one that is deleted when the server ends.

A folder belongs to one server at a time, which locks it. It also contains the token, so that an open page still
works after the server was restarted; anyone who can read the token can read the projects.
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
    """Return the folder for this user's application data, where coterie keeps its projects."""
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
    """Lock a permanent folder of projects for this process.

    Args:
        folder: The folder, created if necessary. By default the one in the user's data folder.

    Raises:
        ConfigError: It cannot be used, or another server is using it.
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
            text = f"another coterie serve uses {chosen}; stop it first, or choose another folder"
            raise ConfigError([Problem("project", text)])
        yield chosen


def kept_token(folder: Path) -> str:
    """Return the token of a folder of projects, creating one if necessary."""
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
    """Create a temporary folder, removed at the end; also remove those left by crashes."""
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
    """Delete a folder that no server has locked."""
    if os.name != "posix":
        return
    try:
        if folder.is_symlink() or folder.stat().st_uid != os.getuid():
            return
    except OSError:
        return
    if is_abandoned(folder / LOCK):
        shutil.rmtree(folder, ignore_errors=True)
