"""Runs that are stopped and go on: the same bytes in the end, and no mixing of different runs."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from typing import NamedTuple

import pytest
from block_cases import config_of, run, table_of
from pyarrow import parquet

from coterie.cli.app import main
from coterie.engines.blocks import store
from coterie.engines.blocks.run import anonymize as anonymize_file
from coterie.engines.blocks.state import work_path
from coterie.engines.engine import Job
from coterie.errors import Cancelled, ConfigError, DataError
from coterie.measures import sums


@pytest.fixture
def config():
    return config_of(block_rows=90, method="compact")


class StopAfter:
    """Cancels a run once so many blocks are finished."""

    def __init__(self, blocks):
        self.blocks, self.done = blocks, 0

    def progress(self, step, done, total):
        if step.startswith("group: "):
            self.done = int(step.split()[1])

    def cancelled(self):
        return self.done >= self.blocks

    def job(self):
        return {"progress": self.progress, "cancelled": self.cancelled}


def stopped(tmp_path, table, config, blocks=2):
    with pytest.raises(Cancelled):
        run(tmp_path, table, config, **StopAfter(blocks).job())
    assert not (tmp_path / "out.parquet").exists()
    return sorted(each.name for each in (work_path(tmp_path / "out.parquet") / "blocks").glob("*.json"))


def test_a_run_that_was_stopped_goes_on_and_gives_the_same_bytes(tmp_path, config):
    table = table_of(700)
    whole = run(tmp_path, table, config, out="whole.parquet")
    finished = stopped(tmp_path, table, config)
    assert 2 <= len(finished) < whole.blocks
    grouped = []
    resumed = run(
        tmp_path, table, config, resume=True, progress=lambda step, *_: grouped.append(step) if ":" in step else None
    )
    assert grouped[0] == f"group: {len(finished)} of {whole.blocks} blocks"
    assert (tmp_path / "out.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert resumed.place.output_sha256 == whole.place.output_sha256
    assert dict(resumed.measures) == dict(whole.measures)
    assert not work_path(tmp_path / "out.parquet").exists()


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on(tmp_path, config):
    table = table_of(700)
    whole = run(tmp_path, table, config, out="whole.parquet")
    (tmp_path / "config.json").write_text(json.dumps(config.to_dict()))
    program = f"""
        import json, os, pathlib, signal
        from coterie.settings.config import Config
        from coterie.engines.blocks.run import anonymize as anonymize_file
        from coterie.engines.engine import Job

        folder = pathlib.Path({str(tmp_path)!r})

        def told(step, done, total):
            if step.startswith("group: 3 "):
                os.kill(os.getpid(), signal.SIGKILL)

        config = Config.from_dict(json.loads((folder / "config.json").read_text()))
        anonymize_file(folder / "in.parquet", Job(config, folder / "out.parquet", progress=told))
    """
    killed = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert not (tmp_path / "out.parquet").exists()
    # Half-written files of the killed run are no obstacle.
    blocks = work_path(tmp_path / "out.parquet") / "blocks"
    assert len(list(blocks.glob("*.json"))) >= 3
    (blocks / "block-000099.part").write_bytes(b"half")
    resumed = run(tmp_path, table, config, resume=True)
    assert resumed.place.output_sha256 == whole.place.output_sha256


def test_without_resume_an_earlier_run_is_not_thrown_away(tmp_path, config):
    table = table_of(700)
    finished = stopped(tmp_path, table, config)
    with pytest.raises(ConfigError, match=f"interrupted with {len(finished)} blocks finished") as caught:
        run(tmp_path, table, config)
    assert "resume=True" in caught.value.hint
    assert len(list((work_path(tmp_path / "out.parquet") / "blocks").glob("*.json"))) == len(finished)
    again = run(tmp_path, table, config, force=True)
    assert again.verification.passed


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"seed": 3}, "had different settings"),
        ({"k": 6}, "had different settings"),
        ({"block_rows": 91}, "a different block size"),
    ],
)
def test_other_settings_are_refused(changes, text, tmp_path, config):
    table = table_of(700)
    stopped(tmp_path, table, config)
    with pytest.raises(DataError, match=text):
        run(tmp_path, table, config.replace(**changes), resume=True)


@pytest.mark.parametrize("noted", [True, False], ids=["another layout", "no layout, as before it was noted"])
def test_blocks_that_were_stored_in_another_layout_are_refused(noted, tmp_path, config, monkeypatch):
    table = table_of(700)
    with monkeypatch.context() as older:
        older.setattr(sums, "_MEANS", sums._MEANS[:-1])
        stopped(tmp_path, table, config)
    folder = work_path(tmp_path / "out.parquet")
    if not noted:
        run_facts = json.loads((folder / "run.json").read_text())
        del run_facts["layout"]
        (folder / "run.json").write_text(json.dumps(run_facts))
    with pytest.raises(DataError, match="stored its blocks in a different format from this one") as caught:
        run(tmp_path, table, config, resume=True)
    assert "force=True" in caught.value.hint
    assert "\n" not in str(caught.value)
    assert list((folder / "blocks").glob("*.json"))  # not thrown away before somebody says so
    assert run(tmp_path, table, config, force=True).verification.passed


@pytest.mark.parametrize("part", ["sums", "rows published one by one", "mapping", "stripes", "format"])
def test_the_layout_names_everything_that_is_stored(part, monkeypatch):
    before = store.stored_layout()
    if part == "sums":
        monkeypatch.setattr(sums, "_MEANS", sums._MEANS[:-1])
    elif part == "rows published one by one":
        monkeypatch.setattr(store, "OneByOne", NamedTuple("OneByOne", [("codes", object)]))
    elif part == "mapping":
        monkeypatch.setattr(store, "COLUMNS", {"group": ""})
    elif part == "stripes":
        monkeypatch.setattr(store, "STRIPE_ROWS", store.STRIPE_ROWS // 2)
    else:
        monkeypatch.setattr(store, "FORMAT", store.FORMAT + 1)
    assert store.stored_layout() != before


def test_the_command_line_refuses_blocks_in_another_layout_in_one_line(tmp_path, config, monkeypatch, capsys):
    with monkeypatch.context() as older:
        older.setattr(sums, "_MEANS", sums._MEANS[:-1])
        stopped(tmp_path, table_of(700), config)
    (tmp_path / "config.toml").write_text(config.to_toml())
    arguments = [
        *("anonymize", str(tmp_path / "in.parquet"), "-c", str(tmp_path / "config.toml"), "--engine", "blocks"),
        *("-o", str(tmp_path / "out.parquet"), "--resume"),
    ]
    assert main(arguments) == 3
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1
    assert "stored its blocks in a different format" in said[0]
    assert "--force" in said[0]


@pytest.mark.parametrize("left", [b"", b'{"pieces": {"0": [0, 12'], ids=["nothing", "half"])
def test_a_block_whose_record_was_lost_with_the_power_is_grouped_again(left, tmp_path, config):
    table = table_of(700)
    whole = run(tmp_path, table, config, out="whole.parquet")
    first, *_ = stopped(tmp_path, table, config)
    (work_path(tmp_path / "out.parquet") / "blocks" / first).write_bytes(left)
    assert run(tmp_path, table, config, resume=True).place.output_sha256 == whole.place.output_sha256


def test_settings_that_decide_nothing_may_change(tmp_path, config):
    table = table_of(700)
    whole = run(tmp_path, table, config, out="whole.parquet")
    stopped(tmp_path, table, config)
    other = config.replace(threads=3, memory="2GB", author="somebody else")
    assert run(tmp_path, table, other, resume=True).place.output_sha256 == whole.place.output_sha256


def test_another_input_is_refused(tmp_path, config):
    stopped(tmp_path, table_of(700), config)
    with pytest.raises(DataError, match="had a different input"):
        run(tmp_path, table_of(700, seed=1), config, resume=True)


def test_resume_without_an_earlier_run_just_starts(tmp_path, config):
    assert run(tmp_path, table_of(300), config, resume=True).verification.passed


def test_a_run_that_fails_before_its_first_block_leaves_nothing(tmp_path, config):
    with pytest.raises(Cancelled):
        run(tmp_path, table_of(300), config, cancelled=lambda: True)
    assert [each.name for each in tmp_path.iterdir()] == ["in.parquet"]


def test_an_input_that_changes_while_it_is_read_is_refused(tmp_path, config):
    table = table_of(400)
    parquet.write_table(table, tmp_path / "in.parquet")

    def told(step, done, total):
        if step == "cut" and not done:
            older = table.set_column(1, "age", [[200 + at % 70 for at in range(400)]])
            parquet.write_table(older, tmp_path / "in.parquet")

    with pytest.raises(DataError, match="changed while it was read"):
        anonymize_file(tmp_path / "in.parquet", Job(config, tmp_path / "out.parquet", progress=told))
    assert not (tmp_path / "out.parquet").exists()


def test_a_second_run_is_told_that_the_first_is_alive(tmp_path, config):
    """Also with force, which would have thrown away what the first one has done."""
    table = table_of(700)
    told = []

    def meanwhile(step, done, total):
        if step.startswith("group") and not told:
            for ways in ({"force": True}, {"resume": True}, {}):
                job = Job(config, tmp_path / "out.parquet", **ways)
                with pytest.raises(ConfigError, match=rf"another run .* in progress \(process {os.getpid()}\)"):
                    anonymize_file(tmp_path / "in.parquet", job)
                told.append(step)

    first = run(tmp_path, table, config, progress=meanwhile)
    assert len(told) == 3
    assert first.verification.passed
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


@pytest.mark.parametrize("place", ["provenance", "name"])
def test_a_run_that_was_killed_at_its_end_goes_on(tmp_path, config, place, monkeypatch):
    """After its settings were written and before the release has its name, and after that."""
    from coterie.engines import finished

    table = table_of(700)
    whole = run(tmp_path, table, config, out="whole.parquet")
    real = finished.appear

    def killed(temporary, target, *, force):
        if place == "name":
            real(temporary, target, force=force)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(finished, "appear", killed)
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path, table, config)
    assert (tmp_path / "out.parquet.coterie.toml").exists()
    assert (tmp_path / "out.parquet").exists() == (place == "name")
    resumed = run(tmp_path, table, config, resume=True)
    assert (tmp_path / "out.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert resumed.verification.passed
    assert whole.verification.passed
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_a_run_that_goes_on_replaces_nothing_but_its_own_release(tmp_path, config, monkeypatch):
    from coterie.engines import finished

    table = table_of(700)

    def killed(temporary, target, *, force):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(finished, "appear", killed)
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path, table, config)
    (tmp_path / "out.parquet").write_bytes(b"somebody else's")
    with pytest.raises(ConfigError, match="exists already"):
        run(tmp_path, table, config, resume=True)
    assert (tmp_path / "out.parquet").read_bytes() == b"somebody else's"


def test_a_folder_is_replaced_whole_or_not_at_all(tmp_path, config, monkeypatch):
    from pathlib import Path

    def again(k, **ways):
        job = Job(config.replace(k=k), f"{tmp_path}/out/", **ways)
        return anonymize_file(tmp_path / "in.parquet", job)

    run(tmp_path, table_of(700), config)
    again(5)
    before = {each.name: each.read_bytes() for each in (tmp_path / "out").iterdir()}
    real, renamed = Path.rename, []

    def broken(self, target):
        renamed.append(self)
        if len(renamed) == 2:
            raise OSError(28, "No space left on device")
        return real(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", broken)
        with pytest.raises(DataError):
            again(7, force=True)
    assert {each.name: each.read_bytes() for each in (tmp_path / "out").iterdir()} == before
    again(7, force=True)
    assert {each.name: each.read_bytes() for each in (tmp_path / "out").iterdir()} != before
    assert [each.name for each in tmp_path.iterdir() if each.name.endswith(".old")] == []


def test_a_folder_that_a_run_was_removing_or_making_when_it_was_killed_goes(tmp_path, config):
    table = table_of(700)
    run(tmp_path, table, config)
    left = work_path(tmp_path / "out.parquet")
    left.mkdir()
    (left / "lock").write_text("1")
    (left / "rows").mkdir()
    job = Job(config, tmp_path / "out.parquet", resume=True)
    with pytest.raises(ConfigError, match="exists already"):
        anonymize_file(tmp_path / "in.parquet", job)
    assert not left.exists()


@pytest.mark.parametrize("at", range(3))
def test_a_run_that_was_killed_while_it_cleaned_up_is_no_run_to_go_on_with(tmp_path, config, monkeypatch, at):
    """Its release is whole; half of its work folder is gone, and the next run neither trips over nor leaves the rest.

    The lock has to go last: without it nobody could say whose the rest is.
    """
    import shutil

    table = table_of(700)
    real, left = shutil.rmtree, work_path(tmp_path / "out.parquet")
    ended = []

    def killed(path, **ways):
        if not (left / "run.json").exists():
            ended.append(path)
            if len(ended) > at:
                raise KeyboardInterrupt
        real(path, **ways)

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path, table, config)
    made = (tmp_path / "out.parquet").read_bytes()
    assert ended[-1] == left or left in ended[-1].parents
    assert (left / "lock").exists()
    (left / "lock").unlink()  # the process that held it is gone
    (left / "lock").write_text("1")
    job = Job(config, tmp_path / "out.parquet", resume=True)
    with pytest.raises(ConfigError, match="exists already"):
        anonymize_file(tmp_path / "in.parquet", job)
    assert not left.exists()
    assert (tmp_path / "out.parquet").read_bytes() == made
