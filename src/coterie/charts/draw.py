"""Draw charts as Matplotlib figures in the placeholder colours of `svg`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from coterie.charts.svg import FAINT, INK, PAPER, SERIES
from coterie.wording import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from coterie.charts.charts import Axis, Rule, Series

WIDTH, HEIGHT = 7.2, 3.4
# Series differ by more than colour, for greyscale prints and colour-blind readers.
MARKERS = ("o", "s", "^", "D", "v", "P")
DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (2, 2)), (0, (6, 2, 1, 2)), (0, (9, 3)), (0, (1, 2)))
FILLS = (0.35, 1.0, 0.65, 0.2, 0.85, 0.5)
SETTINGS = {
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "text.parse_math": False,  # a column may be called "$"
    "axes.unicode_minus": True,
}


def figure(
    kind: Literal["bars", "lines", "points"],
    series: Sequence[Series],
    x: Axis,
    y: Axis,
    *,
    rules: Sequence[Rule] = (),
    size: tuple[float, float] | None = None,
    width: float | None = None,
    **how: Any,  # noqa: ANN401 - Matplotlib's own settings
) -> Figure:
    """Return the figure of one chart; `width` overrides that of `size`."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(SETTINGS):
        own, height = size or (WIDTH, HEIGHT)
        made = Figure(figsize=(width or own, height), layout="constrained")
        axes = made.subplots()
        axes.set_axisbelow(True)
        if kind == "bars":
            _bars(axes, series, x, y, wide=made.get_figwidth(), **how)
        elif kind == "lines":
            _lines(axes, series, x, y, **how)
        else:
            _points(axes, series, x, y, **how)
        for rule in rules:
            _rule(axes, rule)
        if len(series) > 1:
            made.legend(
                loc="outside upper right",
                ncols=min(len(series), max(int(made.get_figwidth() / 1.8), 1)),
                handlelength=2.6,
            )
        made.canvas.draw_idle()
    return made


def _bars(axes: Axes, series: Sequence[Series], x: Axis, y: Axis, *, wide: float, sideways: bool = False) -> None:
    places = np.arange(len(series[0].x))
    width = 0.8 / max(len(series), 1)
    draw = axes.barh if sideways else axes.bar
    for at, each in enumerate(series):
        offset = (at - (len(series) - 1) / 2) * width
        place, fill = places + offset, FILLS[at % len(FILLS)] if len(series) > 1 else 1.0
        colour = SERIES[at % len(SERIES)] if len(series) > 1 else SERIES[1]
        values = np.nan_to_num(np.asarray(each.y, dtype=np.float64))
        shape: dict[str, Any] = {"height": width * 0.92} if sideways else {"width": width * 0.92}
        draw(place, values, facecolor=(colour, fill), edgecolor=colour, linewidth=1, label=visible(each.name), **shape)
    texts = [_short(x.text(each)) for each in series[0].x]
    if sideways:
        axes.set_yticks(places, texts)
        axes.invert_yaxis()
        _scale(axes, y, "x", grid=True)
        axes.set_ylabel(visible(x.label))
        axes.tick_params(axis="y", length=0)
    else:
        crowded = sum(len(text) + 2 for text in texts) > 11 * wide
        axes.set_xticks(places, texts, rotation=35 if crowded else 0, ha="right" if crowded else "center")
        _scale(axes, y, "y", grid=True)
        axes.set_xlabel(visible(x.label))
        axes.tick_params(axis="x", length=0)


def _lines(axes: Axes, series: Sequence[Series], x: Axis, y: Axis, *, steps: str | None = None) -> None:
    for at, each in enumerate(series):
        dashes = DASHES[(at // len(SERIES) + at) % len(DASHES)]
        drawn = {"after": "steps-post", "before": "steps-pre"}.get(steps or "", "default")
        _plot(axes, at, each, markersize=4.5, linewidth=1.8, linestyle=dashes, drawstyle=drawn)
    _scale(axes, x, "x")
    _scale(axes, y, "y", grid=True)


def _points(axes: Axes, series: Sequence[Series], x: Axis, y: Axis, *, joined: bool = False) -> None:
    for at, each in enumerate(series):
        dashes = DASHES[at % len(DASHES)] if joined else "none"
        _plot(axes, at, each, markersize=6.5, linewidth=0.8, linestyle=dashes, markeredgecolor=PAPER)
        for label, place, value in zip(each.labels, each.x, each.y, strict=False):
            axes.annotate(visible(label), (place, value), xytext=(5, 4), textcoords="offset points", fontsize=8.5)
    axes.margins(0.08)
    _scale(axes, x, "x", grid=True)
    _scale(axes, y, "y", grid=True)


def _plot(axes: Axes, at: int, series: Series, **how: Any) -> None:  # noqa: ANN401 - Matplotlib's own settings
    """Draw a series in its colour and with its marker, by its place among all."""
    x, y = np.asarray(series.x, dtype=np.float64), np.asarray(series.y, dtype=np.float64)
    marker = MARKERS[(at // len(SERIES) + at) % len(MARKERS)]
    axes.plot(x, y, color=SERIES[at % len(SERIES)], marker=marker, label=visible(series.name), **how)


def _scale(axes: Axes, axis: Axis, side: Literal["x", "y"], *, grid: bool = False) -> None:
    """Set the label, limits, log scale and percent signs of one axis."""
    from matplotlib.ticker import NullFormatter

    which = axes.xaxis if side == "x" else axes.yaxis
    if axis.log:
        (axes.set_xscale if side == "x" else axes.set_yscale)("log")
    which.set_label_text(visible(axis.label))
    if axis.low is not None or axis.high is not None:
        (axes.set_xlim if side == "x" else axes.set_ylim)(axis.low, axis.high)
    # Also on log scales, where Matplotlib's 10⁻² would consist of several text elements.
    percent = axis.shown == "percent"
    which.set_major_formatter(lambda value, _: f"{100 * value:.4g} %" if percent else f"{value:,.6g}")
    if axis.log and not percent:
        which.set_minor_formatter(NullFormatter())
    if axis.ticks:
        which.set_ticks(list(axis.ticks))
        which.set_ticks([], minor=True)
    if grid:
        axes.grid(axis=side)


def _rule(axes: Axes, rule: Rule) -> None:
    draw = axes.axvline if rule.across == "x" else axes.axhline
    draw(rule.at, color=INK, linewidth=1.1, linestyle=(0, (4, 3)))
    side, place, anchor = "right", (0.995, rule.at), axes.get_yaxis_transform()
    if rule.across == "x":
        # Above the plot, where no series crosses it, and within its width.
        axes.get_xlim()  # fixes the limits
        along = float(axes.transAxes.inverted().transform(axes.transData.transform((rule.at, 0)))[0])
        side = "left" if along < 0.1 else "right" if along > 0.9 else "center"
        place, anchor = (rule.at, 1.0), axes.get_xaxis_transform()
    how: dict[str, Any] = {"xytext": (0, 3), "textcoords": "offset points", "fontsize": 8.5}
    axes.annotate(visible(rule.label), place, xycoords=anchor, ha=side, **how)


def _short(text: str, most: int = 28) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
