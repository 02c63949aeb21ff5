"""Privacy models as objects, texts and dicts: read, written, refused; and in a configuration."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import coterie
from coterie.errors import ConfigError
from coterie.privacy import AlphaK, BetaLikeness, DeltaDisclosure, KAnonymity, KMap, LDiversity, TCloseness
from coterie.settings.config import Config
from coterie.settings.models import column_problems, parse_model, parse_privacy
from coterie.settings.registry import MODELS

TEXTS = {
    "k-anonymity:5": KAnonymity(5),
    "l-diversity:3": LDiversity(3),
    "l-diversity:3:disease": LDiversity(3, on="disease"),
    "l-diversity:2.5:disease:entropy": LDiversity(2.5, on="disease", kind="entropy"),
    "l-diversity:3::frequency": LDiversity(3, kind="frequency"),
    "l-diversity:3:disease:recursive:2": LDiversity(3, on="disease", kind="recursive", c=2),
    "t-closeness:0.2:salary:ordered": TCloseness(0.2, on="salary", distance="ordered"),
    "t-closeness:0.2": TCloseness(0.2),
    "alpha-k:0.5:disease": AlphaK(0.5, on="disease"),
    "alpha-k:1/3::7": AlphaK(Fraction(1, 3), 7),
    "beta-likeness:2:disease": BetaLikeness(2, on="disease"),
    "beta-likeness:2:disease:enhanced": BetaLikeness(2, on="disease", kind="enhanced"),
    "delta-disclosure:1.5:disease": DeltaDisclosure(1.5, on="disease"),
    "k-map:5:population.csv": KMap(5, "population.csv"),
}


@pytest.mark.parametrize("text", TEXTS)
def test_texts_are_read_and_written(text):
    model = parse_model(text)
    assert model == TEXTS[text]
    assert model.spec == text
    assert hash(model) == hash(TEXTS[text])


def test_every_model_has_a_text():
    assert {text.split(":")[0] for text in TEXTS} == set(MODELS)
    assert all(MODELS[name].name == name and MODELS[name].paper and MODELS[name].__doc__ for name in MODELS)


def test_dicts_say_the_same():
    model = {"model": "l-diversity", "l": 3, "on": "disease", "kind": "recursive", "c": "5/2"}
    assert parse_privacy(model) == (LDiversity(3, on="disease", kind="recursive", c=2.5),)


def test_names_that_would_break_a_text_become_a_dict():
    model = TCloseness(0.1, on="a:b", distance="ordered")
    assert model.spec == {"model": "t-closeness", "t": 0.1, "on": "a:b", "distance": "ordered"}
    assert parse_model(model.spec) == model
    spaced = LDiversity(2, on=" x")
    assert parse_model(spaced.spec) == spaced


def test_a_path_may_hold_colons():
    assert parse_model("k-map:5:C:/data/population.csv") == KMap(5, "C:/data/population.csv")


def test_spelling_is_forgiving():
    assert parse_model(" L_Diversity : 3 : disease ") == LDiversity(3, on="disease")


@given(st.fractions(min_value=0, max_value=1, max_denominator=10**6))
def test_thresholds_keep_their_value(t):
    model = TCloseness(t)
    assert model.limit == t
    assert parse_model(model.spec) == model


def test_a_float_means_what_it_prints_as():
    assert TCloseness(0.1).limit == Fraction(1, 10)
    assert TCloseness("0.1") == TCloseness(0.1)
    assert isinstance(LDiversity(3.0).l, int)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("l-diversity", "l: is required, as in l-diversity:L:COLUMN:KIND:C"),
        ("l-divercity:3", "did you mean l-diversity"),
        ("differential:1", "k-anonymity, l-diversity"),
        ("l-diversity:0", "l: must be a whole number of at least 1"),
        ("l-diversity:2.5", "l: must be a whole number"),
        ("l-diversity:many", "l: must be a whole number"),
        ("l-diversity:0.5::entropy", "l: must be a number of at least 1"),
        ("l-diversity:3:a:normal", "kind: must be 'distinct', 'frequency', 'entropy' or 'recursive'"),
        ("l-diversity:3:a:recursive", "c: recursive l-diversity needs c"),
        ("l-diversity:3:a:recursive:0", "c: must be a number of more than 0"),
        ("l-diversity:3:a:distinct:2", "c: belongs to recursive"),
        ("l-diversity:3:a:recursive:2:x", "takes at most l-diversity:L:COLUMN:KIND:C"),
        ("t-closeness:1.5", "t: must be a number of at least 0 and at most 1"),
        ("t-closeness:nan", "t: must be a number"),
        ("t-closeness:1/0", "t: must be a number"),
        ("t-closeness:0.2:a:far", "distance: must be"),
        ("alpha-k:0", "alpha: must be a number of more than 0 and at most 1"),
        ("alpha-k:0.5::x", "k: must be a whole number"),
        ("beta-likeness:0", "beta: must be a number of more than 0"),
        ("delta-disclosure:-1", "delta: must be"),
        ("k-map:5", "population: is required"),
        ({"l": 3}, "model: is required"),
        ({"model": "l-diversity", "l": True}, "l: must be a whole number"),
        ({"model": "l-diversity", "l": None}, "l: must be a whole number"),
        ({"model": "l-diversity", "l": 3, "m": 1}, "m: l-diversity has no such field"),
        ({"model": "l-diversity", "l": 3, "on": 7}, "on: must be the name"),
        ({"model": "k-map", "k": 2, "population": ""}, "population: must be the path"),
        (7, "must be a privacy model or its text"),
    ],
)
def test_mistakes_are_explained(entry, words):
    with pytest.raises(ConfigError) as caught:
        parse_privacy([entry])
    assert words in str(caught.value)


def test_all_mistakes_are_reported_at_once():
    with pytest.raises(ConfigError) as caught:
        parse_privacy(["l-diversity:0", "l-diversity:2", "t-closeness:2", {"model": "alpha-k"}])
    assert [problem.path for problem in caught.value.problems] == ["0.l", "2.t", "3.alpha"]


def test_models_live_in_a_configuration(tmp_path):
    config = Config(quasi=["age"], sensitive=["disease"], privacy=["l-diversity:3", LDiversity(2, on="disease")])
    assert config.privacy == (LDiversity(3), LDiversity(2, on="disease"))
    again = Config.from_dict(config.to_dict())
    assert again.privacy == config.privacy
    odd = config.replace(sensitive=["a:b"], privacy=TCloseness("1/7", on="a:b"))
    path = tmp_path / "coterie.toml"
    path.write_text(odd.to_toml(), encoding="utf-8")
    assert Config.from_toml(path).privacy == odd.privacy


def test_a_configuration_reports_its_models_mistakes():
    with pytest.raises(ConfigError) as caught:
        Config(privacy=["l-diversity:0", "t-closeness:7"])
    assert [problem.path for problem in caught.value.problems] == ["privacy.0.l", "privacy.1.t"]


def test_a_population_is_found_beside_the_configuration(tmp_path):
    path = tmp_path / "coterie.toml"
    path.write_text('quasi = ["age"]\nprivacy = ["k-map:5:people.csv"]\n', encoding="utf-8")
    (model,) = Config.from_toml(path).privacy
    assert model.path == tmp_path / "people.csv"
    assert parse_privacy("k-map:5:/there/people.csv", base=tmp_path)[0].population == "/there/people.csv"


def test_frames_as_populations_are_told_apart():
    one, other = object(), object()
    assert KMap(5, one) == KMap(5, one) != KMap(5, other)
    assert KMap(5, one) != KMap(6, one)
    assert "frame" in KMap(5, one).spec
    with pytest.raises(ConfigError):
        KMap(5, None)


def test_models_need_their_columns():
    models = parse_privacy(["l-diversity:2:disease", "t-closeness:0.1", "k-anonymity:3"])
    assert column_problems(models, ["disease"]) == []
    texts = [problem.text for problem in column_problems(models, [])]
    assert texts == [
        "l-diversity is on column 'disease', which is not in sensitive; add it",
        "t-closeness needs a sensitive column; name one in sensitive",
    ]


def test_models_without_a_sensitive_attribute():
    without = {name for name, model in MODELS.items() if model.counts != "values"}
    assert without == {"k-anonymity", "k-map"}


def test_models_are_public():
    assert coterie.LDiversity is LDiversity
    assert coterie.TCloseness is TCloseness
    assert coterie.KAnonymity is KAnonymity
