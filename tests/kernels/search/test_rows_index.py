"""Searches in the tree against a look at every free row, whatever rows are taken and however costs are looked up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.naive_index import Rows
from tables import number_domain, tables, tree_domain

import coterie.table.costs
from coterie.grouping.index import build_index
from coterie.kernels.search.neighbours import pair_costs
from coterie.table.costs import Measure
from coterie.table.table import Table

# Domains of more values than this are not looked up in square tables: none, those of four and more, all.
LIMITS = [512, 3, 0]


def indexed(table, plain, limit, measure="ncp"):
    """An index over the table and its twin, both with costs summed as the limit says."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coterie.table.costs, "TABLE_LIMIT", limit)
        costs = table.costs_of(Measure(measure))
    sums = [costs.small.tolist(), costs.large.tolist()]
    assert sorted(sums[0] + sums[1]) == list(range(table.attributes))
    return build_index(table, costs), Rows(plain.rows, plain.attributes, measure=measure, sums=sums)


@pytest.mark.parametrize("limit", LIMITS)
@given(tables(max_rows=60), st.data(), st.sampled_from(["ncp", "height"]))
def test_the_cheapest_row_of_a_growing_box(limit, drawn, data, measure):
    table, plain = drawn
    index, twin = indexed(table, plain, limit, measure)
    members = [data.draw(st.sampled_from(plain.rows))]
    while twin.free:
        lo, hi = np.min(members, axis=0).astype(np.int32), np.max(members, axis=0).astype(np.int32)
        best = twin.cheapest(members)
        assert index.cheapest(lo, hi) == best
        # Now and then another row is taken than the one that was found, and a box begins anew.
        if data.draw(st.booleans()):
            members.append(plain.rows[best])
        else:
            best = data.draw(st.sampled_from(sorted(twin.free)))
            members = [plain.rows[best]]
        index.take(best)
        twin.free.remove(best)
        assert index.free == len(twin.free)
    assert index.cheapest(lo, hi) == -1


@pytest.mark.parametrize("limit", LIMITS)
@given(tables(max_rows=60), st.data(), st.sampled_from(["ncp", "height"]))
def test_the_furthest_nearest_and_neighbouring_rows_of_a_point(limit, drawn, data, measure):
    table, plain = drawn
    index, twin = indexed(table, plain, limit, measure)
    for row in data.draw(st.permutations(range(table.rows)).flatmap(lambda rows: st.just(rows[: len(rows) // 2]))):
        index.take(row)
        twin.free.remove(row)
    point = data.draw(st.integers(0, table.rows - 1))
    assert index.furthest(table.codes[point]) == twin.furthest(plain.rows[point])
    count = data.draw(st.integers(0, table.rows + 1))
    assert index.nearest(table.codes[point], count).tolist() == twin.nearest(plain.rows[point], count)
    others = data.draw(st.integers(0, table.rows))
    found = index.neighbour_costs(others)
    for row in twin.free:
        assert found[row] == twin.neighbour_cost(row, others)
    pairs = pair_costs(index.costs, table.codes, point)
    assert pairs.tolist() == [twin.box_cost([plain.rows[point], row]) for row in plain.rows]


@given(tables(max_rows=30))
def test_nothing_is_found_when_nothing_is_free(drawn):
    table, plain = drawn
    index, _ = indexed(table, plain, 512)
    for row in range(table.rows):
        index.take(row)
    point = table.codes[0]
    assert index.free == 0
    assert index.cheapest(point, point) == index.furthest(point) == -1
    assert len(index.nearest(point, 5)) == 0
    index.reset()
    assert index.free == table.rows
    assert index.cheapest(point, point) == 0


def deep_tree():
    """800 leaves in uneven branches: more than a square table holds."""
    parents, leaves = [None], []
    for size in (1, 2, 7, 40, 100, 250, 400):
        branch = len(parents)
        parents.append(0)
        for start in range(0, size, 20):
            twig = len(parents)
            parents.append(branch)
            for _ in range(min(20, size - start)):
                leaves.append(len(parents))
                parents.append(twig)
    return parents, leaves


def test_domains_that_are_large_by_themselves():
    """Numbers and trees beyond the limit, beside a small domain, with missing values and weights."""
    rng = np.random.default_rng(4)
    parents, leaves = deep_tree()
    values = np.sort(rng.choice(100_000, 900, replace=False)).tolist()
    domains = (
        number_domain("income", values, missing=True, weight=3.0),
        tree_domain("sex", [None, 0, 0], [1, 2]),
        tree_domain("place", parents, leaves, missing=True, weight=0.25),
    )
    codes = np.column_stack([rng.integers(0, domain.size, 500) for domain in domains]).astype(np.int32)
    codes[rng.random(500) < 0.2, 0] = 900
    table = Table(np.ascontiguousarray(codes), domains)
    assert table.costs.large.tolist() == [0, 2]
    attributes = [
        {"kind": "number", "values": [*values, None], "weight": 3.0},
        {"kind": "tree", "parents": [None, 0, 0], "leaves": [1, 2], "weight": 1.0},
        {"kind": "tree", "parents": [*parents, 0], "leaves": [*leaves, len(parents)], "weight": 0.25},
    ]
    twin = Rows(codes.tolist(), attributes, sums=[[1], [0, 2]])
    index = build_index(table)
    for row in rng.permutation(500)[:250].tolist():
        index.take(row)
        twin.free.remove(row)
    for row in range(3):
        assert index.cheapest(codes[row], codes[row]) == twin.cheapest([codes[row].tolist()])
        assert index.furthest(codes[row]) == twin.furthest(codes[row].tolist())
        assert index.nearest(codes[row], 9).tolist() == twin.nearest(codes[row].tolist(), 9)
    found = index.neighbour_costs(4)
    for row in sorted(twin.free)[:3]:
        assert found[row] == twin.neighbour_cost(row, 4)
