"""A first line that is a person's record is never taken for a header, and a header is not taken for a record."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import coterie
from coterie.cli.app import main
from coterie.errors import DataError
from coterie.files import tables as io
from coterie.files.batches import open_table
from coterie.files.header import data_columns, generated_names
from coterie.settings.config import Config

TOWNS, JOBS = ("Berlin", "Paris", "Rome"), ("baker", "cook", "smith", "nurse")
ROWS = [f"{20 + i * 7 % 40},{TOWNS[i * i % 3]},{'MF'[i % 2]},{JOBS[i * 3 % 4]}" for i in range(60)]
FIRST = "33,Wanne-Eickel,F,cook"
NO_HEADER = "\n".join([FIRST, *ROWS]) + "\n"
HEADER = "age,town,sex,job\n"
SECRETS = ("Wanne", "Eickel", "cook")
TEXTS = "".join(f"{TOWNS[i % 3]},{JOBS[i % 4]}\n" for i in range(40))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "no.csv").write_text(NO_HEADER)
    (tmp_path / "with.csv").write_text(HEADER + NO_HEADER)
    return tmp_path


def check_silent(text: str) -> None:
    assert not any(secret in text for secret in SECRETS), text


def check_asks(text: str) -> None:
    check_silent(text)
    for part in ("looks like data", "header = true", "--header", "header = false", "--no-header"):
        assert part in text


@pytest.mark.parametrize(
    "content",
    [
        NO_HEADER,
        TEXTS,
        NO_HEADER.replace(",", ";"),
        NO_HEADER.replace(",", '","').replace("\n", '"\n"')[:-1].join(['"', ""]),
        "\ufeff" + NO_HEADER,
        "\n\n" + NO_HEADER,
        "".join(f"{i}\n" for i in range(30)),
        "".join(f"{TOWNS[i % 3]}\n" for i in range(30)),
        "".join(f"wanne{i}@example.org,{JOBS[i % 4]}\n" for i in range(30)),
        "".join(f"1980-01-{i % 28 + 1:02},X{1000 + i}\n" for i in range(30)),
        "33,Wanne\n34,Eickel\n",
        "country,2019,2020\nFrance,1.5,2.5\nItaly,2.5,3.5\n",  # nobody can tell
    ],
)  # fmt: skip
def test_data_in_the_first_line_stop_the_reader(tmp_path, content):
    path = tmp_path / "people.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        io.read(path)
    check_asks(str(caught.value))
    with pytest.raises(DataError) as caught:
        open_table(path, Config())
    check_asks(str(caught.value))
    assert io.read(path, header=True).table.num_rows == io.read(path, header=False).table.num_rows - 1


@pytest.mark.parametrize(
    "content",
    [
        HEADER + NO_HEADER,
        "town,job\n" + TEXTS,
        "Town,Job\n" + TEXTS,
        '"town","job"\n' + TEXTS,
        ",town,job\n" + "".join(f"{i},{TOWNS[i % 3]},{JOBS[i % 4]}\n" for i in range(20)),
        "name\nAnna\nBert\n",
        "a,b\nx,y\n",
        "a,b\n1,2\n",
        "x1,x2\n1.5,2.5\n",
        "name,town,comment\nAnna Schmidt,Berlin,likes bread\nBert Klein,Paris,likes fish\n",
        "age,zip,job\n[24-28],021**,\"{baker, cook}\"\n[24-28],021**,\"{baker, cook}\"\n*,*,*\n",
        "a,b\n[24-28],{x, y}\n[24-28],{x, y}\n".replace("{x, y}", '"{x, y}"'),
        "id,q1_2019,q2_2019\n1,2,3\n2,3,4\n",
    ],
)  # fmt: skip
def test_headers_are_headers(tmp_path, content):
    path = tmp_path / "people.csv"
    path.write_text(content)
    assert open_table(path, Config()).schema.names == content.splitlines()[0].replace('"', "").split(",")
    assert io.read(path).table.num_rows == content.count("\n") - 1


@pytest.mark.parametrize("engine", ["memory", "blocks"])
def test_no_engine_publishes_the_first_person_as_names(folder, engine):
    more = {"block_rows": 20} if engine == "blocks" else {}
    with pytest.raises(DataError) as caught:
        coterie.anonymize("no.csv", output="out.csv", quasi=["age", "town"], k=3, engine=engine, **more)
    check_asks(str(caught.value))
    assert not (folder / "out.csv").exists()


@pytest.mark.parametrize("engine", ["memory", "blocks"])
def test_both_answers_are_taken(folder, engine):
    more = {"block_rows": 20} if engine == "blocks" else {}
    chosen = {"k": 3, "engine": engine, "method": "mondrian", **more}
    roles = {"quasi": ["column_1", "column_2"], "keep": ["column_3", "column_4"]}
    coterie.anonymize("no.csv", output="out.csv", **roles, header=False, **chosen)
    lines = (folder / "out.csv").read_text().splitlines()
    assert lines[0] == "column_1,column_2,column_3,column_4"
    assert len(lines) == 1 + len(ROWS) + 1
    # The configuration of the release still says that the original has no header.
    found = coterie.verify("out.csv", config="out.coterie.toml")
    assert (found.passed, found.rows) == (True, len(ROWS) + 1)
    others = [name for name in FIRST.split(",") if name != "33"]
    coterie.anonymize("no.csv", output="as.csv", quasi=["33"], keep=others, header=True, **chosen)
    lines = (folder / "as.csv").read_text().splitlines()
    assert (lines[0], len(lines)) == (FIRST, 1 + len(ROWS))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
@pytest.mark.parametrize("zipped", [False, True])
def test_without_a_header_every_row_is_there(tmp_path, encoding, zipped):
    path = tmp_path / "no.csv"
    data = ("\n\r\n" + NO_HEADER).encode(encoding)
    path.write_bytes(gzip.compress(data) if zipped else data)
    table = io.read(path, header=False).table
    assert table.column_names == generated_names(4)
    assert [",".join(row.values()) for row in table.to_pylist()] == [FIRST, *ROWS]
    blocks = open_table(path, Config(header=False))
    assert sum(batch.num_rows for batch in blocks.batches()) == len(ROWS) + 1


def test_a_release_of_a_file_without_a_header_is_written_as_the_file_is(tmp_path):
    (tmp_path / "no.csv").write_bytes(b'"1";"a"\r\n"2";"b"\r\n')
    source = io.read(tmp_path / "no.csv", header=False)
    io.write(source.table, tmp_path / "out.csv", like=source)
    assert (tmp_path / "out.csv").read_bytes() == b'"column_1";"column_2"\r\n"1";"a"\r\n"2";"b"\r\n'


@pytest.mark.parametrize("command", [["init", "no.csv", "-o", "-"], ["risk", "no.csv", "--quasi", "age"]])
def test_the_command_line_asks_and_takes_the_answer(folder, capsys, command):
    assert main(command) == 3
    check_asks(capsys.readouterr().err)
    assert main([*(part.replace("age", "column_1") for part in command), "--no-header"]) == 0
    out = capsys.readouterr().out
    check_silent(out)
    assert "column_1" in out
    if command[0] == "init":
        assert "header = false" in out


def test_the_answer_of_a_toml_file(folder, capsys):
    (folder / "coterie.toml").write_text(
        'quasi = ["column_1", "column_3"]\nkeep = ["column_2", "column_4"]\nk = 3\nheader = false\n'
    )
    assert main(["anonymize", "no.csv", "-c", "coterie.toml", "-o", "out.csv", "--method", "mondrian"]) == 0
    assert len((folder / "out.csv").read_text().splitlines()) == len(ROWS) + 2


def test_same_names_are_told_by_their_places(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("Wanne,b,Wanne\nx,y,z\nu,v,w\n")
    for read in (io.read, lambda path: open_table(path, Config())):
        with pytest.raises(DataError, match=r"columns 1 and 3 have the same name.*--no-header") as caught:
            read(path)
        check_silent(str(caught.value))
    with pytest.raises(DataError, match="'Wanne'"):
        io.read(path, header=True)


def test_rows_that_differ_in_length_do_not_come_before_the_question(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(NO_HEADER + "1,2,3,4,5,6\n")
    with pytest.raises(DataError) as caught:
        io.read(path)
    check_asks(str(caught.value))
    with pytest.raises(DataError, match=r"row 62 has 6 columns where the first row has 4\. Columns are separated"):
        io.read(path, header=False)


def test_populations_and_hierarchies_are_read_as_before(folder):
    (folder / "population.csv").write_text("2019\n" + "".join(f"{i % 5}\n" for i in range(50)))
    (folder / "data.csv").write_text("2019\n" + "".join(f"{i % 5}\n" for i in range(20)))
    release = coterie.anonymize("data.csv", quasi=["2019"], k=2, privacy="k-map:3:population.csv", header=True)
    assert release.verification.passed
    (folder / "sex.csv").write_text("M;*\nF;*\n")
    others = ["age", "town", "job"]
    coterie.anonymize("with.csv", quasi=["sex"], drop=others, k=2, hierarchies={"sex": "sex.csv"})


NAMES = st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1, max_size=12)
NUMBERS = st.one_of(st.integers(-999, 9999), st.floats(-99, 99, width=16), st.dates()).map(str)


@given(
    names=st.lists(NAMES, min_size=1, max_size=6, unique=True),
    rows=st.lists(st.lists(NUMBERS, min_size=6, max_size=6), min_size=2, max_size=40),
    words=st.lists(st.sampled_from(TOWNS), min_size=40, max_size=40),
)
def test_names_above_numbers_and_dates_are_a_header(names, rows, words):
    table = [[*row[: len(names)], word] for row, word in zip(rows, words, strict=False)]
    assert not data_columns([*names, "town"], table, missing=("",))


@given(rows=st.lists(st.lists(st.integers(-999, 9999).map(str), min_size=3, max_size=3), min_size=2, max_size=40))
def test_numbers_above_numbers_are_none(rows):
    assert data_columns(rows[0], rows[1:], missing=("",)) == 3


@pytest.mark.parametrize("content", ["[a],b\n1,2\n", "{a},b\n1,2\n", "[1]\nx\ny\n", "[24-28],b\nx,y\n", "{\nx\ny\n"])
def test_brackets_alone_are_not_json(tmp_path, content):
    (tmp_path / "people.csv").write_text(content)
    assert io.read(tmp_path / "people.csv", header=True).table.num_rows


@pytest.mark.parametrize(
    "command",
    [
        "anonymize texts.csv --quasi age,zip -k 2 -o out.csv",
        "anonymize texts.csv --quasi age,zip -k 2 -o out.csv --engine blocks",
        "measure texts.csv texts.csv --quasi age",
        "compare texts.csv --quasi age",
        "verify texts.csv --quasi age -k 2",
        "hierarchy build texts.csv --column age --flat -o -",
    ],
)
def test_a_first_line_without_any_name_that_was_asked_for_is_not_shown(tmp_path, monkeypatch, capsys, command):
    """Texts that never recur look like a header to any test; that nobody knows one of its names is telling."""
    monkeypatch.chdir(tmp_path)
    Path("texts.csv").write_text("Xanthippe,Qwerty Street\nBartholomew,Main Road\nZebediah,Elm Avenue\n")
    assert main(command.split()) == 2
    shown = capsys.readouterr()
    assert "Xanthippe" not in shown.out + shown.err
    assert "Qwerty" not in shown.out + shown.err
    assert "header" in shown.err or "no column 'age'" in shown.err
    # Whoever says that it is a header may see it.
    assert main(["anonymize", "texts.csv", "--quasi", "age", "--header", "-k", "2", "-o", "out.csv"]) == 2
    assert "'Xanthippe'" in capsys.readouterr().err
    assert not Path("out.csv").exists()


ABOVE = [
    "Extract of 2024-03-01\n\n",
    "# made by a tool\n",
    "The extract of somebody\r\n",
    "Ministry,,\nSource: registry,,\n",
]
PATIENTS = "".join(f"{20 + at},1000{at % 7},{'flu' if at % 2 else 'gout'}\n" for at in range(40))


def advised(error: DataError) -> dict[str, int | bool]:
    """The settings that a message advises to people who have lines above their header."""
    text = str(error).split("If the first line is the header")[0]
    skip = re.search(r"skip_rows = (\d+) \(--skip-rows (\d+)\)", text)
    assert skip is not None
    assert skip[1] == skip[2]
    return {"skip_rows": int(skip[1]), **({"header": False} if "header = false" in text else {})}


@pytest.mark.parametrize("above", [*ABOVE, "\n\nA title\n\nof two lines\n"])
@pytest.mark.parametrize("names", ["age,zip,ill\n", ""])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_lines_above_the_header_are_noticed_and_can_be_skipped_as_advised(tmp_path, above, names, encoding):
    path = tmp_path / "people.csv"
    path.write_bytes(f"{above}{names}{PATIENTS}".encode(encoding))
    with pytest.raises(DataError, match="lines above its header") as caught:
        coterie.anonymize(path, quasi=["age", "zip"], sensitive=["ill"], k=5)
    assert "registry" not in str(caught.value)
    advice = advised(caught.value)
    assert advice.get("header", True) == bool(names)
    expected = ["age", "zip", "ill"] if names else ["column_1", "column_2", "column_3"]
    table = io.read(path, **advice).table
    assert (table.column_names, table.num_rows) == (expected, 40)
    config = Config(quasi=expected[:2], sensitive=expected[2:], k=5, **advice)
    lines = open_table(path, config)
    assert (lines.schema.names, sum(batch.num_rows for batch in lines.batches())) == (expected, 40)
    # The same configuration reads the release, which has nothing above its header.
    for engine in ("memory", "blocks"):
        release = coterie.anonymize(path, config=config, engine=engine, output=tmp_path / f"{engine}.csv")
        assert release.verification.passed
        assert coterie.verify(tmp_path / f"{engine}.csv", config=config).passed
        assert coterie.measure(path, tmp_path / f"{engine}.csv", config=config)["gcp"] > 0
    assert release.verdict.questions["promises"].state == "pass"


def test_skipping_the_header_of_a_release_says_so(tmp_path):
    path = tmp_path / "release.csv"
    path.write_text("age,zip,ill\n" + PATIENTS)
    with pytest.raises(DataError, match=r"its line 2 looks like data.*skip_rows = 0 \(--skip-rows 0\)"):
        coterie.anonymize(path, quasi=["age", "zip"], sensitive=["ill"], k=5, skip_rows=1)
    with pytest.raises(DataError, match="empty below the 50 lines that are skipped"):
        io.read(path, skip_rows=50)


@pytest.mark.parametrize("name", ["breast_cancer.csv", "wine_data.csv"])
def test_real_files_with_a_line_of_figures_on_top_are_read_as_advised(name):
    sklearn = pytest.importorskip("sklearn.datasets")
    path = Path(sklearn.__file__).parent / "data" / name
    with pytest.raises(DataError) as caught:
        io.read(path)
    assert io.read(path, **advised(caught.value)).table.num_rows == {"b": 569, "w": 178}[name[0]]
