"""`coterie hierarchy build | check | show`."""

import pytest
from typer.testing import CliRunner

from coterie.cli.commands.hierarchy import app
from coterie.errors import CoterieError
from coterie.hierarchies.hierarchy import Hierarchy

PEOPLE = """age,zip,education,born,score
17,02138,Bachelors,1990-01-05,0.5
18,02139,Masters,1990-02-06,1.25
45,10001,11th,1992-01-01,2
,10002,Masters,1999-12-31,-3.5
"""
EDUCATION = "Bachelors;High;*\nMasters;High;*\n11th;Low;*\n9th;Low;*\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "education.csv").write_text(EDUCATION)
    return tmp_path


def run(*arguments, code=0):
    """Standard output and error of a command; errors of coterie end it with their own exit code."""
    result = CliRunner().invoke(app, list(arguments))
    if isinstance(result.exception, CoterieError):
        assert result.exception.exit_code == code
        return str(result.exception)
    assert result.exit_code == code, result.output
    return result.output


@pytest.mark.parametrize(
    ("column", "rule", "expected"),
    [
        ("zip", ["--prefixes", "5,3"], "02138;021**;*\n02139;021**;*\n10001;100**;*\n10002;100**;*\n"),
        ("zip", ["--prefixes", "all", "--mask", "#"], "02138;0213#;021##;02###;0####;*\n"),
        ("age", ["--intervals", "5, 10"], "17;[15-19];[10-19];*\n18;[15-19];[10-19];*\n45;[45-49];[40-49];*\n"),
        ("age", ["--intervals", "10", "--start", "18"], "17;[8-17];*\n18;[18-27];*\n45;[38-47];*\n"),
        ("score", ["--intervals", "0.5,2"], "-3.5;[-3.5, -3);[-4, -2);*\n0.5;[0.5, 1);[0, 2);*\n"),
        ("born", ["--dates", "month,year"], "1990-01-05;1990-01;1990;*\n1990-02-06;1990-02;1990;*\n"),
        ("education", ["--flat"], "11th;*\nBachelors;*\nMasters;*\n"),
    ],
)
def test_build(here, column, rule, expected):
    run("build", "people.csv", "--column", column, *rule, "-o", "out.csv")
    assert (here / "out.csv").read_text().startswith(expected)
    assert run("build", "people.csv", "--column", column, *rule, "-o", "-") == (here / "out.csv").read_text()
    run("check", "out.csv", "--data", "people.csv", "--column", column)


def test_build_overwrites_by_force_only(here):
    arguments = ["build", "people.csv", "--column", "zip", "--prefixes", "3", "-o", "education.csv"]
    assert "force=True" in run(*arguments, code=2)
    assert (here / "education.csv").read_text() == EDUCATION
    run(*arguments, "--force")
    assert (here / "education.csv").read_text().startswith("02138;021**;*\n")


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["--column", "zip"], 2, "Choose one of"),
        (["--column", "zip", "--flat", "--prefixes", "3"], 2, "Choose one of"),
        (["--column", "zip", "--prefixes", "3,5"], 2, "from long to short"),
        (["--column", "zip", "--prefixes", "a,b"], 2, "2 problems"),
        (["--column", "age", "--intervals", "5,12"], 2, "12 is not a multiple of 5"),
        (["--column", "age", "--intervals", ""], 2, "at least one width"),
        (["--column", "nowhere", "--flat"], 2, "no single column 'nowhere' among its 5"),
        (["--column", "education", "--intervals", "5"], 3, "education: 3 values (4 rows) are not numbers"),
    ],
)
def test_build_refuses(here, arguments, code, text):
    assert text in run("build", "people.csv", *arguments, "-o", "out.csv", code=code)
    assert sorted(path.name for path in here.iterdir()) == ["education.csv", "people.csv"]


def test_check(here):
    summary = "root    *\nlevels  3\nleaves  4\n"
    assert run("check", "education.csv") == summary
    assert run("check", "education.csv", "--data", "people.csv", "--column", "education") == (
        summary + "data    all 3 values of 'education' (4 rows) are in the hierarchy\n"
    )


def test_check_lists_every_problem(here):
    (here / "bad.csv").write_text("Bachelors;High;*\nBachelors;Low;*\na;X;Y;*\nb;Y;X;*\n")
    lines = run("check", "bad.csv", "--data", "people.csv", "--column", "education", code=3).splitlines()
    assert lines == [
        'a cycle: "X" under "Y" under "X"; a label cannot be its own ancestor',
        '"Bachelors" has two parents: "High" (row 1) and "Low" (row 2); labels must be unique',
        "education: 2 values (3 rows) are missing from the hierarchy; add the missing rows to the hierarchy",
    ]
    loud = run("check", "bad.csv", "--data", "people.csv", "--column", "education", "--show-values", code=3)
    assert '"Masters", "11th"' in loud


def test_check_of_rules_and_doubts(here):
    (here / "age.toml").write_text("intervals = [5, 10]")
    assert run("check", "age.toml", "--data", "people.csv", "--column", "age") == (
        "rule    {'intervals': [5, 10]}\n"
        "data    all 3 values of 'age' (3 rows) are in the hierarchy\n"
        "        1 row is without a value\n"
    )
    (here / "age.csv").write_text("5;0-4;*\n6;5-9;*\n")
    assert 'note: 1 value lies outside the range that a label above states, such as "5" under "0-4"' in run(
        "check", "age.csv"
    )
    assert "go together" in run("check", "age.csv", "--data", "people.csv", code=2)
    assert "cannot be read" in run("check", "nowhere.csv", code=3)


def test_show(here):
    assert run("show", "education.csv") == (
        "*  (4 leaves)\n"
        "├── High  (2 leaves)\n"
        "│   ├── Bachelors\n"
        "│   └── Masters\n"
        "└── Low  (2 leaves)\n"
        "    ├── 11th\n"
        "    └── 9th\n"
    )
    assert run("show", "education.csv", "--data", "people.csv", "--column", "education") == (
        "*  (3 leaves, 4 rows)\n"
        "├── High  (2 leaves, 3 rows)\n"
        "│   ├── Bachelors  (1 row)\n"
        "│   └── Masters  (2 rows)\n"
        "└── Low  (1 leaf, 1 row)\n"
        "    └── 11th  (1 row)\n"
    )


def test_show_of_a_rule_needs_data(here):
    (here / "age.toml").write_text("intervals = [5, 10]")
    assert "--data" in run("show", "age.toml", code=2)
    # Labels in brackets are not taken for rich's markup.
    assert "[15-19]" in run("show", "age.toml", "--data", "people.csv", "--column", "age")


def test_show_cuts_what_is_long(here):
    label = "x" * 300
    values = [f"v{number}" for number in range(47)]
    Hierarchy.from_mapping({"Long": values, "Eleven": [f"w{n}" for n in range(11)], label: ["y"]}).to_csv("long.csv")
    shown = run("show", "long.csv")
    assert "… and 37 more" in shown
    assert "v9" in shown
    assert "v10" not in shown
    assert "w10" in shown
    assert label in shown
    everything = run("show", "long.csv", "--all")
    assert "more" not in everything
    assert all(value in everything for value in values)


def test_show_cuts_what_is_deep(here):
    Hierarchy.from_rows([[f"n{level}" for level in range(30)]]).to_csv("deep.csv")
    assert "deeper levels: use --all" in run("show", "deep.csv")
    assert "n0" in run("show", "deep.csv", "--all")
