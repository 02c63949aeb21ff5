"""The Data step: files of every kind come in, are shown a page at a time, and can be read in another way."""

from __future__ import annotations

import gzip
import time

import pyarrow as pa
import pytest
from pyarrow import parquet
from web_cases import send, wait

from coterie.files import tables as io
from coterie.settings.config import Config
from coterie.web.configuration import configuration
from coterie.web.parquet_file import GROUP_ROWS, read_rows
from coterie.web.projects.routes import open_path
from coterie.web.step_states import states_of
from coterie.web.table_summary import summary_of

ROWS = 120
TEXT = "id;age;town;pay\n" + "".join(f"p{i};{20 + i % 9};{'Köln' if i % 2 else '?'};{i}.5\n" for i in range(ROWS))


def looked_at(app, path):
    project = open_path(app, path)
    state = wait(app, project.folder / "inspect")
    return project, state


def upload(client, app, name, data):
    answer = client.post("/upload", files={"file": (name, data)})
    assert answer.status_code == 303, answer.text
    project = app.state.projects.all()[0]
    assert answer.headers["location"] == f"{project.url}/data"
    wait(app, project.folder / "inspect")
    return app.state.projects.get(project.id)


@pytest.mark.parametrize("kind", ["utf-8", "latin-1", "gzip"])
def test_text_is_shown_as_it_stands(client, app, kind):
    data = TEXT.encode("latin-1" if kind == "latin-1" else "utf-8")
    project = upload(client, app, "people.csv", gzip.compress(data) if kind == "gzip" else data)
    facts = summary_of(project)
    assert (facts.rows, facts.names, facts.format) == (ROWS, ["id", "age", "town", "pay"], "csv")
    assert facts.delimiter == ";"
    town = facts.columns[2]
    assert (town.distinct, town.missing) == (1, ROWS // 2)  # ? counts as missing
    assert Config.from_toml(project.config_path).missing_values == ("", "?")
    page = client.get(f"{project.url}/data").text
    for text in ("people.csv", "Köln", "semicolons", "120", '<td class="empty">missing</td>'):
        assert text in page


def test_parquet_and_excel_come_in(client, app, files, people):
    io.write(people, files / "people.parquet")
    project, state = looked_at(app, files / "people.parquet")
    assert state == "finished"
    assert summary_of(project).rows == people.num_rows
    assert summary_of(project).format == "parquet"
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [people.column_names, *(list(row.values()) for row in people.to_pylist())]:
        book.active.append(row)
    book.save(files / "people.xlsx")
    project, state = looked_at(app, files / "people.xlsx")
    assert state == "finished", app.state.jobs.state(project.folder / "inspect").message
    assert summary_of(project).rows == people.num_rows


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("empty.csv", b"", "is empty"),
        ("rows.csv", b"a,b\n", "no rows"),
        ("ragged.csv", b"a,b\n1,2\n1,2,3\n4,5\n", "has 3 columns where the header has 2"),
        ("same.csv", b"a,a\n1,2\n", "same name"),
        ("broken.parquet", b"PAR1xxxxxxxxPAR1", "damaged"),
        ("broken.csv.gz", gzip.compress(b"a,b\n1,2\n" * 999)[:-20], "damaged or truncated"),
        ("quote.csv", b'a,b\n1,2\n3,"4\n5,6\n', "never closed"),
        ("binary.csv", bytes(range(256)) * 50, "is not a table"),
    ],
    ids=["empty", "no-rows", "ragged", "same-names", "parquet", "gzip", "quote", "binary"],
)
def test_what_cannot_be_read_says_why_under_its_own_name(client, app, name, data, text):
    project = upload(client, app, name, data)
    page = client.get(f"{project.url}/data").text
    assert "The table cannot be read" in page
    message = app.state.jobs.state(project.folder / "inspect").message
    assert name in message
    assert str(project.folder) not in message
    assert text in message
    assert not project.table_path.exists()
    # Nothing else can be done before that.
    assert client.get(f"{project.url}/goals").headers["location"] == f"{project.url}/data"


def test_a_file_can_be_read_in_another_way(client, app, files):
    (files / "odd.csv").write_text("a:b\n" + "".join(f"{i}:none\n" for i in range(50)))
    project, _ = looked_at(app, files / "odd.csv")
    assert summary_of(project).names == ["a:b"]
    answer = client.post(f"{project.url}/data", data={"delimiter": ":", "encoding": "", "missing_values": "none\n"})
    assert answer.status_code == 303
    assert wait(app, project.folder / "inspect") == "finished"
    facts = summary_of(project)
    assert facts.names == ["a", "b"]
    assert facts.columns[1].missing == 50
    assert configuration.read_values(project)["delimiter"] == ":"
    wrong = send(client, f"{project.url}/data", data={"delimiter": ":::", "encoding": "klingon"})
    assert wrong.status_code == 422
    for text in ('id="delimiter-fault"', 'id="encoding-fault"', 'value=":::"', 'value="klingon"'):
        assert text in wrong.text
    assert configuration.read_values(project)["delimiter"] == ":"
    # Another visit finds it again, and the step is marked, until it is saved or given up.
    assert 'value="klingon"' in client.get(f"{project.url}/data").text
    assert states_of(project)["data"] == "faulty"
    client.post(f"{project.url}/data", data={"action": "discard"})
    assert "klingon" not in client.get(f"{project.url}/data").text
    assert states_of(project)["data"] == "done"


def test_a_configuration_that_reads_the_file_otherwise_is_noticed(client, app, adult):
    assert "reads the file differently" not in client.get(f"{adult.url}/data").text
    configuration.change(adult, {"missing_values": ["", "Male"]})
    assert "reads the file differently" in client.get(f"{adult.url}/data").text
    client.post(f"{adult.url}/data", data={"missing_values": "Male"})
    assert wait(app, adult.folder / "inspect") == "finished"
    assert "reads the file differently" not in client.get(f"{adult.url}/data").text


def test_a_configuration_that_is_there_already_is_followed_to_the_letter(app, client, files):
    text = '# mine\nk = 3\nquasi = ["age"]\n'
    (files / "mine.toml").write_text(text)
    (files / "people.csv").write_text(TEXT)
    project = open_path(app, files / "people.csv", configuration=files / "mine.toml")
    assert wait(app, project.folder / "inspect") == "finished"
    assert summary_of(project).columns[2].missing == 0  # it does not say that ? is missing
    assert (files / "mine.toml").read_text() == text
    assert "reads the file differently" not in client.get(f"{project.url}/data").text
    client.post(f"{project.url}/goals", data={"k": "4", "threshold": "ema"})
    assert (files / "mine.toml").read_text() == text.replace("k = 3", "k = 4")


def test_a_full_disk_is_told(client, app, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("coterie.web.uploads._Parts._data", full)
    answer = client.post("/upload", files={"file": ("a.csv", b"x\n1\n")})
    assert answer.status_code == 507
    assert "no space is left" in answer.text
    assert app.state.projects.all() == []


def test_a_form_without_a_file_or_cut_short_says_so(client, app, settings):
    answer = send(client, "/upload", files={"file": ("", b"")})
    assert answer.status_code == 422
    assert "Choose a file first" in answer.text
    assert client.post("/upload", data={"x": "1"}).status_code == 415
    kind = {"Content-Type": "multipart/form-data; boundary=B"}
    head = b'--B\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
    for cut in (b"--B\r\nnonsense", head, head + b"a,b\n1,2\n", b"nonsense", head + b"a\r\n--B"):
        broken = client.post("/upload", content=cut, headers=kind)
        assert broken.status_code == 400, cut
        assert "Send the file again" in broken.text
    assert app.state.projects.all() == []
    assert list(settings.work_folder.iterdir()) == []


def test_names_of_any_kind_are_kept_for_people(client, app):
    project = upload(client, app, "Straße ☃.csv", b"x,y\n1,2\n3,4\n")
    assert project.name == "Straße ☃.csv"
    assert project.source.name == "upload.csv"


def test_rows_anywhere_in_a_large_table_are_read_from_one_row_group(app, client, adult, monkeypatch):
    count = 5 * GROUP_ROWS + 7
    table = pa.table({"n": pa.array(range(count)), "text": pa.array([f"t{i % 977}" for i in range(count)])})
    parquet.write_table(table, adult.table_path, row_group_size=GROUP_ROWS)
    reads = []
    real = parquet.ParquetFile.read_row_group
    monkeypatch.setattr(
        parquet.ParquetFile,
        "read_row_group",
        lambda self, group, **more: reads.append(group) or real(self, group, **more),
    )
    for start in (0, GROUP_ROWS - 50, 3 * GROUP_ROWS + 11, count - 3, count + 10):
        reads.clear()
        found = read_rows(adult.table_path, start, start + 100)
        expected = list(range(start, min(start + 100, count)))
        assert [int(cell) for cell in found["n"]] == expected
        assert found["text"] == [f"t{at % 977}" for at in expected]
        assert len(reads) <= 2


@pytest.mark.parametrize("row", ["1", "1,500", "99999999", "0", "-5", "x", "9" * 40])
def test_any_row_can_be_asked_for(client, adult, row):
    answer = client.get(f"{adult.url}/data", params={"row": row, "column": row})
    assert answer.status_code == 200
    assert 'class="data"' in answer.text


def test_further_rows_come_as_a_part_of_the_page(client, adult):
    part = client.get(f"{adult.url}/data/rows?row=101").text
    assert part.count("<tr") == 100
    assert "<html" not in part
    assert 'data-start="100" data-end="200"' in part
    assert 'aria-rowindex="102"' in part  # the head is the first
    last = client.get(f"{adult.url}/data/rows?row=1450").text
    assert 'data-start="1449" data-end="1500"' in last
    some = client.get(f"{adult.url}/data/rows?row=11&count=7").text
    assert some.count("<tr") == 7
    assert client.get(f"{adult.url}/data/rows?row=1&count=900000").text.count("<tr") == 100


def test_looking_can_be_stopped_and_is_followed(client, app, files):
    path = files / "long.csv"
    path.write_bytes(b"a,b\n" + b"12345,abcdefgh\n" * 3_000_000)
    project = open_path(app, path)
    folder = project.folder / "inspect"
    page = client.get(f"{project.url}/data").text
    assert "Reading the table" in page
    part = client.get(f"{project.url}/data/progress")
    assert 'role="status"' in part.text or part.headers.get("HX-Redirect") == f"{project.url}/data"
    client.post(f"{project.url}/data/cancel")
    assert app.state.jobs.state(folder).state == "cancelled"
    assert [each.name for each in project.folder.iterdir() if each.name.startswith(".part")] == []
    time.sleep(0.2)
    assert not project.table_path.exists()
    done = client.get(f"{project.url}/data/progress")
    assert done.headers["HX-Redirect"] == f"{project.url}/data"


def test_a_file_without_a_header_asks_and_takes_the_answer(client, app):
    text = "".join(f"{20 + i % 9};{'Zebulon' if i % 2 else 'Anna'};{i % 3}\n" for i in range(ROWS))
    project = upload(client, app, "people.csv", text.encode())
    page = client.get(f"{project.url}/data").text
    assert summary_of(project) is None
    assert "looks like data" in page
    assert "Zebulon" not in page
    client.post(f"{project.url}/data", data={"header": "false", "delimiter": "", "encoding": "", "missing_values": ""})
    wait(app, project.folder / "inspect")
    facts = summary_of(project)
    assert (facts.rows, facts.names) == (ROWS, ["column_1", "column_2", "column_3"])
    config = Config.from_toml(project.config_path)
    assert config.header is False
    assert set(config.quasi) == {"column_1", "column_2", "column_3"}  # guessed, as if the file had been read at once
    assert '<option value="false" selected>' in client.get(f"{project.url}/data").text


def test_json_lines_are_read_and_lines_above_a_header_skipped_as_advised(client, app):
    rows = b"".join(b'{"age": %d, "name": "Zebulon"}\n' % age for age in range(20, 50))
    project = upload(client, app, "people.csv", rows)
    assert summary_of(project).names == ["age", "name"]
    assert "JSON Lines" in client.get(f"{project.url}/data").text
    table = b"Zebulon's extract\n" + b"age,zip,ill\n" + b"".join(b"%d,1000%d,flu\n" % (i, i % 7) for i in range(30))
    project = upload(client, app, "above.csv", table)
    assert summary_of(project) is None
    page = client.get(f"{project.url}/data").text
    assert "skip_rows = 1 (--skip-rows 1) skips the lines above line 2" in page
    assert "Zebulon" not in page
    client.post(f"{project.url}/data", data={"skip_rows": "1"})
    wait(app, project.folder / "inspect")
    assert summary_of(project).names == ["age", "zip", "ill"]
    assert Config.from_toml(project.config_path).skip_rows == 1
