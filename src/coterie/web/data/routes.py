"""The Data step: the input, how it was read, its columns and its rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from coterie.errors import ConfigError
from coterie.files.formats import FORMATS
from coterie.web import drafts
from coterie.web.configuration import configuration
from coterie.web.forms import read, shown, simple
from coterie.web.jobs import jobs_of
from coterie.web.pages import Fault, Fields, go, number_in, posted, project_of, render, seen
from coterie.web.parquet_file import read_rows
from coterie.web.project import Project
from coterie.web.projects.routes import look_at
from coterie.web.table_summary import TableSummary, inspected, summary_of

PAGE_ROWS = 100
PAGE_COLUMNS = 40


def data(request: Request) -> Response:
    """Show the page."""
    project = project_of(request)
    state = jobs_of(request).state(project.folder / "inspect")
    summary = summary_of(project)
    found: list[Fault] = []
    try:
        values = configuration.read_values(project)
    except ConfigError as error:
        values = {}
        found += configuration.as_faults(error.problems)
    draft, saved = drafts.draft_of(project, "data"), shown(simple("data"), values)
    found += [] if draft is None else _faults(project, draft, saved)
    return render(
        request,
        "data.html",
        project=project,
        step="data",
        status=200 if draft is None else 422,
        faults=found,
        submitted=saved | (draft or {}),
        unsaved=draft is not None,
        stamp=drafts.stamp_of(project, "data"),
        state=state,
        formats=FORMATS,
        fields=simple("data").values(),
        page_rows=PAGE_ROWS,
        otherwise=summary is not None
        and summary.reading != {name: values[name] for name in simple("data") if name in values},
        summary=None if state.active else summary,
        failed=state.message if state.state in ("failed", "cancelled") else "",
        part=_part(request, project, summary) if summary is not None and not state.active else None,
    )


def rows(request: Request) -> Response:
    """Show more rows, for scrolling."""
    project, summary = inspected(request)
    return render(request, "_rows.html", project=project, part=_part(request, project, summary))


def _part(request: Request, project: Project, summary: TableSummary) -> dict[str, Any]:
    """Return a window of rows and columns."""
    row, column = (max(number_in(request, name, 1), 1) - 1 for name in ("row", "column"))
    start, width = min(row, max(summary.rows - 1, 0)), len(summary.columns)
    first = min(column, width - 1)
    end = min(start + min(max(number_in(request, "count", PAGE_ROWS), 1), PAGE_ROWS), summary.rows)
    columns = range(first, min(first + PAGE_COLUMNS, width))
    cells = read_rows(project.table_path, start, end, columns=columns)
    return {
        "start": start,
        "end": end,
        "total": summary.rows,
        "before": max(start - PAGE_ROWS, 0),
        "last": max((summary.rows - 1) // PAGE_ROWS * PAGE_ROWS, 0),
        "first": first,
        "columns": columns,
        "width": width,
        "rows": list(zip(*cells.values(), strict=True)),
    }


def progress(request: Request) -> Response:
    """Show the progress of the inspection, and the whole page when it is done."""
    project = project_of(request)
    state = jobs_of(request).state(project.folder / "inspect")
    if not state.active:
        return Response(status_code=200, headers={"HX-Redirect": f"{project.url}/data"})
    return render(request, "_looking.html", project=project, state=state)


@posted
def change(request: Request, submitted: Fields) -> Response:
    """Change how the file is read."""
    project = project_of(request)
    if submitted.pop("action", "") != "discard":
        if _faults(project, submitted, {}):
            return drafts.send_back(request, project, "data", submitted)
        configuration.change(project, _reading(submitted))
        look_at(jobs_of(request), project)
    drafts.drop_draft(project, "data")
    return go(f"{project.url}/data", request)


def _reading(submitted: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings in a form."""
    return read(simple("data"), submitted, {}, always="missing_values")


def again(request: Request) -> Response:
    """Inspect a file that has changed."""
    project = project_of(request)
    look_at(jobs_of(request), project)
    return go(f"{project.url}/data", request)


def _faults(project: Project, submitted: Mapping[str, str], saved: Mapping[str, str]) -> list[Fault]:
    """Return the errors of the form."""
    from coterie.files.dialect import Dialect

    changes = _reading(submitted)
    faults = drafts.changed_elsewhere(drafts.stamp_of(project, "data"), submitted, saved=saved)
    for name in ("delimiter", "encoding"):
        if changes[name] is not None:
            try:
                Dialect(**{name: str(changes[name])})  # type: ignore[arg-type]
            except ConfigError as error:
                faults += configuration.as_faults(error.problems)
    return faults


def cancel(request: Request) -> Response:
    """Stop the inspection."""
    project = project_of(request)
    jobs_of(request).cancel(project.folder / "inspect")
    return go(f"{project.url}/data", request)


def go_on(request: Request) -> Response:
    """Mark the data as reviewed."""
    project = seen(request, project_of(request, ready=True), "data")
    return go(f"{project.url}/roles", request)
