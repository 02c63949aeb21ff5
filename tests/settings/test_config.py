"""Config: read, checked, changed, written."""

from __future__ import annotations

import pickle
import subprocess
import sys
import tomllib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie import ConfigError, CoterieError, CoterieWarning, HierarchyError
from coterie.hierarchies.hierarchy import Hierarchy, intervals, prefixes
from coterie.settings.config import SETTINGS, Config
from coterie.settings.registry import DEFAULT_METHOD
from coterie.settings.toml import provenance_toml, write_toml


def problems(**values) -> dict[str, str]:
    with pytest.raises(ConfigError) as caught:
        Config(**values)
    return {problem.path: problem.text for problem in caught.value.problems}


# --- values ---------------------------------------------------------------------------------------------------------


def test_defaults():
    config = Config()
    assert (config.k, config.seed, config.method, config.missing) == (12, 0, DEFAULT_METHOD, "category")
    assert config.missing_values == ("",)
    assert config.threads is None
    assert config.usable_threads >= 1
    assert Config(threads=3).usable_threads == 3


def test_the_default_method_is_registered():
    from coterie.methods import find_method

    assert find_method(DEFAULT_METHOD).name == DEFAULT_METHOD
    assert type(Config().method_options()) is find_method(DEFAULT_METHOD).options


def test_lists_may_be_any_iterable_and_one_name_is_a_list_of_one():
    assert Config(quasi="age").quasi == ("age",)
    assert Config(quasi=["age", "sex"]).quasi == ("age", "sex")
    assert Config(quasi=(name for name in ["b", "a"])).quasi == ("b", "a")
    assert Config(quasi=np.array(["age"])).quasi == ("age",)


def test_integers_of_numpy_are_integers():
    assert Config(k=np.int64(7)).k == 7
    assert type(Config(k=np.int64(7)).k) is int


def test_frozen():
    with pytest.raises(ValueError, match="frozen"):
        Config().k = 3


def test_pickles():
    config = Config(quasi=["zip"], hierarchies={"zip": prefixes(3)}, weights={"zip": 2})
    assert pickle.loads(pickle.dumps(config)) == config


# --- problems -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [0, -1])
def test_k_below_one(k):
    assert problems(k=k) == {"k": "must be at least 1"}


@pytest.mark.parametrize("k", [2.5, "many", True, None, [3]])
def test_k_is_a_whole_number(k):
    assert problems(k=k) == {"k": "must be a whole number"}


def test_all_problems_at_once():
    found = problems(
        k=0,
        seed=-1,
        quasi=["age", "age"],
        sensitive=["age"],
        weights={"age": -1},
        missing="ignore",
        publish={"age": "range"},
        treads=2,
    )
    assert set(found) == {"k", "seed", "quasi", "sensitive", "weights.age", "missing", "publish.age", "treads"}
    assert "did you mean 'threads'" in found["treads"]
    assert found["missing"] == "must be 'category', 'suppress' or 'error'"
    assert "listed twice" in found["quasi"]
    assert "already listed in quasi" in found["sensitive"]


@pytest.mark.parametrize(
    ("given_name", "meant"),
    [("quasi_identifiers", "quasi"), ("identifer", "identifiers"), ("Weights", "weights"), ("n_jobs", "threads")],
)
def test_unknown_settings_suggest_the_nearest(given_name, meant):
    assert meant in problems(**{given_name: []})[given_name]


def test_no_problem_quotes_the_value_given():
    secret = "Zebulon-4711"
    wrong = {name: {"x": secret} if name[-1] == "s" else secret for name in SETTINGS if name != "quasi"}
    wrong["quasi"] = {"a": secret}
    wrong["k"] = secret
    with pytest.raises(CoterieError) as caught:
        Config(**wrong)
    assert "'k'" not in str(caught.value)
    for problem in caught.value.problems:
        # Names of methods, models, columns and files are no cells, and are named to be found again.
        if problem.path.split(".")[0] not in ("method", "hierarchies", "privacy", "entity", "keep", "drop"):
            assert secret not in str(problem)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("weight", [-1, float("nan"), float("inf"), "heavy"])
def test_weights_are_finite_and_not_negative(weight):
    assert list(problems(quasi="age", weights={"age": weight})) == ["weights.age"]


def test_unknown_method_names_those_there_are():
    text = problems(method="kmember")["method"]
    assert "did you mean 'kmembers'" in text
    assert "mondrian" in text


def test_options_belong_to_the_method():
    found = problems(method="kmembers", options={"seeding": "odd", "sedding": "random"})
    assert set(found) == {"options.seeding", "options.sedding"}
    assert "did you mean 'seeding'" in found["options.sedding"]
    assert Config(method="kmembers", options={"seeding": "random"}).method_options().seeding == "random"


def test_privacy_models_come_as_texts_objects_or_dicts(tmp_path):
    from coterie import KMap, LDiversity, TCloseness

    given = ["l-diversity:3:disease", TCloseness(0.2), {"model": "k-map", "k": 5, "population": "people.csv"}]
    config = Config(sensitive=["disease"], privacy=given)
    assert config.privacy == (LDiversity(3, on="disease"), TCloseness(0.2), KMap(5, "people.csv"))
    assert Config.from_dict(config.to_dict()).privacy == config.privacy
    assert Config(privacy=[]).privacy == ()
    assert "whole number" in problems(privacy="l-diversity:none")["privacy.l"]
    # A population is looked for where the TOML file is, as hierarchies are.
    (tmp_path / "coterie.toml").write_text('privacy = ["k-map:5:people.csv"]\n')
    (model,) = Config.from_toml(tmp_path / "coterie.toml").privacy
    assert model.path == tmp_path / "people.csv"


def test_models_need_their_sensitive_columns():
    config = Config(quasi=["age"], sensitive=["pay"], privacy=["l-diversity:3:disease"])
    with pytest.raises(ConfigError, match="'disease', which is not in sensitive"):
        config.check_columns(["age", "pay", "disease"])
    with pytest.raises(ConfigError, match="needs a sensitive column"):
        Config(quasi=["age"], privacy=["t-closeness:0.1"]).check_columns(["age"])


def test_whose_row_it_is_may_not_be_published():
    assert "already listed in quasi" in problems(quasi=["id"], entity="id")["entity"]
    assert "already listed in sensitive" in problems(sensitive=["id"], entity="id")["entity"]
    assert Config(identifiers=["id"], entity="id").entity == "id"
    with pytest.raises(ConfigError, match="no column 'person'"):
        Config(quasi=["age"], entity="person").check_columns(["age"])


def test_publish_must_fit_the_declared_type():
    found = problems(quasi=["a", "b"], types={"a": "date", "b": "category"}, publish={"a": "mean", "b": "interval"})
    assert set(found) == {"publish.a", "publish.b"}


def test_faults_of_hierarchies_are_hierarchy_errors(tmp_path):
    (tmp_path / "two.csv").write_text("a;x;*\na;y;*\nb;x;*\n")
    with pytest.raises(HierarchyError) as caught:
        Config(quasi=["zip"], hierarchies={"zip": str(tmp_path / "two.csv"), "age": str(tmp_path / "none.csv")})
    paths = {problem.path for problem in caught.value.problems}
    assert paths == {"hierarchies.zip", "hierarchies.age"}
    assert caught.value.exit_code == 3
    with pytest.raises(ConfigError) as both:
        Config(k=0, hierarchies={"zip": str(tmp_path / "two.csv")})
    assert {problem.path for problem in both.value.problems} == {"k", "hierarchies.zip"}


# --- columns --------------------------------------------------------------------------------------------------------


def column_problems(config: Config, names: list[str]) -> list[tuple[str, str]]:
    with pytest.raises(ConfigError) as caught:
        config.check_columns(names)
    return [tuple(problem) for problem in caught.value.problems]


def test_columns_that_fit():
    config = Config(quasi=["age"], sensitive=["pay"], keep=["name"], weights={"age": 2}, hierarchies={"pay": "flat"})
    config.check_columns(["name", "age", "pay"])


def test_everything_about_columns_at_once():
    config = Config(
        quasi=["agee", "sex"],
        sensitive=["pay"],
        identifiers=["nam"],
        weights={"pay": 2, "sexx": 1},
        hierarchies={"name": "flat"},
        publish={"agee": "bounds"},
    )
    found = column_problems(config, ["age", "sex", "pay", "name"])
    expected = ["quasi", "identifiers", "roles", "hierarchies.name", "weights.pay", "weights.sexx"]
    assert [path for path, _ in found] == expected
    text = dict(found)
    assert "did you mean 'age'" in text["quasi"]
    assert "did you mean 'name'" in text["identifiers"]
    assert "not a quasi-identifier" in text["weights.pay"]
    assert "did you mean 'sex'" in text["weights.sexx"]


def test_no_quasi_identifiers():
    assert column_problems(Config(), ["age"])[0][0] == "quasi"


def test_duplicate_column_names():
    assert any("same name" in text for _, text in column_problems(Config(quasi=["a"]), ["a", "b", "b"]))


def test_a_column_like_no_other_lists_what_there_is():
    (_, text), *_ = column_problems(Config(quasi=["qqqq"]), [f"column {i}" for i in range(20)])
    assert "'column 0'" in text
    assert "8 more" in text


def test_not_all_weights_may_be_zero():
    assert column_problems(Config(quasi=["a", "b"], weights={"a": 0, "b": 0}), ["a", "b"])[0][0] == "weights"
    Config(quasi=["a", "b"], weights={"a": 0}).check_columns(["a", "b"])


# --- changes --------------------------------------------------------------------------------------------------------


def test_replace_checks_again():
    config = Config(quasi=["age"], k=5)
    assert config.replace(k=7).k == 7
    assert config.k == 5
    with pytest.raises(ConfigError):
        config.replace(k=0)


def test_settings_go_with_the_column_and_options_with_the_method():
    config = Config(
        quasi=["age", "zip"], weights={"zip": 2, "age": 3}, method="kmembers", options={"seeding": "random"}
    )
    assert config.replace(quasi=["age"]).weights == {"age": 3}
    assert config.replace(method="mondrian").options == {}
    assert config.replace(seed=1).options == {"seeding": "random"}
    assert config.replace(quasi=["age"], weights={"zip": 1}).weights == {"zip": 1}


def test_build_from_anything(tmp_path):
    path = tmp_path / "c.toml"
    path.write_text('quasi = ["age"]\nk = 4\n')
    made = Config(quasi=["age"], k=4)
    assert Config.build(made) is made
    assert Config.build({"quasi": ["age"]}, k=4) == made
    assert Config.build(path) == made == Config.build(str(path))
    assert Config.build(quasi="age", k=4) == made
    assert Config.build(made, k=5).k == 5


# --- TOML -----------------------------------------------------------------------------------------------------------

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@given(
    columns=st.lists(names, min_size=1, max_size=6, unique=True),
    k=st.integers(1, 10**9),
    seed=st.integers(0, 2**62),
    weights=st.lists(st.floats(0, 1e9), max_size=6),
    missing_values=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), max_size=4),
    delimiter=st.sampled_from([None, ",", "\t", "|"]),
)
def test_round_trip_through_toml(columns, k, seed, weights, missing_values, delimiter):
    config = Config(
        quasi=columns[:3],
        sensitive=columns[3:],
        k=k,
        seed=seed,
        weights=dict(zip(columns[:3], weights, strict=False)),
        publish={columns[0]: "set"},
        types={columns[0]: "category"},
        hierarchies={columns[0]: prefixes(5, 3)},
        missing_values=missing_values,
        delimiter=delimiter,
        method="kmembers",
        options={"seeding": "random"},
    )
    assert Config.from_dict(tomllib.loads(config.to_toml())) == config
    assert Config.from_dict(config.to_dict()) == config


def test_toml_keys_are_the_python_names():
    values = tomllib.loads(Config(quasi=["age"], hierarchies={"age": intervals(5, 10)}).to_toml())
    assert set(values) <= set(SETTINGS)
    assert values["hierarchies"]["age"]["intervals"] == [5, 10]
    assert "delimiter" not in values


def test_hierarchy_paths_start_at_the_toml_file(tmp_path, monkeypatch):
    folder = tmp_path / "sub"
    folder.mkdir()
    (folder / "zip.csv").write_text("02138;021**;*\n02139;021**;*\n")
    (folder / "c.toml").write_text('quasi = ["zip"]\n[hierarchies]\nzip = "zip.csv"\n')
    monkeypatch.chdir(tmp_path)
    assert isinstance(Config.from_toml("sub/c.toml").hierarchies["zip"], Hierarchy)
    with pytest.raises(HierarchyError):
        Config(hierarchies={"zip": "zip.csv"})


@pytest.mark.parametrize(
    ("content", "part"),
    [(b"k = = 3\n", "line 1"), (b"\xff\xfe\x00", "UTF-8"), (b"k = 3\nk = 4\n", "line 2")],
)
def test_bad_toml(tmp_path, content, part):
    path = tmp_path / "c.toml"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=part):
        Config.from_toml(path)


def test_no_toml(tmp_path):
    with pytest.raises(ConfigError, match="no such file"):
        Config.from_toml(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match="cannot be read"):
        Config.from_toml(tmp_path)


def test_byte_order_mark_is_no_fault(tmp_path):
    (tmp_path / "c.toml").write_bytes(b"\xef\xbb\xbfk = 3\n")
    assert Config.from_toml(tmp_path / "c.toml").k == 3


def test_provenance_is_kept_apart(tmp_path):
    config = Config(quasi=["age"], k=3, weights={"age": 2})
    text = provenance_toml(config, {"coterie": "0.1.0", "input_sha256": "ab", "rows": 7, "nothing": None})
    assert tomllib.loads(text)["provenance"] == {"coterie": "0.1.0", "rows": 7}
    (tmp_path / "out.coterie.toml").write_text(text)
    assert Config.from_toml(tmp_path / "out.coterie.toml") == config


def test_empty_tables_are_not_written():
    assert write_toml({"k": 1, "weights": {}}) == "k = 1\n"


def test_reading_a_configuration_loads_no_method():
    """`coterie verify` needs a configuration but no compiler."""
    code = "import sys, coterie\ncoterie.Config(quasi=['a'], k=3)\nassert 'numba' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_old_name_of_an_engine_still_works_and_says_so():
    with pytest.warns(CoterieWarning, match='"duckdb" is now called "blocks"'):
        assert Config(engine="duckdb").engine == "blocks"
    with pytest.raises(ConfigError, match="engine"):
        Config.build(engine="disk")


def test_an_option_of_another_method_names_that_method():
    with pytest.raises(ConfigError, match=r"options\.effort: .* \(options of auto: none; methods with it: compact\)"):
        Config(quasi=["age"], options={"effort": "fast"})
