"""Why rows are as coarse as they are: figures as their slow twins have them, and sums that must come out."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import naive_explain
from tables import tables

import coterie
from coterie.errors import ConfigError
from coterie.explaining.box import costs_of_k, grown, nearest_rows, pair_costs, rows_within, without_column
from coterie.grouping.index import build_index

CLOSE = 1e-9
rng = np.random.default_rng(8)
TREE = {"North": {"Oslo": ["o1", "o2"], "Bergen": ["b1"]}, "South": ["s1", "s2", "s3"]}
PEOPLE = pa.table(
    {
        "age": rng.integers(20, 60, 90),
        "place": rng.choice(["o1", "o2", "b1", "s1", "s2", "s3"], 90),
        "job": pa.array([None if i % 13 == 0 else f"zebulon{i % 5}" for i in range(90)]),
        "ill": rng.choice(["flu", "pox", "gout"], 90),
    }
)
SETTINGS = {"quasi": ["age", "place", "job"], "hierarchies": {"place": TREE}, "weights": {"age": 2.0}, "k": 4}
DIVERSE = {**SETTINGS, "sensitive": ["ill"], "privacy": ["l-diversity:2"]}
SETTINGS["keep"] = ["ill"]


@given(tables(min_rows=2, max_rows=20), st.integers(1, 6), st.data())
def test_what_a_row_could_have_is_as_the_twin_says(drawn, k, data):
    table, plain = drawn
    k = min(k, table.rows)
    row = data.draw(st.integers(0, table.rows - 1))
    index = build_index(table)
    assert nearest_rows(index, table, row, 4).tolist() == naive_explain.nearest(plain.rows, plain.attributes, row, 4)
    path = [tuple(box) for box in grown(table, table.codes[row], table.codes[row], rows=k)]
    assert path == naive_explain.grown(plain.rows, plain.attributes, row, wanted=k)
    (found,) = costs_of_k(table, index, row, [k])
    assert found.at_least == naive_explain.at_least(plain.rows, plain.attributes, row, k)
    assert found.found <= path[-1][0]
    budget = float(pair_costs(table, row).max()) / 2
    within, _ = rows_within(table, row, budget)
    assert within == naive_explain.grown(plain.rows, plain.attributes, row, budget=budget)[-1][1]
    if table.attributes > 1:
        expected = naive_explain.without(plain.rows, plain.attributes, row, 0, k)
        assert without_column(table, row, 0, k) == pytest.approx(expected)


@settings(max_examples=30)
@given(tables(min_rows=2, max_rows=8, max_attributes=3), st.integers(1, 4), st.data())
def test_the_best_box_lies_between_what_is_said(drawn, k, data):
    table, plain = drawn
    k = min(k, table.rows)
    row = data.draw(st.integers(0, table.rows - 1))
    best = naive_explain.smallest(plain.rows, plain.attributes, row, k)
    (found,) = costs_of_k(table, build_index(table), row, [k])
    assert found.at_least <= best + CLOSE
    assert best <= found.found + CLOSE
    few, many = rows_within(table, row, best)
    assert few <= naive_explain.most_rows(plain.rows, plain.attributes, row, best) <= many


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("mondrian", {}),
        ("compact", {}),
        ("nh", {"options": {"key": "a key of some length"}}),
        ("kaca", {"options": {"suppress_above": 0.9}}),
        ("mondrian", {"missing": "suppress"}),
        ("mondrian", {"privacy": ["l-diversity:2:ill"], "sensitive": ["ill"], "keep": []}),
        ("incognito", {"hierarchies": {"place": TREE, "age": coterie.intervals(5, 10, 20)}}),
    ],
    ids=["mondrian", "compact", "nh", "kaca", "missing", "diverse", "incognito"],
)
def test_what_rows_pay_adds_up_to_the_loss(method, more):
    release = coterie.anonymize(PEOPLE, **{**SETTINGS, "method": method, **more})
    rows = [release.explain(row) for row in range(PEOPLE.num_rows)]
    assert sum(each.cost for each in rows) == pytest.approx(release.measures["ncp"])
    for each in rows:
        assert each.cost <= each.most + CLOSE
        if each.state == "left out":
            assert each.attributes == each.nearest == ()
            assert release.groups[each.row] == -1
            continue
        assert sum(part.paid for part in each.attributes) == pytest.approx(each.cost)
        assert each.at_least <= each.found + CLOSE
        assert each.rows_found <= each.rows_at_most
        if each.state == "suppressed":
            assert release.groups[each.row] == -1
            assert each.cost == each.most
            continue
        assert each.group == release.groups[each.row]
        assert each.size == int((release.groups == each.group).sum())
        if each.state == "group":
            assert each.found <= each.cost + CLOSE
            assert each.rows_found >= each.size
    states = {each.state for each in rows}
    assert states == {
        "nh": {"ring"},
        "kaca": {"group", "suppressed"} if release.measures["suppressed"] else {"group"},
    }.get(method, {"group", "left out"} if "missing" in more else {"group"})


def test_a_row_in_words_of_figures():
    table = pa.table({"age": [20, 21, 30, 50, 51, 60], "sex": ["f", "f", "m", "m", "f", "m"]})
    release = coterie.anonymize(table, quasi=["age", "sex"], k=3, method="mondrian", seed=0)
    found = release.explain(2)
    assert (found.state, found.size, found.k, found.most) == ("group", 3, 3, 2.0)
    by_name = {each.name: each for each in found.attributes}
    assert by_name["age"].cost == pytest.approx(10 / 40)
    assert (by_name["age"].furthest, by_name["age"].alike, by_name["age"].values) == (0, 1, 3)
    assert (by_name["sex"].cost, by_name["sex"].furthest, by_name["sex"].of) == (1.0, 0, 2)
    assert found.attributes[0].name == "sex"  # the dearest first
    assert found.cost == pytest.approx(1.25)
    # Row 3 is 20 years away, row 5 is 30: with the same sex this is cheaper than any woman.
    assert [each.row for each in found.nearest] == [3, 5, 1, 0, 4]
    assert found.at_least == pytest.approx(0.75)
    assert found.found == pytest.approx(0.75)
    assert (found.rows_found, found.rows_at_most) == (3, 5)
    assert {each.name: each.at_least for each in found.without} == pytest.approx({"age": 0.0, "sex": 0.25})


def test_values_are_shown_only_where_asked_for():
    release = coterie.anonymize(PEOPLE, **SETTINGS, method="mondrian")
    silent = json.dumps(release.explain(1).to_dict())
    assert "zebulon" not in silent
    assert not any(f'"{place}"' in silent for place in ("o1", "s1", "North"))
    shown = release.explain(1, show_values=True)
    by_name = {each.name: each for each in shown.attributes}
    assert by_name["job"].value == "zebulon1"
    assert by_name["age"].value == str(PEOPLE["age"][1])
    published = release.frame.slice(1, 1).to_pylist()[0]
    assert {name: each.published for name, each in by_name.items()} == {name: published[name] for name in by_name}
    assert shown.nearest[0].values.keys() == {"age", "place", "job"}
    secret = coterie.anonymize(PEOPLE, **SETTINGS, method="nh").explain(1, show_values=True)
    assert all(each.published is None for each in secret.attributes)


def test_suppressed_rows_say_what_they_could_have_had():
    mask = np.zeros(90, dtype=bool)
    mask[7] = True
    release = coterie.anonymize(PEOPLE, **SETTINGS, suppress_rows=mask)
    found = release.explain(7)
    assert found.state == "left out"
    assert "mask" in found.note
    assert found.at_least is None
    assert release.explain(8).state == "group"


@pytest.mark.parametrize("row", [-1, 90, "3", 1.0, True])
def test_rows_that_are_not_there_are_refused(row):
    release = coterie.anonymize(PEOPLE, **SETTINGS, method="mondrian")
    with pytest.raises(ConfigError, match="position from 0 to 89"):
        release.explain(row)


def test_a_note_says_that_promises_may_need_more():
    release = coterie.anonymize(PEOPLE, **DIVERSE, method="mondrian")
    assert "guarantees beyond k" in release.explain(0).note
    assert "guarantees" not in coterie.anonymize(PEOPLE, **SETTINGS, method="mondrian").explain(0).note


@pytest.mark.parametrize("method", ["mondrian", "nh", "kaca"])
def test_what_drives_the_loss(method):
    options = {"suppress_above": 0.9} if method == "kaca" else {}
    release = coterie.anonymize(PEOPLE, **SETTINGS, method=method, options=options)
    loss = release.explain()
    assert loss.gcp == release.measures["gcp"]
    assert sum(each.share for each in loss.drivers) == pytest.approx(1.0)
    shares = [each.share for each in loss.drivers]
    assert shares == sorted(shares, reverse=True)
    paid = np.asarray([release.explain(row).cost for row in range(90)])
    for group in loss.coarsest:
        own = paid[release.groups == group.group]
        assert group.rows == len(own)
        assert group.cost == pytest.approx(own.mean())
        assert group.share == pytest.approx(own.sum() / paid.sum())
    most = max(paid[release.groups == group].sum() for group in range(release.grouping.groups))
    assert loss.coarsest[0].share == pytest.approx(most / paid.sum())
    assert loss.suppressed == release.measures["suppressed"]
    assert loss.suppressed_share == pytest.approx(paid[release.groups < 0].sum() / paid.sum())
    if method != "nh":  # there, explain gives means over the boxes that a row may have
        assert loss.dearest_tenth == pytest.approx(np.sort(paid)[-9:].sum() / paid.sum())
    json.dumps(loss.to_dict())


def test_a_table_that_loses_nothing():
    table = pa.table({"a": [1, 1, 1, 1], "b": ["x", "x", "x", "x"]})
    release = coterie.anonymize(table, quasi=["a", "b"], k=2)
    loss = release.explain()
    assert [each.share for each in loss.drivers] == [0.0, 0.0]
    assert loss.dearest_tenth == loss.suppressed_share == 0.0
    found = release.explain(3)
    assert (found.cost, found.at_least, found.rows_found) == (0.0, 0.0, 4)


def test_what_if_is_what_would_be():
    release = coterie.anonymize(PEOPLE, **SETTINGS, method="mondrian")
    found = release.what_if(k=[2, 8, 200], drop=["age", "job"])
    assert found.method == "compact, effort fast"
    assert found.release_gcp == release.measures["gcp"]
    fast = {"method": "compact", "options": {"effort": "fast"}}
    assert found.gcp == pytest.approx(coterie.anonymize(PEOPLE, **{**SETTINGS, **fast}).measures["gcp"])
    for each in found.changes[:2]:
        again = coterie.anonymize(PEOPLE, **{**SETTINGS, **fast, "k": each.k})
        assert (each.after, each.groups) == (pytest.approx(again.measures["gcp"]), again.measures["groups"])
        assert each.before == pytest.approx(found.gcp)
    assert found.changes[2].reason.startswith("Groups of 200 rows cannot be made")
    assert np.isnan(found.changes[2].after)
    without = next(each for each in found.changes if each.dropped == "age")
    again = coterie.anonymize(
        PEOPLE, quasi=["place", "job"], keep=["age", "ill"], hierarchies={"place": TREE}, k=4, **fast
    )
    assert without.after == pytest.approx(again.measures["gcp"])
    kept = coterie.anonymize(PEOPLE, **{**SETTINGS, **fast}).measures.attributes
    assert without.before == pytest.approx(np.mean([kept["place"].ncp, kept["job"].ncp]))
    assert json.loads(json.dumps(found.to_dict()))["changes"][2]["after"] is None


def test_what_if_with_another_method_and_promises():
    release = coterie.anonymize(PEOPLE, **DIVERSE, method="mondrian")
    found = release.what_if(k=[4], drop=[], method="mondrian")
    assert found.method == "mondrian"
    assert found.changes[0].after == found.gcp == pytest.approx(release.measures["gcp"])
    assert [each.change for each in release.what_if(method="mondrian").changes] == [
        "k = 2",
        "k = 8",
        "without age",
        "without place",
        "without job",
    ]
    with pytest.raises(ConfigError, match=r"'aeg' is not a quasi-identifier \(did you mean 'age'\?\)"):
        release.what_if(drop=["aeg"])


def test_explaining_does_not_depend_on_the_kind_of_frame():
    kinds = [coterie.anonymize(data, **SETTINGS, method="mondrian") for data in (PEOPLE, PEOPLE.to_pandas())]
    ours, theirs = (release.explain(5).to_dict() for release in kinds)
    assert ours == theirs
    assert isinstance(kinds[1].frame, pd.DataFrame)
