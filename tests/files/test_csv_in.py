"""CSV: dialects found and kept, values kept to the letter."""

import csv
import datetime
import decimal
import io
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.errors import DataError
from coterie.files import csv_in
from coterie.files import tables as cio
from coterie.files.dialect import SAMPLE_BYTES, DetectedText, Dialect


def rewritten(path: Path, **options) -> bytes:
    """The bytes of a file after reading and writing it."""
    source = cio.read(path, **options)
    out = path.with_name("again" + "".join(path.suffixes))
    cio.write(source.table, out, like=source, force=True)
    return out.read_bytes()


@pytest.mark.parametrize(
    "text",
    [
        "name,age\nAnn,34\nBob,\n",
        "name;age\r\nAnn;34\r\nBob;1,5\r\n",
        "name\tage\nAnn\t34\n",
        "name|age\nAnn|34\n",
        "name,age\rAnn,34\r",
        '"name","age"\n"Ann","34"\n"Bob",\n',
        '"name","age"\n"Ann",34\n"Bob",45\n',
        'name,age\n"Ann",34\n"Bob",45\n',
        'name,note\nAnn,"a, b"\nBob,"say ""hi"""\nCy,"two\nlines"\n',
        'name,note\nAnn,""\nBob,\n',
        "zip,price\n02138,1.50\n00501,1e5\n",
        ",age\n0,34\n1,45\n",
        "name\nAnn\n\nBob\n",
        '""\n1\n',
        "name\n x \n",
        "a,b\n,\n,\n",
        "größe,名前\n1,é\n2,漢字🙂\n",
        "a,b\n-,+\n=1+1,@x\n",
        "true,false\nTRUE,False\nNA,null\n",
        '"a ""b""",c\n1,2\n',
        "a,b\n\\N,\\\n",
    ],
)  # fmt: skip
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "latin-1", "cp1252"])
def test_a_file_comes_out_as_it_went_in(tmp_path, text, encoding):
    try:
        content = text.encode(encoding)
    except UnicodeEncodeError:
        pytest.skip("the encoding does not hold this text")
    if encoding == "utf-16-be":
        content = b"\xfe\xff" + content
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    assert rewritten(path) == content


def test_dialects_are_found(tmp_path):
    path = tmp_path / "table.csv"

    def dialect(content: bytes, **options) -> cio.Dialect:
        path.write_bytes(content)
        found = cio.read(path, **options).dialect
        assert found is not None
        return found

    assert dialect(b"a;b\n1,5;2,5\n").delimiter == ";"
    assert dialect(b"a,b\n1;2,x;y\n").delimiter == ","
    assert dialect(b'"a;x",b\n"1;2",3\n').delimiter == ","
    assert dialect(b"just one\n1\n").delimiter == ","
    assert dialect(b"a:b\n1:2\n", delimiter=":").delimiter == ":"
    assert dialect(b"a,b\n1,\xe9\n").encoding == "latin-1"
    assert dialect(b"a,b\n1,\x80\n").encoding == "cp1252"
    assert dialect(b"a,b\n1,\x81\x80\n").encoding == "latin-1"
    assert dialect("a,b\n1,2\n".encode("utf-16-le")).encoding == "utf-16-le"
    assert dialect("a,b\n1,2\n".encode("utf-16-be")).encoding == "utf-16-be"
    assert dialect("a,b\n1,2\n".encode("utf-32")).encoding == "utf-32"
    assert dialect(b"a,b\n1,2\n", encoding="UTF8").encoding == "utf-8"
    assert dialect(b'"a","b"\n"1","2"\n').quoting == "all"
    # A value that has to be quoted says nothing about habits.
    assert dialect(b'a,b\n"1,5","2,5"\n').quoting == "minimal"
    assert dialect(b'"a","b"\n"x",2\n').quoted_columns == {"a"}
    assert dialect(b"a,b\nNA,2\n1,NA\n,3\n", missing_values=("", "NA")).missing == "NA"


def test_an_encoding_that_shows_late(tmp_path):
    path = tmp_path / "table.csv"
    rows = b"x,y\n" * (SAMPLE_BYTES // 2)
    path.write_bytes(b"a,b\n" + rows + b"1,\x80 and \xe9\n")
    source = cio.read(path)
    assert source.dialect.encoding == "cp1252"
    assert source.table["b"][-1].as_py() == "€ and é"
    assert rewritten(path) == path.read_bytes()


def test_a_sample_may_cut_a_character_a_quote_or_a_row(tmp_path):
    path = tmp_path / "table.csv"
    for start in range(4):
        rows = "é" * start + 'é,"e\nf"\n' * (SAMPLE_BYTES // 6)
        path.write_bytes(("a,b\n" + rows).encode())
        source = cio.read(path)
        assert source.dialect.encoding == "utf-8"
        assert source.table["b"].unique().to_pylist() == ["e\nf"]


def test_large_cells_and_many_blocks(tmp_path):
    path = tmp_path / "table.csv"
    huge = "x\n" * 4_000_000
    path.write_text(f'a,b\n1,"{huge}"\n' + "2,y\n" * 10)
    source = cio.read(path)
    assert source.table["b"][0].as_py() == huge
    assert source.table.num_rows == 11


def test_missing_values_and_quotes(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b'a,b\n?,1\n"?",2\n"",3\n,4\n')
    assert cio.read(path, missing_values=("?",)).table["a"].to_pylist() == [None, "?", "", ""]
    assert rewritten(path, missing_values=("?",)) == b'a,b\n?,1\n"?",2\n,3\n,4\n'
    assert cio.read(path, missing_values=()).table["a"].to_pylist() == ["?", "?", "", ""]
    # A table that never was a file has its missing values written as nothing, an empty text as "".
    cio.write(pa.table({"a": ["", None], "b": ["x", None]}), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == b'a,b\n"",x\n,\n'


def test_blank_lines(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b"\n\r\na,b\n\n1,2\n\n")
    assert cio.read(path).table.to_pydict() == {"a": ["1"], "b": ["2"]}
    # With a single column an empty line is a row whose value is missing.
    path.write_bytes(b"\n\r\na\n1\n\n2\n")
    assert cio.read(path).table.to_pydict() == {"a": ["1", None, "2"]}


def test_the_name_says_tabs(tmp_path):
    (tmp_path / "in.tsv").write_bytes(b"a\tb\n1\t2\n")
    (tmp_path / "in.csv").write_bytes(b"a\tb\n1\t2\n")
    tsv, tabbed = cio.read(tmp_path / "in.tsv"), cio.read(tmp_path / "in.csv")
    cio.write(tsv.table, tmp_path / "one.csv", like=tsv)
    cio.write(tabbed.table, tmp_path / "two.csv", like=tabbed)
    cio.write(tsv.table, tmp_path / "three.tsv.gz")
    assert (tmp_path / "one.csv").read_bytes() == b"a,b\n1,2\n"
    assert (tmp_path / "two.csv").read_bytes() == b"a\tb\n1\t2\n"
    assert cio.read(tmp_path / "three.tsv.gz").dialect.delimiter == "\t"


def test_a_dialect_can_be_given(tmp_path):
    cio.write(pa.table({"a": ["x"]}), tmp_path / "a.csv", dialect=cio.Dialect(quoting="all", line_end="\r\n"))
    assert (tmp_path / "a.csv").read_bytes() == b'a\r\n"x"\r\n'


def test_characters_that_the_encoding_does_not_hold(tmp_path):
    path, out = tmp_path / "table.csv", tmp_path / "out.csv"
    path.write_bytes("a,b\n1,é\n".encode("latin-1"))
    source = cio.read(path)
    with pytest.raises(DataError, match="Column 'b' has characters that latin-1 cannot encode") as caught:
        cio.write(pa.table({"a": ["1"], "b": ["≥SECRET"]}), out, like=source)
    assert "SECRET" not in str(caught.value)
    assert not out.exists()
    with pytest.raises(DataError, match="Column 'ą'"):
        cio.write(pa.table({"ą": ["1"]}), out, like=source)


def test_values_of_every_type_as_text(tmp_path):
    day = datetime.date(2024, 2, 29)
    moment = datetime.datetime(2024, 2, 29, 12, 30)
    table = pa.table(
        {
            "int": pa.array([1, None], pa.int8()),
            "float": pa.array([0.1, 1e300]),
            "bool": [True, None],
            "day": [day, None],
            "moment": pa.array([moment, None], pa.timestamp("s")),
            "money": [decimal.Decimal("1.50"), None],
            "kind": pa.array(["a", None]).dictionary_encode(),
            "large": pa.array(["l,l", None], pa.large_string()),
            "nothing": pa.nulls(2),
        }
    )
    cio.write(table, tmp_path / "out.csv")
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[1] == '1,0.1,true,2024-02-29,2024-02-29 12:30:00,1.50,a,"l,l",'
    assert lines[2] == ",1e+300,,,,,,,"
    for bad in (pa.array([b"\xff"]), pa.array([{"x": 1}])):
        with pytest.raises(DataError, match=r"Column 'bad' contains .* cannot be written as text"):
            cio.write(pa.table({"bad": bad}), tmp_path / "bad.csv")


def test_uneven_chunks_and_slices(tmp_path):
    first = pa.chunked_array([["a", "b", "c"], ["d,", 'e"']])
    second = pa.chunked_array([["1"], ["2", "3", "4", "5", "6"]]).slice(0, 5)
    cio.write(pa.table({"x": first, "y": second}).slice(1), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == 'x,y\nb,2\nc,3\n"d,",4\n"e""",5\n'


# ---- properties

letters = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)
awkward = st.text(st.sampled_from(list('",;|\t\r\n \\aé€NA')), max_size=6)
cells = st.one_of(st.none(), letters, awkward)


@st.composite
def tables(draw) -> pa.Table:
    names = draw(st.lists(st.one_of(letters, awkward), min_size=1, max_size=4, unique=True))
    rows = draw(st.integers(1, 6))
    columns = [draw(st.lists(cells, min_size=rows, max_size=rows)) for _ in names]
    return pa.table([pa.array(column, pa.string()) for column in columns], names=names)


dialects = st.builds(
    cio.Dialect,
    delimiter=st.sampled_from([",", ";", "\t", "|", "^", " ", "-"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"]),
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
    quoting=st.sampled_from(["minimal", "all"]),
    quoted_header=st.booleans(),
)


@given(tables(), dialects)
def test_what_is_written_is_read(tmp_path, table, dialect):
    path = tmp_path / "table.csv"
    cio.write(table, path, dialect=dialect, force=True)
    # Rubbish such as control characters is refused on reading, which is another test.
    try:
        source = cio.read(path, delimiter=dialect.delimiter, encoding=dialect.encoding, header=True)
    except DataError as error:
        assert "not a table" in str(error)
        return
    assert source.table.equals(table)


@given(tables(), dialects)
def test_python_reads_the_same(tmp_path, table, dialect):
    path = tmp_path / "table.csv"
    cio.write(table, path, dialect=dialect, force=True)
    text = path.read_bytes().decode(dialect.encoding)
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=dialect.delimiter))
    expected = [table.column_names] + [[cell or "" for cell in row.values()] for row in table.to_pylist()]
    # Python reads an empty line as a row without cells, coterie as one missing value.
    assert [row or [""] for row in rows] == expected


@given(st.lists(st.lists(letters | awkward, min_size=2, max_size=2), min_size=1, max_size=5), st.booleans())
def test_what_python_writes_is_read(tmp_path, rows, everything):
    path = tmp_path / "table.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL if everything else csv.QUOTE_MINIMAL)
        writer.writerows([["a", "b"], *rows])
    try:
        source = cio.read(path, delimiter=",", header=True)
    except DataError as error:
        assert "not a table" in str(error)
        return
    found = [[cell or "" for cell in row.values()] for row in source.table.to_pylist()]
    assert found == rows


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused_in_one_line(tmp_path, content):
    path = tmp_path / "table"
    path.write_bytes(content)
    try:
        source = cio.read(path)
    except DataError as error:
        assert "\n" not in str(error)
    else:
        assert source.table.num_rows > 0


@pytest.mark.parametrize("text", ["age,zip\n", "age,zip", "age,zip\r\n\r\n"])
def test_a_header_without_rows_says_the_same_in_both_engines(tmp_path, text):
    import coterie

    (tmp_path / "in.csv").write_text(text, newline="")
    said = set()
    for engine in ("memory", "blocks"):
        with pytest.raises(DataError) as caught:
            coterie.anonymize(
                tmp_path / "in.csv", quasi=["age"], drop=["zip"], k=2, engine=engine, output=tmp_path / "out.csv"
            )
        said.add(str(caught.value))
    assert len(said) == 1
    assert "has a header but no rows" in said.pop()
    assert [each.name for each in tmp_path.iterdir()] == ["in.csv"]


LINE = st.lists(st.sampled_from(["", "a", "bc", '"a"', '"b,c"', '"a\nb"', '"\n"', '"x\n\n""y"', '"a""b"', 'a"b', '"']))


@given(rows=st.lists(LINE, min_size=1, max_size=30), block=st.sampled_from([24, 32, 64]), ends=st.integers(0, 2))
def test_blocks_cut_at_line_ends_give_the_same_cells_or_none(rows, block, ends):
    text = "\n".join(["one,two", *(",".join((*row, "", "")[:2]) for row in rows)]).encode() + b"\n" * ends
    found = DetectedText(Dialect(), ["one", "two"], 0)

    def opened():
        return pa.BufferReader(text)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(csv_in._parse.__kwdefaults__, "block_size", block)
        quick = csv_in._parse_lines(opened, found, text)
    try:
        whole = csv_in._parse(opened, found)
    except pa.ArrowInvalid:
        whole = None
    assert quick is None or quick.equals(whole)
    if b'"' not in text and whole is not None:
        assert quick is not None


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("note", ["plain", '"quoted"', '"two\nlines"'])
def test_a_text_of_several_blocks(tmp_path, end, note):
    count = 3 * csv_in._BLOCK_BYTES // 40
    body = "".join(f"{row:010},{note},{row % 7}{end}" for row in range(count))
    (tmp_path / "long.csv").write_bytes(f"row,note,rest{end}{body}".encode())
    table = cio.read(tmp_path / "long.csv").table
    assert table.column("row").to_pylist() == [f"{row:010}" for row in range(count)]
    assert table.column("note").unique().to_pylist() == [note.strip('"')]
    assert table.column("rest").to_pylist() == [str(row % 7) for row in range(count)]
