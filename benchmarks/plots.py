"""Results of `scale` as SVG files under docs/plots. Lines differ in mark and in colour-blind safe colour."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.harness import ROOT

FOLDER = ROOT / "docs" / "plots"
# Okabe and Ito's palette, yellow left out: it is too light on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#56B4E9", "#E69F00")
MARKS = "osD^vPX*<>ph"
LINES = ("-", "--", "-.", ":")

AXES = {"rows": "rows", "attributes": "quasi-identifiers", "k": "k"}
KINDS = {
    "seconds": ("cpu_min", "CPU seconds of the grouping step"),
    "loss": ("gcp", "loss (GCP)"),
    "memory": ("peak_mb", "peak memory of the process (MB)"),
}


def draw(result: dict[str, Any]) -> list[Path]:
    """Draw every curve of a result of `scale`."""
    import matplotlib as mpl

    mpl.use("svg")
    # The same result gives the same file: no time, no random names.
    mpl.rcParams.update({"svg.hashsalt": "coterie", "svg.fonttype": "path", "font.size": 9})
    FOLDER.mkdir(parents=True, exist_ok=True)
    kinds = [(axis, kind) for axis in AXES for kind in KINDS if kind != "memory" or axis == "rows"]
    return [_plot(result["rows"], axis, kind) for axis, kind in kinds]


def _plot(rows: list[dict[str, Any]], axis: str, kind: str) -> Path:
    from matplotlib import pyplot

    cell, title = KINDS[kind]
    rows = [row for row in rows if row["axis"] == axis]
    figure, place = pyplot.subplots(figsize=(7.2, 4.2), layout="constrained")
    labels = list(dict.fromkeys(row["label"] for row in rows))
    for number, label in enumerate(labels):
        points = sorted((row["at"], row[cell]) for row in rows if row["label"] == label)
        ours = label.startswith("compact")
        place.plot(
            *zip(*points, strict=True),
            label=label,
            color=COLOURS[number % len(COLOURS)],
            marker=MARKS[number % len(MARKS)],
            linestyle=LINES[(number // len(COLOURS)) % len(LINES)],
            linewidth=2.4 if ours else 1.2,
            markersize=5,
        )
    if axis != "attributes":
        place.set_xscale("log")
        values = sorted({row["at"] for row in rows})
        place.set_xticks(values, [f"{value:,}" for value in values])
        place.minorticks_off()
    if kind == "seconds":
        place.set_yscale("log")
    else:
        place.set_ylim(bottom=0)
    place.set_xlabel(AXES[axis])
    place.set_ylabel(title)
    place.grid(visible=True, alpha=0.3)
    figure.legend(loc="outside right upper", frameon=False)
    path = FOLDER / f"{axis}-{kind}.svg"
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    return path
