"""Whether a project's file is still the one that was looked at: pages show rows of that one, and runs have to read it.

The hash of the file is noted when it is looked at. Before every view its stamp is compared, and where that has changed
the hash; before every run the hash itself.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from coterie.errors import ConfigError, Problem
from coterie.files.input import FileStamp, Raw
from coterie.web.project import Project, read_json, write_json

NOTED = "input.json"
"""what is kept of the file that was looked at"""
CHANGED = "the file has changed since it was looked at"
_others: dict[str, tuple[object, ...]] = {}
"""project → hash that it was looked at with, and the stamp of another file that was read since"""


def note(raw: Raw, folder: Path) -> None:
    """Keep which file was looked at, in the folder of its project."""
    write_json(folder / NOTED, {"sha256": raw.sha256, "stamp": None if raw.stamp is None else list(raw.stamp)})


def looked_at(project: Project) -> str:
    """The hash of the file whose rows pages show."""
    return str(read_json(project.folder / NOTED).get("sha256", ""))


def has_changed(project: Project, *, read: bool = False) -> bool:
    """Whether the file holds other bytes than when it was looked at, or is gone.

    Args:
        project: Whose file.
        read: Whether its bytes are read in any case; otherwise only where its size, time or number have changed.
    """
    noted = read_json(project.folder / NOTED)
    if project.source is None or not noted.get("sha256"):
        return False
    try:
        stamp = list(FileStamp.of(project.source.stat()))
        if stamp == noted.get("stamp") and not read:
            return False
        asked = (noted["sha256"], *stamp)
        if _others.get(project.id) == asked and not read:
            return True
        digest = _digest(project.source)
    except OSError:
        return True
    if digest != noted["sha256"]:
        _others[project.id] = asked
        return True
    if stamp != noted.get("stamp"):  # touched, copied back: the same bytes, and not to be read at every view
        write_json(project.folder / NOTED, {**noted, "stamp": stamp})
    return False


def check_unchanged(project: Project) -> None:
    """Raise a ConfigError where the file is not the one that was looked at."""
    if has_changed(project, read=True):
        hint = "Look at it again under Data."
        raise ConfigError([Problem("", f"{CHANGED}; look at it again under Data before a run")], hint=hint)


def check_hash(path: Path, wanted: str) -> None:
    """The same for a worker, which is told the hash."""
    if wanted and _digest(path) != wanted:
        raise ConfigError([Problem("", f"{CHANGED}; look at it again under Data")])


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
