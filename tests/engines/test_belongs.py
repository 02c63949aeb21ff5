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
from coterie.engines import centres as centres_module
from coterie.engines.belongs import count_strangers
from coterie.engines.blocks.shuffle import ShuffledStripes
from coterie.engines.blocks.store import BlockStore
from coterie.engines.centres import Centres
from coterie.engines.finished import AT
from coterie.engines.memory import run as memory_run
from coterie.errors import VerificationError
from coterie.publishing import labels
from coterie.settings.config import Config

NUMBERS = st.none() | st.integers(-50, 50) | st.floats(-1e3, 1e3) | st.sampled_from([1e-7, 0.1, 1e12, 1e300, 2.0**60])
TREE = {"North": ["a", "b"], "South": ["c", "d"]}
ORDERED = {"ordered": {"x": ["low", "mid", "high"]}}
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
    ("mid", "[low, mid]", ORDERED),
    ("low", "low", ORDERED),
    ("high", "*", ORDERED),
    (None, None, ORDERED),
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
    ("high", "[low, mid]", ORDERED),
    ("low", "mid", ORDERED),
    (None, "[low, mid]", ORDERED),
]


@pytest.mark.parametrize(("cases", "wrong"), [(HELD, 0), (OTHER, 1)], ids=["held", "others"])
def test_a_cell_holds_its_value_or_not(cases, wrong):
    for value, cell, settings in cases:
        anchor = value if value is not None else "b" if "b" in str(cell) else 4  # a column has a type
        anchor = "mid" if settings is ORDERED else anchor
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


def centred(own, shown, style="mean", **more):
    """The rows of classes whose published mean or median is refused."""
    original, published = pa.table({"x": pa.array(own), **more}), pa.table({"x": pa.array(shown, pa.float64()), **more})
    config = Config(quasi=["x", *more], k=2, publish={"x": style})
    return count_strangers(original, published, config)["x"]


def test_a_mean_is_that_of_the_originals_in_its_class_to_the_digits_published():
    assert centred([1, 2, 3, 4], [2.0, 2.0, 2.0, 4.0]) == 0
    assert centred([1, 2, 2, 2], [1.75] * 4) == 0
    assert centred([1, 2, 2, 2], [2.0] * 4) == 0  # rounded
    assert centred([1, 2, 2, 2], [1.8] * 4) == 0
    assert centred([1, 2, 2, 2], [1.6] * 4) == 4
    assert centred([1, 2, 2, 2], [2.5] * 4) == 4  # above all of them
    assert centred([10, 20, 30, 40], [21.0] * 4) == 4
    # The same numbers in another class are not theirs.
    assert centred([1, 3, 7, 9], [2.0, 2.0, 8.0, 8.0], y=["a", "a", "b", "b"]) == 0
    assert centred([1, 7, 3, 9], [2.0, 2.0, 8.0, 8.0], y=["a", "a", "b", "b"]) == 4
    # An end with more digits than means have may be nearer than what is published.
    assert centred([3.2, 3.9, 3.9], [3.9] * 3) == 0


def test_a_median_has_no_more_than_half_of_its_class_on_either_side():
    assert centred([1, 2, 9], [2.0] * 3, "median") == 0
    assert centred([1, 2, 3, 9], [2.5] * 4, "median") == 0
    assert centred([1, 5, 6, 9], [4.0] * 4, "median") == 4
    assert centred([1, 2, 9], [7.0] * 3, "median") == 3
    assert centred([1, 2, 9], [0.0] * 3, "median") == 3


def test_a_missing_number_has_no_centre_and_a_missing_centre_stands_for_any_number():
    assert centred([1, 3, None], [2.0, 2.0, None]) == 0
    assert centred([1, 3, 5], [2.0, 2.0, None]) == 0
    assert centred([1, 3, None], [2.0, 2.0, 2.0]) == 1
    assert centred(["1", "3", ""], [2.0, 2.0, 2.0]) == 1


def test_pieces_of_a_table_are_judged_together():
    original = pa.table({"x": [1, 2, 8, 9, 3, 7]})
    published = pa.table({"x": [2.0, 2.0, 8.0, 8.0, 2.0, 8.0]})
    config = Config(quasi=["x"], k=3, publish={"x": "mean"})
    for moved, wrong in ((published, {}), (published.take(pa.array([0, 2, 1, 3, 4, 5])), {"x": 6})):
        centres = Centres(config)
        for at in range(0, 6, 2):
            assert not count_strangers(original.slice(at, 2), moved.slice(at, 2), config, centres=centres)
        assert centres.strangers() == wrong


def test_beyond_many_classes_a_sample_of_whole_classes_is_judged(monkeypatch):
    monkeypatch.setattr(centres_module, "MOST_CLASSES", 50)
    rng = np.random.default_rng(3)
    low = rng.integers(0, 10**6, 4000)
    original = pa.table({"x": np.concatenate([low, low + 2])})
    published = pa.table({"x": np.concatenate([low + 1.0, low + 1.0])})
    config = Config(quasi=["x"], k=2, publish={"x": "mean"})
    for shown, some in ((published, False), (pa.table({"x": published["x"].to_numpy()[::-1].copy()}), True)):
        centres = Centres(config)
        for at in range(0, 8000, 500):
            count_strangers(original.slice(at, 500), shown.slice(at, 500), config, centres=centres)
        assert bool(centres.strangers()) == some
        assert 20 < len(centres._found["x"].key) <= 50


@given(
    st.lists(st.tuples(NUMBERS, st.integers(0, 3)), min_size=2, max_size=40),
    st.sampled_from(["mean", "median"]),
    st.integers(2, 4),
    st.sampled_from(["mondrian", "compact"]),
)
def test_no_right_mean_or_median_is_refused(rows, style, k, method):
    table = pa.table({"x": pa.array([x for x, _ in rows], pa.float64()), "y": [y for _, y in rows]})
    try:
        release = coterie.anonymize(table, quasi=["x", "y"], k=k, method=method, publish={"x": style})
    except coterie.errors.CoterieError as error:
        assert not isinstance(error, VerificationError)
        return
    assert release.verification.passed


@pytest.mark.parametrize("style", ["mean", "median"])
def test_means_of_other_rows_are_refused_in_memory_and_in_blocks(tmp_path, monkeypatch, style):
    table = pa.table({"x": [at * at for at in range(400)], "y": [at % 2 for at in range(400)]})
    roles = {"quasi": ["x", "y"], "k": 4, "method": "mondrian", "publish": {"x": style}}
    parquet.write_table(table, tmp_path / "in.parquet")
    blocks = {"engine": "blocks", "block_rows": 100, "output": tmp_path / "out.parquet"}
    coterie.anonymize(table, **roles)
    coterie.anonymize(tmp_path / "in.parquet", **roles, **blocks)
    (tmp_path / "out.parquet").unlink()
    honest = labels._centre
    monkeypatch.setattr(labels, "_centre", lambda boxes, centre: honest(boxes, lambda *all_: centre(*all_)[::-1]))
    for data, more in ((table, {}), (tmp_path / "in.parquet", {**blocks, "force": True})):
        with pytest.raises(VerificationError, match="does not belong to its original"):
            coterie.anonymize(data, **roles, **more)
    assert not (tmp_path / "out.parquet").exists()


def test_boxes_of_other_rows_are_refused_in_a_secret_order(tmp_path, monkeypatch):
    table = pa.table({"x": list(range(400)), "y": [f"cell {at}" for at in range(400)]})
    parquet.write_table(table, tmp_path / "in.parquet")
    roles = {"quasi": ["x"], "keep": ["y"], "k": 4, "method": "mondrian", "row_order": "shuffle"}
    blocks = {"engine": "blocks", "block_rows": 100, "output": tmp_path / "out.parquet", "force": True}
    coterie.anonymize(tmp_path / "in.parquet", **roles, **blocks)
    before = (tmp_path / "out.parquet").read_bytes()
    honest = ShuffledStripes.stripes

    def moved(self, progress=None):
        for stripe in honest(self, progress):
            back = stripe.column("x").take(pa.array(np.arange(stripe.num_rows)[::-1]))
            yield stripe.set_column(stripe.column_names.index("x"), "x", back)

    monkeypatch.setattr(ShuffledStripes, "stripes", moved)
    with pytest.raises(VerificationError, match="does not belong to its original"):
        coterie.anonymize(tmp_path / "in.parquet", **roles, **blocks)
    assert (tmp_path / "out.parquet").read_bytes() == before
