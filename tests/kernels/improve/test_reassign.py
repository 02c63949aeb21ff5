"""Assigning rows anew to fixed boxes, compared with all assignments."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles import naive_search
from search_states import MOST, check, new_open, plain_cost, regions_of, states
from tables import tree_domain

from coterie.grouping.index import build_index
from coterie.grouping.regions import cut_into_regions
from coterie.kernels.improve.reassign import reassign
from coterie.kernels.improve.ruin import Regions
from coterie.table.table import Table


def reassigned(table, labels, k, region_rows):
    """The regions before, and their groups after; how many chains that took."""
    index, rng = build_index(table), np.random.default_rng(0)
    cut = cut_into_regions(table, index.costs, labels, k=k, most=MOST, rows=region_rows, rng=rng)
    before, none = cut.groups.labels.copy(), np.zeros(len(cut.held), dtype=np.int64)
    regions = Regions(cut.base, cut.starts, cut.rows, none, none.astype(np.uint64))
    opened = new_open(table, len(cut.groups.sizes))
    chains = reassign(index.nodes, index.costs, cut.groups, opened, k, regions, 0, len(cut.held))
    return cut, before, chains


@settings(max_examples=200)
@given(states(weights=(1.0, 2.0)))
def test_no_assignment_to_the_same_boxes_loses_less(drawn):
    table, attributes, k, labels = drawn
    rows, cost = [tuple(row) for row in table.codes.tolist()], plain_cost(attributes)
    assume(labels.max() < 4)  # there are very many assignments
    cut, before, chains = reassigned(table, labels, k, 999)
    assume(len(cut.held) == 1)
    kept = np.flatnonzero(before >= 0)
    own, was = [rows[row] for row in kept], before[kept].tolist()
    members = {group: [row for row, label in zip(own, was, strict=True) if label == group] for group in set(was)}
    new = cut.groups.labels[kept].tolist()
    assert all(naive_search.holds(members[label], row, cost) for row, label in zip(own, new, strict=True))
    found = sum(naive_search.box_cost(members[label], cost) for label in new)
    assert found == pytest.approx(naive_search.least_assigned(own, was, k, cost), abs=1e-7)
    assert (chains > 0) == (new != was)


@settings(max_examples=60)
@given(states(), st.sampled_from([12, 999]))
def test_the_groups_stay_whole_and_no_row_leaves_its_region(drawn, region_rows):
    table, attributes, k, labels = drawn
    rows, cost = [tuple(row) for row in table.codes.tolist()], plain_cost(attributes)
    cut, before, _ = reassigned(table, labels, k, region_rows)
    check(cut.groups, rows, k, cost)
    assert regions_of(cut.base, cut.groups.labels) == regions_of(cut.base, before)
    loss = [naive_search.loss(rows, each.tolist(), cost) for each in (cut.groups.labels, before)]
    assert loss[0] <= loss[1] + 1e-9


def test_a_group_without_a_row_to_spare_is_refilled_by_another():
    """The third 0 belongs with the other two; its group gets a row from the third one, which has three.

    The tree has (0 1), (2 3) and 4 under its root; the groups are {0 0}, {0 2} and {2 2 3}.
    """
    tree = tree_domain("a", [None, 0, 1, 1, 0, 4, 4, 0], [2, 3, 5, 6, 7])
    table = Table(np.asarray([[0], [0], [0], [2], [2], [2], [3]], dtype=np.int32), (tree,))
    labels = np.asarray([0, 0, 1, 1, 2, 2, 2], dtype=np.int32)
    cut, before, chains = reassigned(table, labels, 2, 999)
    first, second, third = (before[row] for row in (0, 3, 6))
    assert chains == 1
    assert cut.groups.labels[2] == first
    assert cut.groups.sizes[[first, second, third]].tolist() == [3, 2, 2]
    assert cut.groups.costs[first] == 0
