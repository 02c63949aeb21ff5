"""What the README shows is what coterie does: its table, its examples, its commands, its links."""

import importlib.util
import re
import shlex
from pathlib import Path

import pyarrow.csv as csv
import pytest

import coterie
from coterie.api.utility import DESCRIPTIONS as USES
from coterie.cli.app import main
from coterie.methods import all_methods
from coterie.settings.registry import MEASURES

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
# What reads README also runs, without any of the tests, in the environments of `make test-wheel`.
SPEC = importlib.util.spec_from_file_location("try_installed", ROOT / "scripts" / "try_installed.py")
try_installed = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(try_installed)


def blocks(language):
    return try_installed.blocks(README, language)


def section(title):
    return README.split(f"\n## {title}\n")[1].split("\n## ")[0]


def before_and_after():
    """The table at the top as two lists of rows, each with its header first."""
    return try_installed.tables(README)


@pytest.fixture
def people(tmp_path, monkeypatch):
    """The README's people as people.csv in an empty folder."""
    monkeypatch.chdir(tmp_path)
    try_installed.people(README)
    return tmp_path


def test_the_example_gives_the_table_and_the_figures(people):
    code = blocks("python")[0]
    names = {}
    exec(compile(code, "README.md", "exec"), names)
    release = names["release"]
    _, (head, *rows) = before_and_after()
    assert release.frame.column_names == head
    assert [list(row.values()) for row in release.frame.to_pylist()] == rows
    assert len(rows) == 6
    gcp, k = re.search(r"# ([\d.]+): information loss", code)[1], re.search(r"# (\d+): recounted", code)[1]
    assert f"{release.measures['gcp']:.3f}" == gcp
    assert release.verification.k == int(k) == 3
    written = csv.read_csv("release.csv").to_pydict()
    assert written == release.frame.to_pydict()
    assert (people / "release.coterie.toml").exists()


def test_the_limit_that_the_readme_names_is_there():
    """Dan's group has flu or gout, and everybody can see that."""
    before, after = before_and_after()
    dan = next(at for at, row in enumerate(before) if row[0] == "Dan")
    group = {row[-1] for row in after if row[:-1] == after[dan][:-1]}
    assert group == {"flu", "gout"}


def test_other_python_examples_run(people):
    names = {"coterie": coterie}
    for code in blocks("python")[1:]:
        exec(compile(code, "README.md", "exec"), names)
    assert names["release"].verification.passed


def test_commands_run_in_their_order(people, capsys):
    lines = [line.split("#")[0].strip() for block in blocks("console") for line in block.splitlines()]
    commands = [shlex.split(line.removeprefix("$ ")) for line in lines if line.startswith("$ coterie")]
    assert [words[1] for words in commands] == ["init", "anonymize", "verify", "measure", "compare", "explain"]
    for words in commands:
        assert main(words[1:]) == 0, capsys.readouterr().err
    assert coterie.verify("out.csv", config="coterie.toml", k=3).passed


def test_every_method_and_measure_has_its_place():
    methods = section("Methods")
    assert [name for name in all_methods() if f"`{name}`" not in methods] == []
    named = set(re.findall(r"`([a-z_]+)`", section("Measures")))
    assert named <= {*MEASURES, *USES, "bound", "loss_over_bound"}
    assert {"gcp", "discernability", "c_avg", "modification_rate"} <= named


def test_limits_come_before_the_first_command():
    limits, install = README.index("What it does not do"), README.index("make demo")
    assert limits < install
    text = README[limits:install]
    assert "not differential privacy" in text
    assert "legal" in text


def test_links_lead_somewhere_and_every_page_is_linked():
    links = set(re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", README))
    assert [link for link in links if not (ROOT / link).exists()] == []
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md")}
    assert pages - links == set()


def test_the_citation_names_this_version():
    assert f"version = {{{coterie.__version__}}}" in blocks("bibtex")[0]
