"""The lower bound: as its slow twin says, and below every grouping there is."""

from functools import partial
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.naive_bound import plain_bounds, raised_bounds, worst_violation
from oracles.naive_optimum import optimum
from tables import number_domain, tables

from coterie.datasets import ADULT_QUASI, adult, adult_hierarchies
from coterie.errors import Cancelled, ConfigError
from coterie.grouping import bound, first_prices
from coterie.grouping.bound import QUICK_ROUNDS, ROUNDS, lower_bound, row_bounds, row_prices
from coterie.grouping.feasible import feasible_prices, try_prices
from coterie.grouping.index import build_index
from coterie.grouping.pool import Pool
from coterie.kernels.search.costs import box_costs
from coterie.methods import Run, find_method
from coterie.methods.compact import CompactOptions
from coterie.releases.bound import guided_bound, guiding_groups, in_words
from coterie.settings.config import Config
from coterie.table.encode import encode
from coterie.table.grouping import Grouping
from coterie.table.table import Table

compact = find_method("compact")
CLOSE = 1e-9
WEIGHTS = (1.0, 2.0, 0.5, 0.0)


def loss_of(table, grouping):
    from coterie.kernels.search.costs import box_costs

    return float((grouping.sizes * box_costs(table.costs, grouping.lo, grouping.hi)).sum())


@given(tables(min_rows=2, max_rows=25, weights=WEIGHTS), st.integers(1, 6), st.integers(0, 4))
def test_bounds_are_those_of_the_twin(drawn, k, rounds):
    table, plain = drawn
    k = min(k, table.rows)
    found = row_bounds(table, k, rounds=rounds, threads=2).tolist()
    assert found == raised_bounds(plain.rows, plain.attributes, k, rounds)
    if rounds == 0:
        assert found == plain_bounds(plain.rows, plain.attributes, k)


@given(tables(min_rows=2, max_rows=30), st.integers(2, 5))
def test_each_round_raises_the_bound_or_leaves_it(drawn, k):
    table, _ = drawn
    k = min(k, table.rows)
    rounds = [row_bounds(table, k, rounds=count) for count in range(4)]
    for lower, higher in pairwise(rounds):
        assert (lower <= higher).all()


@settings(max_examples=25)
@given(tables(min_rows=2, max_rows=8, max_attributes=3, weights=WEIGHTS), st.integers(2, 4))
def test_nothing_is_below_the_bound_and_compact_is_not_below_the_optimum(drawn, k):
    table, plain = drawn
    k = min(k, table.rows)
    best = optimum(plain.rows, plain.attributes, k)
    assert row_bounds(table, k, rounds=0).sum() <= lower_bound(table, k) + CLOSE <= best + 2 * CLOSE
    for effort in ("fast", "balanced", "thorough"):
        grouping = compact.run(table, k, CompactOptions(effort=effort), Run())
        assert best <= loss_of(table, grouping) + CLOSE


@given(tables(min_rows=2, max_rows=30), st.integers(2, 5))
def test_threads_change_nothing(drawn, k):
    table, _ = drawn
    k = min(k, table.rows)
    assert row_bounds(table, k, threads=1).tolist() == row_bounds(table, k, threads=4).tolist()


def any_grouping(table, data, k):
    """A grouping that may be poor, too small or suppress rows: as a guide all of them will do."""
    labels = data.draw(st.lists(st.integers(-1, 2), min_size=table.rows, max_size=table.rows))
    return Grouping.of(table.codes, labels)


@settings(max_examples=60)
@given(
    tables(min_rows=2, max_rows=10, max_attributes=3, weights=WEIGHTS),
    st.integers(2, 4),
    st.sampled_from(["quick", "good", "0"]),
    st.data(),
)
def test_prices_of_no_group_exceed_its_loss(drawn, k, effort, data):
    """All sets of k rows, in plain Python; larger groups follow from these."""
    table, plain = drawn
    k = min(k, table.rows)
    guide = data.draw(st.sampled_from([None, partial(guiding_groups, table, k), partial(any_grouping, table, data, k)]))
    prices = row_prices(table, k, effort=effort, guide=guide).tolist()
    assert worst_violation(plain.rows, plain.attributes, prices, k) <= CLOSE
    rounds = QUICK_ROUNDS if effort == "quick" else ROUNDS
    assert sum(prices) >= row_bounds(table, k, rounds=rounds).sum() * (1 - 1e-8)
    assert sum(prices) <= optimum(plain.rows, plain.attributes, k) + CLOSE if table.rows <= 8 else True


@st.composite
def numbers_only(draw):
    """Return a table of numbers with ties and weights, as codes and as plain Python."""
    size = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(st.integers(0, 4), min_size=size, max_size=size), min_size=5, max_size=11))
    values = [sorted(draw(st.sets(st.integers(-30, 30), min_size=5, max_size=5))) for _ in range(size)]
    weights = draw(st.lists(st.sampled_from(WEIGHTS), min_size=size, max_size=size))
    domains = tuple(number_domain(f"x{at}", values[at], weight=weights[at]) for at in range(size))
    attributes = [{"kind": "number", "values": each, "weight": w} for each, w in zip(values, weights, strict=True)]
    return Table(np.asarray(rows, dtype=np.int32), domains), rows, attributes


@settings(max_examples=60)
@given(numbers_only(), st.integers(2, 5), st.sampled_from(["quick", "good"]), st.booleans())
def test_prices_of_numbers_hold_for_all_groups(drawn, k, effort, guided):
    table, rows, attributes = drawn
    guide = partial(guiding_groups, table, k) if guided else None
    prices = row_prices(table, k, effort=effort, guide=guide, threads=2).tolist()
    assert worst_violation(rows, attributes, prices, k) <= CLOSE
    assert table.rows > 8 or sum(prices) <= optimum(rows, attributes, k) + CLOSE


def numbers(rows, columns=4):
    """Return a table of numbers that go together, nearly all different."""
    rng = np.random.default_rng(7)
    values = np.round(np.exp(0.6 * rng.normal(size=rows)[:, None] + 0.8 * rng.normal(size=(rows, columns))), 2)
    return encode(
        pa.table({f"x{at}": values[:, at] for at in range(columns)}), Config(quasi=("x0", "x1", "x2", "x3"))
    ).table


def test_prices_of_numbers_hold_for_releases_and_are_higher_than_raised_bounds():
    table, k = numbers(1500), 8
    prices = row_prices(table, k, guide=partial(guiding_groups, table, k), threads=2)
    assert prices.sum() > 1.2 * row_bounds(table, k).sum()
    for name in ("compact", "mondrian", "kmembers"):
        grouping = find_method(name).run(table, k)
        sums = np.bincount(grouping.labels, weights=prices, minlength=grouping.groups)
        assert (sums <= grouping.sizes * box_costs(table.costs, grouping.lo, grouping.hi) + CLOSE).all()


def test_where_even_low_prices_take_too_much_work_the_raised_bound_is_left(monkeypatch):
    table, k = numbers(400), 5
    monkeypatch.setattr(first_prices, "ALL", 0)
    raised = row_bounds(table, k, rounds=QUICK_ROUNDS)
    assert row_prices(table, k, guide=partial(guiding_groups, table, k)).tolist() == raised.tolist()


def test_less_work_means_lower_first_prices(monkeypatch):
    table, k = numbers(800), 5
    index = build_index(table)
    start = np.empty(len(index.nodes.points))
    start[index.nodes.position] = row_bounds(table, k)
    guide = guiding_groups(table, k)
    sums = []
    for each in (0.5, 5, 50, 500):
        monkeypatch.setattr(first_prices, "EACH", each)
        found = first_prices.first_prices(table, index, k, start, least=start, guide=guide)
        sums.append(0.0 if found is None else found.sum())
    assert sums == sorted(sums)
    assert len(set(sums)) > 2


def test_tried_prices_fall_no_less_than_in_the_whole_table():
    table, k = people(900), 6
    index = build_index(table)
    tried = 1.5 * row_bounds(table, k)[index.nodes.rows[index.nodes.row_start[:-1]]]
    least, places = np.zeros(len(tried)), np.arange(len(tried), dtype=np.int32)
    alone, work = try_prices(table, index, k, tried, least=least, work=AT_LENGTH, places=places)
    once, twice = (feasible_prices(table, index, k, tried, least=least, work=AT_LENGTH, threads=n) for n in (1, 2))
    assert (alone <= once.prices + CLOSE).all()
    assert alone.sum() < once.prices.sum() < tried.sum()
    assert 0 < once.work == twice.work
    assert (work > 0).any()


def test_the_search_ends_after_a_certain_amount_of_work(monkeypatch):
    table, k = people(600), 5
    # `quick` with the groups that `best` begins with.
    quick = lower_bound(table, k, guide=partial(guiding_groups, table, k, effort="best"))
    best = guided_bound(table, k, effort="best")
    ended = []
    for work in (0, 10**6, 10**12):
        monkeypatch.setattr(bound, "MOST_WORK", work)
        ended.append(guided_bound(table, k, effort="best", threads=2))
    assert ended[0] == quick < ended[1] < ended[2] == best


AT_ONCE, CUT, AT_LENGTH = (0, 10**7), (0, 3), (10**7, 10**7)
"""drops rows that no group needs, ends early, does neither"""


@settings(max_examples=60)
@given(
    tables(min_rows=6, max_rows=10, max_attributes=3),
    st.integers(2, 4),
    st.sampled_from([AT_ONCE, CUT, AT_LENGTH]),
    st.data(),
)
def test_any_prices_are_made_feasible(drawn, k, work, data):
    table, plain = drawn
    index = build_index(table)
    size = len(index.nodes.points)
    tried = np.asarray(data.draw(st.lists(st.floats(-1, 4), min_size=size, max_size=size)))
    lowered, _, _ = feasible_prices(table, index, k, tried, least=np.zeros(size), work=work, threads=2)
    assert (lowered <= tried).all()
    prices = lowered[index.nodes.position].tolist()
    assert worst_violation(plain.rows, plain.attributes, prices, k) <= CLOSE


def people(rows):
    """Return rows of Adult as codes."""
    columns = adult(complete=True).slice(0, rows)
    return encode(columns, Config(quasi=ADULT_QUASI, hierarchies=adult_hierarchies())).table


@pytest.mark.parametrize("k", [3, 10])
def test_rows_that_no_group_needs_change_no_price(k):
    table = people(700)
    index = build_index(table)
    single = np.flatnonzero(np.diff(index.nodes.row_start) == 1)
    tried = np.full(len(index.nodes.points), -1.0)
    tried[single] = np.random.default_rng(1).gamma(2.0, 0.4, size=len(single))
    least = np.zeros(len(tried))
    found = [feasible_prices(table, index, k, tried, least=least, work=work)[0] for work in (AT_LENGTH, AT_ONCE, CUT)]
    assert found[0].sum() < tried.sum()
    np.testing.assert_allclose(found[1], found[0], atol=CLOSE)
    assert found[2].sum() < found[0].sum()


def test_boxes_found_with_prices_hold_groups_that_break_them_or_nearly():
    table, k = people(700), 4
    index = build_index(table)
    tried = 2.0 * row_bounds(table, k)[index.nodes.rows[index.nodes.row_start[:-1]]]
    _, broken, _ = feasible_prices(table, index, k, tried, least=np.zeros(len(tried)))
    prices = tried[index.nodes.position]
    costs = box_costs(index.costs, broken.lo, broken.hi)
    violated = 0
    assert len(costs) > 100
    for lo, hi, cost in zip(*broken, costs, strict=True):
        inside = np.sort(prices[((table.codes >= lo) & (table.codes <= hi)).all(axis=1)])
        assert len(inside) >= k
        assert inside[-k:].sum() > 0.8 * k * cost
        violated += inside[-k:].sum() > k * cost
    assert violated > 100


@pytest.mark.parametrize("k", [2, 7])
def test_no_group_of_a_release_has_prices_above_its_loss(k):
    table = people(1500)
    prices = row_prices(table, k, effort="good", threads=2)
    assert prices.sum() > 1.05 * row_bounds(table, k).sum()
    for name in ("compact", "mondrian", "kmembers"):
        grouping = find_method(name).run(table, k)
        sums = np.bincount(grouping.labels, weights=prices, minlength=grouping.groups)
        assert (sums <= grouping.sizes * box_costs(table.costs, grouping.lo, grouping.hi) + CLOSE).all()


def test_the_prices_of_the_page():
    """docs/bound.md: 30 must lean on somebody, who then pays as much; prices know, and reach the optimum."""
    table = Table(np.asarray([[0], [1], [2], [3]], dtype=np.int32), (number_domain("age", [20, 21, 22, 30]),))
    assert 10 * lower_bound(table, 2, effort="best") == pytest.approx(18, rel=0.02)


def test_prices_can_be_stopped():
    def stop():
        raise Cancelled("enough")

    table = Table(np.asarray([[0], [1], [2], [3]], dtype=np.int32), (number_domain("age", [20, 21, 22, 30]),))
    with pytest.raises(Cancelled):
        row_prices(table, 2, checkpoint=stop)


def test_the_guided_bound_can_be_cancelled_at_any_step():
    table = people(300)
    asked = 0

    def after(steps):
        def cancelled():
            nonlocal asked
            asked += 1
            return asked > steps

        return cancelled

    guided_bound(table, 5, effort="good", cancelled=after(10**9))
    every = asked
    assert every > 50
    for steps in (0, every // 2, every - 1):
        asked = 0
        with pytest.raises(Cancelled):
            guided_bound(table, 5, effort="good", cancelled=after(steps))


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (1.0, "within 0 % of the least possible loss"),
        (1.0 + 1e-9, "within 0 % of the least possible loss"),
        (1.081, "within 9 % of the least possible loss"),
        (1.09, "within 9 % of the least possible loss"),
        (2.0, ""),
        (float("inf"), ""),
        (float("nan"), ""),
        (None, ""),
    ],
)
def test_the_ratio_in_words(ratio, words):
    assert in_words(ratio) == words


def test_the_example_of_the_page():
    """docs/bound.md: ages 20, 21, 22, 30 and k = 2."""
    ages = [20, 21, 22, 30]
    table = Table(np.asarray([[0], [1], [2], [3]], dtype=np.int32), (number_domain("age", ages),))
    assert (10 * row_bounds(table, 2, rounds=0)).tolist() == pytest.approx([1, 1, 1, 8])
    attribute = {"kind": "number", "values": ages, "weight": 1.0}
    assert optimum(table.codes.tolist(), [attribute], 2) * 10 == pytest.approx(18)


def test_rounds_that_raise_it():
    """docs/bound.md: ages 20, 21, 23, 26 and k = 3."""
    ages = [20, 21, 23, 26]
    table = Table(np.asarray([[0], [1], [2], [3]], dtype=np.int32), (number_domain("age", ages),))
    rounds = [(6 * row_bounds(table, 3, rounds=count)).round(9).tolist() for count in range(3)]
    assert rounds[0] == [3, 2, 3, 5]
    assert rounds[1] == [3, 3, 3, 5]
    assert rounds[2] == [3, 3, 3, 5]
    assert 6 * row_bounds(table, 3).sum() == pytest.approx(14)
    assert 14 < 6 * lower_bound(table, 3) < 24
    attribute = {"kind": "number", "values": ages, "weight": 1.0}
    assert 6 * optimum(table.codes.tolist(), [attribute], 3) == pytest.approx(24)
    assert ROUNDS >= 1


def test_a_good_guide_raises_the_bound_and_a_poor_one_does_no_harm():
    table = people(3000)
    raised, alone = row_bounds(table, 10).sum(), lower_bound(table, 10)
    guided = guided_bound(table, 10)
    assert guided > 1.2 * raised
    assert guided > 1.05 * alone
    one = Grouping.of(table.codes, np.zeros(table.rows, dtype=np.int64))
    assert lower_bound(table, 10, guide=lambda: one) >= raised * (1 - 1e-8)
    best = compact.run(table, 10, CompactOptions(effort="balanced"), Run())
    assert guided <= loss_of(table, best)


@pytest.mark.parametrize("k", [3, 12])
def test_more_effort_never_lowers_the_bound_and_threads_do_not_matter(k):
    table = people(800)
    quick, good, best = (guided_bound(table, k, effort=effort) for effort in ("quick", "good", "best"))
    assert quick < good <= best <= loss_of(table, compact.run(table, k, CompactOptions(effort="thorough"), Run()))
    assert guided_bound(table, k, effort="good", threads=2) == good


def ages(*numbers):
    """Return a table of one column, one row for each number."""
    codes = np.arange(len(numbers), dtype=np.int32)[:, None]
    return Table(codes, (number_domain("age", list(numbers)),))


def test_a_pool_that_is_too_large_keeps_what_binds():
    table = ages(20, 21, 22, 30)
    index = build_index(table)
    boxes = [(0, 1), (1, 2), (2, 3), (3, 3)]
    pool = Pool(*np.asarray(boxes, dtype=np.int32).T[:, :, None].copy())
    prices = np.empty(4)
    prices[index.nodes.position] = [0.0, 0.1, 0.1, 0.5]
    whole, listed = pool.listed(index, prices, k=2)
    assert whole.lo.ravel().tolist() == [0, 1, 2]  # one row alone limits nothing
    assert listed.start.tolist() == [0, 2, 4, 6]
    assert listed.costs.tolist() == pytest.approx([0.1, 0.1, 0.8])
    half, listed = pool.listed(index, prices, k=2, entries=5, threads=2)
    assert half.hi.ravel().tolist() == [1, 2]
    assert sorted(table.codes[index.nodes.rows[listed.places], 0].tolist()) == [0, 1, 1, 2]


def test_a_pool_holds_each_box_once_and_as_wide_as_its_cost_allows():
    table = people(300)
    index = build_index(table)
    lo, hi = table.codes[:50], table.codes[50:100]
    pool = Pool(np.minimum(lo, hi), np.maximum(lo, hi))
    once = Pool.empty(table.attributes).joined(index, pool)
    twice = once.joined(index, pool)
    assert (once.lo.tolist(), once.hi.tolist()) == (twice.lo.tolist(), twice.hi.tolist())
    assert 0 < len(once.lo) <= 50
    wider = (once.lo[:, None] <= pool.lo).all(axis=2) & (once.hi[:, None] >= pool.hi).all(axis=2)
    costs = box_costs(index.costs, pool.lo, pool.hi)
    of_wider = np.where(wider, box_costs(index.costs, once.lo, once.hi)[:, None], np.inf).min(axis=0)
    assert of_wider.tolist() == costs.tolist()


def test_seconds_end_the_search():
    table = Table(np.asarray([[0], [1], [2], [3]], dtype=np.int32), (number_domain("age", [20, 21, 22, 30]),))
    assert 11 <= 10 * guided_bound(table, 2, effort="0.1") <= 18


@pytest.mark.parametrize("effort", ["slow", "", "-1", "1e"])
def test_an_effort_is_a_word_or_a_number(effort):
    with pytest.raises(ConfigError, match="bound_effort: must be quick, good, best or a number of seconds"):
        Config(quasi=["age"], bound_effort=effort)
