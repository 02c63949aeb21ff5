"""Flags: how they are read, and how they override a TOML file."""

from __future__ import annotations

import pytest

from coterie import ConfigError, flat, intervals, prefixes
from coterie.cli.options import changes_of, configured, names, pairs
from coterie.settings.texts import hierarchy_spec


def test_names_are_separated_by_commas_and_may_be_quoted():
    assert names(["age, sex", "zip"]) == ["age", "sex", "zip"]
    assert names(['"income, yearly",age']) == ["income, yearly", "age"]
    assert names([""]) == []


def test_pairs():
    assert pairs(["age=4", "zip = 2 "], flag="weight") == {"age": "4", "zip": "2"}
    assert pairs(["file=a=b.csv"], flag="hierarchy") == {"file": "a=b.csv"}
    with pytest.raises(ConfigError) as caught:
        pairs(["age", "=3", "zip="], flag="weight")
    assert [problem.path for problem in caught.value.problems] == ["--weight"] * 3


@pytest.mark.parametrize(("flag", "form"), [("ordered", "COLUMN=VALUE,…"), ("weight", "COLUMN=NUMBER")])
def test_a_flag_without_its_value_is_answered_with_the_form_in_its_help(flag, form):
    with pytest.raises(ConfigError, match=f"--{flag}: expected {form}, but got 'edu'"):
        changes_of({flag: ["edu"]})


def test_hierarchies(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert hierarchy_spec("flat") == "flat"
    assert hierarchy_spec("prefixes") == {"prefixes": []}
    assert hierarchy_spec("prefixes:5,3") == {"prefixes": [5, 3]}
    assert hierarchy_spec("intervals:5,7.5") == {"intervals": [5, 7.5]}
    assert hierarchy_spec("dates:month, year") == {"dates": ["month", "year"]}
    assert hierarchy_spec("zip.csv") == str(tmp_path / "zip.csv")


def test_flags_that_were_not_given_change_nothing():
    assert changes_of({"quasi": None, "weight": [], "k": None, "seed": 0}) == {"seed": 0}


def test_every_flag_has_its_setting():
    config = configured(
        None,
        quasi=["age,zip"],
        sensitive=["disease"],
        identifier=["name"],
        k=7,
        hierarchy=["zip=prefixes:3"],
        type=["zip=category"],
        weight=["age=4"],
        publish=["age=bounds"],
        method="kmembers",
        option=["seeding=random"],
        seed=5,
        missing="suppress",
        missing_values=[",NA", "?"],
        leaf_counts="hierarchy",
        suppressed="remove",
        delimiter="\\t",
        encoding="latin-1",
        threads=2,
    )
    assert config.quasi == ("age", "zip")
    assert config.identifiers == ("name",)
    assert config.hierarchies == {"zip": prefixes(3)}
    assert config.weights == {"age": 4.0}
    assert config.options == {"seeding": "random"}
    assert config.missing_values == ("", "NA", "?")
    assert config.delimiter == "\t"
    given = {"k", "types", "publish", "method", "seed", "missing", "leaf_counts", "suppressed", "encoding", "threads"}
    assert {name: getattr(config, name) for name in given} == {
        "k": 7,
        "types": {"zip": "category"},
        "publish": {"age": "bounds"},
        "method": "kmembers",
        "seed": 5,
        "missing": "suppress",
        "leaf_counts": "hierarchy",
        "suppressed": "remove",
        "encoding": "latin-1",
        "threads": 2,
    }


def test_every_setting_has_a_flag():
    """What can be configured can be given on the command line."""
    import inspect

    from coterie.cli.commands.release import anonymize
    from coterie.settings.registry import FIELDS

    assert {setting.parameter for setting in FIELDS.values()} <= set(inspect.signature(anonymize).parameters)


@pytest.fixture
def toml(tmp_path):
    (tmp_path / "sub").mkdir()
    path = tmp_path / "sub" / "c.toml"
    path.write_text(
        'quasi = ["age", "zip"]\nk = 5\nmethod = "kmembers"\n[weights]\nage = 2\nzip = 3\n'
        '[options]\nseeding = "random"\n[hierarchies]\nzip = "zip.csv"\nage = { intervals = [5] }\n'
    )
    (tmp_path / "sub" / "zip.csv").write_text("02138;021**;*\n02139;021**;*\n")
    return path


def test_flags_override_the_file(toml):
    config = configured(toml, k=9, weight=["age=4"], hierarchy=["age=intervals:10"])
    assert config.k == 9
    assert config.weights == {"age": 4, "zip": 3}
    assert config.hierarchies["age"] == intervals(10)
    assert config.hierarchies["zip"].kind == "tree"
    assert config.options == {"seeding": "random"}


def test_a_column_that_a_flag_takes_out_takes_its_settings_along(toml):
    config = configured(toml, quasi=["age,sex"], weight=["sex=2"], hierarchy=["sex=flat"])
    assert config.weights == {"age": 2, "sex": 2}
    assert config.hierarchies == {"age": intervals(5), "sex": flat()}


def test_another_method_drops_the_options_of_the_file(toml):
    assert configured(toml, method="mondrian").options == {}
    assert configured(toml, method="kmembers", option=["loss=height"]).options == {
        "seeding": "random",
        "loss": "height",
    }


def test_paths_of_flags_start_here_and_those_of_the_file_there(toml, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.csv").write_text("02138;0213*;*\n02139;0213*;*\n")
    config = configured(toml, hierarchy=["zip=own.csv"])
    assert config.hierarchies["zip"].source == tmp_path / "own.csv"
    assert configured(toml).hierarchies["zip"].source == tmp_path / "sub" / "zip.csv"


def test_problems_of_file_and_flags_come_together(toml):
    with pytest.raises(ConfigError) as caught:
        configured(toml, k=0, missing="x", weight=["age=heavy"])
    assert {problem.path for problem in caught.value.problems} == {"k", "missing", "weights.age"}
