"""Small groups by linear programming: whole groups only, the least loss on tiny tables, and no trust in the solver."""

import sys
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.naive_optimum import optimum
from tables import number_domain, tables, tree_domain

import coterie
from coterie.grouping import priced_groups
from coterie.grouping.index import build_index
from coterie.grouping.priced_groups import whole_groups
from coterie.kernels.search.costs import box_costs
from coterie.methods import Run, find_method
from coterie.methods import compact as compact_module
from coterie.methods.compact import CompactOptions
from coterie.table.grouping import Grouping
from coterie.table.table import Table

optimize = pytest.importorskip("scipy.optimize")
compact = find_method("compact")
THOROUGH = CompactOptions(effort="thorough")
PLACES = [None, 0, 1, 1, 1, 0, 5, 5, 0, 8, 8]
WEIGHTS = (1.0, 2.0, 0.5, 0.0)


def people(rows, seed=0):
    rng = np.random.default_rng(seed)
    domains = (
        number_domain("age", list(range(200))),
        tree_domain("place", PLACES, [2, 3, 4, 6, 7, 9, 10], missing=True),
        number_domain("size", [0, 1, 2, 4, 8]),
    )
    codes = np.column_stack([rng.integers(0, 200, rows), rng.integers(0, 8, rows), rng.integers(0, 5, rows)])
    return Table(np.ascontiguousarray(codes.astype(np.int32)), domains)


def in_order(table, k):
    """Groups of k rows in the order of the table."""
    return Grouping.of(table.codes, np.arange(table.rows) // k % (table.rows // k))


def loss_of(table, labels):
    found = Grouping.of(table.codes, labels)
    return float((found.sizes * box_costs(table.costs, found.lo, found.hi)).sum())


def chosen(table, start, k, **more):
    return whole_groups(table, start, k=k, index=build_index(table), run=Run(), **more)


def sizes(labels):
    return np.bincount(labels[labels >= 0])


@given(tables(min_rows=4, max_rows=40, max_attributes=3, weights=WEIGHTS), st.integers(2, 3), st.integers(1, 3))
def test_what_is_assigned_is_whole_groups(drawn, k, rounds):
    table, _ = drawn
    labels = chosen(table, in_order(table, k), k, rounds=rounds)
    found = sizes(labels)
    assert ((found == 0) | ((found >= k) & (found < 2 * k))).all()


@settings(max_examples=60)
@given(tables(min_rows=4, max_rows=9, max_attributes=3, weights=WEIGHTS))
def test_if_all_groups_are_listed_whole_groups_have_the_least_loss(drawn):
    table, plain = drawn
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(priced_groups, "EACH", 1_000)
        patch.setattr(priced_groups, "ABOVE", 1e9)
        labels = chosen(table, in_order(table, 2), 2)
    if (labels >= 0).all():
        assert loss_of(table, labels) == pytest.approx(optimum(plain.rows, plain.attributes, 2))


def test_most_rows_are_assigned_and_lose_less_than_before():
    table = people(600)
    start = in_order(table, 2)
    labels = chosen(table, start, 2, rounds=2)
    kept = labels >= 0
    assert kept.mean() > 0.6
    part = Table(np.ascontiguousarray(table.codes[kept]), table.domains)
    assert loss_of(part, labels[kept]) < 0.5 * loss_of(table, start.labels)


@pytest.mark.parametrize("k", [2, 3])
def test_every_listed_group_is_listed_once_and_is_promising(k):
    from coterie.kernels.search.cheap_groups import Asked, Offered, list_cheap_groups

    table = people(40, seed=3)
    index = build_index(table)
    program = priced_groups._Program(table, in_order(table, k), k, index, Run())
    size = len(program.weights)
    prices = np.random.default_rng(0).random(size)
    rank = np.argsort(np.argsort(-prices))
    offered = Offered(program.weights, prices, rank)
    found = list_cheap_groups(index.nodes.points, index.costs, program.near, offered, Asked(k, k, 0.1, 9_999), 0, size)
    listed = [tuple(sorted(members)) for members in found.members.tolist()]
    assert len(set(listed)) == len(listed) > 0
    wanted = set()
    places = np.repeat(np.arange(size), np.minimum(program.weights, k)).tolist()
    for group in {tuple(sorted(each)) for each in combinations(places, k)}:
        points = index.nodes.points[list(group)]
        loss = k * box_costs(index.costs, points.min(axis=0)[None], points.max(axis=0)[None])[0]
        first = min(group, key=lambda place: rank[place])
        near = set(program.near.positions[first, : program.near.counts[first]].tolist())
        if loss - prices[list(group)].sum() <= 0.1 and set(group) <= near | {first}:
            wanted.add(group)
    assert set(listed) == wanted


def test_threads_change_nothing():
    table = people(900)
    start, index = in_order(table, 3), build_index(table)
    one, four = (whole_groups(table, start, k=3, index=index, run=Run(threads=n), rounds=2) for n in (1, 4))
    assert one.tolist() == four.tolist()


def test_blocks_hold_every_row_once(monkeypatch):
    monkeypatch.setattr(priced_groups, "BLOCK_ROWS", 100)
    table = people(700)
    program = priced_groups._Program(table, in_order(table, 2), 2, build_index(table), Run())
    blocks = list(program.blocks())
    assert len(blocks) > 5
    assert sorted(np.concatenate(blocks).tolist()) == list(range(700))
    found = sizes(chosen(table, in_order(table, 2), 2))
    assert found.min() >= 2


@pytest.mark.parametrize("answer", ["all twice", "none", "failed", "not numbers"])
def test_the_solver_is_not_trusted(answer, monkeypatch):
    def solve(losses, A_eq, b_eq, **_):
        shares = {"all twice": 2.0, "not numbers": np.nan}.get(answer, 0.0)
        prices = SimpleNamespace(marginals=np.zeros(len(b_eq)))
        return SimpleNamespace(status=4 if answer == "failed" else 0, x=np.full(len(losses), shares), eqlin=prices)

    monkeypatch.setattr(optimize, "linprog", solve)
    table = people(300)
    found = sizes(chosen(table, in_order(table, 2), 2, rounds=2))
    assert ((found == 0) | (found >= 2)).all()
    grouping = compact.run(table, 2, THOROUGH, Run())
    assert grouping.sizes.min() >= 2
    assert (grouping.labels >= 0).all()


def test_a_start_that_loses_more_is_not_taken(monkeypatch):
    monkeypatch.setattr(compact_module, "whole_groups", lambda table, *_, **__: in_order(table, 2).labels.copy())
    run = Run()
    table = people(400)
    grouping = compact.run(table, 2, THOROUGH, run)
    assert not run.notes
    assert loss_of(table, grouping.labels) < loss_of(table, in_order(table, 2).labels)


def test_one_row_left_is_grown_together_with_a_group(monkeypatch):
    table = people(401)

    def all_but_one(table, grouping, **_):
        labels = np.arange(401, dtype=np.int32) // 2
        labels[400] = -1
        return labels

    monkeypatch.setattr(compact_module, "whole_groups", all_but_one)
    grouping = compact.run(table, 2, THOROUGH, Run())
    assert grouping.sizes.min() >= 2
    assert (grouping.labels >= 0).all()


@pytest.mark.parametrize("k", [2, 3])
def test_the_program_lowers_the_loss_of_a_thorough_search(k, monkeypatch):
    codes = np.random.default_rng(5).integers(0, 50, (1_000, 6)).astype(np.int32)
    table = Table(codes, tuple(number_domain(name, list(range(50))) for name in "abcdef"))
    run, without = Run(), Run()
    with_program = compact.run(table, k, THOROUGH, run)
    assert any("linear programming" in note for note in run.notes)
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    alone = compact.run(table, k, THOROUGH, without)
    assert not without.notes
    assert loss_of(table, with_program.labels) < loss_of(table, alone.labels)


@pytest.mark.parametrize("effort", ["fast", "balanced"])
def test_lesser_efforts_go_without(effort):
    run = Run()
    compact.run(people(300), 2, CompactOptions(effort=effort), run)
    assert not run.notes


def test_provenance_records_the_solver_and_models_are_kept():
    cells = np.random.default_rng(0).integers(0, [80, 60, 70, 4], (400, 4))
    table = pa.table(dict(zip(("age", "size", "weight", "ill"), cells.T, strict=True)))
    release = coterie.anonymize(
        table,
        k=2,
        quasi=["age", "size", "weight"],
        sensitive=["ill"],
        privacy=[coterie.LDiversity(2, on="ill")],
        method="compact",
        options={"effort": "thorough"},
    )
    assert release.verification.passed
    assert any("linear programming (SciPy" in note for note in release.provenance()["notes"])
