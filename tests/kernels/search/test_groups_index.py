"""The tree over boxes finds what looking at every group finds, ties included, while groups grow and leave."""

import numpy as np
import pytest
from doors import door
from tables import number_domain, tree_domain

from coterie.grouping.box_index import build_box_index
from coterie.kernels.search import groups_index as box_index
from coterie.kernels.search.costs import box_costs
from coterie.kernels.search.groups_index import ADDED, MANY, WHOLE, nearest
from coterie.kernels.search.walk import new_walk
from coterie.table.table import Table

empty, grow = door(box_index.empty), door(box_index.grow)
PARENTS = [None, 0, 1, 1, 1, 0, 5, 5, 0]
LEAVES = [2, 3, 4, 6, 7, 8]


def random_groups(seed, *, groups, large=False):
    """Costs, boxes, sizes and lowest rows of random groups; coarse numbers, so that many are equally near."""
    rng = np.random.default_rng(seed)
    values = list(range(700)) if large else [0, 1, 2, 4, 8, 16]
    domains = (number_domain("a", values), tree_domain("b", PARENTS, LEAVES), number_domain("c", [0, 1, 2], weight=0.5))
    sizes = np.array([domain.size for domain in domains])
    ends = np.sort(rng.integers(0, sizes[:, None], (groups, 3, 2)), axis=2)
    points = rng.random(groups) < 0.5
    ends[points, :, 1] = ends[points, :, 0]
    table = Table(np.zeros((1, 3), dtype=np.int32), domains)
    boxes = ends.astype(np.int32)
    lowest = rng.permutation(groups).astype(np.int32)
    return table.costs, boxes[:, :, 0].copy(), boxes[:, :, 1].copy(), rng.integers(1, 9, groups), lowest


def brute_force(tree, costs, slot, compare, cap, stub):
    """The nearest slot and what it costs, by looking at all."""
    others = [other for other in np.flatnonzero(tree.size) if other != slot]
    if not others:
        return -1, np.inf
    joined = box_costs(costs, np.minimum(tree.lo[slot], tree.lo[others]), np.maximum(tree.hi[slot], tree.hi[others]))
    n1, c1 = tree.size[slot], tree.cost[slot]
    sizes, own = tree.size[others], tree.cost[others]
    if compare == WHOLE:
        values = (n1 + sizes) * joined
    else:
        values = n1 * (joined - c1) + np.where(sizes < cap, sizes, stub) * (joined - own)
    best = min(range(len(others)), key=lambda i: (values[i], tree.lowest[others[i]]))
    return others[best], values[best]


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize(("compare", "cap", "stub"), [(ADDED, MANY, MANY), (ADDED, 6, 2), (WHOLE, MANY, MANY)])
def test_nearest_is_exact_while_groups_merge(compare, cap, stub, large):
    costs, lo, hi, sizes, lowest = random_groups(5, groups=400, large=large)
    tree = build_box_index(costs, lo=lo, hi=hi, sizes=sizes, lowest=lowest).nodes
    walk = new_walk()
    for slot in np.random.default_rng(6).permutation(400):
        if tree.size[slot] == 0:
            continue
        found = nearest(tree, costs, slot, compare, np.int64(cap), np.int64(stub), walk)
        assert found == brute_force(tree, costs, slot, compare, cap, stub)
        if found[0] >= 0 and slot % 4:  # most of them merge
            rows, low = tree.size[slot] + tree.size[found[0]], np.int64(min(tree.lowest[slot], tree.lowest[found[0]]))
            empty(tree, slot)
            grow(tree, costs, found[0], slot, rows, low)
    live = np.flatnonzero(tree.size)
    assert len(live) < 200
    assert tree.size.sum() == sizes.sum()
    assert tree.node_lo[0].tolist() == tree.lo[live].max(axis=0).tolist()
    assert tree.node_hi[0].tolist() == tree.hi[live].min(axis=0).tolist()


def test_many_boxes_that_are_all_alike():
    costs, lo, hi, _, _ = random_groups(1, groups=1)
    lo, hi = np.repeat(lo, 1000, axis=0), np.repeat(hi, 1000, axis=0)
    lowest = np.arange(1000, dtype=np.int32)
    index = build_box_index(costs, lo=lo, hi=hi, sizes=np.ones(1000, dtype=np.int64), lowest=lowest)
    np.testing.assert_array_equal(index.group[index.slot], np.arange(1000))
    walk = new_walk()
    slot, cost = nearest(index.nodes, costs, np.int64(index.slot[0]), ADDED, MANY, MANY, walk)
    assert (index.group[slot], cost) == (1, 0)


def test_the_only_group_has_no_nearest():
    costs, lo, hi, sizes, lowest = random_groups(2, groups=1)
    tree = build_box_index(costs, lo=lo, hi=hi, sizes=sizes, lowest=lowest).nodes
    walk = new_walk()
    assert nearest(tree, costs, np.int64(0), WHOLE, MANY, MANY, walk) == (-1, np.inf)
