"""Read runs from their folders for the results page: reports, downloads, and rows before and after."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import ValidationError

from coterie.reporting.model import Report
from coterie.web.parquet_file import read_rows
from coterie.web.project import Project, modified, read_json
from coterie.web.results.charts import MAP, spots_of

KS = (2, 5, 10, 20, 50)
"""the k of the curve, besides the run's own"""
PER_PAGE = 25
"""rows shown before and after, side by side"""


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


class RowPair(NamedTuple):
    """One row of the original and its published version."""

    position: int
    """from 0"""
    group: int
    """−1: suppressed"""
    gone: bool
    """whether the row was removed from the release"""
    quasi: list[tuple[str | None, str | None]]
    """each cell before and after; None is missing, or not published"""
    others: list[str | None]


class Page(NamedTuple):
    """Some rows."""

    first: int
    total: int
    quasi: list[str]
    others: list[str]
    left_out: list[str]
    """columns that are not in the release"""
    rows: list[RowPair]


def page_of(project: Project, run: Path, quasi: list[str], *, first: int = 0, count: int = PER_PAGE) -> Page:
    """Return rows of the original from a position on, with the run's published rows."""
    kept = np.load(run / "kept.npy", mmap_mode="r")
    groups = np.load(run / "groups.npy", mmap_mode="r")
    first = min(max(first, 0), max(len(groups) - 1, 0))
    end = min(first + count, len(groups))
    before = read_rows(project.table_path, first, end)
    low, high = (int(np.searchsorted(kept, at)) for at in (first, end))
    after = read_rows(run / "published.parquet", low, high)
    place = {int(position): at for at, position in enumerate(kept[low:high])}
    others = [name for name in after if name in before and name not in quasi]
    shown = [name for name in quasi if name in before]
    new = {name: _published(after, name) for name in shown}
    rows = []
    for at, position in enumerate(range(first, end)):
        to = place.get(position)
        cells = [(before[name][at], None if to is None else new[name][to]) for name in shown]
        plain = [before[name][at] for name in others]
        rows.append(RowPair(position, int(groups[position]), to is None, cells, plain))
    left_out = [name for name in before if name not in quasi and name not in others]
    return Page(first, len(groups), shown, others, left_out, rows)


def _published(columns: dict[str, list[str | None]], name: str) -> list[str | None]:
    """Return a published quasi-identifier as one text: bounds are two columns."""
    if name in columns:
        return columns[name]
    low, high = columns.get(f"{name}_min"), columns.get(f"{name}_max")
    if low is None or high is None:
        return [None] * max((len(each) for each in columns.values()), default=0)
    return [one if one == other else f"{one or '*'} to {other or '*'}" for one, other in zip(low, high, strict=True)]
