"""Columns of every kind together: the same figures in memory, from the file of a release, and from a foreign file."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coterie
from coterie.cli.app import main
from coterie.errors import ConfigError, CoterieWarning
from coterie.measures.measures import measure_grouping
from coterie.publishing.publish import publish
from coterie.settings.config import Config
from coterie.table.encode import encode
from coterie.table.grouping import Grouping, renumber

TREE = {"A": {"A1": ["a", "b"], "A2": ["c"]}, "B": {"B1": ["d"], "B2": ["e", "f", "g"]}}
PATHS = {leaf: ("*", high, low, leaf) for high, lows in TREE.items() for low, leaves in lows.items() for leaf in leaves}
SCHOOL = ["9th", "HS", "BA", "MA", "PhD"]
TOWNS = ["red", "green", "blue", "x, y", "{z}"]
NAMES = ("age", "code", "town", "school")
OUTPUTS = ("csv", "parquet")
METHODS = ["mondrian", "incognito", "compact", "kaca", "kmembers", "gccg", "cb", "top-down", "bottom-up", "nh"]


def table_of(rows):
    kinds = (pa.int64(), pa.string(), pa.string(), pa.string())
    columns = zip(*rows, strict=True)
    return pa.table(dict(zip(NAMES, map(pa.array, columns, kinds), strict=True)))


def rows(*, missing):
    parts = [st.integers(18, 40), st.sampled_from(sorted(PATHS)), st.sampled_from(TOWNS), st.sampled_from(SCHOOL)]
    return st.lists(st.tuples(*([part | st.none() for part in parts] if missing else parts)), min_size=4, max_size=20)


def config_of(**more):
    return Config(**{"quasi": NAMES, "hierarchies": {"code": TREE}, "ordered": {"school": SCHOOL}, **more})


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=10)
@given(drawn=rows(missing=True), k=st.integers(1, 4), leaf_counts=st.sampled_from(["present", "hierarchy"]))
def test_a_release_counts_alike_in_memory_and_in_its_file(method, tmp_path_factory, drawn, k, leaf_counts):
    table, folder = table_of(drawn), tmp_path_factory.mktemp("release")
    config = config_of(k=k, method=method, leaf_counts=leaf_counts)
    release = coterie.anonymize(table, config=config)
    release.write(folder / "out.csv")
    release.write(folder / "out.parquet")
    pyarrow.parquet.write_table(table, folder / "in.parquet")
    measured = [coterie.measure(table, release.frame, config=config)]
    measured += [coterie.measure(folder / "in.parquet", folder / f"out.{each}", config=config) for each in OUTPUTS]
    for found in measured:
        same = [name for name in found if name not in release.measures.late]
        assert {name: found[name] for name in same} == pytest.approx({name: release.measures[name] for name in same})


@pytest.mark.parametrize("method", ["mondrian", "incognito", "kaca", "compact"])
@settings(max_examples=15)
@given(seed=st.integers(0, 2**16), rows=st.integers(30, 60), suppressed=st.sampled_from(["auto", "remove"]))
def test_a_release_with_masks_counts_alike_where_they_are_given(method, tmp_path_factory, seed, rows, suppressed):
    """What masks suppress is outside a column's range: nothing in the file says so."""
    rng, folder = np.random.default_rng(seed), tmp_path_factory.mktemp("release")
    codes, towns = rng.choice(sorted(PATHS), rows).tolist(), rng.choice(TOWNS, rows).tolist()
    table = table_of(
        zip(rng.integers(18, 90, rows).tolist(), codes, towns, rng.choice(SCHOOL, rows).tolist(), strict=True)
    )
    masks = {
        "suppress_rows": table["age"].to_numpy() > rng.integers(60, 95),
        "suppress_cells": {"age": rng.random(rows) < 0.05, "town": np.array(towns) == "red"},
    }
    config = config_of(k=int(rng.integers(2, 5)), method=method, suppressed=suppressed)
    release = coterie.anonymize(table, config=config, **masks)
    release.write(folder / "out.csv")
    for found in (
        coterie.measure(table, release.frame, config=config, **masks),
        coterie.measure(table, folder / "out.csv", config=config, **masks),
    ):
        same = [name for name in found if name not in release.measures.late]
        assert {name: found[name] for name in same} == pytest.approx({name: release.measures[name] for name in same})


def test_a_release_with_masks_cannot_be_measured_without_them():
    """So that the test above can fail: the oldest row decides the range of ages."""
    table = table_of((age, min(PATHS), "red", "BA") for age in (20, 21, 30, 31, 90))
    masks, config = {"suppress_rows": np.arange(5) == 4}, config_of(k=2, method="mondrian")
    release = coterie.anonymize(table, config=config, **masks)
    assert coterie.measure(table, release.frame, config=config)["gcp"] < release.measures["gcp"]
    assert coterie.measure(table, release.frame, config=config, **masks)["gcp"] == release.measures["gcp"]
    with pytest.raises(ConfigError, match="suppress_rows"):
        coterie.measure(table, release.frame, config=config, suppress_rows=[True])


def test_labels_without_their_hierarchy_are_pointed_out(tmp_path, capsys):
    """Every row is outside then, for no reason that the figures would show."""
    table = pa.table({"age": [20, 20, 30, 30], "code": ["a", "b", "d", "e"], "town": ["red", "blue", "red", "blue"]})
    published = pa.table(
        {"age": ["20", "20", "[25-35]", "30"], "code": ["A1", "A1", "B", "B"], "town": ["{red, blue}"] * 4}
    )
    config = Config(quasi=("age", "code", "town"), k=2)
    with pytest.warns(
        CoterieWarning, match="Column 'code' has no hierarchy, and 4 cells .*--hierarchy code=FILE"
    ) as said:
        found = coterie.measure(table, published, config=config)
    assert len(said) == 1
    assert "A1" not in str(said[0].message)
    assert found["outside"] == 4
    assert coterie.measure(table, published, config=config, hierarchies={"code": TREE})["outside"] == 0
    pyarrow.csv.write_csv(table, tmp_path / "in.csv")
    pyarrow.csv.write_csv(published, tmp_path / "out.csv")
    words = ["measure", str(tmp_path / "in.csv"), str(tmp_path / "out.csv"), "--quasi", "age,code,town", "--json"]
    assert main(words) == 0
    assert "--hierarchy code=FILE" in capsys.readouterr().err


def test_members_that_the_table_has_not_do_not_put_a_row_outside():
    table = pa.table({"town": ["red", "green", "blue", "blue"]})
    published = pa.table({"town": ["{red, grey}", "{green,red}", "{green,blue}", "{black, blue, green}"]})
    found = coterie.measure(table, published, quasi=["town"], k=1)
    assert found["outside"] == 0
    assert found["set_loss"] == pytest.approx((0 + 1 / 2 + 1 / 2 + 1 / 2) / 4)


def test_a_cell_that_stands_for_its_value_alone_is_unchanged():
    table = pa.table({"age": [20, 20, 30, 40]})
    published = pa.table({"age": ["[20-20]", "20.0", "30", "[30-40]"]})
    assert coterie.measure(table, published, quasi=["age"], k=1)["modification_rate"] == 0.25


def published_elsewhere(values, name):
    """What another program may write for a group: the least interval, ancestor or set, in an order of its own."""
    held = set(values)
    if len(held) == 1:
        [value] = held
        return f"\\{value}" if name == "town" and value.startswith("{") else str(value)
    if name == "age":
        return f"[{min(held)}-{max(held)}]"
    if name == "school":
        return "[{}, {}]".format(*(SCHOOL[end(map(SCHOOL.index, held))] for end in (min, max)))
    if name == "town":
        escaped = (value.replace(",", "\\,").replace("{", "\\{").replace("}", "\\}") for value in held)
        return "{" + ", ".join(sorted(escaped, reverse=True)) + "}"
    ways = [PATHS[value] for value in held]
    return next(labels[0] for level in (2, 1, 0) if len(labels := list({way[level] for way in ways})) == 1)


def lost(values, column, name):
    """NCP of a cell and what it leaves open, from the values of its group."""
    held, others = set(values), max(len(set(column)) - 1, 1)
    if len(held) == 1:
        return 0.0, 0.0
    if name == "town":
        return 1.0, (len(held) - 1) / others
    if name == "code":
        label = published_elsewhere(values, name)
        beneath = sum(label in PATHS[value] for value in set(column))
        return beneath / (others + 1), (beneath - 1) / others
    rank = SCHOOL.index if name == "school" else int
    own, every = sorted(map(rank, held)), sorted(set(map(rank, column)))
    between = sum(own[0] <= each <= own[-1] for each in every)
    return (own[-1] - own[0]) / (every[-1] - every[0]), (between - 1) / others


@settings(max_examples=40)
@given(rows(missing=False), st.data())
def test_groups_made_elsewhere_count_as_they_would_in_memory(drawn, data):
    labels = renumber(np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(drawn), max_size=len(drawn)))))
    groups = [np.flatnonzero(labels == group) for group in range(labels.max() + 1)]
    table, config = table_of(drawn), config_of(k=1)
    columns = {name: table[name].to_pylist() for name in NAMES}
    cells, losses = {}, []
    for name, column in columns.items():
        of_group = [[column[row] for row in group] for group in groups]
        cells[name] = [published_elsewhere(of_group[label], name) for label in labels]
        losses += [lost(of_group[label], column, name) for label in labels]
    found = coterie.measure(table, pa.table(cells), config=config)
    expected = np.mean(losses, axis=0)
    assert (found["gcp"], found["set_loss"]) == pytest.approx(tuple(expected))
    pairs = [pair for name in NAMES for pair in zip(columns[name], cells[name], strict=True)]
    changed = [str(value) != cell.removeprefix("\\") for value, cell in pairs]
    assert found["modification_rate"] == pytest.approx(np.mean(changed))
    encoded = encode(table, config).table
    grouping = Grouping.of(encoded.codes, labels.astype(np.int32))
    made = publish(table, encoded, grouping, config)
    inside = measure_grouping(encoded, grouping, config, listed=made.listed, class_of_group=made.class_of_group)
    assert {name: found[name] for name in inside} == pytest.approx(dict(inside))
