"""The application: every step's routes, the projects, and the middleware around them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from coterie.errors import CoterieError
from coterie.web.jobs import Jobs, end_left_over
from coterie.web.pages import is_htmx, render
from coterie.web.project import Projects
from coterie.web.routes import ROUTES
from coterie.web.security import Guard
from coterie.web.settings import Settings

STATIC = Path(__file__).parent / "static"


def create_app(settings: Settings) -> Starlette:
    """Create the application of one server."""
    jobs = Jobs(settings)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        jobs.stop_all()

    app = Starlette(
        routes=[*ROUTES, Mount("/static", StaticFiles(directory=STATIC))],
        middleware=[Middleware(Guard, settings=settings)],
        exception_handlers={HTTPException: _told, CoterieError: _told},
        lifespan=lifespan,
    )
    app.state.settings = settings
    app.state.projects = Projects(settings.work_folder, settings.allowed_folders)
    for project in app.state.projects.all():
        end_left_over(project.folder)
    app.state.jobs = jobs
    return app


async def _told(request: Request, error: Exception) -> Response:
    """Respond to an error of a request, or one that coterie raised on purpose: its message contains no cell."""
    status, text = (error.status_code, error.detail) if isinstance(error, HTTPException) else (422, str(error))
    if isinstance(error, HTTPException) and status in (204, 303, 304):
        return Response(status_code=status, headers=error.headers)
    template = "_message.html" if is_htmx(request) else "message.html"
    return render(request, template, status=status, status_code=status, text=text)
