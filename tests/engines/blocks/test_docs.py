"""The page on large tables: its examples run."""

import re
from pathlib import Path

import pytest
from block_cases import config_of, table_of
from pyarrow import parquet

PAGE = Path(__file__).parents[3] / "docs" / "scale.md"


def examples():
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [block for block in blocks if "spark" not in block.lower()]


@pytest.mark.parametrize("at", range(len(examples())))
def test_examples_run(at, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    parquet.write_table(table_of(400), "census.parquet")
    Path("census.toml").write_text(config_of(k=10, engine="auto", memory=None, block_rows=150).to_toml())
    exec(compile(examples()[at], PAGE.name, "exec"), {})
    assert capsys.readouterr().out
    assert Path("out.parquet").exists()


def test_there_is_an_example():
    assert examples()
