"""KACA: the fast one and its twin choose the same classes; the paper's figures come out; Lemma 1 holds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.naive_kaca import kaca as naive_kaca
from tables import number_domain, plain_attribute, tables, tree_domain

from coterie.errors import Cancelled, ConfigError
from coterie.kernels.search.costs import box_costs
from coterie.methods import Run, find_method
from coterie.table.costs import Measure
from coterie.table.grouping import Grouping, renumber
from coterie.table.table import Table

KACA = find_method("kaca")
WEIGHTS = (1.0, 1.0, 2.0, 0.5, 0.0)
OWN = (4.0, 1.0, 3.0, 0.5, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
SETTINGS = [
    ({}, {}),
    ({"weights": "height", "beta": 2}, {"level_weights": lambda height: [1 / j**2 for j in range(1, height + 1)]}),
    ({"level_weights": OWN}, {"level_weights": lambda height: OWN[:height]}),
    ({"distance": "ncp"}, {"measure": "ncp"}),
    ({"distance": "height"}, {"measure": "height"}),
    ({"suppress_above": 0.4}, {"suppress_above": 0.4}),
    ({"suppress_above": 0}, {"suppress_above": 0}),
    ({"start": "rows"}, {"start": "rows"}),
    ({"start": "rows", "suppress_above": 0.4}, {"start": "rows", "suppress_above": 0.4}),
]


def labels_of(table, k, *, seed=0, **options):
    return KACA.run(table, k, KACA.options(**options), Run(seed=seed)).labels


@given(tables(min_rows=5, weights=WEIGHTS), st.integers(2, 5), st.integers(0, 9), st.sampled_from(SETTINGS))
def test_same_classes_as_the_twin(drawn, k, seed, setting):
    table, plain = drawn
    options, naive = setting
    twin = naive_kaca(plain.rows, plain.attributes, k, seed=seed, **naive)
    np.testing.assert_array_equal(labels_of(table, k, seed=seed, **options), renumber(np.array(twin)))


@given(tables(min_rows=5), st.integers(2, 5), st.sampled_from([options for options, _ in SETTINGS]))
def test_every_class_is_large_enough(drawn, k, options):
    table, _ = drawn
    before = table.codes.copy()
    grouping = KACA.run(table, k, KACA.options(**options), Run())
    assert (grouping.sizes >= k).all()
    assert "suppress_above" in options or not grouping.suppressed.any()
    np.testing.assert_array_equal(table.codes, before)


def test_seed_decides():
    table = spread_table(400)
    assert (labels_of(table, 5) == labels_of(table, 5)).all()
    assert (labels_of(table, 5) != labels_of(table, 5, seed=1)).any()


def spread_table(rows, *, sizes=(90, 30, 600, 700)):
    """Two numbers and two trees, one of each larger than what is kept as a table of intervals."""
    rng = np.random.default_rng(3)
    columns = [
        np.unique(rng.integers(0, size, rows) ** power, return_inverse=True)
        for size, power in zip(sizes, (1, 2, 1, 2), strict=True)
    ]
    domains = []
    for j, (values, _) in enumerate(columns):
        if j % 2:
            parents = [None]
            for first in range(0, len(values), 7):
                parents += [0, *[len(parents)] * len(values[first : first + 7])]
            leaves = [node for node in range(1, len(parents)) if parents[node] != 0]
            domains.append(tree_domain(f"q{j}", parents, leaves))
        else:
            domains.append(number_domain(f"q{j}", values.tolist()))
    codes = np.stack([codes for _, codes in columns], axis=1).astype(np.int32)
    return Table(np.ascontiguousarray(codes), tuple(domains))


def test_large_domains_and_many_rebuilt_trees():
    table = spread_table(3000)
    assert max(domain.size for domain in table.domains) > 512
    assert (KACA.run(table, 10, KACA.options(), Run()).sizes >= 10).all()
    plain = [plain_attribute(domain) for domain in table.domains]
    small = Table(np.ascontiguousarray(table.codes[:60]), table.domains)
    twin = naive_kaca(small.codes.tolist(), plain, 4, seed=7)
    np.testing.assert_array_equal(labels_of(small, 4, seed=7), renumber(np.array(twin)))


def test_stub_and_trunk():
    # Seven rows alike and one beside them, k = 3: two of the seven join the lonely one, five keep their value.
    table = Table(np.array([[0]] * 4 + [[1]] + [[0]] * 3, dtype=np.int32), (number_domain("q", [0, 1]),))
    assert labels_of(table, 3).tolist() == [0, 0, 1, 1, 0, 1, 1, 1]


def test_no_stub_below_2k():
    # Four alike and one beside them, k = 3: five rows are fewer than six, so all are generalized.
    table = Table(np.array([[0]] * 4 + [[1]], dtype=np.int32), (number_domain("q", [0, 1]),))
    assert labels_of(table, 3).tolist() == [0, 0, 0, 0, 0]


def test_outliers_are_suppressed():
    table = Table(np.array([[0], [0], [1], [1], [2]], dtype=np.int32), (number_domain("q", [0, 1, 100]),))
    assert labels_of(table, 2, suppress_above=0.5).tolist() == [0, 0, 1, 1, -1]
    assert labels_of(table, 2).tolist() == [0, 0, 1, 1, 1]


def test_level_weights_of_columns():
    # Joining 0 with 1 crosses the lower level of q0, joining 0 with 2 that of q1.
    parents = [None, 0, 1, 1, 0, 4]
    domains = (tree_domain("q0", parents, [2, 3, 5]), tree_domain("q1", parents, [2, 3, 5]))
    table = Table(np.array([[0, 0], [1, 0], [0, 1]], dtype=np.int32), domains)
    dear, cheap = (1.0, 9.0), (9.0, 1.0)
    row = Table(np.array([[0, 0], [1, 0], [1, 0], [0, 1], [0, 1]], dtype=np.int32), domains)
    assert labels_of(row, 2, level_weights={"q0": dear, "q1": cheap}).tolist() == [0, 1, 1, 0, 0]
    assert labels_of(row, 2, level_weights={"q0": cheap, "q1": dear}).tolist() == [0, 0, 0, 1, 1]
    with pytest.raises(ConfigError, match="2 levels below its root") as caught:
        labels_of(table, 2, level_weights={"q0": (1.0,), "q7": (1.0,), "q1": (0.0, 0.0, 1.0)})
    assert [problem.path for problem in caught.value.problems] == [
        f"options.level_weights.{column}" for column in ("q0", "q7", "q1")
    ]
    with pytest.raises(ConfigError, match=r"options\.level_weights: 1 weights"):
        labels_of(table, 2, level_weights=(1.0,))


def test_stopped_by_the_user_and_progress():
    table, told = spread_table(300), []
    with pytest.raises(Cancelled):
        KACA.run(table, 5, None, Run(cancelled=lambda: True))
    KACA.run(table, 5, None, Run(progress=lambda *report: told.append(report)))
    assert told[-1] == ("merging classes", told[-1][2], told[-1][2])
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


@st.composite
def generalised_tuples(draw, domains):
    """Three boxes over the same domains, each the closest common generalization of some rows."""
    boxes = []
    for _ in range(3):
        pairs = [sorted((draw(st.integers(0, d.size - 1)), draw(st.integers(0, d.size - 1)))) for d in domains]
        boxes.append(([low for low, _ in pairs], [high for _, high in pairs]))
    return boxes


@given(tables(max_rows=1), st.data())
def test_lemma_1_the_distance_of_tuples_is_a_metric(drawn, data):
    """Definition 9 for tuples however generalized: identical ones are 0 apart, symmetry, the triangle inequality."""
    table, _ = drawn
    one, two, three = data.draw(generalised_tuples(table.domains))
    for measure in (Measure("whd"), Measure("whd", beta=1.0), Measure("ncp"), Measure("height")):
        costs = table.costs_of(measure)

        def cost(box, costs=costs):
            lo, hi = (np.array([side], dtype=np.int32) for side in box)
            return float(box_costs(costs, lo, hi)[0])

        def apart(one, two, cost=cost):
            joined = (np.minimum(one[0], two[0]), np.maximum(one[1], two[1]))
            return (cost(joined) - cost(one)) + (cost(joined) - cost(two))

        assert apart(one, one) == 0
        assert apart(one, two) == apart(two, one) >= 0
        assert apart(one, three) <= apart(one, two) + apart(two, three) + 1e-12


def test_worked_figures_of_the_paper():
    """Section 3 and Definitions 6, 9: birth date of six levels, gender of two, postcode of five."""
    dates = tree_domain("birth", [None, 0, 1, 2, 3, 4, 4, 3, 7], [5, 6, 8])  # two days of a month, a day a year on
    gender = tree_domain("gender", [None, 0, 0], [1, 2])
    pcode = tree_domain("pcode", [None, 0, 1, 2, 3, 3, 3, 3], [4, 5, 6, 7])
    uniform, height = Measure("whd"), Measure("whd", beta=1.0)
    assert dates.tree.height[0] == 5
    assert uniform.node_costs(dates.tree)[3] == 0.4  # WHD(6, 4): from the day to the year
    assert uniform.node_costs(gender.tree)[0] == 1.0  # WHD(2, 1)
    assert height.node_costs(dates.tree)[4] == pytest.approx(0.0876, abs=5e-5)  # WHD(6, 5), printed as 0.087
    # (male, 4351) and (female, 4352), young both: 1.25 each, 2.5 apart.
    codes = np.array([[0, 1], [1, 2]], dtype=np.int32)
    table = Table(codes, (gender, pcode))
    grouping = Grouping.of(codes, [0, 0])
    assert box_costs(table.costs_of(uniform), grouping.lo, grouping.hi).tolist() == [1.25]
