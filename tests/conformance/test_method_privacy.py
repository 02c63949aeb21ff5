"""Every method with every privacy model: the published table keeps it by its definition, or the error says what could.

The judge is `oracles/naive_privacy.py`, which knows only the published cells and the definitions.
"""

from collections import Counter
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from method_cases import METHODS
from oracles import naive_privacy, naive_verify

import coterie
from coterie.errors import InfeasibleError

QUASI = ["age", "place", "job"]
ILLS = {"lung": ["flu", "cough"], "skin": ["pox", "rash"]}
PARENTS = {"*": None, "lung": "*", "skin": "*", "flu": "lung", "cough": "lung", "pox": "skin", "rash": "skin"}
SETTINGS = {
    "quasi": QUASI,
    "sensitive": ["ill", "pay"],
    "hierarchies": {"place": {"N": ["a", "b"], "S": ["c", "d", "e"]}, "ill": ILLS},
}

# (text of the model, its column, the same for the judge)
MODELS = [
    ("l-diversity:2:ill", "ill", {"model": "l-diversity", "l": 2}),
    ("l-diversity:3:ill:frequency", "ill", {"model": "l-diversity", "l": 3, "kind": "frequency"}),
    ("l-diversity:2.5:ill:entropy", "ill", {"model": "l-diversity", "l": Fraction(5, 2), "kind": "entropy"}),
    ("l-diversity:2:ill:recursive:2", "ill", {"model": "l-diversity", "l": 2, "kind": "recursive", "c": 2}),
    ("t-closeness:0.2:ill", "ill", {"model": "t-closeness", "t": "0.2"}),
    ("t-closeness:0.15:pay:ordered", "pay", {"model": "t-closeness", "t": "0.15", "distance": "ordered"}),
    ("t-closeness:0.15:ill:hierarchical", "ill", {"model": "t-closeness", "t": "0.15", "distance": "hierarchical"}),
    ("alpha-k:0.5:ill:3", "ill", {"model": "alpha-k", "alpha": "0.5", "k": 3}),
    ("beta-likeness:1:ill", "ill", {"model": "beta-likeness", "beta": 1}),
    ("beta-likeness:1:ill:enhanced", "ill", {"model": "beta-likeness", "beta": 1, "kind": "enhanced"}),
    ("delta-disclosure:1.5:ill", "ill", {"model": "delta-disclosure", "delta": "1.5"}),
]
GROUPED = [name for name, method in METHODS.items() if method.recoding != "per-row"]

rows = st.lists(
    st.tuples(
        st.none() | st.integers(20, 29),
        st.sampled_from("abcde"),
        st.none() | st.sampled_from(["cook", "smith"]),
        st.sampled_from(["flu", "flu", "flu", "cough", "pox", "rash"]),
        st.sampled_from([1, 2, 3, 5, 8]),
    ),
    min_size=4,
    max_size=30,
)


def columns(drawn):
    kinds = {"age": pa.int64(), "place": pa.string(), "job": pa.string(), "ill": pa.string(), "pay": pa.int64()}
    return pa.table({name: pa.array([row[at] for row in drawn], kind) for at, (name, kind) in enumerate(kinds.items())})


def judged(table, released, judge, column):
    """The groups of a release that break a model."""
    cells = [released[name].to_pylist() for name in QUASI]
    labels = naive_verify.verify(cells, 1)["class_of_row"]
    order = sorted(set(table["pay"].to_pylist()))
    return naive_privacy.breaks(judge, labels, released[column].to_pylist(), order=order, parents=PARENTS)


@pytest.mark.parametrize("method", GROUPED)
@pytest.mark.parametrize(("model", "column", "judge"), MODELS, ids=[model for model, *_ in MODELS])
@settings(max_examples=4)
@given(drawn=rows, k=st.integers(1, 4))
def test_the_release_keeps_the_model_or_says_what_could_be_kept(method, model, column, judge, drawn, k):
    table = columns(drawn)
    try:
        release = coterie.anonymize(table, k=k, method=method, privacy=[model], **SETTINGS)
    except InfeasibleError as error:
        check_refusal(error, table, judge, column)
        return
    released = release.arrow
    assert released.num_rows == table.num_rows
    assert naive_verify.verify([released[name].to_pylist() for name in QUASI], k)["passed"]
    assert judged(table, released, judge, column) == set()
    assert coterie.verify(released, k=k, privacy=[model], **SETTINGS).passed


def check_refusal(error, table, judge, column):
    """Even all rows together break the model, and what is said to be possible is what they have."""
    values = table[column].to_pylist()
    order = sorted(set(table["pay"].to_pylist()))
    assert naive_privacy.breaks(judge, [0] * len(values), values, order=order, parents=PARENTS)
    most = max(Counter(values).values())
    best = {
        ("l-diversity", "distinct"): len(set(values)),
        ("l-diversity", "frequency"): len(values) / most,
        ("alpha-k", "distinct"): most / len(values),
    }.get((judge["model"], judge.get("kind", "distinct")))
    if best is not None:
        assert error.possible == pytest.approx(best)
    assert str(error.hint)


@pytest.mark.parametrize("method", GROUPED)
@settings(max_examples=6)
@given(drawn=rows, chosen=st.sets(st.sampled_from(range(len(MODELS))), min_size=2, max_size=3))
def test_several_models_at_once(method, drawn, chosen):
    table = columns(drawn)
    models = [MODELS[at] for at in sorted(chosen)]
    try:
        release = coterie.anonymize(table, k=2, method=method, privacy=[model for model, *_ in models], **SETTINGS)
    except InfeasibleError:
        order = sorted(set(table["pay"].to_pylist()))
        assert any(
            naive_privacy.breaks(judge, [0] * len(drawn), table[column].to_pylist(), order=order, parents=PARENTS)
            for _, column, judge in models
        )
        return
    for _, column, judge in models:
        assert judged(table, release.arrow, judge, column) == set()


@settings(max_examples=10)
@given(drawn=rows, model=st.sampled_from(MODELS))
def test_models_hold_of_what_is_left_when_rows_are_suppressed(drawn, model):
    """Shares are those of the published rows: suppressed ones, and values that only these had, do not count."""
    text, column, judge = model
    table = columns(drawn)
    options = {"suppress_above": 0.3}
    try:
        release = coterie.anonymize(table, k=2, method="kaca", options=options, privacy=[text], **SETTINGS)
    except InfeasibleError:
        return
    assert judged(table, release.arrow, judge, column) == set()
    kept = release.published.kept
    assert release.arrow[column].to_pylist() == [table[column].to_pylist()[at] for at in kept]


@pytest.mark.parametrize("method", ["mondrian", "kmembers", "cb", "kaca"])
@settings(max_examples=12)
@given(drawn=rows, model=st.sampled_from(MODELS), k=st.integers(1, 3))
def test_models_hold_after_local_search(method, drawn, model, k):
    """Also where the method suppresses rows, so that shares in the table are not those of what is published."""
    text, column, judge = model
    table = columns(drawn)
    asked = {"k": k, "method": method, "privacy": [text], **SETTINGS}
    asked |= {"options": {"suppress_above": 0.3}} if method == "kaca" else {}
    try:
        plain = coterie.anonymize(table, **asked)
        release = coterie.anonymize(table, refine=True, **asked)
    except InfeasibleError:
        return
    assert judged(table, release.arrow, judge, column) == set()
    assert naive_verify.verify([release.arrow[name].to_pylist() for name in QUASI], k)["passed"]
    if method != "kaca":  # rows that are suppressed may change what is possible for the others
        assert release.measures["ncp"] <= plain.measures["ncp"] + 1e-9


@pytest.mark.parametrize("method", GROUPED)
@settings(max_examples=5)
@given(drawn=rows, data=st.data())
def test_every_group_holds_k_people(method, drawn, data):
    people = data.draw(st.lists(st.integers(0, 5), min_size=len(drawn), max_size=len(drawn)))
    k = data.draw(st.integers(1, len(set(people))))
    table = columns(drawn).append_column("who", pa.array(people))
    release = coterie.anonymize(table, k=k, method=method, entity="who", **SETTINGS)
    assert "who" not in release.arrow.column_names
    labels = naive_verify.verify([release.arrow[name].to_pylist() for name in QUASI], k)["class_of_row"]
    judge = {"model": "l-diversity", "l": k}
    assert naive_privacy.breaks(judge, labels, people) == set()


@pytest.mark.parametrize("method", GROUPED)
def test_k_map_against_a_population(method):
    rng = np.random.default_rng(2)
    people = pa.table({"age": rng.integers(20, 30, 200), "place": rng.choice(list("abcde"), 200)})
    table = people.slice(0, 25)
    model = coterie.KMap(12, people)
    release = coterie.anonymize(
        table, quasi=["age", "place"], hierarchies={"place": "flat"}, k=2, method=method, privacy=[model]
    )
    raw = list(zip(people["age"].to_pylist(), people["place"].to_pylist(), strict=True))
    for age, place in set(zip(release.arrow["age"].to_pylist(), release.arrow["place"].to_pylist(), strict=True)):
        low, high = (
            (20, 29) if age == "*" else map(int, str(age).strip("[]").split("-")) if "-" in str(age) else (age,) * 2
        )
        fitting = sum(int(low) <= a <= int(high) and place in ("*", p) for a, p in raw)
        assert fitting >= 12
