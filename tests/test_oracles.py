"""The slow twins judge coterie, so they must not be made of it."""

import ast
import sys
from pathlib import Path

import pytest

ORACLES = sorted((Path(__file__).parent / "oracles").glob("*.py"))
ALLOWED = {"numpy", "oracles"} | set(sys.stdlib_module_names)


@pytest.mark.parametrize("path", ORACLES, ids=lambda path: path.stem)
def test_twins_import_nothing_of_coterie(path):
    tree = ast.parse(path.read_text())
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add((node.module or "").split(".")[0])
    assert modules <= ALLOWED


def test_every_method_of_a_paper_has_a_twin():
    from coterie.methods import all_methods

    twins = {path.stem.removeprefix("naive_") for path in ORACLES}
    for name, method in all_methods().items():
        if method.paper != "ours":  # those are measured against the optimum and the lower bound
            assert name.replace("-", "_") in twins, f"{name} has no slow twin"
