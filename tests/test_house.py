"""How the source stands: packages of a size that can be taken in, imports in one direction, tests that mirror them."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from scripts import house

import coterie

ROOT = Path(__file__).parent.parent
LINT = Path(sys.executable).with_name("lint-imports")
# Folders of tests that ask about more than one package, or need a browser, a server, a cluster or other programs.
ACROSS = {"conformance", "db", "golden", "helpers", "oracles", "pages", "peers", "property", "spark"}
# Names of tests that are about a package as a whole.
WHOLE = {"docs", "properties"}


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    words = [sys.executable, str(LINT), "--no-cache", "--config", str(ROOT / "pyproject.toml")]
    return subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)


def test_imports_go_in_one_direction():
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


PLANTED = """
kernels/sorting.py      from coterie.errors import CoterieError     Kernels
verification/verify.py  from coterie.table.encode import encode     Judge
engines/blocks/run.py   from coterie.engines.spark import files     Engines
cli/show.py             from coterie.web import settings            Floors
values/numbers.py       from coterie.table.table import Table       Floors
web/jobs.py             import duckdb                               Libraries of the page
"""


@pytest.mark.parametrize("planted", PLANTED.strip().splitlines())
def test_a_wrong_import_is_found(planted, tmp_path):
    module, line, contract = re.split(r" {2,}", planted)
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "*.parquet"))
    path = tmp_path / "src" / "coterie" / module
    path.write_text(f"{path.read_text(encoding='utf-8')}\n\n{line}\n", encoding="utf-8")
    done = lint(tmp_path)
    assert done.returncode != 0
    assert re.search(rf"{contract}.* BROKEN", done.stdout), done.stdout


@pytest.mark.parametrize("library", ["numba", "duckdb", "typer", "rich", "starlette", "pyspark"])
def test_a_library_in_the_wrong_place_is_found(library, tmp_path):
    code = f"import {library}\n"
    words = [sys.executable, "-m", "ruff", "check", "--config", str(ROOT / "pyproject.toml"), "--select", "TID251"]
    words += ["--stdin-filename", str(ROOT / "src" / "coterie" / "values" / "planted.py"), "-"]
    done = subprocess.run(words, input=code, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "TID251" in done.stdout


def test_no_module_needs_itself_to_load():
    """Imports at the top of modules make no circle, so that any of them can be the first."""
    known = house.modules()
    needs: dict[str, set[str]] = {name: set() for name in known}
    for each in house.imports():
        if not each.late:
            parts = each.target.split(".")
            loaded = {".".join(parts[:end]) for end in range(2, len(parts) + 1)}
            needs[each.module] |= {name for name in loaded if not (each.module + ".").startswith(name + ".")}
    while free := [name for name, others in needs.items() if not others]:
        for name in free:
            del needs[name]
        for others in needs.values():
            others.difference_update(free)
    assert sorted(needs) == []


def test_packages_can_be_taken_in():
    known = house.modules()
    for package in house.packages():
        modules = [name for name, path in known.items() if path.parent == known[package].parent]
        inner = [name for name in house.packages() if name.rpartition(".")[0] == package]
        assert len(modules) - 1 <= 16, package
        assert len(modules) - 1 + len(inner) <= 24, package
    assert len([path for path in (ROOT / "src" / "coterie").iterdir() if path.name != "__pycache__"]) <= 32
    longest = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in known.items()}
    assert {name: lines for name, lines in longest.items() if lines > 400} == {}


def test_packages_say_what_they_are_for_and_what_they_may_import():
    every = house.imports()
    for package, docstring in house.packages().items():
        assert "May import" in docstring, package
        if package.count(".") == 1:  # those inside follow their parents
            assert set(house.imported(package, every)) <= set(house.allowed(docstring)), package


def test_no_package_is_called_like_a_public_function():
    functions = {name for name in coterie.__all__ if callable(getattr(coterie, name))}
    assert functions.isdisjoint(name.rpartition(".")[2] for name in house.packages() if name.count(".") == 1)
    top = {path.stem for path in (ROOT / "src" / "coterie").glob("*.py")}
    assert functions.isdisjoint(top)


def test_the_map_is_that_of_the_packages():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert house.contributing(text) == text, "run python scripts/make_docs.py"


def test_tests_mirror_the_source():
    source = ROOT / "src" / "coterie"
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        folder = path.parent.relative_to(ROOT / "tests")
        if folder == Path() or folder.parts[0] in ACROSS:
            continue
        assert (source / folder / "__init__.py").exists(), path
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path


STEPS = ("source", "count", "plan", "group", "write", "verify", "run")


def test_engines_have_equal_names():
    """Who knows one engine knows all: a step has the same name in each, and memory needs fewer of them."""
    engines = Path(coterie.__file__).parent / "engines"
    steps = {
        name: [step for step in STEPS if (engines / name / f"{step}.py").exists()]
        for name in ("memory", "blocks", "spark")
    }
    # Values are counted as they are encoded, a table in one block is not cut, and a release writes itself.
    assert steps == {"memory": ["source", "group", "verify", "run"], "blocks": list(STEPS), "spark": list(STEPS)}
    # What the protocol asks for is checked by mypy (`choose.KNOWN`); what is found by its name has to be there.
    from coterie.engines.choose import find_engine

    assert [find_engine(name).__name__ for name in steps] == [f"coterie.engines.{name}.run" for name in steps]


# Those that are a kind of recoding, make one, or judge one.
KINDS_KNOWN = {
    "table/grouping.py", "table/recoding.py", "methods/nh.py", "methods/incognito.py", "methods/_method.py",
    "verification/rows.py", "explaining/row.py",
}  # fmt: skip


def asks_for_a_kind(code: str) -> list[str]:
    """Return what names a kind of recoding, or compares with the name of one."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and node.module == "coterie.table.recoding":
            found += [each.name for each in node.names if each.name in ("Levels", "Rings", "KINDS")]
        elif isinstance(node, ast.Attribute) and node.attr in ("slot_of_row", "slot_lo", "slot_hi"):
            found.append(node.attr)
        elif isinstance(node, ast.Compare):
            sides = {side.value for side in (node.left, *node.comparators) if isinstance(side, ast.Constant)}
            found += sorted(sides & {"local", "global", "per-row", "ring"})
    return found + re.findall(r"\brings?\b", code)


def test_recodings_are_asked_and_not_told_apart():
    """Code that publishes, judges, measures or explains does the same for groups, levels and rings."""
    source = Path(coterie.__file__).parent
    every = {str(path.relative_to(source)): path for path in source.rglob("*.py") if "kernels" not in path.parts}
    found = {name: asks_for_a_kind(path.read_text(encoding="utf-8")) for name, path in every.items()}
    assert {name for name, asked in found.items() if asked} <= KINDS_KNOWN, found
    assert asks_for_a_kind('if find_method(name).recoding == "per-row": pass') == ["per-row"]
    assert asks_for_a_kind("from coterie.table.recoding import NO_CELLS, Rings") == ["Rings"]
