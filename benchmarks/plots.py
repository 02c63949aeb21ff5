"""Results of `scale` and `efforts` as SVG under docs/plots. Lines differ in mark and colour-blind safe colour."""

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
    kinds = [(axis, kind) for axis in AXES for kind in KINDS if kind != "memory" or axis == "rows"]
    return [_plot(result["rows"], axis, kind) for axis, kind in kinds]


def draw_efforts(result: dict[str, Any]) -> list[Path]:
    """Draw loss over CPU time of a result of `efforts`: a curve for each table, through its efforts."""
    rows = [row for row in result["rows"] if row["kind"] == "effort"]
    first = {row["table"]: row["gcp"] for row in reversed(rows)}
    curves: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        if first[row["table"]]:  # nothing is lost of some tables
            curves.setdefault(row["table"], []).append((row["cpu_min"], row["gcp"] / first[row["table"]]))
    figure, place = _figure()
    _lines(place, curves)
    place.set_xscale("log")
    place.set_xlabel(KINDS["seconds"][1])
    place.set_ylabel("loss ÷ that of fast")
    return [_saved(figure, "efforts-loss")]


def _figure() -> tuple[Any, Any]:
    import matplotlib as mpl

    mpl.use("svg")
    # The same result gives the same file: no time, no random names.
    mpl.rcParams.update({"svg.hashsalt": "coterie", "svg.fonttype": "path", "font.size": 9})
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(7.2, 4.2), layout="constrained")


def _lines(place: Any, curves: dict[str, list[tuple[float, float]]]) -> None:
    for number, (label, points) in enumerate(curves.items()):
        place.plot(
            *zip(*points, strict=True),
            label=label,
            color=COLOURS[number % len(COLOURS)],
            marker=MARKS[number % len(MARKS)],
            linestyle=LINES[(number // len(COLOURS)) % len(LINES)],
            linewidth=2.4 if label.startswith("compact") else 1.2,
            markersize=5,
        )


def _saved(figure: Any, name: str) -> Path:
    from matplotlib import pyplot

    for place in figure.axes:
        place.grid(visible=True, alpha=0.3)
    figure.legend(loc="outside right upper", frameon=False)
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}.svg"
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    return path


def _plot(rows: list[dict[str, Any]], axis: str, kind: str) -> Path:
    cell, title = KINDS[kind]
    rows = [row for row in rows if row["axis"] == axis]
    figure, place = _figure()
    labels = dict.fromkeys(row["label"] for row in rows)
    _lines(place, {label: sorted((row["at"], row[cell]) for row in rows if row["label"] == label) for label in labels})
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
    return _saved(figure, f"{axis}-{kind}")
