"""The made-up census has the schema, the skew and the correlations that it claims."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from benchmarks.census import QUASI, SENSITIVE, SIZES, census, hierarchies


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return census(200_000)


def test_schema_and_domains(table):
    assert tuple(table.column_names) == (*QUASI, SENSITIVE)
    assert {name: pc.count_distinct(table[name]).as_py() for name in SIZES} == SIZES
    assert table.schema.field("age").type == pa.int64()
    assert pc.min_max(table["age"]).as_py() == {"min": 17, "max": 94}
    assert census(10, attributes=3).column_names == ["age", "gender", "education", "occupation"]
    with pytest.raises(ValueError, match="1 to 7"):
        census(10, attributes=8)


def test_seeded_and_growing(table):
    assert census(1_000).equals(table.slice(0, 1_000))
    assert census(1_000, seed=1).num_rows == 1_000
    assert not census(1_000, seed=1).equals(census(1_000))


def test_many_but_not_all_rows_are_distinct(table):
    share = table.group_by(list(QUASI)).aggregate([]).num_rows / table.num_rows
    assert 0.7 < share < 0.9  # two thirds at a million


def test_skew_and_correlation(table):
    assert pc.mean(pc.equal(table["country"], "country-01")).as_py() > 0.2
    age, education = table["age"].to_numpy(), table["education"].to_numpy()
    assert -0.4 < np.corrcoef(age, education)[0, 1] < -0.1
    for label, at_least, at_most in (("Never married", 17, 45), ("Widowed", 60, 94)):
        assert at_least < age[pc.equal(table["marital"], label).to_numpy()].mean() < at_most
    federal = education[pc.equal(table["work-class"], "Federal government").to_numpy()]
    assert federal.mean() > education.mean() + 0.5


def test_hierarchies_fit(table):
    trees = hierarchies()
    assert set(trees) == {"gender", "marital", "race", "work-class", "country"}
    heights = {}
    for name, hierarchy in trees.items():
        counted = table[name].value_counts()
        tree, codes = hierarchy.bind(counted.field("values"), counts=np.asarray(counted.field("counts")), column=name)
        assert tree.leaves == len(set(codes)) == SIZES[name]
        heights[name] = int(tree.height[0])
    assert heights == {"gender": 1, "marital": 2, "race": 2, "work-class": 2, "country": 3}
