"""The loops of the repair against all pairs, all exchanges and all cuts, tried one by one."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tables import tables

from coterie.grouping.box_index import build_box_index
from coterie.grouping.index import build_index
from coterie.kernels.improve.split import BELOW, EVEN, KINDS, UP_TO, cut_losses, cut_rows
from coterie.kernels.repair import ABSENT, RARE, Groups, Limits, choose, exchanges, nearest_groups
from coterie.table.costs import interval_costs
from coterie.table.grouping import Grouping


@st.composite
def grouped_tables(draw):
    table, _ = draw(tables(min_rows=2, max_rows=24))
    labels = draw(st.lists(st.integers(0, 5), min_size=table.rows, max_size=table.rows))
    return table, Grouping.of(table.codes, labels)


def loss(table, rows):
    """Summed cost of rows as one group."""
    if not len(rows):
        return 0.0
    lo, hi = table.codes[rows].min(axis=0), table.codes[rows].max(axis=0)
    each = [
        domain.weight * interval_costs(domain, lo[j : j + 1], hi[j : j + 1])[0]
        for j, domain in enumerate(table.domains)
    ]
    return len(rows) * sum(each)


@given(grouped_tables(), st.integers(1, 8))
def test_nearest_groups_are_those_of_all_pairs(made, most):
    table, grouping = made
    groups = [np.flatnonzero(grouping.labels == g) for g in range(grouping.groups)]
    numbers = np.arange(grouping.groups, dtype=np.int32)
    index = build_box_index(table.costs, lo=grouping.lo, hi=grouping.hi, sizes=grouping.sizes, lowest=numbers)
    partners, rises = nearest_groups(table.costs, index.nodes, index.slot[numbers], most)
    for g, own in enumerate(groups):
        pairs = [
            (loss(table, np.append(own, other)) - loss(table, own) - loss(table, other), h)
            for h, other in enumerate(groups)
            if h != g
        ]
        expected = sorted(rise for rise, _ in pairs)[:most]
        found = partners[g][partners[g] >= 0]
        assert len(set(found)) == len(found) == len(expected)
        assert rises[g][: len(found)] == pytest.approx(expected)
        assert [{h: rise for rise, h in pairs}[h] for h in found] == pytest.approx(expected)
        same = np.diff(rises[g][: len(found)]) == 0
        assert (np.diff(found)[same] > 0).all()  # ties by number


@given(grouped_tables(), st.data())
def test_exchanges_are_the_cheapest_of_all(made, data):
    table, grouping = made
    values = np.array(data.draw(st.lists(st.integers(0, 3), min_size=table.rows, max_size=table.rows)), dtype=np.int32)
    need, k = data.draw(st.sampled_from([ABSENT, RARE])), data.draw(st.integers(1, 3))
    sound = np.array(data.draw(st.lists(st.booleans(), min_size=grouping.groups, max_size=grouping.groups)))
    groups = [np.flatnonzero(grouping.labels == g) for g in range(grouping.groups)]
    cost = np.array([loss(table, rows) / len(rows) for rows in groups])
    starts = np.concatenate([[0], np.cumsum(grouping.sizes)]).astype(np.int64)
    members = np.argsort(grouping.labels, kind="stable").astype(np.int32)
    asked = np.arange(grouping.groups, dtype=np.int32)
    rules = np.column_stack([np.zeros(len(asked)), np.full(len(asked), need)]).astype(np.int32)
    current = Groups(grouping.labels, grouping.lo, grouping.hi, grouping.sizes, cost, starts, members, sound)
    nodes, limits = build_index(table).nodes, Limits(k, 4, table.rows, 500)
    options, rises = exchanges(nodes, table.costs, table.codes, current, values[None, :], asked, rules, limits)
    for g, own in enumerate(groups):
        expected = all_exchanges(table, groups, values, sound, g, need, k)
        found = {
            (int(comes), int(goes)): rise
            for (comes, goes), rise in zip(options[g], rises[g], strict=True)
            if comes >= 0
        }
        assert found.keys() == expected.keys()
        assert {pair: found[pair] for pair in expected} == pytest.approx(expected, abs=1e-9)
        assert (np.diff(rises[g][: len(found)]) >= 0).all()
        assert len(own)


def all_exchanges(table, groups, values, sound, g, need, k):
    """(row that comes, row that goes or −1) → rise of the total loss."""
    own = groups[g]
    tally = Counter(values[own].tolist())
    largest = max(tally.values())
    made = {}
    for h, other in enumerate(groups):
        if h == g or not sound[h]:
            continue
        before = loss(table, own) + loss(table, other)
        for comes in other:
            if tally[values[comes]] >= (1 if need == ABSENT else largest):
                continue
            rest = other[other != comes]
            if len(other) > k:
                made[int(comes), -1] = loss(table, np.append(own, comes)) + loss(table, rest) - before
            for goes in own:
                if tally[values[goes]] >= (2 if need == ABSENT else largest):
                    after = loss(table, np.append(own[own != goes], comes)) + loss(table, np.append(rest, goes))
                    made[int(comes), int(goes)] = after - before
    return made


@given(grouped_tables(), st.data())
def test_cuts_are_at_medians(made, data):
    table, grouping = made
    strata = np.array(data.draw(st.lists(st.integers(0, 2), min_size=table.rows, max_size=table.rows)), dtype=np.int64)
    k = data.draw(st.integers(1, 3))
    starts = np.concatenate([[0], np.cumsum(grouping.sizes)]).astype(np.int64)
    members = np.lexsort((strata, grouping.labels)).astype(np.int32)
    losses = cut_losses(table.costs, table.codes, strata, starts, members, k)
    for cut in range(table.attributes * KINDS):
        chosen = np.full(grouping.groups, cut, dtype=np.int32)
        left = cut_rows(table.codes, strata, starts, members, chosen)
        attribute, kind = divmod(cut, KINDS)
        for g in range(grouping.groups):
            rows, side = members[starts[g] : starts[g + 1]], left[starts[g] : starts[g + 1]]
            check_cut(table.codes[rows, attribute], strata[rows], side, kind)
            few = min(side.sum(), (~side).sum()) < k or len(set(table.codes[rows, attribute])) == 1
            expected = np.inf if few else loss(table, rows[side]) + loss(table, rows[~side])
            assert losses[g, cut] == pytest.approx(expected)


def check_cut(codes, strata, left, kind):
    """Whether the left part is what the kind of cut says."""
    middle = sorted(codes)[len(codes) // 2]
    if kind == UP_TO:
        assert (left == (codes <= middle)).all()
    elif kind == BELOW:
        assert (left == (codes < middle)).all()
    else:
        assert kind == EVEN
        for stratum in set(strata):
            inside = strata == stratum
            assert abs(int(left[inside].sum()) - int((~left[inside]).sum())) <= 1
            if left[inside].any() and not left[inside].all():
                assert codes[inside & left].max() <= codes[inside & ~left].min()
        assert abs(int(left.sum()) - int((~left).sum())) <= 1


def test_options_are_taken_once_per_group():
    first = np.array([0, 1, 2, 4, 0], dtype=np.int32)
    second = np.array([1, 2, 3, 5, 6], dtype=np.int32)
    assert choose(first, second, 7).tolist() == [True, False, True, True, False]
