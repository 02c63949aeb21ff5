"""optimal: the least loss of all, refused where it cannot be had, and a yardstick for compact and the bound."""

import sys
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.naive_optimum import optimum
from tables import number_domain, tables, tree_domain

import coterie
from coterie.errors import BackendError, Cancelled, DataError
from coterie.grouping.bound import lower_bound
from coterie.kernels.search.costs import box_costs
from coterie.methods import Run, find_method
from coterie.methods.compact import CompactOptions
from coterie.methods.optimal import MOST_ROWS, OptimalOptions, _Search
from coterie.table.grouping import Grouping
from coterie.table.table import Table

pytest.importorskip("scipy")
optimal, compact = find_method("optimal"), find_method("compact")
PLACES = [None, 0, 1, 1, 1, 0, 5, 5, 0, 8, 8]
# Rows, k and seed of tables whose best grouping is found in a moment.
YARDSTICKS = [(30, 2, 0), (40, 2, 1), (60, 2, 2), (30, 3, 3), (45, 3, 4), (24, 4, 5)]


def loss_of(table, grouping):
    return float((grouping.sizes * box_costs(table.costs, grouping.lo, grouping.hi)).sum())


@cache
def people(rows, seed):
    rng = np.random.default_rng(seed)
    domains = (
        number_domain("age", list(range(30))),
        tree_domain("place", PLACES, [2, 3, 4, 6, 7, 9, 10], missing=True),
        number_domain("size", [0, 1, 2, 4, 8]),
    )
    codes = np.column_stack([rng.binomial(29, 0.4, rows), rng.integers(0, 8, rows), rng.integers(0, 5, rows)])
    return Table(np.ascontiguousarray(codes.astype(np.int32)), domains)


@cache
def least(rows, k, seed):
    table = people(rows, seed)
    return loss_of(table, optimal.run(table, k))


@settings(max_examples=20)
@given(tables(min_rows=2, max_rows=8, max_attributes=3, weights=(1.0, 2.0, 0.5, 0.0)), st.integers(1, 4))
def test_nothing_loses_less(drawn, k):
    table, plain = drawn
    k = min(k, table.rows)
    found = optimal.run(table, k)
    assert (found.labels >= 0).all()
    assert found.sizes.min() >= k
    assert loss_of(table, found) == pytest.approx(optimum(plain.rows, plain.attributes, k), abs=1e-6)


@settings(max_examples=40)
@given(tables(min_rows=4, max_rows=8, max_attributes=2), st.integers(2, 4))
def test_the_search_alone_finds_the_optimum(drawn, k):
    """Without a start from compact, which is often the best already: from all rows in one group."""
    table, plain = drawn
    k = min(k, table.rows // 2)
    start = Grouping.of(table.codes, np.zeros(table.rows, dtype=np.int32))
    found = _Search(table, k, 100_000, Run()).best(start)
    assert found.sizes.min() >= k
    assert loss_of(table, found) == pytest.approx(optimum(plain.rows, plain.attributes, k), abs=1e-6)


@pytest.mark.parametrize(("rows", "k", "seed"), YARDSTICKS)
def test_where_it_starts_does_not_matter(rows, k, seed):
    """Tables of tens of rows, which cannot be tried out: from the groups of mondrian and from one group."""
    table = people(rows, seed)
    one = Grouping.of(table.codes, np.zeros(rows, dtype=np.int32))
    for start in (find_method("mondrian").run(table, k), one):
        found = _Search(table, k, 1_000_000, Run()).best(start)
        assert loss_of(table, found) == pytest.approx(least(rows, k, seed), abs=1e-6)


@pytest.mark.parametrize(("rows", "k", "seed"), YARDSTICKS)
def test_the_bound_is_below_and_no_method_is(rows, k, seed):
    table, best = people(rows, seed), least(rows, k, seed)
    assert 0.5 * best <= lower_bound(table, k) <= best + 1e-9
    for name in ("compact", "kmembers", "kaca", "bottom-up", "top-down", "gccg", "cb", "mondrian"):
        assert loss_of(table, find_method(name).run(table, k)) >= best - 1e-6, name


@pytest.mark.parametrize("effort", ["fast", "balanced", "thorough"])
@pytest.mark.parametrize(("rows", "k", "seed"), YARDSTICKS)
def test_compact_is_near_the_optimum(rows, k, seed, effort):
    """What compact loses more than it must, on tables where its greed has no room: at most a quarter."""
    table = people(rows, seed)
    near = loss_of(table, compact.run(table, k, CompactOptions(effort=effort), Run()))
    assert near <= {"fast": 1.4, "balanced": 1.25, "thorough": 1.25}[effort] * least(rows, k, seed)


def test_larger_tables_are_refused():
    with pytest.raises(DataError, match=f"501 rows; method optimal takes at most {MOST_ROWS}. Use compact") as caught:
        optimal.run(people(501, 0), 2)
    assert caught.value.rows == 501
    with pytest.raises(DataError, match=r"60 rows at k = 5 .* \(most_groups = 100\)\. Use compact, or raise most_g"):
        optimal.run(people(60, 0), 5, OptimalOptions(most_groups=100), Run())


def test_too_long_a_search_is_refused(monkeypatch):
    monkeypatch.setattr("coterie.methods.optimal.MOST_STEPS", 50)
    with pytest.raises(DataError, match="too many groups to choose from"):
        optimal.run(people(60, 0), 3)


def test_no_time_left_gives_the_best_so_far():
    table, run = people(40, 1), Run(deadline=0.0)
    found = optimal.run(table, 2, None, run)
    assert found.sizes.min() >= 2
    assert run.notes == ["optimal ran out of time: the grouping is the best so far and may not be the least loss."]


def test_a_run_can_be_stopped():
    asked = []

    def cancelled():
        asked.append(None)
        return len(asked) > 3

    with pytest.raises(Cancelled):
        optimal.run(people(40, 1), 2, None, Run(cancelled=cancelled))


def test_without_scipy_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(BackendError, match=r"coterie\[exact\]"):
        optimal.run(people(10, 0), 2)


def test_a_release_by_it_says_when_models_change_the_optimum():
    rows = people(30, 0)
    table = {"age": rows.codes[:, 0].tolist(), "ill": ["flu", "pox", "flu"] * 10}
    import pyarrow as pa

    asked = {"quasi": ["age"], "sensitive": ["ill"], "k": 3, "method": "optimal"}
    plain = coterie.anonymize(pa.table(table), **asked)
    assert plain.measures["loss_over_bound"] >= 1
    assert not any("for k alone" in note for note in plain.notes)
    diverse = coterie.anonymize(pa.table(table), privacy=["l-diversity:2"], **asked)
    assert diverse.verification.passed
    assert any("for k alone" in note for note in diverse.notes)
