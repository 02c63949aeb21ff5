"""A summary of a project's table: names, types, counts and suggested roles, computed once by a worker."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request

from coterie.suggesting.toml import decision
from coterie.web.pages import project_of
from coterie.web.project import Project, read_json

KINDS = {
    "integer": "whole numbers",
    "decimal": "numbers",
    "date": "dates",
    "code": "codes of digits",
    "mixed": "numbers and texts",
    "category": "texts",
    "empty": "nothing",
}


@dataclass(frozen=True)
class ColumnSummary:
    """One column of the table, by its position in the file."""

    index: int
    name: str
    kind: str
    """one of `KINDS`"""
    distinct: int
    missing: int
    role: str
    """its suggested role: quasi, sensitive, identifier or keep"""
    reason: str

    @property
    def looks(self) -> str:
        """The kind of values, for people."""
        return KINDS.get(self.kind, self.kind)


@dataclass(frozen=True)
class TableSummary:
    """The table as a whole."""

    rows: int
    columns: tuple[ColumnSummary, ...]
    format: str
    """csv, parquet, feather or excel"""
    delimiter: str
    encoding: str
    reading: dict[str, Any] = field(default_factory=dict)
    """the settings with which the file was read"""

    @property
    def names(self) -> list[str]:
        """The names of the columns, in the order of the file."""
        return [column.name for column in self.columns]


def summary_of(project: Project) -> TableSummary | None:
    """Return the summary of the table, or None before it was inspected."""
    values = read_json(project.folder / "facts.json")
    if not values or not project.table_path.is_file():
        return None
    columns = tuple(ColumnSummary(**{**each, "role": decision(each["role"])}) for each in values.pop("columns"))
    return TableSummary(columns=columns, **values)


def inspected(request: Request) -> tuple[Project, TableSummary]:
    """Return the project in the address with the summary of its table; until there is one, the Data step is shown."""
    project = project_of(request, ready=True)
    summary = summary_of(project)
    if summary is None:
        raise HTTPException(303, headers={"Location": f"{project.url}/data"})
    return project, summary


def column_names(project: Project) -> list[str] | None:
    """Return the column names, or None before the table was inspected."""
    summary = summary_of(project)
    return None if summary is None else summary.names
