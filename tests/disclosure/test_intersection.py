"""Releases of the same people together, against a twin that goes person by person."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import naive_intersection

import coterie
from coterie.cli.app import main
from coterie.disclosure import intersection
from coterie.disclosure.intersection import intersect
from coterie.errors import ConfigError

CELL = st.tuples(st.integers(0, 8), st.integers(0, 4)).map(lambda pair: f"[{pair[0]}-{pair[0] + pair[1]}]")
ROWS = st.lists(
    st.tuples(CELL, st.sampled_from(["x", "y", "*"]), st.sampled_from("abc"), st.sampled_from("pq")),
    min_size=1,
    max_size=14,
)
NAMES = ["age", "sex", "ill", "kept"]


def fits(person, row):
    low, high = map(int, row["age"][1:-1].split("-"))
    return low <= person["age"] <= high and row["sex"] in ("*", person["sex"])


@given(
    releases=st.lists(ROWS, min_size=2, max_size=3),
    people=st.lists(st.tuples(st.integers(0, 12), st.sampled_from("xy")), min_size=1, max_size=8),
    k=st.integers(1, 4),
    held=st.sampled_from([1, 7, 2**22]),
)
def test_what_is_left_is_what_the_twin_finds(releases, people, k, held):
    rows = [[dict(zip(NAMES, row, strict=True)) for row in release] for release in releases]
    known = [dict(zip(NAMES, person, strict=False)) for person in people]
    wanted = naive_intersection.intersect(rows, known, fits, ["ill", "kept"], k)
    config = coterie.Config(quasi=["age", "sex"], sensitive=["ill"], k=k, types={"age": "number"})
    before, intersection.HELD = intersection.HELD, held
    try:
        found = intersect(
            [pa.Table.from_pylist(each) for each in rows],
            pa.Table.from_pylist(known),
            on=["age", "sex"],
            config=config,
            sensitive=["ill"],
        )
    finally:
        intersection.HELD = before
    assert found.compared == ("ill", "kept")
    told = {name: getattr(found, name) for name in ("people", "below_alone", "below", "pinned")}
    assert told == {name: wanted[name] for name in told}
    assert found.fewest == (wanted["fewest"] or 0)
    assert found.known == {"ill": wanted["known"]}


def people(rows=400):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "zip": rng.integers(10_000, 10_400, rows),
            "ill": rng.choice([f"i{at}" for at in range(40)], rows),
        }
    )


def test_two_releases_that_keep_k_break_it_together(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = people()
    settings = {"quasi": ["age", "zip"], "sensitive": ["ill"], "k": 5}
    one = coterie.anonymize(table, **settings, method="mondrian")
    two = coterie.anonymize(table, **settings, method="kmembers")
    one.write("one.csv")
    two.write("two.csv")
    table.to_csv("known.csv", index=False)
    found = coterie.attack("one.csv", "known.csv", also=["two.csv"], **settings).joint
    assert found.people == 400
    assert found.below_alone == 0
    assert found.below > 200
    assert found.pinned > 20
    assert found.known["ill"] > 20
    asked = [
        "attack",
        "one.csv",
        "--known",
        "known.csv",
        "--also",
        "two.csv",
        "--quasi",
        "age,zip",
        "--sensitive",
        "ill",
    ]
    assert main([*asked, "-k", "5"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert f"{found.below:,} have fewer than 5 left (0 by one release alone), {found.pinned:,} only one" in text


def test_the_same_release_twice_gives_nothing_more_away():
    table = people()
    release = coterie.anonymize(table, quasi=["age", "zip"], sensitive=["ill"], k=5, method="mondrian")
    found = coterie.attack(release.frame, table, also=[release.frame], config=release.config).joint
    assert (found.below, found.pinned) == (0, 0)


def test_a_release_without_known_columns_is_refused():
    table = pa.table({"age": ["[1-5]"] * 3})
    with pytest.raises(ConfigError, match="none of the columns that are known"):
        coterie.attack(table, pa.table({"age": [2]}), also=[pa.table({"sex": ["f"]})], quasi=["age"], k=2)
