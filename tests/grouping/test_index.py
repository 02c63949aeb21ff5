"""The index as methods use it. How it searches is tested in `kernels/`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import number_domain, tables, tree_domain

import coterie.kernels.search.walk
from coterie.errors import DataError
from coterie.grouping.index import build_index
from coterie.table.costs import Measure
from coterie.table.table import Table


def census(rows, seed=0):
    rng = np.random.default_rng(seed)
    domains = tuple(number_domain(f"q{j}", list(range(20))) for j in range(3))
    codes = rng.binomial(19, 0.3, (rows, 3)).astype(np.int32)
    return Table(codes, domains)


def test_a_row_is_taken_once():
    index = build_index(census(50))
    index.take(3)
    with pytest.raises(ValueError, match="row 3 is not free"):
        index.take(3)
    assert index.free == 49
    index.reset()
    index.take(3)
    assert index.free == 49


def test_two_indexes_share_nothing():
    table = census(50)
    one, two = build_index(table), build_index(table)
    for row in range(50):
        one.take(row)
    assert two.free == 50
    assert two.cheapest(table.codes[0], table.codes[0]) == 0


def test_the_costs_decide_what_is_near():
    """By NCP the near value goes first; by the weight of an attribute the other may."""
    table = Table(
        np.asarray([[0, 0], [1, 0], [0, 1]], dtype=np.int32),
        (number_domain("a", [0, 1, 2]), number_domain("b", [0, 1, 4])),
    )
    heavy = Table(table.codes, (table.domains[0], number_domain("b", [0, 1, 4], weight=4.0)))
    for each, expected in ((table, 2), (heavy, 1)):
        index = build_index(each)
        index.take(0)
        assert index.cheapest(each.codes[0], each.codes[0]) == expected
    index = build_index(heavy, table.costs_of(Measure("ncp")))
    index.take(0)
    assert index.cheapest(heavy.codes[0], heavy.codes[0]) == 2


@given(tables(max_rows=30), st.integers(0, 6))
def test_threads_change_nothing(drawn, others):
    index = build_index(drawn[0])
    one = index.neighbour_costs(others, threads=1)
    assert one.tolist() == index.neighbour_costs(others, threads=8).tolist()


def test_threads_change_nothing_in_a_large_table():
    index = build_index(census(5000))
    one = index.neighbour_costs(9, threads=1)
    assert (one == index.neighbour_costs(9, threads=8)).all()
    assert (one > 0).any()


@given(tables(max_rows=40))
def test_nodes_hold_their_rows(drawn):
    """Every row stands in one leaf, inside the boxes of all nodes above it, and is counted by each of them."""
    table, _ = drawn
    nodes = build_index(table).nodes
    counted = np.zeros_like(nodes.free)
    for row in range(table.rows):
        place = nodes.position[row]
        assert nodes.points[place].tolist() == table.codes[row].tolist()
        node = nodes.leaf[place]
        while node >= 0:
            assert nodes.start[node] <= place < nodes.end[node]
            assert (nodes.lo[node] <= table.codes[row]).all()
            assert (table.codes[row] <= nodes.hi[node]).all()
            assert nodes.lowest[node] <= row
            counted[node] += 1
            node = nodes.parent[node]
    assert counted.tolist() == nodes.free.tolist()


def test_a_tree_too_deep_to_search_is_refused(monkeypatch):
    monkeypatch.setattr(coterie.kernels.search.walk, "STACK", 4)
    with pytest.raises(DataError, match="3 quasi-identifiers are more than the search supports"):
        build_index(census(2000))


def test_one_heavy_value_in_each_of_many_columns_is_searched():
    """Rows that are alike but for one column each: the least balanced tree there is."""
    columns = 60
    codes = np.zeros((columns * 4, columns), dtype=np.int32)
    for column in range(columns):
        codes[4 * column : 4 * column + 4, column] = [1, 2, 3, 4]
    table = Table(codes, tuple(number_domain(f"q{j}", [0, 1, 2, 3, 4]) for j in range(columns)))
    index = build_index(table)
    zero = np.zeros(columns, dtype=np.int32)
    assert index.cheapest(zero, zero) == 0
    assert index.furthest(zero) == 3
    assert index.nearest(zero, 3).tolist() == [0, 4, 8]


def test_of_columns_that_cost_the_same_the_one_with_few_values_is_cut_first():
    """Otherwise the leaves, and with them the groups, would depend on the order of the columns."""
    rng = np.random.default_rng(0)
    sizes = (20, 3)
    codes = np.column_stack([rng.integers(0, size, 400) for size in sizes]).astype(np.int32)
    domains = tuple(tree_domain(f"q{j}", [-1] + [0] * size, range(1, size + 1)) for j, size in enumerate(sizes))
    for order in ([0, 1], [1, 0]):
        table = Table(np.ascontiguousarray(codes[:, order]), tuple(domains[j] for j in order))
        nodes = build_index(table).nodes
        one, few = int(nodes.left[0]), order.index(1)
        assert nodes.hi[one, few] < nodes.lo[one + 1, few]
