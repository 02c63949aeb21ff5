"""anonymize, verify and measure from Python: frames in and out, edges of k, and runs that share nothing."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest

import coterie
import coterie.engines.steps
from coterie.errors import Cancelled, ConfigError, DataError, InfeasibleError, VerificationError
from coterie.table.grouping import Grouping

ROLES = {"quasi": ["age", "zip"], "sensitive": ["disease"], "identifiers": ["name"], "k": 3}

DAYS = [dt.datetime(2024, 1, day) for day in (5, 3, 9, 1, 2, 8, 7, 4, 6)]
INDEXES = {
    "counted": None,
    "shuffled": pd.Index([5, 3, 0, 8, 7, 1, 2, 6, 4]),
    "texts": pd.Index(list("ihgfedcba"), name="key"),
    "repeated": pd.Index([1, 1, 1, 2, 2, 2, 3, 3, 3]),
    "several": pd.MultiIndex.from_product([["x", "y", "z"], [1, 2, 3]], names=["letter", "number"]),
    "dates": pd.DatetimeIndex(DAYS),
}


def pandas_frame(table, index):
    frame = table.to_pandas()
    return frame if index is None else frame.set_axis(index)


def cells(frame, name):
    """A column of any frame as a list with None for what is missing."""
    if isinstance(frame, pa.Table):
        return frame.column(name).to_pylist()
    if isinstance(frame, pl.DataFrame):
        return frame.get_column(name).to_list()
    return [None if pd.isna(cell) else cell for cell in frame[name]]


@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES)
def test_pandas_in_pandas_out(people, index):
    frame = pandas_frame(people, index)
    before = frame.copy()
    release = coterie.anonymize(frame, **ROLES)
    found = release.frame
    assert isinstance(found, pd.DataFrame)
    assert found.index.equals(pd.RangeIndex(9))
    assert coterie.anonymize(frame, **ROLES, keep_index=True).frame.index.equals(before.index)
    assert list(found.columns) == ["age", "zip", "disease"]
    pd.testing.assert_series_equal(found["disease"], before["disease"].reset_index(drop=True))
    pd.testing.assert_frame_equal(frame, before)
    assert cells(found, "age") == coterie.anonymize(people, **ROLES).arrow.column("age").to_pylist()
    # Neither frame is part of the other.
    found.loc[:, "disease"] = "none"
    pd.testing.assert_frame_equal(frame, before)


def test_polars_in_polars_out(people):
    frame = pl.DataFrame(people)
    before = frame.clone()
    found = coterie.anonymize(frame, **ROLES).frame
    assert isinstance(found, pl.DataFrame)
    assert found.columns == ["age", "zip", "disease"]
    assert found.get_column("disease").equals(before.get_column("disease"), null_equal=True)
    assert frame.equals(before)
    assert isinstance(coterie.anonymize(frame.lazy(), **ROLES).frame, pl.DataFrame)


def test_arrow_in_arrow_out(people):
    release = coterie.anonymize(people, **ROLES)
    assert isinstance(release.frame, pa.Table)
    assert release.frame.column_names == ["age", "zip", "disease"]
    assert release.frame.column("disease").equals(people.column("disease"))
    assert people.column_names == ["name", "age", "zip", "disease"]
    batch = coterie.anonymize(people.to_batches()[0], **ROLES).frame
    assert isinstance(batch, pa.RecordBatch)
    assert pa.Table.from_batches([batch]).equals(release.frame)


def test_files_come_back_as_arrow(people, tmp_path):
    path = tmp_path / "people.csv"
    pa.csv.write_csv(people, path)
    release = coterie.anonymize(path, **ROLES)
    assert isinstance(release.frame, pa.Table)
    assert cells(release.frame, "age") == cells(coterie.anonymize(people, **ROLES).frame, "age")
    assert coterie.anonymize(str(path), **ROLES).frame.equals(release.frame)


def test_groups_say_which_rows_are_published_alike(people):
    release = coterie.anonymize(people, **ROLES)
    assert release.groups.dtype == np.int32
    firsts = [release.groups.tolist().index(group) for group in range(release.grouping.groups)]
    assert firsts == sorted(firsts)  # numbered as they appear
    assert len(release.groups) == 9
    shown = list(zip(cells(release.frame, "age"), cells(release.frame, "zip"), strict=True))
    for group in range(release.grouping.groups):
        assert len({shown[row] for row in np.flatnonzero(release.groups == group)}) == 1
        assert (release.groups == group).sum() >= 3


def test_suppressed_rows_have_no_group(people):
    release = coterie.anonymize(people, **ROLES, missing="suppress", suppressed="remove")
    assert release.groups[5] == -1
    assert release.frame.num_rows == 8
    assert release.published.kept.tolist() == [0, 1, 2, 3, 4, 6, 7, 8]
    frame = pandas_frame(people, INDEXES["texts"])
    found = coterie.anonymize(frame, **ROLES, missing="suppress", suppressed="remove").frame
    assert list(found.index) == list(range(8))
    found = coterie.anonymize(frame, **ROLES, missing="suppress", suppressed="remove", keep_index=True).frame
    assert "".join(found.index) == "ihgfecba"[:5] + "cba"
    assert found["disease"].tolist()[:5] == frame["disease"].tolist()[:5]


@pytest.mark.parametrize("method", ["kmembers", "mondrian"])
def test_k_from_one_to_all_rows(people, method):
    one = coterie.anonymize(people, **{**ROLES, "k": 1}, method=method)
    assert one.measures["gcp"] == 0
    assert one.frame.column("age").equals(people.column("age"))
    assert one.frame.column("zip").equals(people.column("zip"))
    whole = coterie.anonymize(people, **{**ROLES, "k": 9}, method=method)
    assert whole.measures["groups"] == 1
    assert set(cells(whole.frame, "age")) == {"[29-61]"}
    assert set(cells(whole.frame, "zip")) == {"*"}  # missing and others: the root


def test_more_than_all_rows_cannot_be_had(people):
    with pytest.raises(InfeasibleError) as caught:
        coterie.anonymize(people, **{**ROLES, "k": 10})
    error = caught.value
    assert (error.wanted, error.possible, error.exit_code) == (10, 9, 4)
    assert str(error) == "Groups of 10 rows cannot be made: the table has 9 rows. Use a k of at most 9."
    with pytest.raises(InfeasibleError, match="9 rows, 1 of which"):
        coterie.anonymize(people, **{**ROLES, "k": 9}, missing="suppress")
    empty = people.set_column(1, "age", pa.nulls(9, pa.int64()))
    with pytest.raises(InfeasibleError, match="Give a table with rows") as caught:
        coterie.anonymize(empty, **ROLES, missing="suppress")
    assert caught.value.possible == 0


def test_threads_never_change_a_release(people):
    one, many = (coterie.anonymize(people, **ROLES, threads=threads) for threads in (1, 8))
    assert one.arrow.equals(many.arrow)
    assert (one.groups == many.groups).all()


def test_calls_share_nothing(people):
    """One after the other, on other tables and other settings: each gives what it gives by itself."""
    first = coterie.anonymize(people, **ROLES)
    other = people.slice(0, 6).set_column(1, "age", pa.array([1, 2, 3, 4, 5, 6]))
    second = coterie.anonymize(other, quasi=["age"], keep=["name", "zip", "disease"], k=2)
    assert second.frame.column_names == ["name", "age", "zip", "disease"]
    assert set(cells(second.frame, "age")) == {"[1-2]", "[3-4]", "[5-6]"}
    third = coterie.anonymize(people, **ROLES, seed=5, method="mondrian")
    assert third.config.method == "mondrian"
    again = coterie.anonymize(people, **ROLES)
    assert again.arrow.equals(first.arrow)
    assert again.config == first.config
    assert again.measures is not first.measures
    assert dict(again.measures) == dict(first.measures)


def test_settings_come_from_anywhere(people, tmp_path):
    expected = coterie.anonymize(people, **ROLES).arrow
    config = coterie.Config(**ROLES)
    (tmp_path / "config.toml").write_text(config.to_toml())
    for given in (config, ROLES, tmp_path / "config.toml", str(tmp_path / "config.toml")):
        assert coterie.anonymize(people, config=given).arrow.equals(expected)
    changed = coterie.anonymize(people, config=config, k=9)
    assert changed.config.k == 9
    assert config.k == 3


def test_the_request_is_checked_before_the_work(people):
    with pytest.raises(ConfigError) as caught:
        coterie.anonymize(people, quasi=["agee"], sensitive=["disese"], weights={"zip": 1})
    assert {problem.path for problem in caught.value.problems} == {"quasi", "sensitive", "roles", "weights.zip"}
    with pytest.raises(ConfigError, match="is empty"):
        coterie.anonymize(people)
    with pytest.raises(ConfigError, match="dates have no mean"):
        coterie.anonymize(pa.table({"day": DAYS}), quasi=["day"], k=2, publish={"day": "mean"})
    with pytest.raises(DataError, match="A list is not a table"):
        coterie.anonymize([1, 2], quasi=["x"])


def test_progress_names_the_steps_and_cancelling_stops(people):
    told = []
    release = coterie.anonymize(people, **ROLES, progress=lambda step, done, total: told.append(step))
    steps = ["read", "encode", "group", "publish", "verify", "measure"]
    assert [step for step in dict.fromkeys(told) if step in steps] == steps
    assert list(release.seconds) == steps
    assert all(seconds >= 0 for seconds in release.seconds.values())
    with pytest.raises(Cancelled) as caught:
        coterie.anonymize(people, **ROLES, method="gccg", cancelled=lambda: True)
    assert caught.value.exit_code == 130


@pytest.mark.parametrize("labels", [[0] * 8 + [1], [0, 0, 1, 1, 2, 2, 3, 3, 3]])
def test_a_table_that_breaks_its_promise_is_withheld(people, monkeypatch, labels):
    """Whatever a method does, the published table is counted anew before it is given away."""

    def faulty(table, config, run):
        return Grouping.of(table.codes, np.asarray(labels))

    monkeypatch.setattr(coterie.engines.steps, "method_groups", faulty)
    with pytest.raises(VerificationError, match="3-anonymity is wanted, but") as caught:
        coterie.anonymize(people, **ROLES)
    assert caught.value.exit_code == 5


def test_a_release_is_verified_from_its_values(people):
    release = coterie.anonymize(people, **ROLES)
    for given in (release.frame, pl.DataFrame(release.frame), release.frame.to_pandas()):
        found = coterie.verify(given, quasi=["age", "zip"], k=3)
        assert found.passed
        assert found.k == release.verification.k
    assert not coterie.verify(people, quasi=["age", "zip"], k=3).passed
    counted = coterie.verify(people, quasi=["age", "zip"])
    assert counted.passed  # nothing was asked for
    assert counted.wanted is None
    assert not coterie.verify(people, config=release.config).passed
    assert coterie.verify(people, config=release.config, k=None).passed
    assert coterie.verify(people, config=release.config, k=1).passed


def test_a_release_is_measured_against_its_original(people, tmp_path):
    release = coterie.anonymize(people, **ROLES)
    found = coterie.measure(people, release.frame, config=release.config)
    assert dict(found) == pytest.approx({name: release.measures[name] for name in found})
    assert found.attributes == release.measures.attributes
    nothing = coterie.measure(people, people, config=release.config)
    assert nothing["gcp"] == 0
    release.write(tmp_path / "out.csv")
    assert coterie.measure(people, tmp_path / "out.csv", config=release.config)["gcp"] == pytest.approx(found["gcp"])


def test_weights_turn_the_loss_to_what_matters_less():
    table = pa.table({name: np.random.default_rng(seed).random(300) for seed, name in enumerate("xy")})
    light = coterie.anonymize(table, quasi=["x", "y"], k=5, weights={"x": 0.05})
    heavy = coterie.anonymize(table, quasi=["x", "y"], k=5, weights={"x": 20})
    assert light.measures.attributes["y"].ncp < heavy.measures.attributes["y"].ncp
    assert heavy.measures.attributes["x"].ncp < light.measures.attributes["x"].ncp


def test_nothing_of_a_frame_that_cannot_be_had_is_shown():
    frame = pd.DataFrame({"x": [1, "secret", object()], "y": [1, 2, 3]})
    with pytest.raises(DataError) as caught:
        coterie.anonymize(frame, quasi=["x"])
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
