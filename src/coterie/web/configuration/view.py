"""The command line and the Python code equivalent to a configuration."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coterie.files.formats import FORMATS
from coterie.web.project import Project

WIDE = 96
"""the maximum line length"""


def command_line(project: Project, *, release: str = "release.csv") -> str:
    """Return the command that does what a run of this project does."""
    where = _table(project)
    parts = [
        "coterie anonymize",
        f"{shlex.quote(where)} --config {shlex.quote(_config_name(project))}",
        f"--output {release} --report report.html --mapping mapping.csv",
    ]
    return " \\\n    ".join(parts)


def python_text(project: Project, values: Mapping[str, Any], *, release: str = "release.csv") -> str:
    """Return Python code that does what a run of this project does: with the file, or with all settings."""
    head = [
        "import coterie",
        "",
        f"release = coterie.anonymize({_table(project)!r}, config={_config_name(project)!r})",
        f"release.write({release!r})",
        'release.report("report.html")',
        "print(release.verification)",
    ]
    lines = [f"    {name}={_written(value, 4)}," for name, value in values.items() if value not in ([], {})]
    spelled = ["", "# The same without the file:", f"release = coterie.anonymize(\n    {_table(project)!r},"]
    return "\n".join([*head, *spelled, *lines, ")"]) + "\n"


def _written(value: object, indent: int) -> str:
    """Format a value as Python, over several lines if one would be too long."""
    plain = repr(value)
    if len(plain) + indent < WIDE or not isinstance(value, list | dict) or not value:
        return plain
    inner = " " * (indent + 4)
    if isinstance(value, dict):
        parts = [f"{inner}{name!r}: {_written(each, indent + 4)}," for name, each in value.items()]
    else:
        parts = [f"{inner}{_written(each, indent + 4)}," for each in value]
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    return "\n".join([opening, *parts, " " * indent + closing])


def _table(project: Project) -> str:
    """Return the table as named on the command line."""
    return project.name if project.uploaded or project.source is None else str(project.source)


def _config_name(project: Project) -> str:
    return str(project.config_file) if project.config_file is not None else "coterie.toml"


def release_name(table_format: str) -> str:
    """Return the name of a run's release."""
    return "release" + (FORMATS[table_format].released_as if table_format in FORMATS else ".csv")


def download_name(project: Project) -> str:
    """Return a file name for downloading the configuration."""
    return f"{Path(project.name).name.split('.')[0] or 'table'}.coterie.toml"
