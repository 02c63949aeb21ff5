"""A server's application without a network, and projects in it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from web_cases import ORIGIN, PORT

from coterie.cli.commands.demo import people
from coterie.web.app import create_app
from coterie.web.data.inspect_table import inspect_job
from coterie.web.project import Project, private_folder
from coterie.web.settings import Settings


@pytest.fixture(scope="session")
def adult_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1,500 people of Adult as a CSV file."""
    from coterie.files import tables as io

    path = tmp_path_factory.mktemp("adult") / "adult.csv"
    io.write(people().slice(0, 1500), path)
    return path


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The folder whose files may be opened by path."""
    folder = tmp_path / "files"
    folder.mkdir()
    return folder


@pytest.fixture
def settings(tmp_path: Path, files: Path) -> Settings:
    return Settings(private_folder(tmp_path / "work"), port=PORT, allowed_folders=(files,), upload_limit=8 << 20)


@pytest.fixture
def app(settings: Settings) -> Iterator[Starlette]:
    app = create_app(settings)
    yield app
    app.state.jobs.stop_all()


@pytest.fixture
def stranger(app: Starlette) -> TestClient:
    """A client that does not know the token."""
    return TestClient(app, base_url=ORIGIN, raise_server_exceptions=False, follow_redirects=False)


@pytest.fixture
def client(app: Starlette, settings: Settings) -> TestClient:
    """A client that was let in, whose forms come from the server's own pages."""
    client = TestClient(app, base_url=ORIGIN, follow_redirects=False, headers={"Origin": ORIGIN})
    assert client.get(f"/?token={settings.token}").status_code == 303
    return client


@pytest.fixture(scope="session")
def adult_looked_at(tmp_path_factory: pytest.TempPathFactory, adult_csv: Path) -> Path:
    """What looking at the Adult table leaves in a project's folder; done once, and in this process."""
    folder = tmp_path_factory.mktemp("looked")
    job = {"source": adult_csv, "project": folder, "configuration": folder / "coterie.toml", "name": "adult.csv"}
    inspect_job({**job, "unpacked_limit": 1 << 30, "column_limit": 2000}, folder, lambda step, done, total: None)
    return folder


@pytest.fixture
def adult(app: Starlette, files: Path, adult_csv: Path, adult_looked_at: Path) -> Project:
    """A project with the Adult table, looked at."""
    path = files / "adult.csv"
    path.write_bytes(adult_csv.read_bytes())
    project: Project = app.state.projects.create("adult.csv", source=path)
    for each in adult_looked_at.iterdir():
        shutil.copy(each, project.folder)
    return project
