"""coterie.utility and coterie measure: what is asked for is measured, printed and documented."""

import json
import math
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest

import coterie
from coterie.api.utility import DESCRIPTIONS, Utility
from coterie.cli.app import main
from coterie.errors import ConfigError
from coterie.reporting.plain import finite

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "utility.md").read_text(encoding="utf-8")

PEOPLE = pa.table(
    {
        "age": [21, 23, 25, 32, 36, 38, 41, 44, 57, 59, 60, 64] * 4,
        "town": ["Oslo", "Bergen", "Oslo", "Oslo"] * 12,
        "sick": ["no", "no", "no", "yes", "no", "no", "yes", "yes", "no", "yes", "yes", "yes"] * 4,
    }
)


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pa.csv.write_csv(PEOPLE, "people.csv")
    config = coterie.Config(quasi=["age", "town"], sensitive=["sick"], k=5)
    Path("c.toml").write_text(config.to_toml())
    coterie.anonymize("people.csv", config=config, method="mondrian").write("out.csv")
    Path("q.toml").write_text('query = ["age < 40 and town = \'Oslo\'", { where = "age > 99", name = "none" }]')
    return ["people.csv", "out.csv", "-c", "c.toml"]


EVERYTHING = ["--queries", "30", "--sum", "age", "--query-file", "q.toml", "--target", "sick", "--distributions"]


def test_everything_on_the_command_line(files, capsys):
    assert main(["measure", *files, *EVERYTHING]) == 0
    out = capsys.readouterr().out
    for name in DESCRIPTIONS:
        assert name in out
    for words in ("COUNT queries: columns", "SUM queries: columns", "query 1", "none", "learnt from", "published as"):
        assert words in out


def test_json_is_json_and_follows_the_seed(files, capsys):
    def measured(*flags):
        assert main(["measure", *files, *flags, "--json"]) == 0
        text = capsys.readouterr().out
        assert "NaN" not in text
        return json.loads(text)

    first = measured(*EVERYTHING)
    assert measured(*EVERYTHING) == first
    assert measured(*EVERYTHING, "--seed", "1") != first
    assert set(first["utility"]) == {"queries", "sums", "own", "learning", "distributions"}
    own = first["utility"]["own"]["answers"]
    assert [each["name"] for each in own] == ["query 1", "none"]
    assert own[1]["error"] is None
    assert first["own_queries_skipped"] == 1
    assert "utility" not in measured()
    assert first["gcp"] == measured()["gcp"]


def test_means_leave_out_the_losses_only(files, capsys):
    roles = ["-c", "c.toml", "--publish", "age=mean"]
    assert main(["anonymize", "people.csv", *roles, "-o", "means.csv"]) == 0
    capsys.readouterr()
    assert main(["measure", "people.csv", "means.csv", *roles, "--queries", "20", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    found = coterie.utility("people.csv", "means.csv", config="c.toml", publish={"age": "mean"}, queries=20)
    assert shown["query_error_median"] == found.measures()["query_error_median"]
    assert "gcp" not in shown
    assert main(["measure", "people.csv", "means.csv", *roles, "--queries", "20"]) == 0
    assert "note: losses cannot be read back from age (mean)" in " ".join(capsys.readouterr().out.split())
    assert main(["measure", "people.csv", "means.csv", *roles]) == 3
    assert "`coterie.utility` with queries" in capsys.readouterr().err


def test_python_and_the_command_line_agree(files, capsys):
    assert main(["measure", *files, *EVERYTHING, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    found = coterie.utility(
        "people.csv",
        "out.csv",
        config="c.toml",
        queries=30,
        sum="age",
        query_file="q.toml",
        target="sick",
        distributions=True,
    )
    assert set(found.measures()) == set(DESCRIPTIONS)
    assert {name: shown[name] for name in DESCRIPTIONS} == finite(found.measures())
    measures = coterie.measure("people.csv", "out.csv", config="c.toml", queries=30, query_file="q.toml", target="sick")
    for name in ("query_error_mean", "own_query_error_p95", "learning_accuracy"):
        assert measures[name] == shown[name]
    assert "query_error_mean" not in coterie.measure("people.csv", "out.csv", config="c.toml")


def test_a_workload_can_be_given(files):
    workload = coterie.Workload(count=20, size=1, columns=("town",), seed=5)
    found = coterie.utility("people.csv", "out.csv", config="c.toml", queries=workload)
    assert {query.columns for query in found.queries.queries} == {("town",)}
    assert found.sums is found.learning is found.distributions is None
    sums = coterie.utility("people.csv", "out.csv", config="c.toml", queries=coterie.Workload(count=3, sum="age"))
    assert sums.queries is None
    assert sums.sums.summary.queries == 3
    assert Utility().to_dict() == {}


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--queries", "0"], "queries: must be at least 1"),
        (["--sum", "age"], "sum: needs a number of queries"),
        (["--queries", "9", "--sum", "town"], "sum: column 'town' is not numeric, so it cannot be summed"),
        (["--target", "none"], "no column 'none'"),
        (["--feature", "age"], "features: needs a target"),
        (["--target", "sick", "--feature", "agee"], "no column 'agee'"),
        (["--target", "sick", "--model", "magic"], "no model 'magic'"),
    ],
)
def test_faults_are_one_line(files, flags, told, capsys, monkeypatch):
    monkeypatch.setattr("coterie.cli.show.PATIENCE", 600.0)  # a slow machine shows its progress
    assert main(["measure", *files, *flags]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert told in error
    assert error.count("\n") == 1


def test_nothing_is_asked_for_in_vain():
    with pytest.raises(ConfigError, match="features: needs a target"):
        coterie.utility(PEOPLE, PEOPLE, quasi=["age"], features=["age"])


def test_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    assert code.count("assert") >= 6
    exec(compile(code, "docs/utility.md", "exec"), {})


def test_the_page_names_every_figure():
    for name in DESCRIPTIONS:
        assert f"`{name}`" in PAGE
    for name in coterie.Workload.__dataclass_fields__:
        assert f"`{name}`" in PAGE


def test_no_queries_have_no_figures():
    errors = coterie.utility(PEOPLE, PEOPLE, quasi=["age"], queries=1).queries.where([])
    assert math.isnan(Utility(queries=errors).measures()["query_error_mean"])
    assert errors.to_dict() == {**errors.summary.to_dict(), "by_columns": []}
