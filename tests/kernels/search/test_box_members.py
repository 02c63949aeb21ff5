"""The places in boxes against a look at every place, and boxes that cannot be wider at their cost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import tables

import coterie.table.costs
from coterie.grouping.index import build_index
from coterie.kernels.search.box_members import list_members, widen_boxes
from coterie.kernels.search.costs import box_costs
from coterie.table.costs import Measure

WEIGHTS = (1.0, 2.0, 0.5, 0.0)
# Domains of more values than this are not looked up in square tables: none, those of four and more, all.
LIMITS = [512, 3, 0]


def drawn_boxes(index, data):
    """The boxes of pairs of places."""
    place = st.integers(0, len(index.nodes.points) - 1)
    pairs = np.asarray(data.draw(st.lists(st.tuples(place, place), min_size=1, max_size=8)))
    corners = index.nodes.points[pairs]
    return corners.min(axis=1), corners.max(axis=1)


@given(tables(min_rows=2, max_rows=60), st.integers(1, 12), st.data())
def test_members_are_the_places_inside_with_the_highest_prices(drawn, most, data):
    table, _ = drawn
    index = build_index(table)
    points = index.nodes.points
    lo, hi = drawn_boxes(index, data)
    prices = np.asarray([data.draw(st.integers(0, 3)) for _ in points], dtype=np.float64)
    found = list_members(index.nodes, prices, lo, hi, most)
    for box in range(len(lo)):
        inside = np.flatnonzero(((points >= lo[box]) & (points <= hi[box])).all(axis=1)).tolist()
        places = found.places[box, : found.counts[box]].tolist()
        assert len(places) == min(len(inside), most)
        assert len(set(places)) == len(places)
        assert set(places) <= set(inside)
        assert sorted(prices[places], reverse=True) == sorted(prices[inside], reverse=True)[:most]


@pytest.mark.parametrize("limit", LIMITS)
@given(tables(min_rows=2, max_rows=30, weights=WEIGHTS), st.data())
def test_widened_boxes_cost_the_same_and_cannot_be_wider(limit, drawn, data):
    table, _ = drawn
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coterie.table.costs, "TABLE_LIMIT", limit)
        costs = table.costs_of(Measure("ncp"))
    lo, hi = drawn_boxes(build_index(table, costs), data)
    low, high = lo.copy(), hi.copy()
    widen_boxes(costs, low, high)
    assert (low <= lo).all()
    assert (high >= hi).all()
    assert box_costs(costs, low, high).tolist() == box_costs(costs, lo, hi).tolist()
    for j, domain in enumerate(table.domains):
        for ends, limit_of, side in ((low, 0, -1), (high, domain.size - 1, 1)):
            can = np.flatnonzero((low[:, j] < high[:, j]) & (ends[:, j] != limit_of))
            wider = low[can], high[can]
            wider[0 if side < 0 else 1][:, j] += side
            assert (box_costs(costs, *wider) > box_costs(costs, low[can], high[can])).all()
