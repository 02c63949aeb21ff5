"""k-members: the same groups as the slow twin, and what the method promises by itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import naive_kmembers
from tables import number_domain, tables, tree_domain

from coterie.methods import Run, find_method
from coterie.methods.kmembers import KMembersOptions
from coterie.table.table import Table

kmembers = find_method("kmembers")
SEEDINGS = ["random", "furthest", "dense-first"]


def groups_of(grouping):
    return [np.flatnonzero(grouping.labels == group).tolist() for group in range(grouping.groups)]


@pytest.mark.parametrize("seeding", SEEDINGS)
@given(tables(), st.integers(1, 5), st.sampled_from(["ncp", "height"]), st.integers(0, 3))
def test_groups_are_those_of_the_twin(seeding, drawn, k, loss, seed):
    table, plain = drawn
    k = min(k, table.rows)
    found = kmembers.run(table, k, KMembersOptions(seeding=seeding, loss=loss), Run(seed=seed))
    expected = naive_kmembers.kmembers(plain.rows, plain.attributes, k, seeding=seeding, loss=loss, seed=seed)
    assert groups_of(found) == expected


@given(tables(max_attributes=3), st.integers(2, 4))
def test_leaves_of_the_whole_hierarchy_may_count(drawn, k):
    table, plain = drawn
    table = Table(table.codes, table.domains, leaf_counts="hierarchy")
    k = min(k, table.rows)
    expected = naive_kmembers.kmembers(plain.rows, plain.attributes, k, leaf_counts="hierarchy")
    assert groups_of(kmembers.run(table, k)) == expected


PLACES = [None, 0, 1, 1, 1, 0, 5, 5, 0, 8, 8]
PLACE_LEAVES = [2, 3, 4, 6, 7, 9, 10]


def larger(rows=400, seed=5):
    """A table with a deep index, and the twin's description of it."""
    rng = np.random.default_rng(seed)
    domains = (
        number_domain("age", list(range(60)), weight=2.0),
        tree_domain("place", PLACES, PLACE_LEAVES, missing=True),
        number_domain("size", [10 * value for value in range(9)], missing=True, weight=0.5),
    )
    codes = np.column_stack([rng.binomial(59, 0.4, rows), rng.integers(0, 8, rows), rng.integers(0, 10, rows)])
    attributes = [
        {"kind": "number", "values": list(range(60)), "weight": 2.0},
        {"kind": "tree", "parents": [*PLACES, 0], "leaves": [*PLACE_LEAVES, len(PLACES)], "weight": 1.0},
        {"kind": "number", "values": [*range(0, 90, 10), None], "weight": 0.5},
    ]
    return Table(np.ascontiguousarray(codes.astype(np.int32)), domains), attributes


@pytest.mark.parametrize("seeding", SEEDINGS)
def test_a_larger_table_gives_the_groups_of_the_twin(seeding):
    table, attributes = larger()
    found = kmembers.run(table, 7, KMembersOptions(seeding=seeding), Run(seed=3))
    expected = naive_kmembers.kmembers(table.codes.tolist(), attributes, 7, seeding=seeding, seed=3)
    assert groups_of(found) == expected


@pytest.mark.parametrize("seeding", SEEDINGS)
@pytest.mark.parametrize("rows", [7, 13, 14, 20, 100])
def test_there_are_as_many_groups_as_k_allows(seeding, rows):
    table, _ = larger(rows)
    sizes = kmembers.run(table, 7, KMembersOptions(seeding=seeding)).sizes
    assert len(sizes) == rows // 7
    assert sizes.min() >= 7


def test_left_over_rows_go_where_they_cost_least_not_all_to_the_last_group():
    # Two clumps far apart, each with one row too many.
    codes = np.asarray([[0]] * 4 + [[5]] * 4, dtype=np.int32)
    table = Table(codes, (number_domain("x", list(range(6))),))
    options = KMembersOptions(seeding="furthest")
    assert groups_of(kmembers.run(table, 3, options)) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_the_seed_decides_random_choices_only():
    table, _ = larger(200)
    by_seed = {seed: kmembers.run(table, 5, KMembersOptions(seeding="random"), Run(seed=seed)) for seed in (0, 1)}
    assert (by_seed[0].labels != by_seed[1].labels).any()
    dense = [kmembers.run(table, 5, None, Run(seed=seed)).labels for seed in (0, 1)]
    assert (dense[0] == dense[1]).all()


def test_a_missing_value_is_joined_with_others_last():
    """Missing costs as much as the whole range, so rows 0 and 1 go together although row 2 stands between."""
    ages = number_domain("age", [20, 30, 80, 90], missing=True)
    table = Table(np.asarray([[4], [4], [0], [1], [2], [3]], dtype=np.int32), (ages,))
    assert groups_of(kmembers.run(table, 2)) == [[0, 1], [2, 3], [4, 5]]
