"""The first page: projects, and how to start one by a path or an upload."""

from __future__ import annotations

from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from coterie.files.formats import FORMATS
from coterie.web.jobs import Jobs
from coterie.web.pages import Fault, form_of, go, project_of, projects_of, render, settings_of, values_of
from coterie.web.project import Project, Projects
from coterie.web.settings import resolve_allowed
from coterie.web.uploads import MEGABYTE, receive_upload

ENDINGS = tuple(ending for each in FORMATS.values() for ending in each.endings)
ENDINGS = (*(f"{ending}.gz" for ending in FORMATS["csv"].endings), *ENDINGS, ".gz")
UPLOAD = "upload"
"""what every upload is called, followed by its ending"""


async def home(request: Request) -> Response:
    """Projects, and two ways to start one."""
    return _home(request)


def _home(request: Request, *, faults: list[Fault] | None = None, path: str = "", status: int = 200) -> HTMLResponse:
    settings = settings_of(request)
    return render(
        request,
        "projects.html",
        status=status,
        faults=faults or [],
        # One without a source is still being sent.
        projects=[each for each in projects_of(request).all() if each.source is not None],
        path=path,
        folders=[str(folder) for folder in settings.allowed_folders],
        limit=settings.upload_limit // MEGABYTE,
        limit_bytes=settings.upload_limit,
        formats=" or ".join(each.title for each in FORMATS.values()),
    )


async def open_by_path(request: Request) -> Response:
    """A project from a file on this machine."""
    submitted = values_of(await form_of(request)).get("path", "").strip()
    settings = settings_of(request)
    if not submitted:
        return _home(request, faults=[Fault("path", "Give the path of a file.")], status=422)
    found = resolve_allowed(submitted, settings.allowed_folders)
    if found is None:
        text = (
            "This lies outside the folders that may be opened. Start coterie serve with --allow FOLDER, or upload it."
        )
        return _home(request, faults=[Fault("path", text)], path=submitted, status=422)
    if not found.is_file():
        text = "There is no such file. Paths start at the first folder below, or are given in full."
        return _home(request, faults=[Fault("path", text)], path=submitted, status=422)
    project = await run_in_threadpool(open_path, request.app, found)
    return go(f"{project.url}/data", request)


def open_path(app: Starlette, path: Path, *, recipe: Path | None = None) -> Project:
    """A project from a file that may be opened; looking at it begins at once."""
    projects, jobs = _of(app)
    project = projects.create(path.name, source=path, recipe_file=recipe)
    look_at(jobs, project)
    return project


async def upload(request: Request) -> Response:
    """A project from a file that the browser sends."""
    projects, jobs = _of(request.app)
    project = projects.create("upload")
    try:
        target = project.folder / UPLOAD
        sent = await receive_upload(request, target, field="file", limit=settings_of(request).upload_limit)
        if sent.path is None:
            raise _NothingSentError
    except _NothingSentError:
        projects.remove(project)
        return _home(request, faults=[Fault("file", "Choose a file first.")], status=422)
    except BaseException:
        projects.remove(project)
        raise
    ending = next((ending for ending in ENDINGS if sent.name.lower().endswith(ending)), "")
    named = target.rename(target.with_name(UPLOAD + ending))
    project = projects.change(project, name=sent.name, source=named, uploaded=True)
    await run_in_threadpool(look_at, jobs, project)
    return go(f"{project.url}/data", request)


class _NothingSentError(Exception):
    pass


async def delete(request: Request) -> Response:
    """Delete a project with its upload and its runs."""
    project = project_of(request)
    await run_in_threadpool(_delete, request.app, project)
    return go("/", request)


def _delete(app: Starlette, project: Project) -> None:
    projects, jobs = _of(app)
    jobs.cancel_below(project.folder)
    projects.remove(project)


async def delete_all(request: Request) -> Response:
    """Delete everything that this server keeps."""
    for project in projects_of(request).all():
        await run_in_threadpool(_delete, request.app, project)
    return go("/", request)


def look_at(jobs: Jobs, project: Project) -> None:
    """Start looking at a project's table."""
    jobs.start("inspect", project.folder / "inspect", project)


def _of(app: Starlette) -> tuple[Projects, Jobs]:
    return app.state.projects, app.state.jobs
