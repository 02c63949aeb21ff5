"""Files that a run keeps for its results page, besides the downloads: charts, and where the loss comes from.

The worker writes them at the end of a run, so that the server never has to draw or load a table.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from coterie.reporting.model import Report
from coterie.web.project import write_json
from coterie.web.results.charts import keep_map, run_charts

if TYPE_CHECKING:
    from coterie.releases.release import Release

EXAMPLES = 8
"""the number of coarse rows that the page lists"""


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
        from coterie.table.costs import Measure, interval_costs

        measure = Measure("ncp", release.table.leaf_counts)
        costs = sum(
            domain.weight * interval_costs(domain, shown.lo[:, at], shown.hi[:, at], measure)
            for at, domain in enumerate(release.table.domains)
        )
        boxes, first = np.unique(shown.labels, return_index=True)
        first = first[boxes >= 0]
        paid = np.asarray(costs)[shown.labels[first]]
        found += release.rows[first[np.argsort(-paid, kind="stable")]].tolist()[:EXAMPLES]
    return found[:EXAMPLES]
