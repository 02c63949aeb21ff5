"""A project's coterie.toml: the one recipe that the page, the command line and Python share.

It is read anew for every page, so that what somebody changes in an editor shows at once. A change is written into
the text that is there: comments and everything that was not changed stay.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from coterie.errors import ConfigError, DataError, HierarchyError, Problem
from coterie.files.output import whole_file
from coterie.settings.changes import changed
from coterie.settings.check import column_problems
from coterie.settings.config import Config
from coterie.settings.models import population_paths
from coterie.settings.registry import FIELDS
from coterie.settings.roles import UNDECIDED
from coterie.settings.toml import plain, read_toml
from coterie.web.pages import STEPS, Fault
from coterie.web.project import Project
from coterie.web.recipe.edit import edited


def screen_of(setting: str) -> str:
    """The screen that a setting belongs to; what is no setting is shown with the goals."""
    return "roles" if setting == UNDECIDED else FIELDS[setting].place if setting in FIELDS else "goals"


def read_values(project: Project) -> dict[str, Any]:
    """The settings as they stand in the file; a ConfigError if it is no TOML."""
    if not project.recipe_path.is_file():
        return {}
    values = read_toml(project.recipe_path)
    return {name: value for name, value in values.items() if name != "provenance"}


def load_config(project: Project) -> Config:
    """The configuration that the file means. Raises with all faults at once, as the command line does."""
    return config_of(project, read_values(project))


def config_of(project: Project, values: Mapping[str, Any]) -> Config:
    """The configuration that these settings mean, with paths as the project's recipe has them."""
    outside = path_problems(project, values)
    if outside:
        raise ConfigError(outside)
    return Config.from_dict(values, base=project.recipe_path.parent)


def change(project: Project, changes: Mapping[str, Any]) -> None:
    """Write settings into the recipe; None takes one out. What no longer fits the columns' roles goes with it.

    Nothing is checked here: `faults` says what is wrong, and a recipe may be wrong for a while.
    """
    with project.lock:
        before = read_values(project)
        after = changed(before, changes)
        after = {name: value for name, value in after.items() if value is not None and value != {}}
        text = project.recipe_path.read_text(encoding="utf-8-sig") if project.recipe_path.is_file() else ""
        write_text(project, edited(text, after))


def frozen(project: Project) -> str:
    """The recipe as a run keeps it: the same text, but what it takes from files is spelled out: it stands alone."""
    values = read_values(project)
    config = config_of(project, values)
    specs = values.get("hierarchies", {})
    full = dict(values)
    if any(isinstance(spec, str) and spec != "flat" for spec in specs.values()):
        full["hierarchies"] = {column: plain(config.hierarchies[column]) for column in specs}
    if any(model.counts == "population" for model in config.privacy):
        full["privacy"] = plain(config.privacy)
    text = project.recipe_path.read_text(encoding="utf-8-sig")
    return text if full == values else edited(text, full)


def write_text(project: Project, text: str) -> None:
    """Replace the whole text of the recipe."""
    with whole_file(project.recipe_path, force=True) as sink:
        sink.write(text.encode())


def path_problems(project: Project, values: Mapping[str, Any]) -> list[Problem]:
    """Files that the recipe names and that lie outside of what the user allowed."""
    return [
        Problem(path, "names a file outside the folders that may be used; put it beside coterie.toml")
        for path, text in _named_files(values)
        if not _below(project, text)
    ]


def _named_files(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Setting → file, for every file that settings name."""
    named: list[tuple[str, str]] = []
    specs = values.get("hierarchies")
    if isinstance(specs, Mapping):
        # What is text and no rule is a path, and so is what `csv` names.
        paths = {column: spec.get("csv") if isinstance(spec, Mapping) else spec for column, spec in specs.items()}
        named += [(f"hierarchies.{column}", path) for column, path in paths.items() if isinstance(path, str)]
    named += [("privacy", path) for path in population_paths(values.get("privacy"))]
    return [(path, text) for path, text in named if text != "flat"]


def _below(project: Project, text: str) -> bool:
    base = project.recipe_path.parent
    if "://" in text:
        return False  # a database
    try:
        resolved = (base / Path(text)).resolve()
        return any(resolved.is_relative_to(folder.resolve()) for folder in (base, *project.allowed_folders))
    except (OSError, RuntimeError, ValueError):
        return False


def problems_of(project: Project, names: Sequence[str] | None = None) -> list[Problem]:
    """Everything that is wrong with the recipe, and with its fit to a table with these columns.

    Every page asks several times, and large hierarchies take long to check: what was found holds until the recipe, or a
    file that it names, changes.
    """
    text = project.recipe_path.read_bytes() if project.recipe_path.is_file() else b""
    asked = hashlib.sha256(text).digest(), None if names is None else tuple(names)
    known = _found.get(project.id)
    if known is not None and known.asked == asked and known.files == _stamps(project, known.files):
        return list(known.problems)
    try:
        values = read_values(project)
    except ConfigError as error:
        return list(error.problems)
    files = _stamps(project, [path for _, path in _named_files(values) if _below(project, path)])
    problems = problems_in(project, values, names)
    _found[project.id] = _Found(asked, files, problems)
    return list(problems)


def fingerprint(project: Project) -> str:
    """A text that is another one as soon as the recipe, or a file that it names, has changed."""
    text = project.recipe_path.read_bytes() if project.recipe_path.is_file() else b""
    try:
        named = _named_files(read_values(project))
    except ConfigError:
        named = []
    files = _stamps(project, [path for _, path in named if _below(project, path)])
    return hashlib.sha256(text + repr(sorted(files.items())).encode()).hexdigest()


def _stamps(project: Project, paths: Iterable[str]) -> dict[str, tuple[int, int] | None]:
    """File → when it changed last, and its size; None if it is not there."""
    stamps: dict[str, tuple[int, int] | None] = {}
    for path in paths:
        try:
            stat = (project.recipe_path.parent / path).stat()
            stamps[path] = stat.st_mtime_ns, stat.st_size
        except (OSError, ValueError):
            stamps[path] = None
    return stamps


class _Found(NamedTuple):
    """What was found wrong with a recipe, and with which recipe."""

    asked: tuple[bytes, tuple[str, ...] | None]
    files: dict[str, tuple[int, int] | None]
    problems: list[Problem]


_found: dict[str, _Found] = {}


def problems_in(project: Project, values: Mapping[str, Any], names: Sequence[str] | None = None) -> list[Problem]:
    """Everything that is wrong with these settings."""
    try:
        config = config_of(project, values)
    except (ConfigError, HierarchyError) as error:
        return list(error.problems)
    except DataError as error:
        return [Problem("", str(error))]
    return column_problems(config, names) if names is not None else []


def faults(project: Project, names: Sequence[str] | None = None, *, step: str | None = None) -> list[Fault]:
    """What is wrong, for the pages: of one step, or of all."""
    found = problems_of(project, names)
    return as_faults(found if step is None else [each for each in found if step_of(each) == step], names)


def as_faults(problems: Iterable[Problem], names: Sequence[str] | None = None) -> list[Fault]:
    """Problems with the ids of the fields they belong to."""
    return [Fault(field_id(problem.path, names), str(problem)) for problem in problems]


def field_id(path: str, names: Sequence[str] | None = None) -> str:
    """The id of the field of a setting: `k`, `options-effort`, and for columns their position: `weights-3`."""
    setting, _, rest = path.partition(".")
    if screen_of(setting) == "roles":
        return "quasi"  # one form for all of them
    if names is not None and rest in names:
        return f"{setting}-{list(names).index(rest)}"
    return "-".join(part for part in (setting, rest) if part).replace(" ", "-")


def step_of(problem: Problem) -> str:
    """The step that asks for the setting that a problem is about."""
    return screen_of(problem.path.split(".")[0])


def faulty_steps(project: Project) -> set[str]:
    """Steps whose settings have faults."""
    from coterie.web.table_summary import column_names

    known = {key for key, _ in STEPS}
    return {step_of(problem) for problem in problems_of(project, column_names(project))} & known
