"""Verification by coterie and by pycanon, a package by others: equal where pycanon is right, and told where not."""

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from originals import IN_CLASSES, originals
from promises import judge_models

import coterie
from coterie.datasets import adult
from coterie.privacy import TCloseness
from coterie.settings.models import parse_model
from coterie.verification.verify import verify_table

MODELS = {"l": "l-diversity:1", "alpha": "alpha-k:1", "t": "t-closeness:1", "beta": "beta-likeness:1"}


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2)), min_size=1, max_size=30), st.randoms())
def test_k_of_tables(pycanon, rows, random):
    frame = pd.DataFrame(rows, columns=["letter", "number"])
    labels = list(range(100, 100 + len(rows)))
    random.shuffle(labels)
    table = pa.Table.from_pandas(frame.set_index(pd.Index(labels)), preserve_index=True)
    assert verify_table(table, quasi=["letter", "number"]).k == pycanon(frame, ["letter", "number"])["k"]


@settings(max_examples=25)
@given(originals(missing=False), st.integers(1, 4), st.sampled_from(IN_CLASSES))
def test_k_of_releases(pycanon, original, k, method):
    """Where nothing is missing: pycanon leaves rows with missing cells out."""
    table, roles = original
    release = coterie.anonymize(table, **roles, k=min(k, table.num_rows), method=method)
    found = pycanon(release.arrow.to_pandas().astype(str), roles["quasi"])
    assert found["k"] == release.verification.k >= release.config.k


def test_rows_with_missing_quasi_identifiers_are_left_out_by_pycanon(pycanon):
    """A checker that leaves them out overstates k."""
    frame = pd.DataFrame({"sex": ["f", "f", None]})
    assert pycanon(frame.fillna("none"), ["sex"]) == {"k": 1}  # what is true
    assert pycanon(frame, ["sex"]) == {"k": 2}  # what pycanon says
    assert coterie.verify(frame, quasi=["sex"]).k == 1


def compare(pycanon, frame, quasi, column):
    """Every model that both know, on one column."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    found = verify_table(table, quasi=quasi)
    expected = pycanon(frame, quasi, [column], checks=("k", *MODELS))
    assert found.k == expected.pop("k")
    for name, value in expected.items():
        model = parse_model(f"{MODELS[name]}:{column}")
        if name == "t" and pd.api.types.is_numeric_dtype(frame[column]):
            model = TCloseness(1, on=column, distance="ordered")
        (check,) = judge_models(found.class_of_row, table.select([column]), [model])
        assert check.found == pytest.approx(value), name


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.integers(0, 2), st.integers(0, 4)), min_size=2, max_size=30))
def test_models_on_tables(pycanon, rows):
    frame = pd.DataFrame(rows, columns=["a", "b", "s"])
    if frame["s"].nunique() > 1:  # pycanon divides by zero otherwise
        compare(pycanon, frame, ["a", "b"], "s")
    frame["s"] = frame["s"].map("v{}".format)
    compare(pycanon, frame, ["a", "b"], "s")


def test_models_on_adult(pycanon):
    frame = adult().to_pandas().head(4000)[["age", "sex", "race", "occupation", "hours-per-week"]].dropna()
    frame = frame.reset_index(drop=True)
    frame["age"] = frame["age"] // 20
    compare(pycanon, frame, ["age", "sex", "race"], "occupation")
    compare(pycanon, frame, ["age", "sex", "race"], "hours-per-week")


def measured(found, column):
    """Name of a measure → what the worst group has."""
    return {each.name: each.value for each in found.measured if each.column == column}


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xyz")), min_size=2, max_size=30).filter(
        lambda rows: len({ill for _, ill in rows}) > 1
    )
)
def test_what_verify_measures_unasked(pycanon, rows):
    frame = pd.DataFrame(rows, columns=["q", "ill"])
    found = measured(coterie.verify(frame, quasi=["q"], sensitive=["ill"]), "ill")
    expected = pycanon(frame, ["q"], ["ill"], checks=MODELS)
    for ours, theirs in (("distinct l", "l"), ("alpha", "alpha"), ("t (equal)", "t"), ("beta", "beta")):
        assert found[ours] == pytest.approx(expected[theirs]), ours


def test_what_verify_measures_of_a_release_of_adult(pycanon):
    quasi, sensitive = ["age", "sex", "race"], ["occupation"]
    table = adult().slice(0, 3_000).select([*quasi, *sensitive])
    release = coterie.anonymize(table, quasi=quasi, sensitive=sensitive, k=10, method="mondrian")
    found = coterie.verify(release.frame, quasi=quasi, sensitive=sensitive, k=10)
    values = measured(found, "occupation")
    expected = pycanon(release.arrow.to_pandas().fillna("?"), quasi, sensitive, checks=("k", *MODELS))
    assert found.k == expected["k"]
    for ours, theirs in (("distinct l", "l"), ("alpha", "alpha"), ("t (equal)", "t"), ("beta", "beta")):
        assert values[ours] == pytest.approx(expected[theirs]), ours
