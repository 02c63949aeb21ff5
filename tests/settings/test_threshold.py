"""The default k meets the default threshold, and every place that names a default names this one."""

import re
import tomllib
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

import coterie
from coterie.cli.app import main
from coterie.settings.config import Config
from coterie.settings.threshold import DEFAULT_K, PRESETS, find_threshold
from coterie.suggesting.suggest import guess_table
from coterie.suggesting.toml import suggestion_toml

ROOT = Path(__file__).parents[2]
USUAL = Config()


def suggested(rows):
    """What `coterie init` writes for a table of this many rows."""
    table = pa.table({"age": [20 + at % 60 for at in range(rows)]})
    return suggestion_toml(guess_table(table), source="people.csv", rows=rows)


def test_the_default_k_is_the_smallest_that_meets_the_default_threshold():
    limit = find_threshold(USUAL.threshold).value
    assert Fraction(1, USUAL.k) <= limit < Fraction(1, USUAL.k - 1)


def test_a_default_run_is_within_its_own_threshold():
    ages = [20 + at % 60 for at in range(300)]
    release = coterie.anonymize(pa.table({"age": ages, "pay": ages}), quasi=["age"], sensitive=["pay"])
    assert release.config.k == USUAL.k
    assert release.risk.after.prosecutor.above == 0


def test_the_demo_is_within_its_own_threshold(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--method", "mondrian"]) == 0, capsys.readouterr().err
    made = Config.from_toml("out.coterie.toml")
    assert made.k == USUAL.k
    found = coterie.risk("out.csv", config=made)
    assert found.prosecutor.above == 0


def test_init_proposes_it_for_all_but_small_tables():
    text = suggested(1000)
    assert tomllib.loads(text)["k"] == USUAL.k
    assert "threshold" not in text


@pytest.mark.parametrize("rows", [6, 59])
def test_init_says_when_a_small_table_cannot_meet_the_threshold(rows):
    text = suggested(rows)
    k = tomllib.loads(text)["k"]
    assert Fraction(1, k) > PRESETS["ema"].value
    (line,) = [line for line in text.splitlines() if "threshold" in line]
    assert line.startswith("#")
    for part in (f"1/{k}", "0.09", f"k = {USUAL.k}"):
        assert part in line


def test_texts_name_it(capsys):
    for command in ("anonymize", "verify", "demo"):
        assert main([command, "--help"]) == 0
        assert f"[default: {DEFAULT_K}]" in " ".join(capsys.readouterr().out.split())
    for name, text in (("README.md", r"Adult table at k = (\d+)"), ("Makefile", r"Adult table at k=(\d+)")):
        assert re.findall(text, (ROOT / name).read_text(encoding="utf-8")) == [str(DEFAULT_K)], name
    assert f"The default k = {DEFAULT_K} " in (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
    assert tomllib.loads((ROOT / "examples" / "adult" / "coterie.toml").read_text(encoding="utf-8"))["k"] == DEFAULT_K


def test_the_page_shows_it():
    step_goals = pytest.importorskip("coterie.web.step_goals")
    assert (step_goals.DEFAULTS["k"], step_goals.DEFAULTS["threshold"]) == (str(USUAL.k), USUAL.threshold)
