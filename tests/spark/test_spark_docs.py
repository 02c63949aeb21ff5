"""The page on large tables: its examples of Spark run, in the session that all tests share."""

import re
from pathlib import Path

from spark_cases import config_of, table_of, written

PAGE = Path(__file__).parents[2] / "docs" / "scale.md"


def test_examples_run(session, tmp_path, monkeypatch, capsys):
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    examples = [block for block in blocks if "spark" in block.lower()]
    assert examples
    monkeypatch.chdir(tmp_path)
    written(tmp_path, table_of(400), name="census.parquet")
    Path("census.toml").write_text(config_of(block_rows=150).to_toml())
    for example in examples:
        # Spark would look for relative paths where its Java process was started.
        local = example.replace('"census.parquet"', f'"{tmp_path}/census.parquet"')
        exec(compile(local, PAGE.name, "exec"), {"spark": session})
    assert [each.name for each in (tmp_path / "out").iterdir()] == ["part-00000.parquet"]
    assert float(capsys.readouterr().out.split()[0]) > 0
