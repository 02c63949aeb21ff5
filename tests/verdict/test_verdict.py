"""The verdict on releases: each accident that was seen is warned of, in the same words everywhere."""

import html
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie.api.verdict import verify_and_judge
from coterie.cli.app import main
from coterie.errors import ConfigError


def people(rows=600, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "zip": rng.integers(10_000, 10_020, rows),
            "lat": rng.normal(50, 1, rows).round(5),
            "long": rng.normal(10, 1, rows).round(5),
            "sex": rng.choice(["f", "m"], rows),
            "disease": rng.choice(["flu", "cold", "gout"], rows),
            "subject_id": np.arange(rows) // 6,
        }
    )


BASE = {"quasi": ["age", "zip"], "sensitive": ["disease"], "method": "mondrian"}
LEFT = {"drop": ["lat", "long", "sex"], "entity": "subject_id"}


def verdict(table=None, **settings):
    return coterie.anonymize(people() if table is None else table, **{**BASE, **settings}).verdict


def test_a_release_of_quasi_identifiers_alone_passes():
    found = verdict(**LEFT)
    assert found.state == "pass"
    assert list(found.questions) == ["promises", "singling-out", "inference", "utility"]
    assert all(question.state == "pass" and question.evidence for question in found.questions.values())
    assert found.advice == ()


def test_a_coordinate_that_is_kept_singles_people_out():
    found = verdict(keep=["long"], drop=["lat", "sex"], entity="subject_id")
    asked = found.questions["singling-out"]
    assert (found.state, asked.state) == ("fail", "fail")
    assert asked.figures["published"]["unique"] == 600
    assert asked.advice[0].startswith("Make `long` a quasi-identifier, or drop it.")
    assert found.questions["promises"].state == "pass"


def test_two_columns_that_identify_alone_share_the_blame():
    shares = verdict(keep=["lat", "long", "sex"], drop=["subject_id"]).questions["singling-out"].figures["shares"]
    assert shares["lat"] == shares["long"] > 0.45
    assert shares["sex"] < 0.01


def test_rows_below_k_warn_though_nobody_is_unique():
    table = people().assign(sex=lambda frame: np.where(frame.index % 3 == 0, "f", "m"))
    found = verdict(table, keep=["sex"], drop=["lat", "long"], entity="subject_id")
    asked = found.questions["singling-out"]
    assert asked.state == "warn"
    assert asked.figures["published"]["below_k"] > 0


def test_several_rows_a_person_are_warned_of():
    found = verdict(drop=["lat", "long", "sex"], identifiers=["subject_id"])
    asked = found.questions["singling-out"]
    assert asked.state == "warn"
    assert any('set entity = "subject_id"' in text for text in asked.advice)
    found = verdict(drop=["lat", "long", "sex"], identifiers=["subject_id"], accept=["singling-out:subject_id"])
    assert found.state == "pass"
    assert found.questions["singling-out"].accepted == ("singling-out:subject_id",)


def test_a_group_that_shares_one_sensitive_value_is_warned_of():
    table = people().assign(disease=lambda frame: np.where(frame.age < 50, "flu", "gout"))
    found = verdict(table, **LEFT)
    asked = found.questions["inference"]
    assert asked.state == "warn"
    assert asked.figures["disease"]["rows"] > 300
    assert 'Add "l-diversity:2:disease" to privacy.' in asked.advice[0]
    assert verdict(table, **LEFT, accept=["inference:disease"]).state == "pass"
    assert verdict(table, **LEFT, limits={"inferred": 1}).state == "pass"
    assert verdict(table, **LEFT, privacy=["l-diversity:2:disease"]).questions["inference"].state == "pass"


def test_the_default_k_meets_the_default_threshold_and_a_smaller_one_is_told_which_does():
    assert verdict(**LEFT).questions["singling-out"].state == "pass"
    asked = verdict(**LEFT, k=10).questions["singling-out"]
    assert asked.state == "warn"
    assert asked.advice[0].startswith("k = 12 meets 0.09")


def test_a_column_of_which_nothing_is_left_is_told():
    rng = np.random.default_rng(3)
    table = pd.DataFrame({f"c{at}": [f"v{each}" for each in rng.permutation(20)] for at in range(4)})
    found = coterie.anonymize(table, quasi=list(table), k=12, method="mondrian").verdict
    asked = found.questions["utility"]
    assert asked.state == "warn"
    assert any("Next to nothing is left of `c0`" in text for text in asked.advice)


def test_what_is_accepted_by_name_no_longer_decides():
    kept = {"keep": ["lat", "long"], "drop": ["sex"], "entity": "subject_id"}
    assert verdict(**kept, accept=["singling-out:lat"]).state == "fail"
    found = verdict(**kept, accept=["singling-out:lat", "singling-out:long"])
    assert found.state == "pass"
    assert "Accepted by a person: singling-out:lat." in found.questions["singling-out"].evidence
    assert verdict(**kept, accept=["singling-out"]).state == "pass"


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"accept": ["promises"]}, "a broken guarantee cannot be accepted"),
        ({"accept": ["singled:age"]}, "expected a question"),
        ({"limits": {"uniqe": 0.1}}, "did you mean 'unique'"),
        ({"limits": {"unique": 2}}, "must be a share"),
    ],
)
def test_wrong_limits_are_refused(settings, text):
    with pytest.raises(ConfigError, match=text):
        coterie.Config(quasi=["age"], **settings)


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people().to_csv("people.csv", index=False)
    return "people.csv"


ROLES = ["--quasi", "age,zip", "--sensitive", "disease", "--drop", "lat", "--entity", "subject_id"]
ANONYMIZE = ["anonymize", "people.csv", *ROLES, "--method", "mondrian", "--force"]


def test_command_line_report_and_python_say_the_same(file, capsys):
    kept = ["--keep", "long,sex", "--report", "report.json", "--report", "report.html"]
    assert main([*ANONYMIZE, *kept, "-o", "out.csv"]) == 0
    text = capsys.readouterr().out
    assert "verdict: FAIL. Do not publish this as it stands." in text
    assert main([*ANONYMIZE, *kept, "-o", "out.csv", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["verdict"]
    found = coterie.anonymize(
        file, **BASE, keep=["long", "sex"], drop=["lat"], entity="subject_id"
    ).verdict  # the page shows the report's
    report = json.loads(Path("report.json").read_text(encoding="utf-8"))["verdict"]
    page = Path("report.html").read_text(encoding="utf-8")
    assert told["state"] == report["state"] == found.state == "fail"
    for question in report["questions"]:
        asked = found.questions[question["name"]]
        assert question["state"] == told["questions"][question["name"]]["state"] == asked.state
        assert question["advice"] == told["questions"][question["name"]]["advice"] == list(asked.advice)
        for line in (*asked.evidence, *asked.advice):
            assert line in text
            assert re.sub("`([^`]+)`", r"<code>\1</code>", html.escape(line)) in page


@pytest.mark.parametrize("engine", ["memory", "blocks"])
def test_strict_ends_with_1_unless_pass(file, engine, capsys):
    words = [*ANONYMIZE, "--engine", engine, "--strict", "-o", "out.csv"]
    assert main([*words, "--keep", "long", "--drop", "sex"]) == 1
    assert main([*words, "--drop", "sex,long"]) == 0
    assert main(["verify", "out.csv", "--quasi", "age,zip", "--sensitive", "disease", "-k", "12", "--strict"]) == 0
    assert main([*words, "--keep", "long", "--drop", "sex", "--accept", "singling-out:long"]) == 0
    check = ["verify", "out.csv", "--quasi", "age,zip", "--sensitive", "disease", "-k", "12"]
    assert main(check) == 0
    assert main([*check, "--strict"]) == 1  # a column without a role is published, so it counts
    capsys.readouterr()
    assert main([*check, "--strict", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["verdict"]["questions"]["singling-out"]["state"] == "fail"


def same_in_blocks(tmp_path, table, **settings):
    """The verdicts of one release in memory and of the same in one block on disk."""
    path = tmp_path / "in.parquet"
    table.to_parquet(path, index=False)
    output = tmp_path / "out.parquet"
    stored = coterie.anonymize(path, **settings, engine="blocks", block_rows=10_000, output=output, force=True)
    return coterie.anonymize(path, **settings, engine="memory").verdict, stored.verdict


def test_in_blocks_people_queries_and_order_are_looked_at_too(tmp_path):
    table = people().sort_values("age")
    left = {"drop": ["lat", "long", "sex"], "identifiers": ["subject_id"]}
    held, stored = same_in_blocks(tmp_path, table, **BASE, **left)
    for name in ("singling-out", "inference"):
        one, two = held.questions[name], stored.questions[name]
        assert (one.state, one.advice) == (two.state, two.advice)
        assert set(two.evidence) == set(one.evidence)
        assert dict(one.figures) == dict(two.figures)
    assert "order" in held.questions["singling-out"].figures
    one, two = (each.questions["utility"] for each in (held, stored))
    assert (one.state, one.figures["query_error"]) == (two.state, two.figures["query_error"])
    assert any("lower bound" in text for text in two.evidence)


def test_in_blocks_people_are_counted_with_kept_columns(tmp_path):
    settings = {**BASE, "keep": ["sex"], "drop": ["lat", "long"], "entity": "subject_id"}
    held, stored = same_in_blocks(tmp_path, people(), **settings)
    one, two = (each.questions["singling-out"] for each in (held, stored))
    assert two.figures["counted"] == "people"
    assert one.figures["published"] == two.figures["published"]
    assert one.state == two.state


def test_the_bound_of_a_large_table_is_computed_if_its_effort_is_set(monkeypatch):
    monkeypatch.setattr("coterie.verdict.verdict.BOUND_ROWS", 100)
    without, asked = (verdict(**LEFT, **more).questions["utility"] for more in ({}, {"bound_effort": "quick"}))
    assert "loss_over_bound" not in without.figures
    assert any("100 rows" in text and "`bound_effort" in text for text in without.evidence)
    assert asked.figures["loss_over_bound"] >= 1
    assert not any("Not compared" in text for text in asked.evidence)
    assert verdict(people(100), **LEFT).questions["utility"].figures["loss_over_bound"] >= 1


def test_verify_judges_utility_by_what_is_published(tmp_path):
    table = people()[["age", "zip", "disease"]]
    for k, state in ((12, "pass"), (300, "warn")):
        release = coterie.anonymize(table, **BASE, k=k)
        release.write(tmp_path / "out.csv", force=True)
        check = coterie.Config(quasi=["age", "zip"], sensitive=["disease"], k=k, limits={"loss": 0.4})
        for engine in ("memory", "blocks"):
            _, found = verify_and_judge(tmp_path / "out.csv", check.replace(engine=engine), k=k)
            asked = found.questions["utility"]
            assert asked.figures["loss"] == pytest.approx(release.measures["gcp"])
            assert asked.state == state
            assert "by the published cells alone" in asked.evidence[0]


def towns(rows=240):
    """Twelve towns without a hierarchy, in the order of ages: groups hold two of them."""
    return pd.DataFrame({"town": [f"town {at * 12 // rows:02}" for at in range(rows)], "age": np.arange(rows)})


SETS = {"quasi": ["town", "age"], "method": "mondrian", "k": 30}


def test_columns_published_as_sets_are_judged_by_what_the_sets_leave_open(tmp_path):
    release = coterie.anonymize(towns(), **SETS)
    assert release.frame["town"].str.count(",").eq(1).all()  # sets of two
    town = release.measures.attributes["town"]
    assert (town.ncp, town.left_open) == (1.0, pytest.approx(1 / 11))
    asked = release.verdict.questions["utility"]
    assert asked.state == "pass"
    assert asked.figures["column_loss"]["town"] == pytest.approx(1 / 11)
    assert asked.figures["loss"] == pytest.approx((1 / 11 + release.measures.attributes["age"].ncp) / 2)
    assert any("Sets (`town`) count by the values that they list" in text for text in asked.evidence)
    towns().to_csv(tmp_path / "in.csv", index=False)
    coterie.anonymize(tmp_path / "in.csv", output=tmp_path / "out.csv", engine="blocks", block_rows=60, **SETS)
    stored = coterie.measure(tmp_path / "in.csv", tmp_path / "out.csv", **SETS)
    assert stored.attributes["town"].left_open < 0.5 < stored.attributes["town"].ncp
    release.write(tmp_path / "own.csv")
    for engine in ("memory", "blocks"):
        _, found = verify_and_judge(tmp_path / "own.csv", coterie.Config(**SETS, engine=engine), k=30)
        assert found.questions["utility"].figures["column_loss"] == pytest.approx(asked.figures["column_loss"])
        assert found.questions["utility"].state == "pass"


def test_sets_of_nearly_all_values_leave_next_to_nothing():
    release = coterie.anonymize(towns(), **SETS | {"k": 200})
    assert release.frame["town"].str.count(",").eq(11).all()
    asked = release.verdict.questions["utility"]
    assert asked.state == "warn"
    assert any(text.startswith("Next to nothing is left of `town`. Give it a hierarchy") for text in asked.advice)


def test_verify_warns_where_labels_say_nothing_of_use(tmp_path):
    table = people()[["zip", "disease"]].astype(str)
    release = coterie.anonymize(table, quasi=["zip"], sensitive=["disease"], hierarchies={"zip": {"prefixes": [4, 3]}})
    release.write(tmp_path / "out.csv")
    _, found = verify_and_judge(tmp_path / "out.csv", release.config, k=12)
    assert found.questions["utility"].state == "warn"
    assert "Not measured: `zip`" in found.questions["utility"].evidence[0]


def test_in_blocks_the_verdict_is_counted_on_disk(file, tmp_path):
    kept = {"keep": ["long", "sex"], "drop": ["lat", "subject_id"]}
    stored = coterie.anonymize(file, **BASE, **kept, engine="blocks", block_rows=200, output=tmp_path / "out.parquet")
    asked = stored.verdict.questions["singling-out"]
    assert asked.state == "fail"
    assert asked.figures["published"]["unique"] == 600
    assert stored.verdict.questions["utility"].figures["loss"] == stored.measures["gcp"]


def test_rows_published_one_by_one_are_hidden_among_their_ring():
    table = people(120).assign(subject_id=np.arange(120))
    left = {"drop": ["lat", "long", "sex", "subject_id"]}
    assert verdict(table, method="nh", **left).questions["singling-out"].state == "pass"
    kept = {"keep": ["long"], "drop": ["lat", "sex", "subject_id"]}
    assert verdict(table, method="nh", **kept).questions["singling-out"].figures["published"]["unique"] == 120


def test_the_report_lists_who_decided(tmp_path):
    release = coterie.anonymize(people(), **BASE, **LEFT, accept=["utility"])
    release.report(tmp_path / "r.json")
    decisions = {
        each["setting"]: each for each in json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["decisions"]
    }
    assert decisions["quasi"] == {"setting": "quasi", "value": "age, zip", "by": "person"}
    assert decisions["accept"]["by"] == "person"
    assert decisions["k"] == {"setting": "k", "value": "12", "by": "default"}
    release.report(tmp_path / "e.json", variant="external")
    outside = json.loads((tmp_path / "e.json").read_text(encoding="utf-8"))["verdict"]
    assert all(not question["evidence"] for question in outside["questions"])
