"""The page on privacy models: its examples run, its table is what coterie computes, and no model is left out."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from promises import judge_models

from coterie.hierarchies.hierarchy import Hierarchy
from coterie.settings.config import Config
from coterie.settings.models import parse_model
from coterie.settings.registry import MODELS

PAGE = (Path(__file__).parents[2] / "docs" / "privacy-models.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
def test_python_examples_run(code):
    exec(compile(code, "docs/privacy-models.md", "exec"), {})


def test_the_toml_example_is_a_configuration():
    (text,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert len(Config.from_dict(tomllib.loads(text)).privacy) == 3


def test_every_model_is_documented():
    for name, model in MODELS.items():
        assert f"`{name}:" in PAGE
        assert model.__name__ in PAGE
        assert re.search(rf"\*{re.escape(model.paper)}\.\*", PAGE), model.paper


def test_texts_on_the_page_are_models():
    for text in re.findall(r"^\| \[.*?\] ?\(.*?\) \| `(.*?)` \|", PAGE, re.MULTILINE):
        assert parse_model(text).spec == text


EXAMPLE = {
    "k-anonymity": "k-anonymity:1",
    "l-diversity": "l-diversity:1",
    "l-diversity frequency": "l-diversity:1::frequency",
    "l-diversity entropy": "l-diversity:1::entropy",
    "l-diversity recursive, l = 2": "l-diversity:2::recursive:9",
    "t-closeness equal": "t-closeness:1",
    "t-closeness ordered": "t-closeness:1::ordered",
    "t-closeness hierarchical": "t-closeness:1::hierarchical",
    "alpha-k": "alpha-k:1",
    "beta-likeness": "beta-likeness:9",
    "delta-disclosure": "delta-disclosure:9",
}


def test_the_example_is_as_printed():
    rows = re.findall(r"^\| `(.*?)`(.*?) \| \w+ [=>] ([\d.]+) \|", PAGE, re.MULTILINE)
    printed = {name + more: float(value) for name, more, value in rows}
    assert set(printed) == set(EXAMPLE)
    table = pa.table({"disease": ["flu", "flu", "cold", "gout", "flu", "gout", "gout", "cold"]})
    tree = Hierarchy.from_mapping({"infection": ["cold", "flu"], "joints": ["gout"]})
    for name, spec in EXAMPLE.items():
        (check,) = judge_models(np.repeat([0, 1], 4), table, [parse_model(spec)], hierarchies={"disease": tree})
        assert round(check.found, 4) == printed[name], name
