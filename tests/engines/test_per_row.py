"""Rows that are published one by one (`nh`): what speaks of groups is right for them, or says that it cannot be had."""

import numpy as np
import pyarrow as pa
import pytest

import coterie
from coterie.errors import ConfigError

ROWS, K = 200, 5
rng = np.random.default_rng(7)
TABLE = pa.table(
    {
        "age": rng.integers(20, 70, ROWS),
        "place": rng.choice(["ab", "ac", "ba", "ca"], ROWS),
        "ill": rng.choice(["flu", "pox", "gout"], ROWS),
    }
)
SETTINGS = {
    "quasi": ["age", "place"],
    "sensitive": ["ill"],
    "hierarchies": {"place": {"A": ["ab", "ac"], "B": ["ba", "ca"]}},
    "k": K,
}


@pytest.fixture(scope="module")
def release():
    return coterie.anonymize(TABLE, method="nh", options={"key": "a key of sixteen letters"}, **SETTINGS)


def fitting(release):
    """[row, published row]: whether the row lies inside the box, read from the published cells by hand."""
    beneath = {"*": ["ab", "ac", "ba", "ca"], "A": ["ab", "ac"], "B": ["ba", "ca"]}
    inside = np.zeros((ROWS, release.arrow.num_rows), bool)
    ages, places = TABLE["age"].to_numpy(), np.array(TABLE["place"].to_pylist())
    for at, row in enumerate(release.arrow.to_pylist()):
        text = str(row["age"])
        low, high = (
            (20, 70) if text == "*" else map(int, text.strip("[]").split("-")) if "-" in text else [int(text)] * 2
        )
        inside[:, at] = (low <= ages) & (ages <= high) & np.isin(places, beneath.get(row["place"], [row["place"]]))
    return inside


def test_every_row_has_k_published_rows_and_the_other_way_round(release):
    inside = fitting(release)
    assert inside.sum(axis=0).min() >= K
    assert inside.sum(axis=1).min() >= K
    assert np.diag(inside).all()


def test_there_is_a_bound_for_groups_and_no_ratio(release):
    """Fewer than any groups lose: the ratio would be below 1, which a bound must not be."""
    assert "loss_over_bound" not in release.measures
    grouped = coterie.anonymize(TABLE, method="mondrian", **SETTINGS)
    assert release.bound == grouped.bound
    assert grouped.measures["loss_over_bound"] >= 1


def test_risk_is_that_of_k_rows_although_fewer_are_alike(release):
    before, after = release.risk
    assert release.verification.k < K
    sizes = release.verification.sizes
    assert after.prosecutor.highest == 1 / K
    assert after.prosecutor.average == pytest.approx((sizes / np.maximum(sizes, K)).sum() / ROWS)
    assert after.uniques == 0
    assert before.prosecutor.highest == 1.0


def test_an_attack_finds_at_least_k_candidates(release):
    found = coterie.attack(release.arrow, TABLE.select(["age", "place"]), on=["age", "place"], config=release.config)
    np.testing.assert_array_equal(found.candidates, fitting(release).sum(axis=1))
    assert found.pinned == 0


def test_what_needs_groups_is_refused(release):
    grouped = coterie.anonymize(TABLE, method="mondrian", **SETTINGS)
    with pytest.raises(ConfigError, match="one by one have no groups that others could join"):
        release.assign(TABLE.slice(0, 3))
    for one, two in ((release, grouped), (grouped, release)):
        with pytest.raises(ConfigError, match="one by one are hidden in no group"):
            coterie.check_joint(one, two)
    for more, words in (
        ({"privacy": ["l-diversity:2"]}, "guarantees beyond k-anonymity need groups"),
        ({"entity": "ill", "sensitive": []}, "people can be counted in groups only"),
        ({"refine": True}, "local search works on local recoding"),
        ({"publish": {"age": "mean"}}, "without groups there is no mean"),
    ):
        with pytest.raises(ConfigError, match=words):
            coterie.anonymize(TABLE, method="nh", **{**SETTINGS, **more})
    with pytest.raises(ConfigError, match="cells cannot be suppressed where rows are published one by one"):
        coterie.anonymize(TABLE, method="nh", suppress_cells={"age": np.arange(ROWS) == 3}, **SETTINGS)
