"""The Results step: what it shows is what was published, and nothing in it is taken for HTML."""

import csv
import html
import io
import json
import re
import shutil

import numpy as np
import pytest
from web_cases import Place, silent

from coterie.settings.registry import MEASURES
from coterie.web.project import private_folder
from coterie.web.results.jobs import ANSWER, curve_job, explain_job, map_job
from coterie.web.results.read import DOWNLOADS, PER_PAGE, page_of

EVIL = "<script>alert(1)</script>"


SETTINGS = {
    "quasi": ["age", "education", "sex"],
    "sensitive": ["salary-class"],
    "keep": ["workclass", "marital-status", "occupation", "race", "native-country"],
    "hierarchies": {"sex": "flat"},
    "publish": {"age": "bounds"},
    "method": "mondrian",
    "k": 5,
}


@pytest.fixture(scope="module")
def place(tmp_path_factory, adult_csv):
    made = Place(tmp_path_factory.mktemp("results"), adult_csv.read_bytes())
    made.run(**SETTINGS)
    return made


def cells(page):
    """Rows of the table before and after, as texts; the header apart."""
    body = re.search(r"<tbody>(.*?)</tbody>", page.split('aria-label="Rows before and after"')[1], re.DOTALL)[1]
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", body, re.DOTALL)
    return [
        [re.sub(r"<[^>]+>", "", cell).strip() for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)]
        for row in rows
    ]


def test_the_latest_finished_run_is_shown(place):
    assert place.get("").headers["location"].endswith("/results/0001")
    page = place.get("/0001").text
    assert "Do not publish this as it stands" in page  # with what is kept, rows are unique
    assert "k = 12 meets 0.09" in page
    assert "Run 1: k = 5, method mondrian" in page
    for figure in ("class-sizes", "risk-curve", "loss", "runs-map"):
        assert f'<figure class="chart-figure" id="{figure}">' in page


def test_the_notes_of_a_run_are_shown(tmp_path):
    place = Place(tmp_path, ("age,sex\n" + "".join(f"{20 + row % 5},{'fm'[row % 2]}\n" for row in range(20))).encode())
    place.run(quasi=["age", "sex"], k=2, cost="set")
    page = html.unescape(place.get("/0001").text)
    assert 'cost = "set" has no effect' in page


def test_all_measures_are_listed_as_the_registry_has_them(place):
    part = place.get("/0001").text.split('aria-label="All measures"')[1].split("</table>")[0]
    report = json.loads((place.project.runs[0] / "report.json").read_text())
    found = dict(re.findall(r'<th scope="row"><code>(\w+)</code></th><td class="n">([^<]*)</td>', part))
    assert list(found) == [name for name in MEASURES if name in found]
    assert {"gcp", "modification_rate", "largest"} <= set(found)
    assert found == {each["name"]: f"{each['value']:,.6g}" for each in report["utility"]["measures"]}


def test_rows_before_and_after_are_those_of_the_files(place):
    folder = place.project.runs[0]
    before = list(csv.DictReader(io.StringIO(place.source.read_text())))
    after = list(csv.DictReader(io.StringIO((folder / "release.csv").read_text())))
    for first in (1, 26, 1490):
        shown = cells(place.get(f"/0001?from={first}").text)
        for row in shown:
            position = int(row[0].replace(",", "")) - 1
            old, new = before[position], after[position]
            bounds = {new["age_min"], new["age_max"]}
            assert row[2] == old["age"]
            assert row[3] == (old["age"] if len(bounds) == 1 else f"{new['age_min']} to {new['age_max']}")
            assert row[4:6] == [old["education"], new["education"].replace("&", "&amp;")]
            assert row[6:8] == [old["sex"], new["sex"]]
    assert len(cells(place.get("/0001?from=1490").text)) == 11
    assert "rows 26 to 50 of 1,500" in place.get("/0001/rows?from=26", headers={"HX-Request": "true"}).text
    assert place.get("/0001/rows?from=26").status_code == 200


def test_changed_cells_and_only_those_are_marked(place):
    folder = place.project.runs[0]
    page = page_of(place.project, folder, ["age", "education", "sex"], first=0, count=200)
    differing = [before != after for row in page.rows[:PER_PAGE] for before, after in row.quasi]
    assert {True, False} == set(differing)
    shown = place.get("/0001/rows", headers={"HX-Request": "true"}).text
    assert [bool(mark) for mark in re.findall(r'<td class="(changed)?(?: empty)?">', shown)] == differing
    groups = np.load(folder / "groups.npy")
    assert [row.group for row in page.rows] == groups[:200].tolist()


@pytest.mark.parametrize("first", ["0", "-4", "x", "99999999999999", "1501", "²"])
def test_rows_that_are_not_there(place, first):
    assert place.get(f"/0001?from={first}").status_code == 200


@pytest.mark.parametrize("what", [each.key for each in DOWNLOADS])
def test_downloads(place, what):
    answer = place.get(f"/0001/download/{what}")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.content


def test_the_configuration_is_the_one_that_was_run_and_the_release_the_one_that_was_made(place):
    folder = place.project.runs[0]
    assert place.get("/0001/download/configuration").content == (folder / "coterie.toml").read_bytes()
    assert place.get("/0001/download/release").content == (folder / "release.csv").read_bytes()
    assert json.loads(place.get("/0001/download/report-json").content)["k"] == 5


def test_the_same_in_python_makes_the_same_release(place, tmp_path, monkeypatch):
    page = html.unescape(place.get("/0001").text)
    assert f"coterie anonymize \\\n    {place.source} --config coterie.toml" in page
    code = re.search(r'<pre id="python"[^>]*>(.*?)</pre>', page, re.DOTALL)[1]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "coterie.toml").write_bytes(place.get("/0001/download/configuration").content)
    parts = code.partition("# The same without the file:")
    for part in (parts[0], f"import coterie\n{parts[2]}\nrelease.write('release.csv', force=True)"):
        exec(compile(part, "page", "exec"), {"print": lambda *_: None})
        assert (tmp_path / "release.csv").read_bytes() == place.get("/0001/download/release").content


@pytest.mark.parametrize(
    "path", ["/0002", "/..", "/0001/download/release.pickle", "/0001/download/..%2f..%2fproject.json", "/%2e%2e/0001"]
)
def test_nothing_else_can_be_had(place, path):
    assert place.get(path).status_code in (303, 404)


def test_reports_are_shown_under_a_policy_of_their_own(place):
    for variant in ("internal", "external"):
        answer = place.get(f"/0001/report/{variant}")
        assert "Report on a release" in answer.text
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'")
        assert "script" not in policy


def test_pages_have_nothing_inline(place):
    for path in ("/0001", "/0001/row?row=3"):
        text = place.get(path).text
        assert ' style="' not in text
        assert "<style" not in text
        assert re.findall(r"<script(?![^>]*src=)", text) == []
        assert re.findall(r"\son[a-z]+=", text) == []
    css = place.client.get("/charts.css")
    assert css.headers["content-type"].startswith("text/css")
    assert "--chart-ink" in css.text


@pytest.mark.parametrize("row", ["0", "1501", "", "one"])
def test_a_row_that_is_not_there_is_a_fault_of_the_form(place, row):
    answer = place.get(f"/0001/row?row={row}")
    assert answer.status_code == 422
    assert "from 1 to 1,500" in answer.text
    assert '<a href="#row">' in answer.text


def test_why_a_row_is_so_coarse(place):
    folder = place.project.runs[0]
    assert ">Explain</button>" in place.get("/0001/row?row=8").text
    at = private_folder(folder / "explain" / "7")
    explain_job({**place.job, "row": 7}, at, silent)
    page = place.get("/0001/row?row=8").text
    assert "In a group of" in page
    assert ">Explain</button>" not in page
    known = json.loads((at / ANSWER).read_text())
    before = list(csv.DictReader(io.StringIO(place.source.read_text())))[7]
    assert {each["name"]: each["value"] for each in known["attributes"]} == {
        name: before[name] for name in SETTINGS["quasi"]
    }
    for near in known["nearest"]:
        assert f"row?row={near['row'] + 1}" in page
    # The rows that the page names as coarse are among those that pay most.
    loss = json.loads((folder / "loss.json").read_text())
    paid = []
    for row in (loss["rows"][0], 7):
        other = folder / "explain" / str(row)
        if not other.is_dir():
            explain_job({**place.job, "row": row}, private_folder(other), silent)
        paid.append(json.loads((other / ANSWER).read_text())["cost"])
    assert paid[0] >= paid[1]


def test_loss_over_k(place):
    folder = place.project.runs[0]
    assert "Compute loss by k" in place.get("/0001").text
    at = private_folder(folder / "curve")
    curve_job({**place.job, "ks": [2, 5, 10]}, at, silent)
    page = place.get("/0001").text
    assert 'id="loss-over-k"' in page
    answer = json.loads((at / ANSWER).read_text())
    assert answer["ks"] == [2, 5, 10]
    gcp = json.loads((folder / "result.json").read_text())["measures"]["gcp"]
    assert f"At k = 5 it is {gcp:.3g}." in answer["figure"]
    kept = [json.loads(line) for line in (place.project.folder / "curve.jsonl").read_text().splitlines()]
    assert sorted(each["run"]["k"] for each in kept) == [2, 5, 10]
    shutil.rmtree(at)


def test_the_map_shows_all_runs_and_says_when_it_is_old(place):
    second = place.run(2, **{**SETTINGS, "k": 20})
    try:
        page = place.get("/0002").text
        assert "run 1, k=5" in page
        assert "run 2, k=20" in page
        assert "Update the chart" not in page
    finally:
        shutil.rmtree(second)
    page = place.get("/0001").text
    assert "Update the chart" in page
    map_job(place.job, place.project.folder / "map", silent)
    page = place.get("/0001").text
    assert "run 2, k=20" not in page
    assert "Update the chart" not in page


def test_html_in_cells_and_names_is_harmless_and_removed_rows_are_said_to_be(tmp_path):
    rows = [f'{age % 7},"{EVIL}{age % 3}",{"" if age % 10 == 0 else "x"}' for age in range(60)]
    place = Place(tmp_path, f"age,{EVIL},gap\n{chr(10).join(rows)}\n".encode())
    settings = {"quasi": ["age", EVIL, "gap"], "k": 3, "method": "mondrian"}
    place.run(**settings, missing="suppress", suppressed="remove")
    explain_job({**place.job, "row": 1}, private_folder(place.project.runs[0] / "explain" / "1"), silent)
    for path in ("/0001", "/0001/row?row=2"):
        text = place.get(path).text
        assert EVIL not in text
        assert "&lt;script&gt;" in text
    shown = place.get("/0001").text
    assert shown.count('<tr class="gone">') == 3
    assert shown.count(">removed</td>") == 9
