"""Names of columns may hold what a terminal or a browser obeys: the page shows all of it escaped, and runs work."""

import html
import re

import pyarrow as pa
import pytest
from pyarrow import csv
from web_cases import Place

ESC, TURNED, INNER, LINE = "a\x1b[31mge", "zip\u202ecode", "ward\u2066x", "ill\nness"
SHOWN = {ESC: "a\\x1b[31mge", TURNED: "zip\\u202ecode", INNER: "ward\\u2066x"}
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    rows = 60
    table = pa.table(
        {
            ESC: [20 + at % 9 for at in range(rows)],
            TURNED: [f"{at % 4}" for at in range(rows)],
            INNER: [("x", "y", "z")[at % 3] for at in range(rows)],
            LINE: [("flu", "gout")[at % 2] for at in range(rows)],
        }
    )
    sink = pa.BufferOutputStream()
    csv.write_csv(table, sink)
    made = Place(tmp_path_factory.mktemp("odd"), sink.getvalue().to_pybytes())
    made.run(quasi=[ESC, TURNED], sensitive=[LINE], keep=[INNER], k=3, method="mondrian")
    return made


def texts(page):
    """What a browser shows: everything between tags, and titles and labels, which are read out."""
    read_out = re.findall(r'(?:title|aria-label|alt|placeholder)="([^"]*)"', page)
    body = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    return html.unescape(" ".join([*re.findall(r">([^<]*)<", body), *read_out]))


STEPS = ("data", "data/rows", "roles", "hierarchies", "goals", "run", "configuration", "results/0001")


@pytest.mark.parametrize("step", STEPS)
def test_names_are_shown_escaped(place, step):
    answer = place.client.get(f"{place.project.url}/{step}")
    assert answer.status_code == 200, answer.headers.get("location")
    shown = texts(answer.text)
    assert not OBEYED.search(shown), step
    if step not in ("goals", "run", "data/rows"):
        assert SHOWN[ESC] in shown


def test_a_message_names_its_column_escaped(place):
    text = f'k = 3\nquasi = ["{TURNED}x"]\n'.replace("\u202e", "\\u202e")
    answer = place.client.post(f"{place.project.url}/configuration", data={"text": text})
    page = answer if answer.status_code != 303 else place.client.get(answer.headers["location"])
    shown = texts(page.text)
    assert not OBEYED.search(shown)
    assert "zip\\u202ecodex" in shown


def test_the_release_has_the_names_as_they_are(place):
    (folder,) = place.project.runs
    with (folder / "release.csv").open(newline="") as file:
        header = file.read().split('"\n')[0]
    assert all(name in header for name in (ESC, TURNED, INNER, LINE))
