"""Ruin and recreate, step by step: the state is recomputed from its rows after every pool, by a slow twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import naive_search
from search_states import MOST, check, plain_cost, regions_of, states

from coterie.grouping.index import build_index
from coterie.grouping.refine import attribute_scales
from coterie.grouping.regions import cut_into_regions
from coterie.kernels.improve.ruin import Regions, Search, ruin_and_recreate
from coterie.kernels.search.growth import rough_costs, rough_scales
from coterie.kernels.search.nearby import NearLists, list_near_places
from coterie.methods import Run


@settings(max_examples=40)
@given(states(), st.integers(0, 2**32), st.sampled_from([0.0, 0.05]), st.sampled_from([1, 3]))
def test_every_step_keeps_what_it_says(drawn, seed, heat, portion):
    table, attributes, k, labels = drawn
    rows = [tuple(row) for row in table.codes.tolist()]
    cost = plain_cost(attributes)
    index = build_index(table)
    places = len(index.nodes.points)
    near = NearLists(np.empty((places, 9), dtype=np.int32), np.zeros(places, dtype=np.int32))
    list_near_places(index.nodes, index.costs, 0, places, near)
    rng = np.random.default_rng(seed)
    cut = cut_into_regions(table, index.costs, labels, k=k, most=MOST, rows=12, rng=rng)
    groups = cut.groups
    scales = rough_scales(attribute_scales(table.attributes, Run()))
    search = Search(k, rough_costs(index.costs), scales, portion, 6, MOST, 1.3, heat, heat)
    region = regions_of(cut.base, groups.labels)
    now = naive_search.loss(rows, groups.labels.tolist(), cost)
    for _ in range(12):
        draws = rng.integers(0, 2**63, size=len(cut.held), dtype=np.uint64)
        for b in range(len(cut.held)):
            tries = np.ones(len(cut.held), dtype=np.int64)
            regions = Regions(cut.base, cut.starts, cut.rows, tries, draws)
            helped = ruin_and_recreate(index.nodes, index.costs, groups, near, search, regions, b, b + 1)
            after = naive_search.loss(rows, groups.labels.tolist(), cost)
            if helped == 0:
                assert after == pytest.approx(now)
            if heat == 0.0:
                assert after <= now + 1e-9
            now = after
            check(groups, rows, k, cost)
            again = regions_of(cut.base, groups.labels)
            assert again == region, "no row leaves its region"
    assert ((groups.labels < 0) == (labels < 0)).all()
