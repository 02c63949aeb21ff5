"""The page on hierarchies: its examples run, and its messages are those that a user gets."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import coterie
from coterie.errors import CoterieError
from coterie.hierarchies.hierarchy import Hierarchy
from coterie.settings.config import Config

PAGE = (Path(__file__).parents[2] / "docs" / "hierarchies.md").read_text(encoding="utf-8")


def blocks(language):
    found = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found
    return found


@pytest.mark.parametrize("code", blocks("python"))
def test_python_examples_run(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "docs/hierarchies.md", "exec"), {})


@pytest.mark.parametrize("text", blocks("toml"))
def test_toml_examples_are_hierarchies(text, tmp_path):
    (tmp_path / "education.csv").write_text(blocks("csv")[0])
    example = tomllib.loads(text)
    assert Config(quasi=list(example.get("ordered", {})), ordered=example.get("ordered", {}))
    for spec in example.get("hierarchies", {}).values():
        assert Hierarchy.from_spec(spec, base=tmp_path).kind


def test_the_csv_example_is_a_tree(tmp_path):
    (tmp_path / "h.csv").write_text(blocks("csv")[0])
    assert Hierarchy.from_csv(tmp_path / "h.csv").csv_text().endswith("11th;11th;Low;*\n")


def bind(hierarchy, column, values, counts):
    return lambda: hierarchy.bind(pa.array(values), counts=np.asarray(counts), column=column)


EDUCATION = Hierarchy.from_mapping({"High": ["Masters"]})
FAULTS = [
    lambda: Hierarchy.from_rows([["x"]] + [["Masters", "High"]] + [[f"v{n}"] for n in range(6)] + [["Masters", "Low"]]),
    lambda: Hierarchy.from_rows([["a", "X", "Y", "*"], ["b", "Y", "X", "*"]]),
    lambda: Hierarchy.from_rows([]),
    bind(EDUCATION, "education", ["a", "b", "c"], [1, 6, 10]),
    bind(EDUCATION, "education", ["High"], [40]),
    lambda: coterie.intervals(5, 12),
    bind(coterie.intervals(5), "age", ["x", "y", "7"], [1, 1, 1]),
    bind(coterie.dates(), "born", ["x"], [1]),
    bind(coterie.prefixes(), "zip", [2138, 10001], [1, 1]),
    bind(coterie.prefixes(), "zip", ["021**"], [1]),
]


def test_messages_read_as_the_page_says():
    table = PAGE.split("| problem | message |")[1].split("\n\n")[0]
    written = re.findall(r"\| `(.*)` \|$", table, re.MULTILINE)
    assert len(written) == len(FAULTS)
    for text, fault in zip(written, FAULTS, strict=True):
        with pytest.raises(CoterieError) as caught:
            fault()
        assert str(caught.value.problems[0]) == text
