"""Check that a project's file has not changed: pages show rows of the inspected file, and runs must read the same one.

The file's hash is recorded when it is inspected. Before every view its stamp is compared, and the hash if the
stamp has changed; before every run, always the hash.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from coterie.errors import ConfigError, Problem
from coterie.files.input import FileStamp, Raw
from coterie.web.project import Project, read_json, write_json

NOTED = "input.json"
"""the record of the inspected file"""
CHANGED = "the file has changed since it was read"
_others: dict[str, tuple[object, ...]] = {}
"""project → the hash when it was inspected, and the stamp of another file read since"""


def note(raw: Raw, folder: Path) -> None:
    """Record which file was inspected in its project's folder."""
    write_json(folder / NOTED, {"sha256": raw.sha256, "stamp": None if raw.stamp is None else list(raw.stamp)})


def looked_at(project: Project) -> str:
    """Return the hash of the inspected file."""
    return str(read_json(project.folder / NOTED).get("sha256", ""))


def has_changed(project: Project, *, read: bool = False) -> bool:
    """Return whether the file's bytes have changed since it was inspected, or it is gone.

    Bytes are only compared if size, time or inode have changed, or with `read`.
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
    # The same bytes under a new stamp are recorded, so that they are not hashed at every view.
    if stamp != noted.get("stamp"):
        write_json(project.folder / NOTED, {**noted, "stamp": stamp})
    return False


def check_unchanged(project: Project) -> None:
    """Raise a ConfigError if the file is not the inspected one."""
    if has_changed(project, read=True):
        hint = "Read it again under Data."
        raise ConfigError([Problem("", f"{CHANGED}; read it again under Data before a run")], hint=hint)


def check_hash(path: Path, wanted: str) -> None:
    """Raise a ConfigError if the file does not have this hash; for workers."""
    if wanted and _digest(path) != wanted:
        raise ConfigError([Problem("", f"{CHANGED}; read it again under Data")])


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
