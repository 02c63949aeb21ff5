"""The order of rows: running bounds against a plain twin, on sorted and on shuffled tables."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.disclosure import order
from coterie.disclosure.order import Bounds, running_bounds

PAIRS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), min_size=1, max_size=12)


@given(pairs=PAIRS)
def test_running_bounds_are_those_of_every_sorted_choice(pairs):
    low = np.array([one for one, _ in pairs])
    high = low + np.array([more for _, more in pairs])
    found = running_bounds(Bounds(low, high))
    plain = [(max(low[: at + 1]), min(high[at:])) for at in range(len(low))]
    assert list(zip(*found, strict=True)) == plain


def order_leaks(table, *, quasi, k, pieces=1):
    """The leaks of a table that is read in pieces."""

    def read(names):
        size = -(-table.num_rows // pieces)
        return [table.select(list(names)).slice(start, size) for start in range(0, table.num_rows, size)]

    return order.order_leaks((lambda _names: [table]) if pieces == 1 else read, table.column_names, quasi=quasi, k=k)


@given(pairs=PAIRS, descending=st.booleans(), k=st.integers(1, 4), pieces=st.integers(2, 5))
def test_leaks_are_those_of_a_plain_twin_however_the_rows_are_cut(pairs, descending, k, pieces):
    rows = sorted((low, low + more) for low, more in pairs)
    low = np.maximum.accumulate([one for one, _ in rows])
    cells = [f"[{one}-{max(one, two)}]" for one, (_, two) in zip(low, rows, strict=True)]
    cells = cells[::-1] if descending else cells
    table = pa.table({"age": cells, "sex": ["f", "m", "m"] * (len(cells) // 3) + ["f"] * (len(cells) % 3)})
    found = order_leaks(table, quasi=["age", "sex"], k=k)
    assert found == order_leaks(table, quasi=["age", "sex"], k=k, pieces=pieces)
    for leak in found:
        ends = [tuple(map(int, cell[1:-1].split("-"))) for cell in cells]
        ends = ends[::-1] if leak.descending else ends
        left = [(max(e[0] for e in ends[: at + 1]), min(e[1] for e in ends[at:])) for at in range(len(ends))]
        left = left[::-1] if leak.descending else left
        keys = list(zip(left, cells, table.column("sex").to_pylist(), strict=True))
        assert leak.below == sum(1 for key in keys if keys.count(key) < k)
        assert leak.exact_after == pytest.approx(np.mean([one == two for one, two in left]))


def groups(ages, size=10):
    """Ages in their order, published by groups of neighbours that overlap."""
    rng = np.random.default_rng(0)
    order = np.argsort(ages + rng.normal(0, 6, len(ages)), kind="stable")
    cells = np.empty(len(ages), dtype=object)
    for start in range(0, len(ages), size):
        rows = order[start : start + size]
        cells[rows] = f"[{ages[rows].min()}-{ages[rows].max()}]"
    return cells.tolist()


@pytest.mark.parametrize("descending", [False, True])
def test_sorted_rows_give_values_away(descending):
    ages = np.sort(np.random.default_rng(1).integers(17, 90, 400))
    ages = ages[::-1] if descending else ages
    table = pa.table({"age": groups(ages), "sex": ["f", "m"] * 200})
    (leak,) = order_leaks(table, quasi=["age", "sex"], k=10)
    assert (leak.column, leak.descending) == ("age", descending)
    assert leak.narrowed > 0.9
    assert leak.exact_after > leak.exact_before + 0.03
    assert leak.below > 0
    shuffled = table.take(np.random.default_rng(2).permutation(400))
    assert order_leaks(shuffled, quasi=["age", "sex"], k=10) == ()


def test_what_could_be_in_any_order_says_nothing():
    table = pa.table({"age": ["[1-9]", "[3-12]", "*", "[2-9]"], "city": ["a", "b", "c", "d"]})
    assert order_leaks(table, quasi=["age", "city"], k=2) == ()


def test_bounds_and_dates_are_read_too():
    table = pa.table({"age_min": [1, 1, 5, 5, 9, 9] * 1, "age_max": [4, 4, 8, 8, 12, 12], "s": ["x"] * 6})
    assert order_leaks(table, quasi=["age", "s"], k=2)[0].narrowed == 0
    days = [f"[2020-01-0{at}, 2020-01-0{at + 3}]" for at in range(1, 7)]
    found = order_leaks(pa.table({"day": days}), quasi=["day"], k=2)
    assert found == () or found[0].column == "day"
