"""What belongs to the project besides code: versions that agree, a package that is whole, an image and workflows."""

import os
import re
import shlex
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email import message_from_bytes
from fnmatch import fnmatch
from pathlib import Path

import pytest

import coterie

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RELATIVE = re.compile(r"\]\((?![a-z]+:|#)[^)]+\)")
REPOSITORY = "https://host.example/owner/coterie"


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def cited(key):
    """A plain value at the top of CITATION.cff."""
    (value,) = re.findall(rf"^{key}: (.+)$", text_of("CITATION.cff"), re.MULTILINE)
    return value.strip('"')


def instructions(name="Dockerfile"):
    """The instructions of the Dockerfile as (word, rest), continued lines joined."""
    text = re.sub(r"^#.*\n", "", text_of(name), flags=re.MULTILINE).replace("\\\n", " ")
    return [tuple(line.split(None, 1)) for line in text.splitlines() if line.strip()]


def test_versions_agree():
    headings = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d{2}-\d{2})$", text_of("CHANGELOG.md"), re.MULTILINE)
    version, date = headings[0]
    assert PROJECT["version"] == coterie.__version__ == version == cited("version")
    assert cited("date-released") == date
    assert f"version = {{{version}}}" in text_of("README.md")
    assert f"| {version.rpartition('.')[0]} | yes |" in text_of("SECURITY.md")


def test_the_citation_has_what_the_format_asks_for():
    assert cited("cff-version") == "1.2.0"
    assert cited("license") == PROJECT["license"]
    assert "coterie: k-anonymity" in cited("title")
    text = text_of("CITATION.cff")
    assert "\t" not in text
    for key in ("message", "authors", "references", "abstract", "keywords"):
        assert len(re.findall(rf"^{key}:", text, re.MULTILINE)) == 1, key
    references = text.split("\nreferences:\n")[1].split("\n  - ")
    assert len(references) == 8
    for reference in references:
        for key in ("type", "title", "authors"):
            assert len(re.findall(rf"(?<![-\w]){key}:", reference)) == 1
    # A reader that follows the whole of YAML, where there is one.
    yaml = pytest.importorskip("yaml")
    assert yaml.safe_load(text)["references"][0]["authors"][0] == {"given-names": "Jiuyong", "family-names": "Li"}


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Build a distribution of this folder, as pip and build do; with the address of a repository or without."""
    pytest.importorskip("hatchling")
    if (ROOT / "PKG-INFO").exists():
        pytest.skip("an unpacked source distribution keeps the description that it was built with")

    def made(kind, repository=""):
        folder = tmp_path_factory.mktemp("dist")
        code = f"from hatchling.build import build_{kind} as build; build({str(folder)!r})"
        environment = {**os.environ, "COTERIE_REPOSITORY": repository}
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, check=True, capture_output=True)
        (file,) = folder.iterdir()
        return file

    return made


def metadata_of(wheel):
    with zipfile.ZipFile(wheel) as file:
        (name,) = [name for name in file.namelist() if name.endswith(".dist-info/METADATA")]
        return message_from_bytes(file.read(name))


def test_the_package_describes_itself_without_broken_links(build):
    found = metadata_of(build("wheel"))
    text = found.get_payload(decode=True).decode()
    assert found["Version"] == PROJECT["version"]
    assert found["Description-Content-Type"] == "text/markdown"
    assert found.get_all("Project-URL") is None
    assert RELATIVE.search(text_of("README.md"))
    assert RELATIVE.findall(text) == []
    assert "(`docs/privacy-models.md`)" in text
    assert "https://doi.org/10.24432/C5XW20" in text


def test_the_package_links_to_the_repository_where_it_is_known(build):
    found = metadata_of(build("wheel", REPOSITORY + "/"))
    text = found.get_payload(decode=True).decode()
    assert f"Repository, {REPOSITORY}" in found.get_all("Project-URL")
    tag = f"v{PROJECT['version']}"
    assert f"({REPOSITORY}/blob/{tag}/docs/privacy-models.md)" in text
    assert f"({REPOSITORY}/raw/{tag}/docs/page/roles.webp)" in text
    assert RELATIVE.findall(text) == []
    # Nothing but links was touched.
    assert text.replace(f"{REPOSITORY}/blob/{tag}/", "").replace(f"{REPOSITORY}/raw/{tag}/", "") == text_of("README.md")


def test_the_source_distribution_holds_every_file(build):
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    with tarfile.open(build("sdist")) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    tracked = {name for name in listed.stdout.splitlines() if (ROOT / name).exists()}
    assert tracked - held == set()


def test_the_image_is_built_from_files_that_exist_and_are_let_through():
    through = [line[1:] for line in text_of(".dockerignore").splitlines() if line.startswith("!")]
    copied = []
    for word, rest in instructions():
        if word == "COPY" and "--from" not in rest:
            copied += shlex.split(rest)[:-1]
    assert "src" in copied
    for name in copied:
        assert (ROOT / name).exists(), name
    assert sorted(copied) == sorted(through)
    # The first line that counts shuts everything out: a table in this folder never reaches the build.
    lines = [line for line in text_of(".dockerignore").splitlines() if not line.startswith("#")]
    assert lines[0] == "*"
    assert not any(fnmatch("people.csv", name) for name in through)


def test_the_image_runs_coterie_and_not_as_root():
    steps = instructions()
    last = dict(steps)
    assert last["ENTRYPOINT"] == '["coterie"]'
    assert "coterie" in PROJECT["scripts"]
    assert last["USER"].split(":")[0].isdigit()
    assert int(last["USER"].split(":")[0]) > 0
    words = [word for word, _ in steps]
    assert len(words) - words[::-1].index("USER") <= words.index("ENTRYPOINT")
    (python,) = [rest.removeprefix("PYTHON=") for word, rest in steps if word == "ARG" and rest.startswith("PYTHON=")]
    assert f"Programming Language :: Python :: {python}" in PROJECT["classifiers"]
    extras = re.search(r"\.whl\)\[([a-z,]+)\]", text_of("Dockerfile"))[1].split(",")
    assert set(extras) <= set(PROJECT["optional-dependencies"])


def test_kernels_of_the_image_serve_every_user():
    steps = instructions()
    environment = next(rest for word, rest in steps if word == "ENV" and "NUMBA_CACHE_DIR=" in rest)
    assert "NUMBA_CPU_NAME=generic" in environment
    compiling = next(at for at, (word, rest) in enumerate(steps) if word == "RUN" and "coterie compile" in rest)
    assert 'chmod -R a+rwX "$NUMBA_CACHE_DIR"' in steps[compiling][1]
    before = [word for word, _ in steps[:compiling]]
    assert "USER" in before
    assert any("touch -d" in rest and "coterie/kernels" in rest for _, rest in steps[:compiling])


def targets_run():
    """The make targets that the workflow runs."""
    text = text_of(".github/workflows/tests.yml")
    (listed,) = re.findall(r"^ +target: \[(.+)\]$", text, re.MULTILINE)
    return {entry.split()[0] for entry in listed.split(", ")} | set(re.findall(r"run: make ([a-z-]+)", text))


def test_the_workflow_runs_targets_that_exist_and_all_that_ci_runs():
    known = set(re.findall(r"^([a-z-]+):", text_of("Makefile"), re.MULTILINE))
    assert targets_run() - known == set()
    assert set(re.findall(r"\bmake ([a-z-]+)", text_of(".ci/run").split("set -euo")[1])) - targets_run() == set()


def test_the_workflow_tries_every_python_that_the_package_names():
    named = {entry.rsplit(" ", 1)[1] for entry in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", entry)}
    (listed,) = re.findall(r'^ +python: \[("3.11", .+)\]$', text_of(".github/workflows/tests.yml"), re.MULTILINE)[:1]
    assert {version.strip('"') for version in listed.split(", ")} == named


def test_workflows_may_read_and_no_more():
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    assert workflows
    for path in [*workflows, *(ROOT / ".github" / "actions").glob("*/action.yml")]:
        text = path.read_text(encoding="utf-8")
        for used in re.findall(r"uses: (\S+)", text):
            assert used.startswith("./") or re.fullmatch(r"actions/[a-z-]+@v\d+", used), used
    for path in workflows:
        text = path.read_text(encoding="utf-8")
        assert "permissions:\n  contents: read\n" in text
        assert "write" not in text
        assert "concurrency:" in text


def test_forms_ask_people_not_to_paste_data():
    forms = [path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml"]
    assert {path.stem for path in forms} == {"bug", "feature", "method"}
    for path in forms:
        text = path.read_text(encoding="utf-8")
        assert "Never paste real data" in text
        assert "holds no real data about people" in text
    assert "holds real data about people" in text_of(".github/PULL_REQUEST_TEMPLATE.md")
    assert "Never send real data" in text_of("SECURITY.md")
