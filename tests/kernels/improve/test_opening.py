"""Opening boxes, step by step: the state is recomputed from its rows after every try, by a slow twin."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import naive_search
from search_states import MOST, check, new_open, plain_cost, regions_of, states
from tables import tree_domain

from coterie.grouping.index import build_index
from coterie.grouping.refine import attribute_scales
from coterie.grouping.regions import cut_into_regions
from coterie.kernels.improve.opening import open_boxes
from coterie.kernels.improve.ruin import Regions, Search
from coterie.kernels.search.growth import rough_costs, rough_scales
from coterie.methods import Run
from coterie.table.table import Table


@settings(max_examples=60)
@given(states(), st.integers(0, 2**32), st.sampled_from([0.0, 0.5]), st.sampled_from([12, 100]))
def test_every_step_keeps_what_it_says(drawn, seed, heat, region_rows):
    table, attributes, k, labels = drawn
    rows, cost = [tuple(row) for row in table.codes.tolist()], plain_cost(attributes)
    index = build_index(table)
    rng = np.random.default_rng(seed)
    cut = cut_into_regions(table, index.costs, labels, k=k, most=MOST, rows=region_rows, rng=rng)
    groups = cut.groups
    scales = rough_scales(attribute_scales(table.attributes, Run()))
    search = Search(k, rough_costs(index.costs), scales, 1, 6, MOST, 1.3, heat, heat)
    opened, region = new_open(table, len(groups.sizes)), regions_of(cut.base, groups.labels)
    now = naive_search.loss(rows, groups.labels.tolist(), cost)
    draws = rng.integers(0, 2**63, size=len(cut.held), dtype=np.uint64)
    for _ in range(20):
        for b in range(len(cut.held)):
            before = groups.labels.copy()
            regions = Regions(cut.base, cut.starts, cut.rows, np.ones(len(cut.held), dtype=np.int64), draws)
            helped = open_boxes(index.nodes, index.costs, groups, opened, search, regions, b, b + 1)
            after = naive_search.loss(rows, groups.labels.tolist(), cost)
            if helped == 0:
                assert groups.labels.tolist() == before.tolist()
            if heat == 0.0:
                assert after <= now + 1e-9
                assert helped == 0 or after < now
            now = after
            check(groups, rows, k, cost)
            assert regions_of(cut.base, groups.labels) == region, "no row leaves its region"
    assert ((groups.labels < 0) == (labels < 0)).all()


def opened_labels(codes, labels, k, leaves):
    """Row → group after opening boxes in one region, never to a higher loss."""
    flat = [tree_domain(f"a{at}", [None] + [0] * leaves, range(1, leaves + 1)) for at in range(len(codes[0]))]
    table = Table(np.asarray(codes, dtype=np.int32), tuple(flat))
    index, rng = build_index(table), np.random.default_rng(0)
    cut = cut_into_regions(table, index.costs, np.asarray(labels, dtype=np.int32), k=k, most=MOST, rows=999, rng=rng)
    scales = rough_scales(attribute_scales(table.attributes, Run()))
    search = Search(k, rough_costs(index.costs), scales, 1, 6, MOST, 1.3, 0.0, 0.0)
    regions = Regions(cut.base, cut.starts, cut.rows, np.asarray([400]), np.asarray([7], dtype=np.uint64))
    helped = open_boxes(
        index.nodes, index.costs, cut.groups, new_open(table, len(cut.groups.sizes)), search, regions, 0, 1
    )
    return helped, cut.groups.labels.tolist()


def test_a_box_is_opened_for_rows_that_are_scattered_over_many_groups():
    """Each of five groups can spare one row; these five are equal."""
    codes, labels = [], []
    for group in range(5):
        codes += [(group, 0), (group, 1), (group, 0), (group, 1), (5, 2)]
        labels += [group] * 5
    helped, after = opened_labels(codes, labels, 4, 6)
    assert helped
    assert len({after[row] for row in range(4, 25, 5)}) == 1
    assert len({after[row] for row in range(25) if row % 5 != 4} & {after[4]}) == 0


def test_rows_of_a_dissolved_group_go_where_they_cost_nothing_more():
    """Groups {0, 1} and {0, 2} give their 0s to a new one; 1 and 2 join those of their value."""
    helped, after = opened_labels([(0,), (1,), (0,), (2,), (1,), (1,), (2,), (2,)], [0, 0, 1, 1, 2, 2, 3, 3], 2, 3)
    assert helped == 1
    assert len({after[0], after[2]}) == len({after[1], after[4], after[5]}) == len({after[3], after[6], after[7]}) == 1
    assert len(set(after)) == 3


def test_a_row_that_no_other_box_holds_keeps_its_group():
    """Nobody else has a 3: a group with it cannot be dissolved, so the two 0s stay apart."""
    labels = [0, 0, 1, 1, 2, 2]
    assert opened_labels([(0,), (3,), (0,), (2,), (2,), (2,)], labels, 2, 4)[0] == 0
