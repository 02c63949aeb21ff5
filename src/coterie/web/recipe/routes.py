"""The configuration itself: its text to view, edit, download or import, and the equivalent command and Python."""

from __future__ import annotations

import tomllib
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from coterie.errors import ConfigError
from coterie.settings.config import read_hierarchies
from coterie.settings.toml import plain
from coterie.web.drafts import draft_of, drop_draft, keep_draft
from coterie.web.jobs import Jobs
from coterie.web.pages import Fault, form_of, go, project_of, render, settings_of, values_of
from coterie.web.project import Project
from coterie.web.projects.routes import look_at
from coterie.web.recipe import recipe
from coterie.web.recipe.edit import edited
from coterie.web.recipe.view import command_line, download_name, python_text, release_name
from coterie.web.settings import resolve_allowed
from coterie.web.table_summary import summary_of
from coterie.web.uploads import receive_upload

LIMIT = 8 << 20
"""the maximum size of a configuration in bytes"""


async def show(request: Request) -> Response:
    """Show the page."""
    project = project_of(request, ready=True)
    return await run_in_threadpool(_page, request, project)


def _page(
    request: Request,
    project: Project,
    *,
    faults: list[Fault] | None = None,
    text: str | None = None,
    path: str = "",
    status: int = 200,
) -> Response:
    summary = summary_of(project)
    assert summary is not None
    draft = draft_of(project, "recipe")
    if text is None and draft is not None:
        text = draft["text"]
        faults = _text_faults(text)
    try:
        values = recipe.read_values(project)
        wrong = recipe.faults(project, summary.names)
    except ConfigError as error:
        values, wrong = {}, recipe.as_faults(error.problems)
    saved = project.recipe_path.read_text(encoding="utf-8-sig") if project.recipe_path.is_file() else ""
    release = release_name(summary.format)
    return render(
        request,
        "recipe.html",
        project=project,
        status=status,
        faults=wrong if faults is None else faults,
        text=saved if text is None else text,
        path=path,
        where=None if project.recipe_file is None else str(project.recipe_file),
        command=command_line(project, release=release),
        python=python_text(project, values, release=release),
    )


async def save(request: Request) -> Response:
    """Save the edited text."""
    project = project_of(request, ready=True)
    # Browsers send line ends of their own.
    text = values_of(await form_of(request)).get("text", "").replace("\r\n", "\n")
    return await run_in_threadpool(_save, request, project, text)


def _save(request: Request, project: Project, text: str) -> Response:
    faults = _text_faults(text)
    if faults:
        keep_draft(project, "recipe", {"text": text})
        return _page(request, project, faults=faults, text=text, status=422)
    take(request, project, text)
    return go(f"{project.url}/recipe", request)


def take(request: Request, project: Project, text: str) -> None:
    """Make a text the project's configuration. If it changes how the table is read, inspect the table again."""
    from coterie.web.data.inspect_table import READING

    with project.lock:
        before = recipe.read_values(project) if not _broken(project) else {}
        recipe.write_text(project, text)
        for step in ("recipe", "goals", "run"):
            drop_draft(project, step)
        after = recipe.read_values(project)
    if any(before.get(name) != after.get(name) for name in READING):
        jobs = request.app.state.jobs
        assert isinstance(jobs, Jobs)
        look_at(jobs, project)


def _broken(project: Project) -> bool:
    try:
        recipe.read_values(project)
    except ConfigError:
        return True
    return False


def _text_faults(text: str) -> list[Fault]:
    """Check that it is valid TOML; its settings may be invalid for a while."""
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return [Fault("text", f"This is not valid TOML: {error}")]
    return []


async def bring(request: Request) -> Response:
    """Import a coterie.toml from a path or an upload."""
    project = project_of(request, ready=True)
    target = project.folder / "brought.toml"
    target.unlink(missing_ok=True)
    try:
        sent = await receive_upload(request, target, field="file", limit=LIMIT)
        return await run_in_threadpool(_bring, request, project, sent.path, sent.fields.get("path", "").strip())
    finally:
        target.unlink(missing_ok=True)


def _bring(request: Request, project: Project, uploaded: Path | None, path: str) -> Response:
    found = uploaded
    if found is None and path:
        found = resolve_allowed(path, settings_of(request).allowed_folders)
        if found is None or not found.is_file() or found.stat().st_size > LIMIT:
            text = "There is no such file in the allowed folders."
            return _page(request, project, faults=[Fault("path", text)], path=path, status=422)
    if found is None:
        return _page(request, project, faults=[Fault("file", "Choose a coterie.toml, or give its path.")], status=422)
    try:
        text = found.read_text(encoding="utf-8-sig")
    except (UnicodeDecodeError, OSError):
        return _page(request, project, faults=[Fault("file", "This is not text in UTF-8.")], path=path, status=422)
    faults = _text_faults(text)
    if faults:
        keep_draft(project, "recipe", {"text": text})
        return _page(request, project, faults=faults, text=text, path=path, status=422)
    if uploaded is None:
        text = _with_files(project, text, found.parent)
    take(request, project, text)
    return go(f"{project.url}/recipe", request)


def _with_files(project: Project, text: str, folder: Path) -> str:
    """Return the text with hierarchies from files next to it included, since it moves to another folder."""
    values = tomllib.loads(text)
    specs = values.get("hierarchies")
    if not isinstance(specs, dict):
        return text
    files = {
        column: str((folder / spec).resolve())
        for column, spec in specs.items()
        if isinstance(spec, str) and spec != "flat"
    }
    if recipe.path_problems(project, {"hierarchies": files}):
        return text  # outside of what may be read; the faults say so
    read, _ = read_hierarchies(files, base=None)
    spelled = {column: plain(read[column]) if column in read else spec for column, spec in specs.items()}
    kept = {name: value for name, value in values.items() if name != "provenance"}
    return edited(text, {**kept, "hierarchies": spelled})


async def download(request: Request) -> Response:
    """Download the configuration, with the content of files included where possible."""
    project = project_of(request, ready=True)

    def text() -> str:
        try:
            return recipe.frozen(project)
        except Exception:
            # With faults it is still the person's own text.
            return project.recipe_path.read_text(encoding="utf-8-sig")

    from urllib.parse import quote

    name = quote(download_name(project))
    headers = {"Content-Disposition": f"attachment; filename=\"coterie.toml\"; filename*=UTF-8''{name}"}
    return Response(await run_in_threadpool(text), media_type="application/toml", headers=headers)
