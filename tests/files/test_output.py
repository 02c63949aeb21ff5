"""Files appear whole or not at all, what is left of killed runs goes, and each release has settings of its own."""

import hashlib
import io
import os
import subprocess
import sys
import threading
import time

import pyarrow as pa
import pytest

import coterie
from coterie.files import tables
from coterie.files.output import HashedFile, provenance_path, sweep_folders, sweep_parts, whole_file


def test_parts_that_a_killed_run_has_left_are_removed_by_the_next(tmp_path):
    target = tmp_path / "out.csv"
    program = f"""
import os, signal
from coterie.files.output import whole_file
with whole_file({str(target)!r}, force=False) as sink:
    sink.write(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", program], check=False)
    assert [each.name.endswith(".part") for each in tmp_path.iterdir()] == [True]
    with whole_file(target, force=False) as sink:
        sink.write(b"whole")
    assert [each.name for each in tmp_path.iterdir()] == ["out.csv"]


@pytest.mark.skipif(os.name != "posix", reason="locks")
def test_parts_of_runs_that_live_and_of_other_files_stay(tmp_path):
    target = tmp_path / "out.csv"
    others = [".out.csv.part", ".out.csv.0123abcd.party", ".other.csv.0123abcd.part", "out.csv.0123abcd.part"]
    for name in others:
        (tmp_path / name).write_bytes(b"")
    with whole_file(target, force=False) as sink:
        sink.write(b"first")
        sweep_parts(target)
        living = [each.name for each in tmp_path.iterdir() if each.name not in others]
        assert len(living) == 1
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([*others, "out.csv"])
    assert target.read_bytes() == b"first"


def test_what_is_to_be_known_before_the_name_is_told_before(tmp_path):
    seen = []
    path = tmp_path / "out.csv"
    digest = tables.write(pa.table({"a": [1]}), path, before_name=lambda found: seen.append((found, path.exists())))
    assert seen == [(digest, False)]

    def refuse(_):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        tables.write(pa.table({"a": [2]}), path, force=True, before_name=refuse)
    assert path.read_text() == "a\n1\n"
    assert [each.name for each in tmp_path.iterdir()] == ["out.csv"]


def test_releases_of_one_name_have_settings_of_their_own(tmp_path):
    names = ["s.csv", "s.tsv", "s.txt", "s.csv.gz", "s.tsv.gz", "s.parquet", "s.feather"]
    assert len({provenance_path(tmp_path / name) for name in names}) == len(names)
    release = coterie.anonymize(pa.table({"age": [1, 2, 3, 4]}), quasi=["age"], k=2)
    for name in ("s.csv", "s.parquet"):
        release.write(tmp_path / name)
    made = sorted(each.name for each in tmp_path.iterdir())
    assert made == ["s.coterie.toml", "s.csv", "s.parquet", "s.parquet.coterie.toml"]
    for name in ("s.csv", "s.parquet"):
        digest = hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
        assert digest in provenance_path(tmp_path / name).read_text()


@pytest.mark.parametrize("fails", [False, True])
def test_settings_are_there_before_a_release_has_its_name(tmp_path, monkeypatch, fails):
    """So that whoever finds a release finds its settings; and where it gets no name, there are none."""
    from coterie.files import output

    release = coterie.anonymize(pa.table({"age": [1, 2, 3, 4]}), quasi=["age"], k=2)
    real, seen = output.appear, []

    def appear(temporary, target, *, force):
        seen.append((target.name, sorted(each.name for each in tmp_path.iterdir() if each.name[0] != ".")))
        if fails and target.name == "out.csv":
            raise OSError(28, "No space left on device")
        real(temporary, target, force=force)

    monkeypatch.setattr(output, "appear", appear)
    if fails:
        with pytest.raises(coterie.errors.DataError, match="No space left"):
            release.write(tmp_path / "out.csv")
        assert list(tmp_path.iterdir()) == []
        return
    release.write(tmp_path / "out.csv")
    assert seen == [("out.coterie.toml", []), ("out.csv", ["out.coterie.toml"])]


@pytest.mark.parametrize("there", [True, False], ids=["replaced", "half replaced"])
def test_folders_that_a_killed_run_has_left_go_and_a_release_that_was_set_aside_comes_back(tmp_path, there):
    target = tmp_path / "out"
    for name in (".out.0123abcd.part", ".out.89abcdef.old", ".other.0123abcd.part", ".out.part", *(["out"] * there)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rows").write_text(name)
    (tmp_path / ".out.aaaaaaaa.part").symlink_to(tmp_path / ".out.part")
    (tmp_path / ".out.bbbbbbbb.part").write_text("a file is no folder of a release")
    sweep_folders(target)
    stay = [".other.0123abcd.part", ".out.aaaaaaaa.part", ".out.bbbbbbbb.part", ".out.part", "out"]
    assert sorted(each.name for each in tmp_path.iterdir()) == stay
    assert (target / "rows").read_text() == ("out" if there else ".out.89abcdef.old")
    sweep_folders(tmp_path / "nowhere" / "out")


@pytest.mark.parametrize("size", [10, 1 << 20])
def test_the_hash_is_that_of_all_bytes(size):
    file = io.BytesIO()
    sink = HashedFile(file)
    pieces = [bytes([at]) * size for at in range(5)]
    assert [sink.write(piece) for piece in pieces] == [size] * 5
    assert file.getvalue() == b"".join(pieces)
    assert (sink.tell(), sink.sha256) == (5 * size, hashlib.sha256(b"".join(pieces)).hexdigest())


def test_bytes_that_cannot_be_written_are_not_read_any_more_afterwards():
    failed, read = threading.Event(), []

    class Full(io.BytesIO):
        def write(self, data):
            failed.set()
            raise OSError("full")

    class Slow:
        def update(self, data):
            failed.wait(5)
            time.sleep(0.05)
            read.append(len(data))

    sink = HashedFile(Full())
    sink._hash = Slow()
    with pytest.raises(OSError, match="full"):
        sink.write(bytes(1 << 20))
    assert read == [1 << 20]
