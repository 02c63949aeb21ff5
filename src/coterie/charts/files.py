"""Write charts to files."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from coterie.charts.svg import INK, LIGHT, PAPER, SERIES, STYLE, STYLE_CLASSES
from coterie.errors import ConfigError, Problem

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from coterie.charts.charts import Chart

ENDINGS = (".svg", ".png", ".pdf")
_PLAIN = {INK: "#1a1a1a", "#010204": "#c8c8c8", PAPER: "#ffffff"} | dict(zip(SERIES, LIGHT, strict=True))


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
