"""How tables of databases are named, and that passwords stay where they were written."""

import re
import sys
from pathlib import Path

import pytest

from coterie.cli.app import main
from coterie.errors import BackendError, ConfigError, CoterieError, without_passwords
from coterie.files import tables as cio
from coterie.files.databases.place import is_database, place_of, target_of


@pytest.mark.parametrize(
    ("text", "kind", "url", "name", "table"),
    [
        ("sqlite:///a/b.db#people", "sqlite", "a/b.db", "sqlite:///a/b.db#people", (None, "people")),
        ("sqlite:////a/b.db#my people", "sqlite", "/a/b.db", 'sqlite:////a/b.db#"my people"', (None, "my people")),
        ("sqlite:///a%23b.db#t", "sqlite", "a#b.db", "sqlite:///a#b.db#t", (None, "t")),
        (
            "postgres://u:pw@h:5/db?sslmode=require#s.t",
            "postgresql",
            "postgresql://u:pw@h:5/db?sslmode=require",
            "postgresql://u@h:5/db#s.t",
            ("s", "t"),
        ),
        ("postgresql+psycopg2://h/db#t", "postgresql", "postgresql://h/db", "postgresql://h/db#t", (None, "t")),
        (
            'postgresql://h/db#"a.b"."c""d"',
            "postgresql",
            "postgresql://h/db",
            'postgresql://h/db#"a.b"."c""d"',
            ("a.b", 'c"d'),
        ),
        ('postgresql://h/db#"select x"', "postgresql", "postgresql://h/db", None, (None, "select x")),
        ("postgresql://h/db#withdrawals", "postgresql", "postgresql://h/db", None, (None, "withdrawals")),
    ],
)
def test_tables(text, kind, url, name, table):
    place = place_of(text)
    assert (place.scheme, place.url, (place.schema, place.table), place.query) == (kind, url, table, None)
    assert name is None or place.name == name
    # What a message calls it, names the same table.
    again = place_of(place.name.replace("a#b", "a%23b"))
    assert (again.schema, again.table) == table
    assert target_of(text) == place


@pytest.mark.parametrize(
    "query", ["select * from t", "SELECT\n1", "(select 1)", "with a as (select 1) table a", "values (1)"]
)
def test_queries(query):
    place = place_of(f"postgresql://u:pw@h/db#{query} ; ")
    assert place.query == query
    assert place.name == "the query of postgresql://u@h/db"
    assert query not in repr(place)
    assert "pw" not in repr(place)
    with pytest.raises(ConfigError, match="written to a table"):
        target_of(f"postgresql://u:pw@h/db#{query}")


@pytest.mark.parametrize(
    "given", ["people.csv", "-", "/a/b.parquet", "C:/a.csv", "http://x/y.csv", Path("a.csv"), 3, None]
)
def test_all_else_is_no_database(given):
    assert place_of(given) is None
    assert not is_database(given)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("postgresql://u:s3cr3t@h/db", "names no table"),
        ("postgresql://u:s3cr3t@h/db#", "names no table"),
        ("postgresql://u:s3cr3t@h/db#a.b.c", "neither a table nor a query"),
        ('postgresql://u:s3cr3t@h/db#"a', "neither a table nor a query"),
        ("postgresql:/u:s3cr3t@h/db#a", "not the address of a postgresql database"),
        ("postgresql://u:s3#cr3t@h/db#a", "characters that end it early"),
        ("postgresql://u:12#s3cr3t@h/db#a", "characters that end it early"),
        ("postgresql://u:s3/cr3t@h/db#a", "characters that end it early"),
        ("mysql://u:s3cr3t@h/db#a", "not mysql"),
        ("sqlite://a.db#t", "Absolute paths have four slashes"),
        ("sqlite:///#t", "not the address of an SQLite file"),
    ],
)
def test_faulty_addresses_are_explained_without_the_password(text, said):
    with pytest.raises(ConfigError, match=said) as caught:
        place_of(text)
    assert not any(part in str(caught.value) for part in ("s3cr3t", "cr3t", "s3"))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("sqlite:///a.db#T", "sqlite:///./a.db#t", True),
        ("sqlite:///a.db#t", "sqlite:///b.db#t", False),
        ("postgresql://u:p@h/db#t", "postgresql://h/db#public.t", True),
        ("postgresql://h/db#t", "postgresql://h/db#s.t", False),
        ("postgresql://h/db#t", "sqlite:///db#t", False),
        ("postgresql://h/db#select 1", "postgresql://h/db#t", False),
    ],
)
def test_the_input_is_known_again(one, other, same):
    assert place_of(one).same_table(place_of(other)) is same


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("see postgresql://u:pw@h/db#t now", "see postgresql://u@h/db#t now"),
        ("postgresql:/u:p@w@h/db", "postgresql:/u@h/db"),
        ("postgresql://h/db?user=u&password=pw#t", "postgresql://h/db?user=u&password=#t"),
        ("column 'a:b' of a@b", "column 'a:b' of a@b"),
        ("at 12:30 http://host:80/x", "at 12:30 http://host:80/x"),
    ],
)
def test_passwords_are_left_out_of_texts(text, left):
    assert without_passwords(text) == left
    assert str(CoterieError(text)) == left
    assert str(ConfigError("x", hint=text)).endswith(left)


@pytest.mark.parametrize(
    "arguments",
    [
        ["anonymize", "{}#people", "-o", "out.csv"],
        ["anonymize", "people.csv", "--quasi", "age", "-o", "{}"],
        ["anonymize", "people.csv", "--quasi", "age", "-o", "out.csv", "--mapping", "{}#t"],
        ["anonymize", "people.csv", "--quasi", "age", "-o", "out.csv", "--report", "{}#t"],
        ["anonymize", "people.csv", "--quasi", "{}"],
        ["anonymize", "people.csv", "-c", "{}", "-o", "out.csv"],
        ["init", "{}#people"],
        ["init", "people.csv", "-o", "{}#t"],
        ["verify", "{}", "--quasi", "age"],
        ["risk", "people.csv", "--population", "{}#t", "--quasi", "age"],
        ["{}"],
    ],
    ids=lambda arguments: " ".join(arguments),
)
def test_no_command_tells_a_password(arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("age\n1\n1\n", encoding="utf-8")
    # A slow machine would print progress to stderr before the error.
    monkeypatch.setattr("coterie.cli.show.PATIENCE", 3600)
    # No server listens there; where the driver is missing, that is said instead.
    address = "postgresql://u:s3cr3t@127.0.0.1:1/db"
    assert main([argument.format(address) for argument in arguments]) in (2, 3)
    told = "".join(capsys.readouterr())
    assert told.startswith("error: ")
    assert "s3cr3t" not in told


def test_the_page_shows_addresses_that_are_understood():
    page = Path(__file__).parents[3] / "docs" / "databases.md"
    text = page.read_text(encoding="utf-8")
    shown = re.findall(r"""['"`]((?:sqlite|postgresql)://[^'"`]*)['"`]""", text)
    places = [place_of(address) for address in shown]
    assert {place.scheme for place in places} == {"sqlite", "postgresql"}
    assert len(places) > 8
    assert sum(place.query is not None for place in places) == 1


def test_without_the_driver_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "adbc_driver_postgresql", None)
    with pytest.raises(BackendError, match=r"needs the db extra\. Install it: pip install 'coterie\[db\]'"):
        cio.read("postgresql://h/db#t")
