"""Every method with every model, from table to release: the published table keeps the model, or it could not be had."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import naive_privacy
from test_privacy_checks import KINDS
from test_repair import thresholds, written

import coterie
from coterie.errors import InfeasibleError
from coterie.hierarchy import Hierarchy
from coterie.methods import all_methods

ILLNESSES = {"infection": ["flu", "cold"], "inner": {"heart": ["stroke"], "stomach": ["ulcer", "gastritis"]}}
ORDER = ["flu", "cold", "stroke", "ulcer", "gastritis"]
PARENTS = {
    "flu": "infection", "cold": "infection", "stroke": "heart", "ulcer": "stomach", "gastritis": "stomach",
    "heart": "inner", "stomach": "inner", "infection": "*", "inner": "*", "*": None,
}  # fmt: skip
QUASI = ["age", "town", "sex"]


@st.composite
def patients(draw):
    """Few distinct values, so that groups are easily too much alike; illness goes with age now and then."""
    rows = draw(st.integers(6, 40))
    seed = draw(st.integers(0, 2**16))
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 20 + draw(st.integers(1, 40)), rows)
    some = ORDER[: draw(st.integers(1, 5))]
    illness = [some[(a // 7) % len(some)] if draw(st.booleans()) else some[rng.integers(len(some))] for a in age]
    town = rng.choice(["ab1", "ab2", "ac1", "b11"], rows)
    return pa.table({"age": age, "town": town, "sex": rng.choice(["f", "m"], rows), "illness": illness})


# Rows of `nh` are published one by one: there are no groups to speak of in its release.
NAMES = [name for name, method in all_methods().items() if method.recoding != "per-row"]


@pytest.mark.parametrize("method", NAMES)
@given(table=patients(), data=st.data())
@settings(max_examples=24)
def test_the_published_table_keeps_the_model(method, table, data):
    model = thresholds(data.draw, data.draw(st.sampled_from(KINDS)))
    config = {
        "quasi": QUASI,
        "sensitive": ["illness"],
        "k": data.draw(st.integers(1, 4)),
        "hierarchies": {"town": coterie.prefixes(), "illness": Hierarchy.from_mapping(ILLNESSES)},
        "method": method,
        "privacy": [written(model)],
    }
    values = table["illness"].to_pylist()
    try:
        release = coterie.anonymize(table, **config)
    except InfeasibleError:
        assert naive_privacy.breaks(model, [0] * len(values), values, order=ORDER, parents=PARENTS)
        return
    published = release.frame
    rows = [tuple(row.values()) for row in published.select(QUASI).to_pylist()]
    number = {row: at for at, row in enumerate(dict.fromkeys(rows))}
    labels = [number[row] for row in rows]
    kept = published["illness"].to_pylist()
    assert naive_privacy.breaks(model, labels, kept, order=ORDER, parents=PARENTS) == set()
    assert min(labels.count(label) for label in set(labels)) >= config["k"]
    assert release.verification.passed
