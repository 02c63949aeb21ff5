"""The last check: every original lies inside its published cell, whatever the counts say."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from originals import IN_CLASSES, originals
from pyarrow import csv, parquet

import coterie
from coterie.engines.belongs import count_strangers
from coterie.engines.blocks.store import BlockStore
from coterie.engines.finished import AT
from coterie.engines.memory import run as memory_run
from coterie.errors import VerificationError
from coterie.settings.config import Config

TREE = {"North": ["a", "b"], "South": ["c", "d"]}
HELD = [
    # original, published, settings: the cell holds the value
    (5, "[3-7]", {}),
    (-5, "[-7, 3]", {}),
    (5, "5", {}),
    (None, None, {}),
    (None, "*", {}),
    (2.5, "[1.5-2.5]", {}),
    (dt.date(2024, 3, 5), "[2024-01-01, 2024-12-31]", {}),
    (dt.time(12, 0), "[11:00:00.000000, 13:00:00.000000]", {}),
    ("b", "{a, b}", {}),
    ("*", "\\*", {}),
    ("", "", {}),
    ("", "{, b}", {}),
    ("", "North", {"hierarchies": {"x": {"North": ["", "b"], "South": ["c", "d"]}}}),
    ("a", "North", {"hierarchies": {"x": TREE}}),
    ("c", "*", {"hierarchies": {"x": TREE}}),
    (17, "[15-19]", {"hierarchies": {"x": coterie.intervals(5, 20)}}),
    ("02138", "021**", {"hierarchies": {"x": coterie.prefixes(3)}}),
    ("2024-03-05", "2024-Q1", {"hierarchies": {"x": coterie.dates("quarter")}}),
]
OTHER = [
    (8, "[3-7]", {}),
    (None, "[3-7]", {}),
    (5, None, {}),
    (2.6, "[1.5-2.5]", {}),
    (dt.date(2025, 3, 5), "[2024-01-01, 2024-12-31]", {}),
    (dt.time(14, 0), "[11:00:00.000000, 13:00:00.000000]", {}),
    ("c", "{a, b}", {}),
    ("", "{a, b}", {}),
    (None, "{, b}", {}),
    ("", "South", {"hierarchies": {"x": {"North": ["", "b"], "South": ["c", "d"]}}}),
    ("a", "South", {"hierarchies": {"x": TREE}}),
    (20, "[15-19]", {"hierarchies": {"x": coterie.intervals(5, 20)}}),
    ("02238", "021**", {"hierarchies": {"x": coterie.prefixes(3)}}),
    ("2024-04-05", "2024-Q1", {"hierarchies": {"x": coterie.dates("quarter")}}),
]


@pytest.mark.parametrize(("cases", "wrong"), [(HELD, 0), (OTHER, 1)], ids=["held", "others"])
def test_a_cell_holds_its_value_or_not(cases, wrong):
    for value, cell, settings in cases:
        anchor = value if value is not None else "b" if "b" in str(cell) else 4  # a column has a type
        original = pa.table({"x": pa.array([value, anchor])})
        published = pa.table({"x": pa.array([cell, "*"])})
        found = count_strangers(original, published, Config(quasi=["x"], k=2, **settings))
        assert found["x"] == wrong, (value, cell)


def test_bounds_and_columns_published_unchanged():
    config = Config(quasi=["x"], keep=["y"], k=2, publish={"x": "bounds"})
    original = pa.table({"x": [1, 2, None, 9], "y": pa.array(["a", None, "b", "c"]).dictionary_encode()})
    shown = pa.table({"x_min": [1, 1, None, None], "x_max": [2, 2, None, None], "y": ["a", None, "b", "c"]})
    assert not count_strangers(original, shown, config)
    moved = shown.take(pa.array([3, 0, 1, 2]))
    assert count_strangers(original, moved, config) == {"x": 1, "y": 4}


@given(originals(), st.integers(1, 4), st.sampled_from(IN_CLASSES), st.randoms(use_true_random=False))
def test_no_right_release_is_refused_and_one_of_shuffled_rows_is(case, k, method, random):
    table, roles = case
    try:
        release = coterie.anonymize(table, **roles, k=k, method=method)
    except coterie.errors.CoterieError as error:
        assert not isinstance(error, VerificationError)
        return
    order = list(range(len(release.published.kept)))
    random.shuffle(order)
    kept = table.take(pa.array(release.published.kept))
    found = count_strangers(kept, release.published.table.take(pa.array(order)), release.config)
    # `note` is another in every row, so that a row that moved is seen.
    assert found["note"] == sum(at != to for at, to in enumerate(order))


def test_boxes_of_other_rows_are_refused_in_memory(monkeypatch):
    """Reversed boxes: as many classes of the same sizes, and every promise kept."""
    table = pa.table({"x": list(range(40)), "y": [f"cell {at}" for at in range(40)]})
    honest = memory_run.publish

    def reversed_boxes(*words, **named):
        made = honest(*words, **named)
        back = made.table.column("x").take(pa.array(range(39, -1, -1)))
        return made._replace(table=made.table.set_column(0, "x", back))

    monkeypatch.setattr(memory_run, "publish", reversed_boxes)
    with pytest.raises(VerificationError, match="does not belong to its original") as caught:
        coterie.anonymize(table, quasi=["x"], keep=["y"], k=4, method="mondrian")
    assert caught.value.exit_code == 5
    assert "cell" not in str(caught.value)


@pytest.mark.parametrize("write", [csv.write_csv, parquet.write_table], ids=["csv", "parquet"])
def test_boxes_of_other_rows_are_refused_in_blocks(tmp_path, monkeypatch, write):
    table = pa.table({"x": list(range(400)), "y": [f"cell {at}" for at in range(400)]})
    write(table, tmp_path / "in")
    honest = BlockStore.piece

    def turned(self, *words):
        made = honest(self, *words)
        if made is None:
            return None
        at = made.column_names.index(AT)
        return made.set_column(at, made.field(at), pa.chunked_array([made.column(at).to_numpy()[::-1].copy()]))

    monkeypatch.setattr(BlockStore, "piece", turned)
    with pytest.raises(VerificationError, match="does not belong to its original"):
        coterie.anonymize(
            tmp_path / "in", quasi=["x"], keep=["y"], k=4, method="mondrian", engine="blocks", block_rows=100,
            output=tmp_path / "out.parquet",
        )  # fmt: skip
    assert [each.name for each in tmp_path.iterdir()] == ["in"]


def test_numbers_as_they_are_computed_are_no_strangers():
    rng = np.random.default_rng(1)
    table = pa.table({"x": rng.normal(size=300) * 1e-7, "y": rng.integers(0, 2**62, 300), "z": rng.random(300) * 1e300})
    assert coterie.anonymize(table, quasi=["x", "y", "z"], k=5, method="mondrian").verification.passed


def test_an_empty_text_in_a_set_is_no_stranger():
    table = pa.table({"odd": ["*", "*", ""], "age": [1, 1, 1]})
    release = coterie.anonymize(table, quasi=["odd", "age"], k=3, method="mondrian")
    assert release.frame.num_rows == 3


def test_rows_are_chosen_from_columns_of_every_type():
    names = pa.array(["ann", "bob", "cid", "dan"])
    original = pa.table(
        {"x": pa.array([1, 2, 3, 4]), "view": names.cast(pa.string_view()), "list": [[1], [2], [3], [4]]}
    )
    config = Config(quasi=["x"], keep=["view", "list"], k=2)
    kept = np.array([3, 1])
    shown = pa.table(
        {"x": ["[2-4]"] * 2, "view": names.take(pa.array(kept)).cast(pa.string_view()), "list": [[4], [2]]}
    )
    assert not count_strangers(original, shown, config, kept=kept)
    assert count_strangers(original, shown, config, kept=kept[::-1].copy()) == {"view": 2, "list": 2}
    assert count_strangers(original, shown, config, kept=np.array([0, 1])) == {"x": 1, "view": 1, "list": 2}
