"""Models beyond k, checked on published tables: as a gate, as measured values, and against another program."""

import json
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest

import coterie
from coterie.cli.app import main
from coterie.errors import ConfigError, VerificationError
from coterie.settings.config import Config
from coterie.verification.promises import promise_of

# Two groups of four: one with three diseases, one with two.
TABLE = pa.table(
    {
        "age": ["[20-29]"] * 4 + ["[30-39]"] * 4,
        "disease": ["flu", "flu", "pox", "gout", "flu", "flu", "flu", "pox"],
        "pay": [1, 2, 3, 4, 1, 2, 3, 4],
    }
)


def measured(found):
    return {(each.column, each.name): each.value for each in found.measured}


def test_promises_pass_and_fail_by_name():
    kept = coterie.verify(TABLE, quasi=["age"], sensitive=["disease"], k=4, privacy=["l-diversity:2"])
    assert kept.passed
    kept.raise_for_failure()
    broken = coterie.verify(
        TABLE, quasi=["age"], sensitive=["disease"], k=4, privacy=["l-diversity:3", coterie.TCloseness(0.2)]
    )
    assert [(check.name, check.passed) for check in broken.checks] == [
        ("k-anonymity", True),
        ("l-diversity(disease)", False),
        ("t-closeness(disease)", True),
    ]
    assert (broken.checks[1].found, broken.checks[1].worst, broken.checks[1].size) == (2, 1, 4)
    with pytest.raises(VerificationError, match="distinct 3-diversity of 'disease' is wanted"):
        broken.raise_for_failure()


def test_models_without_a_column_are_checked_on_every_sensitive_one():
    found = coterie.verify(TABLE, quasi=["age"], sensitive=["disease", "pay"], privacy=["l-diversity:3"])
    assert [(check.name, check.passed) for check in found.checks] == [
        ("l-diversity(disease)", False),
        ("l-diversity(pay)", True),
    ]


def test_sensitive_columns_are_measured_unasked():
    found = measured(coterie.verify(TABLE, quasi=["age"], sensitive=["disease"]))
    assert found["disease", "distinct l"] == 2
    assert found["disease", "frequency l"] == pytest.approx(4 / 3)
    assert found["disease", "alpha"] == 0.75
    # In the table flu has 5/8, pox 2/8, gout 1/8; in both groups flu is 1/8 off, one way or the other.
    assert found["disease", "t (equal)"] == pytest.approx(1 / 8)
    assert found["disease", "beta"] == pytest.approx(1.0)
    assert found["disease", "delta"] == np.inf
    assert ("disease", "t (ordered)") not in found
    ordered = measured(coterie.verify(TABLE, quasi=["age"], sensitive=["pay"]))
    assert ordered["pay", "t (ordered)"] == 0


def test_what_cannot_be_checked_is_refused():
    with pytest.raises(ConfigError, match="needs a sensitive column"):
        coterie.verify(TABLE, quasi=["age"], privacy=["l-diversity:2"])
    with pytest.raises(ConfigError, match="no column 'ill'"):
        coterie.verify(TABLE, quasi=["age"], sensitive=["ill"])
    with pytest.raises(ConfigError, match="has no order"):
        coterie.verify(TABLE, quasi=["age"], sensitive=["disease"], privacy=["t-closeness:0.5::ordered"])


def test_k_map_counts_who_fits_in_a_population(tmp_path):
    population = tmp_path / "population.csv"
    population.write_text("age\n" + "\n".join(map(str, [19, 20, 21, 29, 30, 35, 36, 37, 38])) + "\n")
    for k, passed in ((3, True), (4, False)):
        found = coterie.verify(TABLE, quasi=["age"], privacy=[coterie.KMap(k, str(population))])
        assert found.passed is passed
        assert found.checks[0].found == 3


def test_the_command_is_a_gate(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    cells = zip(TABLE["age"].to_pylist(), TABLE["disease"].to_pylist(), strict=True)
    (tmp_path / "out.csv").write_text("age,disease\n" + "".join(f"{age},{ill}\n" for age, ill in cells))
    base = ["verify", "out.csv", "--quasi", "age", "--sensitive", "disease", "-k", "4"]
    assert main([*base, "--l", "2", "--t", "0.2", "--alpha", "0.75"]) == 0
    out = capsys.readouterr().out
    assert "promises      pass" in out
    assert "distinct l" in out
    for flag, value in (("--l", "3"), ("--t", "0.1"), ("--alpha", "0.7"), ("--beta", "0.5"), ("--delta", "1")):
        assert main([*base, flag, value]) == 1
        out = capsys.readouterr().out
        assert "FAIL" in out
        assert "flu" not in out
    assert main([*base, "--privacy", "l-diversity:3:disease", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert not found["passed"]
    assert {"name": "delta", "value": None} in [
        {"name": each["name"], "value": each["value"]} for each in found["measured"]
    ]
    assert main([*base, "--l", "many"]) == 2
    assert main([*base, "--privacy", "l-diversity:3:pay"]) == 2


def test_anonymize_keeps_what_it_was_asked_for(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lines = [f"{rng.integers(20, 60)},{rng.choice(['flu', 'pox', 'gout'])},{rng.integers(0, 25)}" for _ in range(80)]
    (tmp_path / "people.csv").write_text("age,ill,who\n" + "\n".join(lines) + "\n")
    flags = ["--quasi", "age", "--sensitive", "ill", "-k", "4", "--method", "mondrian"]
    flags += ["--privacy", "l-diversity:2", "--privacy", "t-closeness:0.4:ill", "--entity", "who"]
    assert main(["anonymize", "people.csv", *flags, "-o", "out.csv"]) == 0, capsys.readouterr().err
    assert main(["verify", "out.csv", "-c", "out.coterie.toml"]) == 0
    assert "who" not in (tmp_path / "out.csv").read_text().splitlines()[0]
    assert main(["anonymize", "people.csv", *flags, "--privacy", "l-diversity:4", "--dry-run"]) == 4
    assert "l can be at most 3" in capsys.readouterr().err


@pytest.mark.parametrize(("share", "passed"), [(2, False), (8, True)])
def test_delta_disclosure_also_forbids_that_a_value_is_rarer_than_it_was(share, passed):
    """Half of all rows have the flu. Where a twentieth of a class has it, it is known that others hardly have."""
    ill = ["flu"] * share + ["pox"] * (20 - share) + ["flu"] * (20 - share) + ["pox"] * share + ["flu", "pox"] * 20
    table = pa.table({"age": [1] * 20 + [2] * 20 + [3] * 40, "ill": ill})
    found = coterie.verify(table, quasi=["age"], sensitive=["ill"], k=20, privacy=["delta-disclosure:1"])
    assert found.passed == passed
    # The other side alone, 18 of 20 where half have it, would be within e.
    assert np.log(18 / 20 / 0.5) < 1 < -np.log(2 / 20 / 0.5)


def test_what_is_made_keeps_both_sides_of_delta_disclosure():
    rng = np.random.default_rng(4)
    table = pa.table(
        {"age": rng.integers(0, 40, 400), "ill": rng.choice(["flu", "pox", "gout"], 400, p=[0.5, 0.4, 0.1])}
    )
    asked = {"quasi": ["age"], "sensitive": ["ill"], "k": 5, "method": "mondrian", "privacy": ["delta-disclosure:0.9"]}
    release = coterie.anonymize(table, **asked)
    shown = release.arrow.to_pydict()
    overall = {name: shown["ill"].count(name) / len(shown["ill"]) for name in set(shown["ill"])}
    for cell in set(shown["age"]):
        inside = [name for age, name in zip(shown["age"], shown["ill"], strict=True) if age == cell]
        for name, share in overall.items():
            assert abs(np.log(inside.count(name) / len(inside) / share)) <= 0.9 + 1e-9


def test_one_group_without_a_guarantee_is_called_one():
    for limit, words in ((3, "4 rows are in 1 group without it"), (4, "8 rows are in 2 groups without it")):
        found = coterie.verify(TABLE, quasi=["age"], sensitive=["disease"], privacy=[f"l-diversity:{limit}"])
        assert words in found.checks[0].text


@pytest.mark.parametrize(
    ("cells", "passed"),
    [
        (["[20-30]", "*", "[25-30]"], True),
        (["[20-30]", "[21-30]", "[25-30]"], False),
        (["[20-30]", "[20-29]", "[25-30]"], False),
        (["[20-30]", "25", "[25-30]"], False),  # a value by itself was not rounded
    ],
)
def test_ends_that_are_not_rounded_are_noticed(cells, passed):
    config = Config(quasi=["age"], k=1, round={"age": 5})
    found = coterie.verify(pa.table({"age": cells}), config=config)
    assert found.passed is passed
    (check,) = [each for each in found.checks if each.name == "round:age"]
    assert (check.found, check.passed) == (0 if passed else 1, passed)


@dataclass(frozen=True)
class Own:
    """A model as others write one: it says which of its fields are what."""

    share: float
    rows: int | None = None
    name = "own"
    threshold, floor, variant, counts, on, title = "share", "rows", "", "values", None, "own"


def test_a_model_of_ones_own_has_its_own_minimum():
    assert promise_of(Own(0.5, 7), "disease").least == 7
    assert promise_of(Own(0.5), "disease").least == 1


class Loose(Own):
    """A model that compares and cannot be hashed, as plain classes with __eq__ are."""

    __hash__ = None


def test_a_model_of_ones_own_need_not_be_hashable():
    """Promises are told apart by what they ask for, not by the object that asked."""
    assert len({promise_of(Loose(0.5), "disease"), promise_of(Loose(0.5), "disease")}) == 1
