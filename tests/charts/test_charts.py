"""Charts: every one has its words and its table, and takes its colours from the page."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from coterie.charts import svg
from coterie.charts.charts import NARROW, Axis, Rule, Series, bars, lines, page_style, points
from coterie.errors import ConfigError

X, Y = Axis("k", log=True), Axis("loss", shown="percent")
BARS = bars(
    "Sizes <b> & $x$",
    [Series("before", ["1", "2–4"], [0.5, 0.25]), Series("after", ["1", "2–4"], [0.0, 1.0])],
    description='Says "so".',
    x=Axis("size"),
    y=Y,
)
LINES = lines(
    "Loss over k",
    [Series("mondrian", [2, 5, 10], [0.1, 0.2, 0.3]), Series("compact", [2, 10], [0.05, 0.1])],
    description="It grows.",
    x=X,
    y=Axis("loss"),
    rules=[Rule(5, "five"), Rule(0.2, "a fifth", "y")],
    steps="before",
)
POINTS = points(
    "Map",
    [Series(f"method {at}", [0.1, 0.2], [0.3, np.nan], ["k = 2", "k = 5"]) for at in range(8)],
    description="Down and left is better.",
    x=Axis("risk"),
    y=Axis("loss"),
    joined=True,
)
SIDEWAYS = bars("Loss", [Series("", ["age", "x" * 60], [0.1, 0.2])], description="d", x=X, y=Y, sideways=True, name="l")
ALL = {"bars": BARS, "lines": LINES, "points": POINTS, "sideways": SIDEWAYS}


@pytest.mark.parametrize("chart", ALL.values(), ids=ALL)
def test_the_image_is_well_formed_and_named(chart):
    root = ET.fromstring(chart.svg)
    space = "{http://www.w3.org/2000/svg}"
    assert root.get("role") == "img"
    title, desc = root.find(f"{space}title"), root.find(f"{space}desc")
    assert title.text == chart.title
    assert desc.text == chart.description
    assert root.get("aria-labelledby").split() == [title.get("id"), desc.get("id")]


@pytest.mark.parametrize("chart", ALL.values(), ids=ALL)
def test_nothing_in_it_styles_the_page_or_leads_outside(chart):
    assert "style" not in chart.svg
    assert not re.search(r"#[0-9a-fA-F]{6}\b", chart.svg)
    assert "http" not in chart.svg.replace("http://www.w3.org/2000/svg", "")
    known = {"ink", "faint", "paper", "none", *(f"c{at}" for at in range(len(svg.LIGHT)))}
    used = {name[2:] for text in re.findall(r'class="([^"]*)"', chart.svg) for name in text.split() if name != "chart"}
    assert used <= known
    for name in used - {"none"}:
        assert f"--chart-{name}" in page_style()


def test_ids_are_the_charts_own():
    for chart in ALL.values():
        assert all(each.startswith(chart.name) for each in re.findall(r' id="([^"]+)"', chart.svg))
        referred = re.findall(r'href="#([^"]+)"', chart.svg) + re.findall(r"url\(#([^)]+)\)", chart.svg)
        assert set(referred) <= set(re.findall(r' id="([^"]+)"', chart.svg))


def test_the_same_chart_is_the_same_text():
    again = lines("Loss over k", [Series("a", [1, 2], [3, 4])], description="d", x=X, y=Y)
    other = lines("Loss over k", [Series("a", [1, 2], [3, 4])], description="d", x=X, y=Y)
    assert again.svg == other.svg


def test_tables_hold_the_data():
    assert BARS.head == ("size", "before", "after")
    assert BARS.rows == (("1", "50.00 %", "0.00 %"), ("2–4", "25.00 %", "100.00 %"))
    assert LINES.rows == (("2", "0.1", "0.05"), ("5", "0.2", ""), ("10", "0.3", "0.1"))
    assert POINTS.rows[1] == ("method 0", "k = 5", "0.2", "–")


def test_a_figure_escapes_what_people_write():
    html = BARS.figure()
    assert "<b>" not in html
    assert "&lt;b&gt;" in html
    assert html.count("<tr>") == 3
    assert 'scope="row"' in html


def test_a_dollar_is_a_dollar():
    assert "$x$" in bars("t", [Series("$x$", ["$y$"], [1])], description="d", x=Axis("$z$"), y=Y).svg.replace(
        "$y$", "$x$"
    )


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_files(tmp_path, ending):
    path = tmp_path / f"chart.{ending}"
    LINES.write(path)
    content = path.read_bytes()
    assert content.startswith({"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[ending])
    with pytest.raises(ConfigError, match="exists already"):
        LINES.write(path)
    LINES.write(path, force=True)
    assert path.read_bytes() == content


def test_an_svg_file_has_its_colours_for_light_and_dark(tmp_path):
    LINES.write(tmp_path / "chart.svg")
    text = (tmp_path / "chart.svg").read_text()
    ET.fromstring(text)
    assert svg.LIGHT[0] in text
    assert "prefers-color-scheme:dark" in text


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"\.svg, \.png or \.pdf"):
        LINES.write(tmp_path / "chart.gif")


# Colours


def linear(colour):
    values = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    weights = np.array([0.2126, 0.7152, 0.0722])
    first, second = sorted((float(weights @ linear(colour)) for colour in (one, other)), reverse=True)
    return (first + 0.05) / (second + 0.05)


# Machado, Oliveira, Fernandes 2009, severity 1: what people see who lack a kind of cone.
SEEN = {
    "all": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


def lab(rgb):
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ rgb
    scaled = xyz / np.array([0.95047, 1.0, 1.08883])
    curved = np.where(scaled > 0.008856, np.cbrt(scaled), 7.787 * scaled + 16 / 116)
    return np.array([116 * curved[1] - 16, 500 * (curved[0] - curved[1]), 200 * (curved[1] - curved[2])])


@pytest.mark.parametrize(("colours", "ground"), [(svg.LIGHT, "#ffffff"), (svg.DARK, "#16181c")])
def test_colours_stand_out_from_the_ground(colours, ground):
    for colour in colours:
        assert contrast(colour, ground) >= 3  # WCAG 2.1, 1.4.11


@pytest.mark.parametrize("sight", SEEN)
@pytest.mark.parametrize("colours", [svg.LIGHT, svg.DARK], ids=["light", "dark"])
def test_the_first_colours_differ_for_everybody(colours, sight):
    """Two or three series are what the report draws; more also differ by marker and dash."""
    shown = [lab(np.clip(SEEN[sight] @ linear(colour), 0, 1)) for colour in colours[:3]]
    for at in range(3):
        for other in range(at):
            assert np.linalg.norm(shown[at] - shown[other]) > 10


@pytest.mark.parametrize("at", [0.0101, 0.09, 0.333, 0.98])
def test_the_label_of_a_threshold_touches_nothing_and_keeps_its_digits(at):
    places = [0.01, 0.1, 1.0]
    chart = lines(
        "Risk",
        [Series("before", places, [1.0, 1.0, 1.0]), Series("after", places, [1.0, 0.5, 0.0])],
        description="d",
        x=Axis("risk", log=True),
        y=Axis("share", low=0, high=1.05),
        rules=[Rule(at, f"threshold {at}")],
    )
    assert f">threshold {at}<" in chart.svg
    figure = chart.draw()
    figure.canvas.draw()
    axes = figure.axes[0]
    label = next(text for text in axes.texts if text.get_text().startswith("threshold")).get_window_extent()
    assert label.y0 > axes.get_window_extent().y1, "above the plot, where no line runs"
    assert not any(label.overlaps(text.get_window_extent()) for text in figure.legends[0].get_texts())
    assert label.x0 >= 0
    assert label.x1 <= figure.bbox.x1


def test_a_figure_for_narrow_screens_has_a_second_image_with_its_own_ids():
    figure = BARS.figure(narrow=True)
    wide, narrow = re.findall(r'<div class="at-(?:wide|narrow)">(<svg.*?</svg>)</div>', figure, re.DOTALL)
    widths = [float(re.search(r'viewBox="0 0 ([0-9.]+) ', image)[1]) for image in (wide, narrow)]
    assert widths == pytest.approx([7.2 * 72, NARROW * 72])
    ids = [set(re.findall(r' id="([^"]+)"', image)) for image in (wide, narrow)]
    assert all(ids)
    assert not ids[0] & ids[1]
    assert "at-narrow" not in BARS.figure()
