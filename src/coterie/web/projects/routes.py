"""The first page: the projects, and how to start one from a path or an upload."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from coterie.files.formats import FORMATS
from coterie.web.jobs import Jobs
from coterie.web.pages import Fault, Fields, go, posted, project_of, projects_of, render, settings_of
from coterie.web.project import Project, Projects
from coterie.web.settings import MEGABYTE, resolve_allowed
from coterie.web.uploads import receive_upload

ENDINGS = tuple(ending for each in FORMATS.values() for ending in each.endings)
ENDINGS = (*(f"{ending}.gz" for ending in FORMATS["csv"].endings), *ENDINGS, ".gz")
UPLOAD = "upload"
"""the name of every upload, followed by its extension"""


async def alive(_: Request) -> Response:
    """Confirm that the server is running: pages ask now and then, and before submitting a form."""
    return Response(status_code=204, headers={"Cache-Control": "no-store"})


async def home(request: Request) -> Response:
    """Show the projects, and two ways to start one."""
    settings, path, faults = settings_of(request), request.query_params.get("path"), []
    if path is not None:  # one that could not be opened
        faults = _path_faults(request, path.strip())
    elif "no-file" in request.query_params:
        faults = [Fault("file", "Choose a file first.")]
    return render(
        request,
        "projects.html",
        status=422 if faults else 200,
        faults=faults,
        # A project without a source is still being uploaded.
        projects=[each for each in projects_of(request).all() if each.source is not None],
        path=path or "",
        folders=[str(folder) for folder in settings.allowed_folders],
        limit=settings.upload_limit // MEGABYTE,
        limit_bytes=settings.upload_limit,
        formats=" or ".join(each.title for each in FORMATS.values()),
        kept_in=None if settings.forget else str(settings.work_folder),
    )


@posted
def open_by_path(request: Request, form: Fields) -> Response:
    """Start a project from a file on this machine."""
    submitted = form.get("path", "").strip()
    found = resolve_allowed(submitted, settings_of(request).allowed_folders)
    if found is None or _path_faults(request, submitted):
        return go(f"/?{urlencode({'path': submitted})}", request)
    project = open_path(request.app, found)
    return go(f"{project.url}/data", request)


def _path_faults(request: Request, submitted: str) -> list[Fault]:
    """Return the errors of a path."""
    if not submitted:
        return [Fault("path", "Give the path of a file.")]
    found = resolve_allowed(submitted, settings_of(request).allowed_folders)
    if found is None:
        text = "This file is outside the allowed folders. Start coterie serve with --allow FOLDER, or upload it."
        return [Fault("path", text)]
    if not found.is_file():
        return [Fault("path", "There is no such file. Paths start at the first folder below, or are absolute.")]
    return []


def open_path(app: Starlette, path: Path, *, configuration: Path | None = None) -> Project:
    """Start a project from an allowed file; the inspection begins at once."""
    projects, jobs = _of(app)
    known = projects.of_file(path, configuration)
    if known is not None and known.table_path.is_file():
        return known  # every view checks whether the file has changed
    project = known or projects.create(path.name, source=path, config_file=configuration)
    look_at(jobs, project)
    return project


async def upload(request: Request) -> Response:
    """Start a project from an uploaded file."""
    projects, jobs = _of(request.app)
    project = projects.create("upload")
    try:
        target = project.folder / UPLOAD
        sent = await receive_upload(request, target, field="file", limit=settings_of(request).upload_limit)
    except BaseException:
        projects.remove(project)
        raise
    if sent.path is None:
        projects.remove(project)
        return go("/?no-file", request)
    ending = next((ending for ending in ENDINGS if sent.name.lower().endswith(ending)), "")
    named = target.rename(target.with_name(UPLOAD + ending))
    project = projects.change(project, name=sent.name, source=named, uploaded=True)
    await run_in_threadpool(look_at, jobs, project)
    return go(f"{project.url}/data", request)


def delete(request: Request) -> Response:
    """Delete the project in the address, or else all, with their uploads and runs."""
    projects, jobs = _of(request.app)
    for project in [project_of(request)] if "project" in request.path_params else projects.all():
        jobs.cancel_below(project.folder)
        projects.remove(project)
    return go("/", request)


def look_at(jobs: Jobs, project: Project) -> None:
    """Start inspecting a project's table."""
    jobs.start("inspect", project.folder / "inspect", project)


def _of(app: Starlette) -> tuple[Projects, Jobs]:
    return app.state.projects, app.state.jobs
