"""Advice that is followed turns the warning: every kind of advice is given, applied, and asked again."""

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie.api.verdict import verify_and_judge

BASE = {"quasi": ["age", "zip"], "sensitive": ["ill"], "drop": ["score", "subject_id"], "method": "mondrian"}


def people(rows=600):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "zip": rng.integers(100, 120, rows),
            "score": rng.normal(0, 1, rows).round(4),
            "ill": rng.choice(["a", "b", "c"], rows),
            "subject_id": np.arange(rows),
        }
    )


def grouped():
    return people().assign(ill=lambda frame: np.where(frame.age < 50, "a", "b"))


def repeated():
    return people().assign(subject_id=lambda frame: frame.index // 6)


def sparse():
    """Twenty rows that share nothing: a column of names is lost whole."""
    rng = np.random.default_rng(3)
    columns = {f"c{at}": [f"v{each}" for each in rng.permutation(20)] for at in range(2)}
    return pd.DataFrame({**columns, "n": [int(each[1:]) // 10 for each in columns["c0"]]})


HALVES = {f"half {half}": [f"v{10 * half + at}" for at in range(10)] for half in range(2)}
OTHERS = {"quasi": ["c0", "c1", "n"], "sensitive": [], "drop": [], "limits": {"loss": 1.0}}

CASES = {
    "make it a quasi-identifier": (
        people(),
        {"keep": ["score"], "drop": ["subject_id"]},
        "singling-out",
        "Make `score` a quasi-identifier, or drop it",
        {"quasi": ["age", "zip", "score"], "keep": []},
    ),
    "or drop it": (
        people(),
        {"keep": ["score"], "drop": ["subject_id"]},
        "singling-out",
        "or drop it",
        {"keep": [], "drop": ["score", "subject_id"]},
    ),
    "accept": (
        people(),
        {"keep": ["score"], "drop": ["subject_id"]},
        "singling-out",
        'accept = ["singling-out:score"]',
        {"accept": ["singling-out:score"]},
    ),
    "k": (people(), {"k": 5}, "singling-out", "k = 12 meets 0.09", {"k": 12}),
    "threshold": (people(), {"k": 5}, "singling-out", "set threshold", {"threshold": 0.2}),
    "entity": (
        repeated(),
        {},
        "singling-out",
        'set entity = "subject_id"',
        {"entity": "subject_id", "drop": ["score"]},
    ),
    "order": (
        people().sort_values("age"),
        {},
        "singling-out",
        'Set row_order = "shuffle"',
        {"row_order": "shuffle"},
    ),
    "l-diversity": (
        grouped(),
        {},
        "inference",
        'Add "l-diversity:2:ill" to privacy',
        {"privacy": ["l-diversity:2:ill"]},
    ),
    "a smaller k": (people(), {"k": 250}, "utility", "a smaller k", {"k": 12}),
    "fewer quasi-identifiers": (
        people(),
        {"k": 250, "limits": {"loss": 0.6}},
        "utility",
        "Use fewer quasi-identifiers",
        {"quasi": ["age"], "drop": ["zip", "score", "subject_id"]},
    ),
    "a hierarchy": (
        sparse(),
        {**OTHERS, "k": 10, "limits": {"loss": 1.0, "column-loss": 0.9, "query-error": 1.0}},
        "utility",
        "Give it a hierarchy",
        {"hierarchies": {"c0": HALVES}, "quasi": ["c0", "n"], "drop": ["c1"]},
    ),
    "drop a column": (
        sparse(),
        {**OTHERS, "k": 10, "limits": {"loss": 1.0, "column-loss": 0.9, "query-error": 1.0}},
        "utility",
        "or drop it, so that others keep more detail",
        {"quasi": ["n"], "drop": ["c0", "c1"]},
    ),
    "queries": (
        people(),
        {"k": 250, "limits": {"loss": 1.0, "column-loss": 1.0, "query-error": 0.04}},
        "utility",
        "use a smaller k",
        {"k": 12},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_following_the_advice_turns_the_warning(case):
    table, settings, question, advice, change = CASES[case]
    settings = {**BASE, **settings}
    before = coterie.anonymize(table, **settings).verdict.questions[question]
    assert before.state != "pass"
    assert any(advice in text for text in before.advice)
    after = coterie.anonymize(table, **{**settings, **change}).verdict.questions[question]
    assert after.state == "pass"
    assert after.advice == ()


def test_a_published_table_below_k_is_to_be_made_again(tmp_path):
    release = coterie.anonymize(people(), **BASE, k=5)
    release.write(tmp_path / "out.csv")
    _, found = verify_and_judge(tmp_path / "out.csv", release.config, k=12)
    assert found.state == "fail"
    assert "anonymize the table with k = 12" in found.questions["singling-out"].advice[0]
    coterie.anonymize(people(), **BASE, k=12).write(tmp_path / "again.csv")
    _, found = verify_and_judge(tmp_path / "again.csv", release.config.replace(k=12), k=12)
    assert found.state == "pass"
