"""Weights on the values and groups of a hierarchy: what they cost, and what is refused."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import naive_measures

import coterie
from coterie.errors import ConfigError, HierarchyError
from coterie.hierarchies.hierarchy import Hierarchy
from coterie.table.costs import Measure, cost_arrays, interval_costs
from coterie.table.encode import encode

TREE = {"A": {"A1": ["a", "b"], "A2": ["c"]}, "B": ["d", "e", "f"], "C": ["g"]}
PATHS = {
    **{leaf: ("*", "A", "A1", leaf) for leaf in "ab"},
    "c": ("*", "A", "A2", "c"),
    **{leaf: ("*", "B", leaf) for leaf in "def"},
    "g": ("*", "C", "g"),
}
weights = st.fixed_dictionaries(
    {},
    optional={
        **{leaf: st.floats(0.001, 100) for leaf in PATHS},
        **{group: st.floats(0, 100) for group in ("*", "A", "A1", "A2", "B", "C")},
    },
)
columns = st.lists(st.sampled_from([*PATHS, None]), min_size=1, max_size=12)


@given(columns, weights, st.sampled_from(["present", "hierarchy"]))
def test_every_pair_costs_what_the_twin_says_and_more_never_costs_less(cells, weighed, leaf_counts):
    hierarchy = Hierarchy.from_mapping(TREE)
    hierarchy = hierarchy.weighted(weighed) if weighed else hierarchy
    assert Hierarchy.from_spec(hierarchy.spec) == hierarchy
    config = coterie.Config(quasi=["v"], hierarchies={"v": hierarchy}, leaf_counts=leaf_counts)
    domain = encode(pa.table({"v": pa.array(cells, pa.string())}), config).table.domains[0]
    values = domain.values.to_pylist()
    attribute = {"values": cells, "paths": PATHS, "weights": weighed}
    size = domain.size
    lo, hi = (part.astype(np.int32) for part in np.triu_indices(size))
    found = interval_costs(domain, lo, hi, Measure("ncp", leaf_counts))
    # The closest common ancestor of an interval is that of its ends.
    twin = [naive_measures.ncp(attribute, [values[a], values[b]], leaf_counts) for a, b in zip(lo, hi, strict=True)]
    assert found == pytest.approx(twin)
    square = cost_arrays([domain], Measure("ncp", leaf_counts)).data[: size * size].reshape(size, size)
    assert square[lo, hi] == pytest.approx(twin)
    assert (np.diff(square, axis=1)[np.triu_indices(size - 1)] >= 0).all()
    assert (square[:-1, -1] >= square[1:, -1]).all()


@given(columns.filter(lambda cells: len(cells) > 1), weights, st.integers(1, 3))
def test_a_release_is_measured_by_weights_in_memory_and_from_its_cells(cells, weighed, k):
    table, k = pa.table({"v": pa.array(cells, pa.string())}), min(k, len(cells))
    ways = {"quasi": ["v"], "hierarchies": {"v": {"tree": TREE, "weights": weighed}}, "k": k, "method": "mondrian"}
    release = coterie.anonymize(table, **ways)
    groups = [np.flatnonzero(release.groups == group).tolist() for group in range(release.groups.max() + 1)]
    attribute = {"values": cells, "paths": PATHS, "weights": weighed, "weight": 1.0}
    expected = naive_measures.measure([attribute], groups, rows=len(cells), k=k)
    assert release.measures["gcp"] == pytest.approx(expected["gcp"])
    assert coterie.measure(table, release.frame, **ways)["gcp"] == pytest.approx(expected["gcp"])


def test_heavy_values_are_kept_apart():
    """d is worth keeping: a search that heeds weights leaves it alone."""
    table = pa.table({"v": ["d", "d", "e", "f", "e", "f"]})
    light = coterie.anonymize(table, quasi=["v"], hierarchies={"v": {"tree": TREE}}, k=2)
    assert light.measures["gcp"] == 0
    costs = [
        encode(
            table, coterie.Config(quasi=["v"], hierarchies={"v": Hierarchy.from_mapping(TREE).weighted(each)})
        ).table.costs.data.max()
        for each in ({"d": 1.0}, {"d": 9.0})
    ]
    assert costs == [1.0, 1.0]  # the root costs 1 whatever the weights


@pytest.mark.parametrize(
    ("weighed", "said"),
    [
        ({"x": 1}, "no label"),
        ({"a": 0}, "above 0"),
        ({"A": -1}, "above 0"),
        ({"a": float("nan")}, "above 0"),
        ({"a": True}, "above 0"),
        ({"a": "2"}, "above 0"),
    ],
)
def test_weights_that_mean_nothing_are_refused(weighed, said):
    with pytest.raises(HierarchyError, match=said):
        Hierarchy.from_spec({"tree": TREE, "weights": weighed})


def test_weights_whose_sum_is_no_number_are_refused():
    """Their shares would be none either."""
    tree = Hierarchy.from_mapping(TREE)
    with pytest.raises(HierarchyError, match="add up to more than a number can hold"):
        tree.weighted({"a": 1e308, "b": 1e308})
    for none in (10**400, float("inf"), float("nan")):
        with pytest.raises(HierarchyError, match="must be a number"):
            tree.weighted({"a": none})
    assert tree.weighted({"a": 1e308, "b": 1e307}).form.node_weights.sum() < np.inf


def test_a_label_of_a_group_and_a_value_is_refused_and_so_are_rules(tmp_path):
    twice = Hierarchy.from_rows([["Other", "Other", "*"], ["Misc", "Other", "*"]])
    with pytest.raises(HierarchyError, match="of a group and of a value"):
        twice.weighted({"Other": 2})
    with pytest.raises(ConfigError, match="labels of a tree"):
        Hierarchy.prefixes().weighted({"a": 1})
    with pytest.raises(ConfigError, match="table of labels"):
        Hierarchy.from_spec({"tree": TREE, "weights": [1]})
    for none in ([1, 2], [], None, 3):
        with pytest.raises(ConfigError, match="table of labels"):
            Hierarchy.from_mapping(TREE).weighted(none)
    Hierarchy.from_mapping(TREE).to_csv(tmp_path / "tree.csv")
    from_file = Hierarchy.from_spec({"csv": "tree.csv", "weights": {"a": 2}}, base=tmp_path)
    assert from_file == Hierarchy.from_mapping(TREE).weighted({"a": 2})
