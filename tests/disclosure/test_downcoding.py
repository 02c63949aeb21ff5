"""Downcoding against a twin that looks at the originals: what is said to be known is true, and all of it is counted."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.naive_downcoding import true_of_classes

import coterie
from coterie.disclosure.downcoding import classes_of, count_cells, downcode

SCHOOL = {"low": {"none": ["a", "b"], "some": ["c"]}, "high": ["d", "e"]}
HALVES = {"low": (["a", "b"], ["c"]), "none": (["a"], ["b"]), "high": (["d"], ["e"])}


def downcoded(table, quasi, hierarchies=None, **settings):
    forms = {name: each.form for name, each in (hierarchies or {}).items()}
    return downcode(count_cells([classes_of(table, quasi)], quasi=quasi), forms=forms, **settings)


@given(
    rows=st.lists(
        st.tuples(st.integers(20, 40), st.sampled_from("abcde"), st.sampled_from("xyz"), st.integers(0, 9)),
        min_size=6,
        max_size=40,
    ),
    k=st.integers(2, 4),
)
def test_what_is_known_is_true_of_the_original(rows, k):
    table = pd.DataFrame(rows, columns=["age", "school", "city", "score"])
    release = coterie.anonymize(
        table,
        quasi=list(table),
        k=k,
        method="mondrian",
        hierarchies={"school": SCHOOL, "score": {"intervals": [2, 4]}},
    )
    bands = {f"[{low}-{low + 1}]": ([str(low)], [str(low + 1)]) for low in range(0, 10, 2)}
    wide = {
        f"[{low}-{low + 3}]": ([str(v) for v in (low, low + 1)], [str(v) for v in (low + 2, low + 3)])
        for low in (0, 4, 8)
    }
    texts = release.frame.astype(str).values.tolist()
    told = true_of_classes(texts, table.astype(str).values.tolist(), {1: HALVES, 3: bands | wide})
    assert told is not None
    for at, each in enumerate(downcoded(release.arrow, release.config.quasi, release.config.hierarchies)):
        exact, known, narrowed = told[at]
        assert each.exact == pytest.approx(exact / len(rows))
        assert each.known == pytest.approx(known / len(rows))
        assert each.narrowed == pytest.approx(narrowed / len(rows))


def test_small_classes_are_known_whole_and_guesses_get_better():
    table = pa.table({"age": ["[20-29]"] * 2 + ["[25-35]"] * 4 + ["30", "30"], "sex": ["f"] * 8})
    (age, sex) = downcoded(table, ["age", "sex"])
    assert (age.exact, age.known, age.complete) == (2 / 8, 4 / 8, 2 / 8)
    # Ends 20, 25, 29, 30, 35: three of them lie in the first interval, four in the second.
    assert age.guess == pytest.approx((2 / 3 + 4 / 4 + 2) / 8)
    assert age.guess_tight == pytest.approx((2 * (1 + 0) / 2 + 4 * (1 + 2 / 4) / 4 + 2) / 8)
    assert (sex.exact, sex.known, sex.guess) == (1, 0, None)


def test_rounded_and_suppressed_cells_tell_nothing():
    table = pa.table({"age": ["*"] * 5 + ["[20-30]"] * 3})
    (age,) = downcoded(table, ["age"])
    assert age.known == 2 / 8
    assert downcoded(table, ["age"], rounded=["age"]) == ()


def test_bounds_in_two_columns_are_read():
    table = pa.table({"age_min": [1, 1, 1, 5, 5], "age_max": [4, 4, 4, 5, 5]})
    (age,) = downcoded(table, ["age"])
    assert (age.exact, age.known) == (2 / 5, 2 / 5)


def test_attack_tells_of_order_and_tight_cells():
    known = pa.table({"age": [3, 8]})
    ages = [f"[{at}-{at + 4}]" for at in range(1, 40, 2) for _ in range(3)]
    found = coterie.attack(pa.table({"age": ages}), known, quasi=["age"], k=3)
    assert found.order[0].column == "age"
    assert found.downcoding[0].known == pytest.approx(2 / 3)
    assert found.to_dict()["order"][0]["column"] == "age"
    rng = np.random.default_rng(0).integers(0, 9, 60)
    full = coterie.anonymize(
        pd.DataFrame({"v": [str(each) for each in rng]}),
        quasi=["v"],
        k=3,
        method="incognito",
        hierarchies={"v": {"prefixes": [1]}},
    )
    assert coterie.attack(full.frame, pa.table({"v": ["1"]}), config=full.config).downcoding == ()


def test_both_ends_of_ordered_categories_are_known():
    grades = ["low", "middle", "high", "low", "high", "middle", "low", "low"]
    release = coterie.anonymize(pd.DataFrame({"g": grades}), quasi=["g"], k=4, ordered={"g": ["low", "middle", "high"]})
    (told,) = coterie.attack(release.frame, pa.table({"g": ["low"]}), config=release.config).downcoding
    texts = release.frame["g"].tolist()
    wide = {text for text in texts if text.startswith("[")}
    assert told.known == 2 * len(wide) / 8
    assert told.exact == sum(text not in wide for text in texts) / 8
