"""Every column is decided by a person: a column that nobody decided on is not published."""

import json
import re
import shlex
import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv, parquet

import coterie
from coterie.cli.app import main, one_line
from coterie.errors import ConfigError
from coterie.reporting.contents import gather
from coterie.settings.roles import flag_text, parse_names, toml_text

ROWS = 40
TABLE = pa.table(
    {
        "name": [f"Zebulon{i}" for i in range(ROWS)],
        "age": [20 + i * 7 % 50 for i in range(ROWS)],
        "ssn": [f"9{i:02}-11-2222" for i in range(ROWS)],
        "zip": [f"{2138 + i % 4:05}" for i in range(ROWS)],
        "visits": [i % 5 for i in range(ROWS)],
    }
)
ROLES = {"quasi": ["age", "zip"], "k": 3, "method": "mondrian"}
DECIDED = {**ROLES, "identifiers": ["name"], "drop": ["ssn"], "keep": ["visits"]}
FLAGS = ["--quasi", "age,zip", "-k", "3", "--method", "mondrian"]


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A folder with the table as a CSV and a Parquet file and in a database."""
    monkeypatch.chdir(tmp_path)
    csv.write_csv(TABLE, "people.csv")
    parquet.write_table(TABLE, "people.parquet")
    with closing(sqlite3.connect("people.db")) as connection:
        TABLE.to_pandas().to_sql("people", connection, index=False)
    return tmp_path


def in_memory(data, **settings):
    return coterie.anonymize(data, **settings).arrow


def in_blocks(path, **settings):
    release = coterie.anonymize(path, engine="blocks", block_rows=12, memory="1GB", output="blocks.parquet", **settings)
    assert release.blocks > 1
    return parquet.read_table("blocks.parquet")


WAYS = {
    "arrow": (in_memory, TABLE),
    "pandas": (in_memory, TABLE.to_pandas()),
    "polars": (in_memory, pl.DataFrame(TABLE)),
    "polars, lazy": (in_memory, pl.DataFrame(TABLE).lazy()),
    "csv": (in_memory, "people.csv"),
    "parquet": (in_memory, "people.parquet"),
    "sqlite": (in_memory, "sqlite:///people.db#people"),
    "blocks, csv": (in_blocks, "people.csv"),
    "blocks, parquet": (in_blocks, "people.parquet"),
}


@pytest.fixture(params=WAYS)
def way(request, folder):
    """Something that makes a release of the table from some kind of data, with settings to be given."""
    make, data = WAYS[request.param]
    return lambda **settings: make(data, **settings)


def files(folder):
    return {path.name for path in folder.rglob("*")}


def test_columns_without_a_role_are_refused(way, folder):
    before = files(folder)
    with pytest.raises(ConfigError) as caught:
        way(**ROLES)
    (problem,) = caught.value.problems
    assert problem.path == "roles"
    assert problem.text.startswith("3 columns have no role: 'name', 'ssn', 'visits'; decide on each: keep (published")
    assert '`keep = ["name", "ssn", "visits"]` or `--keep name,ssn,visits`' in str(caught.value)
    assert '`drop = ["name", "ssn", "visits"]` or `--drop name,ssn,visits`' in str(caught.value)
    assert caught.value.exit_code == 2
    assert "Zebulon" not in str(caught.value)
    assert files(folder) == before


def test_one_column_without_a_role_is_refused(way):
    with pytest.raises(ConfigError, match=r"^roles: 1 column has no role: 'ssn'; decide on it: "):
        way(**ROLES, keep=["name", "visits"])


def test_kept_columns_are_published_unchanged_and_dropped_ones_left_out(way):
    found = way(**DECIDED)
    assert found.column_names == ["age", "zip", "visits"]
    assert [int(cell) for cell in found["visits"].to_pylist()] == TABLE["visits"].to_pylist()
    assert found["age"].to_pylist() != TABLE["age"].to_pylist()


def test_all_ways_publish_the_same_cells_whether_a_column_is_dropped_or_an_identifier(way):
    dropped = way(**DECIDED)
    settings = {**DECIDED, "identifiers": [], "drop": ["ssn", "name"]}
    Path("blocks.parquet").unlink(missing_ok=True)
    Path("blocks.parquet.coterie.toml").unlink(missing_ok=True)
    assert way(**settings).equals(dropped)


@pytest.mark.parametrize("setting", ["keep", "drop"])
def test_columns_that_the_table_lacks(way, setting):
    with pytest.raises(ConfigError) as caught:
        way(**{**DECIDED, setting: [*DECIDED[setting], "visitz"]})
    assert [tuple(each) for each in caught.value.problems] == [
        (setting, "the table has no column 'visitz' (did you mean 'visits'?)")
    ]


def test_the_entity_is_decided_and_may_be_dropped_too(way):
    settings = {**ROLES, "keep": ["visits", "ssn"], "entity": "name"}
    assert way(**settings).column_names == ["age", "ssn", "zip", "visits"]
    Path("blocks.parquet").unlink(missing_ok=True)
    Path("blocks.parquet.coterie.toml").unlink(missing_ok=True)
    assert way(**settings, drop=["name"]).column_names == ["age", "ssn", "zip", "visits"]


# --- the command line -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "more",
    [
        ["-o", "out.csv"],
        ["-o", "-"],
        ["--dry-run"],
        ["-o", "out.csv", "--engine", "blocks", "--block-rows", "12"],
        ["-o", "sqlite:///people.db#published"],
    ],
)
@pytest.mark.parametrize("data", ["people.csv", "sqlite:///people.db#people"])
def test_the_command_line_refuses_and_writes_nothing(folder, capsys, data, more):
    if "blocks" in more and data.startswith("sqlite"):
        pytest.skip("blocks read files")
    before = files(folder)
    assert main(["anonymize", data, *FLAGS, *more]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: roles: 3 columns have no role: 'name', 'ssn', 'visits'; ")
    assert captured.err.count("\n") == 1
    assert "Zebulon" not in captured.err
    assert files(folder) == before
    with closing(sqlite3.connect("people.db")) as connection:
        assert connection.execute("select name from sqlite_master").fetchall() == [("people",)]


def test_flags_decide(folder, capsys):
    arguments = ["anonymize", "people.csv", *FLAGS, "--identifier", "name", "--keep", "visits", "--drop", "ssn"]
    assert main([*arguments, "-o", "out.csv"]) == 0
    assert csv.read_csv("out.csv").column_names == ["age", "zip", "visits"]
    written = tomllib.loads(Path("out.coterie.toml").read_text())
    assert (written["keep"], written["drop"], written["identifiers"]) == (["visits"], ["ssn"], ["name"])


def test_a_flag_replaces_the_list_of_the_file(folder, capsys):
    Path("c.toml").write_text('quasi = ["age", "zip"]\nk = 3\nkeep = ["visits"]\ndrop = ["ssn", "name"]\n')
    arguments = ["anonymize", "people.csv", "-c", "c.toml", "--dry-run"]
    assert main(arguments) == 0
    # Nothing that a file keeps becomes undecided unnoticed, and nothing that it drops is published unasked.
    assert main([*arguments, "--keep", "ssn"]) == 2
    assert "1 column has no role: 'visits'" in capsys.readouterr().err
    assert main([*arguments, "--quasi", "age,zip,visits"]) == 0
    assert main([*arguments, "--drop", "ssn,name,visits"]) == 0


# --- what can be pasted ---------------------------------------------------------------------------------------------

ODD = [
    "a,b",
    'say "hi"',
    "it's",
    "back\\slash",
    "tab\there",
    "two  spaces",
    " around ",
    "$HOME `x`",
    "-k",
    "né 日",
    "#",
    "line\nbreak",
]


def pasted(text: str, setting: str) -> tuple[str, str | None]:
    """The line for a file and the flag that a message gives for a setting."""
    found = re.search(rf"`({setting} = \[.*?\])`(?: or `(--{setting} .*?)`)?\. (?:To|$)", text + " ")
    assert found, text
    return found[1], found[2]


@pytest.mark.parametrize(
    "columns", [["name", "ssn"], ODD[:5], ["a,b", 'say "hi"', "it's"], ["$HOME `x`", "-k", "né 日"], ODD]
)
@pytest.mark.parametrize("setting", ["keep", "drop"])
def test_pasted_lines_work(tmp_path, monkeypatch, capsys, columns, setting):
    monkeypatch.chdir(tmp_path)
    table = pa.table({"age": [1, 2, 3, 4], **{name: [5, 6, 7, 8] for name in columns}})
    parquet.write_table(table, "in.parquet")
    arguments = ["anonymize", "in.parquet", "--quasi", "age", "-k", "2", "--dry-run"]
    assert main(arguments) == 2
    line, flag = pasted(capsys.readouterr().err.strip(), setting)
    Path("c.toml").write_text(f'quasi = ["age"]\nk = 2\n{line}\n', encoding="utf-8")
    assert main(["anonymize", "in.parquet", "-c", "c.toml", "-o", "out.parquet"]) == 0
    expected = ["age", *columns] if setting == "keep" else ["age"]
    assert parquet.read_schema("out.parquet").names == expected
    # The same line is an argument in Python.
    assert eval(f"dict({line})") == {setting: columns}
    if flag is not None:
        assert main([*arguments, *shlex.split(flag)]) == 0
    assert (flag is None) == (len({"tab\there", "two  spaces", " around ", "line\nbreak"} & set(columns)) > 0)


def test_pasted_lines_go_on_with_what_is_there(folder, capsys):
    Path("c.toml").write_text('quasi = ["age", "zip"]\nk = 3\nkeep = ["visits"]\n')
    assert main(["anonymize", "people.csv", "-c", "c.toml", "--dry-run"]) == 2
    err = capsys.readouterr().err
    assert pasted(err.strip(), "keep") == ('keep = ["visits", "name", "ssn"]', "--keep visits,name,ssn")
    assert pasted(err.strip(), "drop") == ('drop = ["name", "ssn"]', "--drop name,ssn")
    assert main(["anonymize", "people.csv", "-c", "c.toml", "--dry-run", "--keep", "visits,name,ssn"]) == 0


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=8), min_size=1, max_size=5))
def test_names_survive_being_written_down(names):
    line = one_line(f"keep = [{', '.join(map(toml_text, names))}]")
    assert tomllib.loads(line) == {"keep": names}
    assert eval(f"dict({line})") == {"keep": names}
    if flag := flag_text(names):
        assert [parse_names([part]) for part in shlex.split(one_line(flag))] == [names]


def test_long_lists_are_shortened():
    table = pa.table({f"column {i}": [1, 2] for i in range(30)})
    with pytest.raises(ConfigError) as caught:
        coterie.anonymize(table, quasi=["column 0"], k=2)
    text = str(caught.value)
    assert "29 columns have no role: 'column 1', 'column 2', " in text
    assert "'column 12' and 17 more; decide on each" in text
    assert "'column 13'" not in text
    assert "coterie init" in text
    assert len(text) < 500


# --- the configuration ----------------------------------------------------------------------------------------------


def problems(**settings):
    with pytest.raises(ConfigError) as caught:
        coterie.Config(**settings)
    return [tuple(each) for each in caught.value.problems]


def test_a_column_has_one_role():
    assert problems(quasi=["a"], keep=["a"]) == [
        ("keep", "column 'a' is already listed in quasi; a column has one role")
    ]
    assert problems(keep=["a"], drop=["a"]) == [("drop", "column 'a' is already listed in keep; a column has one role")]
    assert problems(keep=["a", "a"]) == [("keep", "column 'a' is listed twice; list it once")]
    assert problems(identifiers=["a"], drop=["a"])[0][0] == "drop"


def test_whose_row_it_is_is_never_published():
    assert problems(entity="a", keep=["a"]) == [
        ("entity", "column 'a' is already listed in keep; it is left out instead")
    ]
    assert coterie.Config(entity="a", drop=["a"]).drop == ("a",)
    assert coterie.Config(entity="a", identifiers=["a"]).identifiers == ("a",)


def test_a_change_of_role_takes_a_column_out_of_keep_and_drop():
    config = coterie.Config(**DECIDED)
    assert config.replace(quasi=["age", "zip", "visits"]).keep == ()
    assert config.replace(drop=["ssn", "visits"]).keep == ()
    assert config.replace(keep=["visits", "ssn"]).drop == ()
    assert config.replace(entity="visits").keep == ()
    assert config.replace(entity="ssn").drop == ("ssn",)
    assert coterie.Config.build(DECIDED, sensitive="visits").keep == ()
    # What is said in the same breath has to agree.
    with pytest.raises(ConfigError, match="one role"):
        config.replace(keep=["visits"], drop=["visits"])
    with pytest.raises(ConfigError, match="one role"):
        config.replace(keep=["name"])


def test_it_goes_to_toml_and_back(tmp_path):
    config = coterie.Config(**DECIDED)
    (tmp_path / "c.toml").write_text(config.to_toml())
    assert coterie.Config.from_toml(tmp_path / "c.toml") == config
    assert (config.to_dict()["keep"], config.to_dict()["drop"]) == (["visits"], ["ssn"])


def test_names_from_other_tools_are_understood():
    assert problems(insensitive=["a"])[0][1].endswith("(did you mean 'keep'?)")
    assert problems(exclude=["a"])[0][1].endswith("(did you mean 'drop'?)")


# --- what publishes nothing -----------------------------------------------------------------------------------------


def test_what_publishes_nothing_does_not_refuse(folder, capsys):
    release = coterie.anonymize("people.csv", **DECIDED)
    release.write("out.csv")
    for config in (ROLES, DECIDED):
        assert coterie.verify("out.csv", config=config).passed
        assert coterie.measure("people.csv", "out.csv", config=config)["gcp"] == pytest.approx(release.measures["gcp"])
        assert coterie.utility("people.csv", "out.csv", config=config, queries=5).queries is not None
        assert coterie.compare("people.csv", config=config, methods="mondrian", k=3, queries=5).rows[0].status == "done"
        assert coterie.risk("people.csv", config=config).rows == ROWS
        assert coterie.attack("out.csv", "people.csv", config=config) is not None
    for command in (["verify", "out.csv"], ["measure", "people.csv", "out.csv"], ["risk", "people.csv"]):
        assert main([*command, "-c", "out.coterie.toml"]) == 0, command
    capsys.readouterr()
    assert main(["explain", "people.csv", *FLAGS, "--json"]) == 0
    undecided = json.loads(capsys.readouterr().out)
    assert main(["explain", "people.csv", "-c", "out.coterie.toml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == undecided
    assert main(["compare", "people.csv", *FLAGS[:2], "--methods", "mondrian", "-k", "3", "--drop", "ssn"]) == 0


def test_finished_runs_of_a_comparison_hold_whatever_is_kept(folder):
    settings = {"methods": "mondrian", "k": 3, "queries": 0, "results": "runs.jsonl"}
    coterie.compare("people.csv", config=ROLES, **settings)
    assert coterie.compare("people.csv", config=ROLES, keep=["visits"], drop=["ssn"], **settings).resumed == 1


def test_a_release_without_roles_publishes_nothing_of_them():
    """Whatever way a table comes in: a column gets into a release only by its role."""
    from coterie.engines.memory.run import make_release
    from coterie.engines.memory.source import prepare
    from coterie.engines.steps import start_run

    config = coterie.Config(**ROLES)
    release = make_release(prepare(TABLE, config, publishes=False), config, start_run(config))
    assert release.arrow.column_names == ["age", "zip"]


# --- init and the report --------------------------------------------------------------------------------------------


def test_init_puts_every_column_into_a_list(folder, capsys):
    table = TABLE.append_column("reading", pa.array([i % 9 / 8 for i in range(ROWS)])).append_column(
        "same", pa.array(["x"] * ROWS)
    )
    csv.write_csv(table, "more.csv")
    assert main(["init", "more.csv"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^reading\s+keep\b", shown, re.MULTILINE)
    text = Path("coterie.toml").read_text()
    found = tomllib.loads(text)
    lists = [found[role] for role in ("quasi", "sensitive", "identifiers", "keep", "drop")]
    assert sorted(name for each in lists for name in each) == sorted(table.column_names)
    assert found["keep"] == ["reading", "same"]
    above = text[: text.index("keep = [")].rpartition("\n\n")[2]
    assert above.startswith("# ")
    assert "publish unchanged" in above
    assert '"reading",  # decimal numbers' in text
    assert main(["anonymize", "more.csv", "-c", "coterie.toml", "--dry-run"]) == 0


def test_the_report_lists_what_was_kept_and_dropped(few_queries):
    report = gather(coterie.anonymize(TABLE, **DECIDED), "internal")
    roles = {each.name: each.role for each in report.attributes}
    assert roles == {
        "age": "quasi-identifier",
        "zip": "quasi-identifier",
        "name": "identifier",
        "visits": "kept",
        "ssn": "dropped",
    }
    parts = {each.name: each for each in report.attributes}
    assert parts["visits"].changed == 0
    assert parts["visits"].techniques == []
    assert parts["ssn"].techniques == ["masking"]
    assert any("published unchanged" in each and "visits" in each for each in report.limits)
    assert not any("ssn" in each for each in report.limits)


def test_pandas_and_the_release_agree_on_the_columns():
    frame = coterie.anonymize(TABLE.to_pandas(), **DECIDED).frame
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["age", "zip", "visits"]
