"""Runs: the same bytes as the command line, progress, cancelling, failing, several of them."""

from __future__ import annotations

import json
import os
import time

import pytest
from web_cases import send, wait

from coterie.cli.app import main
from coterie.methods import all_methods
from coterie.settings.config import Config
from coterie.web.configuration import configuration
from coterie.web.jobs import KEPT
from coterie.web.run import form as method_form

SLOW = {"method": "compact", "options-effort": "thorough"}


def start(client, project, **form):
    answer = client.post(f"{project.url}/run", data={"method": "mondrian", **form, "action": "run"})
    assert answer.status_code == 303, answer.text
    return project.runs[0]


def wait_until_working(app, folder):
    end = time.monotonic() + 240
    while app.state.jobs.state(folder).step not in ("group", "refine"):
        assert time.monotonic() < end
        assert app.state.jobs.state(folder).active
        time.sleep(0.02)


def test_the_release_is_the_command_lines_byte_for_byte(client, app, adult, tmp_path):
    folder = start(client, adult, method="compact", seed="3", **{"options-effort": "fast"})
    assert wait(app, folder) == "finished", app.state.jobs.state(folder).message
    out = tmp_path / "out.csv"
    for config in (adult.config_path, folder / "coterie.toml"):
        assert main(["anonymize", str(adult.source), "-c", str(config), "-o", str(out), "-q", "--force"]) == 0
        assert (folder / "release.csv").read_bytes() == out.read_bytes()
    made = {each.name for each in folder.iterdir()}
    assert made >= {"coterie.toml", "result.json", "published.parquet", "kept.npy", "groups.npy", "release.pickle"}
    assert not [name for name in made if name.endswith(".part")]
    result = json.loads((folder / "result.json").read_text())
    assert result["k"] == Config.from_toml(adult.config_path).k
    assert result["passed"] is True
    # What takes longer is not there yet, and the results are.
    assert not (folder / "report.html").exists()
    assert "bound" not in result["measures"]
    early = client.get(f"{adult.url}/results/0001")
    assert "Every guarantee holds" in early.text
    assert "In progress" in early.text
    runs = early.text.split("<caption>Runs</caption>")[1]
    assert f'<td class="n">{result["measures"]["gcp"]:,.3g}</td>' in runs  # the loss is known, the risk is not yet
    assert client.get(f"{adult.url}/results/0001/download/release").content == out.read_bytes()
    assert client.post(f"{adult.url}/results/0001/late").status_code == 303
    assert wait(app, folder / "late") == "finished", app.state.jobs.state(folder / "late").message
    made = {each.name for each in folder.iterdir()}
    assert made >= {"mapping.csv", "report.html", "report-external.html", "report.json", "charts.json", "loss.json"}
    result = json.loads((folder / "result.json").read_text())
    assert result["measures"]["bound"] > 0
    report = json.loads((folder / "report.json").read_text())
    assert sum(each["after"] for each in report["risk"]["class_sizes"]) == result["published_rows"]
    assert report["utility"]["bound"]["estimated"] is False
    assert "adult.csv" in (folder / "report.html").read_text()
    assert "Loss by k" in client.get(f"{adult.url}/results/0001").text
    page = client.get(f"{adult.url}/run").text
    assert "Run 1 is finished" in page
    assert f"{result['measures']['gcp']:.4f}" in page


def test_a_run_is_cancelled_and_leaves_only_its_configuration(client, app, adult):
    folder = start(client, adult, **SLOW)
    wait_until_working(app, folder)
    process = app.state.jobs._running[folder]
    assert client.post(f"{adult.url}/run/cancel").status_code == 303
    assert process.poll() is not None
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    assert {each.name for each in folder.iterdir()} == set(KEPT)
    page = client.get(f"{adult.url}/run").text
    assert "Run 1 was cancelled" in page
    assert client.post(f"{adult.url}/run/cancel").status_code == 303  # nothing to cancel any more
    second = start(client, adult, **SLOW)
    assert second.name == "0002"
    assert app.state.jobs.state(second).active


def test_progress_is_told_by_events_to_the_end(client, app, adult):
    configuration.change(adult, {"k": 5000})  # which ends soon: the table has fewer rows
    folder = start(client, adult)
    with client.stream("GET", f"{adult.url}/run/events") as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        lines = list(answer.iter_lines())
    assert lines[-2:] == ["data: {}", ""] or "event: over" in lines
    told = [json.loads(line[6:]) for line in lines if line.startswith("data: {") and line != "data: {}"]
    assert told
    assert all(set(each) == {"run", "text", "done", "total", "elapsed", "left"} for each in told)
    assert app.state.jobs.state(folder).state == "failed"


def test_a_page_without_scripts_follows_a_run_too(client, app, adult):
    folder = start(client, adult, **SLOW)
    page = client.get(f"{adult.url}/run").text
    assert 'role="status"' in page
    assert "<progress" in page
    assert 'http-equiv="refresh"' in page
    again = send(client, f"{adult.url}/run", data={"method": "mondrian", "action": "run"})
    assert again.status_code == 422
    assert "in progress" in again.text
    app.state.jobs.cancel(folder)


def test_a_run_that_cannot_succeed_says_what_to_do(client, app, adult):
    configuration.change(adult, {"k": 5000})
    folder = start(client, adult)
    assert wait(app, folder) == "failed"
    page = client.get(f"{adult.url}/run").text
    assert "failed; nothing was published" in page
    assert "5,000" in page or "5000" in page
    assert {each.name for each in folder.iterdir()} == set(KEPT)
    assert not (folder / "release.csv").exists()


def test_what_the_command_line_would_do_in_blocks_is_refused(client, app, adult):
    configuration.change(adult, {"engine": "blocks"})
    folder = start(client, adult)
    assert wait(app, folder) == "failed"
    page = client.get(f"{adult.url}/run").text
    assert "keep the table in memory" in page
    assert "coterie anonymize" in page


def test_a_run_says_that_goals_are_not_saved(client, adult):
    client.post(f"{adult.url}/goals", data={"k": "many"})
    assert "Some goals are not saved" in client.get(f"{adult.url}/run").text


def test_a_worker_that_dies_is_noticed(client, app, adult):
    folder = start(client, adult, **SLOW)
    app.state.jobs._running[folder].kill()
    assert wait(app, folder) == "failed"
    assert "ended unexpectedly" in client.get(f"{adult.url}/run").text


def test_an_upload_that_was_taken_away_is_told_without_a_path(client, app, adult):
    adult.source.unlink()
    answer = send(client, f"{adult.url}/run", data={"method": "mondrian", "action": "run"})
    assert answer.status_code == 422
    assert "The file has changed" in answer.text
    assert "adult.csv has changed since it was read, or no longer exists" in answer.text
    assert str(adult.source) not in answer.text
    assert adult.runs == []


def test_runs_are_deleted_one_by_one_also_while_they_work(client, app, adult):
    folder = start(client, adult, **SLOW)
    process = app.state.jobs._running[folder]
    assert client.post(f"{adult.url}/run/0001/delete").status_code == 303
    assert not folder.exists()
    assert process.poll() is not None
    assert client.post(f"{adult.url}/run/0001/delete").status_code == 404


@pytest.mark.parametrize("name", sorted(all_methods()))
def test_every_method_and_every_option_has_a_form(client, adult, name):
    part = client.get(f"{adult.url}/run/options?method={name}").text
    chosen = all_methods()[name]
    assert chosen.summary.split()[0].strip("`") in part
    for option in method_form.options_of(chosen):
        assert f'id="options-{option.name}"' in part


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"method": "kaca", "options-beta": "0.5"}, "options-beta"),
        ({"method": "nothing"}, "method"),
        ({"method": "auto", "seed": "-1"}, "seed"),
        ({"method": "auto", "seed": "x"}, "seed"),
        ({"method": "auto", "time_limit": "0"}, "time_limit"),
        ({"method": "auto", "threads": "1.5"}, "threads"),
        ({"method": "compact", "options-effort": "lots"}, "options-effort"),
    ],
)
def test_faults_of_the_form_are_shown_beside_what_was_typed(client, adult, form, field):
    before = adult.config_path.read_bytes()
    answer = send(client, f"{adult.url}/run", data={**form, "action": "run"})
    assert answer.status_code == 422
    assert f'href="#{field}"' in answer.text
    assert adult.config_path.read_bytes() == before
    assert adult.runs == []
    again = client.get(f"{adult.url}/run").text
    assert f'href="#{field}"' in again


def test_options_are_written_in_their_own_types_and_shown_again(client, adult):
    form = {"method": "kaca", "options-distance": "ncp", "options-beta": "2", "options-level_weights": "[3, 1]"}
    assert client.post(f"{adult.url}/run", data={**form, "refine": "true", "seed": "9"}).status_code == 303
    values = configuration.read_values(adult)
    assert values["options"] == {"distance": "ncp", "beta": 2.0, "level_weights": [3.0, 1.0]}
    assert (values["method"], values["refine"], values["seed"]) == ("kaca", True, 9)
    page = client.get(f"{adult.url}/run").text
    assert "<option selected>ncp</option>" in page
    assert 'value="2.0"' in page
    client.post(f"{adult.url}/run", data={"method": "auto"})
    values = configuration.read_values(adult)
    assert "options" not in values
    assert "refine" not in values


def test_a_file_that_was_sorted_anew_is_noticed_before_every_view_and_run(client, app, adult):
    """Results would show one person before and another after."""
    folder = start(client, adult)
    assert wait(app, folder) == "finished"
    assert "Rows cannot be shown" not in client.get(f"{adult.url}/results/0001").text
    lines = adult.source.read_text().splitlines(keepends=True)
    stamp = adult.source.stat()
    adult.source.write_text("".join([lines[0], *reversed(lines[1:])]))
    # Even a change that leaves size and time as they were is found before a run.
    os.utime(adult.source, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    refused = send(client, f"{adult.url}/run", data={"method": "mondrian", "action": "run"})
    assert "the file has changed since it was read" in refused.text
    assert len(adult.runs) == 1
    os.utime(adult.source)
    for step in ("data", "roles", "goals", "run", "results/0001"):
        assert "The file has changed" in client.get(f"{adult.url}/{step}").text, step
    # Looked at again, it can be run again; rows of the run before are not shown beside those of another file.
    assert client.post(f"{adult.url}/data/again").status_code == 303
    assert wait(app, adult.folder / "inspect") == "finished"
    assert "The file has changed" not in client.get(f"{adult.url}/data").text
    assert "Rows cannot be shown side by side" in client.get(f"{adult.url}/results/0001").text
    assert wait(app, start(client, adult)) == "finished"
    assert "Rows cannot be shown" not in client.get(f"{adult.url}/results/0002").text


def test_runs_are_told_apart_by_every_setting_that_differs(client, app, adult):
    for seed in ("1", "2"):
        assert wait(app, start(client, adult, method="mondrian", seed=seed)) == "finished"
    configuration.change(adult, {"privacy": ["l-diversity:2"], "weights": {"age": 2.0}})
    assert wait(app, start(client, adult, method="mondrian", seed="2")) == "finished"
    for page in (client.get(f"{adult.url}/run").text, client.get(f"{adult.url}/results/0001").text):
        assert "seed = 1, privacy = not set, weights.age = not set" in page
        assert "seed = 2, privacy = l-diversity:2, weights.age = 2.0" in page


def test_what_comes_later_can_be_stopped_and_begun_again(client, app, adult):
    folder = start(client, adult)
    assert wait(app, folder) == "finished"
    client.post(f"{adult.url}/results/0001/late")
    app.state.jobs.cancel(folder / "late")
    page = client.get(f"{adult.url}/results/0001").text
    assert "Every guarantee holds" in page
    assert "Stopped" in page
    assert client.post(f"{adult.url}/run/0001/delete").status_code == 303
    assert not folder.exists()
