"""Several rows per person: every published class holds at least k people."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coterie
from coterie.errors import InfeasibleError

QUASI = ["age", "sex"]


@st.composite
def visits(draw):
    """Rows of few people with few values, and a k that their number allows."""
    rows = draw(st.lists(st.tuples(st.integers(0, 6), st.integers(20, 26), st.sampled_from("fm")), min_size=4))
    who = {person for person, _, _ in rows}
    k = draw(st.integers(1, max(len(who), 1)))
    return rows, k


def classes_of(release):
    names = [name for name in release.arrow.column_names if name != "ill"]
    return [tuple(row.values()) for row in release.arrow.select(names).to_pylist()]


@settings(max_examples=40)
@given(visits(), st.sampled_from(["mondrian", "kmembers"]))
def test_every_class_holds_k_people(drawn, method):
    rows, k = drawn
    table = pa.table(
        {
            "patient": pa.array([None if person == 6 else f"P{person}" for person, _, _ in rows]),
            "age": [age for _, age, _ in rows],
            "sex": [sex for _, _, sex in rows],
            "ill": ["flu"] * len(rows),
        }
    )
    release = coterie.anonymize(table, quasi=QUASI, sensitive=["ill"], entity="patient", k=k, method=method)
    assert release.arrow.column_names == ["age", "sex", "ill"]
    people: dict = {}
    for shown, person in zip(classes_of(release), table["patient"].to_pylist(), strict=True):
        people.setdefault(shown, set()).add(person)
    assert min(len(each) for each in people.values()) >= k
    check = release.verification.checks[-1]
    assert (check.name, check.passed) == ("k-anonymity of people", True)
    assert check.found == min(len(each) for each in people.values())
    assert release.risk.after.counted == "people"
    assert release.risk.after.prosecutor.highest == pytest.approx(1 / check.found)


def test_rows_of_one_person_are_not_enough():
    table = pa.table({"who": [1] * 5 + [2] * 5, "age": [20] * 5 + [50] * 5})
    apart = coterie.anonymize(table, quasi=["age"], identifiers=["who"], k=5, method="mondrian")
    assert apart.verification.groups == 2
    together = coterie.anonymize(table, quasi=["age"], entity="who", k=2, method="mondrian")
    assert together.verification.groups == 1
    with pytest.raises(InfeasibleError, match="'who' names 2") as caught:
        coterie.anonymize(table, quasi=["age"], entity="who", k=3, method="mondrian")
    assert (caught.value.wanted, caught.value.possible) == (3, 2)


def test_models_are_about_sensitive_columns_not_about_people():
    rng = np.random.default_rng(0)
    table = pa.table(
        {"who": rng.integers(0, 30, 90), "age": rng.integers(20, 60, 90), "ill": rng.choice(["flu", "pox"], 90)}
    )
    release = coterie.anonymize(
        table, quasi=["age"], sensitive=["ill"], entity="who", k=4, privacy=["l-diversity:2"], method="mondrian"
    )
    assert [check.name for check in release.verification.checks] == [
        "k-anonymity",
        "l-diversity(ill)",
        "k-anonymity of people",
    ]


def test_verify_counts_people_where_the_file_still_names_them():
    table = pa.table({"age": ["[20-30]"] * 4, "who": [1, 1, 2, 2]})
    assert not coterie.verify(table, config={"quasi": ["age"], "entity": "who", "k": 3}).passed
    assert coterie.verify(table, config={"quasi": ["age"], "entity": "who", "k": 2}).passed
    # A release does not name them: then rows are counted, as the sentence says.
    found = coterie.verify(table.select(["age"]), config={"quasi": ["age"], "entity": "who", "k": 3})
    assert [check.name for check in found.checks] == ["k-anonymity"]
