"""Runs: the same bytes as the command line, progress, cancelling, failing."""

from __future__ import annotations

from web_helpers import wait

from coterie.cli import main


def test_the_release_is_the_command_lines_byte_for_byte(client, app, adult, tmp_path):
    answer = client.post(f"{adult.url}/run", data={"method": "mondrian", "seed": "3", "action": "run"})
    assert answer.status_code == 303
    folder = adult.run_folder("0001")
    assert wait(app, folder) == "finished", app.state.jobs.state(folder).message
    out = tmp_path / "out.csv"
    assert main(["anonymize", str(adult.source), "-c", str(adult.recipe_path), "-o", str(out), "-q"]) == 0
    assert (folder / "release.csv").read_bytes() == out.read_bytes()
    made = {each.name for each in folder.iterdir()}
    assert made >= {"coterie.toml", "release.coterie.toml", "report.html", "report-external.html", "report.json"}
    assert made >= {"mapping.csv", "result.json", "published.parquet", "kept.npy", "groups.npy", "release.pickle"}
