"""The Results step: guarantees, losses, every row before and after, and downloads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from coterie.charts.charts import page_style
from coterie.web.configuration.view import command_line, python_text
from coterie.web.data.input_state import looked_at
from coterie.web.jobs import JobState, jobs_of, state_of
from coterie.web.pages import Fault, go, is_htmx, number_in, project_of, render
from coterie.web.project import Project, read_json
from coterie.web.results.charts import spots_of
from coterie.web.results.jobs import ANSWER
from coterie.web.results.read import DOWNLOADS, curve_ks, download_path, map_of, report_of
from coterie.web.results.rows import PER_PAGE, Page, page_of
from coterie.web.run.runs import RESULT, runs_of, settings_of_run
from coterie.web.table_summary import column_names

LATE = "late"
"""the subfolder of a run for what is computed after it"""
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""for reports, whose own policy allows their one style sheet by its hash"""


def charts_css(_: Request) -> Response:
    """Serve the colours of charts."""
    return Response(page_style(), media_type="text/css", headers={"Cache-Control": "max-age=3600"})


def latest(request: Request) -> Response:
    """Show the results of the latest finished run, or the list of runs if none has finished."""
    project = project_of(request, ready=True)
    for folder in project.runs:
        if read_json(folder / "state.json").get("state") == "finished":
            return go(f"{project.url}/results/{folder.name}", request)
    return render(request, "results_none.html", project=project, step="results", **_runs(request, project))


def one(request: Request) -> Response:
    """Show the results of a run."""
    project, folder = _run(request)
    return _show(request, project, folder)


def _show(request: Request, project: Project, folder: Path, *, faults: list[Fault] | None = None) -> Response:
    result = read_json(folder / RESULT)
    if not result or state_of(folder).state != "finished":
        return render(request, "results_none.html", project=project, step="results", **_runs(request, project))
    context: dict[str, Any] = {
        "run": folder.name,
        "base": _base(project, folder),
        **_runs(request, project),
        "page": _rows(request, project, folder),
        "per_page": PER_PAGE,
        "downloads": [each for each in DOWNLOADS if download_path(folder, each) is not None],
        "result": result,
        "loss": read_json(folder / "loss.json"),
        "late": jobs_of(request).state(folder / LATE),
        **_texts(project, folder),
    }
    report, template = report_of(folder), "results_early.html"
    # The worker writes the loss last.
    if report is not None and context["loss"] and not context["late"].active:
        template = "results.html"
        context |= {
            "report": report,
            "charts": read_json(folder / "charts.json"),
            "map": map_of(project),
            "map_job": jobs_of(request).state(project.folder / "map"),
            "curve": _curve(request, folder),
            "ks": curve_ks(report),
        }
    status = 422 if faults else 200
    return render(request, template, project=project, step="results", status=status, faults=faults or [], **context)


def _runs(request: Request, project: Project) -> dict[str, Any]:
    """Return all runs, the latest first, and the highest risk of those that are finished."""
    highest = {spot.run: spot.highest for spot in spots_of(project.folder)}
    return {"runs": runs_of(jobs_of(request), project), "highest": highest}


def _rows(request: Request, project: Project, folder: Path) -> Page | None:
    """Return some rows before and after; None if a different file was inspected since the run."""
    result = read_json(folder / RESULT)
    made_from = result.get("input_sha256")
    if made_from and made_from != looked_at(project):
        return None
    wanted = number_in(request, "from", 1) - 1
    return page_of(project, folder, [str(name) for name in result.get("quasi", [])], first=wanted)


def late(request: Request) -> Response:
    """Start what takes longer than the release: risk, bound, reports, charts."""
    project, folder = _run(request)
    if state_of(folder).state == "finished" and not jobs_of(request).state(folder / LATE).active:
        jobs_of(request).start("late", folder / LATE, project)
    return late_part(request) if is_htmx(request) else go(_base(project, folder))


def late_part(request: Request) -> Response:
    """Show the progress of `late`, and the whole page when it is done."""
    project, folder = _run(request)
    state = jobs_of(request).state(folder / LATE)
    if state.state == "finished" or not is_htmx(request):
        return go(_base(project, folder), request)
    return render(request, "_late.html", project=project, base=_base(project, folder), late=state)


def _texts(project: Project, folder: Path) -> dict[str, str]:
    """Return the command line and the Python code that make the same release, with the downloaded configuration."""
    release = str(read_json(folder / RESULT).get("release", "release.csv"))
    taken = replace(project, config_file=None)
    return {
        "command": command_line(taken, release=release),
        "python": python_text(taken, settings_of_run(folder), release=release),
    }


def rows(request: Request) -> Response:
    """Show rows before and after: a part of the page, or the page itself."""
    project, folder = _run(request)
    if state_of(folder).state != "finished" or not is_htmx(request):
        return _show(request, project, folder)
    page: dict[str, Any] = {"page": _rows(request, project, folder), "per_page": PER_PAGE}
    return render(request, "_before_after.html", project=project, base=_base(project, folder), **page)


def row(request: Request) -> Response:
    """Show why a row was generalized as far as it was: the question, the progress, or the answer."""
    project, folder = _run(request)
    position, total = _position(request, folder)
    if position is None:
        text = f"Give the number of a row, from 1 to {total:,}."
        return _show(request, project, folder, faults=[Fault("row", text)])
    place = folder / "explain" / str(position)
    context: dict[str, Any] = {
        "run": folder.name,
        "base": _base(project, folder),
        "position": position,
        "job": jobs_of(request).state(place),
        "why": read_json(place / ANSWER),
        "names": column_names(project) or [],
    }
    template = "_why.html" if is_htmx(request) else "results_row.html"
    return render(request, template, project=project, step="results", **context)


def explain(request: Request) -> Response:
    """Start explaining a row."""
    project, folder = _run(request)
    position, _ = _position(request, folder)
    if position is None:
        raise HTTPException(404, "There is no such row in this run.")
    place = folder / "explain" / str(position)
    if not read_json(place / ANSWER) and not jobs_of(request).state(place).active:
        jobs_of(request).start("explain", place, project, row=position)
    return go(f"{_base(project, folder)}/row?row={position + 1}", request)


def curve(request: Request) -> Response:
    """Start computing the loss over k."""
    project, folder = _run(request)
    report = report_of(folder)
    if report is not None and not jobs_of(request).state(folder / "curve").active:
        jobs_of(request).start("curve", folder / "curve", project, ks=curve_ks(report))
    return go(f"{_base(project, folder)}#over-k", request)


def curve_part(request: Request) -> Response:
    """Show the progress of the loss over k."""
    project, folder = _run(request)
    if not is_htmx(request):
        return go(f"{_base(project, folder)}#over-k")
    report = report_of(folder)
    parts: dict[str, Any] = {"curve": _curve(request, folder), "ks": curve_ks(report) if report is not None else []}
    return render(request, "_curve.html", project=project, base=_base(project, folder), **parts)


def stop_curve(request: Request) -> Response:
    """Stop computing the loss over k, keeping the finished k."""
    project, folder = _run(request)
    jobs_of(request).cancel(folder / "curve")
    return go(f"{_base(project, folder)}#over-k", request)


def draw_map(request: Request) -> Response:
    """Redraw the map of all runs after one was deleted."""
    project, folder = _run(request)
    jobs_of(request).start("map", project.folder / "map", project)
    return go(f"{_base(project, folder)}#map", request)


def download(request: Request) -> Response:
    """Download a file."""
    _, folder = _run(request)
    for each in DOWNLOADS:
        path = download_path(folder, each) if each.key == request.path_params["what"] else None
        if path is not None:
            name = each.saved_as if each.file else f"{each.saved_as}{''.join(path.suffixes)}"
            return FileResponse(path, filename=name, headers={"Cache-Control": "no-store"})
    raise HTTPException(404, "This run has no such file.")


def view_report(request: Request) -> Response:
    """Show a report in the browser."""
    _, folder = _run(request)
    path = folder / ("report-external.html" if request.path_params["variant"] == "external" else "report.html")
    if not path.is_file():
        raise HTTPException(404, "This run has no report.")
    headers = {"Content-Security-Policy": REPORT_POLICY, "Cache-Control": "no-store"}
    return FileResponse(path, media_type="text/html; charset=utf-8", headers=headers)


def _run(request: Request) -> tuple[Project, Path]:
    project = project_of(request, ready=True)
    folder = project.run_folder(request.path_params["run"])
    if folder is None:
        raise HTTPException(404, "There is no such run. It may have been deleted.")
    return project, folder


def _base(project: Project, folder: Path) -> str:
    """Return the address of a run's results."""
    return f"{project.url}/results/{folder.name}"


def _curve(request: Request, folder: Path) -> dict[str, Any]:
    state: JobState = jobs_of(request).state(folder / "curve")
    return {"job": state, **read_json(folder / "curve" / ANSWER)}


def _position(request: Request, folder: Path) -> tuple[int | None, int]:
    """Return the row in the address, from 0, if the run has it; and the number of rows."""
    total = int(read_json(folder / RESULT).get("rows", 0))
    number = number_in(request, "row")
    return (number - 1 if 1 <= number <= total else None), total
