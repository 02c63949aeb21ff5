"""The charts of the results: those of the report, loss over k, and risk against loss over all runs of a project."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from coterie.charts.charts import Axis, Chart, Series, lines, points
from coterie.web.jobs import state_of
from coterie.web.project import modified, read_json, write_json

if TYPE_CHECKING:
    from coterie.comparison.comparison import Comparison
    from coterie.reporting.model import Report

MAP = "map.json"
SIZE = (7.2, 4.2)


class Spot(NamedTuple):
    """A run on the risk–utility map."""

    run: str
    method: str
    k: int
    loss: float
    risk: float
    """average risk of a record, after"""
    highest: float


def run_charts(report: Report) -> dict[str, Any]:
    """Return the charts of one run as HTML figures, by name."""
    from coterie.reporting import charts as report_charts

    drawn = {
        "class_sizes": report_charts.class_size_chart(report),
        "risk": report_charts.risk_chart(report),
        "loss": report_charts.loss_chart(report),
        "levels": report_charts.level_chart(report),
    }
    return {name: chart.figure(narrow=True) for name, chart in drawn.items() if chart is not None}


def spots_of(project: Path, *, also: Path | None = None) -> list[Spot]:
    """Return every finished run of a project's folder, the oldest first, and `also` one that is about to finish."""
    found = []
    for folder in sorted((project / "runs").glob("[0-9]*")):
        finished = folder == also or state_of(folder).state == "finished"
        if finished and (spot := _spot(folder, modified(folder / "report.json"))):
            found.append(spot)
    return found


@lru_cache(maxsize=256)
def _spot(folder: Path, changed: int) -> Spot | None:
    """Read the figures of a run's report, cached by modification time: reports are long, and pages need all of them."""
    report = read_json(folder / "report.json")
    try:
        after = report["risk"]["after"]["prosecutor"]
        method = str(report["reproducibility"]["method"])
        loss = float(report["utility"]["gcp"])
        return Spot(folder.name, method, int(report["k"]), loss, float(after["average"]), float(after["highest"]))
    except (KeyError, TypeError, ValueError):
        return None


def keep_map(project: Path, *, also: Path | None = None) -> None:
    """Draw the map of all finished runs to the project's folder."""
    spots = spots_of(project, also=also)
    write_json(
        project / MAP,
        {"runs": [spot.run for spot in spots], "figure": map_chart(spots).figure(narrow=True) if spots else ""},
    )


def map_chart(spots: Sequence[Spot]) -> Chart:
    """Chart risk against loss: one point per run, one colour per method."""
    series = []
    for method in dict.fromkeys(spot.method for spot in spots):
        own = [spot for spot in spots if spot.method == method]
        marks = [f"run {int(spot.run)}, k={spot.k}" for spot in own]
        series.append(Series(method, [spot.loss for spot in own], [spot.risk for spot in own], marks))
    risks = [spot.risk for spot in spots if spot.risk > 0]
    return points(
        "Risk and loss of all runs",
        series,
        description="Each point is a run of this project. Further left, less information is lost; further down, the "
        "risk is lower.",
        x=Axis("loss (GCP)", low=0.0),
        y=Axis("average risk of a record", log=bool(risks) and max(risks) > 4 * min(risks)),
        name="runs-map",
        size=SIZE,
    )


def curve_chart(comparison: Comparison, k: int) -> Chart:
    """Chart loss over k, marking the run's k."""
    rows = sorted((row for row in comparison.rows if row.gcp is not None), key=lambda row: row.k)
    ks = [row.k for row in rows]
    losses = [row.gcp or 0.0 for row in rows]
    bounds = [float("nan") if row.bound is None else row.bound for row in rows]
    series = [Series("loss", ks, losses)]
    if any(bound == bound for bound in bounds):
        series.append(Series("lower bound", ks, bounds))
    here = next((loss for at, loss in zip(ks, losses, strict=True) if at == k), None)
    told = f" At k = {k:,} it is {here:.3g}." if here is not None else ""
    return lines(
        "Loss by k",
        series,
        description=f"Information loss of the same method as k increases.{told}",
        x=Axis("k", log=True, ticks=ks),
        y=Axis("loss (GCP)", low=0.0, digits=3),
        name="loss-over-k",
        size=SIZE,
    )
