"""What importing costs: nothing heavy before it is needed, and nothing optional ever."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# Module → the distribution that holds it, where the names differ.
HOLDERS = {"sklearn": "scikit-learn"}

HEAVY = ("numba", "llvmlite", "pyarrow", "pydantic", "numpy", "pandas", "polars", "duckdb", "matplotlib", "rich")
OPTIONAL = ("pandas", "polars", "fastexcel", "openpyxl", "scipy", "sklearn", "pyspark", "sqlite3")
OPTIONAL += ("adbc_driver_manager", "adbc_driver_postgresql", "starlette", "uvicorn", "python_multipart", "tomlkit")


def run(code: str, *args: str) -> str:
    done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "statement",
    [
        "import coterie",
        "import coterie.cli.app",
        "import coterie.cli.app; coterie.cli.app.main(['--help'])",
        "import coterie.cli.app; coterie.cli.app.main(['anonymize', '--help'])",
        "import coterie.cli.app; coterie.cli.app.main(['hierarchy', 'check', '-h'])",
        "import coterie.cli.app; coterie.cli.app.main(['--version'])",
    ],
)
def test_nothing_heavy_is_loaded_early(statement):
    out = run(f"import sys, json\n{statement}\nprint(json.dumps(list(sys.modules)))")
    loaded = {name.split(".")[0] for name in json.loads(out.splitlines()[-1])}
    assert loaded.isdisjoint(HEAVY)


def test_the_core_works_without_optional_packages(tmp_path):
    code = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in sys.argv[1].split(","):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocked())
import coterie

for name in coterie.__all__:
    getattr(coterie, name)
import pyarrow as pa

table = pa.table({"age": [20, 21, 40, 41], "job": ["a", "a", "b", "c"], "pay": [1, 2, 3, 4]})
release = coterie.anonymize(table, quasi=["age", "job"], sensitive=["pay"], k=2)
assert isinstance(release.frame, pa.Table)
assert release.frame.num_rows == 4
assert coterie.verify(release.frame, quasi=["age", "job"], k=2).passed
print("worked")
"""
    assert run(code, ",".join(OPTIONAL)).strip() == "worked"


def imported(path: Path) -> set[str]:
    """Top-level names of the modules that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


def test_what_is_imported_is_declared():
    """Some other package may bring a module along today, and no more tomorrow: click was such a one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [need for name, group in project["optional-dependencies"].items() if name != "dev" for need in group]
    declared = {re.match(r"[\w-]+", need)[0].lower() for need in [*project["dependencies"], *extras]}
    frames = {"pandas", "polars"}  # whose frames are taken; nobody but the caller brings them
    checkers = {"typing_extensions"}  # for types only, and every type checker brings it
    for path in (ROOT / "src").rglob("*.py"):
        foreign = imported(path) - set(sys.stdlib_module_names) - {"coterie"} - frames - checkers
        needed = {HOLDERS.get(name, name.replace("_", "-")).lower() for name in foreign}
        assert needed <= declared, path
