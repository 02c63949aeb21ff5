"""Long jobs of the results page: loss over k, explaining a row, the map of all runs, and what a run keeps for it.

The result of a question goes to `answer.json` in the job's folder. The server never has to draw or load a table.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from coterie.methods._method import Progress
from coterie.reporting.model import Report
from coterie.settings.config import Config
from coterie.web.data.input_state import check_hash
from coterie.web.project import read_json, write_json
from coterie.web.results.charts import curve_chart, keep_map, run_charts
from coterie.web.run.runs import RESULT

if TYPE_CHECKING:
    from coterie.releases.release import Release

ANSWER = "answer.json"
NEAREST = 5
EXAMPLES = 8
"""the number of coarse rows that the page lists"""


def map_job(job: dict[str, Any], folder: Path, tell: Progress) -> None:
    """Redraw the map of all runs."""
    tell("drawing", 0, 0)
    keep_map(Path(job["project"]))


def curve_job(job: dict[str, Any], folder: Path, tell: Progress) -> None:
    """Run the same method at several k, reusing the results of the project's other runs."""
    from coterie.api.compare import compare

    config = Config.from_toml(folder.parent / "coterie.toml")
    check_hash(Path(job["source"]), str(read_json(folder.parent / RESULT).get("input_sha256", "")))
    found = compare(
        job["source"],
        config=config,
        methods=[config.method],
        k=[int(k) for k in job["ks"]],
        queries=0,
        results=Path(job["project"]) / "curve.jsonl",
        progress=tell,
    )
    refused = [f"k = {row.k:,}: {row.reason}" for row in found.rows if row.status == "refused"]
    done = any(row.gcp is not None for row in found.rows)
    figure = curve_chart(found, config.k).figure(narrow=True) if done else ""
    write_json(folder / ANSWER, {"ks": [row.k for row in found.rows], "figure": figure, "refused": refused})


def explain_job(job: dict[str, Any], folder: Path, tell: Progress) -> None:
    """Explain why one row was generalized as far as it was, with its values: only the data owner sees the page."""
    tell("reading the release", 0, 0)
    run = folder.parent.parent
    release = load_release(run)
    tell("looking around the row", 0, 0)
    explained = release.explain(int(job["row"]), nearest=NEAREST, show_values=True)
    write_json(folder / ANSWER, explained.to_dict())


def load_release(run: Path) -> Release:
    """Load the release that a run's worker has pickled, into a folder that nobody else can enter."""
    with (run / "release.pickle").open("rb") as file:
        return cast("Release", pickle.load(file))


def keep(release: Release, folder: Path) -> None:
    """Write `charts.json` and `loss.json` next to the `report.json` of a run, and the map of the project's runs."""
    report = Report.model_validate_json((folder / "report.json").read_bytes())
    write_json(folder / "charts.json", run_charts(report))
    explained = release.explain().to_dict()
    write_json(folder / "loss.json", explained | {"rows": coarse_rows(release)})
    keep_map(folder.parent.parent, also=folder)


def coarse_rows(release: Release) -> list[int]:
    """Return positions of rows with high loss: suppressed ones, then the first of each of the worst groups."""
    labels, shown = release.grouping.labels, release.grouping.published_boxes()
    found: list[int] = []
    hidden = np.flatnonzero(labels < 0)
    found += release.rows[hidden[:2]].tolist()
    if len(shown.lo):
        from coterie.explaining.loss import weighted_costs

        costs = weighted_costs(release).sum(axis=1)
        boxes, first = np.unique(shown.labels, return_index=True)
        first = first[boxes >= 0]
        paid = costs[shown.labels[first]]
        found += release.rows[first[np.argsort(-paid, kind="stable")]].tolist()[:EXAMPLES]
    return found[:EXAMPLES]
