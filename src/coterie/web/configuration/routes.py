"""The configuration itself: its text to view, edit, download or import, and the equivalent command and Python."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from coterie.errors import ConfigError
from coterie.settings.config import read_hierarchies
from coterie.settings.toml import plain
from coterie.web import drafts
from coterie.web.configuration import configuration
from coterie.web.configuration.edit import edited
from coterie.web.configuration.view import command_line, download_name, python_text, release_name
from coterie.web.jobs import jobs_of
from coterie.web.pages import Fault, Fields, go, posted, project_of, render, settings_of
from coterie.web.project import Project
from coterie.web.projects.routes import look_at
from coterie.web.settings import resolve_allowed
from coterie.web.table_summary import inspected
from coterie.web.uploads import receive_upload

LIMIT = 8 << 20
"""bytes of a configuration"""
NOT_BROUGHT = {
    "path": "There is no such file in the allowed folders.",
    "file": "Choose a coterie.toml, or give its path.",
    "text": "This is not text in UTF-8.",
}
"""why no configuration came from a path or an upload"""


def show(request: Request) -> Response:
    """Show the page."""
    project, summary = inspected(request)
    try:
        values = configuration.read_values(project)
        wrong = configuration.faults(project, summary.names)
    except ConfigError as error:
        values, wrong = {}, configuration.as_faults(error.problems)
    text, draft = _saved(project), drafts.draft_of(project, "configuration")
    if draft is not None:
        text, wrong = draft["text"], _draft_faults(project, draft)
    refused = request.query_params.get("refused", "")
    if refused in NOT_BROUGHT:
        wrong = [Fault("path" if refused == "path" else "file", NOT_BROUGHT[refused]), *wrong]
    release = release_name(summary.format)
    return render(
        request,
        "configuration.html",
        project=project,
        status=422 if draft is not None or refused in NOT_BROUGHT else 200,
        faults=wrong,
        text=text,
        unsaved=draft is not None,
        stamp=drafts.stamp(_saved(project)),
        path=request.query_params.get("path", ""),
        where=None if project.config_file is None else str(project.config_file),
        command=command_line(project, release=release),
        python=python_text(project, values, release=release),
    )


def _saved(project: Project) -> str:
    return project.config_path.read_text(encoding="utf-8-sig") if project.config_path.is_file() else ""


@posted
def save(request: Request, fields: Fields) -> Response:
    """Save the edited text."""
    project = project_of(request, ready=True)
    if fields.get("action") == "discard":
        drafts.drop_draft(project, "configuration")
        return go(f"{project.url}/configuration", request)
    # Browsers submit CRLF line endings.
    return _save(request, project, fields, fields.get("text", "").replace("\r\n", "\n"))


def _save(request: Request, project: Project, fields: Mapping[str, str], text: str) -> Response:
    draft = {"text": text, drafts.STAMP: fields.get(drafts.STAMP, "")}
    if _draft_faults(project, draft):
        return drafts.send_back(request, project, "configuration", draft)
    take(request, project, text)
    return go(f"{project.url}/configuration", request)


def take(request: Request, project: Project, text: str) -> None:
    """Make a text the project's configuration. If it changes how the table is read, inspect the table again."""
    from coterie.web.data.inspect_table import READING

    with project.lock:
        before = configuration.readable_values(project)
        configuration.write_text(project, text)
        for step in ("configuration", *drafts.FORMS):
            drafts.drop_draft(project, step)
        after = configuration.read_values(project)
    if any(before.get(name) != after.get(name) for name in READING):
        look_at(jobs_of(request), project)


def _draft_faults(project: Project, draft: Mapping[str, str]) -> list[Fault]:
    """Check that it is TOML and replaces what was seen; its settings may be invalid for a while."""
    found = drafts.changed_elsewhere(drafts.stamp(_saved(project)), draft)
    try:
        tomllib.loads(draft["text"])
    except tomllib.TOMLDecodeError as error:
        found.append(Fault("text", f"This is not valid TOML: {error}"))
    return found


async def bring(request: Request) -> Response:
    """Import a coterie.toml from a path or an upload."""
    project = project_of(request, ready=True)
    target = project.folder / "brought.toml"
    target.unlink(missing_ok=True)
    try:
        sent = await receive_upload(request, target, field="file", limit=LIMIT)
        return await run_in_threadpool(_bring, request, project, sent.path, sent.fields)
    finally:
        target.unlink(missing_ok=True)


def _bring(request: Request, project: Project, uploaded: Path | None, fields: Mapping[str, str]) -> Response:
    path, found = fields.get("path", "").strip(), uploaded
    if found is None and path:
        found = resolve_allowed(path, settings_of(request).allowed_folders)
        if found is None or not found.is_file() or found.stat().st_size > LIMIT:
            return _not_brought(request, project, "path", path)
    if found is None:
        return _not_brought(request, project, "file", path)
    try:
        text = found.read_text(encoding="utf-8-sig")
    except (UnicodeDecodeError, OSError):
        return _not_brought(request, project, "text", path)
    if uploaded is None:
        text = _with_files(project, text, found.parent)
    return _save(request, project, fields, text)


def _not_brought(request: Request, project: Project, why: str, path: str) -> Response:
    return go(f"{project.url}/configuration?{urlencode({'refused': why, 'path': path})}", request)


def _with_files(project: Project, text: str, folder: Path) -> str:
    """Return the text with the content of its hierarchy files, since it moves to another folder."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return text  # its errors are shown with it
    specs = values.get("hierarchies")
    if not isinstance(specs, dict):
        return text
    files = {
        column: str((folder / spec).resolve())
        for column, spec in specs.items()
        if isinstance(spec, str) and spec != "flat"
    }
    if configuration.path_problems(project, {"hierarchies": files}):
        return text  # outside the allowed folders; reported as an error later
    read, _ = read_hierarchies(files, base=None)
    spelled = {column: plain(read[column]) if column in read else spec for column, spec in specs.items()}
    kept = {name: value for name, value in values.items() if name != "provenance"}
    return edited(text, {**kept, "hierarchies": spelled})


def download(request: Request) -> Response:
    """Download the configuration, with the content of files included where possible."""
    project = project_of(request, ready=True)
    try:
        text = configuration.frozen(project)
    except Exception:
        # An invalid configuration is downloaded unchanged.
        text = project.config_path.read_text(encoding="utf-8-sig")
    name = quote(download_name(project))
    headers = {"Content-Disposition": f"attachment; filename=\"coterie.toml\"; filename*=UTF-8''{name}"}
    return Response(text, media_type="application/toml", headers=headers)
