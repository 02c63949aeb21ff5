"""Costs as kernels look them up: equal to the twin's to the last bit, and never falling as boxes grow."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.naive_index import Rows
from tables import tables

import coterie.table.costs
from coterie.kernels import kernel
from coterie.kernels.search.costs import Aimed, aim_all, box_costs, interval_cost, joined_cost, union_cost
from coterie.table.costs import Measure

LIMITS = [512, 3, 0]
MEASURES = [Measure("ncp"), Measure("ncp", "hierarchy"), Measure("height"), Measure("whd")]


@kernel
def _interval_costs(costs, j, lo, hi):
    result = np.empty(lo.shape[0])
    for i in range(lo.shape[0]):
        result[i] = interval_cost(costs, j, lo[i], hi[i])
    return result


@kernel
def _grown(aimed, points):
    """Costs of a box grown to hold each point: through `reach`, and as a union with a box of that point alone."""
    joined = np.empty(points.shape[0])
    union = np.empty(points.shape[0])
    aim_all(aimed)
    for p in range(points.shape[0]):
        joined[p] = joined_cost(aimed, points, p, np.inf)
        union[p] = union_cost(aimed.costs, aimed.lo, aimed.hi, points, points, p, np.inf)
    return joined, union


def costs_of(table, measure, limit):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coterie.table.costs, "TABLE_LIMIT", limit)
        return table.costs_of(measure)


def every_interval(domain):
    lo, hi = np.triu_indices(domain.size)
    return lo.astype(np.int32), hi.astype(np.int32)


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: f"{measure.name}-{measure.leaf_counts}")
@pytest.mark.parametrize("limit", [512, 0])
@given(tables(max_rows=4))
def test_every_interval_costs_what_the_twin_says(limit, measure, drawn):
    table, plain = drawn
    costs = costs_of(table, measure, limit)
    twin = Rows(plain.rows, plain.attributes, measure=measure.name, leaf_counts=measure.leaf_counts)
    for j, domain in enumerate(table.domains):
        lo, hi = every_interval(domain)
        found = _interval_costs(costs, j, lo, hi)
        assert found.tolist() == [
            twin._cost(j, {low, high}) for low, high in zip(lo.tolist(), hi.tolist(), strict=True)
        ]


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: f"{measure.name}-{measure.leaf_counts}")
@given(tables(max_rows=4, weights=(1.0, 0.0, 0.3, 7.0)))
def test_costs_never_fall_when_an_interval_grows(measure, drawn):
    table, _ = drawn
    for limit in LIMITS:
        costs = costs_of(table, measure, limit)
        for j, domain in enumerate(table.domains):
            square = np.zeros((domain.size, domain.size))
            lo, hi = every_interval(domain)
            square[lo, hi] = _interval_costs(costs, j, lo, hi)
            square = np.maximum(square, square.T)  # a lower left that never falls either
            for low in range(domain.size):
                assert (np.diff(square[low, low:]) >= 0).all()
                assert (np.diff(square[: low + 1, low]) <= 0).all()
            assert np.diag(square).max() == 0.0
            assert square.max() <= domain.weight


@pytest.mark.parametrize("limit", LIMITS)
@given(tables(), st.data())
def test_a_box_grown_by_a_row_costs_the_same_however_it_is_looked_up(limit, drawn, data):
    table, _ = drawn
    costs = costs_of(table, Measure(), limit)
    picked = data.draw(st.lists(st.integers(0, table.rows - 1), min_size=1, max_size=3))
    lo, hi = table.codes[picked].min(axis=0), table.codes[picked].max(axis=0)
    joined, union = _grown(Aimed(costs, np.empty(costs.base[-1]), lo, hi), table.codes)
    boxes = box_costs(costs, np.minimum(lo, table.codes), np.maximum(hi, table.codes))
    assert joined.tolist() == union.tolist() == boxes.tolist()
