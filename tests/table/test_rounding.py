"""Ends rounded outward: against fractions, on every engine, read back, judged and refused."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.naive_rounding import rounded

import coterie
from coterie.errors import ConfigError

STEPS = st.sampled_from(["0.1", "0.5", "1", "3", "10", "2.5"])


def ends(text):
    inner = text[1:-1]
    low, high = inner.split(", ") if ", " in inner else inner.split("-")
    return Fraction(low), Fraction(high)


@given(
    ages=st.lists(st.integers(-40, 90) | st.sampled_from([0, 10, 20]), min_size=3, max_size=40),
    step=STEPS,
    decimals=st.integers(0, 2),
    k=st.integers(2, 3),
    style=st.sampled_from(["interval", "bounds"]),
)
def test_published_ends_are_those_of_the_twin(ages, step, decimals, k, style):
    values = [age / 10**decimals for age in ages] if decimals else ages
    table = pd.DataFrame({"age": values})
    settings = {"quasi": ["age"], "k": k, "method": "mondrian", "publish": {"age": style}}
    release = coterie.anonymize(table, **settings, round={"age": float(step)})
    shown = release.frame
    if style == "bounds":
        low, high = ([Fraction(str(end)) for end in shown[f"age_{each}"]] for each in ("min", "max"))
        cells = list(zip(low, high, strict=True))
    else:
        cells = [ends(text) for text in shown["age"]]
    groups = {}
    for group, value in zip(release.groups, values, strict=True):
        groups.setdefault(group, []).append(Fraction(str(value)))
    for group, cell in zip(release.groups, cells, strict=True):
        assert cell == rounded(groups[group], Fraction(step))
    assert release.measures["outside"] == 0
    again = coterie.measure(table, shown, config=release.config)
    assert again["gcp"] == pytest.approx(release.measures["gcp"], abs=1e-12)
    assert release.measures["gcp"] >= coterie.anonymize(table, **settings).measures["gcp"] - 1e-12


def people(rows=600):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": pd.array(rng.integers(18, 90, rows), dtype="Int64"),
            "income": rng.normal(3000, 500, rows).round(2),
            "zip": rng.integers(100, 140, rows),
            "ill": rng.choice(list("abc"), rows),
        }
    ).mask(lambda frame: rng.random(frame.shape) < [0.05, 0.03, 0, 0])


SETTINGS = {"quasi": ["age", "income", "zip"], "sensitive": ["ill"], "k": 5, "method": "mondrian"}
ROUND = {"age": 5, "income": 250}


def test_blocks_publish_what_memory_does_and_keep_it(tmp_path):
    people().to_csv(tmp_path / "in.csv", index=False)
    held = coterie.anonymize(tmp_path / "in.csv", **SETTINGS, round=ROUND)
    stored = coterie.anonymize(
        tmp_path / "in.csv", **SETTINGS, round=ROUND, engine="blocks", block_rows=10_000, output=tmp_path / "out.csv"
    )
    assert stored.arrow.to_pydict() == held.arrow.to_pydict()
    assert stored.measures["gcp"] == pytest.approx(held.measures["gcp"])
    cut = coterie.anonymize(
        tmp_path / "in.csv", **SETTINGS, round=ROUND, engine="blocks", block_rows=100, output=tmp_path / "cut.csv"
    )
    measured = coterie.measure(tmp_path / "in.csv", tmp_path / "cut.csv", config=cut.config)
    assert measured["gcp"] == pytest.approx(cut.measures["gcp"])
    assert measured["outside"] == 0
    mapping = held.mapping().to_pandas().query("attribute == 'age' and published != '*'").dropna()
    low = mapping["published"].map(lambda text: ends(text)[0])
    assert (mapping["lowest"].astype(int) >= low).all()
    assert (low % 5 == 0).all()
    assert held.explain(3).row == 3


def test_the_judge_notices_ends_that_are_not_rounded(tmp_path):
    plain = coterie.anonymize(people(), **SETTINGS)
    rounding = coterie.anonymize(people(), **SETTINGS, round=ROUND)
    for release, passed in ((plain, False), (rounding, True)):
        release.write(tmp_path / "out.csv", force=True)
        for engine in ("memory", "blocks"):
            config = rounding.config.replace(engine=engine)
            found = coterie.verify(tmp_path / "out.csv", config=config, k=5)
            assert {check.name: check.passed for check in found.checks if check.name.startswith("round")} == {
                "round:age": passed,
                "round:income": passed,
            }


def test_rounded_ends_give_nothing_away():
    before = coterie.anonymize(people(), **SETTINGS).verdict.questions["singling-out"].figures["downcoding"]
    after = coterie.anonymize(people(), **SETTINGS, round={**ROUND, "zip": 10}).verdict
    assert {each["column"] for each in before if each["known"] > 0.1} == {"age", "income", "zip"}
    assert after.questions["singling-out"].figures["downcoding"] == []


@pytest.mark.parametrize(
    ("settings", "path"),
    [
        ({"round": {"age": 0}}, "round.age"),
        ({"round": {"ill": 5}}, "round"),
        ({"round": {"age": 5}, "hierarchies": {"age": {"intervals": [5, 10]}}}, "round.age"),
        ({"round": {"age": 5}, "publish": {"age": "mean"}}, "round.age"),
        ({"round": {"age": 5}, "types": {"age": "category"}}, "round.age"),
        ({"round": {"age": 5}, "method": "nh"}, "round"),
    ],
)
def test_what_cannot_be_rounded_is_refused(settings, path):
    with pytest.raises(ConfigError) as refused:
        coterie.anonymize(people().dropna(), **{**SETTINGS, **settings})
    assert any(problem.path.startswith(path) for problem in refused.value.problems)


def test_dates_are_not_rounded():
    table = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=30)})
    with pytest.raises(ConfigError, match="intervals of numbers"):
        coterie.anonymize(table, quasi=["day"], k=3, round={"day": 5})
