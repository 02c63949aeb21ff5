"""What another distribution adds by one short file (a setting, a model, a measure, a format, a database) is everywhere.

Everywhere is the command line, Python's signature and results, the page, the report and the documentation.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

PLUGIN = """
from dataclasses import dataclass

from coterie.files.databases.place import Place
from coterie.files.formats import Contents, FileFormat
from coterie.measures.losses import measure
from coterie.privacy import Model
from coterie.settings.fields import Group, setting


class Contact(Group, title="Contact"):
    contact: str | None = setting(None, "E-mail address for questions about the release.", metavar="ADDRESS")


@dataclass(frozen=True)
class MostOften(Model):
    most: float
    on: str | None = None

    name = "most-often"
    parts = ("most", "on")
    meaning = "No sensitive value makes up more than a given share of a group."
    not_proved = "Anything about zebras."

    def figure(self, counts, totals):
        return max(counts) / sum(counts)

    def keeps(self, counts, totals):
        return max(counts) <= self.limit * sum(counts)


class Striped(FileFormat):
    name, title = "striped", "Striped"
    endings, magic = (".stripes",), (b"STRIPES",)
    batches = True

    @classmethod
    def read(cls, raw, *, sheet=None):
        import json, pyarrow as pa

        with raw.open() as stream:
            return pa.table(json.loads(stream.read()[7:]))

    @classmethod
    def describe(cls, stream):
        import json, pyarrow as pa

        return Contents(pa.table(json.loads(stream.read()[7:])).schema)

    @classmethod
    def read_batches(cls, stream, columns):
        import json, pyarrow as pa

        yield from pa.table(json.loads(stream.read()[7:])).select(columns).to_batches(max_chunksize=7)

    @classmethod
    def write_all(cls, tables, schema, sink):
        import json, pyarrow as pa

        sink.write(b"STRIPES" + json.dumps(pa.concat_tables(tables).to_pydict()).encode())


class Herd(Place):
    scheme, title, example = "herd", "Herd", "herd://savanna/zoo#zebras"
    driver = __name__

    @classmethod
    def locate(cls, rest):
        return rest, f"herd://{rest}"


HELD = {}


def read(place):
    return HELD[place.name]


def check(place, *, force):
    pass


def write(table, place, *, force):
    HELD[place.name] = table


@measure("groups per thousand rows", better="higher", grouped=True)
def groups_per_thousand(losses):
    return 1000 * losses.classes.groups / max(losses.rows, 1)
"""

SCRIPT = """
import inspect, json, sys, tempfile
from pathlib import Path

import pyarrow as pa

import coterie
from coterie.cli.app import main

sys.path[:0] = [sys.argv[1]]
from scripts import make_docs

main(["anonymize", "--help"])
main(["verify", "--help"])
main(["models"])
rows = 60
table = pa.table({"age": [20 + i % 30 for i in range(rows)], "ill": ["abc"[i % 3] for i in range(rows)]})
settings = dict(quasi=["age"], sensitive=["ill"], k=3, method="mondrian", contact="data@example.org")
release = coterie.anonymize(table, privacy=["most-often:0.6"], **settings)
again = coterie.verify(release.frame, quasi=["age"], sensitive=["ill"], k=3, privacy=["most-often:0.6"])
strict = coterie.verify(release.frame, quasi=["age"], sensitive=["ill"], privacy=["most-often:0.1"])
folder = Path(tempfile.mkdtemp())
release.report(folder / "report.html")
release.report(folder / "report.json")
release.write(folder / "out.csv")
release.write(folder / "more.stripes")
striped = coterie.verify(folder / "more.stripes", quasi=["age"], sensitive=["ill"], k=3)
release.write("herd://savanna/zoo#zebras")
herd = coterie.verify("herd://savanna/zoo#zebras", quasi=["age"], sensitive=["ill"], k=3)
main(["measure", str(folder / "more.stripes"), str(folder / "more.stripes"), "--quasi", "age"])
again_from_file = coterie.anonymize(folder / "more.stripes", k=2, quasi=["age"], keep=["ill"], method="mondrian")
again_from_file.report(folder / "striped.html")
in_blocks = coterie.anonymize(
    folder / "more.stripes", k=2, quasi=["age"], keep=["ill"], engine="blocks", output=folder / "blocks.stripes"
)

from coterie.web.data.inspect_table import inspect_job
from coterie.web.app import create_app
from coterie.web.project import private_folder
from coterie.web.run.job import late_job, run_job
from coterie.web.settings import Settings
from starlette.testclient import TestClient

(folder / "files").mkdir()
origin = "http://127.0.0.1:8899"
options = Settings(private_folder(folder / "work"), port=8899, allowed_folders=(folder / "files",))
app = create_app(options)
client = TestClient(app, base_url=origin, headers={"Origin": origin})
client.get(f"/?token={options.token}")
source = folder / "files" / "people.csv"
source.write_text("age,ill\\n" + "".join(f"{20 + i % 30},{'abc'[i % 3]}\\n" for i in range(rows)))
project = app.state.projects.create("people.csv", source=source)
job = {"source": source, "project": project.folder, "configuration": project.config_path, "name": "people.csv"}
inspect_job({**job, "unpacked_limit": 1 << 30, "column_limit": 2000}, project.folder, lambda *_: None)
page = client.get(f"{project.url}/goals").text
client.post(f"{project.url}/goals", data={"k": "3", "contact": "desk@example.org", "action": "save"})
private_folder(project.runs_folder)
run = private_folder(project.runs_folder / "0001")
(run / "coterie.toml").write_text(coterie.Config(**settings).to_toml())
run_job(job, run, lambda *_: None)
late_job(job, run / "late", lambda *_: None)
(run / "state.json").write_text(json.dumps({"state": "finished", "started": 1.0, "seconds": 2.0}))

print(json.dumps({
    "herd": herd.passed,
    "results": client.get(f"{project.url}/results/0001").text,
    "striped_html": (folder / "striped.html").read_text(),
    "signature": list(inspect.signature(coterie.anonymize).parameters),
    "measures": dict(release.measures),
    "striped": [striped.passed, again_from_file.frame.num_rows, (folder / "more.stripes").read_text()[:7]],
    "blocks": [in_blocks.verification.passed, in_blocks.published_rows, (folder / "blocks.stripes").read_text()[:7]],
    "home": client.get("/").text,
    "passed": [release.verification.passed, again.passed, strict.passed],
    "checks": [check.name for check in again.checks],
    "page": page,
    "configuration": project.config_path.read_text(),
    "html": (folder / "report.html").read_text(),
    "report": json.loads((folder / "report.json").read_text()),
    "toml": (folder / "out.coterie.toml").read_text(),
    "docs": make_docs.configuration_page() + make_docs.measures_page() + make_docs.models_page() + make_docs.cli_page()
    + make_docs.formats_page(),
}))
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What a process sees in which the plug-in is installed."""
    folder = tmp_path_factory.mktemp("plugin")
    (folder / "zebra.py").write_text(PLUGIN)
    about = folder / "zebra-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: zebra\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[coterie]\nzebra = zebra\n")
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    env = os.environ | {"PYTHONPATH": path}
    words = [sys.executable, "-W", "error::coterie.CoterieWarning", "-c", SCRIPT, str(ROOT)]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
    *printed, last = done.stdout.strip().splitlines()
    return json.loads(last) | {"help": "\n".join(printed)}


def test_a_setting_appears_everywhere(seen):
    assert "--contact ADDRESS" in seen["help"]
    assert "contact" in seen["signature"]
    assert 'id="contact"' in seen["page"]
    assert "E-mail address for questions" in seen["page"]
    assert 'contact = "desk@example.org"' in seen["configuration"]
    assert 'contact = "data@example.org"' in seen["toml"]
    assert seen["report"]["reproducibility"]["configuration"]["contact"] == "data@example.org"
    assert "data@example.org" in seen["html"]
    assert "| `contact` | `--contact` |" in seen["docs"]


def test_a_model_is_searched_for_judged_and_shown(seen):
    assert seen["passed"] == [True, True, False]
    assert "most-often(ill)" in seen["checks"]
    assert "most-often  " in seen["help"]  # among the models
    assert "--most MOST" in seen["help"]
    assert "privacy" in seen["signature"]
    assert "No sensitive value makes up more than a given share" in seen["page"]
    assert "Anything about zebras." in seen["html"]
    assert "`most-often:MOST:COLUMN`" in seen["docs"]


def test_a_measure_is_counted_and_shown(seen):
    assert seen["measures"]["groups_per_thousand"] == 1000 * seen["measures"]["groups"] / 60
    assert "groups_per_thousand" in seen["help"]
    assert "<code>groups_per_thousand</code>" in seen["results"]
    assert "groups_per_thousand" in seen["html"]
    assert "groups_per_thousand" in {each["name"] for each in seen["report"]["utility"]["measures"]}
    assert "| `groups_per_thousand` | groups per thousand rows |" in seen["docs"]


def test_a_file_format_is_read_written_and_shown(seen):
    assert seen["striped"] == [True, 60, "STRIPES"]
    assert seen["blocks"] == [True, 60, "STRIPES"]
    assert "Striped" in seen["help"]
    assert "Striped" in seen["home"]
    assert "more.stripes" in seen["striped_html"]
    assert "| Striped | `.stripes` |" in seen["docs"]


def test_a_database_is_read_written_and_shown(seen):
    assert seen["herd"] is True
    assert "or Herd" in seen["help"]
    assert "| Herd | `herd://savanna/zoo#zebras` |" in seen["docs"]
