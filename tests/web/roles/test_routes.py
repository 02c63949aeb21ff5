"""Roles: guessed with a reason, set one by one or many at once, with the risk that each column adds."""

from __future__ import annotations

import re

import pytest
from web_cases import send, wait

import coterie
from coterie.settings.config import Config
from coterie.web.configuration import configuration
from coterie.web.project import Project
from coterie.web.roles.column_risk import risk_folder, risks_of
from coterie.web.table_summary import summary_of


def place(project: Project, name: str) -> int:
    facts = summary_of(project)
    assert facts is not None
    return facts.names.index(name)


def test_guesses_are_shown_with_their_reason(client, adult):
    page = client.get(f"{adult.url}/roles").text
    assert "the name suggests" in page
    assert "age" in Config.from_toml(adult.config_path).quasi
    chosen = re.search(rf'<select[^>]*id="role-{place(adult, "age")}".*?</select>', page, re.S)
    assert chosen is not None
    assert '<option value="quasi" selected>' in chosen[0]


def test_many_columns_are_set_at_once_and_others_stay(client, adult):
    picked = [str(place(adult, name)) for name in ("race", "sex")]
    before = Config.from_toml(adult.config_path)
    answer = client.post(f"{adult.url}/roles", data={"column": picked, "many": "sensitive", "action": "many"})
    assert answer.status_code == 303
    after = Config.from_toml(adult.config_path)
    assert set(after.sensitive) == {*before.sensitive, "race", "sex"}
    assert set(after.quasi) == set(before.quasi) - {"race", "sex"}


def test_what_each_column_adds_is_what_leaving_it_out_takes_away(client, app, adult):
    names = ["age", "education", "sex"]
    facts = summary_of(adult)
    data = {f"role-{column.index}": "quasi" if column.name in names else "keep" for column in facts.columns}
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
    assert "rows are unique on the quasi-identifiers" in page


def test_what_was_set_for_a_column_comes_back_with_its_role(client, adult):
    configuration.change(adult, {"weights": {"age": 3.0}})
    at = place(adult, "age")
    client.post(f"{adult.url}/roles", data={f"role-{at}": "keep"})
    assert configuration.read_values(adult).get("weights", {}) == {}
    client.post(f"{adult.url}/roles", data={f"role-{at}": "quasi"})
    assert configuration.read_values(adult)["weights"] == {"age": 3.0}


def test_without_a_quasi_identifier_the_step_says_what_to_do(client, adult):
    facts = summary_of(adult)
    data = {f"role-{column.index}": "keep" for column in facts.columns}
    answer = send(client, f"{adult.url}/roles", data={**data, "action": "next"})
    assert answer.status_code == 422
    assert "is empty" in answer.text
    assert 'id="errors"' in answer.text


def test_columns_are_found_by_name_and_by_role(client, adult):
    part = client.get(f"{adult.url}/roles?find=EDUC", headers={"HX-Request": "true"}).text
    assert re.findall(r'<label for="role-\d+">(.*?)</label>', part) == ["education"]
    part = client.get(f"{adult.url}/roles?only=sensitive", headers={"HX-Request": "true"}).text
    shown = re.findall(r'<label for="role-\d+">(.*?)</label>', part)
    assert shown == list(Config.from_toml(adult.config_path).sensitive)


def test_guesses_can_be_taken_again(client, adult):
    before = Config.from_toml(adult.config_path)
    client.post(f"{adult.url}/roles", data={f"role-{place(adult, 'age')}": "identifier"})
    client.post(f"{adult.url}/roles", data={"action": "suggested"})
    assert set(Config.from_toml(adult.config_path).quasi) == set(before.quasi)


def test_each_column_can_be_kept_or_dropped(client, adult):
    at, other = place(adult, "race"), place(adult, "sex")
    client.post(f"{adult.url}/roles", data={f"role-{at}": "keep", f"role-{other}": "drop"})
    config = Config.from_toml(adult.config_path)
    assert (config.keep, config.drop) == (("race",), ("sex",))
    page = client.get(f"{adult.url}/roles").text
    for title in ("Quasi-identifier", "Sensitive attribute", "Direct identifier", "Keep", "Drop", "Undecided"):
        assert f"<dt>{title}</dt>" in page
    assert "kept, published unchanged" in page
    assert configuration.faults(adult, summary_of(adult).names, step="roles") == []


def test_a_column_that_is_not_decided_blocks_the_run(client, app, adult):
    at = place(adult, "race")
    client.post(f"{adult.url}/roles", data={f"role-{at}": "undecided"})
    assert "race" not in Config.from_toml(adult.config_path).quasi
    refusal = "1 column has no role: &#39;race&#39;; decide on it: keep (published unchanged), drop (removed)"
    page = client.get(f"{adult.url}/roles").text
    assert refusal in page
    assert "undecided; decide before you run" in page
    chosen = re.search(rf'<select[^>]*id="role-{at}".*?</select>', page, re.S)
    assert chosen is not None
    assert '<option value="undecided" selected>' in chosen[0]
    assert send(client, f"{adult.url}/roles", data={"action": "next"}).status_code == 422
    assert refusal in client.get(f"{adult.url}/run").text
    answer = send(client, f"{adult.url}/run", data={"method": "mondrian", "action": "run"})
    assert answer.status_code == 422
    assert refusal in answer.text
    assert not (adult.folder / "runs").exists() or not list((adult.folder / "runs").iterdir())
    client.post(f"{adult.url}/roles", data={f"role-{at}": "drop"})
    assert refusal not in client.get(f"{adult.url}/run").text


def test_what_says_nothing_in_particular_is_kept_as_init_writes_it(client, app, files):
    rows = "".join(f"{20 + i % 40},{i % 9 / 8:.3f}\n" for i in range(60))
    (files / "readings.csv").write_text("age,reading\n" + rows)
    answer = client.post("/open", data={"path": str(files / "readings.csv")})
    project = app.state.projects.get(answer.headers["location"].split("/")[2])
    assert wait(app, project.folder / "inspect") == "finished"
    assert Config.from_toml(project.config_path).keep == ("reading",)
    page = client.get(f"{project.url}/roles").text
    chosen = re.search(rf'<select[^>]*id="role-{place(project, "reading")}".*?</select>', page, re.S)
    assert chosen is not None
    assert '<option value="keep" selected>' in chosen[0]


def test_whose_row_it_is_needs_no_other_role(client, adult):
    configuration.change(adult, {"quasi": ["age", "sex"], "entity": "race", "keep": ["education", "occupation"]})
    listed = {name for role in ("quasi", "sensitive", "keep") for name in configuration.read_values(adult)[role]}
    configuration.change(adult, {"drop": [name for name in summary_of(adult).names if name not in {*listed, "race"}]})
    assert configuration.faults(adult, summary_of(adult).names, step="roles") == []
    client.post(f"{adult.url}/roles", data={f"role-{place(adult, 'race')}": "keep"})
    assert Config.from_toml(adult.config_path).entity is None
    assert "race" in Config.from_toml(adult.config_path).keep
