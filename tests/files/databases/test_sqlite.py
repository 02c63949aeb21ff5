"""SQLite: types, names, transactions, and what messages do not say."""

import datetime as dt
import sqlite3
import subprocess
import sys
import tomllib
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

import coterie
from coterie.cli.app import main
from coterie.errors import ConfigError, DataError
from coterie.files import tables as cio
from coterie.files.databases import sqlite as sqlite_driver


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Releases leave a file in the current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*statements, file="a.db"):
    with closing(sqlite3.connect(file)) as connection:
        for statement in statements:
            found = connection.execute(statement).fetchall()
        connection.commit()
    return found


def test_types_and_missing_values_come_back():
    table = pa.table(
        {
            "whole": pa.array([1, None, -(2**63)]),
            "real": pa.array([1.5, None, 2.0]),
            "text": pa.array(["Zoë's “x” 🙂\n", None, ""]),
            "born": pa.array([dt.date(1950, 1, 2), None, dt.date(2024, 2, 29)]),
            "seen": pa.array([dt.datetime(2024, 1, 1, 1, 2, 3), None, None], pa.timestamp("s")),
            "fine": pa.array([dt.datetime(2024, 1, 1, 1, 2, 3, 5), None, None], pa.timestamp("us")),
            "member": pa.array([True, None, False]),
            "photo": pa.array([b"\x00\xff", None, b""]),
            'odd "name"; --': pa.array(["x", None, "y"]),
        }
    )
    assert cio.write(table, "sqlite:///a.db#people") == ""
    source = cio.read("sqlite:///a.db#people")
    assert source.table.equals(table)
    assert (source.name, source.kind, source.path) == ("sqlite:///a.db#people", "file", None)


def test_types_that_sqlite_lacks_are_stored_in_the_nearest():
    table = pa.table(
        {
            "small": pa.array([1, None], pa.int8()),
            "unsigned": pa.array([2**64 - 1, None], pa.uint64()),
            "pay": pa.array([Decimal("1.10"), None]),
            "category": pa.array(["a", None]).dictionary_encode(),
            "large": pa.array(["a", None], pa.large_string()),
            "nothing": pa.nulls(2),
            "sent": pa.array([dt.datetime(2024, 1, 1, tzinfo=dt.UTC), None]),
            "wake": pa.array([dt.time(1, 2), None]),
            "half": pa.array([1.5, None], pa.float16()),
        }
    )
    cio.write(table, "sqlite:///a.db#t")
    rows = cio.read("sqlite:///a.db#t").table.to_pylist()
    assert rows[1] == dict.fromkeys(table.column_names)
    assert rows[0] == {
        "small": 1, "unsigned": str(2**64 - 1), "pay": "1.10", "category": "a", "large": "a", "nothing": None,
        "sent": "2024-01-01 00:00:00Z", "wake": "01:02:00.000000", "half": 1.5,
    }  # fmt: skip
    for nested in ({"a": 1}, [1, 2]):
        with pytest.raises(DataError, match=r"Column 'nested' is of type (struct|list)"):
            cio.write(pa.table({"nested": [nested]}), "sqlite:///a.db#u")


def test_declared_types_hold_only_where_every_value_is_one():
    run(
        "CREATE TABLE t (day DATE, flag BOOLEAN, at DATETIME)",
        "INSERT INTO t VALUES ('2024-01-01', 1, '2024-01-01 00:00:00'), ('yesterday', 2, '2024-01-01T00:00:00')",
    )
    table = cio.read("sqlite:///a.db#t").table
    assert table.to_pydict() == {
        "day": ["2024-01-01", "yesterday"],
        "flag": [1, 2],
        "at": ["2024-01-01 00:00:00", "2024-01-01T00:00:00"],
    }


def test_a_column_of_several_types_has_the_one_that_holds_them_all(monkeypatch):
    monkeypatch.setattr(sqlite_driver, "BATCH", 2)
    run(
        "CREATE TABLE t (mixed, number, huge, late)",
        "INSERT INTO t VALUES (1, 1, 1, NULL), (2, 2, 2, NULL)",
        "INSERT INTO t VALUES ('x', 1.5, 9007199254740993, 'x'), (NULL, 2, 0.5, NULL)",
    )
    assert cio.read("sqlite:///a.db#t").table.to_pydict() == {
        "mixed": ["1", "2", "x", None],
        "number": [1.0, 2.0, 1.5, 2.0],
        "huge": ["1", "2", "9007199254740993", "0.5"],
        "late": [None, None, "x", None],
    }
    run("UPDATE t SET mixed = x'53454352' WHERE mixed = 2")
    with pytest.raises(DataError, match="mixes blobs with other values") as caught:
        cio.read("sqlite:///a.db#t")
    assert "SECR" not in str(caught.value)


def test_batches_make_one_table(monkeypatch, people):
    cio.write(people, "sqlite:///a.db#whole")
    monkeypatch.setattr(sqlite_driver, "BATCH", 2)
    cio.write(people, "sqlite:///a.db#parts")
    assert cio.read("sqlite:///a.db#parts").table.equals(people)
    assert cio.read("sqlite:///a.db#whole").table.equals(people)


def test_rows_come_by_row_number_or_as_the_query_says():
    run(
        "CREATE TABLE t (a INTEGER PRIMARY KEY, b)",
        "INSERT INTO t VALUES (3, 'x'), (1, 'y'), (2, 'z')",
        "CREATE INDEX covering ON t (b, a)",
        "CREATE VIEW v AS SELECT b FROM t WHERE a > 1",
        "CREATE TABLE w (b TEXT PRIMARY KEY) WITHOUT ROWID",
        "INSERT INTO w VALUES ('q'), ('p')",
    )
    assert cio.read("sqlite:///a.db#t").table["a"].to_pylist() == [1, 2, 3]
    assert cio.read("sqlite:///a.db#main.T").table["a"].to_pylist() == [1, 2, 3]
    assert sorted(cio.read("sqlite:///a.db#v").table["b"].to_pylist()) == ["x", "z"]
    assert cio.read("sqlite:///a.db#w").table["b"].to_pylist() == ["p", "q"]
    assert cio.read("sqlite:///a.db#select a from t order by b desc").table["a"].to_pylist() == [2, 1, 3]


def test_names_are_quoted():
    table = pa.table({'a"b': [1], "select": [2]})
    cio.write(table, 'sqlite:///a.db#"x""; DROP TABLE y; --.z"')
    assert cio.read('sqlite:///a.db#"x""; DROP TABLE y; --.z"').table.equals(table)
    with pytest.raises(DataError, match="takes the columns 'A', 'a' for the same"):
        cio.write(pa.table({"A": [1], "a": [2]}), "sqlite:///a.db#t")


def test_an_existing_table_is_replaced_only_on_request():
    old, new = pa.table({"a": [1]}), pa.table({"b": ["x", "y"]})
    cio.write(old, "sqlite:///a.db#t")
    with pytest.raises(ConfigError, match=r"a\.db#T exists already"):
        cio.write(new, "sqlite:///a.db#T")
    cio.write(new, "sqlite:///a.db#t", force=True)
    assert cio.read("sqlite:///a.db#t").table.equals(new)
    run("CREATE VIEW v AS SELECT * FROM t")
    with pytest.raises(ConfigError, match="is a view, not a table"):
        cio.write(new, "sqlite:///a.db#v", force=True)


def test_a_failure_in_the_middle_leaves_what_was_there(monkeypatch):
    monkeypatch.setattr(sqlite_driver, "BATCH", 2)
    cio.write(pa.table({"a": ["before"]}), "sqlite:///a.db#t")
    # Bytes that are no text, as a faulty program may leave them in an Arrow table.
    bad = pa.chunked_array(
        [pa.array(["fine"] * 5), pa.Array.from_buffers(pa.string(), 1, pa.array([b"SECRET\xff"]).buffers())]
    )
    for place, force in (("sqlite:///a.db#t", True), ("sqlite:///a.db#u", False), ("sqlite:///new.db#t", False)):
        with pytest.raises(DataError, match="text that is not UTF-8") as caught:
            cio.write(pa.table({"a": bad}), place, force=force)
        assert "SECRET" not in str(caught.value)
    assert cio.read("sqlite:///a.db#t").table.to_pydict() == {"a": ["before"]}
    assert run("SELECT name FROM sqlite_master") == [("t",)]
    assert not Path("new.db").exists()


KILLED = """
import os, sys
import pyarrow as pa
from coterie.files import tables as io
from coterie.files.databases import sqlite as io_sqlite

io_sqlite.BATCH = 1000
def batches(given):
    for number, batch in enumerate(given):
        if number == 50:
            os.kill(os.getpid(), 9)
        yield batch
class Table:
    def __init__(self, made): self.made = made
    def to_batches(self, **how): return batches(self.made.to_batches(**how))
made = pa.table
io_sqlite.pa = type(pa)("dies")
io_sqlite.pa.__dict__.update(pa.__dict__)
io_sqlite.pa.table = lambda *a, **b: Table(made(*a, **b))
io.write(made({"a": ["x" * 1000] * 60000}), "sqlite:///a.db#t", force=True)
"""


def test_a_killed_run_leaves_what_was_there():
    cio.write(pa.table({"a": ["before"]}), "sqlite:///a.db#t")
    done = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, check=False)
    assert done.returncode == -9, done.stderr
    assert Path("a.db").stat().st_size > 10_000_000 or Path("a.db-journal").exists(), "it died before it wrote"
    assert run("SELECT * FROM t") == [("before",)]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("sqlite:///none.db#t", "There is no file none.db"),
        ("sqlite:///a.db#none", r"There is no table none in sqlite:///a\.db\. There is people\."),
        ("sqlite:///a.db#temp.people", "has no schema 'temp'"),
        ("sqlite:///text.db#t", "is not an SQLite database"),
        ("sqlite:///a.db#select SECRET from people", "refers to a column that does not exist"),
        ("sqlite:///a.db#select * from SECRET", "refers to a table that does not exist"),
        ("sqlite:///a.db#select * fro people where name = 'SECRET'", "is refused by SQLite"),
        ("sqlite:///a.db#with x as (select 'SECRET') delete from people", "is open for reading only"),
        ("sqlite:///a.db#select * from people where 0", "has a header but no rows"),
    ],
)
def test_what_cannot_be_read_is_explained(people, address, said):
    cio.write(people, "sqlite:///a.db#people")
    Path("text.db").write_text("SECRET,text\n" * 1000, encoding="utf-8")
    with pytest.raises((DataError, ConfigError), match=said) as caught:
        cio.read(address)
    assert "SECRET" not in str(caught.value)
    assert cio.read("sqlite:///a.db#people").table.num_rows == 9


def test_text_in_another_encoding_is_not_quoted():
    run("CREATE TABLE t (a TEXT)", "INSERT INTO t VALUES (CAST(x'534543524554ff' AS TEXT))")
    with pytest.raises(DataError, match="text that is not UTF-8") as caught:
        cio.read("sqlite:///a.db#t")
    assert "SECRET" not in str(caught.value)


def test_a_database_that_another_program_writes_is_waited_for(people, monkeypatch):
    monkeypatch.setattr(sqlite_driver, "PATIENCE", 0.05)
    cio.write(people, "sqlite:///a.db#t")
    with closing(sqlite3.connect("a.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(DataError, match="is locked by another program"):
            cio.read("sqlite:///a.db#t")


def test_sheets_are_for_excel(people):
    cio.write(people, "sqlite:///a.db#t")
    with pytest.raises(ConfigError, match="is not an Excel file"):
        cio.read("sqlite:///a.db#t", sheet=1)


def test_from_table_to_table_in_python(people):
    cio.write(people, "sqlite:///a.db#people")
    release = coterie.anonymize(
        "sqlite:///a.db#people", quasi=["age", "zip"], identifiers=["name"], keep=["disease"], k=3
    )
    release.write("sqlite:///b.db#out")
    assert cio.read("sqlite:///b.db#out").table.equals(release.arrow)
    assert coterie.verify("sqlite:///b.db#out", quasi=["age", "zip"], k=3).passed
    told = tomllib.loads(Path("out.coterie.toml").read_text(encoding="utf-8"))["provenance"]
    assert (told["input"], told["output"]) == ("sqlite:///a.db#people", "sqlite:///b.db#out")
    assert "input_sha256" not in told
    with pytest.raises(ConfigError, match=r"out\.coterie\.toml exists already"):
        release.write("sqlite:///b.db#out")
    same = coterie.anonymize(people, quasi=["age", "zip"], identifiers=["name"], keep=["disease"], k=3)
    assert same.arrow.equals(release.arrow)


def test_a_folder_that_takes_no_file_is_found_out_first(people, monkeypatch):
    cio.write(people, "sqlite:///a.db#people")
    release = coterie.anonymize(
        "sqlite:///a.db#people", quasi=["age", "zip"], identifiers=["name"], keep=["disease"], k=3
    )

    def refused(*_, **__):
        raise DataError("no room")

    monkeypatch.setattr("coterie.releases.release.tables.whole_file", refused)
    with pytest.raises(DataError, match="no room"):
        release.write("sqlite:///a.db#out")
    assert run("SELECT name FROM sqlite_master") == [("people",)]


def test_every_command_reads_tables(people, capsys):
    cio.write(people, "sqlite:///a.db#people")
    table, out = "sqlite:///a.db#people", "sqlite:///a.db#out"
    roles = ["--quasi", "age,zip", "--sensitive", "disease"]
    assert main(["init", table]) == 0
    assert "coterie anonymize 'sqlite:///a.db#people' -c coterie.toml" in capsys.readouterr().out.replace("\n", " ")
    assert main(["anonymize", table, *roles, "--identifier", "name", "-k", "3", "-o", out]) == 0
    assert "Wrote sqlite:///a.db#out and out.coterie.toml." in capsys.readouterr().out
    for command in (
        ["verify", out, *roles, "-k", "3"],
        ["measure", table, out, *roles],
        ["risk", table, out, *roles[:2], "--population", table],
        ["attack", out, "--known", table, *roles],
        ["explain", table, "-c", "out.coterie.toml"],
        ["compare", table, *roles, "--methods", "mondrian", "-k", "3"],
        ["hierarchy", "build", table, "--column", "zip", "--prefixes", "3", "-o", "zip.csv"],
    ):
        assert main(command) == 0, command
    assert main(["anonymize", table, *roles, "-k", "3", "-o", table, "--force"]) == 2
    assert "is the input itself" in capsys.readouterr().err
    assert main(["anonymize", table, *roles, "-k", "3", "-o", out]) == 2
    Path("out.coterie.toml").unlink()
    assert main(["anonymize", table, *roles, "-k", "3", "-o", out]) == 2
    assert "sqlite:///a.db#out exists already" in capsys.readouterr().err
