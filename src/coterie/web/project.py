"""Projects: one table, one recipe, any number of runs; each in a folder of its own that nobody else can read."""

from __future__ import annotations

import datetime as dt
import json
import re
import secrets
import shutil
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from coterie.files.output import whole_file

_ID = re.compile(r"[0-9a-f]{16}")
_RUN = re.compile(r"[0-9]{4,6}")


@dataclass(frozen=True)
class Project:
    """One table with its recipe and its runs. Changed by `Projects.change`, which also writes it down."""

    id: str
    folder: Path
    """private; everything of the project lies below"""
    name: str
    """what people call it: the name of the file"""
    source: Path | None = None
    """the table as it came: an upload in `folder`, or a file that was opened by its path"""
    uploaded: bool = False
    recipe_file: Path | None = None
    """the coterie.toml that `coterie serve -c` named; in `folder` when left out"""
    allowed_folders: tuple[Path, ...] = ()
    """below these, and below the recipe's folder, its hierarchies may lie"""
    seen: tuple[str, ...] = ()
    """steps that somebody has looked over and saved"""
    created: str = ""

    @property
    def url(self) -> str:
        """Where its pages start."""
        return f"/p/{self.id}"

    @property
    def recipe_path(self) -> Path:
        """Its coterie.toml. Relative paths of hierarchies start at its folder."""
        return self.recipe_file or self.folder / "coterie.toml"

    @property
    def hierarchy_folder(self) -> Path:
        """Where hierarchies are written that the page makes; beside the recipe, so that the two can travel."""
        return self.recipe_path.parent / "hierarchies"

    @property
    def table_path(self) -> Path:
        """The table as Parquet, from which pages show rows; there once it was looked at."""
        return self.folder / "table.parquet"

    @property
    def runs_folder(self) -> Path:
        """Holds `0001`, `0002`, …: one folder for each run."""
        return self.folder / "runs"

    @property
    def runs(self) -> list[Path]:
        """The folders of its runs, the latest first."""
        if not self.runs_folder.is_dir():
            return []
        return sorted((each for each in self.runs_folder.iterdir() if _RUN.fullmatch(each.name)), reverse=True)

    def run_folder(self, name: str) -> Path | None:
        """The folder of one run, if there is one of this name."""
        folder = self.runs_folder / name
        return folder if _RUN.fullmatch(name) and folder.is_dir() else None

    @property
    def lock(self) -> threading.RLock:
        """Held by whoever changes the recipe: requests run side by side."""
        return _locks.setdefault(self.id, threading.RLock())


_locks: dict[str, threading.RLock] = {}


@dataclass
class Projects:
    """All projects of a server, kept in its work folder."""

    root: Path
    allowed_folders: tuple[Path, ...] = ()
    _known: dict[str, Project] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Find the projects that a server before this one has kept; uploads that broke off go."""
        found = [_read(folder) for folder in self.root.iterdir() if _ID.fullmatch(folder.name) and folder.is_dir()]
        for project in sorted((each for each in found if each is not None), key=lambda each: each.created):
            if project.source is None:
                shutil.rmtree(project.folder, ignore_errors=True)
                continue
            allowed = tuple(dict.fromkeys((*self.allowed_folders, *project.allowed_folders)))
            self._known[project.id] = replace(project, allowed_folders=allowed)

    def of_file(self, source: Path, recipe_file: Path | None) -> Project | None:
        """The latest project of a file that was opened by its path, with the same recipe."""
        return next((each for each in self.all() if (each.source, each.recipe_file) == (source, recipe_file)), None)

    def create(self, name: str, **values: Any) -> Project:  # noqa: ANN401 - the fields of Project
        """A new project with an empty folder."""
        identity = secrets.token_hex(8)
        folder = private_folder(self.root / identity)
        now = dt.datetime.now(dt.UTC).isoformat()
        return self._keep(
            Project(identity, folder, clean_name(name), allowed_folders=self.allowed_folders, created=now, **values)
        )

    def get(self, identity: str) -> Project | None:
        """The project of this id."""
        return self._known.get(identity) if _ID.fullmatch(identity) else None

    def all(self) -> list[Project]:
        """Every project, the latest first."""
        return list(reversed(self._known.values()))

    def change(self, project: Project, **values: Any) -> Project:  # noqa: ANN401 - the fields of Project
        """The project with some fields changed, written down."""
        return self._keep(replace(self._known.get(project.id, project), **values))

    def remove(self, project: Project) -> None:
        """Forget a project and delete its folder; files opened by path and a recipe outside it stay."""
        self._known.pop(project.id, None)
        _locks.pop(project.id, None)
        shutil.rmtree(project.folder, ignore_errors=True)

    def _keep(self, project: Project) -> Project:
        write_json(project.folder / "project.json", _plain(asdict(project)))
        self._known[project.id] = project
        return project


def _read(folder: Path) -> Project | None:
    """The project that a folder holds, if it can be read. What lies inside the folder may have moved with it."""
    values = read_json(folder / "project.json")
    if values.get("id") != folder.name or not isinstance(values.get("name"), str):
        return None
    source = None if not values.get("source") else Path(str(values["source"]))
    if source is not None and values.get("uploaded"):
        source = folder / source.name
    recipe_file = values.get("recipe_file")
    return Project(
        id=folder.name,
        folder=folder,
        name=values["name"],
        source=source,
        uploaded=bool(values.get("uploaded")),
        recipe_file=None if not recipe_file else Path(str(recipe_file)),
        allowed_folders=tuple(Path(str(each)) for each in values.get("allowed_folders") or ()),
        seen=tuple(str(each) for each in values.get("seen") or ()),
        created=str(values.get("created", "")),
    )


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever a dataclass holds
    """The value in what JSON can hold."""
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(inner) for inner in value]
    return str(value) if isinstance(value, Path) else value


def private_folder(path: Path) -> Path:
    """A new folder that only this user can enter."""
    path.mkdir(mode=0o700, parents=True)
    path.chmod(0o700)  # whatever the umask was
    return path


def clean_name(name: str) -> str:
    """A name to show: the last part of a path, without signs that cannot be seen."""
    last = re.split(r"[/\\]", name)[-1]
    shown = "".join(sign for sign in last if sign.isprintable()).strip()
    return shown[:120] or "table"


def write_json(path: Path, values: Mapping[str, Any]) -> None:
    """Write a JSON file that readers find whole, before or after."""
    with whole_file(path, force=True) as sink:
        sink.write(json.dumps(values, indent=1).encode())


def read_json(path: Path) -> dict[str, Any]:
    """The values of a JSON file; none if there is no such file."""
    try:
        values = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return values if isinstance(values, dict) else {}
