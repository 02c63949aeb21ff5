"""The helper itself: both descriptions of a drawn table must say the same about costs."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from oracles.naive_costs import group_cost
from tables import tables

from coterie.boxes import Grouping
from coterie.costs import Measure
from coterie.kernels.costs import box_costs

MEASURES = [
    {"name": "ncp"},
    {"name": "ncp", "leaf_counts": "hierarchy"},
    {"name": "height"},
    {"name": "whd"},
    {"name": "whd", "beta": 1.5},
    {"name": "whd", "level_weights": tuple(1.0 + (7 * i) % 5 for i in range(20))},
]


@given(tables(max_rows=20), st.data(), st.sampled_from(MEASURES))
def test_costs_of_groups_are_the_same_to_the_last_bit(drawn, data, measure):
    labels = data.draw(st.lists(st.integers(0, 4), min_size=len(drawn.rows), max_size=len(drawn.rows)))
    grouping = Grouping.of(drawn.table.codes, labels)
    fast = box_costs(drawn.table.costs_of(Measure(**measure)), grouping.lo, grouping.hi)
    for group, cost in enumerate(fast):
        rows = [drawn.rows[row] for row in np.flatnonzero(grouping.labels == group)]
        assert cost == group_cost(drawn.domains, rows, measure)
