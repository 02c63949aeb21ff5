"""Mondrian: the same groups as the slow twin, strict and relaxed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import naive_mondrian
from tables import number_domain, tables, tree_domain

from coterie.methods import find_method
from coterie.methods.mondrian import MondrianOptions
from coterie.table.table import Table

mondrian = find_method("mondrian")


def groups_of(grouping):
    return [np.flatnonzero(grouping.labels == group).tolist() for group in range(grouping.groups)]


@pytest.mark.parametrize(("strict", "both"), [(True, True), (True, False), (False, True)])
@given(tables(max_rows=60), st.integers(1, 5), st.sampled_from(["present", "hierarchy"]))
def test_groups_are_those_of_the_twin(strict, both, drawn, k, leaf_counts):
    table, plain = drawn
    table = Table(table.codes, table.domains, leaf_counts=leaf_counts)
    k = min(k, table.rows)
    found = mondrian.run(table, k, MondrianOptions(strict=strict, before_median=both))
    expected = naive_mondrian.mondrian(
        plain.rows, plain.attributes, k, strict=strict, before_median=both, leaf_counts=leaf_counts
    )
    assert groups_of(found) == expected


@pytest.mark.parametrize("strict", [True, False], ids=["strict", "relaxed"])
def test_large_and_sparse_domains_give_the_groups_of_the_twin(strict):
    """Medians of few rows in a large domain are found by sorting, not by counting."""
    rng = np.random.default_rng(2)
    values = list(range(3000))
    parents, leaves = [None], []
    for region in range(1, 931, 31):
        parents += [0] + [region] * 30
        leaves += range(region + 1, region + 31)
    codes = np.column_stack([rng.integers(0, 3000, 300), rng.integers(0, 900, 300)]).astype(np.int32)
    table = Table(np.ascontiguousarray(codes), (number_domain("income", values), tree_domain("place", parents, leaves)))
    attributes = [
        {"kind": "number", "values": values, "weight": 1.0},
        {"kind": "tree", "parents": parents, "leaves": leaves, "weight": 1.0},
    ]
    expected = naive_mondrian.mondrian(codes.tolist(), attributes, 4, strict=strict)
    assert groups_of(mondrian.run(table, 4, MondrianOptions(strict=strict))) == expected


@given(tables(min_rows=2), st.integers(1, 4))
def test_relaxed_groups_stay_below_2k_unless_their_rows_are_equal(drawn, k):
    table, _ = drawn
    k = min(k, table.rows)
    grouping = mondrian.run(table, k, MondrianOptions(strict=False))
    equal = (grouping.lo == grouping.hi).all(axis=1)
    assert grouping.sizes.min() >= k
    assert (grouping.sizes[~equal] < 2 * k).all()


@given(tables(min_rows=2), st.integers(1, 4))
def test_strict_boxes_do_not_meet(drawn, k):
    table, _ = drawn
    grouping = mondrian.run(table, min(k, table.rows))
    for one in range(grouping.groups):
        for two in range(one):
            apart = (grouping.lo[one] > grouping.hi[two]) | (grouping.hi[one] < grouping.lo[two])
            assert apart.any()


def test_boxes_are_as_tight_as_their_rows():
    """A cut narrows all attributes, not only the one that was cut."""
    x, y = number_domain("x", list(range(10))), number_domain("y", list(range(10)))
    table = Table(np.asarray([[0, 0], [1, 1], [8, 8], [9, 9]], dtype=np.int32), (x, y))
    grouping = mondrian.run(table, 2)
    assert grouping.lo.tolist() == [[0, 0], [8, 8]]
    assert grouping.hi.tolist() == [[1, 1], [9, 9]]


def test_the_papers_cut_leaves_a_value_of_most_rows_with_all_that_lies_below_it():
    x = number_domain("x", list(range(4)))
    table = Table(np.asarray([[0], [0], [3], [3], [3], [3]], dtype=np.int32), (x,))
    assert groups_of(mondrian.run(table, 2)) == [[0, 1], [2, 3, 4, 5]]
    assert groups_of(mondrian.run(table, 2, MondrianOptions(preset="paper"))) == [[0, 1, 2, 3, 4, 5]]
