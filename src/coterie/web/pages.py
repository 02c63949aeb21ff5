"""Code shared by all pages: templates, navigation, and errors next to their fields."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import cache, wraps
from typing import Any, NamedTuple

from jinja2 import Environment
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from coterie.reporting.templating import environment
from coterie.web.project import Project, Projects
from coterie.web.settings import Settings
from coterie.wording import percent_text, seconds_text

FORM_FIELDS = 50_000
"""the maximum number of form fields: a table may have many columns"""

STEPS = (
    ("data", "Data"),
    ("roles", "Roles"),
    ("hierarchies", "Hierarchies"),
    ("goals", "Goals"),
    ("run", "Run"),
    ("results", "Results"),
)
SCREENS = ("projects", *(key for key, _ in STEPS), "configuration")
"""one package each, with its templates"""


class Fault(NamedTuple):
    """An error: the id of its field (or nothing) and a sentence that says what to do."""

    field: str
    text: str


@cache
def templates() -> Environment:
    """Return the templates of the app and of its screens, with its filters."""
    room = environment("coterie.web", *(f"coterie.web.{screen}" for screen in SCREENS))
    room.filters |= {"count": "{:,}".format, "figure": _figure, "percent": percent_text, "seconds": seconds_text}
    room.filters["combine"] = _combine
    return room


def render(
    request: Request,
    template: str,
    *,
    project: Project | None = None,
    step: str = "",
    status: int = 200,
    faults: Iterable[Fault] = (),
    **context: Any,  # noqa: ANN401 - whatever the template asks for
) -> HTMLResponse:
    """Render a page or, with a template whose name starts with `_`, a part of one.

    Args:
        request: The request.
        template: The name of the template.
        project: The project, if any.
        step: The key of the current step.
        status: 422 if the submitted input is invalid; the page then shows it again, with the errors.
        faults: The errors; their summary receives the focus.
        **context: Other variables of the template.
    """
    from coterie.web.data.input_state import has_changed
    from coterie.web.step_states import states_of

    wrong = list(faults)
    whole = project is not None and not template.startswith("_")
    values: dict[str, Any] = {
        "request": request,
        "project": project,
        "input_changed": whole and project is not None and has_changed(project),
        # Parts of a page have no navigation, whose states take time to compute.
        "states": states_of(project) if whole and project is not None else {},
        "steps": STEPS,
        "step": step,
        "faults": wrong,
        "fault_of": {fault.field: fault.text for fault in reversed(wrong) if fault.field},
        **context,
    }
    # Browsers log any other status as an error of the page, which a form with errors is not.
    shown = 200 if status == 422 and "sec-fetch-mode" in request.headers else status
    return HTMLResponse(templates().get_template(template).render(values), status_code=shown)


def settings_of(request: Request) -> Settings:
    """Return the server's settings."""
    settings = request.app.state.settings
    assert isinstance(settings, Settings)
    return settings


def projects_of(request: Request) -> Projects:
    """Return the server's projects."""
    projects = request.app.state.projects
    assert isinstance(projects, Projects)
    return projects


def project_of(request: Request, *, ready: bool = False) -> Project:
    """Return the project in the address; with `ready`, the Data step is shown until its table was inspected."""
    project = projects_of(request).get(request.path_params["project"])
    if project is None:
        raise HTTPException(404, "This project does not exist; it may have been deleted.")
    if ready and not project.table_path.is_file():
        raise HTTPException(303, headers={"Location": f"{project.url}/data"})
    return project


async def form_of(request: Request) -> FormData:
    """Return the fields of a form."""
    return await request.form(max_fields=FORM_FIELDS, max_files=50, max_part_size=8 << 20)


def number_in(request: Request, name: str, default: int = 0) -> int:
    """Return a whole number in the address, such as 1,500; the default for anything else."""
    text = request.query_params.get(name, "").strip().replace(",", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else default


def is_htmx(request: Request) -> bool:
    """Return whether a part of a page suffices as the response."""
    return request.headers.get("hx-request") == "true"


def go(url: str, request: Request | None = None) -> Response:
    """Redirect after a change, so that reloading does not submit the form again."""
    if request is not None and is_htmx(request):
        return Response(status_code=204, headers={"HX-Redirect": url})
    return RedirectResponse(url, status_code=303)


def seen(request: Request, project: Project, step: str) -> Project:
    """Mark a step as reviewed."""
    if step in project.seen:
        return project
    return projects_of(request).change(project, seen=(*project.seen, step))


def _combine(first: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Combine choices of a form: some with titles, then plain names."""
    return {**first, **{name: name for name in names}}


def _figure(value: float, digits: int = 3) -> str:
    return f"{value:,.{digits}g}"


class Fields(dict[str, str]):
    """The text fields of a form; the last of several with one name."""

    def __init__(self, form: FormData) -> None:
        self.pairs = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
        super().__init__(self.pairs)

    def every(self, wanted: str) -> list[str]:
        """Return all fields with one name."""
        return [value for name, value in self.pairs if name == wanted]


def posted(handler: Callable[[Request, Fields], Response]) -> Callable[[Request], Awaitable[Response]]:
    """Handle a form in a separate thread."""

    @wraps(handler)
    async def answer(request: Request) -> Response:
        return await run_in_threadpool(handler, request, Fields(await form_of(request)))

    return answer
