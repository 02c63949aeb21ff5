"""Local search: lowers the loss of any grouping, keeps what it promises, depends on nothing but its input."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tables import number_domain, tables, tree_domain

from coterie.grouping.refine import Effort, attribute_scales, keeps, refine
from coterie.kernels.search.costs import box_costs
from coterie.methods import Run
from coterie.privacy import LDiversity
from coterie.table.grouping import Grouping
from coterie.table.table import Table

EFFORT = Effort(pools=4)
WEIGHTS = (1.0, 2.0, 0.5, 0.0)


def loss_of(table, grouping):
    return float((grouping.sizes * box_costs(table.costs, grouping.lo, grouping.hi)).sum())


@st.composite
def groupings(draw, min_rows=4, max_rows=30, suppress=True):
    """A table, k, and a grouping of it at random: groups of k rows or more, some rows suppressed."""
    table, _ = draw(tables(min_rows=min_rows, max_rows=max_rows, max_attributes=3, weights=WEIGHTS))
    k = draw(st.integers(1, min(4, table.rows)))
    order = np.asarray(draw(st.permutations(range(table.rows))), dtype=np.int64)
    out = draw(st.integers(0, table.rows - k)) if suppress and draw(st.booleans()) else 0
    kept = order[out:]
    groups = draw(st.integers(1, len(kept) // k))
    labels = np.full(table.rows, -1, dtype=np.int32)
    labels[kept] = np.arange(len(kept)) % groups
    return table, k, Grouping.of(table.codes, labels)


@given(groupings())
def test_the_loss_never_rises_and_k_and_suppression_are_kept(drawn):
    table, k, before = drawn
    after = refine(table, before, k=k, run=Run(), effort=EFFORT)
    assert loss_of(table, after) <= loss_of(table, before) + 1e-9
    assert after.sizes.min() >= k
    assert (after.suppressed == before.suppressed).all()
    assert after.sizes.sum() == (~before.suppressed).sum()


@given(groupings())
def test_threads_change_nothing(drawn):
    table, k, before = drawn
    one = refine(table, before, k=k, run=Run(threads=1), effort=EFFORT)
    four = refine(table, before, k=k, run=Run(threads=4), effort=EFFORT)
    assert one.labels.tolist() == four.labels.tolist()


@settings(max_examples=30)
@given(groupings(min_rows=6, suppress=False), st.data())
def test_models_that_held_still_hold(drawn, data):
    table, k, before = drawn
    values = number_domain("disease", [0, 1, 2])
    cells = data.draw(st.lists(st.integers(0, 2), min_size=table.rows, max_size=table.rows))
    sensitive = np.asarray(cells, dtype=np.int32).reshape(-1, 1)
    table = Table(table.codes, table.domains, sensitive, (values,))
    # Groups that lack two diseases are suppressed at the start: all that are left keep the model.
    poor = [len(set(sensitive[before.labels == group, 0])) < 2 for group in range(before.groups)]
    labels = np.where(np.asarray(poor)[before.labels], -1, before.labels)
    before = Grouping.of(table.codes, labels)
    allowed = keeps(table, (LDiversity(2, on="disease"),), k)
    after = refine(table, before, k=k, run=Run(), effort=EFFORT, allowed=allowed)
    assert loss_of(table, after) <= loss_of(table, before) + 1e-9
    for group in range(after.groups):
        assert len(set(sensitive[after.labels == group, 0])) >= 2
        assert (after.labels == group).sum() >= k


def test_a_group_that_costs_more_than_its_rows_elsewhere_is_given_up():
    """One row at each end of two clumps: no parting of two of the three groups helps."""
    table = Table(np.asarray([[0], [0], [5], [5], [0], [5]], dtype=np.int32), (number_domain("x", list(range(6))),))
    after = refine(table, Grouping.of(table.codes, [0, 0, 1, 1, 2, 2]), k=2, run=Run())
    assert after.labels.tolist() == [0, 0, 1, 1, 0, 1]


def test_a_group_is_not_given_up_where_a_model_would_break():
    values = number_domain("disease", [0, 1])
    table = Table(
        np.asarray([[0], [0], [5], [5], [0], [5]], dtype=np.int32),
        (number_domain("x", list(range(6))),),
        np.asarray([[0], [1], [0], [1], [0], [0]], dtype=np.int32),
        (values,),
    )
    before = Grouping.of(table.codes, [0, 0, 1, 1, 2, 2])

    def allowed(labels, groups):  # whatever group row 2 is in, it has one more row only
        return np.asarray([labels[2] != g or (labels == g).sum() <= 2 for g in groups])

    after = refine(table, before, k=2, run=Run(), allowed=allowed)
    assert after.labels.tolist() == before.labels.tolist()


def test_nothing_is_asked_of_no_models():
    table = Table(np.zeros((4, 1), dtype=np.int32), (number_domain("x", [0, 1]),))
    assert keeps(table, (), 2) is None


def test_it_finds_what_is_plain_to_see():
    """Two clumps, dealt out crosswise: parted anew they cost nothing. A group of both is parted alone."""
    table = Table(np.asarray([[0], [5]] * 4, dtype=np.int32), (number_domain("x", list(range(6))),))
    for labels in ([0, 0, 0, 0, 1, 1, 1, 1], [0] * 8):
        after = refine(table, Grouping.of(table.codes, labels), k=4, run=Run())
        assert after.labels.tolist() == [0, 1] * 4


def test_groups_with_everything_suppressed_stay_so():
    table = Table(np.asarray([[0], [1]], dtype=np.int32), (number_domain("x", [0, 1]),))
    after = refine(table, Grouping.of(table.codes, [-1, -1]), k=2, run=Run())
    assert after.labels.tolist() == [-1, -1]


def test_no_time_left_changes_nothing():
    table = Table(np.asarray([[0], [5]] * 4, dtype=np.int32), (number_domain("x", list(range(6))),))
    before = Grouping.of(table.codes, [0, 0, 0, 0, 1, 1, 1, 1])
    assert refine(table, before, k=4, run=Run(deadline=0.0)).labels.tolist() == before.labels.tolist()


def test_the_first_scale_is_plain():
    scales = attribute_scales(3, Run(seed=4), count=10)
    assert scales.shape == (11, 3)
    assert (scales[0] == 1).all()
    assert ((scales[1:] > np.exp(-2)) & (scales[1:] <= 1)).all()


def test_four_groups_in_a_ring_are_parted_at_once():
    """Each group has one row of the next one's clump: no two of them can be parted better, all four can."""
    rows = [[corner, corner] for corner in range(4) for _ in range(3)]
    labels = [label for corner in range(4) for label in (corner, corner, (corner + 1) % 4)]
    domains = tuple(tree_domain(name, [None, 0, 0, 0, 0], [1, 2, 3, 4]) for name in "xy")
    table = Table(np.asarray(rows, dtype=np.int32), domains)
    before = Grouping.of(table.codes, labels)
    after = refine(table, before, k=3, run=Run())
    assert loss_of(table, before) > 0
    assert loss_of(table, after) == 0


def test_groups_of_many_equal_rows_take_no_part():
    """A group of very many rows keeps its rows, and its number is no other group's."""
    rows = [[0]] * 500 + [[5], [9], [5], [9]]
    table = Table(np.asarray(rows, dtype=np.int32), (number_domain("x", list(range(10))),))
    after = refine(table, Grouping.of(table.codes, [0] * 500 + [1, 1, 2, 2]), k=2, run=Run())
    assert after.labels.tolist() == [0] * 500 + [1, 2, 1, 2]


def test_boxes_are_opened_the_same_on_any_number_of_threads(monkeypatch):
    """Trees on every column, and several regions: opening is in use, and it helps."""
    monkeypatch.setattr("coterie.grouping.refine.REGION_ROWS", 400)
    trees = tuple(tree_domain(f"a{at}", [None, 0, 1, 1, 0, 4, 4, 0], [2, 3, 5, 6, 7]) for at in range(4))
    codes = np.minimum(np.random.default_rng(3).geometric(0.4, size=(1500, 4)) - 1, 4).astype(np.int32)
    table = Table(codes, trees)
    before = Grouping.of(codes, np.arange(1500) // 20)
    one, four = (refine(table, before, k=20, run=Run(threads=threads), effort=EFFORT) for threads in (1, 4))
    assert one.labels.tolist() == four.labels.tolist()
    assert one.sizes.min() >= 20
    monkeypatch.setattr("coterie.grouping.refine.OPENS", 0.0)
    assert loss_of(table, one) < loss_of(table, refine(table, before, k=20, run=Run(), effort=EFFORT))
