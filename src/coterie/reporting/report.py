"""The report on a release: one self-contained HTML file, or the same as JSON.

    release → contents.gather → Report (plain data, hidden where necessary) → HTML with charts, or JSON

The page's Content-Security-Policy allows only its own style sheet (by hash): no script, no request.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from coterie import wording
from coterie.errors import ConfigError, Problem
from coterie.reporting.model import Report, Variant, json_schema

if TYPE_CHECKING:
    from coterie.releases.release import Release

ENDINGS = (".html", ".htm", ".json")
HIDDEN = "hidden"
SCHEMA = Path(__file__).parent / "report.schema.json"
"""the JSON schema of the JSON form"""


def check_request(path: str | os.PathLike[str], *, variant: str) -> None:
    """Raise a ConfigError for a report that cannot be written."""
    problems = []
    if Path(path).suffix.lower() not in ENDINGS:
        problems.append(Problem("report", f"cannot write {os.fspath(path)}: the name must end in .html or .json"))
    if variant not in get_args(Variant):
        problems.append(Problem("report variant", "must be 'internal' or 'external'"))
    if problems:
        raise ConfigError(problems)


def write_report(
    release: Release, path: str | os.PathLike[str], *, variant: str = "internal", force: bool = False
) -> None:
    """Write a report; the extension of the path determines the format."""
    check_request(path, variant=variant)
    from coterie.files.destinations import check_apart
    from coterie.files.output import check_target, whole_file

    check_apart(release.place.origin, release.config, reports=[path])
    check_target(path, force=force)
    report = report_of(release, variant=variant)
    text = report_json(report) if Path(path).suffix.lower() == ".json" else report_html(report)
    with whole_file(path, force=force) as sink:
        sink.write(text.encode())


def report_of(release: Release, *, variant: str = "internal") -> Report:
    """Return the report on a release as data."""
    from coterie.reporting.contents import gather

    return gather(release, cast(Variant, variant))


def report_json(report: Report) -> str:
    """Return the report as JSON, following `report.schema.json`."""
    return report.model_dump_json(indent=2) + "\n"


def schema_text() -> str:
    """Return the content of `report.schema.json`."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def report_html(report: Report) -> str:
    """Return the report as one HTML page."""
    from coterie.charts.charts import page_style
    from coterie.reporting import charts
    from coterie.reporting.templating import environment

    room = environment("coterie.reporting")
    room.filters |= {"count": count_text, "figure": figure_text, "percent": percent_text}
    style = page_style() + room.get_template("report.css").render()
    return room.get_template("report.html.jinja").render(
        report=report,
        style=style,
        style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        size_text=charts.size_text,
        class_sizes=charts.class_size_chart(report),
        risk_curve=charts.risk_chart(report),
        loss=charts.loss_chart(report),
        levels=charts.level_chart(report),
        confidence=charts.confidence_chart(report),
        distributions=charts.distribution_charts(report),
    )


def count_text(value: Any) -> str:  # noqa: ANN401 - a template hands over what it has
    """Format a count for people."""
    return HIDDEN if value is None else f"{value:,}"


def figure_text(value: float | None, digits: int = 4) -> str:
    """Format a figure for people."""
    if value is None:
        return HIDDEN
    return f"{int(value):,}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:,.{digits}g}"


def percent_text(value: float | None) -> str:
    """Format a share for people."""
    return HIDDEN if value is None else wording.percent_text(value)
