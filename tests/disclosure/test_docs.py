"""The examples of the pages on risk, attacks, releases, comparisons and explanations run as they stand."""

import re
from pathlib import Path

import pytest

from coterie.disclosure.risk import PRESETS

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["risk.md", "attack.md", "releases.md", "compare.md", "explain.md"])
def test_examples_run(page):
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    assert blocks
    namespace: dict = {}
    for block in blocks:
        exec(compile(block, page, "exec"), namespace)


def test_presets_are_listed():
    text = (DOCS / "risk.md").read_text(encoding="utf-8")
    for name, preset in PRESETS.items():
        line = next(line for line in text.splitlines() if line.startswith(f"| `{name}`"))
        assert f"| {preset.rows} |" in line
