"""The Results step: guarantees, losses, every row before and after, and downloads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

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
from coterie.web.results.read import DOWNLOADS, PER_PAGE, Page, curve_ks, download_path, map_of, page_of, report_of
from coterie.web.run.runs import RESULT, runs_of, settings_of_run
from coterie.web.table_summary import column_names

LATE = "late"
"""the subfolder of a run for what is computed after it"""
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
"""for reports, whose own policy allows their one style sheet by its hash"""


class RunPage(NamedTuple):
    """A request for a page about a run."""

    request: Request
    project: Project
    folder: Path

    @classmethod
    def of(cls, request: Request) -> RunPage:
        """Return the run in the address."""
        project = project_of(request, ready=True)
        folder = project.run_folder(request.path_params["run"])
        if folder is None:
            raise HTTPException(404, "There is no such run. It may have been deleted.")
        return cls(request, project, folder)

    @property
    def base(self) -> str:
        """The address of the run's results."""
        return f"{self.project.url}/results/{self.folder.name}"

    @property
    def finished(self) -> bool:
        """Whether the run is finished."""
        return state_of(self.folder).state == "finished"

    def state(self, job: str) -> JobState:
        """Return the state of a job in a subfolder."""
        return jobs_of(self.request).state(self.folder / job)

    def start(self, kind: str, job: str = "", **more: object) -> None:
        """Start a job in a subfolder, by default that of its kind, unless it is running."""
        if not self.state(job or kind).active:
            jobs_of(self.request).start(kind, self.folder / (job or kind), self.project, **more)

    def render(self, template: str, **context: Any) -> Response:  # noqa: ANN401 - as in `render`
        """Render a page about the run, or a part of one."""
        context |= {"run": self.folder.name, "base": self.base}
        return render(self.request, template, project=self.project, step="results", **context)

    def go(self, part: str = "") -> Response:
        """Redirect to the results, or to a part of the page."""
        return go(f"{self.base}{part}", self.request)


def charts_css(_: Request) -> Response:
    """Serve the colours of charts."""
    return Response(page_style(), media_type="text/css", headers={"Cache-Control": "max-age=3600"})


def latest(request: Request) -> Response:
    """Show the results of the latest finished run, or the list of runs if none has finished."""
    project = project_of(request, ready=True)
    for folder in project.runs:
        if state_of(folder).state == "finished":
            return go(f"{project.url}/results/{folder.name}", request)
    return render(request, "results_none.html", project=project, step="results", **_runs(request, project))


def one(request: Request, *, faults: Sequence[Fault] = ()) -> Response:
    """Show the results of a run."""
    run = RunPage.of(request)
    project, folder, result = run.project, run.folder, read_json(run.folder / RESULT)
    if not result or not run.finished:
        return run.render("results_none.html", **_runs(request, project))
    # The command line and the Python code make the same release with the downloaded configuration.
    release, taken = str(result.get("release", "release.csv")), replace(project, config_file=None)
    context: dict[str, Any] = {
        **_runs(request, project),
        "page": _rows(run),
        "per_page": PER_PAGE,
        "downloads": [each for each in DOWNLOADS if download_path(folder, each) is not None],
        "result": result,
        "loss": read_json(folder / "loss.json"),
        "late": run.state(LATE),
        "command": command_line(taken, release=release),
        "python": python_text(taken, settings_of_run(folder), release=release),
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
            "curve": _curve(run),
            "ks": curve_ks(report),
        }
    return run.render(template, status=422 if faults else 200, faults=faults, **context)


def _runs(request: Request, project: Project) -> dict[str, Any]:
    """Return all runs, the latest first, and the highest risk of those that are finished."""
    highest = {spot.run: spot.highest for spot in spots_of(project.folder)}
    return {"runs": runs_of(jobs_of(request), project), "highest": highest}


def _rows(run: RunPage) -> Page | None:
    """Return some rows before and after; None if a different file was inspected since the run."""
    result = read_json(run.folder / RESULT)
    made_from = result.get("input_sha256")
    if made_from and made_from != looked_at(run.project):
        return None
    wanted = number_in(run.request, "from", 1) - 1
    return page_of(run.project, run.folder, [str(name) for name in result.get("quasi", [])], first=wanted)


def late(request: Request) -> Response:
    """Start what takes longer than the release: risk, bound, reports, charts."""
    run = RunPage.of(request)
    if run.finished:
        run.start(LATE)
    return late_part(request)


def late_part(request: Request) -> Response:
    """Show the progress of `late`, and the whole page when it is done."""
    run = RunPage.of(request)
    state = run.state(LATE)
    if state.state == "finished" or not is_htmx(request):
        return run.go()
    return run.render("_late.html", late=state)


def rows(request: Request) -> Response:
    """Show rows before and after: a part of the page, or the page itself."""
    run = RunPage.of(request)
    if not run.finished or not is_htmx(request):
        return one(request)
    return run.render("_before_after.html", page=_rows(run), per_page=PER_PAGE)


def row(request: Request) -> Response:
    """Show why a row was generalized as far as it was: the question, the progress, or the answer."""
    run = RunPage.of(request)
    position, total = _position(run)
    if position is None:
        return one(request, faults=[Fault("row", f"Give the number of a row, from 1 to {total:,}.")])
    job = f"explain/{position}"
    return run.render(
        "_why.html" if is_htmx(request) else "results_row.html",
        position=position,
        job=run.state(job),
        why=read_json(run.folder / job / ANSWER),
        names=column_names(run.project) or [],
    )


def explain(request: Request) -> Response:
    """Start explaining a row."""
    run = RunPage.of(request)
    position, _ = _position(run)
    if position is None:
        raise HTTPException(404, "There is no such row in this run.")
    job = f"explain/{position}"
    if not read_json(run.folder / job / ANSWER):
        run.start("explain", job, row=position)
    return run.go(f"/row?row={position + 1}")


def curve(request: Request) -> Response:
    """Start computing the loss over k."""
    run = RunPage.of(request)
    if report := report_of(run.folder):
        run.start("curve", ks=curve_ks(report))
    return run.go("#over-k")


def curve_part(request: Request) -> Response:
    """Show the progress of the loss over k."""
    run = RunPage.of(request)
    if not is_htmx(request):
        return run.go("#over-k")
    report = report_of(run.folder)
    return run.render("_curve.html", curve=_curve(run), ks=curve_ks(report) if report is not None else [])


def stop_curve(request: Request) -> Response:
    """Stop computing the loss over k, keeping the finished k."""
    run = RunPage.of(request)
    jobs_of(request).cancel(run.folder / "curve")
    return run.go("#over-k")


def draw_map(request: Request) -> Response:
    """Redraw the map of all runs after one was deleted."""
    run = RunPage.of(request)
    jobs_of(request).start("map", run.project.folder / "map", run.project)
    return run.go("#map")


def download(request: Request) -> Response:
    """Download a file."""
    folder = RunPage.of(request).folder
    for each in DOWNLOADS:
        path = download_path(folder, each) if each.key == request.path_params["what"] else None
        if path is not None:
            name = each.saved_as if each.file else f"{each.saved_as}{''.join(path.suffixes)}"
            return FileResponse(path, filename=name, headers={"Cache-Control": "no-store"})
    raise HTTPException(404, "This run has no such file.")


def view_report(request: Request) -> Response:
    """Show a report in the browser."""
    name = "report-external.html" if request.path_params["variant"] == "external" else "report.html"
    path = RunPage.of(request).folder / name
    if not path.is_file():
        raise HTTPException(404, "This run has no report.")
    headers = {"Content-Security-Policy": REPORT_POLICY, "Cache-Control": "no-store"}
    return FileResponse(path, media_type="text/html; charset=utf-8", headers=headers)


def _curve(run: RunPage) -> dict[str, Any]:
    return {"job": run.state("curve"), **read_json(run.folder / "curve" / ANSWER)}


def _position(run: RunPage) -> tuple[int | None, int]:
    """Return the row in the address, from 0, if the run has it; and the number of rows."""
    total = int(read_json(run.folder / RESULT).get("rows", 0))
    number = number_in(run.request, "row")
    return (number - 1 if 1 <= number <= total else None), total
