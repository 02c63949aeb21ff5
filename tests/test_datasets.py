"""The bundled table is the one of the papers, and its hierarchies fit it."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from coterie import datasets
from coterie.errors import ConfigError
from coterie.files import tables as cio

# Li, Wong, Fu, Pei 2006, Table 2: distinct values and height.
TABLE_2 = {
    "age": (74, 4),
    "workclass": (7, 3),
    "education": (16, 4),
    "marital-status": (7, 3),
    "occupation": (14, 2),
    "race": (5, 2),
    "sex": (2, 1),
    "native-country": (41, 3),
    "salary-class": (2, 1),
}


def test_rows_are_those_of_the_papers():
    table = datasets.adult()
    assert table.num_rows == 48_842
    assert datasets.adult(part="train").num_rows == 32_561
    assert datasets.adult(part="test").num_rows == 16_281
    assert datasets.adult(part="train", complete=True).num_rows == 30_162
    assert table["part"].to_pylist() == ["train"] * 32_561 + ["test"] * 16_281
    assert {name for name in table.column_names if table[name].null_count} == {
        "workclass",
        "occupation",
        "native-country",
    }
    assert table.schema.field("age").type == pa.int64()
    assert set(datasets.ADULT_QUASI) | {datasets.ADULT_SENSITIVE} == set(TABLE_2)
    with pytest.raises(ConfigError, match="there are train and test"):
        datasets.adult(part="validation")


def test_complete_rows_have_the_distinct_values_of_the_papers():
    table = datasets.adult(complete=True)
    assert table.num_rows == 45_222
    assert {name: pc.count_distinct(table[name]).as_py() for name in TABLE_2} == {
        name: distinct for name, (distinct, _) in TABLE_2.items()
    }
    assert pc.sum(pc.equal(table["salary-class"], ">50K")).as_py() == 11_208  # 24.78 %, as the original's notes say


def test_hierarchies_fit_and_have_the_heights_of_the_papers():
    table, hierarchies = datasets.adult(), datasets.adult_hierarchies()
    assert set(hierarchies) == set(TABLE_2)
    for name, hierarchy in hierarchies.items():
        counted = table[name].drop_null().value_counts()
        counts = np.asarray(counted.field("counts"))
        tree, codes = hierarchy.bind(counted.field("values"), counts=counts, column=name)
        height = TABLE_2[name][1]
        assert tree.height[0] == height, name
        assert set(tree.depth[tree.leaf_node]) == {height}, name
        assert len(set(codes)) == len(counted) == tree.leaves, name
        # One label, one node: a published label says which values it covers.
        assert len(set(tree.labels)) == tree.nodes, name
        assert not any(set(label) & set(",;{}[]") for label in tree.labels if name != "age"), name


def test_content_does_not_drift(tmp_path):
    """As CSV the table is, byte for byte, an independent conversion of the original files."""
    digest = cio.write(datasets.adult(), tmp_path / "adult.csv")
    assert digest == "5b2622a409d9d8921b29f40e738d55010af5de7ac3674f784bf5d79b30a36446"


def test_nothing_heavy_is_imported_with_the_package():
    code = "import sys, coterie.datasets; print([m for m in ('pyarrow', 'numba', 'pandas') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
