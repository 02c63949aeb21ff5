"""Projects: one table, one configuration, any number of runs; each in its own private folder."""

from __future__ import annotations

import datetime as dt
import json
import os
import re
import secrets
import shutil
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from coterie.files.output import whole_file

_ID = re.compile(r"[0-9a-f]{16}")
_RUN = re.compile(r"[0-9]{4,6}")


@dataclass(frozen=True)
class Project:
    """One table with its configuration and its runs. Use `Projects.change` to change and save it."""

    id: str
    folder: Path
    """private; contains everything of the project"""
    name: str
    """its display name: the name of the file"""
    source: Path | None = None
    """the input: an upload in `folder`, or a file opened by its path"""
    uploaded: bool = False
    config_file: Path | None = None
    """the coterie.toml given to `coterie serve -c`; by default in `folder`"""
    allowed_folders: tuple[Path, ...] = ()
    """its hierarchies may be below these and the configuration's folder"""
    seen: tuple[str, ...] = ()
    """steps that have been reviewed and saved"""
    created: str = ""

    @property
    def url(self) -> str:
        """The address of its first page."""
        return f"/p/{self.id}"

    @property
    def config_path(self) -> Path:
        """Its coterie.toml. Relative paths of hierarchies start at its folder."""
        return self.config_file or self.folder / "coterie.toml"

    @property
    def hierarchy_folder(self) -> Path:
        """The folder of hierarchies made on the page, next to the configuration so that the two can move together."""
        return self.config_path.parent / "hierarchies"

    @property
    def table_path(self) -> Path:
        """The table as Parquet, from which pages show rows; exists once it was inspected."""
        return self.folder / "table.parquet"

    @property
    def runs_folder(self) -> Path:
        """The folder with `0001`, `0002`, …: one folder for each run."""
        return self.folder / "runs"

    @property
    def runs(self) -> list[Path]:
        """The folders of its runs, the latest first."""
        if not self.runs_folder.is_dir():
            return []
        return sorted((each for each in self.runs_folder.iterdir() if _RUN.fullmatch(each.name)), reverse=True)

    def run_folder(self, name: str) -> Path | None:
        """Return the folder of one run, if it exists."""
        folder = self.runs_folder / name
        return folder if _RUN.fullmatch(name) and folder.is_dir() else None

    @property
    def lock(self) -> threading.RLock:
        """A lock for changing the configuration: requests run concurrently."""
        return _locks.setdefault(self.id, threading.RLock())


_locks: dict[str, threading.RLock] = {}


@dataclass
class Projects:
    """All projects of a server, in its work folder."""

    root: Path
    allowed_folders: tuple[Path, ...] = ()
    _known: dict[str, Project] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Load the projects of a previous server, and remove interrupted uploads."""
        found = [_read(folder) for folder in self.root.iterdir() if _ID.fullmatch(folder.name) and folder.is_dir()]
        for project in sorted((each for each in found if each is not None), key=lambda each: each.created):
            if project.source is None:
                shutil.rmtree(project.folder, ignore_errors=True)
                continue
            allowed = tuple(dict.fromkeys((*self.allowed_folders, *project.allowed_folders)))
            self._known[project.id] = replace(project, allowed_folders=allowed)

    def of_file(self, source: Path, config_file: Path | None) -> Project | None:
        """Return the latest project of a file opened by path, with the same configuration."""
        return next((each for each in self.all() if (each.source, each.config_file) == (source, config_file)), None)

    def create(self, name: str, **values: Any) -> Project:  # noqa: ANN401 - the fields of Project
        """Create a project with an empty folder."""
        identity = secrets.token_hex(8)
        folder = private_folder(self.root / identity)
        now = dt.datetime.now(dt.UTC).isoformat()
        return self._keep(
            Project(identity, folder, clean_name(name), allowed_folders=self.allowed_folders, created=now, **values)
        )

    def get(self, identity: str) -> Project | None:
        """Return the project with this id."""
        return self._known.get(identity) if _ID.fullmatch(identity) else None

    def all(self) -> list[Project]:
        """Return every project, the latest first."""
        return list(reversed(self._known.values()))

    def change(self, project: Project, **values: Any) -> Project:  # noqa: ANN401 - the fields of Project
        """Change some fields of a project and save it."""
        return self._keep(replace(self._known.get(project.id, project), **values))

    def remove(self, project: Project) -> None:
        """Delete a project and its folder, but not files opened by path or a configuration elsewhere."""
        self._known.pop(project.id, None)
        _locks.pop(project.id, None)
        shutil.rmtree(project.folder, ignore_errors=True)

    def _keep(self, project: Project) -> Project:
        write_json(project.folder / "project.json", asdict(project))
        self._known[project.id] = project
        return project


def _read(folder: Path) -> Project | None:
    """Read the project in a folder, if possible. Paths inside the folder may have moved with it."""
    try:
        project = _PROJECT.validate_json((folder / "project.json").read_bytes())
    except (OSError, ValueError):
        return None
    if project.id != folder.name:
        return None
    moved = folder / project.source.name if project.source is not None and project.uploaded else project.source
    return replace(project, folder=folder, source=moved)


_PROJECT = TypeAdapter(Project)


def private_folder(path: Path, *, exist_ok: bool = False) -> Path:
    """Create a folder that only this user can access."""
    path.mkdir(mode=0o700, parents=True, exist_ok=exist_ok)
    path.chmod(0o700)  # whatever the umask was
    return path


def clean_name(name: str) -> str:
    """Return a name for display: the last part of a path, without invisible characters."""
    last = re.split(r"[/\\]", name)[-1]
    shown = "".join(sign for sign in last if sign.isprintable()).strip()
    return shown[:120] or "table"


def modified(path: Path) -> int:
    """Return the modification time of a file in nanoseconds; 0 if it does not exist."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def write_json(path: Path, values: Mapping[str, Any]) -> None:
    """Write a JSON file atomically; paths become text."""
    with whole_file(path, force=True) as sink:
        sink.write(json.dumps(values, indent=1, default=os.fspath).encode())


def read_json(path: Path) -> dict[str, Any]:
    """Return the values of a JSON file; empty if it does not exist."""
    try:
        values = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}
