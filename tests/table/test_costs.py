"""What intervals cost: the papers' figures, missing values, odd ranges; large domains are looked up as small ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import naive_costs
from tables import number_domain, tables, tree_domain

import coterie.table.costs
from coterie.hierarchies.tree import Tree
from coterie.kernels.search.costs import NUMBER, TABLE, TREE, box_costs
from coterie.table.costs import Measure, cost_arrays, interval_costs, level_weights

# * → {High: Bachelors, Masters; Low: {Senior: HS, 11th; Junior: 9th}}
EDUCATION = [None, 0, 1, 1, 0, 4, 5, 5, 4, 8]
LEAVES = [2, 3, 6, 7, 9]


def cost(domain, lo, hi, measure=None):
    return interval_costs(domain, np.asarray([lo], np.int32), np.asarray([hi], np.int32), measure)[0]


def kernel_cost(domain, lo, hi, measure=None):
    found = box_costs(cost_arrays([domain], measure), np.asarray([[lo]], np.int32), np.asarray([[hi]], np.int32))
    return found[0]


@pytest.mark.parametrize("cost_of", [cost, kernel_cost])
def test_ncp_of_numbers_is_width_by_range(cost_of):
    ages = number_domain("age", [20, 30, 45, 60])
    assert cost_of(ages, 1, 1) == 0
    assert cost_of(ages, 0, 1) == 0.25
    assert cost_of(ages, 1, 2) == 0.375
    assert cost_of(ages, 0, 3) == 1


@pytest.mark.parametrize("cost_of", [cost, kernel_cost])
@pytest.mark.parametrize(
    ("measure", "high", "senior", "low", "root"),
    [
        (Measure("ncp"), 2 / 5, 2 / 5, 3 / 5, 1),
        (Measure("height"), 1 / 3, 1 / 3, 2 / 3, 1),
        (Measure("whd"), 2 / 3, 1 / 3, 2 / 3, 1),
        (Measure("whd", beta=1.0), (1 / 2 + 1 / 3) / (11 / 6), (1 / 3) / (11 / 6), (1 / 2 + 1 / 3) / (11 / 6), 1),
        (Measure("whd", level_weights=(6.0, 3.0, 1.0)), 0.4, 0.1, 0.4, 1),
        (Measure("whd", column_weights=(("other", (1.0,)), ("x", (6.0, 3.0, 1.0)))), 0.4, 0.1, 0.4, 1),
    ],
    ids=["ncp", "height", "whd", "beta", "own", "column"],
)
def test_measures_of_a_tree(cost_of, measure, high, senior, low, root):
    education = tree_domain("x", EDUCATION, LEAVES)
    found = [cost_of(education, lo, hi, measure) for lo, hi in [(0, 1), (2, 3), (2, 4), (1, 2), (4, 4)]]
    assert found == pytest.approx([high, senior, low, root, 0])


def test_ncp_counts_the_leaves_present_or_those_of_the_hierarchy():
    education = tree_domain("x", EDUCATION, [2, 6, 7])  # Bachelors, HS, 11th
    assert cost(education, 1, 2) == pytest.approx(2 / 3)
    assert cost(education, 1, 2, Measure("ncp", "hierarchy")) == pytest.approx(2 / 5)
    assert cost(education, 0, 2, Measure("ncp", "hierarchy")) == 1


@pytest.mark.parametrize("cost_of", [cost, kernel_cost])
@pytest.mark.parametrize("name", ["ncp", "height", "whd"])
def test_joining_missing_values_costs_the_whole_domain(cost_of, name):
    ages = number_domain("age", [20, 30, 45, 60], missing=True)
    place = tree_domain("x", EDUCATION, LEAVES, missing=True)
    for domain in (ages, place):
        last = domain.size - 1
        assert cost_of(domain, last, last, Measure(name)) == 0
        assert all(cost_of(domain, code, last, Measure(name)) == 1 for code in range(last))
    assert cost_of(ages, 0, 1, Measure(name)) == 0.25


@pytest.mark.parametrize("cost_of", [cost, kernel_cost])
def test_one_value_costs_nothing(cost_of):
    for domain in (
        number_domain("x", [7]),
        tree_domain("x", [None, 0], [1]),
        tree_domain("x", [None, 0, 1, 2], [3]),
        number_domain("x", [], missing=True),
    ):
        for name in ("ncp", "height", "whd"):
            assert cost_of(domain, 0, 0, Measure(name)) == 0


@pytest.mark.parametrize("weight", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("values", [[0.0, 1e-320, 5e-320], [0.0, 1e15, 2.0**1000], [0.0, 1e-300, 1.0]])
def test_odd_ranges_give_plain_costs(values, weight):
    domain = number_domain("x", values, missing=True, weight=weight)
    for limit in (512, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(coterie.table.costs, "TABLE_LIMIT", limit)
            costs = cost_arrays([domain])
        lo, hi = (ends.astype(np.int32).reshape(-1, 1) for ends in np.triu_indices(4))
        found = box_costs(costs, lo, hi)
        assert np.isfinite(found).all()
        assert found.min() == 0
        assert found.max() == weight


def test_domains_are_looked_up_in_tables_up_to_the_limit():
    def kinds(size):
        flat = [None] + [0] * size
        domains = [number_domain("x", list(range(size))), tree_domain("y", flat, list(range(1, size + 1)))]
        return cost_arrays(domains).kind.tolist()

    assert kinds(coterie.table.costs.TABLE_LIMIT) == [TABLE, TABLE]
    assert kinds(coterie.table.costs.TABLE_LIMIT + 1) == [NUMBER, TREE]


@given(tables(max_rows=20), st.data(), st.sampled_from(["ncp", "height", "whd"]))
def test_costs_with_and_without_kernels_agree(drawn, data, name):
    table, plain = drawn
    for j, domain in enumerate(table.domains):
        lo, hi = (ends.astype(np.int32) for ends in np.triu_indices(domain.size))
        found = domain.weight * interval_costs(domain, lo, hi, Measure(name))
        expected = [naive_costs.cost(plain.attributes[j], {low, high}, name) for low, high in zip(lo, hi, strict=True)]
        assert found == pytest.approx(expected, abs=1e-15)


def test_too_few_level_weights_are_refused():
    with pytest.raises(ValueError, match="2 level weights were given for a hierarchy of 3 levels"):
        level_weights(3, own=(1.0, 2.0))
    assert level_weights(2, own=(3.0, 2.0, 1.0)).tolist() == [3, 2]
    assert level_weights(3, beta=2.0).tolist() == pytest.approx([1, 1 / 4, 1 / 9])
    assert level_weights(0).tolist() == []


def test_a_column_without_values_has_costs_too():
    """A column whose rows were all suppressed for what they lack has no codes at all."""
    none = np.zeros(0, dtype=np.int32)
    root = np.zeros(1, dtype=np.int32)
    tree = Tree(("*",), root - 1, root, root - 1, none, root, root, root)
    for leaf_counts in ("present", "hierarchy"):
        assert Measure("ncp", leaf_counts).node_costs(tree).shape == (1,)
