"""The report says what was measured, for every method and every promise, in HTML and in JSON."""

import base64
import hashlib
import json
import re
from collections import Counter

import jsonschema
import numpy as np
import pyarrow as pa
import pytest
from decided import kept_otherwise

import coterie
from coterie.cli.app import main
from coterie.errors import ConfigError
from coterie.grouping.bound import row_bounds, sampled_bound
from coterie.methods import all_methods
from coterie.reporting.report import SCHEMA, report_html, report_json, report_of, schema_text
from coterie.reporting.sentences import RELEASE_MODELS
from coterie.settings.registry import MEASURES, MODELS

pytestmark = pytest.mark.usefixtures("few_queries")

ROWS = 80
SCHEMA_VALUES = json.loads(SCHEMA.read_text(encoding="utf-8"))
TREE = {"High": ["Bachelors", "Masters"], "Low": ["HS-grad", "11th", "9th"]}


def people(rows=ROWS, seed=0):
    rng = np.random.default_rng(seed)
    schools = ["Bachelors", "Masters", "HS-grad", "11th", "9th"]
    return pa.table(
        {
            "name": [f"person {row}" for row in range(rows)],
            "age": rng.integers(18, 90, rows),
            "education": [schools[at] for at in rng.integers(0, 5, rows)],
            "city": [["Rome", "Oslo", None][at] for at in rng.integers(0, 3, rows)],
            "disease": [["flu", "gout", "cold", "mumps"][at] for at in rng.integers(0, 4, rows)],
            "visits": rng.integers(0, 9, rows),
        }
    )


SETTINGS = {
    "quasi": ["age", "education", "city"],
    "sensitive": ["disease"],
    "identifiers": ["name"],
    "hierarchies": {"education": TREE},
    "k": 4,
    "method": "mondrian",
}


def released(table=None, **changes):
    table = people() if table is None else table
    return coterie.anonymize(table, **kept_otherwise(table.column_names, SETTINGS | changes))


@pytest.fixture(scope="module")
def release():
    told = {
        "purpose": "Research",
        "recipient": "An <institute>",
        "release_model": "agreement",
        "author": "Data & office",
    }
    return released(threshold="cms", weights={"age": 2}, **told)


@pytest.fixture(scope="module")
def report(release):
    return report_of(release)


@pytest.fixture(scope="module")
def page(report):
    return report_html(report)


def checked(found):
    """A report as JSON values that fit the schema."""
    values = json.loads(report_json(found))
    jsonschema.validate(values, SCHEMA_VALUES, cls=jsonschema.Draft202012Validator)
    return values


def test_the_schema_is_the_committed_one():
    assert SCHEMA.read_text(encoding="utf-8") == schema_text(), "run python scripts/make_docs.py"
    jsonschema.Draft202012Validator.check_schema(SCHEMA_VALUES)


def test_the_schema_refuses_what_is_no_report(report):
    values = checked(report)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**values, "k": "many"}, SCHEMA_VALUES)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**values, "more": 1}, SCHEMA_VALUES)


@pytest.mark.parametrize("variant", ["internal", "external"])
@pytest.mark.parametrize("name", list(all_methods()))
def test_every_method_has_a_report(name, variant):
    small = {"k": 2} if name == "optimal" else {}  # more groups than it takes otherwise
    found = report_of(released(method=name, options={}, **small), variant=variant)
    values = checked(found)
    assert values["verdict"]
    assert values["reproducibility"]["method"] == name
    assert all(each["kept"] and each["does_not_prove"] and each["source"] for each in values["promises"])
    assert [each["name"] for each in values["questions"]] == ["singling out", "linkability", "inference"]
    per_row = all_methods()[name].recoding == "per-row"
    assert bool(values["risk"]["notes"]) == per_row
    assert (values["utility"]["groups"] is None) == per_row
    assert values["utility"]["queries"]["count"] > 0
    assert len(values["utility"]["distributions"]) == 3


def test_rows_one_by_one_are_said_to_be_so():
    text = report_html(report_of(released(method="nh")))
    assert "publishes rows one by one" in text
    assert "do not apply" in text
    assert "k-anonymity by rows" in text


@pytest.mark.parametrize(
    "model",
    [
        "k-anonymity:5",
        "l-diversity:2",
        "t-closeness:0.9",
        "alpha-k:0.9",
        "beta-likeness:5",
        "delta-disclosure:3",
        "k-map:2:{}",
    ],
)
def test_every_promise_has_a_report(model, tmp_path):
    from pyarrow import parquet

    parquet.write_table(people(300, seed=1), tmp_path / "population.parquet")
    table = pa.concat_tables([people(), people(40, seed=3)])
    release = released(table, privacy=[model.format(tmp_path / "population.parquet")])
    values = checked(report_of(release))
    assert len(values["promises"]) == 2
    assert values["promises"][1]["source"] == MODELS[model.split(":")[0]].paper


def test_every_model_says_what_it_does_not_prove():
    assert all(model.not_proved for model in MODELS.values())


def test_the_context_is_what_the_configuration_says(report, page):
    assert report.context.purpose == "Research"
    assert report.context.release_model_meaning == RELEASE_MODELS["agreement"]
    assert "An &lt;institute&gt;" in page
    assert "Data &amp; office" in page
    assert "not stated" in report_html(report_of(released()))


def test_the_input(report, release):
    found = report.input
    assert (found.rows, found.columns, found.published_columns) == (ROWS, 6, 5)
    assert found.missing_cells == people()["city"].null_count > 0
    assert found.sha256 == report_of(released()).input.sha256
    assert found.sha256 != report_of(released(people(seed=1))).input.sha256


def test_a_file_is_known_by_its_own_hash(tmp_path):
    from pyarrow import csv

    csv.write_csv(people(), tmp_path / "people.csv")
    release = coterie.anonymize(tmp_path / "people.csv", keep=["visits"], **SETTINGS)
    release.write(tmp_path / "out.csv")
    found = report_of(release)
    assert found.input.name == "people.csv"
    assert found.input.sha256 == hashlib.sha256((tmp_path / "people.csv").read_bytes()).hexdigest()
    out = hashlib.sha256((tmp_path / "out.csv").read_bytes()).hexdigest()
    assert found.reproducibility.hashes == {"input": found.input.sha256, "release out.csv": out}


def test_the_attributes(report):
    by_name = {each.name: each for each in report.attributes}
    assert [each.role for each in report.attributes] == ["quasi-identifier"] * 3 + ["sensitive", "identifier", "kept"]
    assert by_name["name"].techniques == ["masking"]
    assert by_name["age"].techniques[0] == "local generalization"
    assert (by_name["age"].type, by_name["education"].type) == ("number", "category")
    assert (by_name["age"].weight, by_name["city"].weight, by_name["disease"].weight) == (2.0, 1.0, None)
    assert by_name["education"].hierarchy == "tree of 3 levels and 5 values"
    assert by_name["disease"].techniques == []
    assert by_name["disease"].changed == 0
    assert by_name["city"].missing == people()["city"].null_count
    assert (by_name["education"].distinct, by_name["city"].distinct) == (5, 2)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"method": "incognito"}, "generalization"),
        ({"publish": {"age": "mean"}}, "microaggregation"),
        ({"publish": {"age": "median"}}, "microaggregation"),
        ({"publish": {"age": "bounds"}}, "local generalization"),
        ({"missing": "suppress", "suppressed": "remove"}, "record suppression"),
        ({"missing": "suppress"}, "local suppression"),
    ],
)
def test_techniques_have_their_names(changes, expected):
    found = report_of(released(**changes))
    assert expected in next(each for each in found.attributes if each.name == "age").techniques
    checked(found)


def test_cells_of_which_nothing_is_said_are_local_suppression():
    star = np.arange(ROWS) % 8 == 0
    release = coterie.anonymize(people(), suppress_cells={"city": star}, keep=["visits"], **SETTINGS)
    found = report_of(release)
    assert "local suppression" in next(each for each in found.attributes if each.name == "city").techniques
    shown = release.frame["city"].to_pylist()
    assert found.suppression.cells["city"] == pytest.approx(shown.count("*") / ROWS)


def test_cells_that_became_the_root_are_counted():
    release = released(method="kmembers", weights={"age": 5, "education": 0.01})
    report = report_of(release)
    shown = release.frame["education"].to_pylist()
    assert shown.count("*") > 0
    assert report.suppression.cells["education"] == pytest.approx(shown.count("*") / ROWS)
    levels = next(each for each in report.utility.distributions if each.name == "education").levels
    assert levels[-1].after == pytest.approx(shown.count("*") / ROWS)


def test_means_alone_cannot_be_attacked():
    found = report_of(released(quasi=["age"], hierarchies={}, publish={"age": "mean"}))
    assert found.linking is None
    assert "Not measured" in found.questions[1].answer
    assert "cannot be compared" in report_html(found)


def recount(table, quasi):
    """Rows in classes of each size, counted plainly."""
    rows = list(zip(*(table[name].to_pylist() for name in quasi), strict=True))
    sizes = Counter(rows)
    return [sizes[row] for row in rows]


def test_class_sizes_and_the_curve_are_a_plain_recount(report, release):
    before = recount(people(), SETTINGS["quasi"])
    after = recount(release.frame, SETTINGS["quasi"])
    for each in report.risk.class_sizes:
        inside = range(each.smallest, (each.largest or ROWS) + 1)
        assert each.before == sum(size in inside for size in before)
        assert each.after == sum(size in inside for size in after)
    assert sum(each.before for each in report.risk.class_sizes) == ROWS
    assert sum(each.after for each in report.risk.class_sizes) == ROWS
    for point in report.risk.curve:
        assert point.before == sum(1 / size >= point.risk - 1e-12 for size in before) / ROWS
        assert point.after == sum(1 / size >= point.risk - 1e-12 for size in after) / ROWS


def test_the_figures_are_those_of_the_release(report, release):
    assert report.risk.after.prosecutor.highest == release.risk.after.prosecutor.highest
    assert report.risk.threshold.name == "cms"
    assert report.risk.threshold.chosen
    assert "Medicare" in report.risk.threshold.source
    assert report.risk.threshold.met == (release.risk.after.prosecutor.above == 0)
    assert report.utility.gcp == release.measures["gcp"]
    assert report.utility.bound.ratio == release.measures["loss_over_bound"]
    assert not report.utility.bound.estimated
    assert "groups of at least k rows" in report.utility.bound.text
    if 1 <= report.utility.bound.ratio < 2:
        assert "of the least possible loss" in report.utility.bound.text
    figures = {each.name: each.value for each in report.utility.measures}
    assert figures == {name: release.measures[name] for name in MEASURES}
    assert {each.name: each.ncp for each in report.utility.attributes} == {
        name: each.ncp for name, each in release.measures.attributes.items()
    }
    assert report.linking.people == ROWS
    assert report.linking.fewest >= SETTINGS["k"]
    assert report.linking.below_k == 0


def test_the_journalist_appears_with_a_fraction(report):
    assert report.risk.before.journalist is None
    found = report_of(released(fraction=0.1))
    assert found.risk.before.journalist.highest < found.risk.before.prosecutor.highest
    assert "journalist: highest risk" in report_html(found)
    checked(found)


def test_people_are_counted_where_rows_are_not():
    table = people().append_column("patient", pa.array(np.arange(ROWS) // 2))
    release = released(table, entity="patient")
    found = report_of(release)
    assert found.risk.counted == "people"
    assert [each.name for each in found.promises] == ["k-anonymity", "k-anonymity of people"]
    assert next(each for each in found.attributes if each.name == "patient").role == "person"
    checked(found)


def test_without_a_sensitive_column_this_is_said():
    found = report_of(released(sensitive=[]))
    assert found.disclosure == []
    assert "no column was named as sensitive" in found.questions[2].answer
    assert any("No column was named as sensitive" in each for each in found.limits)
    assert "so this was not measured" in report_html(found)


def test_kept_columns_are_a_limit(report):
    assert "visits" in report.limits[0]


def test_attribute_disclosure_is_what_an_attack_finds():
    table = pa.table({"age": [20, 21, 40, 41], "disease": ["flu", "flu", "flu", "gout"]})
    found = report_of(coterie.anonymize(table, quasi=["age"], sensitive=["disease"], k=2, method="mondrian"))
    (disease,) = found.disclosure
    assert disease.known_for_sure == 2
    assert disease.worst_group["distinct l"] == 1
    assert disease.baseline == 0.75
    assert found.questions[2].answer.startswith("Yes, for some people and disease")


def test_a_sampled_bound_is_the_bound_of_these_rows(release):
    table, k = release.table, release.config.k
    bounds = row_bounds(table, k, rounds=0)
    for rows in (np.arange(table.rows), np.array([3, 3, 17])):
        assert sampled_bound(table, k, rows=rows) == pytest.approx(bounds[rows].mean() / table.attributes)


def test_a_large_table_has_its_bound_estimated(monkeypatch):
    monkeypatch.setattr("coterie.reporting.utility.BOUND_ROWS", 10)
    monkeypatch.setattr("coterie.reporting.utility.BOUND_SAMPLE", 40)
    monkeypatch.setattr("coterie.reporting.attack.MOST_PEOPLE", 20)
    release = released()
    found = report_of(release)
    assert found.utility.bound.estimated
    assert 0 < found.utility.bound.value < 2 * release.bound
    assert found.linking.sampled
    assert found.linking.people == 20
    assert not report_of(release).utility.bound.estimated  # by now it is known


def test_secrets_stay_secret():
    key = "an uncommonly long secret"
    for variant in ("internal", "external"):
        found = report_of(released(method="nh", options={"key": key}), variant=variant)
        assert key not in report_json(found)
        assert "key" not in found.reproducibility.configuration.get("options", {})


def test_the_configuration_makes_the_same_release(report, release):
    import tomllib

    again = coterie.anonymize(people(), config=tomllib.loads(report.reproducibility.configuration_toml))
    assert again.frame.equals(release.frame)


def test_long_hierarchies_are_left_beside_the_release():
    table = pa.table({"zip": [f"{row:05}" for row in range(400)]})
    tree = {f"part {part}": [f"{row:05}" for row in range(part * 50, part * 50 + 50)] for part in range(8)}
    found = report_of(coterie.anonymize(table, quasi=["zip"], hierarchies={"zip": tree}, k=5, method="mondrian"))
    assert found.reproducibility.configuration["hierarchies"] == {"zip": "tree of 3 levels and 400 values"}


def test_the_same_release_has_the_same_report(release):
    one, other = (report_of(release).model_copy(update={"made": ""}) for _ in range(2))
    assert report_html(one) == report_html(other)
    assert report_json(one) == report_json(other)


SECTIONS = ("promises", "purpose", "input", "attributes", "risk", "disclosure", "questions", "utility", "suppression")


def test_the_page_has_every_section_and_chart(page):
    for name in (*SECTIONS, "limits", "again", "signature", "annex"):
        assert f'id="{name}"' in page
        assert f'href="#{name}"' in page
    charts = ["class-sizes", "risk-curve", "loss", "levels", "confidence", *(f"distribution-{at}" for at in range(3))]
    for name in charts:
        assert f'<figure class="chart-figure" id="{name}">' in page
    assert page.count("<svg") == page.count("<desc") == page.count("<details>") == len(charts)
    assert "ISO/IEC 20889" in page
    assert "WP216" in page


def test_ids_of_the_page_are_unique(page):
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_the_page_allows_nothing_but_its_own_style(page):
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert f"style-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert "<script" not in page
    assert not re.search(r"\sstyle=", page)
    assert not re.search(r"\son[a-z]+=", page)
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
    assert set(re.findall(r'(?:href|src)="([^"#]*)', page)) <= {"", "data:,"}


@pytest.mark.parametrize("suppressed", ["auto", "remove"])
def test_a_release_of_which_nothing_is_left(suppressed):
    release = released(method="kaca", options={"suppress_above": 0.0001}, suppressed=suppressed)
    assert release.measures["suppressed"] > ROWS / 2
    for variant in ("internal", "external"):
        found = report_of(release, variant=variant)
        checked(found)
        assert "</html>" in report_html(found)


def test_the_smallest_release():
    release = coterie.anonymize(pa.table({"age": [30]}), quasi=["age"], k=1, method="mondrian")
    for variant in ("internal", "external"):
        found = report_of(release, variant=variant)
        checked(found)
        assert "</html>" in report_html(found)


# Files and the command line


def test_files_appear_whole_and_are_not_overwritten(release, tmp_path):
    release.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert text.rstrip().endswith("</html>")
    with pytest.raises(ConfigError, match="exists already"):
        release.report(tmp_path / "report.html")
    release.report(tmp_path / "report.json", variant="external")
    assert json.loads((tmp_path / "report.json").read_text())["variant"] == "external"
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize(
    ("path", "variant", "said"), [("r.txt", "internal", "end in .html or .json"), ("r.html", "public", "'external'")]
)
def test_what_cannot_be_written_is_refused(release, tmp_path, path, variant, said):
    with pytest.raises(ConfigError, match=re.escape(said)):
        release.report(tmp_path / path, variant=variant)
    assert not list(tmp_path.iterdir())


ARGUMENTS = (
    "--quasi age,education,city --sensitive disease --identifier name --keep visits -k 4 --method mondrian -o out.csv"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    from pyarrow import csv

    monkeypatch.chdir(tmp_path)
    csv.write_csv(people(), "people.csv")
    return tmp_path


def test_the_command_line_writes_reports(folder, capsys):
    told = ["--purpose", "Research", "--release-model", "public", "--threshold", "0.5", "--author", "Ann"]
    reports = ["--report", "report.html", "--report", "report.json", "--report-variant", "external"]
    assert main(["anonymize", "people.csv", *ARGUMENTS.split(), *told, *reports]) == 0
    out = capsys.readouterr().out
    assert "Wrote the external report report.html." in out
    values = json.loads((folder / "report.json").read_text())
    jsonschema.validate(values, SCHEMA_VALUES)
    assert values["context"]["purpose"] == "Research"
    assert values["risk"]["threshold"] | {"met": True, "value": 0.5} == values["risk"]["threshold"]
    assert 'purpose = "Research"' in (folder / "out.coterie.toml").read_text()
    assert "External variant" in (folder / "report.html").read_text()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--report", "report.pdf"], "end in .html or .json"),
        (["--report", "report.html", "--report-variant", "secret"], "'internal' or 'external'"),
        (["--report", "none/report.html"], "there is no folder"),
        (["--report", "old.html"], "exists already"),
        (["--report", "r.html", "--report", "r.html"], "report: needs its own file"),
        (["--report", "r.html", "--threshold", "2"], "above 0 and up to 1"),
        (["--report", "r.html", "--release-model", "secret"], "must be 'public'"),
    ],
)
def test_the_command_line_refuses_before_any_work(folder, capsys, more, said):
    (folder / "old.html").write_text("old")
    assert main(["anonymize", "people.csv", *ARGUMENTS.split(), *more]) == 2
    assert said in capsys.readouterr().err
    assert {path.name for path in folder.iterdir()} == {"people.csv", "old.html"}


def test_a_dry_run_may_have_a_report(folder):
    assert main(["anonymize", "people.csv", *ARGUMENTS.split()[:-2], "--dry-run", "--report", "r.json"]) == 0
    assert json.loads((folder / "r.json").read_text())["reproducibility"]["hashes"].keys() == {"input"}


def test_the_page_on_reports_runs():
    from pathlib import Path

    text = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    assert code.count("assert") > 4
    exec(compile(code, "docs/report.md", "exec"), {})
    (toml,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    import tomllib

    assert coterie.Config.from_dict(tomllib.loads(toml)).fraction == 0.01
