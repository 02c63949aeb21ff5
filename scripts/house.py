"""The packages of coterie: purposes, modules and imports. For CONTRIBUTING's map and its tests.

`python scripts/house.py` lists each package's current imports, as its docstring lists them after "May import".
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
BEGIN, END = "<!-- map: made by scripts/make_docs.py from the docstrings of packages -->", "<!-- end of map -->"


class Import(NamedTuple):
    """An import of one module of coterie by another."""

    module: str
    target: str
    late: bool
    """whether it is inside a function"""


def modules(source: Path = SOURCE) -> dict[str, Path]:
    """Return every module of coterie by its full name."""
    found = {}
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(source: Path = SOURCE) -> list[Import]:
    """Return every import inside coterie, except those for type checkers only."""
    known = modules(source)
    return [
        Import(name, target, late)
        for name, path in known.items()
        for target, late in _imports(ast.parse(path.read_text(encoding="utf-8")), known)
        if target != name
    ]


def _imports(node: ast.AST, known: dict[str, Path], *, late: bool = False) -> Iterator[tuple[str, bool]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.Import):
            yield from ((alias.name, late) for alias in child.names if alias.name in known)
        elif isinstance(child, ast.ImportFrom) and child.module in known:
            for alias in child.names:
                inner = f"{child.module}.{alias.name}"
                yield (inner if inner in known else child.module), late
        inside = late or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        yield from _imports(child, known, late=inside)


def packages(source: Path = SOURCE) -> dict[str, str]:
    """Return every package below coterie by its full name → its docstring."""
    found = {}
    for name, path in modules(source).items():
        if path.name == "__init__.py" and name != "coterie":
            found[name] = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return found


def imported(package: str, every: list[Import]) -> list[str]:
    """Return the imports of a package's modules from elsewhere: names of packages and top-level modules of coterie."""
    inside = package.split(".")[1]
    found = set()
    for each in every:
        if (each.module + ".").startswith(package + ".") and not (each.target + ".").startswith(package + "."):
            parts = each.target.split(".")
            if len(parts) > 1:
                found.add(".".join(parts[1:3]) if parts[1] == inside else parts[1])
    return sorted(found)


def allowed(docstring: str) -> list[str]:
    """Return the imports that a package's docstring allows."""
    match = re.search(r"May import: ([^.]*(?:\.\w[^.]*)*)\.", " ".join(docstring.split()))
    return [] if match is None or match[1] == "nothing else of coterie" else match[1].split(", ")


def map_text(source: Path = SOURCE) -> str:
    """Return CONTRIBUTING's tree of packages, each with the first sentence of its docstring."""
    lines = ["    src/coterie/"]
    for name, docstring in packages(source).items():
        depth = name.count(".")
        label = "  " * depth + name.rpartition(".")[2] + "/"
        duty = " ".join(docstring.split("\n\n")[0].split())
        lines.append(f"    {label:<18} {duty}")
    return "\n".join(lines)


def contributing(text: str) -> str:
    """Return CONTRIBUTING with the current map."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{map_text()}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    listed = imports()
    for name in packages():
        sys.stdout.write(f"{name}: {', '.join(imported(name, listed)) or 'nothing else of coterie'}\n")
