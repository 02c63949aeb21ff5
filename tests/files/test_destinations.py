"""No result is ever written over what it is made from: the input, the configuration, hierarchies, populations."""

import os
import sqlite3

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import coterie
from coterie.cli.app import main
from coterie.errors import ConfigError
from coterie.files.destinations import check_apart
from coterie.settings.config import Config

ROLES = {"quasi": ["age", "sex"], "sensitive": ["disease"], "k": 2, "method": "mondrian"}
TOML = 'quasi = ["age", "sex"]\nsensitive = ["disease"]\nk = 2\nmethod = "mondrian"\n'


def people(rows=40) -> pa.Table:
    return pa.table(
        {
            "age": [20 + row % 7 for row in range(rows)],
            "sex": [("f", "m")[row % 2] for row in range(rows)],
            "disease": [("flu", "gout", "cold")[row % 3] for row in range(rows)],
        }
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with an input, links to it, a configuration, a hierarchy and a population."""
    monkeypatch.chdir(tmp_path)
    csv.write_csv(people(), "people.csv")
    csv.write_csv(people().drop_columns("disease"), "all.csv")
    (tmp_path / "sex.csv").write_text("f;*\nm;*\n")
    (tmp_path / "settings.toml").write_text(TOML + 'privacy = ["k-map:2:all.csv"]\n[hierarchies]\nsex = "sex.csv"\n')
    (tmp_path / "link.csv").symlink_to("people.csv")
    os.link("people.csv", "hard.csv")
    (tmp_path / "sub").mkdir()
    return tmp_path


def state(folder) -> dict:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


NAMES = ["people.csv", "link.csv", "hard.csv", "sub/../people.csv"]


@pytest.mark.parametrize("engine", ["memory", "blocks"])
@pytest.mark.parametrize("name", NAMES)
def test_the_input_is_never_overwritten(folder, name, engine):
    before = state(folder)
    ways = {**ROLES, "engine": engine, "force": True}
    with pytest.raises(ConfigError, match="output: is the input itself; name another file"):
        coterie.anonymize("people.csv", **ways, output=name)
    with pytest.raises(ConfigError, match="mapping: is the input itself; name another file"):
        coterie.anonymize("people.csv", **ways, output="out.csv", mapping=name)
    assert state(folder) == before


@pytest.mark.parametrize("name", NAMES)
def test_a_release_knows_its_input_wherever_it_is_written_from(folder, name, monkeypatch):
    release = coterie.anonymize("people.csv", **ROLES)
    before = state(folder)
    monkeypatch.chdir(folder / "sub")
    with pytest.raises(ConfigError, match="output: is the input itself"):
        release.write(folder / name, force=True)
    os.link(folder / "people.csv", folder / "people.html")
    with pytest.raises(ConfigError, match="report: is the input itself"):
        release.report(folder / "people.html", force=True)
    (folder / "people.html").unlink()
    assert state(folder) == before


ORIGINALS = {
    "all.csv": "is the population of k-map",
    "sex.csv": "is the hierarchy of 'sex'",
}


@pytest.mark.parametrize("engine", ["memory", "blocks"])
@pytest.mark.parametrize("name", ORIGINALS)
def test_what_the_configuration_names_is_never_overwritten(folder, name, engine):
    before = state(folder)
    ways = {"config": "settings.toml", "engine": engine, "force": True}
    with pytest.raises(ConfigError, match=f"output: {ORIGINALS[name]}; name another file"):
        coterie.anonymize("people.csv", **ways, output=name)
    with pytest.raises(ConfigError, match=f"mapping: {ORIGINALS[name]}; name another file"):
        coterie.anonymize("people.csv", **ways, output="out.csv", mapping=name)
    release = coterie.anonymize("people.csv", config="settings.toml")
    with pytest.raises(ConfigError, match=ORIGINALS[name]):
        release.write(name, force=True)
    assert state(folder) == before


@pytest.mark.parametrize("engine", ["memory", "blocks"])
def test_settings_beside_a_release_never_replace_the_configuration_in_use(folder, engine):
    (folder / "out.coterie.toml").write_text(TOML)
    before = state(folder)
    said = r"output: its settings would go to out\.coterie\.toml, which is the configuration in use; give the output"
    for config in ("out.coterie.toml", Config.from_toml("out.coterie.toml").replace(k=3)):
        with pytest.raises(ConfigError, match=said):
            coterie.anonymize("people.csv", config=config, engine=engine, output="out.csv", force=True)
    with pytest.raises(ConfigError, match=said):
        coterie.anonymize("people.csv", config="out.coterie.toml").write("out.csv", force=True)
    assert state(folder) == before
    coterie.anonymize("people.csv", config="out.coterie.toml", engine=engine, output="other.csv", force=True)
    assert (folder / "out.coterie.toml").read_text() == TOML


@pytest.mark.parametrize("engine", ["memory", "blocks"])
def test_the_command_line_refuses_likewise(folder, engine, capsys):
    (folder / "out.coterie.toml").write_text(TOML)
    before = state(folder)
    for output, said in (("hard.csv", "is the input itself"), ("out.csv", "the configuration in use")):
        flags = ["-c", "out.coterie.toml", "--engine", engine, "-o", output, "--force"]
        assert main(["anonymize", "people.csv", *flags]) == 2
        assert said in capsys.readouterr().err
    assert state(folder) == before


def test_other_commands_refuse_likewise(folder, capsys):
    before = state(folder)
    assert main(["init", "people.csv", "-o", "hard.csv", "--force"]) == 2
    build = ["hierarchy", "build", "people.csv", "--column", "sex", "--flat", "-o", "link.csv", "--force"]
    assert main(build) == 2
    assert main(["compare", "people.csv", "-c", "settings.toml", "-o", "sex.csv", "--force"]) == 2
    assert capsys.readouterr().err.count("name another file") == 3
    assert state(folder) == before


def test_two_results_are_never_one_file(folder):
    for name in ("out.csv", "sub/../out.csv"):
        with pytest.raises(ConfigError, match="mapping: needs its own file"):
            coterie.anonymize("people.csv", **ROLES, output="out.csv", mapping=name)


def test_what_cannot_be_written_is_said_before_the_work(folder):
    (folder / "out.csv").write_text("there")
    steps = []
    with pytest.raises(ConfigError, match="exists already"):
        coterie.anonymize("people.csv", **ROLES, output="out.csv", progress=lambda *step: steps.append(step))
    assert not steps


def test_a_folder_that_holds_the_input_is_never_replaced(folder):
    parquet.write_table(people(), "sub/people.parquet")
    before = state(folder)
    ways = {**ROLES, "engine": "blocks", "force": True}
    for data, output in (
        ("sub/people.parquet", "sub/"),
        ("sub", "sub/"),
        ("sub", "sub/people.parquet"),
    ):
        with pytest.raises(ConfigError, match="output: is the input itself"):
            coterie.anonymize(data, **ways, output=output)
    assert state(folder) == before


def test_a_table_of_a_database_is_never_replaced_by_its_release(folder):
    with sqlite3.connect("people.db") as connection:
        connection.execute("create table people (age, sex, disease)")
        rows = zip(*people().to_pydict().values(), strict=True)
        connection.executemany("insert into people values (?, ?, ?)", rows)
    connection.close()
    before = state(folder)
    place = "sqlite:///people.db#people"
    with pytest.raises(ConfigError, match="output: is the input itself; name another table"):
        coterie.anonymize(place, **ROLES, output="sqlite:///sub/../people.db#People", force=True)
    with pytest.raises(ConfigError, match="output: is the input itself; name another table"):
        coterie.anonymize(place, **ROLES).write(place, force=True)
    assert state(folder) == before


def test_where_a_configuration_was_read_is_no_setting(folder):
    read = Config.from_toml("settings.toml")
    same = Config.from_dict(read.to_dict())
    assert (read.file, same.file) == (folder / "settings.toml", None)
    assert read == same
    assert read.replace(k=5).file == read.file
    assert "file" not in read.to_dict()


def test_a_workbook_is_never_replaced_by_the_release_of_one_of_its_sheets(folder):
    """Formats of other distributions may be written into workbooks."""
    (folder / "people.xlsx").write_bytes(b"a workbook")
    with pytest.raises(ConfigError, match="output: is the input itself"):
        check_apart("people.xlsx#people", None, output="people.xlsx")
    check_apart("other.xlsx#people", None, output="people.xlsx")


def test_two_outputs_need_two_places(folder):
    """Whether they exist or not, and whatever they are: the second would replace the first."""
    apart = [("out.csv", "map.csv"), ("sqlite:///out.db#a", "out.csv"), ("out.csv", "sqlite:///out.db#a"),
             ("sqlite:///out.db#a", "sqlite:///out.db#b")]  # fmt: skip
    for output, mapping in apart:
        check_apart("people.csv", None, output=output, mapping=mapping)
    (folder / "there.csv").write_text("x")
    (folder / "again.csv").symlink_to("there.csv")
    same = [("out.csv", "sub/../out.csv"), ("there.csv", "again.csv"), ("sqlite:///out.db#a", "sqlite:///out.db#A")]
    for output, mapping in same:
        with pytest.raises(ConfigError, match="mapping: needs its own file"):
            check_apart("people.csv", None, output=output, mapping=mapping)


@pytest.mark.parametrize("name", ["o" * 300 + ".csv", "a\0b.csv"], ids=["too long", "no name"])
def test_a_name_that_no_file_can_have_is_not_the_input(folder, name):
    check_apart("people.csv", None, output=name, settings_beside=False)
    check_apart(name, None, output="people.csv", settings_beside=False)
