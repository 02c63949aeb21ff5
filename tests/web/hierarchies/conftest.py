"""A column of the Adult table with its hierarchy imported."""

import json

import pytest
from starlette.testclient import TestClient

from coterie import datasets
from coterie.web.project import Project


@pytest.fixture
def names(adult: Project) -> list[str]:
    return [column["name"] for column in json.loads((adult.folder / "facts.json").read_text())["columns"]]


@pytest.fixture
def education(adult: Project, names: list[str], client: TestClient) -> str:
    """The address of a column with the tree of the Adult data."""
    at = f"{adult.url}/hierarchies/{names.index('education')}"
    content = datasets.adult_hierarchy_files()["education"].read_bytes()
    answer = client.post(f"{at}/import", files={"file": ("education.csv", content)}, data={"delimiter": "auto"})
    assert answer.status_code == 303
    return at
