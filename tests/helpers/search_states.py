"""Groups in regions as the kernels of the local search take them, and a slow twin that recomputes them."""

import numpy as np
import pytest
from hypothesis import strategies as st
from oracles import naive_costs, naive_search
from tables import tables

from coterie.kernels.improve.opened import Open

MOST = 60


@st.composite
def states(draw, *, weights=(1.0, 2.0, 0.0)):
    """A table with its plain attributes, k, and groups of at least k rows; some rows are in none."""
    table, plain = draw(tables(min_rows=4, max_rows=30, max_attributes=3, weights=weights))
    k = draw(st.integers(1, 4))
    order = np.asarray(draw(st.permutations(range(table.rows))), dtype=np.int64)
    kept = order[draw(st.integers(0, table.rows - k)) if draw(st.booleans()) else 0 :]
    labels = np.full(table.rows, -1, dtype=np.int32)
    labels[kept] = np.arange(len(kept)) % draw(st.integers(1, len(kept) // k))
    return table, plain.attributes, k, labels


def plain_cost(attributes):
    """The cost of some codes of an attribute, by the oracle."""
    return lambda j, codes: float(naive_costs.cost(attributes[j], codes))


def check(groups, rows, k, cost):
    """Compare lists, sizes and costs of groups with what their rows say."""
    for group, members in naive_search.chains(groups.first.tolist(), groups.follower.tolist()).items():
        assert sorted(members) == np.flatnonzero(groups.labels == group).tolist()
        assert groups.sizes[group] == len(members)
        assert not members or len(members) >= k
        if members:
            alone = naive_search.box_cost([rows[row] for row in members], cost)
            assert groups.costs[group] == pytest.approx(alone, abs=1e-9)


def regions_of(base, labels):
    """Row → region."""
    return [np.searchsorted(base, label, side="right") - 1 for label in labels]


def new_open(table, groups):
    """Make room for the boxes of this many groups."""
    shape = (groups, table.attributes)
    boxes = [np.zeros(shape, dtype=np.int32) for _ in range(2)]
    return Open(*boxes, np.empty(table.rows, dtype=np.int32))
