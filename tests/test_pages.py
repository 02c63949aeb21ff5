"""Pages that people write: their examples run, their links lead somewhere, their figures are the committed ones."""

import json
import re

import pytest
from benchmarks import harness, page
from benchmarks.__main__ import NAMES

import coterie

ROOT = harness.ROOT
WRITTEN = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")
PAGES = [ROOT / name for name in WRITTEN] + sorted((ROOT / "docs").glob("*.md"))


def test_how_it_works_runs():
    text = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    assert code.count("assert") > 8
    exec(compile(code, "docs/how-it-works.md", "exec"), {})


def test_how_it_works_names_files_that_exist():
    text = (ROOT / "docs" / "how-it-works.md").read_text(encoding="utf-8")
    for name in set(re.findall(r"`([a-z_/]+\.py|[a-z_/]+/)`", text)):
        assert list((ROOT / "src" / "coterie").glob(name.rstrip("/"))), name


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if not link.startswith(("http://", "https://", "#")):
            assert (path.parent / link.split("#")[0]).exists(), link


def test_the_changelog_names_this_version_or_what_comes_next():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## [Unreleased]" in text or f"## [{coterie.__version__}]" in text


def test_benchmark_pages_show_the_committed_results():
    assert page.PAGE.read_text(encoding="utf-8") == page.text(), "run python -m benchmarks --page"
    readme = page.README.read_text(encoding="utf-8")
    assert page.readme(readme) == readme, "run python -m benchmarks --page"
    assert page.BEGIN in readme


@pytest.mark.parametrize("path", sorted(harness.RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_committed_results_say_where_they_come_from(path):
    result = json.loads(path.read_text(encoding="utf-8"))
    assert result["benchmark"] == path.stem
    assert path.stem in NAMES
    assert not result["quick"]
    assert result["checks"]
    assert result["rows"]
    assert {"processor", "cores", "load_before"} <= set(result["machine"])
    assert {"coterie", "python", "numba"} <= set(result["versions"])


def test_every_benchmark_has_its_place_on_the_page():
    assert set(page.ORDER) == set(NAMES)
