"""Goals: what is typed goes into the configuration, faults are shown beside it, and nothing typed is lost."""

from __future__ import annotations

from fractions import Fraction

import pytest
from web_cases import send

from coterie.settings.config import Config
from coterie.settings.registry import MODELS
from coterie.settings.threshold import PRESETS
from coterie.web.goals.models_form import ModelRow, shown_promises, specs_of
from coterie.web.table_summary import summary_of

BASE = {"k": "5", "threshold": "ema", "missing": "category", "suppressed": "auto", "leaf_counts": "present"}


def test_goals_go_into_the_configuration_and_come_back(client, adult):
    age = summary_of(adult).names.index("age")
    form = {
        **BASE,
        "k": "7",
        f"weights-{age}": "2.5",
        "privacy-0-model": "l-diversity",
        "privacy-0-limit": "2",
        "privacy-0-variant": "entropy",
        "privacy-1-model": "t-closeness",
        "privacy-1-limit": "0.4",
        "privacy-1-on": "salary-class",
        "suppress_at_most": "1.5",
        "missing": "suppress",
        "purpose": "A study of wages",
        "release_model": "agreement",
        "fraction": "0.01",
        "action": "next",
    }
    answer = client.post(f"{adult.url}/goals", data=form)
    assert answer.headers["location"] == f"{adult.url}/run"
    config = Config.from_toml(adult.config_path)
    assert (config.k, config.weights, config.suppress_at_most) == (7, {"age": 2.5}, 1.5)
    assert [model.spec for model in config.privacy] == ["l-diversity:2::entropy", "t-closeness:0.4:salary-class"]
    assert (config.missing, config.purpose, config.release_model) == ("suppress", "A study of wages", "agreement")
    page = client.get(f"{adult.url}/goals").text
    for text in ('value="7"', 'value="2.5"', 'value="A study of wages"', '<option value="entropy" selected>'):
        assert text in page


def test_faults_are_shown_beside_what_was_typed_and_nothing_is_lost(client, adult):
    before = adult.config_path.read_bytes()
    form = {**BASE, "k": "seven", "purpose": "A long sentence", "privacy-0-model": "l-diversity", "action": "next"}
    answer = send(client, f"{adult.url}/goals", data=form)
    assert answer.status_code == 422
    assert adult.config_path.read_bytes() == before
    assert 'href="#k"' in answer.text
    assert 'id="k-fault"' in answer.text
    assert 'href="#privacy-0-limit"' in answer.text
    # Another visit finds it again, with the faults, until it is saved or given up.
    again = client.get(f"{adult.url}/goals").text
    for text in ('value="seven"', 'value="A long sentence"', 'id="k-fault"', "Not saved yet"):
        assert text in again
    client.post(f"{adult.url}/goals", data={"action": "discard"})
    assert "seven" not in client.get(f"{adult.url}/goals").text


@pytest.mark.parametrize(
    ("field", "text", "fault"),
    [
        ("k", "0", "must be at least 1"),
        ("suppress_at_most", "120", "must be at most 100"),
        ("threshold", "2", "must be a number above 0"),
        ("fraction", "nan", "must be a number"),
        ("entity", "nobody", "has no column"),
    ],
)
def test_every_fault_names_its_field(client, adult, field, text, fault):
    answer = send(client, f"{adult.url}/goals", data={**BASE, field: text})
    assert answer.status_code == 422
    assert f'href="#{field}"' in answer.text
    assert fault in answer.text


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_presets_set_k_and_name_their_source(client, adult, name):
    from html import escape

    preset = PRESETS[name]
    page = client.get(f"{adult.url}/goals").text
    assert escape(preset.source) in page
    client.post(f"{adult.url}/goals", data={**BASE, "action": f"preset-{name}"})
    config = Config.from_toml(adult.config_path)
    assert (config.k, config.threshold) == (preset.rows, name)
    assert Fraction(1, config.k) <= preset.value


def test_every_model_has_a_sentence_and_survives_the_form():
    assert all(model.meaning and model.not_proved for model in MODELS.values())
    specs = [
        "k-anonymity:3",
        "l-diversity:3:disease",
        "l-diversity:3::recursive:2",
        "t-closeness:0.2:disease:ordered",
        "alpha-k:0.5:disease:4",
        "beta-likeness:2::enhanced",
        "delta-disclosure:1.5",
        "k-map:5:population.csv",
        {"model": "l-diversity", "l": 2, "on": "a:b"},
    ]
    assert {spec.split(":")[0] for spec in specs if isinstance(spec, str)} == set(MODELS)
    assert specs_of(shown_promises(specs)) == specs


def test_a_promise_can_be_removed(client, adult):
    promises = {"privacy-0-model": "l-diversity", "privacy-0-limit": "2", "privacy-1-model": "alpha-k"}
    promises["privacy-1-limit"] = "0.9"
    client.post(f"{adult.url}/goals", data={**BASE, **promises})
    assert len(Config.from_toml(adult.config_path).privacy) == 2
    client.post(f"{adult.url}/goals", data={**BASE, **promises, "action": "remove-0"})
    assert [model.name for model in Config.from_toml(adult.config_path).privacy] == ["alpha-k"]


def test_an_empty_row_says_nothing():
    assert not ModelRow().model
    assert specs_of([]) == []
