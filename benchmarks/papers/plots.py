"""Figures as SVG files under docs/papers. A method has the same colour and mark in all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.harness import ROOT
from benchmarks.papers.curves import Curve, Figure, Panel

FOLDER = ROOT / "docs" / "papers"

# Okabe and Ito's palette; ours is black and thick, the bound is dotted.
STYLES: dict[str, tuple[str, str, str]] = {
    "compact": ("#000000", "o", "-"),
    "lower bound": ("#777777", "_", ":"),
    "kaca": ("#0072B2", "s", "-"),
    "kaca, ages published in ranges": ("#56B4E9", "P", "--"),
    "kaca, start = rows": ("#CC79A7", "X", "-."),
    "incognito": ("#D55E00", "^", "-"),
    "mondrian": ("#D55E00", "v", "-"),
    "MultiDim": ("#E69F00", "^", "-"),
    "MultiDim, our second try": ("#E69F00", "<", "--"),
    "bottom-up": ("#0072B2", "s", "-"),
    "top-down": ("#009E73", "D", "-"),
    "top-down, compare = seed": ("#56B4E9", "d", "--"),
    "top-down, compare = side": ("#CC79A7", "x", "-."),
    "top-down, compare = enlarge": ("#F0E442", "P", ":"),
    "gccg": ("#009E73", "D", "-"),
    "gccg, 2 parts": ("#56B4E9", "P", "--"),
    "gccg, 4 parts": ("#CC79A7", "X", "-."),
    "nh": ("#D55E00", "^", "-"),
    "nh, four tries": ("#E69F00", "v", "--"),
    "nh, compare = side": ("#CC79A7", "x", "-."),
    "nh, compare = enlarge": ("#F0E442", "P", ":"),
    "cb": ("#0072B2", "s", "-"),
    "cb, halved by order": ("#56B4E9", "d", "--"),
    "Adult": ("#0072B2", "s", "-"),
    "uniform": ("#D55E00", "^", "-"),
    "Gaussian, σ = 1": ("#009E73", "D", "-"),
}
UNWEIGHTED = ", no weights"
SIZE = (3.6, 2.9)
"""of a panel, in inches"""


def style_of(label: str) -> dict[str, Any]:
    """Colour, mark and line of a curve; without weights, the same as with them but dashed and hollow."""
    known = max((name for name in STYLES if label.startswith(name)), key=len, default=None)
    colour, mark, line = STYLES[known] if known else ("#CC79A7", "*", "-")
    ours = label.startswith("compact")
    style = {"color": colour, "marker": mark, "linestyle": line, "linewidth": 2.2 if ours else 1.3, "markersize": 4.5}
    if label.endswith(UNWEIGHTED):
        style |= {"linestyle": (0, (2, 2)), "markerfacecolor": "white"}
    return style


def draw(figure: Figure) -> Path:
    """Draw one figure; the file carries a hash of what is drawn."""
    import matplotlib as mpl

    mpl.use("svg")
    # The same figure gives the same file: no time, no random names.
    mpl.rcParams.update({"svg.hashsalt": "coterie", "svg.fonttype": "path", "font.size": 8.5})
    from matplotlib import pyplot

    count = len(figure.panels)
    across = min(count, 2 if count in (2, 4) else 3)
    down = -(-count // across)
    labels = list(dict.fromkeys(label for panel in figure.panels for label in panel.curves))
    beside = 2 if across == 1 else 3
    width = max(SIZE[0] * across, beside * (0.6 + 0.068 * max(map(len, labels))))
    height = SIZE[1] * down + 0.3 + 0.19 * -(-len(labels) // beside)
    drawn, places = pyplot.subplots(down, across, figsize=(width, height), layout="constrained", squeeze=False)
    for place, panel in zip(places.flat, figure.panels, strict=False):
        _panel(place, panel)
    for place in places.flat[count:]:
        place.set_axis_off()
    handles = {}
    for place in places.flat:
        for handle, label in zip(*place.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    drawn.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=beside, frameon=False)
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{figure.name}.svg"
    drawn.savefig(path, metadata={"Date": None, "Title": figure.title, "Description": f"data {figure.digest}"})
    pyplot.close(drawn)
    return path


def _panel(place: Any, panel: Panel) -> None:
    values = sorted({x for curve in panel.curves.values() for x in curve.x})
    for label, curve in panel.curves.items():
        style = style_of(label)
        place.plot(curve.x, curve.mean, label=label, **style)
        if any(curve.spread):
            _spread(place, curve, style["color"], log=panel.log_y)
    if panel.log_x:
        place.set_xscale("log")
    if panel.log_y:
        place.set_yscale("log")
    else:
        place.yaxis.set_major_formatter("{x:,.8g}")
        if panel.from_zero:
            place.set_ylim(bottom=0)
    place.set_xticks(values, [f"{value:,g}" if value < 1000 else f"{value / 1000:,g}k" for value in values])
    place.xaxis.set_minor_locator(_no_ticks())
    place.set_xlabel(panel.x)
    place.set_ylabel(panel.y)
    place.set_title(panel.title, fontsize=9)
    place.grid(visible=True, alpha=0.3)


def _spread(place: Any, curve: Curve, colour: str, *, log: bool) -> None:
    """A band of one standard deviation to each side."""
    low = [mean - spread for mean, spread in zip(curve.mean, curve.spread, strict=True)]
    if log:  # a band below nothing cannot be drawn
        low = [max(value, mean / 10) for value, mean in zip(low, curve.mean, strict=True)]
    high = [mean + spread for mean, spread in zip(curve.mean, curve.spread, strict=True)]
    place.fill_between(curve.x, low, high, color=colour, alpha=0.15, linewidth=0)


def _no_ticks() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()
