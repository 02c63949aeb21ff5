"""Proposed hierarchies: they save what they say, hold every value, and put none into the TOML file."""

import tomllib

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coterie
from coterie.suggesting.proposals import propose
from coterie.suggesting.suggest import guess_table

JOBS = ["baker", "cook", "butcher", "nurse", "doctor", "midwife", "clerk", "lawyer", "notary"]


def people(rows=300, seed=3):
    """Jobs of three trades, whose ages hardly overlap."""
    draw = np.random.default_rng(seed)
    job = draw.integers(0, 9, rows)
    age = 20 + 15 * (job // 3) + draw.integers(0, 14, rows)
    others = {"height": draw.integers(150, 199, rows), "bmi": draw.integers(150, 199, rows)}
    return pd.DataFrame({"age": age, "job": [JOBS[at] for at in job], **others})


def test_values_that_occur_beside_the_same_others_are_joined_first():
    found = coterie.suggest(people())
    proposal = found.proposals[0]
    assert (proposal.column, proposal.what, proposal.rows) == ("job", "a tree learned from the data", 300)
    assert proposal.after < 0.97 * proposal.before
    # Each trade is a branch: the smallest group above the first job of a trade with three leaves has just that trade.
    rows = [line.split(";") for line in found.hierarchies["job"].csv_text().splitlines()]
    above = {row[0]: set(row[1:-1]) for row in rows}
    for at in range(0, 9, 3):
        trade, rest = JOBS[at : at + 3], [job for job in JOBS if job not in JOBS[at : at + 3]]
        common = set.intersection(*(above[job] for job in trade))
        assert any(not any(label in above[job] for job in rest) for label in common), trade


@pytest.mark.parametrize("method", ["mondrian", "compact"])
def test_the_loss_falls_on_the_table_too(method):
    frame = people(600, seed=5)
    found = coterie.suggest(frame)
    config = found.config.replace(method=method, options={"effort": "fast"} if method == "compact" else {})
    before = coterie.anonymize(frame, config=config).measures["gcp"]
    after = coterie.anonymize(frame, config=config, hierarchies=found.hierarchies).measures["gcp"]
    assert after < before


def test_codes_get_prefixes_which_hold_no_value():
    draw = np.random.default_rng(0)
    chapter = draw.integers(0, 4, 1200)
    code = [
        f"{'ABCD'[one]}{two}{three}" for one, two, three in zip(chapter, *draw.integers(0, 9, (2, 1200)), strict=True)
    ]
    frame = pd.DataFrame({"icd": code, "age": 20 + 10 * chapter + draw.integers(0, 9, 1200), "job": "x"})
    frame = frame.rename(columns={"icd": "v1"})
    found = coterie.suggest(frame)
    (proposal,) = found.proposals
    assert proposal.rule == {"prefixes": []}
    assert "# v1 = { prefixes = [] }" in found.toml
    assert "hierarchies" not in tomllib.loads(found.toml) or not tomllib.loads(found.toml)["hierarchies"]


def test_the_toml_names_no_value_and_its_last_lines_can_be_accepted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people().to_csv("people.csv", index=False)
    found = coterie.suggest("people.csv")
    assert not any(job in found.toml for job in JOBS)
    (line,) = (line for line in found.toml.splitlines() if line.startswith("# python -c"))
    import shlex

    program = shlex.split(line[1:])[2]
    exec(program)
    accepted = found.toml.replace('# job = "job.csv"', 'job = "job.csv"')
    assert accepted != found.toml
    (tmp_path / "coterie.toml").write_text(accepted)
    release = coterie.anonymize("people.csv", config="coterie.toml", method="mondrian")
    assert (
        release.measures["gcp"]
        < coterie.anonymize("people.csv", config=found.config, method="mondrian").measures["gcp"]
    )


def test_nothing_is_proposed_where_there_is_nothing_to_save():
    frame = people()
    assert coterie.suggest(frame[["age", "height"]]).proposals == ()
    assert coterie.suggest(frame.head(20)).proposals == ()
    assert coterie.suggest(frame[["job"]]).proposals == ()


CELLS = st.one_of(st.none(), st.sampled_from([*"abcdefgh", "a and 1 more", "", " ", "*", "1", "2.5"]))


@given(
    rows=st.lists(st.tuples(CELLS, st.one_of(st.none(), st.integers(0, 5)), CELLS), min_size=25, max_size=60),
)
def test_odd_tables_get_trees_with_a_place_for_every_value(rows):
    first, second, third = zip(*rows * 4, strict=True)
    table = pa.table(
        {"x": pa.array(first, pa.string()), "n": pa.array(second, pa.int64()), "y": pa.array(third, pa.string())}
    )
    guesses = [
        guess._replace(role="quasi", number=guess.name == "n", distinct=9, type=None) for guess in guess_table(table)
    ]
    for proposal in propose(table, guesses):
        assert 0 <= proposal.after < proposal.before <= 1
        release = coterie.anonymize(
            table,
            quasi=["x", "n", "y"],
            k=5,
            method="mondrian",
            hierarchies={proposal.column: proposal.hierarchy},
            types={"x": "category", "y": "category"},
        )
        assert release.verification.passed
