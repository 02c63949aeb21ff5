"""Measures by what is published: the same figures in memory, from the file, and for a file from elsewhere."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coterie
from coterie.measures.measures import measure_grouping
from coterie.settings.config import Config
from coterie.table.encode import encode
from coterie.table.recoding import Levels

TREE = {"A": {"A1": ["a", "b"], "A2": ["c"]}, "B": {"B1": ["d"], "B2": ["e", "f", "g"]}}
WAYS = {leaf: (leaf, low, high, "*") for high, lows in TREE.items() for low, leaves in lows.items() for leaf in leaves}
"""value → its labels, level by level"""
UNDER = {label: sum(label in way for way in WAYS.values()) for way in WAYS.values() for label in way}
BY_TEXT = ("modification_rate", "distortion", "distortion_ratio", "gcp", "height_loss", "outside")


def by_the_texts(values, published):
    """The measures as anyone with the hierarchy counts them: cells changed, levels climbed, leaves under a label."""
    pairs = zip(values, published, strict=True)
    cells = [pair for row, shown in pairs for pair in zip(row, shown, strict=True)]
    levels = [WAYS[value].index(cell) / 3 for value, cell in cells]
    leaves = [UNDER[cell] / len(WAYS) if UNDER[cell] > 1 else 0 for value, cell in cells]
    return {
        "modification_rate": np.mean([value != cell for value, cell in cells]),
        "distortion": sum(levels),
        "distortion_ratio": np.mean(levels),
        "height_loss": np.mean(levels),
        "gcp": np.mean(leaves),
        "outside": 0,
    }


def columns(rows):
    return pa.table({name: [row[at] for row in rows] for at, name in enumerate(("p", "q"))})


def config_of(**more):
    trees = {"p": TREE, "q": TREE}
    return Config(**{"quasi": ("p", "q"), "hierarchies": trees, "k": 1, "leaf_counts": "hierarchy", **more})


tables = st.lists(st.tuples(*[st.sampled_from(sorted(WAYS))] * 2), min_size=2, max_size=14)


@settings(max_examples=40)
@given(tables, st.tuples(st.integers(0, 3), st.integers(0, 3)))
def test_a_table_recoded_elsewhere_counts_as_its_texts_say(rows, levels):
    """Whole columns at a level, which no method of ours chose; and the same as groups with nodes, in memory."""
    published = [tuple(WAYS[value][level] for value, level in zip(row, levels, strict=True)) for row in rows]
    expected = by_the_texts(rows, published)
    config = config_of()
    found = coterie.measure(columns(rows), columns(published), config=config)
    assert {name: found[name] for name in BY_TEXT} == pytest.approx(expected)
    table = encode(columns(rows), config).table
    nodes = np.column_stack([
        domain.tree.ancestor_at(3 - level)[table.codes[:, at]]
        for at, (domain, level) in enumerate(zip(table.domains, levels, strict=True))
    ])  # fmt: skip
    ends = [
        [tree.first[nodes[:, at]], tree.last[nodes[:, at]]] for at, tree in enumerate(d.tree for d in table.domains)
    ]
    lo, hi = (np.column_stack([pair[end] for pair in ends]).astype(np.int32) for end in range(2))
    alone = Levels(np.arange(len(rows), dtype=np.int32), lo, hi, nodes=nodes.astype(np.int32))
    inside = measure_grouping(table, alone, config)
    assert {name: inside[name] for name in BY_TEXT} == pytest.approx(expected)


@pytest.mark.parametrize("method", ["incognito", "mondrian"])
@settings(max_examples=15)
@given(rows=tables, k=st.integers(1, 3))
def test_a_release_counts_alike_in_memory_in_its_file_and_by_its_texts(method, tmp_path_factory, rows, k):
    k = min(k, len(rows))
    config = config_of(k=k, method=method)
    release = coterie.anonymize(columns(rows), config=config)
    published = release.frame
    folder = tmp_path_factory.mktemp("release")
    release.write(folder / "out.csv")
    pyarrow.csv.write_csv(columns(rows), folder / "in.csv")
    expected = by_the_texts(rows, list(zip(published["p"].to_pylist(), published["q"].to_pylist(), strict=True)))
    measured = [
        release.measures,
        coterie.measure(columns(rows), published, config=config),
        coterie.measure(folder / "in.csv", folder / "out.csv", config=config),
    ]
    for found in measured:
        assert {name: found[name] for name in BY_TEXT} == pytest.approx(expected)


def test_a_label_above_one_value_is_a_change_and_a_step_up():
    """One value under each label: nothing is lost among the values present, but the text says less."""
    original = pa.table({"zip": ["4350", "4350", "4361", "4361"]})
    published = pa.table({"zip": ["435*", "435*", "436*", "436*"]})
    settings_ = {"quasi": ["zip"], "hierarchies": {"zip": {"prefixes": []}}, "k": 2}
    found = coterie.measure(original, published, config=Config(**settings_))
    assert found["modification_rate"] == 1
    assert found["distortion_ratio"] == pytest.approx(1 / 4)
    assert found["gcp"] == 0  # of the values present, each label leaves one


def test_incognito_on_adult_counts_what_is_published(tmp_path):
    """Four attributes of Li et al. 2006, k = 10: by the values present it would be .571 and .727."""
    from coterie.datasets import adult, adult_hierarchies

    names = ["age", "workclass", "education", "marital-status"]
    table, trees = adult(complete=True).select(names), adult_hierarchies()
    ways = {"quasi": names, "hierarchies": {name: trees[name] for name in names}, "k": 10, "method": "incognito"}
    release = coterie.anonymize(table, options={"loss": "distortion"}, **ways)
    release.write(tmp_path / "out.csv")
    for found in (release.measures, coterie.measure(table, tmp_path / "out.csv", **ways)):
        assert found["distortion_ratio"] == pytest.approx(0.646, abs=5e-4)
        assert found["modification_rate"] == 1
    for name in names:
        cells = zip(table[name].to_pylist(), release.frame[name].to_pylist(), strict=True)
        assert not any(str(before) == str(after) for before, after in cells)
