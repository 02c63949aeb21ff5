"""Show a release in a notebook: guarantees and losses, some rows before and after, two charts."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import numpy as np

from coterie.reporting.report import figure_text, percent_text
from coterie.reporting.templating import environment
from coterie.values.notation import columns_of

if TYPE_CHECKING:
    from coterie.charts.charts import Chart
    from coterie.releases.release import Release

ROWS = 5
COLUMNS = 10


def release_html(release: Release) -> str:
    """Return the release as a piece of HTML that carries its own style and touches nothing around it."""
    # A notebook may show several releases: ids must differ, and styles must not affect other output.
    mark = f"coterie-{secrets.token_hex(4)}"
    room = environment("coterie.reporting")
    found, measures = release.verification, release.measures
    facts = {
        "rows": f"{found.rows:,} published, {int(measures['suppressed']):,} suppressed",
        "groups": f"rows published one by one, each among {release.config.k:,}"
        if release.by_rows
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

    # A notebook's own theme takes precedence over the system's.
    light, dark = (
        f'[data-jp-theme-light="{light}"] .{mark}, body[data-vscode-theme-kind="vscode-{theme}"] .{mark}, '
        f'html[theme="{theme}"] .{mark}'
        for theme, light in (("light", "true"), ("dark", "false"))
    )
    own = STYLE.replace(":root", f".{mark}")
    inked = "--chart-ink:currentColor;--chart-paper:transparent;"
    classes = STYLE_CLASSES.replace(".chart ", f".{mark} .chart ")
    return f"{own}{classes}{light}{{{VARIABLES_LIGHT}}}{dark}{{{VARIABLES_DARK}}}.{mark}.{mark}{{{inked}}}"


def _sample(release: Release) -> dict[str, tuple[list[str], list[list[str]]]]:
    """Return the first published rows before and after, without direct identifiers."""
    config, positions = release.config, release.published.kept[:ROWS]
    names = release.published.table.column_names
    recoded = {column for name in config.quasi for column in columns_of(name, names)}
    quasi = [name for name in names if name in recoded]
    others = [name for name in config.sensitive if name in names]
    before = release.source.table.select([*config.quasi, *others][:COLUMNS]).take(np.asarray(positions))
    after = release.published.table.select([*quasi, *others][:COLUMNS]).slice(0, ROWS)
    return {
        name: (table.column_names, [[_cell(value) for value in row.values()] for row in table.to_pylist()])
        for name, table in (("before", before), ("after", after))
    }


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= 40 else text[:39] + "…"


def _charts(release: Release, mark: str) -> list[Chart]:
    from coterie.reporting.charts import SMALL, loss_bars, size_bars
    from coterie.reporting.hide import Hider
    from coterie.reporting.risk import class_bins

    rows, counted = release.original_rows, release.risk.before.counted
    hider = Hider(release.config.k, external=False, rows=rows, published=release.published_rows)
    parts = sorted(release.measures.attributes.values(), key=lambda each: -each.ncp)
    sizes = size_bars(
        class_bins(release, hider),
        counted=counted,
        after=not release.by_rows,
        description=f"Share of rows in classes of so many {counted}.",
        name=f"{mark}-sizes",
        size=SMALL,
    )
    loss = loss_bars(
        {each.name: each.ncp for each in parts},
        description="Mean normalized certainty penalty, 0 (nothing lost) to 1 (nothing left).",
        name=f"{mark}-loss",
        size=(SMALL[0], max(1.1 + 0.3 * len(parts), 1.8)),
    )
    return [sizes, loss]
