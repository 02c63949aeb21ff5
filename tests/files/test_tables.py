"""Files in and out: every kind, kept dialects, and files that appear whole or not at all."""

import datetime as dt
import gzip
import hashlib
import io
import os
import random
import stat
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

from coterie.errors import BackendError, ConfigError, DataError
from coterie.files import tables as cio


def text(table: pa.Table) -> pa.Table:
    return pa.table({name: table[name].cast(pa.string()) for name in table.column_names})


def listed(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# The same in every process that runs the tests.
NOISE = gzip.compress(b"a,b\n" + random.Random(0).randbytes(9000).hex().encode() + b",SECRET\n", mtime=0)


@pytest.mark.parametrize(
    "ending", [".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".parquet", ".pq", ".feather", ".arrow"]
)
def test_every_kind_comes_back_as_it_was(tmp_path, people, ending):
    path = tmp_path / f"people{ending}"
    digest = cio.write(people, path)
    source = cio.read(path)
    expected = people if source.format in ("parquet", "feather") else text(people)
    assert source.table.equals(expected)
    assert digest == source.sha256 == sha(path)
    assert source.compression == ("gzip" if ending.endswith(".gz") else None)
    assert source.kind == "file"
    assert source.path == path
    assert cio.to_native(expected, source) is expected


def test_content_decides_not_the_name(tmp_path, people):
    cio.write(people, tmp_path / "people.parquet")
    odd = tmp_path / "people.csv"
    (tmp_path / "people.parquet").rename(odd)
    assert cio.read(odd).format == "parquet"
    zipped = tmp_path / "table.data"
    zipped.write_bytes(gzip.compress(b"a,b\n1,2\n"))
    assert cio.read(zipped).table.to_pydict() == {"a": ["1"], "b": ["2"]}


def test_arrow_streams_are_read(tmp_path, people):
    path = tmp_path / "people.arrows"
    with ipc.new_stream(path, people.schema) as writer:
        writer.write_table(people)
    assert cio.read(path).table.equals(people)
    feather.write_feather(people, tmp_path / "lz4.feather", compression="lz4")
    assert cio.read(tmp_path / "lz4.feather").table.equals(people)


def test_notes_of_other_programs_are_dropped(tmp_path, people):
    parquet.write_table(people.replace_schema_metadata({"pandas": "{}"}), tmp_path / "a.parquet")
    source = cio.read(tmp_path / "a.parquet")
    assert source.table.schema.metadata is None
    cio.write(people.replace_schema_metadata({"note": "x"}), tmp_path / "b.parquet")
    assert b"note" not in (parquet.read_schema(tmp_path / "b.parquet").metadata or {})


def test_a_zipped_file_depends_on_the_table_alone(tmp_path, people):
    assert cio.write(people, tmp_path / "a.csv.gz") == cio.write(people, tmp_path / "b.csv.gz")


def test_excel(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "first"
    book.active.append(["name", "age", 2024])
    book.active.append(["Ann", 34, None])
    book.active.append([None, 45, None])
    book.create_sheet("second").append(["x"])
    book["second"].append(["y"])
    twice = book.create_sheet("twice")
    twice.append(["a", "a"])
    twice.append([1, 2])
    book.create_sheet("empty")
    path = tmp_path / "book.xlsx"
    book.save(path)
    source = cio.read(path)
    assert source.format == "excel"
    assert source.table.column_names == ["name", "age", "2024"]
    assert source.table["name"].to_pylist() == ["Ann", None]
    assert source.table["age"].to_pylist() == [34, 45]
    assert cio.read(path, sheet="second").table.to_pydict() == {"x": ["y"]}
    assert cio.read(path, sheet=1).table.to_pydict() == {"x": ["y"]}
    with pytest.raises(DataError, match=r"columns 1 and 2 \('a'\) have the same name"):
        cio.read(path, sheet="twice")
    with pytest.raises(DataError, match="the sheet is empty"):
        cio.read(path, sheet="empty")
    with pytest.raises(ConfigError, match="there is no sheet 'third'; there are first, second"):
        cio.read(path, sheet="third")
    with pytest.raises(ConfigError, match="sheets are 0 to 3"):
        cio.read(path, sheet=9)


def test_excel_gives_what_was_typed(tmp_path):
    import openpyxl

    book = openpyxl.Workbook()
    rows = [
        ["whole", "decimal", "logical", "day", "moment", "mixed"],
        [1, 1.5, True, dt.date(2020, 2, 29), dt.datetime(2020, 1, 1, 3), 1],
        [None] * 6,
        [3, 2, False, dt.date(1950, 1, 2), dt.datetime(2020, 1, 1), "x"],
    ]
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "typed.xlsx")
    table = cio.read(tmp_path / "typed.xlsx").table
    assert [list(row.values()) for row in table.to_pylist()] == [[*rows[1][:5], "1"], rows[2], rows[3]]
    assert [str(kind) for kind in table.schema.types[:4]] == ["int64", "double", "bool", "date32[day]"]


def test_a_sheet_is_named_after_the_file(tmp_path):
    import openpyxl

    path = tmp_path / "two #1.xlsx"
    book = openpyxl.Workbook()
    for title, cell in (("first", "a"), ("2024", "b")):
        sheet = book.create_sheet(title)
        sheet.append(["name"])
        sheet.append([cell])
    book.remove(book.worksheets[0])
    book.save(path)
    assert cio.read(path).table.to_pydict() == {"name": ["a"]}
    assert cio.read(f"{path}#2024").table.to_pydict() == {"name": ["b"]}
    assert cio.read(f"{path}#2024").path == path
    with pytest.raises(ConfigError, match="there is no sheet 'third'; there are first, 2024"):
        cio.read(f"{path}#third")
    plain = tmp_path / "a.csv"
    plain.write_text("a\n1\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="is not an Excel file and has no sheets"):
        cio.read(f"{plain}#x")
    with pytest.raises(DataError, match=r"There is no file .*none\.csv#x"):
        cio.read(tmp_path / "none.csv#x")


def test_excel_without_its_extra(tmp_path, monkeypatch):
    path = tmp_path / "book.xlsx"
    path.write_bytes(b"PK\x03\x04 rest")
    with pytest.raises(DataError, match="not an Excel workbook"):
        cio.read(path)
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(BackendError, match=r"pip install 'coterie\[excel\]'"):
        cio.read(path)


def test_standard_input_and_output(monkeypatch, people, tmp_path):
    packed = io.BytesIO()
    parquet.write_table(people, packed)
    for content in (b"a;b\n1;2\n", gzip.compress(b"a;b\n1;2\n"), packed.getvalue()):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        source = cio.read("-")
        assert source.name == "standard input"
        assert source.path is None
        assert source.sha256 == hashlib.sha256(content).hexdigest()
    assert source.table.equals(people)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a;b\r\n1;2\r\n")))
    out = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(sys, "stdout", out)
    source = cio.read("-")
    digest = cio.write(source.table, "-", like=source)
    assert out.buffer.getvalue() == b"a;b\r\n1;2\r\n"
    assert digest == source.sha256


def test_a_pipe_is_read(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(b"a,b\n1,2\n",))
    writer.start()
    assert cio.read(path).table.to_pydict() == {"a": ["1"], "b": ["2"]}
    writer.join()


def test_a_device_is_written_and_stays_a_device():
    with cio.whole_file("/dev/null", force=True) as sink:
        sink.write(b"x")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


# ---- where nothing may be written


def test_an_existing_file_is_kept_unless_forced(tmp_path, people):
    path = tmp_path / "out.csv"
    path.write_text("precious")
    with pytest.raises(ConfigError, match=r"exists already.*force=True") as caught:
        cio.write(people, path)
    assert caught.value.exit_code == 2
    assert path.read_text() == "precious"
    path.chmod(0o640)
    cio.write(people, path, force=True)
    assert cio.read(path).table.num_rows == 9
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert listed(tmp_path) == ["out.csv"]


def test_a_new_file_has_the_usual_mode(tmp_path, people):
    before = os.umask(0o027)
    try:
        cio.write(people, tmp_path / "out.csv")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out.csv").stat().st_mode) == 0o640


def test_a_link_keeps_pointing(tmp_path, people):
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("old")
    link.symlink_to(real)
    cio.write(people, link, force=True)
    assert link.is_symlink()
    assert cio.read(real).table.num_rows == 9


@pytest.mark.parametrize(
    ("name", "problem"),
    [("out.xlsx", r"must end in \.csv"), ("out", "must end in"), ("out.parquet.gz", "must end in"),
     ("no/such/out.csv", "there is no folder"), (".", "must end in"), ("dir.csv", "is a folder")],
)  # fmt: skip
def test_places_that_cannot_be_written(tmp_path, people, monkeypatch, name, problem):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dir.csv").mkdir()
    with pytest.raises(ConfigError, match=problem) as caught:
        cio.write(people, name)
    assert "\n" not in str(caught.value)
    assert listed(tmp_path) == ["dir.csv"]


@pytest.mark.parametrize("forced", [False, True])
def test_a_failure_leaves_nothing_behind(tmp_path, people, forced):
    path = tmp_path / "out.csv"
    if forced:
        path.write_text("precious")
    broken = people.append_column("parts", pa.array([[1]] * 9))
    with pytest.raises(DataError, match=r"Column 'parts' contains list.*Write Parquet"):
        cio.write(broken, path, force=forced)
    with pytest.raises(KeyboardInterrupt), cio.whole_file(path, force=forced) as sink:
        sink.write(b"half of it")
        raise KeyboardInterrupt
    with pytest.raises(DataError, match="cannot be written: No space left"), cio.whole_file(path, force=forced) as sink:
        raise OSError(28, "No space left on device")
    assert listed(tmp_path) == (["out.csv"] if forced else [])
    if forced:
        assert path.read_text() == "precious"


def test_a_file_that_came_up_meanwhile_is_not_overwritten(tmp_path):
    path = tmp_path / "out.csv"
    with pytest.raises(ConfigError, match="exists already"), cio.whole_file(path, force=False) as sink:
        sink.write(b"ours")
        path.write_text("theirs")
    assert path.read_text() == "theirs"
    assert listed(tmp_path) == ["out.csv"]


def test_file_systems_without_links(tmp_path, people, monkeypatch):
    def no_links(*_, **__):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    cio.write(people, tmp_path / "out.csv")
    assert listed(tmp_path) == ["out.csv"]


# ---- what cannot be read


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty"),
        (b"\n\n\r\n", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"name,age\n", "has a header but no rows"),
        (b"name,age", "has a header but no rows"),
        (b"name\n", "has a header but no rows"),
        (b"a,b,a\n1,2,SECRET\n", "in the first line, columns 1 and 3 have the same name"),
        (b"39,SECRET,77516,SECRET\n1,2,3,4\n", "may have no header: its first line looks like data"),
        (b"a,b\n1,2\n3,SECRET,5\n6,7\n", "row 3 has 3 columns where the header has 2. The header is row 1"),
        (b"a,b\n1,2\nSECRET\n6,7,8\n", "row 3 has 1 column where the header has 2, and 1 more rows do not fit"),
        (b'a,b\n1,2\n3,"SECRET\n4,5\n', "never closed.*near row 3"),
        (b'a,b\n1,2\n"SECRET', "row 3 has 1 column"),
        (b"\x00\x01\x02\x03SECRET" * 20, "not a table that coterie can read"),
        (bytes(range(256)) * 4, "not a table"),
        (b"PAR1 SECRET", "Parquet file that is damaged"),
        (b"ARROW1 SECRET", "Feather file that is damaged"),
        (b"\x1f\x8b\x08SECRET", "damaged or truncated"),
        (NOISE[:-900], "damaged or truncated"),
        (gzip.compress(b"", mtime=0), "is empty"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_read(tmp_path, content, problem):
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=problem) as caught:
        cio.read(path)
    message = str(caught.value)
    assert "SECRET" not in message
    assert "\n" not in message
    assert caught.value.exit_code == 3
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_wrong_encoding_and_delimiter(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_bytes("name;age\nSECRET é;3\n".encode("latin-1"))
    with pytest.raises(DataError, match="not text in utf-8"):
        cio.read(path, encoding="utf-8")
    with pytest.raises(DataError, match="not text in ascii"):
        cio.read(path, encoding="ascii")
    for encoding in ("klingon", "rot13", "base64"):
        with pytest.raises(ConfigError, match="encoding"):
            cio.read(path, encoding=encoding)
    for delimiter in ("", ";;", '"', "\n", "é"):
        with pytest.raises(ConfigError, match="delimiter"):
            cio.read(path, delimiter=delimiter) if delimiter else cio.Dialect(delimiter="")
    # A wrong but possible delimiter is the user's word.
    assert cio.read(path, delimiter=",").table.num_columns == 1
    with pytest.raises(ConfigError, match="not an Excel file"):
        cio.read(path, sheet="x")


def test_places_that_cannot_be_read(tmp_path, monkeypatch):
    with pytest.raises(DataError, match="is a folder"):
        cio.read(tmp_path)
    with pytest.raises(DataError, match=r"There is no file.*Relative paths start at"):
        cio.read(tmp_path / "absent.csv")
    with pytest.raises(DataError, match="not a path") as caught:
        cio.read("name,age\nSECRET,3\n")
    assert "SECRET" not in str(caught.value)

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "locked.csv"
    path.write_text("a\n1\n")
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataError, match="cannot be read: Permission denied"):
        cio.read(path)
