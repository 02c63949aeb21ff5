"""Top-down: the paper's points, the slow twin on random tables, seeds and repair."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import naive_top_down
from tables import number_domain, tables, tree_domain

from coterie.errors import Cancelled
from coterie.methods import Run, find_method
from coterie.methods.top_down import TopDownOptions
from coterie.table.table import Table

top_down = find_method("top-down")


def groups_of(grouping):
    return [np.flatnonzero(grouping.labels == group).tolist() for group in range(grouping.groups)]


def order_of(table, seed):
    return Run(seed=seed).rng().permutation(table.rows).tolist()


def points(pairs):
    """A table of two numbers."""
    domains, codes = [], []
    for j, column in enumerate(zip(*pairs, strict=True)):
        values = sorted(set(column))
        domains.append(number_domain(f"q{j}", values))
        codes.append([values.index(value) for value in column])
    return Table(np.ascontiguousarray(np.array(codes, dtype=np.int32).T), tuple(domains))


def test_example_1_of_the_paper():
    """Both for two and for three rows, {a, b, c} and {d, e, f} are what the paper finds best."""
    table = points([(10, 60), (20, 70), (20, 50), (50, 20), (50, 15), (60, 10)])
    for seed in range(10):
        assert groups_of(top_down.run(table, 3, run=Run(seed=seed))) == [[0, 1, 2], [3, 4, 5]]


@given(
    tables(min_rows=2, max_rows=30, weights=(1.0, 1.0, 2.0, 0.5, 0.0)),
    st.integers(1, 5),
    st.integers(0, 3),
    st.integers(1, 4),
    st.sampled_from(["increase", "enlarge", "side", "seed"]),
    st.sampled_from([512, 0]),
)
def test_groups_are_those_of_the_twin(drawn, k, seed, seed_rounds, compare, table_limit):
    table, plain = drawn
    k = min(k, table.rows)
    given_options = {"seed_rounds": seed_rounds, "compare": compare}
    with patch("coterie.table.costs.TABLE_LIMIT", table_limit):
        found = top_down.run(table, k, TopDownOptions(**given_options), Run(seed=seed))
    order = order_of(table, seed)
    expected = naive_top_down.top_down(plain.rows, plain.attributes, k, order=order, **given_options)
    assert groups_of(found) == expected


PLACES = [None, 0, 1, 1, 1, 0, 5, 5, 0, 8, 8]
LEAVES = [2, 3, 4, 6, 7, 9, 10]


def random_table(rows, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.binomial(39, 0.4, rows), rng.integers(0, 7, rows), rng.integers(0, 7, rows) ** 2 // 8])
    ages, place = number_domain("age", list(range(40))), tree_domain("place", PLACES, LEAVES)
    return Table(codes.astype(np.int32), (ages, place, place))


@pytest.mark.parametrize(("k", "compare"), [(2, "increase"), (7, "seed"), (20, "enlarge"), (5, "side")])
def test_a_larger_table_gives_the_groups_of_the_twin(k, compare):
    table = random_table(300, seed=k)
    place = {"kind": "tree", "parents": PLACES, "leaves": LEAVES, "weight": 1.0}
    attributes = [{"kind": "number", "values": list(range(40)), "weight": 1.0}, place, place]
    expected = naive_top_down.top_down(table.codes.tolist(), attributes, k, order=order_of(table, 0), compare=compare)
    assert groups_of(top_down.run(table, k, TopDownOptions(compare=compare))) == expected


@given(tables(min_rows=1), st.integers(1, 6), st.integers(0, 3))
def test_groups_have_at_least_k_rows(drawn, k, seed):
    table, _ = drawn
    k = min(k, table.rows)
    assert top_down.run(table, k, run=Run(seed=seed)).sizes.min() >= k


def test_a_small_group_takes_rows_from_a_group_of_equals():
    """Rows that are all alike stay one part, however many, and have some to spare."""
    table = points([(0, 0)] * 30 + [(9, 9), (8, 9)])
    assert groups_of(top_down.run(table, 3)) == [[0, 30, 31], list(range(1, 30))]


def test_a_small_group_merges_where_that_raises_the_penalty_less():
    table = points([(0, 0)] * 30 + [(9, 9), (8, 9), (1, 0)])
    assert groups_of(top_down.run(table, 3)) == [list(range(30)), [30, 31, 32]]


def test_seeds_decide():
    table = random_table(500)
    assert (top_down.run(table, 5, run=Run(seed=1)).labels == top_down.run(table, 5, run=Run(seed=1)).labels).all()
    assert (top_down.run(table, 5, run=Run(seed=1)).labels != top_down.run(table, 5, run=Run(seed=2)).labels).any()


def test_work_done_in_pieces_is_the_same():
    table = random_table(2000)
    whole = top_down.run(table, 5).labels
    told = []
    with patch("coterie.methods.top_down._ROWS", 100), patch("coterie.methods.top_down._GROUPS", 7):
        pieces = top_down.run(table, 5, run=Run(progress=lambda *step: told.append(step))).labels
    assert (pieces == whole).all()
    assert ("cutting", 2000, 2000) in told
    assert told[-1][0] == "repairing"
    assert told[-1][1] == told[-1][2]


def test_a_stopped_run_stops():
    with pytest.raises(Cancelled):
        top_down.run(random_table(100), 5, run=Run(cancelled=lambda: True))
