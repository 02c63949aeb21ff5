"""Forms that were opened before somebody else changed the configuration: in another tab, or in an editor."""

import html
import re

import pytest
from web_cases import send, wait

from coterie.web.configuration import configuration
from coterie.web.drafts import drop_draft
from coterie.web.forms import simple
from coterie.web.hierarchies import store as hierarchy_store
from coterie.web.table_summary import summary_of


def stamp(page):
    return re.search(r'name="stamp" value="([0-9a-f]*)"', page.text)[1]


def edit(project, old, new):
    text = project.config_path.read_text()
    assert old in text
    project.config_path.write_text(text.replace(old, new))


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
    assert configuration.read_values(adult)["k"] == 7
    # What was typed is there, and sent again it is taken.
    assert 'value="a study"' in answer.text
    assert client.post(at, data={**sent, "stamp": stamp(answer)}).status_code == 303
    assert configuration.read_values(adult) | {"k": 10, "purpose": "a study"} == configuration.read_values(adult)


def test_settings_of_other_steps_do_not_matter(client, adult):
    at = f"{adult.url}/goals"
    shown = stamp(client.get(at))
    configuration.change(adult, {"seed": 9})
    assert client.post(at, data={"k": "7", "stamp": shown}).status_code == 303
    assert configuration.read_values(adult)["seed"] == 9


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
    before = adult.config_path.read_bytes()
    refused = client.post(at, data={"role-1": "drop", "stamp": second}, headers=htmx)
    assert "This was not saved" in refused.text
    assert adult.config_path.read_bytes() == before
    page = send(client, at, data={"role-1": "drop", "action": "next", "stamp": second})
    assert "Roles were changed in another tab" in page.text
    assert adult.config_path.read_bytes() == before
    # The tab that saved goes on with the stamp that it was given.
    again = client.post(at, data={"role-1": "drop", "stamp": stamp_of_roles(saved)}, headers=htmx)
    assert "This was not saved" not in again.text
    assert adult.config_path.read_bytes() != before


def stamp_of_roles(page):
    return re.search(r'id="roles-stamp" name="stamp" value="([0-9a-f]+)"', page.text)[1]


def test_a_form_of_the_data_step_does_not_undo_what_another_tab_has_saved(client, app, adult):
    at = f"{adult.url}/data"
    first, second = stamp(client.get(at)), stamp(client.get(at))
    assert client.post(at, data={"missing_values": "?\n-", "stamp": first}).status_code == 303
    wait(app, adult.folder / "inspect")
    answer = send(client, at, data={"missing_values": "none", "stamp": second})
    assert answer.status_code == 422
    assert "differs from the file in: missing_values." in answer.text
    assert "-" in configuration.read_values(adult)["missing_values"]
    assert client.post(at, data={"missing_values": "none", "stamp": stamp(answer)}).status_code == 303
    assert "none" in configuration.read_values(adult)["missing_values"]
    wait(app, adult.folder / "inspect")


@pytest.mark.parametrize("way", ["", "/bring"], ids=["edited", "brought"])
def test_a_text_of_the_configuration_does_not_undo_what_an_editor_has_saved(client, adult, way):
    at = f"{adult.url}/configuration"
    shown = stamp(client.get(at))
    adult.config_path.write_text("k = 9  # from an editor\n")
    mine = "k = 4  # from the page\n"
    sent = {"data": {"stamp": shown, "text": mine}}
    answer = send(client, at + way, **sent, **({"files": {"file": ("mine.toml", mine.encode())}} if way else {}))
    assert answer.status_code == 422
    assert "changed in another tab" in answer.text
    assert mine in answer.text
    assert adult.config_path.read_text() == "k = 9  # from an editor\n"
    client.post(at, data={"action": "discard"})
    assert mine not in client.get(at).text
    assert client.post(at, data={"text": mine, "stamp": stamp(client.get(at))}).status_code == 303
    assert adult.config_path.read_text() == mine


def rule(adult, client):
    at = f"{adult.url}/hierarchies/{summary_of(adult).names.index('age')}"
    client.post(f"{at}/rule", data={"kind": "intervals", "widths": "5", "start": "0", "do": "save"})
    return at


def test_a_rule_does_not_undo_what_another_tab_has_saved(client, adult):
    at = rule(adult, client)
    shown = stamp(client.get(f"{at}?view=start"))
    hierarchy_store.save_spec(adult, "age", {"intervals": [10]})
    answer = send(client, f"{at}/rule", data={"kind": "intervals", "widths": "20", "do": "save", "stamp": shown})
    assert answer.status_code == 422
    assert "This hierarchy was changed" in answer.text
    assert 'name="widths" value="20"' in answer.text
    assert configuration.read_values(adult)["hierarchies"]["age"] == {"intervals": [10]}
    client.post(f"{at}/rule", data={"kind": "intervals", "widths": "20", "do": "save", "stamp": stamp(answer)})
    assert configuration.read_values(adult)["hierarchies"]["age"] == {"intervals": [20]}
    assert "Not saved yet" not in client.get(f"{at}?view=start").text


@pytest.mark.parametrize("what", ["remove", "values", "to-tree", "import"])
def test_a_stale_button_does_nothing_to_a_hierarchy(client, adult, what):
    at = rule(adult, client)
    shown = stamp(client.get(f"{at}?view=start"))
    hierarchy_store.save_spec(adult, "age", {"intervals": [10]})
    files = {"files": {"file": ("a.csv", b"17;*\n18;*\n")}} if what == "import" else {}
    answer = send(client, f"{at}/{what}", data={"stamp": shown}, **files)
    assert "Your last change was not saved" in answer.text
    assert configuration.read_values(adult)["hierarchies"]["age"] == {"intervals": [10]}
    # Told once: another visit starts afresh.
    assert "Your last change" not in client.get(f"{at}?view=start").text


def test_a_stale_tab_changes_no_tree(client, adult):
    at = rule(adult, client)
    client.post(f"{at}/to-tree")
    tree, table = client.get(at), client.get(f"{at}?view=table")
    old = re.search(r'data-stamp="([0-9a-f]+)"', tree.text)[1]
    cells = dict(re.findall(r'name="(c-\d+-\d+|from|levels|count)" value="([^"]*)"', table.text))
    htmx = {"HX-Request": "true"}
    done = client.post(f"{at}/edit", data={"what": "rename", "nodes": "1", "label": "mine", "stamp": old}, headers=htmx)
    assert "Your last change was not saved" not in done.text
    before = (adult.hierarchy_folder / "age.csv").read_bytes()
    late = {"what": "rename", "nodes": "1", "label": "other", "stamp": old}
    assert "Your last change was not saved" in client.post(f"{at}/edit", data=late, headers=htmx).text
    assert "Your last change was not saved" in send(client, f"{at}/edit", data=late).text
    assert "Your last change was not saved" in send(client, f"{at}/undo", data={"stamp": old}).text
    answer = send(client, f"{at}/table", data={**cells, "c-0-1": "elsewhere", "do": "save", "stamp": stamp(table)})
    assert "This hierarchy was changed" in answer.text
    assert 'value="elsewhere"' in answer.text
    assert (adult.hierarchy_folder / "age.csv").read_bytes() == before
    client.post(f"{at}/table", data={"action": "discard"})
    assert "elsewhere" not in client.get(f"{at}?view=table").text
    # The tab that made the change goes on with the stamp that it was given.
    fresh = re.search(r'data-stamp="([0-9a-f]+)"', done.text)[1]
    again = client.post(f"{at}/edit", data={**late, "stamp": fresh}, headers=htmx)
    assert "Your last change was not saved" not in again.text


def test_a_box_that_was_unticked_is_not_ticked_again_by_a_fault_elsewhere(client, adult):
    boxes = [(step, each) for step in ("data", "goals", "run") for each in _boxes(step)]
    assert boxes
    faulty = {"data": {"encoding": "klingon"}, "goals": {"k": "seven"}, "run": {"seed": "seven"}}
    for step, name in boxes:
        configuration.change(adult, {name: True})
        assert f'name="{name}" value="true" checked' in client.get(f"{adult.url}/{step}").text
        answer = send(client, f"{adult.url}/{step}", data=faulty[step])
        assert answer.status_code == 422
        assert f'name="{name}" value="true" checked' not in answer.text
        drop_draft(adult, step)


def _boxes(step):
    return [name for name, each in simple(step).items() if each.kind == "switch" and not each.optional]


@pytest.mark.parametrize("step", ["data", "roles", "hierarchies", "goals", "run", "configuration"])
def test_a_file_that_is_no_toml_is_said_on_every_step(client, adult, step):
    adult.config_path.write_text("k = [\n")
    page = client.get(f"{adult.url}/{step}")
    assert page.status_code == 200
    assert "is not valid TOML" in page.text
