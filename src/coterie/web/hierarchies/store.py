"""Store a project's hierarchies: rules in its coterie.toml, trees as files next to it.

The command line reads the same files. A tree being edited is also kept as a draft, which has what a file
lacks (empty groups, node numbers, the undo history); a draft that no longer matches the
file is discarded.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from coterie.errors import ConfigError, DataError, HierarchyError, Problem
from coterie.files.output import whole_file
from coterie.hierarchies.files import csv_text
from coterie.hierarchies.hierarchy import Hierarchy
from coterie.web.configuration import configuration
from coterie.web.hierarchies.edit_tree import EditTree, from_plain, from_whole, label_weights, rows, to_plain
from coterie.web.project import Project, private_folder, read_json

MOST_UNDO = 50
MOST_VALUES = 20_000
"""the maximum number of values of a tree that can be edited by hand"""

State = Literal["none", "rule", "tree", "broken"]


def file_of(spec: object) -> str:
    """Return the file that a hierarchy in the configuration names, or nothing."""
    path = spec.get("csv") if isinstance(spec, dict) else spec
    return path if isinstance(path, str) and path != "flat" else ""


class StoredHierarchy(NamedTuple):
    """A column's hierarchy in the configuration."""

    state: State
    hierarchy: Hierarchy | None = None
    spec: Any = None
    problems: tuple[Problem, ...] = ()
    order: tuple[str, ...] = ()
    """the order of the column's values, instead of a hierarchy"""

    @property
    def file(self) -> str:
        """Its file, as named in the configuration."""
        return file_of(self.spec)


class Draft(NamedTuple):
    """A tree being edited."""

    tree: EditTree
    undo: int
    """steps that can be undone"""


def specs_of(project: Project) -> dict[str, Any]:
    """Return column → its hierarchy in the configuration. Raises ConfigError if that is not valid TOML."""
    return specs_in(configuration.read_values(project), "hierarchies")


def specs_in(values: Mapping[str, Any], setting: str) -> dict[str, Any]:
    """Return column → its hierarchy or order, from settings that were read."""
    specs = values.get(setting)
    return dict(specs) if isinstance(specs, dict) else {}


def open_hierarchy(project: Project, column: str) -> StoredHierarchy:
    """Return the hierarchy of a column, whatever its state."""
    try:
        return open_spec(project, column, configuration.read_values(project))
    except ConfigError as error:
        return StoredHierarchy("broken", problems=tuple(error.problems))


def open_spec(project: Project, column: str, values: Mapping[str, Any]) -> StoredHierarchy:
    """Return a column's hierarchy, or its order, from these settings, already read from the configuration."""
    specs = specs_in(values, "hierarchies")
    if column not in specs:
        order = specs_in(values, "ordered").get(column, ())
        return StoredHierarchy("none", order=tuple(map(str, order)) if isinstance(order, list) else ())
    spec = specs[column]
    if outside := configuration.path_problems(project, {"hierarchies": {column: spec}}):
        return StoredHierarchy("broken", None, spec, tuple(outside))
    base, stamp = project.config_path.parent, configuration.stamps(project, [file_of(spec)])[file_of(spec)]
    try:
        found = _read(spec, base, stamp) if isinstance(spec, str) else Hierarchy.from_spec(spec, base=base)
    except (ConfigError, HierarchyError) as error:
        return StoredHierarchy("broken", None, spec, tuple(error.problems))
    except DataError as error:
        return StoredHierarchy("broken", None, spec, (Problem("", str(error)),))
    return StoredHierarchy("tree" if found.tree is not None else "rule", found, spec)


@lru_cache(maxsize=16)
def _read(spec: str, base: Path, stamp: tuple[int, int] | None) -> Hierarchy:
    """Read a hierarchy file, cached until it changes."""
    return Hierarchy.from_spec(spec, base=base)


def save_spec(project: Project, column: str, spec: object | None, *, order: Sequence[str] = ()) -> None:
    """Write a rule, a path or an order to the configuration. A column has one of them; without any, all are removed."""
    changes = {}
    with project.lock:
        values = configuration.read_values(project)
        for setting, value in (("hierarchies", spec), ("ordered", list(order) or None)):
            specs = specs_in(values, setting)
            specs.pop(column, None)
            changes[setting] = specs if value is None else {**specs, column: value}
        configuration.change(project, changes)


def save_tree(project: Project, column: str, hierarchy: Hierarchy | EditTree) -> dict[str, str]:
    """Write a tree to a CSV file next to the configuration, and its path and weights into that.

    Return the file and its SHA-256.
    """
    text = csv_text(rows(hierarchy)) if isinstance(hierarchy, EditTree) else hierarchy.csv_text()
    weights = label_weights(hierarchy) if isinstance(hierarchy, EditTree) else {}
    with project.lock:
        name = _file_of(project, column)
        folder = project.hierarchy_folder
        folder.mkdir(mode=0o700, exist_ok=True)
        with whole_file(folder / name, force=True) as sink:
            sink.write(text.encode())
            digest = sink.sha256
        path = f"{folder.name}/{name}"
        spec = {"csv": path, "weights": weights} if weights else path
        if specs_of(project).get(column) != spec:
            save_spec(project, column, spec)
    return {"file": path, "sha256": digest}


def _file_of(project: Project, column: str) -> str:
    """Return the file of a column's tree: its existing one below our folder, or a new one named after it."""
    specs = specs_of(project)
    prefix = f"{project.hierarchy_folder.name}/"
    own = file_of(specs.get(column))
    others = {file_of(spec) for name, spec in specs.items() if name != column}
    name = own.removeprefix(prefix)
    if own not in (name, *others) and re.fullmatch(r"[A-Za-z0-9 _-][A-Za-z0-9 _.-]*\.csv", name):
        return name
    letters = re.sub(r"[^a-z0-9]+", "-", column.casefold()).strip("-")[:60] or "column"
    for number in range(1, 10_000):
        name = f"{letters}.csv" if number == 1 else f"{letters}-{number}.csv"
        if prefix + name not in others and not (project.hierarchy_folder / name).exists():
            return name
    raise DataError("there are too many hierarchy files of this name; remove some of them")


def open_draft(project: Project, position: int, opened: StoredHierarchy) -> Draft:
    """Return the tree to edit: the draft if it matches the file, otherwise a new one.

    Raises:
        HierarchyError: It is not a tree, or is too large to edit by hand.
    """
    whole = opened.hierarchy.tree if opened.hierarchy is not None else None
    if whole is None:
        raise HierarchyError("edit a rule with its form, or convert it to a tree to edit it by hand")
    if len(whole.leaf_of) > MOST_VALUES:
        raise HierarchyError(
            f"the tree has {len(whole.leaf_of):,} values; up to {MOST_VALUES:,} can be edited here",
            hint="Edit its file in a spreadsheet and import it, or use a rule.",
        )
    tree = _live(project, position, opened.spec)
    return Draft(from_whole(whole), 0) if tree is None else Draft(tree, len(_history(project, position)))


def _live(project: Project, position: int, spec: object) -> EditTree | None:
    """Return the draft, if it matches the file and the weights in the configuration."""
    kept, file = read_json(_path(project, position)), file_of(spec)
    if not file or kept.get("file") != file or kept.get("sha256") != file_hash(project, file):
        return None
    tree = _tree(kept)
    weights = spec.get("weights", {}) if isinstance(spec, dict) else {}
    return tree if tree is not None and label_weights(tree) == weights else None


def keep_draft(project: Project, position: int, column: str, *, before: EditTree, after: EditTree) -> None:
    """Write an edited tree, and remember the previous one.

    Raises:
        HierarchyError: No value is left, and a file needs at least one.
    """
    if not after.values:
        raise HierarchyError("a hierarchy needs at least one value; remove the hierarchy instead")
    with project.lock:
        if _live(project, position, specs_of(project).get(column)) is None:
            forget_draft(project, position)
        past = _history(project, position)
        number = int(past[-1].stem.partition("-")[2]) + 1 if past else 1
        for old in past[: max(len(past) - MOST_UNDO + 1, 0)]:
            old.unlink(missing_ok=True)
        _write(_folder(project) / f"{position}-{number:06d}.json", before)
        _write(_path(project, position), after, **save_tree(project, column, after))


def undo(project: Project, position: int, column: str) -> bool:
    """Undo one step; return False if there is none."""
    with project.lock:
        live = _live(project, position, specs_of(project).get(column)) is not None
        past = _history(project, position) if live else []
        before = _tree(read_json(past[-1])) if past else None
        if before is None:
            return False
        _write(_path(project, position), before, **save_tree(project, column, before))
        past[-1].unlink()
        return True


def forget_draft(project: Project, position: int) -> None:
    """Discard the draft of a column and its history."""
    for path in (*_history(project, position), _path(project, position)):
        path.unlink(missing_ok=True)


def _folder(project: Project) -> Path:
    return private_folder(project.folder / "drafts", exist_ok=True)


def _path(project: Project, position: int) -> Path:
    return _folder(project) / f"{position}.json"


def _history(project: Project, position: int) -> list[Path]:
    return sorted(_folder(project).glob(f"{position}-*.json"))


def _write(path: Path, tree: EditTree, **more: str) -> None:
    with whole_file(path, force=True) as sink:
        sink.write(json.dumps(to_plain(tree) | more, ensure_ascii=False).encode())


def _tree(values: dict[str, Any]) -> EditTree | None:
    try:
        return from_plain(values)
    except ValueError:
        return None


def file_hash(project: Project, file: str) -> str:
    """Return the SHA-256 of a hierarchy file, or nothing if there is none."""
    try:
        return hashlib.sha256((project.config_path.parent / file).read_bytes()).hexdigest() if file else ""
    except OSError:
        return ""
