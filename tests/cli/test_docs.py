"""The documentation says what the code does, and the examples run."""

from __future__ import annotations

import importlib.util
import runpy
from pathlib import Path

import coterie
from coterie import errors
from coterie.cli.app import main
from coterie.settings.config import SETTINGS, Config

ROOT = Path(__file__).parents[2]


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def test_made_pages_are_up_to_date():
    spec = importlib.util.spec_from_file_location("make_docs", ROOT / "scripts" / "make_docs.py")
    make_docs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_docs)
    assert make_docs.stale() == [], "run python scripts/make_docs.py"


def test_every_setting_is_documented():
    for name in SETTINGS:
        assert f"| `{name}` |" in page("configuration.md")
        assert Config.model_fields[name].description


def test_every_error_and_exit_code_is_documented():
    text = page("errors.md")
    for name, value in vars(errors).items():
        if isinstance(value, type) and issubclass(value, errors.CoterieError):
            line = next(line for line in text.splitlines() if line.startswith(f"| `{name}`"))
            assert line.endswith(f"| {value.exit_code} |"), name
    for code in (0, 1, 2, 3, 4, 5, 70, 130, 141):
        assert f"\n| {code} |" in text


def test_quickstart_runs(capsys):
    runpy.run_path(str(ROOT / "examples" / "quickstart.py"))
    out = capsys.readouterr().out
    assert "at least 3: True" in out
    assert "Ann" not in out


def test_adult_example_runs(tmp_path, capsys):
    table, out = str(tmp_path / "adult.csv"), str(tmp_path / "out.csv")
    config = str(ROOT / "examples" / "adult" / "coterie.toml")
    assert main(["demo", "--export", table, "--quiet"]) == 0
    assert main(["anonymize", table, "-c", config, "-o", out]) == 0, capsys.readouterr().err
    assert main(["verify", out, "-c", config]) == 0
    assert coterie.verify(out, config=config).passed
