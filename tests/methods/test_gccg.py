"""GCCG: the paper's tables, the slow twin on random tables, parts and threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import naive_gccg
from oracles.naive_costs import box_cost
from tables import number_domain, tables, tree_domain

from coterie.errors import Cancelled
from coterie.grouping.index import build_index
from coterie.methods import Run, find_method
from coterie.methods.gccg import GccgOptions, grades
from coterie.table.costs import Measure
from coterie.table.table import Table

gccg = find_method("gccg")


def groups_of(grouping):
    return [np.flatnonzero(grouping.labels == group).tolist() for group in range(grouping.groups)]


def paper_table(parents, leaves):
    """Table 4: education (a code per leaf of the tree), race, sex, age."""
    education = tree_domain("education", parents, leaves)
    race = tree_domain("race", [None, 0, 0], [1, 2])
    sex = tree_domain("sex", [None, 0, 0], [1, 2])
    age = number_domain("age", [28, 31, 37, 38, 39, 42, 49, 50, 52, 53])
    bachelors, masters, hs_grad, eleventh, ninth = range(5)
    white, black, male, female = 0, 1, 0, 1
    rows = [
        [bachelors, white, male, 4],
        [bachelors, white, male, 7],
        [hs_grad, white, male, 3],
        [eleventh, black, male, 9],
        [bachelors, black, female, 0],
        [masters, white, female, 2],
        [ninth, black, female, 6],
        [hs_grad, white, male, 8],
        [masters, white, female, 1],
        [bachelors, white, male, 5],
    ]
    return Table(np.asarray(rows, dtype=np.int32), (education, race, sex, age))


# * → {High: Bachelors, Masters; Low: HS-grad, 11th, 9th}
TWO_LEVELS = paper_table([None, 0, 1, 1, 0, 4, 4, 4], [2, 3, 5, 6, 7])
# * → {High: Bachelors, Masters; Low: {Senior high: HS-grad, 11th; Junior high: 9th}}
THREE_LEVELS = paper_table([None, 0, 1, 1, 0, 4, 5, 5, 4, 8], [2, 3, 6, 7, 9])


def test_scores_are_those_of_table_5():
    found = grades(TWO_LEVELS)
    assert sorted(found.tolist(), reverse=True) == [18, 18, 18, 16, 16, 14, 14, 12, 11, 9]
    order = np.argsort(-found, kind="stable")
    assert order.tolist() == [0, 1, 9, 2, 7, 5, 8, 4, 3, 6]
    assert naive_gccg.sorted_rows(TWO_LEVELS.codes.tolist()) == order.tolist()


def test_classes_are_those_of_table_6():
    assert groups_of(gccg.run(TWO_LEVELS, 2)) == [[0, 9], [1, 7], [2, 5], [3, 6], [4, 8]]


def test_two_parts_give_the_classes_of_table_8():
    # The table's "Senior high" asks for a taller tree than Table 7 does.
    found = gccg.run(THREE_LEVELS, 2, GccgOptions(parts=2))
    assert groups_of(found) == [[0, 9], [1, 2, 5], [3, 7], [4, 6, 8]]


@given(tables(max_rows=40), st.integers(1, 5), st.sampled_from(["height", "ncp"]), st.integers(1, 5))
def test_classes_are_those_of_the_twin(drawn, k, distance, parts):
    table, plain = drawn
    k = min(k, table.rows)
    found = gccg.run(table, k, GccgOptions(distance=distance, parts=parts))
    assert groups_of(found) == naive_gccg.gccg(plain.rows, plain.attributes, k, parts=parts, distance=distance)


@given(tables(min_rows=4), st.integers(1, 4), st.integers(1, 8))
def test_classes_have_k_rows_but_for_the_last_of_each_part(drawn, k, parts):
    table, _ = drawn
    sizes = np.sort(gccg.run(table, k, GccgOptions(parts=parts)).sizes)
    assert sizes.min() >= k
    assert sizes.max() < 2 * k
    if parts == 1:
        assert len(sizes) == table.rows // k
        assert (sizes[:-1] == k).all()


PLACES = [None, 0, 1, 1, 1, 0, 5, 5, 0, 8, 8]
PLACE_LEAVES = [2, 3, 4, 6, 7, 9, 10]


def random_table(rows, seed=0):
    rng = np.random.default_rng(seed)
    ages = number_domain("age", list(range(40)))
    places = tree_domain("place", PLACES, PLACE_LEAVES)
    codes = np.column_stack([rng.binomial(39, 0.4, rows), rng.integers(0, 7, rows)])
    return Table(np.ascontiguousarray(codes.astype(np.int32)), (ages, places))


def test_a_larger_table_gives_the_classes_of_the_twin():
    table = random_table(600, seed=1)
    attributes = [
        {"kind": "number", "values": list(range(40)), "weight": 1.0},
        {"kind": "tree", "parents": PLACES, "leaves": PLACE_LEAVES, "weight": 1.0},
    ]
    expected = naive_gccg.gccg(table.codes.tolist(), attributes, 10, parts=2)
    assert groups_of(gccg.run(table, 10, GccgOptions(parts=2))) == expected


@pytest.mark.parametrize("parts", [1, 2, 3, 4])
def test_threads_change_nothing(parts):
    table = random_table(3000)
    one = gccg.run(table, 7, GccgOptions(parts=parts), Run(threads=1))
    for threads in (2, 8):
        many = gccg.run(table, 7, GccgOptions(parts=parts), Run(threads=threads))
        assert (one.labels == many.labels).all()
    assert one.sizes.min() >= 7


def test_progress_ends_with_all_rows():
    told = []
    gccg.run(random_table(1000), 5, GccgOptions(parts=4), Run(threads=2, progress=lambda *step: told.append(step)))
    assert told[-1] == ("grouping", 1000, 1000)
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


def test_a_stopped_run_stops():
    with pytest.raises(Cancelled):
        gccg.run(random_table(100), 5, GccgOptions(parts=2), Run(threads=2, cancelled=lambda: True))


@given(tables(max_rows=30), st.data(), st.sampled_from(["ncp", "height"]))
def test_nearest_free_rows_of_a_point(drawn, data, measure):
    table, plain = drawn
    index = build_index(table, table.costs_of(Measure(measure)))
    point = data.draw(st.integers(0, table.rows - 1))
    used = data.draw(st.sets(st.integers(0, table.rows - 1)))
    for row in used:
        index.take(row)
    count = data.draw(st.integers(0, table.rows + 1))
    far = {row: box_cost(plain.attributes, [plain.rows[point], plain.rows[row]], measure) for row in range(table.rows)}
    expected = sorted(set(range(table.rows)) - used, key=lambda row: (far[row], row))[:count]
    assert index.nearest(table.codes[point], count).tolist() == expected
