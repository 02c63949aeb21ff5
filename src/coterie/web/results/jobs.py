"""Long jobs of the results page: loss over k, explaining a row, the map of all runs.

The result goes to `answer.json` in the job's folder.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from coterie.methods._method import Progress
from coterie.settings.config import Config
from coterie.web.data.input_state import check_hash
from coterie.web.project import read_json, write_json
from coterie.web.results.charts import curve_chart, keep_map
from coterie.web.run.runs import RESULT

if TYPE_CHECKING:
    from coterie.releases.release import Release

ANSWER = "answer.json"
NEAREST = 5


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
    # Written by our own worker into a folder that nobody else can enter.
    with (run / "release.pickle").open("rb") as file:
        release = cast("Release", pickle.load(file))
    tell("looking around the row", 0, 0)
    explained = release.explain(int(job["row"]), nearest=NEAREST, show_values=True)
    write_json(folder / ANSWER, explained.to_dict())
