"""A secret order of rows, and the internal file that undoes it."""

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie.cli.app import main
from coterie.errors import DataError

RNG = np.random.default_rng(5)
TABLE = pd.DataFrame({"age": np.sort(RNG.integers(17, 90, 300)), "sex": RNG.choice(["f", "m"], 300), "ill": range(300)})
SETTINGS = {"quasi": ["age", "sex"], "sensitive": ["ill"], "method": "mondrian"}


def test_sorted_rows_are_warned_of_and_a_secret_order_mends_it():
    plain = coterie.anonymize(TABLE, **SETTINGS)
    asked = plain.verdict.questions["singling-out"]
    assert asked.state == "warn"
    assert 'Set row_order = "shuffle"' in asked.advice[0]
    assert coterie.anonymize(TABLE, **SETTINGS, accept=["singling-out:order"]).verdict.state == "pass"
    shuffled = coterie.anonymize(TABLE, **SETTINGS, row_order="shuffle")
    assert shuffled.verdict.state == "pass"
    assert shuffled.measures["gcp"] == plain.measures["gcp"]
    again = coterie.anonymize(TABLE, **SETTINGS, row_order="shuffle")
    assert shuffled.frame["ill"].tolist() != again.frame["ill"].tolist()  # no seed gives it away
    for release in (shuffled, again):
        back = release.frame.sort_values("ill").reset_index(drop=True)
        pd.testing.assert_frame_equal(back, plain.frame)
    assert (shuffled.groups == plain.groups).all()


def test_measure_needs_the_internal_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("people.csv", index=False)
    words = ["anonymize", "people.csv", "--quasi", "age,sex", "--sensitive", "ill", "--method", "mondrian"]
    assert main([*words, "-o", "out.csv", "--row-order", "shuffle"]) == 0
    told = capsys.readouterr().out
    assert "out.rows.csv" in told
    lines = (tmp_path / "out.rows.csv").read_text().split()
    assert lines[0] == "row"
    assert sorted(map(int, lines[1:])) == list(range(1, 301))
    kept = pd.read_csv("out.csv")["ill"].to_numpy() + 1
    assert list(map(int, lines[1:])) == kept.tolist()
    plain = coterie.anonymize("people.csv", **SETTINGS)
    measured = coterie.measure("people.csv", "out.csv", config="out.coterie.toml")
    assert measured["gcp"] == pytest.approx(plain.measures["gcp"])
    (tmp_path / "out.rows.csv").unlink()
    with pytest.raises(DataError, match="secret order"):
        coterie.measure("people.csv", "out.csv", config="out.coterie.toml")
