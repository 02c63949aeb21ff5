"""CB: the paper's table, the slow twin on random tables, l-diversity by splitting and by dealing out."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import naive_cb
from tables import number_domain, tables, tree_domain

from coterie.errors import Cancelled, InfeasibleError
from coterie.kernels.methods.cb_diversity import Diversity, round_robin
from coterie.methods import Run, find_method
from coterie.methods.cb import CbOptions
from coterie.privacy import LDiversity
from coterie.table.domain import Domain
from coterie.table.table import Table

cb = find_method("cb")


def groups_of(grouping):
    return [np.flatnonzero(grouping.labels == group).tolist() for group in range(grouping.groups)]


def key_of(seed):
    return int(Run(seed=seed).rng().integers(2**64, dtype=np.uint64))


def with_sensitive(table, *columns):
    domains = tuple(
        Domain(f"s{s}", "tree", pa.array([str(v) for v in range(max(column) + 1)]), None, None, -1, 1.0, False)
        for s, column in enumerate(columns)
    )
    return replace(table, sensitive_codes=np.array(columns, dtype=np.int32).T.copy(), sensitive=domains)


def test_table_2_of_the_paper():
    age = number_domain("age", [20, 30, 40, 50, 60])
    zipcode = number_domain("zip", [5, 10, 25, 30])
    rows = [[0, 2], [0, 3], [1, 2], [2, 3], [3, 1], [4, 0], [4, 1]]  # Andy, Bob, Jane, Alex, Mary, Lily, Lucy
    table = Table(np.array(rows, dtype=np.int32), (age, zipcode))
    found = [groups_of(cb.run(table, 2, run=Run(seed=seed))) for seed in range(20)]
    assert found == [[[0, 1], [2, 3], [4, 5, 6]]] * 20


@given(
    tables(min_rows=2, max_rows=30, weights=(1.0, 1.0, 2.0, 0.5, 0.0)),
    st.integers(1, 5),
    st.integers(0, 3),
    st.sampled_from([(15, 15, True), (15, 1, True), (4, 2, True), (1, 1, True), (15, 15, False), (4, 1, False)]),
    st.sampled_from([512, 0]),
)
def test_groups_are_those_of_the_twin(drawn, k, seed, effort, table_limit):
    table, plain = drawn
    k = min(k, table.rows)
    ways = dict(zip(("tries", "rounds", "restarts"), effort, strict=True))
    with patch("coterie.table.costs.TABLE_LIMIT", table_limit):
        found = cb.run(table, k, CbOptions(**ways), Run(seed=seed))
    expected = naive_cb.cb(plain.rows, plain.attributes, k, key=key_of(seed), **ways)
    assert groups_of(found) == expected


@given(tables(min_rows=2, max_rows=30, weights=(1.0, 2.0, 0.0)), st.integers(1, 5), st.integers(0, 3))
def test_with_the_papers_preset_categories_are_ordered(drawn, k, seed):
    """Definition 1: every attribute is a number, a category its place in the order; random rows are drawn once."""
    table, plain = drawn
    k = min(k, table.rows)
    attributes = [
        given_attribute if given_attribute["kind"] == "number" else {
            "kind": "number",
            "values": [None if code == domain.missing else code for code in range(domain.size)],
            "weight": given_attribute["weight"],
        }
        for given_attribute, domain in zip(plain.attributes, table.domains, strict=True)
    ]  # fmt: skip
    found = cb.run(table, k, CbOptions(preset="paper"), Run(seed=seed))
    assert groups_of(found) == naive_cb.cb(plain.rows, attributes, k, key=key_of(seed), restarts=False)


@given(tables(min_rows=1), st.integers(1, 6), st.integers(0, 3))
def test_groups_have_from_k_to_just_under_2k_rows(drawn, k, seed):
    table, _ = drawn
    k = min(k, table.rows)
    sizes = cb.run(table, k, run=Run(seed=seed)).sizes
    assert sizes.min() >= k
    assert sizes.max() < 2 * k


@given(tables(min_rows=4, max_rows=30), st.integers(1, 4), st.data())
def test_l_diverse_groups_are_those_of_the_twin(drawn, k, data):
    table, plain = drawn
    k = min(k, table.rows)
    columns, models, sensitive = [], [], []
    for s in range(data.draw(st.integers(1, 2))):
        column = data.draw(st.lists(st.integers(0, 6), min_size=table.rows, max_size=table.rows))
        best = Fraction(table.rows, max(Counter(column).values()))
        wanted = data.draw(st.sampled_from([one for one in (1, 1.5, 2, 3, 4) if Fraction(one) <= best]))
        columns.append(column)
        models.append(LDiversity(wanted, on=f"s{s}", kind="frequency"))
        sensitive.append((column, wanted))
    found = cb.run(with_sensitive(table, *columns), k, run=Run(privacy=tuple(models)))
    assert groups_of(found) == naive_cb.cb(plain.rows, plain.attributes, k, key=key_of(0), sensitive=sensitive)
    for group in groups_of(found):
        assert len(group) >= k
        assert naive_cb.diverse(group, sensitive)


@given(st.lists(st.integers(0, 8), min_size=1, max_size=60), st.integers(1, 8))
def test_dealing_out_is_l_diverse_whenever_that_can_be(values, wanted):
    """Theorem 3, for Fig. 5 as it stands: ⌊n / l⌋ groups."""
    assume(max(Counter(values).values()) * wanted <= len(values))
    codes = np.array(values, dtype=np.int32).reshape(-1, 1)
    labels = np.empty(len(values), dtype=np.int32)
    rows = np.arange(len(values), dtype=np.int32)
    round_robin(Diversity(codes, np.array([wanted]), np.array([1])), rows, 1, labels)
    groups = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    assert len(groups) == len(values) // wanted
    for group in groups:
        assert max(Counter(codes[group, 0].tolist()).values()) * wanted <= len(group)


def test_small_groups_of_figure_5_are_joined_up_to_k():
    """31 of 100 rows share a value: ten groups would hold four of them somewhere, one in 2.5 where l is 3."""
    table = Table(np.zeros((100, 1), dtype=np.int32), (number_domain("age", [1]),))
    values = [0] * 31 + [1] * 23 + [2] * 23 + [3] * 23
    found = cb.run(with_sensitive(table, values), 10, run=Run(privacy=(LDiversity(3, kind="frequency"),)))
    assert found.groups > 1
    for group in groups_of(found):
        assert len(group) >= 10
        assert naive_cb.diverse(group, [(values, 3)])


@given(st.lists(st.integers(0, 5), min_size=4, max_size=80), st.integers(2, 6), st.integers(2, 12))
def test_dealing_leaves_no_part_whole_that_figure_5_and_joining_can_divide(values, wanted, k):
    assume(max(Counter(values).values()) * wanted <= len(values))
    codes = np.array(values, dtype=np.int32).reshape(-1, 1)
    labels = np.empty(len(values), dtype=np.int32)
    rows = np.arange(len(values), dtype=np.int32)
    round_robin(Diversity(codes, np.array([wanted]), np.array([1])), rows, k, labels)
    groups = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    for group in groups:
        assert len(group) >= min(k, len(values))
        assert max(Counter(codes[group, 0].tolist()).values()) * wanted <= len(group)
    assert len(groups) >= max(joined_up_to(k, np.bincount(np.arange(len(values)) % (len(values) // wanted))), 1)


def joined_up_to(k, sizes):
    """How many groups of k rows the pieces of Fig. 5 make if they are joined one after another."""
    made = held = 0
    for size in sizes:
        held += size
        if held >= k:
            made, held = made + 1, 0
    return made


def test_pieces_of_figure_5_make_two_groups_although_the_second_is_short_of_a_turn():
    """Eleven rows, l = 2: pieces of 3, 2, 2, 2, 2 rows make groups of 5 and 6, not 7 and 4."""
    values = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2], dtype=np.int32).reshape(-1, 1)
    labels = np.empty(11, dtype=np.int32)
    round_robin(Diversity(values, np.array([2]), np.array([1])), np.arange(11, dtype=np.int32), 5, labels)
    assert np.unique(labels, return_counts=True)[1].tolist() == [5, 6]


def test_too_large_an_l_is_refused_with_the_largest_that_can_be_had():
    table = Table(np.zeros((7, 1), dtype=np.int32), (number_domain("age", [1]),))
    table = with_sensitive(table, [0, 0, 0, 1, 1, 2, 3])
    cb.run(table, 2, run=Run(privacy=(LDiversity(2, kind="frequency"),)))
    with pytest.raises(InfeasibleError, match=r"3 of 7 rows, so l can be at most 2\.") as caught:
        cb.run(table, 2, run=Run(privacy=(LDiversity(3, kind="frequency"),)))
    assert caught.value.possible == 2
    assert caught.value.wanted == 3


def large_table(rows=40_000):
    rng = np.random.default_rng(5)
    tree = tree_domain("place", [None, 0, 1, 1, 1, 0, 5, 5, 0, 8, 8], [2, 3, 4, 6, 7, 9, 10])
    codes = np.column_stack([rng.binomial(59, 0.3, rows), rng.integers(0, 7, rows), rng.integers(0, 7, rows)])
    return Table(codes.astype(np.int32), (number_domain("age", list(range(60))), tree, tree))


def test_threads_change_nothing():
    table = large_table()
    one = cb.run(table, 50, CbOptions(tries=3), Run(threads=1))
    for threads in (2, 8):
        assert (cb.run(table, 50, CbOptions(tries=3), Run(threads=threads)).labels == one.labels).all()


def test_large_parts_are_halved_as_small_ones():
    table = large_table()
    with patch("coterie.methods.cb._PIECE", 10**9):
        whole = cb.run(table, 50, CbOptions(tries=3))
    assert (cb.run(table, 50, CbOptions(tries=3)).labels == whole.labels).all()


def test_seeds_decide():
    table = large_table(2000)
    assert (cb.run(table, 5, run=Run(seed=1)).labels == cb.run(table, 5, run=Run(seed=1)).labels).all()
    assert (cb.run(table, 5, run=Run(seed=1)).labels != cb.run(table, 5, run=Run(seed=2)).labels).any()


def test_progress_ends_with_all_rows():
    told = []
    cb.run(large_table(), 100, CbOptions(tries=1), Run(threads=2, progress=lambda *step: told.append(step)))
    assert told[-1] == ("halving", 40_000, 40_000)
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_a_stopped_run_stops():
    with pytest.raises(Cancelled):
        cb.run(large_table(100), 5, run=Run(threads=2, cancelled=lambda: True))
