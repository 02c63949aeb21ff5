"""The marks of the steps: what is done, open, faulty or not possible yet, in every state that a project can be in."""

from __future__ import annotations

import pytest
from web_cases import wait

from coterie.web.configuration.configuration import fingerprint
from coterie.web.project import private_folder, write_json
from coterie.web.run.runs import FINGERPRINT, start_run
from coterie.web.step_states import states_of

MIDDLE = ("roles", "hierarchies", "goals")


def marks(app, project):
    """Step → mark, as the project is now."""
    return states_of(app.state.projects.get(project.id))


def add_run(project, state):
    """A run in a state, as its worker would have left it."""
    folder = private_folder(project.runs_folder / f"{len(project.runs) + 1:04d}")
    write_json(folder / "state.json", {"state": state})
    (folder / FINGERPRINT).write_text(fingerprint(project))
    return folder


def test_before_the_table_was_read_only_data_can_be_visited(app):
    project = app.state.projects.create("new.csv")
    assert marks(app, project) == {"data": "open", **dict.fromkeys((*MIDDLE, "run", "results"), "later")}
    write_json(private_folder(project.folder / "inspect") / "state.json", {"state": "failed"})
    assert marks(app, project)["data"] == "faulty"


def test_steps_are_done_when_they_were_saved(app, client, adult):
    assert marks(app, adult) == {
        "data": "done",
        **dict.fromkeys((*MIDDLE, "run"), "open"),
        "results": "later",
    }
    client.post(f"{adult.url}/hierarchies")
    client.post(f"{adult.url}/run", data={"method": "mondrian", "action": "save"})
    found = marks(app, adult)
    assert found["hierarchies"] == "done"
    # To save how to run is not to run.
    assert (found["roles"], found["goals"], found["run"], found["results"]) == ("open", "open", "open", "later")


def test_a_real_run_ticks_run_and_results_until_the_configuration_changes(app, client, adult):
    client.post(f"{adult.url}/run", data={"method": "mondrian", "action": "save"})
    folder = start_run(app.state.jobs, adult)
    assert marks(app, adult)["results"] == "later"
    assert wait(app, folder) == "finished"
    found = marks(app, adult)
    assert (found["run"], found["results"]) == ("done", "done")
    page = client.get(f"{adult.url}/results/0001").text
    assert 'Results<span class="visually-hidden"> (done)</span>' in page
    assert "has changed since then" not in client.get(f"{adult.url}/run").text
    text = adult.config_path.read_text()
    adult.config_path.write_text(f"{text}\n# a word\n")
    found = marks(app, adult)
    assert (found["run"], found["results"]) == ("open", "done")
    assert "has changed since then" in client.get(f"{adult.url}/run").text
    adult.config_path.write_text(text)
    assert marks(app, adult)["run"] == "done"


@pytest.mark.parametrize(
    ("states", "run", "results"),
    [
        (["running"], "open", "later"),
        (["cancelled"], "open", "later"),
        (["failed"], "faulty", "later"),
        (["failed", "cancelled"], "faulty", "later"),
        (["failed", "finished"], "done", "done"),
        (["finished", "failed"], "faulty", "done"),
        (["finished", "cancelled"], "done", "done"),
        (["finished", "running"], "open", "done"),
    ],
    ids="-".join,
)
def test_run_and_results_follow_the_runs(app, adult, states, run, results):
    for state in states:
        add_run(adult, state)
    found = marks(app, adult)
    assert (found["run"], found["results"]) == (run, results)


def test_a_fault_shows_at_its_step_whatever_else_is_done(app, client, adult):
    add_run(adult, "finished")
    client.post(f"{adult.url}/goals", data={"k": "0"})
    assert marks(app, adult)["goals"] == "faulty"  # typed, not saved
    assert marks(app, adult)["run"] == "done"
    text = adult.config_path.read_text()
    adult.config_path.write_text(f"delimiter = 3\ntime_limit = -1\n{text}")
    found = marks(app, adult)
    assert (found["data"], found["run"], found["results"]) == ("faulty", "faulty", "done")
    adult.config_path.write_text("no toml")
    assert "faulty" in marks(app, adult).values()
    assert client.get(f"{adult.url}/data").status_code == 200
