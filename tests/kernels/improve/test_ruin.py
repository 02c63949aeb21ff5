"""Ruin and recreate, step by step: the state is recomputed from its rows after every pool, by a slow twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import naive_costs, naive_search
from tables import tables

from coterie.grouping.index import build_index
from coterie.grouping.refine import attribute_scales
from coterie.grouping.regions import cut_into_regions
from coterie.kernels.improve.ruin import Regions, Search, ruin_and_recreate
from coterie.kernels.search.growth import rough_costs, rough_scales
from coterie.kernels.search.nearby import NearLists, list_near_places
from coterie.methods import Run

MOST = 60


@st.composite
def states(draw):
    """A table with its plain attributes, k, and groups of at least k rows; some rows are in none."""
    table, plain = draw(tables(min_rows=4, max_rows=30, max_attributes=3, weights=(1.0, 2.0, 0.0)))
    k = draw(st.integers(1, 4))
    order = np.asarray(draw(st.permutations(range(table.rows))), dtype=np.int64)
    kept = order[draw(st.integers(0, table.rows - k)) if draw(st.booleans()) else 0 :]
    labels = np.full(table.rows, -1, dtype=np.int32)
    labels[kept] = np.arange(len(kept)) % draw(st.integers(1, len(kept) // k))
    return table, plain.attributes, k, labels


@settings(max_examples=40)
@given(states(), st.integers(0, 2**32), st.sampled_from([0.0, 0.05]), st.sampled_from([1, 3]))
def test_every_step_keeps_what_it_says(drawn, seed, heat, portion):
    table, attributes, k, labels = drawn
    rows = [tuple(row) for row in table.codes.tolist()]

    def cost(j, codes):
        return float(naive_costs.cost(attributes[j], codes))

    index = build_index(table)
    places = len(index.nodes.points)
    near = NearLists(np.empty((places, 9), dtype=np.int32), np.zeros(places, dtype=np.int32))
    list_near_places(index.nodes, index.costs, 0, places, near)
    rng = np.random.default_rng(seed)
    cut = cut_into_regions(table, index.costs, labels, k=k, most=MOST, rows=12, rng=rng)
    groups = cut.groups
    scales = rough_scales(attribute_scales(table.attributes, Run()))
    search = Search(k, rough_costs(index.costs), scales, portion, 6, MOST, 1.3, heat, heat)
    region = [np.searchsorted(cut.base, label, side="right") - 1 for label in groups.labels]
    now = naive_search.loss(rows, groups.labels.tolist(), cost)
    for _ in range(12):
        draws = rng.integers(0, 2**63, size=len(cut.held), dtype=np.uint64)
        for b in range(len(cut.held)):
            tries = np.ones(len(cut.held), dtype=np.int64)
            regions = Regions(cut.base, cut.starts, cut.rows, tries, draws)
            helped = ruin_and_recreate(index.nodes, index.costs, groups, near, search, regions, b, b + 1)
            lists = naive_search.chains(groups.first.tolist(), groups.follower.tolist())
            after = naive_search.loss(rows, groups.labels.tolist(), cost)
            if helped == 0:
                assert after == pytest.approx(now)
            if heat == 0.0:
                assert after <= now + 1e-9
            now = after
            for group, members in lists.items():
                assert sorted(members) == np.flatnonzero(groups.labels == group).tolist()
                assert groups.sizes[group] == len(members)
                assert not members or len(members) >= k
                if members:
                    alone = naive_search.box_cost([rows[row] for row in members], cost)
                    assert groups.costs[group] == pytest.approx(alone, abs=1e-9)
            again = [np.searchsorted(cut.base, label, side="right") - 1 for label in groups.labels]
            assert again == region, "no row leaves its region"
    assert ((groups.labels < 0) == (labels < 0)).all()
