"""Recodings: groups, levels and rings answer the same questions, each in its own way."""

import numpy as np
import pytest
from tables import number_domain, tree_domain

from coterie.errors import ConfigError
from coterie.measures import losses
from coterie.methods import Run, all_methods, find_method
from coterie.settings.registry import MEASURES
from coterie.table.grouping import Grouping
from coterie.table.masks import star_masked
from coterie.table.recoding import KINDS, Levels, Rings
from coterie.table.table import Table

rng = np.random.default_rng(4)
CODES = np.column_stack([rng.binomial(19, 0.4, 60), rng.integers(0, 7, 60)]).astype(np.int32)
PLACES = tree_domain("place", [None, 0, 1, 1, 1, 0, 5, 5, 0, 8, 8], [2, 3, 4, 6, 7, 9, 10])
TABLE = Table(np.ascontiguousarray(CODES), (number_domain("age", list(range(20))), PLACES))
MADE = {name: find_method(name).run(TABLE, 3, None, Run(seed=1)) for name in ("mondrian", "incognito", "nh")}


def test_every_method_returns_the_kind_that_it_is_registered_with():
    assert [type(made) for made in MADE.values()] == [Grouping, Levels, Rings] == list(KINDS.values())
    assert {type(made) for made in MADE.values()} == {find_method(name).kind for name in MADE}
    assert all(method.kind.recoding == method.recoding for method in all_methods().values())


@pytest.mark.parametrize("name", MADE)
def test_rows_lie_in_their_published_boxes_and_in_all_around_them(name):
    made = MADE[name]
    shown = made.published_boxes()
    kept = np.flatnonzero(shown.labels >= 0)
    boxes = shown.labels[kept]
    assert len(kept) > 50
    assert ((shown.lo[boxes] <= CODES[kept]) & (CODES[kept] <= shown.hi[boxes])).all()
    for row in kept[:10]:
        lo, hi = made.boxes_around(row)
        assert len(lo) == (3 if made.by_rows else 1)
        assert ((lo <= CODES[row]) & (CODES[row] <= hi)).all()
        assert shown.lo[shown.labels[row]].tolist() in lo.tolist()


def test_only_rows_that_are_published_one_by_one_are_judged_one_by_one():
    assert [made.counts_for_judge(CODES) is not None for made in MADE.values()] == [False, False, True]
    assert [made.chosen_nodes() is not None for made in MADE.values()] == [False, True, False]


def test_measures_of_groups_say_nothing_about_rows_published_one_by_one():
    assert losses.MEASURES is MEASURES
    of_groups = {name for name, each in MEASURES.items() if each.grouped}
    assert {"discernability", "groups"} <= of_groups
    for kind in (Grouping, Levels):
        assert list(kind.measures(MEASURES)) == list(MEASURES)
    assert set(Rings.measures(MEASURES)) == set(MEASURES) - of_groups


def test_a_suppressed_cell_widens_its_group_and_takes_the_root():
    cells = {"place": np.arange(60) == int(np.flatnonzero(MADE["incognito"].labels >= 0)[0])}
    for name in ("mondrian", "incognito"):
        before = MADE[name]
        group = int(before.labels[cells["place"]][0])
        after = star_masked(before, TABLE, cells)
        assert type(after) is type(before)
        assert (after.lo[group, 1], after.hi[group, 1]) == (0, 6)
        assert np.array_equal(after.lo[:, 0], before.lo[:, 0])
        others = np.arange(before.groups) != group
        assert np.array_equal(after.hi[others], before.hi[others])
        if isinstance(after, Levels):
            assert after.nodes[group, 1] == 0
            assert np.array_equal(after.nodes[others], before.nodes[others])
    with pytest.raises(ConfigError, match="one by one"):
        star_masked(MADE["nh"], TABLE, cells)


def test_changed_groups_of_levels_get_the_lowest_nodes_and_others_keep_theirs():
    before = MADE["incognito"]
    nodes = before.nodes.copy()
    nodes[0, 1] = 0  # not the lowest node: what was chosen stays
    chosen = Levels(before.labels, before.lo, before.hi, nodes=nodes)
    plain = Grouping(before.labels, before.lo, before.hi)
    same = np.arange(before.groups)
    same[1:] = -1
    after = chosen.regrouped(plain, same=same, domains=TABLE.domains)
    assert after.nodes[0].tolist() == nodes[0].tolist()
    lowest = PLACES.tree.common_ancestor(before.lo[1:, 1], before.hi[1:, 1])
    assert after.nodes[1:, 1].tolist() == lowest.tolist()
    assert MADE["mondrian"].regrouped(plain, same=same, domains=TABLE.domains) is plain
