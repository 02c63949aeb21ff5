"""Convert a Matplotlib figure to an SVG image that takes its colours from the surrounding page, or to an image file.

Figures are drawn in placeholder colours, which become classes in the SVG: `ink` for text, `faint` for lines behind the
data, `c0` … `c5` for series. STYLE sets the colours of the classes for light and dark mode. None of Matplotlib's other
styling remains, neither `style` attributes nor `<style>` elements, so a page may forbid both (Content-Security-Policy).
"""

from __future__ import annotations

import io
import re
from html import escape
from typing import TYPE_CHECKING, Any

from coterie.errors import ConfigError, Problem
from coterie.wording import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from coterie.charts.charts import Chart

ENDINGS = (".svg", ".png", ".pdf")
# Okabe and Ito's colours, made for people who do not see all of them, dark enough for white and light enough for black.
LIGHT = ("#c24e00", "#0072b2", "#00805e", "#a3477f", "#8a6000", "#3b3b8f")
DARK = ("#ff8a3d", "#56b4e9", "#2fcf9f", "#e69ac4", "#e6b800", "#a5a5f5")

# The placeholder colours: all different, and none occurs elsewhere in Matplotlib's output.
INK, FAINT, PAPER = "#010203", "#010204", "#010205"
SERIES = tuple(f"#0101{0x10 + at:02x}" for at in range(len(LIGHT)))
_CLASSES = {INK: "ink", FAINT: "faint", PAPER: "paper"} | {colour: f"c{at}" for at, colour in enumerate(SERIES)}
_PLAIN = {INK: "#1a1a1a", FAINT: "#c8c8c8", PAPER: "#ffffff"} | dict(zip(SERIES, LIGHT, strict=True))
_STROKES = ("width", "dasharray", "dashoffset", "linecap", "linejoin", "opacity")
_KEPT = (*(f"stroke-{name}" for name in _STROKES), "opacity", "fill-opacity", "text-anchor")


def _rules(colours: tuple[str, ...], ink: str, faint: str, paper: str) -> str:
    series = "".join(f"--chart-c{at}:{colour};" for at, colour in enumerate(colours))
    return f"--chart-ink:{ink};--chart-faint:{faint};--chart-paper:{paper};{series}"


VARIABLES_LIGHT = _rules(LIGHT, "#1a1a1a", "#c8c8c8", "#ffffff")
VARIABLES_DARK = _rules(DARK, "#ececec", "#4a4a4a", "#16181c")

STYLE = (
    f":root{{{VARIABLES_LIGHT}}}"
    f"@media (prefers-color-scheme:dark){{:root{{{VARIABLES_DARK}}}}}"
    f"@media print{{:root{{{VARIABLES_LIGHT}}}}}"
)
"""the colours; a page may override the variables, also for a part of it"""
STYLE_CLASSES = (
    ".chart text{font-family:system-ui,sans-serif;fill:var(--chart-ink)}"
    + "".join(
        f".chart .f-{name}{{fill:var(--chart-{name})}}.chart .s-{name}{{stroke:var(--chart-{name})}}"
        for name in _CLASSES.values()
    )
    + ".chart .f-none{fill:none}.chart .s-none{stroke:none}"
)
"""the rules that apply them to the classes of a chart"""

_STYLE = re.compile(r'style="([^"]*)"')
_DIGITS = re.compile(r'(?<=[ ("])(-?\d+\.\d{2})\d+')


def svg_of(figure: Figure, *, title: str, description: str, name: str) -> str:
    """Return the figure as an `<svg>` element with a title and a description, without a prologue.

    Args:
        figure: Drawn in the colours of this module.
        title: The title; read out by screen readers.
        description: The text alternative.
        name: Prefix of the ids in it; must be unique among the charts of a page.
    """
    import matplotlib as mpl

    sink = io.StringIO()
    # Ids must not be random: the same figure gives the same text.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": name, "svg.image_inline": True}):
        figure.savefig(sink, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = sink.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    # It would apply to the whole page: `*{stroke-linejoin: round}`.
    text = re.sub(r"<defs>\s*<style[^>]*>.*?</style>\s*</defs>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = _STYLE.sub(_attributes, text)
    text = _own_ids(text, name)
    # Two decimals are enough for coordinates; figures that people read keep theirs.
    text = re.sub(r"<[^>]*>", lambda tag: _DIGITS.sub(r"\1", tag[0]), text)
    text = re.sub(r"\s*\n\s*", "\n", text)
    box = re.search(r'viewBox="([^"]*)"', text)
    head = (
        f'<svg class="chart" xmlns="http://www.w3.org/2000/svg" viewBox="{box.group(1) if box else ""}" role="img" '
        f'aria-labelledby="{name}-title {name}-desc" stroke-linejoin="round">\n'
        f'<title id="{name}-title">{escape(title)}</title>\n<desc id="{name}-desc">{escape(description)}</desc>'
    )
    return visible(re.sub(r"<svg[^>]*>", lambda _: head, text, count=1).strip())


def _own_ids(text: str, name: str) -> str:
    """Prefix all ids with the chart's name and drop ids that nothing refers to."""
    used = set(re.findall(r'href="#([^"]+)"', text)) | set(re.findall(r"url\(#([^)]+)\)", text))
    text = re.sub(r'xlink:href="#', 'href="#', text)
    text = re.sub(r' id="([^"]+)"', lambda found: f' id="{name}-{found[1]}"' if found[1] in used else "", text)
    text = re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', text)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", text)


def _attributes(found: re.Match[str]) -> str:
    """Turn a `style` attribute into classes for its colours and plain attributes for the rest."""
    classes: list[str] = []
    attributes: list[str] = []
    for part in found[1].split(";"):
        key, _, value = (piece.strip() for piece in part.partition(":"))
        if key in ("fill", "stroke"):
            # Anything not drawn in a placeholder colour is black by Matplotlib's default, as text is: ink.
            classes.append(f"{key[0]}-{'none' if value == 'none' else _CLASSES.get(value, 'ink')}")
        elif key in _KEPT:
            attributes.append(f'{key}="{value}"')
        elif key in ("font", "font-size"):
            # Before version 3.9 Matplotlib wrote `font: 10px 'DejaVu Sans'`.
            attributes.append(f'font-size="{value.split("px")[0].split()[-1]}"')
    if classes:
        attributes.insert(0, f'class="{" ".join(classes)}"')
    return " ".join(attributes)


def image_bytes(chart: Chart, ending: str) -> bytes:
    """Return the content of an image file: .svg, .png or .pdf."""
    if ending not in ENDINGS:
        raise ConfigError(
            [Problem("plot", f"cannot be written as {ending or 'a file without an ending'}; use .svg, .png or .pdf")]
        )
    if ending == ".svg":
        return standalone(chart).encode()
    return _painted(chart.draw(), ending)


def standalone(chart: Chart) -> str:
    """Return the SVG with embedded colours, light or dark following the reader's screen, and a background."""
    box = chart.svg.split('viewBox="')[1].split('"')[0]
    width, height = box.split()[2:]
    ground = f'<rect class="f-paper" width="{width}" height="{height}"/>'
    at = chart.svg.index("</desc>") + len("</desc>")
    inside = f"<style>{STYLE}{STYLE_CLASSES}</style>{ground}"
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + chart.svg[:at] + inside + chart.svg[at:] + "\n"


def _painted(figure: Figure, ending: str) -> bytes:
    """Recolour the figure in the light palette with Matplotlib."""
    from matplotlib.colors import to_hex, to_rgba

    def paint(colour: Any) -> Any:  # noqa: ANN401 - colours have many forms
        try:
            plain = to_hex(colour)
            alpha = to_rgba(colour)[3]
        except (ValueError, TypeError):
            return colour
        return to_rgba(_PLAIN[plain], alpha) if plain in _PLAIN else colour

    for artist in figure.findobj():
        for part in ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor"):
            get, put = getattr(artist, f"get_{part}", None), getattr(artist, f"set_{part}", None)
            if get is not None and put is not None:
                put(paint(get()))
    sink = io.BytesIO()
    # Without a date, the same figure gives the same file.
    meta = {"CreationDate": None} if ending == ".pdf" else {}
    figure.savefig(sink, format=ending[1:], dpi=160, facecolor="#ffffff", metadata=meta)
    return sink.getvalue()
