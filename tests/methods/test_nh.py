"""NH: the slow twin on random tables, the promise by brute force, and the chances of the assignment, counted."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import naive_nh
from tables import number_domain, tables, tree_domain

from coterie.errors import Cancelled, ConfigError
from coterie.kernels.methods.rings import matched_slots
from coterie.measures.measures import measure_boxes
from coterie.methods import Run, find_method
from coterie.methods import nh as module
from coterie.methods.nh import NhOptions
from coterie.table.table import Table

nh = find_method("nh")
KEY = "a key for the tests"


def rings_of(grouping):
    rings = grouping
    return [rings.order[first:last].tolist() for first, last in zip(rings.start[:-1], rings.start[1:], strict=True)]


def loss(table, grouping):
    return measure_boxes(table.domains, lo=grouping.lo, hi=grouping.hi, labels=grouping.labels, k=1)["gcp"]


def random_table(rows, seed=0):
    rng = np.random.default_rng(seed)
    ages = number_domain("age", list(range(40)))
    places = tree_domain("place", [None, 0, 1, 1, 1, 0, 5, 5, 0, 8, 8], [2, 3, 4, 6, 7, 9, 10])
    codes = np.column_stack([rng.binomial(39, 0.4, rows), rng.integers(0, 7, rows)])
    return Table(np.ascontiguousarray(codes.astype(np.int32)), (ages, places))


options = st.builds(
    NhOptions,
    part_size=st.sampled_from([None, None, 1, 6]),
    tries=st.integers(1, 3),
    compare=st.sampled_from(["increase", "enlarge", "side", "seed"]),
    assignment=st.sampled_from(["matching", "rotation"]),
    key=st.sampled_from([KEY, "another sixteen letters"]),
)


@given(tables(max_rows=40), st.integers(1, 5), options, st.integers(0, 5))
def test_rings_and_boxes_are_those_of_the_twin(drawn, k, chosen, seed):
    table, plain = drawn
    k = min(k, table.rows)
    found = nh.run(table, k, chosen, Run(seed=seed))
    rings, published = naive_nh.nh(
        plain.rows, plain.attributes, k, seed=seed, **chosen.model_dump(exclude={"partition", "preset"})
    )
    assert rings_of(found) == rings
    shown = found.published_boxes()
    lo, hi = shown.lo[shown.labels].tolist(), shown.hi[shown.labels].tolist()
    assert list(zip(lo, hi, strict=True)) == published


@given(tables(max_rows=40), st.integers(1, 5), options)
def test_groups_are_the_rings_and_their_boxes_hold_those_of_the_rows(drawn, k, chosen):
    table, _ = drawn
    k = min(k, table.rows)
    found = nh.run(table, k, chosen)
    assert found.sizes.min() >= k
    assert [sorted(ring) for ring in rings_of(found)] == [
        np.flatnonzero(found.labels == group).tolist() for group in range(found.groups)
    ]
    shown = found.published_boxes()
    assert (found.lo[found.labels] <= shown.lo[shown.labels]).all()
    assert (shown.hi[shown.labels] <= found.hi[found.labels]).all()
    assert sorted(shown.labels) == list(range(table.rows))
    assert loss(table, shown) <= loss(table, found) + 1e-12


@given(tables(max_rows=25, max_attributes=3), st.integers(1, 4), options)
def test_rows_and_boxes_have_k_partners_and_every_pair_is_possible(drawn, k, chosen):
    """By brute force: the pairs of a row and a box that holds it; each pair of the ring is in an assignment of all."""
    table, _ = drawn
    k = min(k, table.rows)
    found = nh.run(table, k, chosen)
    shown = found.published_boxes()
    inside = (shown.lo[None] <= table.codes[:, None]).all(axis=2) & (table.codes[:, None] <= shown.hi[None]).all(axis=2)
    assert inside.sum(axis=1).min() >= k
    assert inside.sum(axis=0).min() >= k
    assert inside[np.arange(table.rows), shown.labels].all()
    place = 0
    for ring in rings_of(found):
        m = len(ring)
        pairs = set()
        for shift in range(k):
            assigned = [(row, place + (offset - shift) % m) for offset, row in enumerate(ring)]
            assert all(inside[row, slot] for row, slot in assigned)
            assert len({slot for _, slot in assigned}) == m
            pairs |= set(assigned)
        assert len(pairs) == k * m
        assert {(row, int(shown.labels[row])) for row in ring} <= pairs
        place += m


@given(st.integers(1, 7), st.integers(0, 12), st.integers(0, 2**64 - 1))
def test_each_row_gets_each_of_its_boxes_in_one_of_k_equally_likely_draws(k, more, seed):
    """All values of the one number that decides, which is drawn evenly: every chance is 1/k, whatever the walks did."""
    m = k + more
    start, seeds = np.array([0, m]), np.array([seed], dtype=np.uint64)
    drawn = np.array([matched_slots(start, k, np.array([pick]), seeds) for pick in range(k)])
    for offsets in drawn:
        assert sorted((np.arange(m) - offsets) % m) == list(range(m))
    assert (np.sort(drawn, axis=0) == np.arange(k)[:, None]).all()
    assert [[int((row - back) % m) for row, back in enumerate(offsets)] for offsets in drawn] == [
        [made[row] for row in range(m)] for made in naive_nh.matchings(m, k, seed)
    ]


def test_rotations_are_equally_likely(monkeypatch):
    start, k = np.array([0, 5, 9]), 3

    class Draws:
        def __init__(self, picks):
            self.picks = picks

        def integers(self, low, high, size):
            assert (low, high, size) == (0, k, 2)
            return np.array(self.picks)

    counts = Counter()
    for picks in product(range(k), repeat=2):
        monkeypatch.setattr(module, "_secret_rng", lambda *_, picks=picks: Draws(picks))
        slots = module._slots(start, k, NhOptions(assignment="rotation"), Run())
        assert sorted(slots) == list(range(9))
        counts.update(enumerate(slots.tolist()))
    assert set(counts.values()) == {k}  # of k² draws, k put a row into a certain one of its k slots
    assert len(counts) == 9 * k


def test_walks_give_many_assignments():
    """A neighbour's box says little about the next row's: in a ring of 8 rows and k = 4, most of the pairs come up."""
    start = np.array([0, 8])
    seen = set()
    for seed in range(400):
        offsets = matched_slots(start, 4, np.array([seed % 4]), np.array([seed], dtype=np.uint64))
        seen.add(tuple(offsets.tolist()))
    assert len(seen) > 150
    assert len({offsets[:2] for offsets in seen}) == 13  # all 16 but the three that would put both into one slot


def test_only_the_key_repeats_the_assignment():
    table = random_table(400)
    one, two = (nh.run(table, 5, NhOptions(key=KEY), Run(seed=3)) for _ in range(2))
    fresh = [nh.run(table, 5, None, Run(seed=3)) for _ in range(2)]
    assert (one.slot_of_row == two.slot_of_row).all()
    assert (fresh[0].slot_of_row != fresh[1].slot_of_row).any()
    for other in (two, *fresh):
        assert (one.order == other.order).all()
        assert (one.slot_lo == other.slot_lo).all()
        assert (one.slot_hi == other.slot_hi).all()
    drawn = {tuple(nh.run(table, 5, NhOptions(tries=1), Run(seed=seed)).labels) for seed in range(6)}
    assert len(drawn) > 1


def test_the_walk_through_a_large_part_is_the_same(monkeypatch):
    table = random_table(300, seed=2)
    chosen = NhOptions(part_size=120, key=KEY)
    by_looking = nh.run(table, 5, chosen)
    monkeypatch.setattr(module, "SCAN_LIMIT", 10)
    by_index = nh.run(table, 5, chosen)
    assert by_looking.groups == 2
    assert (by_looking.order == by_index.order).all()


@pytest.mark.parametrize("partition", ["mondrian", "incognito", "gccg"])
def test_groups_of_other_methods_become_rings(partition):
    table = random_table(200, seed=1)
    groups = find_method(partition).run(table, 6)
    found = nh.run(table, 6, NhOptions(partition=partition))
    assert (found.labels == groups.labels).all()
    assert loss(table, found.published_boxes()) <= loss(table, groups) + 1e-12
    if partition == "mondrian":
        assert loss(table, found.published_boxes()) < loss(table, groups)


def test_suppressed_rows_of_other_methods_stay_out(monkeypatch):
    table = random_table(60)
    kept = nh.run(Table(np.ascontiguousarray(table.codes[:50]), table.domains), 5, NhOptions(key=KEY))
    mondrian = find_method("mondrian")

    class Suppressing:
        def run(self, whole, k, options, run):
            from coterie.table.grouping import Grouping

            labels = np.append(kept.labels, np.full(10, -1))
            return Grouping.of(whole.codes, labels)

    monkeypatch.setattr(module, "all_methods", lambda: {"mondrian": mondrian})
    monkeypatch.setattr(module, "_other_method", lambda name: Suppressing())
    found = nh.run(table, 5, NhOptions(partition="mondrian", key=KEY))
    assert (found.slot_of_row[50:] == -1).all()
    assert (found.slot_of_row[:50] == kept.slot_of_row).all()
    assert len(found.order) == 50


@pytest.mark.parametrize("partition", ["nh", "mondrain"])
def test_an_unknown_partition_is_refused(partition):
    with pytest.raises(ConfigError, match=r"options\.partition: there is no partition .*mondrian"):
        nh.run(random_table(20), 3, NhOptions(partition=partition))


def test_a_stopped_run_stops():
    with pytest.raises(Cancelled):
        nh.run(random_table(50), 3, None, Run(cancelled=lambda: True))
