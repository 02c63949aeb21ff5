"""What tests of the page share."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.testclient import TestClient

from coterie.settings.config import Config
from coterie.web.app import create_app
from coterie.web.data.inspect_table import inspect_job
from coterie.web.project import private_folder, write_json
from coterie.web.run.job import late_job, run_job
from coterie.web.settings import Settings

PORT = 8765
ORIGIN = f"http://127.0.0.1:{PORT}"


def send(client: TestClient, address: str, **fields: object) -> Any:
    """What somebody sees after a form: where there are faults, the page that the answer leads to."""
    answer = client.post(address, **fields)
    assert answer.status_code == 303, answer.status_code
    return client.get(answer.headers["location"])


def wait(app: Starlette, folder: Path, *, seconds: float = 240) -> str:
    """The state of a job once it is over."""
    end = time.monotonic() + seconds
    while app.state.jobs.state(folder).active:
        assert time.monotonic() < end, "the job takes too long"
        time.sleep(0.05)
    return str(app.state.jobs.state(folder).state)


def silent(step: str, done: int, total: int) -> None:
    """Progress that nobody looks at."""


class Place:
    """An application with one project, whose jobs are done in this process."""

    def __init__(self, folder: Path, table: bytes, name: str = "table.csv") -> None:
        settings = Settings(private_folder(folder / "work"), port=PORT, allowed_folders=(folder,))
        self.app = create_app(settings)
        self.client = TestClient(self.app, base_url=ORIGIN, follow_redirects=False, headers={"Origin": ORIGIN})
        self.client.get(f"/?token={settings.token}")
        self.source = folder / name
        self.source.write_bytes(table)
        self.project = self.app.state.projects.create(name, source=self.source)
        self.job = {
            "source": str(self.source),
            "project": str(self.project.folder),
            "configuration": self.project.config_path,
            "name": name,
            "unpacked_limit": 1 << 30,
            "column_limit": 2000,
        }
        self.inspect()

    def inspect(self) -> None:
        """Look at the file, as the page does when it came in."""
        inspect_job(self.job, self.project.folder, silent)

    def run(self, number: int = 1, **settings: Any) -> Path:
        """A finished run with these settings."""
        if not self.project.runs_folder.is_dir():
            private_folder(self.project.runs_folder)
        folder = private_folder(self.project.runs_folder / f"{number:04d}")
        (folder / "coterie.toml").write_text(Config(**settings).to_toml())
        run_job(self.job, folder, silent)
        late_job(self.job, folder / "late", silent)
        write_json(folder / "state.json", {"state": "finished", "started": 1.0, "seconds": 2.0})
        return folder

    def get(self, path: str, **how: Any) -> Any:
        return self.client.get(f"{self.project.url}/results{path}", **how)
