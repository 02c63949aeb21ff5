"""An input that changes between two passes gives no release, whatever its size and time say."""

import os

import pyarrow as pa
import pytest
from block_cases import config_of, table_of
from pyarrow import csv, feather, parquet

import coterie
from coterie.cli.app import main
from coterie.errors import DataError
from coterie.files import input as io_files

WRITE = {"csv": csv.write_csv, "parquet": parquet.write_table, "feather": feather.write_feather}


def reversed_table(table):
    """The same rows in the other order: every value is known, and no count differs."""
    return table.take(pa.array(range(table.num_rows - 1, -1, -1)))


class Swap:
    """Puts other bytes into a file when a step begins."""

    def __init__(self, path, content, step, *, keep_time):
        self.path, self.content, self.step, self.keep_time = path, content, step, keep_time
        self.done = False

    def __call__(self, step, done, total):
        if self.done or not step.startswith(self.step):
            return
        self.done = True
        before = self.path.stat()
        self.path.write_bytes(self.content)  # the same file, with the same number
        if self.keep_time:
            os.utime(self.path, ns=(before.st_atime_ns, before.st_mtime_ns))


def swap_of(folder, form, step, *, keep_time):
    table = table_of(700)
    path, other = folder / f"in.{form}", folder / "other"
    WRITE[form](table, path)
    WRITE[form](reversed_table(table), other)
    content = other.read_bytes()
    other.unlink()
    return path, Swap(path, content, step, keep_time=keep_time)


@pytest.mark.parametrize("keep_time", [False, True], ids=["new time", "same time"])
@pytest.mark.parametrize("step", ["cut", "group", "write", "verify"])
@pytest.mark.parametrize("form", ["csv", "parquet", "feather"])
def test_rows_of_two_files_are_never_mixed(tmp_path, form, step, keep_time):
    path, swap = swap_of(tmp_path, form, step, keep_time=keep_time)
    size = path.stat().st_size
    with pytest.raises(DataError, match=r"in\.\w+ changed while it was read, so nothing is published") as caught:
        coterie.anonymize(
            path, config=config_of(block_rows=100), output=tmp_path / "out.csv", mapping=tmp_path / "map.csv",
            progress=swap,
        )  # fmt: skip
    assert caught.value.exit_code == 3
    assert swap.done
    assert form != "csv" or path.stat().st_size == size
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_part_of_a_folder_that_changes(tmp_path):
    (tmp_path / "parts").mkdir()
    path, swap = swap_of(tmp_path / "parts", "parquet", "write", keep_time=True)
    parquet.write_table(table_of(300, seed=1), tmp_path / "parts" / "more.parquet")
    with pytest.raises(DataError, match="changed while it was read"):
        coterie.anonymize(path.parent, config=config_of(block_rows=100), output=f"{tmp_path}/out/", progress=swap)
    assert [each.name for each in tmp_path.iterdir()] == ["parts"]


def test_a_file_that_is_gone_after_a_pass(tmp_path):
    path, _ = swap_of(tmp_path, "csv", "write", keep_time=True)

    def gone(step, done, total):
        if step == "group" and path.exists():
            path.unlink()

    with pytest.raises(DataError, match="changed while it was read"):
        coterie.anonymize(path, config=config_of(block_rows=100), output=tmp_path / "out.csv", progress=gone)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("keep_time", [False, True], ids=["new time", "same time"])
def test_in_memory_the_hash_is_that_of_the_bytes_that_were_read(tmp_path, monkeypatch, keep_time):
    path, swap = swap_of(tmp_path, "csv", "hashed", keep_time=keep_time)
    opened = io_files.Raw.open

    def slow(raw):
        swap("hashed", 0, 0)
        return opened(raw)

    monkeypatch.setattr(io_files.Raw, "open", slow)
    with pytest.raises(DataError, match="changed while it was read"):
        coterie.anonymize(path, config=config_of(engine="memory"), output=tmp_path / "out.csv")
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_the_command_line_says_so_with_exit_code_3(tmp_path, monkeypatch, capsys):
    path, swap = swap_of(tmp_path, "csv", "write", keep_time=True)
    (tmp_path / "settings.toml").write_text(config_of(block_rows=100).to_toml())
    monkeypatch.setattr("coterie.cli.show.ProgressBar.__call__", lambda self, *step: swap(*step))
    assert main(["anonymize", str(path), "-c", str(tmp_path / "settings.toml"), "-o", str(tmp_path / "out.csv")]) == 3
    assert "changed while it was read" in capsys.readouterr().err
    assert not (tmp_path / "out.csv").exists()
