"""Every model against its definition, as repair decides it and as the judge does: papers' values, boundaries, twins."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import naive_privacy
from promises import check_groups, check_models, judge_models

from coterie.errors import ConfigError
from coterie.hierarchies.hierarchy import Hierarchy
from coterie.privacy import LDiversity, TCloseness
from coterie.privacy.histogram import Groups, combine, count_values
from coterie.settings.models import parse_model


def found(spec, classes, column, **more):
    """What the worst class has, and whether all pass: the same for those who made it and for the judge."""
    table = pa.table({"s": column})
    (made,) = check_models(classes, table, [parse_model(spec)], **more)
    (check,) = judge_models(classes, table, [parse_model(spec)], **more)
    assert check[1:4] == (made.wanted, made.found, made.passed)
    assert (check.worst, check.size) == (made.worst, made.size)
    return check.found, check.passed


# Li, Li, Venkatasubramanian 2007, Tables 3 and 5: salaries in thousands, three rows a class.
CLASSES = [0, 0, 0, 1, 1, 1, 2, 2, 2]
SALARIES_3 = [3, 4, 5, 6, 11, 8, 7, 9, 10]
SALARIES_5 = [3, 5, 9, 6, 11, 8, 4, 7, 10]
DISEASES = ["gastric ulcer", "gastritis", "stomach cancer", "gastritis", "flu", "bronchitis", "bronchitis", "pneumonia"]
DISEASES = [*DISEASES, "stomach cancer"]


def test_salaries_of_li_et_al():
    check = check_models(np.array(CLASSES), pa.table({"s": SALARIES_3}), [TCloseness("0.375", distance="ordered")])[0]
    assert (check.found, check.passed, check.worst, check.size) == (0.375, True, 0, 3)
    assert found("t-closeness:0.374999::ordered", CLASSES, SALARIES_3) == (0.375, False)
    # {6k, 8k, 11k} is at 0.167, and so is Table 5 as a whole.
    table = TCloseness(1, distance="ordered").measure(counted(CLASSES, SALARIES_3), "s")
    assert table[1] == pytest.approx(1 / 6)
    assert found("t-closeness:1/6::ordered", CLASSES, SALARIES_5) == (pytest.approx(1 / 6), True)


def counted(classes, values):
    order = sorted(set(values))
    codes = np.array([order.index(value) for value in values])
    histogram = count_values(np.asarray(classes), codes, groups=max(classes) + 1, values=len(order))
    return Groups(histogram.sizes, {"s": histogram})


def test_hierarchical_distances_of_li_et_al():
    """Section 4.2: Flu and Bronchitis are 1/3 apart, Flu and Pulmonary embolism 2/3, Flu and Stomach cancer 1."""
    tree = Hierarchy.from_mapping(
        {
            "respiratory": {
                "infection": ["flu", "pneumonia", "bronchitis"],
                "vascular": ["pulmonary edema", "pulmonary embolism"],
            },
            "digestive": {
                "stomach": ["gastric ulcer", "stomach cancer", "gastritis"],
                "colon": ["colitis", "colon cancer"],
            },
        }
    )
    for other, apart in (("bronchitis", 1 / 3), ("pulmonary embolism", 2 / 3), ("stomach cancer", 1.0)):
        # Two classes of one value each, half a table apart.
        value, _ = found("t-closeness:1::hierarchical", [0, 1], ["flu", other], hierarchies={"s": tree})
        assert value == pytest.approx(apart / 2)
    value, passed = found("t-closeness:8/27::hierarchical", CLASSES, DISEASES, hierarchies={"s": tree})
    assert passed == (value <= 8 / 27)


@pytest.mark.parametrize(
    ("spec", "passed"),
    [
        ("l-diversity:3::entropy", True),
        ("l-diversity:3.0000001::entropy", False),
        ("l-diversity:3::frequency", True),
        ("l-diversity:3.01::frequency", False),
        ("l-diversity:4", False),
    ],
)
def test_uniform_groups_pass_at_exactly_l(spec, passed):
    classes = [0] * 9 + [1] * 3
    column = ["a", "b", "c"] * 4
    assert found(spec, classes, column)[1] is passed


def test_entropy_on_the_threshold_without_a_uniform_group():
    column = ["a"] * 4 + ["b", "c", "d", "e"]  # two bits
    assert found("l-diversity:4::entropy", [0] * 8, column)[1]
    assert not found("l-diversity:4.000001::entropy", [0] * 8, column)[1]


def test_recursive_diversity_puts_the_most_frequent_value_first():
    column = ["a"] * 5 + ["b"] * 3 + ["c"] * 2  # 5 < c · (3 + 2) for l = 2, 5 < c · 2 for l = 3
    assert not found("l-diversity:2::recursive:1", [0] * 10, column)[1]
    assert found("l-diversity:2::recursive:1.001", [0] * 10, column)[1]
    assert not found("l-diversity:3::recursive:2.5", [0] * 10, column)[1]
    assert found("l-diversity:3::recursive:2.6", [0] * 10, column)[1]
    assert found("l-diversity:4::recursive:100", [0] * 10, column) == (np.inf, False)


def test_delta_is_infinite_where_a_value_is_absent():
    assert found("delta-disclosure:100", [0, 0, 1, 1], ["a", "b", "a", "a"]) == (np.inf, False)
    value, passed = found("delta-disclosure:0.5", [0, 0, 0, 1, 1, 1], ["a", "b", "b", "a", "a", "b"])
    assert value == pytest.approx(np.log(1.5))
    assert passed


def test_delta_is_strict():
    """A group like the table is at 0, which is within every delta."""
    assert found("delta-disclosure:0.000001", [0, 0, 1, 1], ["a", "b", "b", "a"]) == (0.0, True)


def test_beta_counts_gains_only():
    # a: 1/2 → 2/3 gains a third; b: 1/2 → 1/3 only loses.
    classes, column = [0, 0, 0, 1, 1, 1], ["a", "a", "b", "a", "b", "b"]
    assert found("beta-likeness:1/3", classes, column) == (pytest.approx(1 / 3), True)
    assert found("beta-likeness:0.333333333333333", classes, column)[1] is False


def test_enhanced_beta_caps_the_gain():
    """A value of share 3/4 that becomes certain gains 1/3, more than −ln(3/4) = 0.288; a rarer one may gain more."""
    classes, column = [0, 0, 1, 1], ["a", "a", "a", "b"]
    assert found("beta-likeness:5", classes, column)[1]
    assert found("beta-likeness:5::enhanced", classes, column) == (np.inf, False)


def test_missing_sensitive_values_are_a_value():
    assert found("l-diversity:2", [0, 0], ["a", None]) == (2, True)
    assert found("l-diversity:2", [0, 0], pa.array([None, None], pa.string())) == (1, False)
    # After the largest value, where distances go by rank.
    assert found("t-closeness:1::ordered", [0, 1], [5, None])[0] == 0.5


def test_suppressed_rows_do_not_count():
    assert found("l-diversity:2", [0, 0, -1], ["a", "a", "b"]) == (1, False)
    assert found("t-closeness:0", [0, 0, -1], ["a", "a", "b"]) == (0, True)


def test_a_table_without_rows_keeps_everything():
    classes, table = np.zeros(0, dtype=np.int64), pa.table({"s": pa.array([], pa.string())})
    assert all(check.passed for check in check_models(classes, table, [LDiversity(3), TCloseness(0)]))
    checks = judge_models(classes, table, [LDiversity(3), TCloseness(0)])
    assert [check.passed for check in checks] == [True, True]
    assert "no rows" in checks[0].text


def test_several_columns_and_models():
    table = pa.table({"a": ["x", "y", "x", "x"], "b": [1, 1, 2, 3]})
    models = [LDiversity(2), LDiversity(2, on="b"), parse_model("k-anonymity:3")]
    made = check_models([0, 0, 1, 1], table, models)
    assert [(check.column, check.passed) for check in made] == [("a", False), ("b", False), ("b", False), (None, False)]
    assert (made[0].worst, made[0].failing, made[0].rows, made[0].size) == (1, 1, 2, 2)
    checks = judge_models([0, 0, 1, 1], table, models)
    assert [(check.name, check.passed) for check in checks] == [
        ("l-diversity(a)", False),
        ("l-diversity(b)", False),
        ("l-diversity(b)", False),
        ("k-anonymity", False),
    ]
    assert (checks[0].worst, checks[0].size) == (1, 2)
    assert checks[0].text == (
        "distinct 2-diversity of 'a' is wanted, but 2 rows are in 1 group without it; the worst has 1 in 2 rows."
    )
    assert "4 rows are in 2 groups" in checks[3].text


def test_numbers_in_text_are_numbers():
    """1.0 and 1.00 are one value, and 9 is below 10."""
    assert found("l-diversity:2", [0, 0], ["1.0", "1.00"]) == (1, False)
    assert found("t-closeness:0::ordered", [0, 0, 0, 0], ["9", "10", "11", "12"])[1]
    nine_and_ten = found("t-closeness:1::ordered", [0, 0, 1, 1], ["9", "10", "11", "12"])
    assert nine_and_ten == found("t-closeness:1::ordered", [0, 0, 1, 1], [9, 10, 11, 12])


def test_distances_need_an_order_or_a_hierarchy():
    with pytest.raises(ConfigError, match="'s' has no order; give it a hierarchy"):
        found("t-closeness:0.1::ordered", [0, 0], ["a", "b"])
    with pytest.raises(ConfigError, match="'s' has no hierarchy"):
        found("t-closeness:0.1::hierarchical", [0, 0], [1, 2])
    listed = Hierarchy.from_mapping({"low": ["mild"], "high": ["bad", "awful"]})
    assert found("t-closeness:1::ordered", [0, 1, 1], ["awful", "mild", "bad"], hierarchies={"s": listed})[0] == 0.5
    for distance, problem in (("ordered", "'s' has no order"), ("hierarchical", "'s' has no hierarchy")):
        with pytest.raises(ConfigError, match=problem):
            judge_models([0, 0], pa.table({"s": ["a", "b"]}), [TCloseness(0.1, distance=distance)])
    with pytest.raises(ConfigError, match="no sensitive column 'x'"):
        check_models(np.array([0]), pa.table({"s": ["a"]}), [LDiversity(2, on="x")])


def test_no_cell_value_is_in_a_text():
    checks = judge_models([0, 0], pa.table({"s": ["secret", "secret"]}), [LDiversity(2), TCloseness(0)])
    assert not any("secret" in check.text for check in checks)


@st.composite
def grouped(draw):
    """Classes and values, 0 … m − 1, some of them rare; every class has a row."""
    m = draw(st.integers(1, 6))
    classes = draw(st.lists(st.integers(0, 5), min_size=1, max_size=40))
    _, labels = np.unique(classes, return_inverse=True)
    values = draw(st.lists(st.integers(0, m - 1), min_size=len(labels), max_size=len(labels)))
    return labels, values


KINDS = [
    {"model": "k-anonymity"},
    {"model": "l-diversity"},
    {"model": "l-diversity", "kind": "frequency"},
    {"model": "l-diversity", "kind": "entropy"},
    {"model": "l-diversity", "kind": "recursive"},
    {"model": "t-closeness"},
    {"model": "t-closeness", "distance": "ordered"},
    {"model": "t-closeness", "distance": "hierarchical"},
    {"model": "alpha-k"},
    {"model": "beta-likeness"},
    {"model": "beta-likeness", "kind": "enhanced"},
    {"model": "delta-disclosure"},
]


@st.composite
def random_trees(draw, values):
    """Child → parent over values 0 … m − 1 and inner nodes with names; unary nodes and uneven depths come up."""
    nodes = list(values)
    parents = {}
    made = 0
    while len(nodes) > 1 or made == 0:
        size = draw(st.integers(1 if draw(st.integers(0, 4)) == 0 else 2, max(2, len(nodes))))
        taken, nodes = nodes[:size], nodes[size:]
        name = f"n{made}"
        parents |= dict.fromkeys(taken, name)
        nodes = [*nodes, name] if draw(st.booleans()) else [name, *nodes]
        made += 1
    parents[nodes[0]] = None
    return parents


def nested(parents, node):
    below = [child for child, parent in parents.items() if parent == node]
    return {str(child): nested(parents, child) for child in below}


def limits(draw, model, labels, values, order, parents):
    """Thresholds, quite often such that a group lies exactly on one."""
    group = [value for label, value in zip(labels, values, strict=True) if label == 0]
    shares = naive_privacy.shares(group)
    on_it = draw(st.booleans())
    if model["model"] == "k-anonymity":
        return {"k": len(group) if on_it else draw(st.integers(1, 10))}
    if model["model"] == "t-closeness":
        exact = naive_privacy.distance(group, values, model, order, parents)
        return {"t": exact if on_it else draw(st.fractions(0, 1, max_denominator=50))}
    if model["model"] == "alpha-k":
        return {"alpha": max(shares.values()) if on_it else draw(st.fractions(Fraction(1, 9), 1, max_denominator=9))}
    if model["model"] == "beta-likeness":
        table = naive_privacy.shares(values)
        gain = max(share / table[value] - 1 for value, share in shares.items())
        return {"beta": gain if on_it and gain > 0 else draw(st.fractions(Fraction(1, 20), 4, max_denominator=20))}
    if model["model"] == "delta-disclosure":
        return {"delta": draw(st.fractions(Fraction(1, 20), 3, max_denominator=20))}
    kind = model.get("kind", "distinct")
    if kind == "frequency":
        return {"l": 1 / max(shares.values()) if on_it else draw(st.fractions(1, 6, max_denominator=9))}
    if kind == "entropy":
        return {"l": len(shares) if on_it else draw(st.fractions(1, 6, max_denominator=9))}
    if kind == "recursive":
        return {"l": draw(st.integers(1, 4)), "c": draw(st.sampled_from(["1/2", 1, "4/3", 2, 3, 5]))}
    return {"l": draw(st.integers(1, 6))}


@pytest.mark.parametrize("model", KINDS, ids=lambda model: "-".join(model.values()))
@given(data=st.data())
def test_every_model_agrees_with_its_definition(model, data):
    labels, values = data.draw(grouped())
    present = sorted(set(values))
    parents = data.draw(random_trees(present)) if model.get("distance") == "hierarchical" else None
    model = model | limits(data.draw, model, labels, values, present, parents)
    expected = naive_privacy.breaks(model, labels, values, order=present, parents=parents)
    hierarchies = {}
    column = pa.array(values)
    if parents is not None:
        (root,) = [node for node, parent in parents.items() if parent is None]
        hierarchies = {"s": Hierarchy.from_mapping(nested(parents, root), root=root)}
        column = pa.array([str(value) for value in values])
    written = {name: str(value) if isinstance(value, Fraction) else value for name, value in model.items()}
    table, models = pa.table({"s": column}), [parse_model(written)]
    (made,) = check_models(labels, table, models, hierarchies=hierarchies)
    (check,) = judge_models(labels, table, models, hierarchies=hierarchies)
    rows = sum(label in expected for label in labels)
    assert made.failing == len(expected)
    assert check.passed == made.passed == (not expected)
    assert (check.found, check.worst, check.size) == (made.found, made.worst, made.size)
    if expected:
        assert check.worst in expected
        assert made.rows == rows
        groups = "1 group" if len(expected) == 1 else f"{len(expected):,} groups"
        assert f"{rows:,} rows are in {groups} without it" in check.text


@given(data=st.data(), kind=st.sampled_from(["equal", "ordered", "hierarchical"]))
def test_measured_distances_are_those_of_the_definition(data, kind):
    labels, values = data.draw(grouped())
    present = sorted(set(values))
    parents = data.draw(random_trees(present))
    (root,) = [node for node, parent in parents.items() if parent is None]
    tree = Hierarchy.from_mapping(nested(parents, root), root=root)
    column = pa.array([str(value) for value in values])
    more = {"hierarchies": {"s": tree}} if kind == "hierarchical" else {"types": {"s": "number"}}
    (made,) = check_models(labels, pa.table({"s": column}), [TCloseness(1, distance=kind)], **more)
    (check,) = judge_models(labels, pa.table({"s": column}), [TCloseness(1, distance=kind)], **more)
    assert check.found == made.found
    groups = [
        [value for label, value in zip(labels, values, strict=True) if label == at] for at in range(max(labels) + 1)
    ]
    exact = [naive_privacy.distance(group, values, {"distance": kind}, present, parents) for group in groups]
    assert check.found == pytest.approx(float(max(exact)))


@given(data=st.data())
def test_distances_are_the_least_work(data):
    """Ordered and hierarchical formulas against a transport problem solved as such."""
    optimize = pytest.importorskip("scipy.optimize")
    labels, values = data.draw(grouped())
    present = sorted(set(values))
    parents = data.draw(random_trees(present))
    group = [value for label, value in zip(labels, values, strict=True) if label == 0]
    p, q = naive_privacy.shares(group), naive_privacy.shares(values)
    supply = [float(p.get(value, 0)) for value in present]
    demand = [float(q[value]) for value in present]
    m = len(present)
    rows = [[1.0 if i == a else 0.0 for i in range(m) for _ in range(m)] for a in range(m)]
    columns = [[1.0 if j == b else 0.0 for _ in range(m) for j in range(m)] for b in range(m)]

    def above(node):
        return [] if node is None else [node, *above(parents[node])]

    def height(node):
        return max(above(value).index(node) for value in present if node in above(value))

    def apart(a, b):
        return height(next(node for node in above(a) if node in above(b)))

    top = max(len(above(value)) - 1 for value in present)
    for kind, work in (("ordered", lambda a, b: abs(a - b) / max(m - 1, 1)), ("hierarchical", None)):
        costs = [
            work(i, j) if work else apart(a, b) / top for i, a in enumerate(present) for j, b in enumerate(present)
        ]
        solved = optimize.linprog(costs, A_eq=rows + columns, b_eq=supply + demand)
        exact = naive_privacy.distance(group, values, {"distance": kind}, present, parents)
        assert solved.fun == pytest.approx(float(exact), abs=1e-9)


@given(data=st.data())
def test_merging_groups_keeps_every_promise(data):
    """What the repair and the infeasibility test rest on."""
    model = data.draw(st.sampled_from(KINDS))
    labels, values = data.draw(grouped())
    present = sorted(set(values))
    parents = data.draw(random_trees(present))
    model = model | limits(data.draw, model, labels, values, present, parents)
    groups = {}
    for label, value in zip(labels, values, strict=True):
        groups.setdefault(label, []).append(value)
    kept = [
        group for group in groups.values() if naive_privacy.holds(model, group, values, order=present, parents=parents)
    ]
    if len(kept) > 1:
        union = [value for group in kept for value in group]
        assert naive_privacy.holds(model, union, values, order=present, parents=parents)


@given(grouped(), st.data())
def test_groups_that_might_be_are_counted_as_if_they_were(labelled, data):
    labels, values = labelled
    groups, m = max(labels) + 1, max(values) + 1
    values = np.array(values)
    histogram = count_values(labels, values, groups=groups, values=m)
    one, other = data.draw(st.integers(0, groups - 1)), data.draw(st.integers(0, groups - 1))
    parts = np.array([0, 0, 1]) if one != other else np.array([0, 1])
    chosen = np.array([one, other, other] if one != other else [one, other])
    added = data.draw(st.integers(0, m - 1))
    leaves = data.draw(st.sampled_from(np.flatnonzero(labels == other).tolist()))
    changes = np.array([0, 0, 1]), np.array([added, values[leaves], added]), np.array([2, -1, 1])
    made = combine(histogram, (parts, chosen), changes)
    first = np.isin(labels, [one, other])
    first[leaves] = False
    expected = [
        np.bincount([*values[first], added, added], minlength=m),
        np.bincount([*values[labels == other], added], minlength=m),
    ]
    dense = np.zeros((2, m), dtype=int)
    dense[made.group, made.value] = made.count
    assert dense.tolist() == [each.tolist() for each in expected]
    assert made.sizes.tolist() == [each.sum() for each in expected]
    assert (made.totals == histogram.totals).all()


def test_checks_take_counted_groups():
    groups = counted([0, 0, 1], [5, 6, 6])
    (check,) = check_groups(groups, [LDiversity(2, on="s")], ["s"])
    assert (check.passed, check.worst, check.found) == (False, 1, 1)
