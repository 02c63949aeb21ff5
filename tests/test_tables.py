"""The helper itself: a drawn table and its plain twin must say the same about costs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.naive_costs import box_cost
from tables import tables

from coterie.kernels.search.costs import box_costs
from coterie.table.costs import Measure
from coterie.table.grouping import Grouping

OWN = (3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0, 5.0, 8.0, 9.0, 7.0, 9.0)


@pytest.mark.parametrize(
    ("measure", "weights"),
    [
        (Measure("ncp"), None),
        (Measure("ncp", "hierarchy"), None),
        (Measure("height"), None),
        (Measure("whd"), None),
        (Measure("whd", beta=1.0), lambda height: [1 / step for step in range(1, height + 1)]),
        (Measure("whd", beta=2.0), lambda height: [1 / step**2 for step in range(1, height + 1)]),
        (Measure("whd", level_weights=OWN), lambda height: OWN[:height]),
    ],
    ids=["ncp", "ncp-hierarchy", "height", "whd", "whd-beta-1", "whd-beta-2", "whd-own"],
)
@given(tables(max_rows=20), st.data())
def test_costs_of_groups_are_the_same_to_the_last_bit(measure, weights, drawn, data):
    table, plain = drawn
    labels = data.draw(st.lists(st.integers(0, 4), min_size=table.rows, max_size=table.rows))
    grouping = Grouping.of(table.codes, labels)
    fast = box_costs(table.costs_of(measure), grouping.lo, grouping.hi)
    for group, cost in enumerate(fast):
        rows = [plain.rows[row] for row in np.flatnonzero(grouping.labels == group)]
        assert cost == box_cost(plain.attributes, rows, measure.name, measure.leaf_counts, weights)
