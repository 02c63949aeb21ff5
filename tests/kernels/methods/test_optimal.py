"""The search for groups of the exact method, against all multisets of rows."""

from itertools import combinations_with_replacement

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from oracles.naive_costs import box_cost
from tables import tables

from coterie.grouping.bound import row_bounds
from coterie.kernels.methods.optimal import Priced, groups_below


@given(tables(min_rows=3, max_rows=7, max_attributes=3), st.integers(2, 3), st.data())
def test_groups_below_are_all_of_them(drawn, k, data):
    table, plain = drawn
    distinct = table.distinct
    m, copies = len(distinct), distinct.counts.tolist()
    price = st.floats(-1, 4).map(lambda value: round(value, 3))
    prices = np.array(sorted(data.draw(st.lists(price, min_size=m, max_size=m)), reverse=True))
    limit = data.draw(st.sampled_from([-0.5, -0.1, 0.3, 1.05, 50.0])) + 1e-9  # beside sums of prices, not on them
    floors = row_bounds(table, k)[distinct.first_row] if table.rows >= k else np.zeros(m)
    expected = {}
    for size in range(k, 2 * k):
        for group in combinations_with_replacement(range(m), size):
            if all(group.count(kind) <= copies[kind] for kind in group):
                rows = [plain.rows[distinct.first_row[kind]] for kind in group]
                loss = size * box_cost(plain.attributes, rows)
                if abs(loss - prices[list(group)].sum() - limit) < 1e-7:
                    return  # too close to call
                if loss - prices[list(group)].sum() <= limit:
                    expected[group] = loss
    members = np.empty((5000, 2 * k - 1), dtype=np.int32)
    losses = np.empty(5000)
    rows = Priced(distinct.codes, distinct.counts, np.ascontiguousarray(floors), prices)
    arguments = [table.costs, rows, k, limit]
    found = groups_below(*arguments, 5001, 10**9, members, losses)
    made = {tuple(row[row >= 0].tolist()): loss for row, loss in zip(members[:found], losses[:found], strict=True)}
    assert found == len(made)
    assert made.keys() == expected.keys()
    np.testing.assert_allclose([made[group] for group in expected], list(expected.values()), atol=1e-9)
    few = groups_below(*arguments, 1, 10**9, members, losses)
    assert few == len({group[0] for group in expected})
    assert groups_below(*arguments, 5001, 0, members, losses) == -1
