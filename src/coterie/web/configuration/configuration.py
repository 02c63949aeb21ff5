"""A project's coterie.toml: the one configuration that the page, the command line and Python share.

It is read again for every page, so that edits in another program show at once. Changes are written into
the existing text: comments and unchanged settings stay.
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
from coterie.web.configuration.edit import edited
from coterie.web.pages import STEPS, Fault
from coterie.web.project import Project


def screen_of(setting: str) -> str:
    """Return the screen of a setting; unknown ones are shown with the goals."""
    return "roles" if setting == UNDECIDED else FIELDS[setting].screen if setting in FIELDS else "goals"


def read_values(project: Project) -> dict[str, Any]:
    """Return the settings in the file; ConfigError if it is not valid TOML."""
    if not project.config_path.is_file():
        return {}
    values = read_toml(project.config_path)
    return {name: value for name, value in values.items() if name != "provenance"}


def readable_values(project: Project) -> dict[str, Any]:
    """Return the settings in the file; none if it is not valid TOML."""
    try:
        return read_values(project)
    except ConfigError:
        return {}


def listed(values: Mapping[str, Any], role: str) -> list[str]:
    """Return the columns with a role in these settings."""
    found = values.get(role, [])
    return [found] if isinstance(found, str) else [str(name) for name in found] if isinstance(found, list) else []


def config_of(project: Project, values: Mapping[str, Any]) -> Config:
    """Return the configuration of these settings, with paths relative to the project's coterie.toml."""
    outside = path_problems(project, values)
    if outside:
        raise ConfigError(outside)
    return Config.from_dict(values, base=project.config_path.parent)


def change(project: Project, changes: Mapping[str, Any]) -> None:
    """Write settings to the configuration; None removes one, along with those that no longer fit the columns' roles.

    Nothing is checked here: `faults` reports problems, and a configuration may be invalid for a while.
    """
    with project.lock:
        before = read_values(project)
        after = changed(before, changes)
        after = {name: value for name, value in after.items() if value is not None and value != {}}
        text = project.config_path.read_text(encoding="utf-8-sig") if project.config_path.is_file() else ""
        write_text(project, edited(text, after))


def frozen(project: Project) -> str:
    """Return the configuration as a run keeps it: the same text, with the content of files included."""
    values = read_values(project)
    config = config_of(project, values)
    specs = values.get("hierarchies", {})
    full = dict(values)
    if any(setting.startswith("hierarchies.") for setting, _ in _named_files(values)):
        full["hierarchies"] = {column: plain(config.hierarchies[column]) for column in specs}
    if any(model.counts == "population" for model in config.privacy):
        full["privacy"] = plain(config.privacy)
    text = project.config_path.read_text(encoding="utf-8-sig")
    return text if full == values else edited(text, full)


def write_text(project: Project, text: str) -> None:
    """Replace the whole text of the configuration."""
    with whole_file(project.config_path, force=True) as sink:
        sink.write(text.encode())


def path_problems(project: Project, values: Mapping[str, Any]) -> list[Problem]:
    """Return the files named in the configuration that are outside the allowed folders."""
    return [
        Problem(path, "names a file outside the allowed folders; put it next to coterie.toml")
        for path, text in _named_files(values)
        if not _below(project, text)
    ]


def _named_files(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return setting → file, for every file named in the settings."""
    named: list[tuple[str, str]] = []
    specs = values.get("hierarchies")
    if isinstance(specs, Mapping):
        # A text that is not a rule is a path, and so is the value of `csv`.
        paths = {column: spec.get("csv") if isinstance(spec, Mapping) else spec for column, spec in specs.items()}
        named += [(f"hierarchies.{column}", path) for column, path in paths.items() if isinstance(path, str)]
    named += [("privacy", path) for path in population_paths(values.get("privacy"))]
    return [(path, text) for path, text in named if text != "flat"]


def _below(project: Project, text: str) -> bool:
    base = project.config_path.parent
    if "://" in text:
        return False  # a database
    try:
        resolved = (base / Path(text)).resolve()
        return any(resolved.is_relative_to(folder.resolve()) for folder in (base, *project.allowed_folders))
    except (OSError, RuntimeError, ValueError):
        return False


def problems_of(project: Project, names: Sequence[str] | None = None) -> list[Problem]:
    """Return everything that is wrong with the configuration, alone or for a table with these columns.

    Pages call this several times, and large hierarchies take long to check: results are cached until the
    configuration or a file that it names changes.
    """
    text = project.config_path.read_bytes() if project.config_path.is_file() else b""
    asked = hashlib.sha256(text).digest(), None if names is None else tuple(names)
    known = _cached.get(project.id)
    if known is not None and known.asked == asked and known.files == stamps(project, known.files):
        return list(known.problems)
    try:
        values = read_values(project)
    except ConfigError as error:
        return list(error.problems)
    files = stamps(project, [path for _, path in _named_files(values) if _below(project, path)])
    problems = problems_in(project, values, names)
    _cached[project.id] = _CachedProblems(asked, files, problems)
    return list(problems)


def fingerprint(project: Project) -> str:
    """Return a fingerprint that changes with the configuration or a file that it names."""
    text = project.config_path.read_bytes() if project.config_path.is_file() else b""
    named = _named_files(readable_values(project))
    files = stamps(project, [path for _, path in named if _below(project, path)])
    return hashlib.sha256(text + repr(sorted(files.items())).encode()).hexdigest()


def stamps(project: Project, paths: Iterable[str]) -> dict[str, tuple[int, int] | None]:
    """Return file → modification time and size; None if it does not exist."""
    stamps: dict[str, tuple[int, int] | None] = {}
    for path in paths:
        try:
            stat = (project.config_path.parent / path).stat()
            stamps[path] = stat.st_mtime_ns, stat.st_size
        except (OSError, ValueError):
            stamps[path] = None
    return stamps


class _CachedProblems(NamedTuple):
    """The problems found in a configuration, with its fingerprint."""

    asked: tuple[bytes, tuple[str, ...] | None]
    files: dict[str, tuple[int, int] | None]
    problems: list[Problem]


_cached: dict[str, _CachedProblems] = {}


def problems_in(project: Project, values: Mapping[str, Any], names: Sequence[str] | None = None) -> list[Problem]:
    """Return everything that is wrong with these settings."""
    try:
        config = config_of(project, values)
    except (ConfigError, HierarchyError) as error:
        return list(error.problems)
    except DataError as error:
        return [Problem("", str(error))]
    return column_problems(config, names) if names is not None else []


def faults(project: Project, names: Sequence[str] | None = None, *, step: str | None = None) -> list[Fault]:
    """Return the errors for the pages, of one step or of all."""
    found = problems_of(project, names)
    return as_faults(found if step is None else [each for each in found if step_of(each) == step], names)


def faults_after(
    project: Project, changes: Mapping[str, Any], names: Sequence[str] | None, *, step: str
) -> list[Fault]:
    """Return the errors that a step would have after these changes."""
    after = {name: value for name, value in changed(readable_values(project), changes).items() if value is not None}
    return as_faults([each for each in problems_in(project, after, names) if step_of(each) == step], names)


def as_faults(problems: Iterable[Problem], names: Sequence[str] | None = None) -> list[Fault]:
    """Convert problems to errors with the ids of their fields."""
    return [Fault(field_id(problem.path, names), str(problem)) for problem in problems]


def field_id(path: str, names: Sequence[str] | None = None) -> str:
    """Return the id of a setting's field: `k`, `options-effort`, and for columns their position: `weights-3`."""
    setting, _, rest = path.partition(".")
    if screen_of(setting) == "roles":
        return "quasi"  # one form for all of them
    if names is not None and rest in names:
        return f"{setting}-{list(names).index(rest)}"
    return "-".join(part for part in (setting, rest) if part).replace(" ", "-")


def step_of(problem: Problem) -> str:
    """Return the step with the setting that a problem is about."""
    return screen_of(problem.path.split(".")[0])


def faulty_steps(project: Project) -> set[str]:
    """Return the steps whose settings have errors."""
    from coterie.web.table_summary import column_names

    known = {key for key, _ in STEPS}
    return {step_of(problem) for problem in problems_of(project, column_names(project))} & known
