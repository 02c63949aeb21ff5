"""A secret order in blocks: every row once, its original kept beside the release, nothing else changed."""

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie.engines.blocks import run
from coterie.errors import ConfigError
from coterie.files.rows_file import read_rows, rows_path


def people(rows=700):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": np.sort(rng.integers(18, 90, rows)),
            "zip": pd.array(rng.integers(0, 50, rows), dtype="Int64"),
            "city": pd.Categorical(rng.choice(["x", "y", "z"], rows), categories=["z", "y", "x", "unused"]),
            "ill": rng.choice(list("abc"), rows),
            "person": np.arange(rows) // 2,
        }
    )


BASE = {
    "quasi": ["age", "zip"],
    "sensitive": ["ill"],
    "keep": ["city"],
    "k": 5,
    "method": "mondrian",
    "engine": "blocks",
}


@pytest.fixture(params=[100, 2**18])
def stripes(request, monkeypatch):
    monkeypatch.setattr(run, "STRIPE_ROWS", request.param)


def made(tmp_path, name, table, **settings):
    path = tmp_path / "in.parquet"
    table.to_parquet(path, index=False)
    release = coterie.anonymize(path, **{**BASE, **settings}, block_rows=300, output=tmp_path / name)
    return release, release.arrow.to_pandas()


@pytest.mark.parametrize("ending", ["csv", "parquet", "feather"])
@pytest.mark.parametrize("roles", [{"drop": ["person"]}, {"entity": "person"}])
def test_the_same_rows_come_in_another_order(tmp_path, stripes, ending, roles):
    _, plain = made(tmp_path, f"plain.{ending}", people(), **roles)
    release, shuffled = made(tmp_path, f"out.{ending}", people(), **roles, row_order="shuffle")
    order = np.concatenate(list(read_rows(tmp_path / f"out.{ending}")))
    assert sorted(order) == list(range(700))
    assert (order != np.arange(700)).mean() > 0.9
    pd.testing.assert_frame_equal(
        shuffled.astype(str), plain.astype(str).iloc[order].reset_index(drop=True), check_dtype=False
    )
    measured = coterie.measure(tmp_path / "in.parquet", tmp_path / f"out.{ending}", config=release.config)
    assert measured["gcp"] == pytest.approx(release.measures["gcp"])
    assert measured["outside"] == 0
    assert release.verdict.questions["singling-out"].figures["order"] == []
    assert "order" not in release.verdict.questions["singling-out"].advice
    # What looks at rows puts each beside its own original.
    held = release.held
    originals, cells = held.source.table.to_pandas(), held.published.table.to_pandas()
    assert (originals["ill"].to_numpy() == cells["ill"].to_numpy()).all()
    release.report(tmp_path / "report.json")


def test_removed_rows_are_skipped(tmp_path, stripes):
    table = people()
    table.loc[::7, "zip"] = pd.NA
    settings = {"drop": ["person"], "missing": "suppress", "suppressed": "remove", "row_order": "shuffle"}
    release, shuffled = made(tmp_path, "out.csv", table, **settings)
    order = np.concatenate(list(read_rows(tmp_path / "out.csv")))
    assert sorted(order) == sorted(np.flatnonzero(table["zip"].notna()))
    assert (shuffled["ill"].to_numpy() == table["ill"].to_numpy()[order]).all()
    copy = tmp_path / "copy.csv"
    release.write(copy)
    assert rows_path(copy).read_bytes() == rows_path(tmp_path / "out.csv").read_bytes()


def test_two_runs_differ_and_rows_one_by_one_are_refused(tmp_path):
    _, one = made(tmp_path, "one.csv", people(), drop=["person"], row_order="shuffle")
    _, two = made(tmp_path, "two.csv", people(), drop=["person"], row_order="shuffle")
    assert not one.equals(two)
    with pytest.raises(ConfigError, match="row_order"):
        made(tmp_path, "three.csv", people(), drop=["person"], row_order="shuffle", method="nh")
