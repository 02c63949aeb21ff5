"""JSON and JSON Lines: read as tables of records, refused where they are none, written and read back."""

import gzip
import io as stdio
import json
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coterie
from coterie.cli.app import main
from coterie.errors import ConfigError, DataError
from coterie.files import tables as io
from coterie.files.batches import open_table
from coterie.settings.config import Config

PEOPLE = [{"age": 20 + i % 9, "town": ("Berlin", "Rome")[i % 2], "name": f"Wanne{i}"} for i in range(30)]
LINES = "".join(json.dumps(each) + "\n" for each in PEOPLE)


@pytest.mark.parametrize(
    "content",
    [
        LINES,
        "\n  " + LINES,
        "\ufeff" + LINES,
        LINES.replace("\n", "\r\n"),
        LINES.replace("\n", "\n\n"),
        json.dumps(PEOPLE),
        json.dumps(PEOPLE, indent=2),
        json.dumps(PEOPLE * 900),  # longer than what is looked at
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("packed", [False, True])
def test_records_are_read_whatever_the_file_is_called(tmp_path, content, encoding, packed):
    path = tmp_path / "people.csv"
    data = content.encode(encoding)
    path.write_bytes(gzip.compress(data) if packed else data)
    for header in (None, True, False):  # settings of CSV files
        source = io.read(path, header=header, skip_rows=3)
        assert source.table.slice(0, 30).to_pylist() == PEOPLE
        assert (source.dialect, source.format in ("json", "jsonl")) == (None, True)


def test_the_types_of_columns(tmp_path):
    rows = [
        {"whole": 1, "number": 1, "text": "02138", "yes": True, "mixed": 7, "huge": 2**70, "date": "2024-03-05"},
        {"whole": None, "number": 2.5, "text": "2", "yes": False, "mixed": "seven", "huge": 1, "none": None},
        {"number": float("nan"), "mixed": True, "none": None, "late": 0},
    ]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    found = io.read(tmp_path / "a.json").table
    kinds = dict(zip(found.column_names, map(str, found.schema.types), strict=True))
    assert kinds == {
        "whole": "int64", "number": "double", "text": "string", "yes": "bool", "mixed": "string", "huge": "string",
        "date": "string", "none": "string", "late": "int64",
    }  # fmt: skip
    assert found.column("mixed").to_pylist() == ["7", "seven", "true"]
    assert found.column("huge").to_pylist() == [str(2**70), "1", None]
    assert found.column("number").to_pylist() == [1.0, 2.5, None]
    assert found.column("late").to_pylist() == [None, None, 0]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (json.dumps({"rows": PEOPLE}, indent=1), "is JSON, but not a table"),
        ('["Wanne", 33]\n["Eickel", 34]\n', "is JSON, but not a table"),
        (json.dumps([["Wanne", 33, None]] * 9000, indent=1), "is JSON, but not a table"),
        (json.dumps({"Wanne": {"age": 3}, "Eickel": {"age": 4}}), "is JSON, but not a table"),
        (json.dumps([{"a": 1}, ["Wanne"]]), "is JSON, but not a table"),
        (json.dumps([{}, {}]), "has no rows"),
        ('{"a": 1}\n{"a": {"Wanne": 2}}\n{"a": ["Eickel"]}\n', "column 'a' has nested values, .* in 2 rows"),
        ('{"a": 1, "a": "Wanne"}\n{"a": 2}\n', "two values under one key"),
        ('{"a": 1}\n{"a": "Wanne}\n{"a": 2}\n', "line 2 cannot be parsed"),
        ('[\n{"a": 1},\n{"a": "Wanne"\n]\n', "line 4 cannot be parsed"),
        ('[{"a": ' * 9000, "line 1 cannot be parsed"),
        ('{"Wanne": 1}\n{"Eickel": 2}\n{"Herne": 3}\n', "share no keys"),
    ],
)
def test_what_is_no_table_of_records_is_refused_without_a_cell(tmp_path, content, words):
    (tmp_path / "people.csv").write_text(content)
    with pytest.raises(DataError, match=words) as caught:
        io.read(tmp_path / "people.csv")
    assert not any(secret in str(caught.value) for secret in ("Wanne", "Eickel", "Herne"))
    assert caught.value.hint


def test_on_the_command_line_and_from_standard_input(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("people.jsonl").write_text(LINES)
    roles = ["--quasi", "age,town", "--identifier", "name", "-k", "3", "--method", "mondrian"]
    for name in ("out.json", "out.jsonl", "out.ndjson.gz", "out.csv"):
        assert main(["anonymize", "people.jsonl", *roles, "-o", name]) == 0
        assert main(["verify", name, "--quasi", "age,town", "-k", "3"]) == 0
    assert len(json.loads(Path("out.json").read_text())) == len(Path("out.jsonl").read_text().splitlines()) == 30
    tables = [io.read(name).table.to_pylist() for name in ("out.json", "out.jsonl", "out.ndjson.gz", "out.csv")]
    assert tables == [tables[0]] * 4
    monkeypatch.setattr(sys, "stdin", stdio.TextIOWrapper(stdio.BytesIO(LINES.encode())))
    assert main(["init", "-", "-o", "-", "--quiet"]) == 0
    assert '"age",' in capsys.readouterr().out
    with pytest.raises(ConfigError, match="cannot be read in blocks"):
        open_table("people.jsonl", Config(quasi=["age"]))
    with pytest.raises(ConfigError, match="JSON Lines cannot be written in blocks"):
        coterie.anonymize("out.csv", quasi=["age", "town"], k=2, engine="blocks", output="more.jsonl")


CELLS = st.one_of(st.none(), st.text(max_size=8))
FLOATS = st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False))


@given(
    rows=st.lists(st.tuples(CELLS, st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), FLOATS), min_size=1),
    names=st.lists(st.text(min_size=1, max_size=6), min_size=3, max_size=3, unique=True),
    ending=st.sampled_from([".json", ".jsonl", ".jsonl.gz"]),
)
def test_what_is_written_is_read_back(tmp_path_factory, rows, names, ending):
    path = tmp_path_factory.mktemp("json") / f"a{ending}"
    kinds = (pa.string(), pa.int64(), pa.float64())
    table = pa.table([pa.array(cells, kind) for cells, kind in zip(zip(*rows, strict=True), kinds, strict=True)], names)
    io.write(table, path)
    text = (gzip.decompress(path.read_bytes()) if ending.endswith("gz") else path.read_bytes()).decode()
    # Each line is an object by itself: line ends within cells are written as \n.
    lines = text.split("\n")[:-1] if "l" in ending else text.split("\n")[1:-2]
    assert [list(json.loads(line.rstrip(",")).values()) for line in lines] == [list(row) for row in rows]
    again = io.read(path).table
    assert again.column_names == names
    for cells, column in zip(zip(*rows, strict=True), again.columns, strict=True):
        assert column.to_pylist() == list(cells)


def test_columns_of_all_types_are_written(tmp_path):
    import datetime

    table = pa.table(
        {
            "day": pa.array([datetime.date(2024, 3, 5), None]),
            "coded": pa.array(["a", None]).dictionary_encode(),
            "infinite": pa.array([float("inf"), float("nan")]),
            "yes": pa.array([True, None]),
            'a "quoted" name': pa.array(["\u2028", 'x"y\\']),
        }
    )
    io.write(table, tmp_path / "a.jsonl")
    found = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text(encoding="utf-8").split("\n") if line]
    assert found == [
        {"day": "2024-03-05", "coded": "a", "infinite": None, "yes": True, 'a "quoted" name': "\u2028"},
        {"day": None, "coded": None, "infinite": None, "yes": None, 'a "quoted" name': 'x"y\\'},
    ]
