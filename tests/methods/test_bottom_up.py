"""Bottom-up: the fast one and its twin make the same groups, and all groups have k … 2k − 1 rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.naive_bottom_up import bottom_up as naive_bottom_up
from tables import number_domain, tables, tree_domain

from coterie.errors import Cancelled
from coterie.kernels.search.costs import box_costs
from coterie.methods import Run, find_method
from coterie.table.grouping import Grouping, renumber
from coterie.table.table import Table

BOTTOM_UP = find_method("bottom-up")
WEIGHTS = (1.0, 1.0, 2.0, 0.5, 0.0)


@given(tables(min_rows=5, weights=WEIGHTS), st.integers(2, 5))
def test_same_groups_as_the_twin(drawn, k):
    table, plain = drawn
    twin = naive_bottom_up(plain.rows, plain.attributes, k)
    np.testing.assert_array_equal(BOTTOM_UP.run(table, k).labels, renumber(np.array(twin)))


@given(tables(min_rows=5, weights=WEIGHTS), st.integers(2, 5))
def test_groups_have_k_to_2k_rows(drawn, k):
    table, _ = drawn
    before = table.codes.copy()
    grouping = BOTTOM_UP.run(table, k)
    assert grouping.sizes.min() >= k
    assert grouping.sizes.max() < 2 * k
    np.testing.assert_array_equal(table.codes, before)
    np.testing.assert_array_equal(grouping.labels, BOTTOM_UP.run(table, k, None, Run(seed=5)).labels)


def test_large_domains():
    rng = np.random.default_rng(1)
    rows = 1500
    parents = [None]
    for _ in range(100):
        parents += [0, *[len(parents)] * 6]
    leaves = [node for node in range(1, len(parents)) if parents[node] != 0]
    domains = (number_domain("a", list(range(0, 1800, 3))), tree_domain("b", parents, leaves))
    codes = rng.integers(0, 600, (rows, 2)).astype(np.int32)
    grouping = BOTTOM_UP.run(Table(codes, domains), 7)
    assert grouping.sizes.min() >= 7
    assert grouping.sizes.max() < 14
    plain = [
        {"kind": "number", "values": list(range(0, 1800, 3)), "weight": 1.0},
        {"kind": "tree", "parents": parents, "leaves": leaves, "weight": 1.0},
    ]
    few = np.ascontiguousarray(codes[:20])
    twin = naive_bottom_up(few.tolist(), plain, 3)
    np.testing.assert_array_equal(BOTTOM_UP.run(Table(few, domains), 3).labels, renumber(np.array(twin)))


def test_identical_rows_are_split_by_row_number():
    table = Table(np.zeros((11, 1), dtype=np.int32), (number_domain("q", [3]),))
    assert BOTTOM_UP.run(table, 3).labels.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2]


def test_a_large_group_is_cut_where_it_costs_least():
    # k = 2. First 0 and 1 join; then 40, the nearest to both being far; 41 and 42 join it in turn. Five rows are
    # split where the two clusters part.
    table = Table(np.array([[0], [2], [1], [3], [4]], dtype=np.int32), (number_domain("q", [0, 1, 40, 41, 42]),))
    assert BOTTOM_UP.run(table, 2).labels.tolist() == [0, 1, 0, 1, 1]


def test_stopped_by_the_user_and_progress():
    domain = number_domain("q", list(range(50)))
    table, told = Table(np.arange(50, dtype=np.int32).reshape(50, 1), (domain,)), []
    with pytest.raises(Cancelled):
        BOTTOM_UP.run(table, 5, None, Run(cancelled=lambda: True))
    BOTTOM_UP.run(table, 5, None, Run(progress=lambda *report: told.append(report)))
    assert told[0] == ("merging groups", 0, 50)
    assert told[-1] == ("merging groups", 50, 50)


def test_example_3_penalties_of_pairs():
    """Fig. 3: under the root, the leaf a and a branch of six leaves. {a, d} costs 1, {d, e} 6/7."""
    parents = [None, 0, 0, 2, 3, 3, 3, 2, 7, 7, 7]  # a; {b c d} {e f g} in one branch
    domain = tree_domain("q", parents, [1, 4, 5, 6, 8, 9, 10])
    a, d, e = 0, 3, 4
    table = Table(np.array([[a], [d], [e]], dtype=np.int32), (domain,))

    def pair(*rows):
        grouping = Grouping.of(table.codes, [0 if row in rows else -1 for row in range(3)])
        return float(box_costs(table.costs, grouping.lo, grouping.hi)[0])

    assert pair(0, 1) == 1
    assert pair(1, 2) == 6 / 7
