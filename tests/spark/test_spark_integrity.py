"""On Spark too, a release belongs to its input, has one writer, and replaces another only when it is whole."""

import os
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from spark_cases import config_of, table_of, written

from coterie.engines.engine import Job
from coterie.engines.spark import verify as spark_verify
from coterie.engines.spark.frame import release_rows
from coterie.engines.spark.run import anonymize
from coterie.engines.spark.source import list_files, read_parquet
from coterie.engines.spark.write import LocalPlace, RemotePlace
from coterie.errors import BackendError, ConfigError, DataError, VerificationError
from coterie.files.locks import lock_folder, work_path


def job_of(tmp_path, name="out.parquet", **more):
    config = config_of(engine="spark", block_rows=400)
    return Job(config, tmp_path / name if not name.endswith("/") else f"{tmp_path}/{name}", **more)


@pytest.mark.parametrize("step", ["verify", "write"])
def test_rows_of_two_files_are_never_mixed(session, tmp_path, step):
    path = written(tmp_path, table_of(600))
    other = table_of(600).take(pa.array(range(599, -1, -1)))
    done = []

    def swap(now, *_):
        if now == step and not done:
            done.append(now)
            before = path.stat()
            parquet.write_table(other, path)
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    with pytest.raises(DataError, match="changed while it was read"):
        anonymize(path, job_of(tmp_path, progress=swap))
    assert done
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_boxes_of_other_rows_are_noticed(session, tmp_path, monkeypatch):
    """All counts are those of the right release; only who is in which box is wrong."""
    from pyspark.sql import functions as sql

    rows = read_parquet(session, [str(written(tmp_path, table_of(600)))])
    honest = spark_verify.number_column
    monkeypatch.setattr(spark_verify, "number_column", lambda numbers, key: sql.lit(599) - honest(numbers, key))
    with pytest.raises(VerificationError, match="does not belong to its original") as caught:
        release_rows(rows, config_of(), block_rows=400)
    assert caught.value.exit_code == 5


def test_files_at_an_address_are_listed_with_sizes_and_times(session, tmp_path):
    path = written(tmp_path, table_of(100))
    before = list_files(session, f"file://{path}")
    assert [each[1] for each in before] == [path.stat().st_size]
    os.utime(path, (1, 1))
    assert list_files(session, f"file://{path}") != before


def test_a_second_run_to_one_output_is_told_that_the_first_is_alive(session, tmp_path):
    path = written(tmp_path, table_of(100))
    lock = lock_folder(work_path(tmp_path / "out.parquet"))
    with pytest.raises(ConfigError, match=f"another run to this file is in progress .process {os.getpid()}"):
        anonymize(path, job_of(tmp_path, force=True))
    lock.give_back()


def test_settings_are_there_before_the_release_has_its_name(session, tmp_path, monkeypatch):
    path = written(tmp_path, table_of(600))

    def killed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(LocalPlace, "take", killed)
    with pytest.raises(KeyboardInterrupt):
        anonymize(path, job_of(tmp_path, "out/"))
    assert sorted(each.name for each in tmp_path.iterdir()) == [path.name, "out.coterie.toml"]


@pytest.mark.parametrize("kind", ["local", "remote"])
def test_folders_are_replaced_by_renaming_and_leftovers_go(session, tmp_path, kind):
    target = tmp_path / "out"

    def place():
        return LocalPlace(str(target)) if kind == "local" else RemotePlace(session, f"file://{target}")

    def fresh(temporary, content):
        folder = tmp_path / Path(temporary).name
        folder.mkdir()
        (folder / "part-00000.parquet").write_text(content)

    # Killed between two renames: the old release is aside, the new one has no name yet.
    (tmp_path / ".out.0123abcd.old").mkdir()
    (tmp_path / ".out.0123abcd.old" / "part-00000.parquet").write_text("old")
    (tmp_path / ".out.89abcdef.part").mkdir()
    with place().beside() as temporary:
        assert (target / "part-00000.parquet").read_text() == "old"
        assert not (tmp_path / ".out.89abcdef.part").exists()
        with pytest.raises(ConfigError, match="exists already"):
            place().take(temporary, force=False)
        # What cannot be renamed leaves the old release where it was.
        with pytest.raises((DataError, OSError, BackendError)):
            place().take(temporary, force=True)
        assert (target / "part-00000.parquet").read_text() == "old"
        fresh(temporary, "new")
        place().take(temporary, force=True)
        with pytest.raises(ConfigError, match="another run to"), place().beside():
            pass
    assert (target / "part-00000.parquet").read_text() == "new"
    assert [each.name for each in tmp_path.iterdir() if not each.name.endswith(".crc")] == ["out"]
