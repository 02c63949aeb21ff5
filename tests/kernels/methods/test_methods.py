"""Every method on small and awkward tables. Run with every index checked, this finds what reads or writes beside."""

import numpy as np
import pytest
from method_cases import MOST_ROWS, NAMES, cut, group, mixed_table, option_sets
from tables import number_domain, tree_domain

import coterie.table.costs
from coterie.table.table import Table

every_method = pytest.mark.parametrize("name", NAMES)


def awkward():
    """Tables at the edges of what kernels size their arrays for."""
    number, tree = number_domain("x", list(range(9))), tree_domain("y", [None, 0, 1, 1, 0, 4, 5], [2, 3, 6])
    rng = np.random.default_rng(6)

    def table(codes, *domains):
        return Table(np.ascontiguousarray(codes, dtype=np.int32).reshape(-1, len(domains)), domains)

    yield "one row", table([[4]], number), 1
    yield "two rows", table([[0, 2], [8, 0]], number, tree), 2
    yield "all equal", table([[8, 2]] * 20, number, tree), 3
    yield "all distinct", table([[row] for row in range(9)], number), 2
    yield "ends of domains", table([[0, 0], [8, 2]] * 11, number, tree), 4
    yield "one heavy value", table([[0, 0]] * 40 + [[row, row % 3] for row in range(9)], number, tree), 3
    yield "k of one", table(rng.integers(0, 3, (17, 2)), number, tree), 1
    yield "k just below half", table(rng.integers(0, 3, (17, 2)), number, tree), 8
    yield "k just above half", table(rng.integers(0, 3, (17, 2)), number, tree), 9


@every_method
def test_awkward_tables(name):
    for what, table, k in awkward():
        if table.rows > MOST_ROWS.get(name, table.rows):
            continue
        grouping = group(name, table, k)
        assert grouping.sizes.min() >= k, what
        assert grouping.sizes.sum() == table.rows, what


@every_method
def test_every_choice_of_options(name):
    for options in option_sets(name):
        assert group(name, cut(name, mixed_table(70, seed=3)), 4, options).sizes.min() >= 4


@every_method
def test_large_domains(name, monkeypatch):
    """Costs by subtraction and by range maxima, beside one small domain."""
    monkeypatch.setattr(coterie.table.costs, "TABLE_LIMIT", 6)
    table = mixed_table(90, seed=8)
    assert len(table.costs.large) == 3
    assert group(name, cut(name, table), 4).sizes.min() >= 4


@every_method
def test_more_rows_than_a_bucket_a_stack_or_a_batch(name):
    assert group(name, cut(name, mixed_table(1500, seed=9)), 3).sizes.min() >= 3
