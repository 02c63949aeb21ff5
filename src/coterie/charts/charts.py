"""Charts for reports, comparisons and web pages: bars, lines and points.

Each chart has a title, a description, its figures as a table, and an SVG image that takes its colours from the
page: light, dark or print. A chart is plain data; Matplotlib draws it and is only loaded then.

    chart = lines("Risk", [Series("before", x, y), Series("after", x, z)], description="…", x=Axis("risk"), y=Axis("n"))
    chart.svg          the image, to be put into a page that has `page_style()`
    chart.figure()     image, caption and table as an HTML figure
    chart.write("risk.svg")                                 or .png, .pdf
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Required, TypedDict, Unpack

from coterie.charts.svg import STYLE, STYLE_CLASSES, image_bytes, svg_of
from coterie.wording import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Axis", "Chart", "Rule", "Series", "bars", "lines", "page_style", "points"]

Shown = Literal["number", "percent"]

NARROW = 4.5
"""inches of an image for narrow screens, on which it has about its own size"""


class Series(NamedTuple):
    """The data drawn in one colour."""

    name: str
    x: Sequence[float] | Sequence[str]
    """numbers, or the names of bars"""
    y: Sequence[float]
    """NaN leaves a gap"""
    labels: Sequence[str] = ()
    """points: the text next to each"""


class Axis(NamedTuple):
    """The label, scale and format of one axis."""

    label: str
    log: bool = False
    shown: Shown = "number"
    """percent: 0.25 is written as 25 %"""
    digits: int = 4
    """significant digits of its numbers in the table"""
    low: float | None = None
    """where it begins; by default from the data"""
    high: float | None = None
    ticks: Sequence[float] = ()
    """where to write numbers; by default from the data"""

    def text(self, value: object) -> str:
        """Format a value for the table."""
        if isinstance(value, str):
            return visible(value)
        number = float(value)  # type: ignore[arg-type]
        if number != number:
            return "–"
        if self.shown == "percent":
            return f"{100 * number:.{max(self.digits - 2, 0)}f} %"
        return f"{int(number):,}" if number == int(number) else f"{number:,.{self.digits}g}"


class Rule(NamedTuple):
    """A reference line across the chart, such as a threshold."""

    at: float
    label: str
    across: Literal["x", "y"] = "x"
    """the axis on which `at` lies"""


@dataclass(frozen=True, eq=False)
class Chart:
    """A chart with its description and figures."""

    name: str
    """letters, digits and hyphens; unique among the charts of a page"""
    title: str
    description: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """the data as a table"""
    draw: Callable[..., Figure] = field(repr=False)
    """draw it; `width=` in inches overrides its own"""

    @cached_property
    def svg(self) -> str:
        """The image as an `<svg>` element, for a page with the colours of `page_style()`."""
        return svg_of(self.draw(), title=self.title, description=self.description, name=self.name)

    def figure(self, *, narrow: bool = False) -> str:
        """Return the image with its caption and its collapsed table as an HTML `<figure>`.

        Args:
            narrow: Include a second image for narrow screens. The page has to show one of the two, by the classes
                `at-wide` and `at-narrow`.
        """
        image = self.svg
        if narrow:
            made, name = self.draw(width=NARROW), f"{self.name}-narrow"
            small = svg_of(made, title=self.title, description=self.description, name=name)
            image = f'<div class="at-wide">{image}</div><div class="at-narrow">{small}</div>'
        head = "".join(f'<th scope="col">{escape(each)}</th>' for each in self.head)
        rows = "".join(
            "<tr>"
            + f'<th scope="row">{escape(row[0])}</th>'
            + "".join(f"<td>{escape(cell)}</td>" for cell in row[1:])
            + "</tr>"
            for row in self.rows
        )
        return visible(
            f'<figure class="chart-figure" id="{self.name}">{image}'
            f"<figcaption><strong>{escape(self.title)}.</strong> {escape(self.description)}</figcaption>"
            f"<details><summary>{escape(self.title)}: the figures as a table</summary>"
            f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(self.title)}, table">'
            f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div></details></figure>"
        )

    def write(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the image as .svg (light and dark), .png or .pdf (light)."""
        from coterie.files.output import whole_file

        content = image_bytes(self, Path(path).suffix.lower())
        with whole_file(path, force=force) as sink:
            sink.write(content)

    def __hash__(self) -> int:
        return hash(self.name)


def page_style() -> str:
    """Return the CSS for a page with charts: light, dark and print colours."""
    return STYLE + STYLE_CLASSES


class Look(TypedDict, total=False):
    """What all charts have in common."""

    description: Required[str]
    """a text alternative for people who cannot see the chart"""
    x: Required[Axis]
    y: Required[Axis]
    name: str
    """its id in a page; derived from the title by default"""
    rules: Sequence[Rule]
    """reference lines, such as a threshold"""
    size: tuple[float, float]
    """width and height in inches"""


def bars(title: str, series: Sequence[Series], *, sideways: bool = False, **look: Unpack[Look]) -> Chart:
    """Make a bar chart in which every series has a bar for each of the same names: their `x`, and the axis `x`.

    `sideways` draws horizontal bars, for long names.
    """
    x, y = look["x"], look["y"]
    head = (x.label, *(each.name for each in series))
    rows = tuple(
        (x.text(at), *(y.text(value) for value in values))
        for at, *values in zip(series[0].x, *(each.y for each in series), strict=True)
    )
    return _chart("bars", title, series, (head, rows), look, sideways=sideways)


def lines(
    title: str, series: Sequence[Series], *, steps: Literal["after", "before"] | None = None, **look: Unpack[Look]
) -> Chart:
    """Make a line chart over numbers, such as loss over k, from series that each have their own `x`.

    With `steps`, a value holds from its `x` to the next (after), or from the previous one (before).
    """
    x, y = look["x"], look["y"]
    places: list[Any] = sorted({at for each in series for at in each.x})
    found = [dict(zip(each.x, each.y, strict=True)) for each in series]
    rows = tuple((x.text(at), *(y.text(each[at]) if at in each else "" for each in found)) for at in places)
    return _chart("lines", title, series, ((x.label, *(each.name for each in series)), rows), look, steps=steps)


def points(title: str, series: Sequence[Series], *, joined: bool = False, **look: Unpack[Look]) -> Chart:
    """Make a scatter chart, such as risk against loss, with labelled points: each series has its colour and marker.

    `joined` draws a thin line through the points of a series.
    """
    x, y = look["x"], look["y"]
    rows = tuple(
        (each.name, label, x.text(at), y.text(value))
        for each in series
        for label, at, value in zip(each.labels or [""] * len(each.y), each.x, each.y, strict=True)
    )
    return _chart("points", title, series, (("series", "point", x.label, y.label), rows), look, joined=joined)


def _chart(
    kind: Literal["bars", "lines", "points"],
    title: str,
    series: Sequence[Series],
    table: tuple[tuple[str, ...], tuple[tuple[str, ...], ...]],
    look: Look,
    **how: Any,  # noqa: ANN401 - of this kind of chart
) -> Chart:
    def draw(*, width: float | None = None) -> Figure:
        from coterie.charts import draw as charts_draw

        shape: dict[str, Any] = {"rules": look.get("rules", ()), "size": look.get("size"), "width": width}
        return charts_draw.figure(kind, list(series), look["x"], look["y"], **shape, **how)

    return Chart(look.get("name") or _slug(title), title, look["description"], *table, draw)


def _slug(title: str) -> str:
    letters = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in title.lower())
    return "chart-" + "-".join(part for part in letters.split("-") if part)
