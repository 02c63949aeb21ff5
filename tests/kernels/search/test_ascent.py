"""Prices on a pool of boxes, against all sets of k rows in each of them."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.kernels.search.ascent import Pool, ascend, box_slacks

CLOSE = 1e-9


@st.composite
def pools(draw):
    """A few boxes over a few places, each with at least k rows: the pool, place → rows, prices, k."""
    places, k = draw(st.integers(2, 7)), draw(st.integers(1, 4))
    rows = draw(st.lists(st.integers(1, 3), min_size=places, max_size=places))
    boxes = draw(st.lists(st.sets(st.integers(0, places - 1), min_size=1), min_size=1, max_size=5))
    boxes = [sorted(box) for box in boxes if sum(rows[p] for p in box) >= k]
    costs = draw(st.lists(st.floats(0, 3), min_size=len(boxes), max_size=len(boxes)))
    prices = draw(st.lists(st.floats(-1, 3) | st.sampled_from([0.5, 1.0]), min_size=places, max_size=places))
    start = np.append(0, np.cumsum([len(box) for box in boxes], dtype=np.int64)).astype(np.int64)
    entries = np.asarray([p for box in boxes for p in box], dtype=np.int32)
    return Pool(start, entries, np.asarray(costs, dtype=np.float64)), np.asarray(rows, dtype=np.float64), prices, k


def slack(pool, box, rows, prices, k):
    """The least of cost − mean price over all sets of k rows in a box."""
    places = pool.places[pool.start[box] : pool.start[box + 1]]
    each = [prices[p] for p in places for _ in range(int(rows[p]))]
    return min(pool.costs[box] - sum(group) / k for group in combinations(each, k))


@given(pools())
def test_slacks_are_those_of_the_worst_group(drawn):
    pool, rows, prices, k = drawn
    found = box_slacks(pool, rows, np.asarray(prices), k)
    expected = [slack(pool, box, rows, prices, k) for box in range(len(pool.costs))]
    assert found.tolist() == pytest.approx(expected, abs=CLOSE)


@given(pools(), st.sampled_from([1, 2, 30]))
def test_no_group_in_a_box_of_the_pool_is_violated(drawn, steps):
    pool, rows, prices, k = drawn
    found = ascend(pool, rows, np.asarray(prices), k, steps, 0.03)
    for box in range(len(pool.costs)):
        assert slack(pool, box, rows, found, k) >= -CLOSE
    untouched = np.setdiff1d(np.arange(len(rows)), pool.places)
    assert found[untouched].tolist() == np.asarray(prices)[untouched].tolist()


def test_steps_approach_the_best_prices():
    """A row in two boxes of different cost: only the cheap one limits it. Pairs among 0, 1 and 2: 6 at most."""
    pool = Pool(np.asarray([0, 3, 5]), np.asarray([0, 1, 2, 2, 3], dtype=np.int32), np.asarray([2.0, 5.0]))
    rows, begin = np.ones(4), np.asarray([0.0, 0.0, 0.0, 9.0])
    sums = [ascend(pool, rows, begin, 2, steps, 0.5).sum() for steps in (1, 30, 1000)]
    assert sums[0] <= sums[1] <= sums[2]
    # 0 … 2 share 3 · 2, and 3 may have 10 less what 2 has; 2 is best at 2 or below, where 0 and 1 have 2 each.
    assert sums[2] == pytest.approx(14, rel=0.02)
