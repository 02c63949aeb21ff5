"""compact and auto: what they promise, and the parts they are made of."""

import numpy as np
import pytest
from doors import door
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.naive_costs import box_cost, cost
from tables import number_domain, tables, tree_domain

from coterie.grouping.index import build_index
from coterie.kernels import sorting
from coterie.kernels.methods import compact as loops
from coterie.kernels.search import growth, nearby
from coterie.kernels.search.costs import Aimed, aim_all, box_costs, new_reach
from coterie.kernels.search.growth import ALL, new_items, rough_costs, rough_scales
from coterie.kernels.search.heap import new_heap
from coterie.kernels.search.nearby import NearLists, list_near_leaves, too_short
from coterie.kernels.search.rows_index import take
from coterie.kernels.search.walk import new_walk
from coterie.methods import Run, find_method
from coterie.methods.compact import CompactOptions
from coterie.privacy import LDiversity
from coterie.table.table import Table

compact = find_method("compact")
take_all, pick_near = door(loops.take_all), door(nearby.pick_near)
grow_box, near_points, sort_pairs = door(growth.grow_box), door(growth.near_points), door(sorting.sort_pairs)
EFFORTS = ["fast", "balanced", "thorough"]
WEIGHTS = (1.0, 2.0, 0.5, 0.0)
PLACES = [None, 0, 1, 1, 1, 0, 5, 5, 0, 8, 8]


def loss_of(table, grouping):
    return float((grouping.sizes * box_costs(table.costs, grouping.lo, grouping.hi)).sum())


def larger(rows=600, seed=1, weights=(2.0, 1.0, 0.5)):
    rng = np.random.default_rng(seed)
    domains = (
        number_domain("age", list(range(60)), weight=weights[0]),
        tree_domain("place", PLACES, [2, 3, 4, 6, 7, 9, 10], missing=True, weight=weights[1]),
        number_domain("size", [10 * value for value in range(9)], missing=True, weight=weights[2]),
    )
    codes = np.column_stack([rng.binomial(59, 0.4, rows), rng.integers(0, 8, rows), rng.integers(0, 10, rows)])
    return Table(np.ascontiguousarray(codes.astype(np.int32)), domains)


def check(table, grouping, k):
    """Every row is in a group of at least k whose box is the tightest one."""
    assert (grouping.labels >= 0).all()
    assert grouping.sizes.min() >= k
    for group in range(grouping.groups):
        codes = table.codes[grouping.labels == group]
        assert grouping.lo[group].tolist() == codes.min(axis=0).tolist()
        assert grouping.hi[group].tolist() == codes.max(axis=0).tolist()


@pytest.mark.parametrize("effort", EFFORTS)
@settings(max_examples=15)
@given(tables(weights=WEIGHTS), st.integers(1, 9), st.integers(0, 3))
def test_all_rows_are_in_groups_of_k_whatever_the_threads(effort, drawn, k, seed):
    table, _ = drawn
    k = min(k, table.rows)
    options = CompactOptions(effort=effort)
    one = compact.run(table, k, options, Run(seed=seed, threads=1))
    check(table, one, k)
    assert compact.run(table, k, options, Run(seed=seed, threads=4)).labels.tolist() == one.labels.tolist()


@pytest.mark.parametrize("block_rows", [1, 60, 10_000])
@pytest.mark.parametrize("k", [2, 9])
def test_one_block_or_several(block_rows, k):
    table = larger()
    options = CompactOptions(effort="fast", block_rows=block_rows)
    found = compact.run(table, k, options, Run(threads=1))
    check(table, found, k)
    assert compact.run(table, k, options, Run(threads=3)).labels.tolist() == found.labels.tolist()


@pytest.mark.parametrize("weights", [(0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)])
@pytest.mark.parametrize("k", [3, 10])
def test_columns_without_weight_cost_nothing(weights, k):
    """Rows that differ in such columns only are as near as equal ones, and there are more of them than a seed notes."""
    table = larger(weights=weights)
    found = compact.run(table, k, CompactOptions(effort="fast"), Run())
    check(table, found, k)
    assert loss_of(table, found) == pytest.approx(0)


def test_rows_under_one_ancestor_of_a_large_tree_are_in_one_box():
    """A tree of 600 values is not looked up in a table: its boxes are not widened to whole ancestors."""
    parents = [None, *(parent for branch in range(30) for parent in (0, *[1 + 21 * branch] * 20))]
    leaves = [node for node in range(1, len(parents)) if parents[node] != 0]
    codes = np.random.default_rng(2).integers(0, 600, (400, 1)).astype(np.int32)
    table = Table(codes, (tree_domain("place", parents, leaves),))
    found = compact.run(table, 4, CompactOptions(effort="fast"), Run())
    check(table, found, 4)


@pytest.mark.parametrize("k", [2, 5, 20])
def test_more_effort_pays_on_the_whole(k):
    table = larger()
    by_effort = [loss_of(table, compact.run(table, k, CompactOptions(effort=effort), Run())) for effort in EFFORTS]
    assert by_effort[2] <= by_effort[0]
    assert by_effort[0] < loss_of(table, find_method("mondrian").run(table, k))


@pytest.mark.parametrize("effort", EFFORTS)
@settings(max_examples=15)
@given(tables(weights=WEIGHTS), st.integers(2, 9), st.integers(4, 6))
def test_where_most_rows_have_equals_no_quick_method_loses_less(effort, drawn, k, copies):
    few, _ = drawn
    table = Table(np.ascontiguousarray(np.repeat(few.codes, copies, axis=0)), few.domains)
    k = min(k, table.rows)
    ours = loss_of(table, compact.run(table, k, CompactOptions(effort=effort), Run()))
    for name in ("mondrian", "kaca", "bottom-up"):
        assert ours <= loss_of(table, find_method(name).run(table, k)) + 1e-9


@pytest.mark.parametrize("effort", EFFORTS)
def test_a_deadline_that_has_passed_still_gives_groups(effort):
    table = larger()
    check(table, compact.run(table, 5, CompactOptions(effort=effort), Run(deadline=0.0)), 5)


def test_coarse_groups_are_suppressed_on_request():
    table = larger()
    whole = sum(domain.weight for domain in table.domains)
    plain = compact.run(table, 5, CompactOptions(), Run())
    shares = box_costs(table.costs, plain.lo, plain.hi) / whole
    limit = float(np.median(shares))
    found = compact.run(table, 5, CompactOptions(suppress_above=limit), Run())
    assert found.suppressed.tolist() == (shares > limit)[plain.labels].tolist()
    assert 0 < found.suppressed.sum() < table.rows
    assert found.sizes.min() >= 5
    assert not compact.run(table, 5, CompactOptions(suppress_above=1.0), Run()).suppressed.any()


def test_models_hold_after_the_search():
    table = larger(200)
    sensitive = np.random.default_rng(3).integers(0, 3, (200, 1)).astype(np.int32)
    table = Table(table.codes, table.domains, sensitive, (number_domain("disease", [0, 1, 2]),))
    found = compact.run(table, 3, CompactOptions(), Run(privacy=(LDiversity(3, on="disease"),)))
    for group in range(found.groups):
        assert len(set(sensitive[found.labels == group, 0])) == 3
    assert found.sizes.min() >= 3


def test_auto_says_what_it_chose_and_does_it(monkeypatch):
    table = larger(300)
    run = Run()
    found = find_method("auto").run(table, 5, None, run)
    assert run.notes == ["auto chose compact with effort balanced for 300 rows."]
    assert found.labels.tolist() == compact.run(table, 5, CompactOptions(effort="balanced"), Run()).labels.tolist()
    monkeypatch.setattr("coterie.methods.auto.BALANCED_ROWS", 100)
    run = Run()
    found = find_method("auto").run(table, 5, None, run)
    assert run.notes == ["auto chose compact with effort fast for 300 rows."]
    assert found.labels.tolist() == compact.run(table, 5, CompactOptions(effort="fast"), Run()).labels.tolist()


@given(tables(weights=WEIGHTS), st.integers(1, 12), st.data())
def test_near_points_are_the_nearest(drawn, wanted, data):
    table, plain = drawn
    index = build_index(table)
    nodes, costs = index.nodes, index.costs
    for row in data.draw(st.sets(st.integers(0, table.rows - 1), max_size=table.rows - 1)):
        index.take(row)
    low, high = (table.codes[data.draw(st.integers(0, table.rows - 1))] for _ in range(2))
    lo, hi = np.minimum(low, high), np.maximum(low, high)
    aimed = Aimed(costs, new_reach(costs), lo, hi)
    aim_all(aimed)
    heap = new_heap(wanted + 1)
    count = near_points(nodes, aimed, wanted, ALL, heap, new_walk())
    found = dict(zip(heap.ids[:count].tolist(), heap.keys[:count].tolist(), strict=True))
    assert len(found) == count
    box = [lo.tolist(), hi.tolist()]
    every = {
        place: box_cost(plain.attributes, [*box, nodes.points[place].tolist()])
        for place in range(len(nodes.points))
        if nodes.point_free[place] > 0
    }
    assert found == {place: every[place] for place in found}
    held = sum(int(nodes.point_free[place]) for place in found)
    if held < wanted:
        assert len(found) == len(every)
        return
    worst = max(found.values())
    nearer = {place for place, cost in every.items() if cost < worst}
    assert nearer <= set(found)
    assert sum(int(nodes.point_free[place]) for place in nearer) < wanted


@given(tables(weights=WEIGHTS), st.integers(1, 12), st.integers(1, 12), st.data())
def test_seeds_pick_their_nearest_from_the_list_of_their_leaf(drawn, listed, wanted, data):
    table, plain = drawn
    index = build_index(table)
    nodes, costs = index.nodes, index.costs
    for row in data.draw(st.sets(st.integers(0, table.rows - 1), max_size=table.rows - 1)):
        index.take(row)
    seed = data.draw(st.sampled_from(np.flatnonzero(nodes.point_free > 0).tolist()))
    lists = NearLists(np.empty((1, listed + 1), dtype=np.int32), np.zeros(1, dtype=np.int32))
    first = np.zeros(1, dtype=np.int32)
    list_near_leaves(nodes, costs, ALL, nodes.leaf[[seed]], first, lists)
    length = int(lists.counts[0])
    held = {place: int(nodes.point_free[place]) for place in lists.positions[0, :length].tolist()}
    assert all(held.values())
    assert sum(held.values()) >= min(listed, index.free)
    assert too_short(nodes, lists, first, sum(held.values())).tolist() == [False]
    assert too_short(nodes, lists, first, sum(held.values()) + 1).tolist() == [True]

    near = np.empty(wanted + 1, dtype=np.int32)
    heap = new_heap(listed + 2)
    count = pick_near(nodes, costs, new_reach(costs), seed, lists.positions[0], length, near, heap)
    picked = near[:count].tolist()
    assert picked[0] == seed
    assert len(set(picked)) == count
    point = nodes.points[seed].tolist()
    every = {place: box_cost(plain.attributes, [point, nodes.points[place].tolist()]) for place in held}
    others = {place for place in held if place != seed}
    assert set(picked[1:]) <= others
    rows = int(nodes.point_free[seed])
    if rows + sum(held[place] for place in others) <= wanted:
        assert set(picked[1:]) == others
        return
    worst = max((every[place] for place in picked[1:]), default=0.0)
    assert {place for place in others if every[place] < worst} <= set(picked[1:])
    assert rows + sum(held[place] for place in picked[1:]) >= wanted


@given(tables(weights=WEIGHTS), st.data())
def test_taking_a_box_out_of_the_index_is_taking_its_rows(drawn, data):
    table, _ = drawn
    one, two = build_index(table), build_index(table)
    for row in data.draw(st.sets(st.integers(0, table.rows - 1), max_size=table.rows - 1)):
        one.take(row)
        two.take(row)
    low, high = (table.codes[data.draw(st.integers(0, table.rows - 1))] for _ in range(2))
    lo, hi = np.minimum(low, high), np.maximum(low, high)
    labels = np.full(table.rows, -1, dtype=np.int32)
    visited = np.empty(len(one.nodes.left), dtype=np.int32)
    take_all(one.nodes, lo, hi, 7, labels, new_walk(), visited)
    inside = ((table.codes >= lo) & (table.codes <= hi)).all(axis=1) & ~two.nodes.taken
    assert (labels == 7).tolist() == inside.tolist()
    for row in np.flatnonzero(inside):
        take(two.nodes, row)
    assert one.nodes.taken.tolist() == two.nodes.taken.tolist()
    waiting = [0]
    while waiting:  # all that is not below an empty node is alike
        node = waiting.pop()
        assert one.nodes.free[node] == two.nodes.free[node]
        if one.nodes.free[node]:
            for name in ("lo", "hi", "lowest"):
                assert getattr(one.nodes, name)[node].tolist() == getattr(two.nodes, name)[node].tolist()
            if one.nodes.left[node] >= 0:
                waiting += [one.nodes.left[node], one.nodes.left[node] + 1]


def grown(attributes, items, weights, seed, k):
    """The obvious twin of `grow_box` with plain scales: the items of its box, None if there are too few rows."""
    sizes = [len(each["values"] if each["kind"] == "number" else each["leaves"]) for each in attributes]
    whole = sum(float(cost(each, range(size))) for each, size in zip(attributes, sizes, strict=True))

    def rough(members):
        """Cost in 2**20ths of that of everything, each attribute's rounded down."""
        if whole == 0:
            return 0
        columns = zip(attributes, zip(*(items[i] for i in members), strict=True), strict=True)
        return sum(int(float(cost(each, codes)) * (2**20 / whole)) for each, codes in columns)

    held = [seed]
    while sum(weights[i] for i in held) < k:
        now, others = rough(held), [i for i in range(len(items)) if i not in held]
        costs = {i: rough([*held, i]) for i in others}
        for i in others:
            if costs[i] <= now and sum(weights[j] for j in held) < k:
                held.append(i)
        if sum(weights[i] for i in held) >= k:
            break
        rest = [i for i in others if costs[i] > now]
        if not rest:
            return None
        held.append(min(rest, key=lambda i: (costs[i], -weights[i], i)))
    return held


@given(tables(weights=WEIGHTS), st.integers(1, 12), st.data())
def test_a_box_grows_by_its_cheapest_item(drawn, k, data):
    table, plain = drawn
    codes, counts = table.distinct.codes, table.distinct.counts.astype(np.int64)
    n, d = codes.shape
    seed = data.draw(st.integers(0, n - 1))
    items = new_items(d, n)._replace(codes=np.ascontiguousarray(codes.T), weights=counts, active=np.arange(d))
    rough, scales = rough_costs(table.costs), rough_scales(np.ones(d))
    count, rows, found = grow_box(table.costs, rough, scales, items, d, n, seed, k, np.inf)
    expected = grown(plain.attributes, codes.tolist(), counts.tolist(), seed, k)
    if expected is None:
        assert found == np.inf
        return
    assert items.held[:count].tolist() == expected
    assert rows == counts[expected].sum()
    assert items.box.tolist() == [codes[expected].min(axis=0).tolist(), codes[expected].max(axis=0).tolist()]
    assert found == pytest.approx(box_cost(plain.attributes, codes[expected].tolist()))
    if found > 0:
        assert grow_box(table.costs, rough, scales, items, d, n, seed, k, found)[2] == np.inf


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0, 2.0]), st.integers(0, 9)), max_size=60))
def test_pairs_are_sorted(pairs):
    keys = np.asarray([key for key, _ in pairs])
    values = np.asarray([value for _, value in pairs], dtype=np.int32)
    sort_pairs(keys, values, len(pairs))
    assert list(zip(keys.tolist(), values.tolist(), strict=True)) == sorted(pairs)
