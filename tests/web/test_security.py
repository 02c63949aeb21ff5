"""Attacks on the page: each is refused, or harmless."""

from __future__ import annotations

import gzip
import logging
import stat
from pathlib import Path

import pytest
from web_cases import send, wait

from coterie.web.configuration import configuration
from coterie.web.projects.routes import open_path
from coterie.web.settings import resolve_allowed
from coterie.web.table_summary import summary_of

EVIL = '<script>alert("x")</script><img src=x onerror=alert(1)>'


def open_csv(app, files: Path, text: str, name: str = "table.csv"):
    path = files / name
    path.write_text(text)
    project = open_path(app, path)
    return project, wait(app, project.folder / "inspect")


# ---- paths


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "../secret.csv",
        "a/../../secret.csv",
        "link.csv",
        "folder-link/secret.csv",
        "~/x.csv",
        "a\0b",
        "//etc/passwd",
    ],
    ids=["absolute", "dots", "dots-inside", "link", "folder-link", "home", "zero", "slashes"],
)
def test_only_files_below_the_allowed_folders_are_opened(client, files, path):
    secret = files.parent / "secret.csv"
    secret.write_text("name\nAnn\nBob\n")
    (files / "a").mkdir()
    (files / "link.csv").symlink_to(secret)
    (files / "folder-link").symlink_to(files.parent)
    answer = send(client, "/open", data={"path": path})
    assert answer.status_code == 422
    assert "outside the allowed folders" in answer.text
    assert "Projects" not in client.get("/").text


def test_outside_nothing_is_told_about_what_exists(client, files):
    there = client.post("/open", data={"path": "/etc/passwd"}).text.replace("/etc/passwd", "PATH")
    not_there = client.post("/open", data={"path": "/etc/no-such"}).text.replace("/etc/no-such", "PATH")
    assert there == not_there


def test_links_that_stay_inside_are_followed(files):
    (files / "real.csv").write_text("x\n1\n")
    (files / "link.csv").symlink_to(files / "real.csv")
    assert resolve_allowed("link.csv", (files,)) == (files / "real.csv").resolve()
    assert resolve_allowed("x.csv", ()) is None


@pytest.mark.parametrize("name", ["../../evil.csv", "..\\..\\evil.csv", "/etc/cron.d/x", "a\0b.csv", ".", "x" * 5000])
def test_an_uploads_name_is_never_a_path(client, app, settings, name):
    before = set(settings.work_folder.parent.rglob("*"))
    answer = client.post("/upload", files={"file": (name, b"x,y\n1,2\n3,4\n")})
    assert answer.status_code in (303, 400)
    if answer.status_code == 303:
        project = app.state.projects.all()[0]
        assert project.source.parent == project.folder
        assert project.source.name.startswith("upload")
        assert "/" not in project.name
        wait(app, project.folder / "inspect")
    new = set(settings.work_folder.parent.rglob("*")) - before
    assert all(path.is_relative_to(settings.work_folder) for path in new)


@pytest.mark.parametrize(
    "path", ["/p/..%2f..%2f/data", "/p/../../etc/data", "/static/../app.py", "/static/..%2fapp.py"]
)
def test_addresses_lead_to_no_file(client, path):
    assert client.get(path).status_code in (404, 405)


def test_a_run_is_named_by_digits_only(adult):
    assert adult.run_folder("../..") is None
    assert adult.run_folder("..") is None
    assert adult.run_folder("0001/../../") is None


# ---- what tables hold


def test_html_in_names_and_cells_is_text(client, app, files):
    name, cell = f'a"{EVIL}', f"'{EVIL}"
    quoted = ['"' + text.replace('"', '""') + '"' for text in (name, cell)]
    rows = "\n".join(f"{quoted[1]},{i % 3}" for i in range(40))
    project, state = open_csv(app, files, f"{quoted[0]},b\n{rows}\n", name=f"{EVIL.replace('/', '')}.csv")
    assert state == "finished"
    client.post(
        f"{project.url}/configuration", data={"text": f"# {EVIL}\nk = 2\nquasi = [\"b\"]\npurpose = '''{EVIL}'''\n"}
    )
    for step in ("data", "roles", "hierarchies", "goals", "run", "configuration", "data/rows"):
        page = client.get(f"{project.url}/{step}").text
        assert "<script>alert" not in page, step
        assert "<img src=x" not in page, step
    assert "&lt;script&gt;alert" in client.get(f"{project.url}/data").text
    assert "<script>alert" not in client.get("/").text


def test_html_in_hierarchy_labels_is_text(client, adult):
    configuration.write_text(
        adult, f"quasi = ['sex']\n[hierarchies]\nsex = {{ tree = {{ '{EVIL}' = ['Male', 'Female'] }} }}\n"
    )
    sex = configuration.read_values(adult)["quasi"].index("sex")
    assert sex == 0

    place = summary_of(adult).names.index("sex")
    for path in (f"{adult.url}/hierarchies", f"{adult.url}/hierarchies/{place}", f"{adult.url}/configuration"):
        answer = client.get(path)
        assert answer.status_code == 200
        assert "<script>alert" not in answer.text
        assert "<img src=x" not in answer.text


def test_html_in_what_was_typed_is_text(client, adult):
    for step, form in (
        ("goals", {"k": EVIL, "purpose": EVIL, "privacy-0-model": EVIL}),
        ("run", {"method": EVIL, "seed": EVIL}),
        ("data", {"delimiter": EVIL, "encoding": EVIL}),
    ):
        answer = client.post(f"{adult.url}/{step}", data=form)
        answer = client.get(answer.headers["location"])
        assert answer.status_code == 422
        assert "<script>alert" not in answer.text
    assert "<script>alert" not in client.post("/open", data={"path": EVIL}).text


def test_ten_thousand_columns_are_refused_with_a_clear_message(client, app, files):
    header = ",".join(f"column{i}" for i in range(10_000))
    row = ",".join("1" for _ in range(10_000))
    project, state = open_csv(app, files, f"{header}\n{row}\n{row}\n")
    assert state == "failed"
    page = client.get(f"{project.url}/data").text
    assert "10,000 columns; the app supports up to 2,000" in page
    assert client.get(f"{project.url}/roles").headers["location"] == f"{project.url}/data"


@pytest.mark.parametrize("members", [1, 3])
def test_a_zip_bomb_is_refused_before_it_unfolds(client, app, settings, monkeypatch, members):
    object.__setattr__(settings, "unpacked_limit", 20 << 20)
    bomb = gzip.compress(b"a,b\n" + b"1,2\n" * 2_500_000) * members
    if members == 1:
        bomb = gzip.compress(b"a,b\n" + b"1,2\n" * 6_000_000)
    assert len(bomb) < 200_000
    answer = client.post("/upload", files={"file": ("bomb.csv.gz", bomb)})
    project = app.state.projects.all()[0]
    assert answer.status_code == 303
    assert wait(app, project.folder / "inspect") == "failed"
    page = client.get(f"{project.url}/data").text
    assert "bomb.csv.gz would have more than 20 MB when decompressed" in page
    assert not project.table_path.exists()


def test_a_parquet_bomb_is_refused(app, client, settings, files):
    import pyarrow as pa
    from pyarrow import parquet

    object.__setattr__(settings, "unpacked_limit", 1 << 20)
    path = files / "bomb.parquet"
    parquet.write_table(pa.table({"x": pa.repeat(pa.scalar(7), 20_000_000)}), path)
    assert path.stat().st_size < 1 << 20
    project = open_path(app, path)
    assert wait(app, project.folder / "inspect") == "failed"
    assert "when decompressed" in client.get(f"{project.url}/data").text


def test_an_upload_beyond_the_limit_is_refused_and_leaves_nothing(client, settings):
    answer = client.post("/upload", files={"file": ("big.csv", b"x\n" + b"1\n" * (5 << 20))})
    assert answer.status_code == 413
    assert "the limit for uploads" in answer.text
    assert [each.name for each in settings.work_folder.iterdir()] == []


def test_a_form_beyond_the_limit_is_refused(client, adult, settings):
    object.__setattr__(settings, "form_limit", 1 << 20)
    before = adult.config_path.read_bytes()
    answer = client.post(f"{adult.url}/configuration", data={"text": "#" * (2 << 20)})
    assert answer.status_code == 413
    assert adult.config_path.read_bytes() == before


# ---- projects, folders, logs


def test_two_projects_do_not_mix(client, app, files):
    first, _ = open_csv(app, files, "age,town\n" + "".join(f"{20 + i % 5},north\n" for i in range(40)), "one.csv")
    second, _ = open_csv(app, files, "pay,city\n" + "".join(f"{i % 7},south\n" for i in range(60)), "two.csv")
    client.post(f"{first.url}/configuration", data={"text": 'k = 3\nquasi = ["age"]\nkeep = ["town"]\n'})
    client.post(f"{second.url}/configuration", data={"text": 'k = 4\nquasi = ["pay"]\nkeep = ["city"]\n'})
    for project, own, other in ((first, "north", "south"), (second, "south", "north")):
        page = client.get(f"{project.url}/data").text
        assert own in page
        assert other not in page
    for project in (first, second):
        assert client.post(f"{project.url}/run", data={"method": "mondrian", "action": "run"}).status_code == 303
    for project, k, own, other in ((first, 3, "north", "south"), (second, 4, "south", "north")):
        folder = project.run_folder("0001")
        assert wait(app, folder) == "finished"
        text = (folder / "release.csv").read_text()
        assert own in text
        assert other not in text
        assert f"k = {k}" in (folder / "coterie.toml").read_text()
    client.post(f"{first.url}/delete")
    assert not first.folder.exists()
    assert second.run_folder("0001") is not None
    assert client.get(f"{first.url}/data").status_code == 404


def test_folders_are_private_and_go_by_button(client, app, adult, settings):
    uploaded = client.post("/upload", files={"file": ("x.csv", b"x,y\n1,2\n3,4\n")})
    assert uploaded.status_code == 303
    project = app.state.projects.all()[0]
    wait(app, project.folder / "inspect")
    folders = [path for path in settings.work_folder.rglob("*") if path.is_dir()]
    assert folders
    for folder in [settings.work_folder, *folders]:
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(project.source.stat().st_mode) == 0o600
    client.post("/delete")
    assert list(settings.work_folder.iterdir()) == []
    assert adult.source.exists()  # the user's own file


def test_an_unexpected_fault_tells_no_cell(client, app, adult, monkeypatch, caplog):
    from coterie.web.data import routes as step_data

    def broken(*_, **__):
        raise RuntimeError("the cell is Ann Smith")

    monkeypatch.setattr(step_data, "read_rows", broken)
    with caplog.at_level(logging.DEBUG):
        answer = client.get(f"{adult.url}/data")
    assert answer.status_code == 500
    assert "RuntimeError in test_security.py" in answer.text
    assert "Ann Smith" not in answer.text
    assert "Ann Smith" not in caplog.text
    assert "unexpected RuntimeError" in caplog.text
