"""Roles: guessed with a reason, set one by one or many at once, with the risk that each column adds."""

from __future__ import annotations

import re

import pytest
from web_helpers import wait

import coterie
from coterie.web import recipe
from coterie.web.column_risk import risk_folder, risks_of
from coterie.web.facts import facts_of
from coterie.web.project import Project


def place(project: Project, name: str) -> int:
    facts = facts_of(project)
    assert facts is not None
    return facts.names.index(name)


def test_guesses_are_shown_with_their_reason(client, adult):
    page = client.get(f"{adult.url}/roles").text
    assert "the name suggests" in page
    assert "age" in recipe.load_config(adult).quasi
    chosen = re.search(rf'<select[^>]*id="role-{place(adult, "age")}".*?</select>', page, re.S)
    assert chosen is not None
    assert '<option value="quasi" selected>' in chosen[0]


def test_many_columns_are_set_at_once_and_others_stay(client, adult):
    picked = [str(place(adult, name)) for name in ("race", "sex")]
    before = recipe.load_config(adult)
    answer = client.post(f"{adult.url}/roles", data={"column": picked, "many": "sensitive", "action": "many"})
    assert answer.status_code == 303
    after = recipe.load_config(adult)
    assert set(after.sensitive) == {*before.sensitive, "race", "sex"}
    assert set(after.quasi) == set(before.quasi) - {"race", "sex"}


def test_what_each_column_adds_is_what_leaving_it_out_takes_away(client, app, adult):
    names = ["age", "education", "sex"]
    facts = facts_of(adult)
    data = {f"role-{column.index}": "quasi" if column.name in names else "other" for column in facts.columns}
    client.post(f"{adult.url}/roles", data=data)
    assert wait(app, risk_folder(adult)) == "finished"
    found = risks_of(adult)
    whole = coterie.risk(adult.source, quasi=names)
    assert found.uniques == whole.uniques
    assert found.average == pytest.approx(whole.prosecutor.average)
    for name in names:
        less = coterie.risk(adult.source, quasi=[each for each in names if each != name])
        assert found.added[name].share == pytest.approx(whole.prosecutor.average - less.prosecutor.average)
        assert found.added[name].uniques == whole.uniques - less.uniques
    more = coterie.risk(adult.source, quasi=[*names, "race"])
    assert found.added["race"].share == pytest.approx(more.prosecutor.average - whole.prosecutor.average)
    page = client.get(f"{adult.url}/roles").text
    assert "rows are unique by the quasi-identifiers" in page


def test_what_was_set_for_a_column_comes_back_with_its_role(client, adult):
    recipe.change(adult, {"weights": {"age": 3.0}})
    at = place(adult, "age")
    client.post(f"{adult.url}/roles", data={f"role-{at}": "other"})
    assert recipe.read_values(adult).get("weights", {}) == {}
    client.post(f"{adult.url}/roles", data={f"role-{at}": "quasi"})
    assert recipe.read_values(adult)["weights"] == {"age": 3.0}


def test_without_a_quasi_identifier_the_step_says_what_to_do(client, adult):
    facts = facts_of(adult)
    data = {f"role-{column.index}": "other" for column in facts.columns}
    answer = client.post(f"{adult.url}/roles", data={**data, "action": "next"})
    assert answer.status_code == 422
    assert "names no column" in answer.text
    assert 'id="errors"' in answer.text


def test_columns_are_found_by_name_and_by_role(client, adult):
    part = client.get(f"{adult.url}/roles?find=EDUC", headers={"HX-Request": "true"}).text
    assert re.findall(r'<label for="role-\d+">(.*?)</label>', part) == ["education"]
    part = client.get(f"{adult.url}/roles?only=sensitive", headers={"HX-Request": "true"}).text
    shown = re.findall(r'<label for="role-\d+">(.*?)</label>', part)
    assert shown == list(recipe.load_config(adult).sensitive)


def test_guesses_can_be_taken_again(client, adult):
    before = recipe.load_config(adult)
    client.post(f"{adult.url}/roles", data={f"role-{place(adult, 'age')}": "identifier"})
    client.post(f"{adult.url}/roles", data={"action": "suggested"})
    assert set(recipe.load_config(adult).quasi) == set(before.quasi)
