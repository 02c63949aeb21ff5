"""The Run step: the method and its options, then a run that can be followed, left alone and cancelled."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from coterie.errors import ConfigError
from coterie.settings.registry import DEFAULT_METHOD
from coterie.web import drafts
from coterie.web.configuration import configuration
from coterie.web.forms import bad_numbers, grouped, read, shown, simple
from coterie.web.jobs import jobs_of
from coterie.web.pages import STEPS, Fault, Fields, go, posted, project_of, render, seen
from coterie.web.project import Project
from coterie.web.run import form as method_form
from coterie.web.run.runs import active_run, changed_since, check_startable, remove_run, runs_of, start_run, step_text
from coterie.web.table_summary import column_names
from coterie.wording import seconds_text

OWN_PLACE = ("method", "refine")
"""fields that the page shows elsewhere"""
LOOK_EVERY = 0.5
"""seconds between two checks of a run"""


def run(request: Request) -> Response:
    """Show the page."""
    return _page(request, project_of(request, ready=True))


def _page(request: Request, project: Project, submitted: Mapping[str, str] | None = None) -> Response:
    runs = runs_of(jobs_of(request), project)
    draft = drafts.draft_of(project, "run") if submitted is None else None
    wrong: list[Fault] = []
    refused = submitted is None and bool(draft is not None or request.query_params.get("refused"))
    if refused:
        wrong = _in_the_way(request, project) if draft is None else _faults(project, draft)
    texts = {**_shown(project), **(draft or {}), **(submitted or {})}
    active = next((each for each in runs if each.state.active), None)
    titles = dict(STEPS)
    others = [
        (titles[configuration.step_of(problem)], f"{project.url}/{configuration.step_of(problem)}", str(problem))
        for problem in configuration.problems_of(project, column_names(project))
        if configuration.step_of(problem) != "run"
    ]
    return render(
        request,
        "run.html",
        project=project,
        step="run",
        status=422 if refused else 200,
        faults=wrong,
        submitted=texts,
        runs=runs,
        active=active,
        step_text="" if active is None else step_text(active.state),
        in_the_way=others,
        stamp=drafts.stamp_of(project, "run"),
        changed=bool(runs) and runs[0].state.state == "finished" and changed_since(project, runs[0].folder),
        unsaved=drafts.draft_of(project, "goals") is not None,
        groups=grouped(simple("run"), but=OWN_PLACE),
        **_method(texts.get("method") or DEFAULT_METHOD),
    )


def _method(name: str) -> dict[str, Any]:
    """Return the context of the section about a method."""
    known = method_form.methods()
    chosen = known.get(name)
    return {
        "methods": known,
        "method": chosen,
        "options": [] if chosen is None else method_form.options_of(chosen),
    }


def _shown(project: Project) -> dict[str, str]:
    """Return the configuration's settings as the form shows them."""
    values = configuration.readable_values(project)
    options = values.get("options")
    return {
        **shown(simple("run"), values),
        **(method_form.shown_options(options) if isinstance(options, Mapping) else {}),
    }


def options(request: Request) -> Response:
    """Show the options of another method."""
    project = project_of(request, ready=True)
    name = request.query_params.get("method", DEFAULT_METHOD)
    return render(request, "_method.html", project=project, submitted=_shown(project), **_method(name))


@posted
def change(request: Request, submitted: Fields) -> Response:
    """Save the form, and start a run if requested."""
    project = project_of(request, ready=True)
    action = submitted.pop("action", "save")
    if action == "show":  # without a script: the options of the method that was chosen
        return _page(request, project, submitted)
    if _faults(project, submitted):
        return drafts.send_back(request, project, "run", submitted)
    configuration.change(project, _settings(project, submitted))
    drafts.drop_draft(project, "run")
    project = seen(request, project, "run")
    if action == "run":
        if _in_the_way(request, project):
            return go(f"{project.url}/run?refused=1", request)
        try:
            start_run(jobs_of(request), project)
        except ConfigError:  # another tab was faster, or the file has just changed
            return go(f"{project.url}/run?refused=1", request)
    return go(f"{project.url}/run", request)


def _in_the_way(request: Request, project: Project) -> list[Fault]:
    """Return why no run can start now."""
    if configuration.problems_of(project, column_names(project)):
        return [Fault("in-the-way", "Other steps have errors; fix them first. They are listed below.")]
    try:
        check_startable(jobs_of(request), project)
    except ConfigError as error:
        return configuration.as_faults(error.problems)
    return []


def _changes(submitted: Mapping[str, str], before: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings in the form, as typed."""
    found = read(simple("run"), submitted, before, always="method")
    options = method_form.read_options(submitted)
    return {**found, "method": found["method"] or DEFAULT_METHOD, "options": options}


def _faults(project: Project, submitted: Mapping[str, str]) -> list[Fault]:
    """Return the errors of the form."""
    stale = drafts.changed_elsewhere(drafts.stamp_of(project, "run"), submitted, saved=_shown(project))
    faults = bad_numbers(submitted)
    if not faults:
        changes = _changes(submitted, configuration.readable_values(project))
        faults = configuration.faults_after(project, changes, column_names(project), step="run")
    return stale + faults


def _settings(project: Project, submitted: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings of a form without errors, with options in their own types."""
    from coterie.settings.config import Config
    from coterie.settings.toml import plain

    changes = _changes(submitted, configuration.readable_values(project))
    checked = Config(method=changes["method"], options=changes["options"]).options
    return {**changes, "options": plain(checked) or None}


def cancel(request: Request) -> Response:
    """Stop the current run."""
    project, jobs = project_of(request), jobs_of(request)
    active = active_run(jobs, project)
    if active is not None:
        jobs.cancel(active.folder)
    return go(f"{project.url}/run", request)


def delete(request: Request) -> Response:
    """Delete a run."""
    project = project_of(request)
    folder = project.run_folder(request.path_params["run"])
    if folder is None:
        raise HTTPException(404, "This run does not exist.")
    remove_run(jobs_of(request), folder)
    return go(f"{project.url}/run", request)


async def events(request: Request) -> Response:
    """Send the progress of the run as server-sent events; the last one says that it is over."""
    project = project_of(request)
    jobs = jobs_of(request)

    async def stream() -> AsyncIterator[str]:
        told = ""
        while True:
            active = await run_in_threadpool(active_run, jobs, project)
            if active is None:
                yield "event: over\ndata: {}\n\n"
                return
            state = active.state
            now = {
                "run": active.number,
                "text": step_text(state),
                "done": state.done,
                "total": state.total,
                "elapsed": seconds_text(state.elapsed),
                "left": "" if state.left is None else seconds_text(state.left),
            }
            text = json.dumps(now)
            if text != told:
                told = text
                yield f"event: progress\ndata: {text}\n\n"
            await asyncio.sleep(LOOK_EVERY)

    return StreamingResponse(stream(), media_type="text/event-stream")
