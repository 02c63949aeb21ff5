"""Show a release in a notebook: guarantees and losses, some rows before and after, two charts."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import numpy as np

from coterie.reporting.report import figure_text, percent_text
from coterie.reporting.templating import environment

if TYPE_CHECKING:
    from coterie.charts.charts import Chart
    from coterie.releases.release import Release

ROWS = 5
COLUMNS = 10


def release_html(release: Release) -> str:
    """Return the release as a piece of HTML that carries its own style and touches nothing around it."""
    # Several releases may stand in one notebook: ids must differ, and styles must not reach beyond their own.
    mark = f"coterie-{secrets.token_hex(4)}"
    room = environment("coterie.reporting")
    found, measures = release.verification, release.measures
    by_rows = release.by_rows
    facts = {
        "rows": f"{found.rows:,} published, {int(measures['suppressed']):,} suppressed",
        "groups": f"rows published one by one, each among {release.config.k:,}"
        if by_rows
        else f"{found.groups:,} of {found.k:,} to {found.largest:,} rows, {found.average:,.1f} on average",
        "loss": f"GCP {measures['gcp']:.4f} (0: nothing lost, 1: nothing left)",
        "risk": f"highest {figure_text(release.risk.after.prosecutor.highest)}, average "
        f"{figure_text(release.risk.after.prosecutor.average)}; before "
        f"{figure_text(release.risk.before.prosecutor.average)}",
        "cells changed": percent_text(measures["modification_rate"]),
        "method": f"{release.config.method}, k = {release.config.k}, seed = {release.config.seed}",
    }
    return room.get_template("notebook.html.jinja").render(
        mark=mark,
        style=scoped_style(mark),
        verdict=release.verdict,
        facts=facts,
        sample=_sample(release),
        charts=[chart.figure() for chart in _charts(release, mark)],
        notes=release.notes,
    )


def scoped_style(mark: str) -> str:
    """Return the chart style for one part of a page, following the notebook's light or dark mode."""
    from coterie.charts.svg import STYLE, STYLE_CLASSES, VARIABLES_DARK, VARIABLES_LIGHT

    # Notebooks have themes of their own; these go before what the system prefers.
    dark = ", ".join(
        f"{theme} .{mark}"
        for theme in (
            '[data-jp-theme-light="false"]',
            'body[data-vscode-theme-kind="vscode-dark"]',
            'html[theme="dark"]',
        )
    )
    light = ", ".join(
        f"{theme} .{mark}"
        for theme in (
            '[data-jp-theme-light="true"]',
            'body[data-vscode-theme-kind="vscode-light"]',
            'html[theme="light"]',
        )
    )
    own = STYLE.replace(":root", f".{mark}")
    inked = "--chart-ink:currentColor;--chart-paper:transparent;"
    return (
        own
        + STYLE_CLASSES.replace(".chart ", f".{mark} .chart ")
        + f"{light}{{{VARIABLES_LIGHT}}}{dark}{{{VARIABLES_DARK}}}.{mark}.{mark}{{{inked}}}"
    )


def _sample(release: Release) -> dict[str, tuple[list[str], list[list[str]]]]:
    """Return the first published rows before and after, without direct identifiers."""
    config, positions = release.config, release.published.kept[:ROWS]
    quasi = [name for name in release.published.table.column_names if _stands_for(name, config.quasi)]
    others = [name for name in config.sensitive if name in release.published.table.column_names]
    before = release.source.table.select([*config.quasi, *others][:COLUMNS]).take(np.asarray(positions))
    after = release.published.table.select([*quasi, *others][:COLUMNS]).slice(0, ROWS)
    return {
        name: (table.column_names, [[_cell(value) for value in row.values()] for row in table.to_pylist()])
        for name, table in (("before", before), ("after", after))
    }


def _stands_for(name: str, quasi: tuple[str, ...]) -> bool:
    return name in quasi or any(name in (f"{each}_min", f"{each}_max") for each in quasi)


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= 40 else text[:39] + "…"


def _charts(release: Release, mark: str) -> list[Chart]:
    from coterie.charts.charts import Axis, Series, bars
    from coterie.reporting.charts import SHARE, size_text
    from coterie.reporting.hide import Hider
    from coterie.reporting.risk import class_bins

    rows = release.original_rows
    hider = Hider(release.config.k, external=False, rows=rows, published=release.published_rows)
    bins = class_bins(release, hider)
    names = [size_text(each) for each in bins]
    series = [Series("before", names, [each.before_share or 0.0 for each in bins])]
    if not release.by_rows:
        series.append(Series("after", names, [each.after_share or 0.0 for each in bins]))
    counted = release.risk.before.counted
    parts = sorted(release.measures.attributes.values(), key=lambda each: -each.ncp)
    return [
        bars(
            "Class sizes",
            series,
            description=f"Share of rows in classes of so many {counted}.",
            x=Axis(f"{counted} in the class"),
            y=SHARE,
            name=f"{mark}-sizes",
            size=(5.4, 3.0),
        ),
        bars(
            "Loss by attribute",
            [Series("loss", [each.name for each in parts], [each.ncp for each in parts])],
            description="Mean normalized certainty penalty, 0 (nothing lost) to 1 (nothing left).",
            x=Axis("quasi-identifier"),
            y=Axis("loss (NCP)", digits=3, low=0),
            name=f"{mark}-loss",
            sideways=True,
            size=(5.4, max(1.1 + 0.3 * len(parts), 1.8)),
        ),
    ]
