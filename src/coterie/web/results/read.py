"""Read runs from their folders for the results page."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from coterie.reporting.model import Report
from coterie.web.project import Project, modified, read_json
from coterie.web.results.charts import MAP, spots_of

KS = (2, 5, 10, 20, 50)
"""the k of the curve, besides the run's own"""


class Download(NamedTuple):
    """A file to download."""

    key: str
    file: str
    """its name in the run's folder; that of the release is in result.json"""
    saved_as: str
    title: str
    note: str
    secret: bool
    """whether it contains original values"""


DOWNLOADS = (
    Download("release", "", "release", "Release", "The table to publish.", False),
    Download("report-external", "report-external.html", "report-external.html", "Report for others",
             "Without data values or small counts.", False),
    Download("report", "report.html", "report-internal.html", "Report, internal",
             "For whoever signs off the release: it shows original values.", True),
    Download("report-json", "report.json", "report-internal.json", "Report as JSON",
             "The internal report as data.", True),
    Download("mapping", "mapping.csv", "mapping.csv", "Mapping",
             "The published values of each group, and their cost.", True),
    Download("configuration", "coterie.toml", "coterie.toml", "Configuration file",
             "Reproduces the release on the command line.", False),
)  # fmt: skip


def report_of(folder: Path) -> Report | None:
    """Return the internal report of a run."""
    return _report(folder / "report.json", modified(folder / "report.json"))


@lru_cache(maxsize=8)
def _report(path: Path, changed: int) -> Report | None:
    """Read a report, cached by modification time."""
    try:
        return Report.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def map_of(project: Project) -> dict[str, Any]:
    """Return the drawn map: `figure`, and `fresh` if it shows exactly the existing runs."""
    kept = read_json(project.folder / MAP)
    runs = [spot.run for spot in spots_of(project.folder)]
    return {"figure": str(kept.get("figure", "")), "fresh": kept.get("runs") == runs, "runs": len(runs)}


def curve_ks(report: Report) -> list[int]:
    """Return the k of a curve: the usual ones and the run's own, as far as the table has rows for two groups."""
    rows = report.input.rows or 0
    return sorted({k for k in (*KS, report.k) if k == report.k or 2 * k <= rows})


def download_path(folder: Path, download: Download) -> Path | None:
    """Return the path of a download, if the run has it."""
    name = download.file or str(read_json(folder / "result.json").get("release", ""))
    path = folder / name
    return path if name and Path(name).name == name and path.is_file() else None
