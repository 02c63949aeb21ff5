"""Forms that were opened before somebody else changed the recipe: in another tab, or in an editor."""

import html
import re

import pytest
from web_cases import send

from coterie.web.recipe import recipe


def stamp(page):
    return re.search(r'name="stamp" value="([0-9a-f]*)"', page.text)[1]


def edit(project, old, new):
    text = project.recipe_path.read_text()
    assert old in text
    project.recipe_path.write_text(text.replace(old, new))


def test_a_form_does_not_undo_what_another_tab_has_saved(client, adult):
    at = f"{adult.url}/goals"
    first, second = stamp(client.get(at)), stamp(client.get(at))
    assert client.post(at, data={"k": "7", "stamp": first, "action": "next"}).status_code == 303
    sent = {"k": "10", "purpose": "a study", "stamp": second, "action": "next"}
    answer = send(client, at, data=sent)
    assert answer.status_code == 422
    said = html.unescape(answer.text)
    assert "changed in another tab" in said
    assert "differs from the file in: k, purpose." in said
    assert recipe.read_values(adult)["k"] == 7
    # What was typed is there, and sent again it is taken.
    assert 'value="a study"' in answer.text
    assert client.post(at, data={**sent, "stamp": stamp(answer)}).status_code == 303
    assert recipe.read_values(adult) | {"k": 10, "purpose": "a study"} == recipe.read_values(adult)


def test_settings_of_other_steps_do_not_matter(client, adult):
    at = f"{adult.url}/goals"
    shown = stamp(client.get(at))
    recipe.change(adult, {"seed": 9})
    assert client.post(at, data={"k": "7", "stamp": shown}).status_code == 303
    assert recipe.read_values(adult)["seed"] == 9


def test_a_run_is_not_started_with_settings_that_changed_in_an_editor(client, adult):
    at = f"{adult.url}/run"
    client.post(at, data={"method": "mondrian", "action": "save"})
    shown = stamp(client.get(at))
    edit(adult, '"mondrian"', '"kmembers"')
    answer = send(client, at, data={"method": "mondrian", "action": "run", "stamp": shown})
    assert answer.status_code == 422
    assert "in: method." in answer.text
    assert adult.runs == []


def test_a_stale_tab_changes_no_role(client, adult):
    at = f"{adult.url}/roles"
    first, second = stamp_of_roles(client.get(at)), stamp_of_roles(client.get(at))
    htmx = {"HX-Request": "true"}
    saved = client.post(at, data={"role-0": "drop", "stamp": first}, headers=htmx)
    assert 'id="risk-state"' in saved.text
    before = adult.recipe_path.read_bytes()
    refused = client.post(at, data={"role-1": "drop", "stamp": second}, headers=htmx)
    assert "This was not saved" in refused.text
    assert adult.recipe_path.read_bytes() == before
    page = send(client, at, data={"role-1": "drop", "action": "next", "stamp": second})
    assert "Roles were changed in another tab" in page.text
    assert adult.recipe_path.read_bytes() == before
    # The tab that saved goes on with the stamp that it was given.
    again = client.post(at, data={"role-1": "drop", "stamp": stamp_of_roles(saved)}, headers=htmx)
    assert "This was not saved" not in again.text
    assert adult.recipe_path.read_bytes() != before


def stamp_of_roles(page):
    return re.search(r'id="roles-stamp" name="stamp" value="([0-9a-f]+)"', page.text)[1]


@pytest.mark.parametrize("step", ["data", "roles", "hierarchies", "goals", "run", "recipe"])
def test_a_file_that_is_no_toml_is_said_on_every_step(client, adult, step):
    adult.recipe_path.write_text("k = [\n")
    page = client.get(f"{adult.url}/{step}")
    assert page.status_code == 200
    assert "is not valid TOML" in page.text
