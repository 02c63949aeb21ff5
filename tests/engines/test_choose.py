"""Which engine is chosen, what is refused, and what the command line says."""

from pathlib import Path

import pyarrow as pa
import pytest
from block_cases import REGIONS, config_of, table_of
from pyarrow import csv, parquet
from typer.testing import CliRunner

import coterie
from coterie.cli.app import app
from coterie.engines import choose
from coterie.engines.choose import choose_engine, memory_needed
from coterie.engines.engine import Job
from coterie.engines.plan import rows_in_memory
from coterie.errors import ConfigError, DataError
from coterie.settings.memory import default_memory, memory_bytes
from coterie.wording import bytes_text

SETTINGS = {"quasi": ["age", "sex"], "k": 5, "method": "mondrian", "memory": "1GB"}
SETTINGS["keep"] = ["name", "region", "disease", "remark"]


@pytest.fixture
def path(tmp_path):
    parquet.write_table(table_of(300), tmp_path / "in.parquet")
    return tmp_path / "in.parquet"


@pytest.mark.parametrize(
    ("text", "size"), [("2GB", 2**31), ("512 mb", 2**29), ("1.5g", 3 * 2**29), ("4096", 4096), ("1 GiB", 2**30)]
)
def test_sizes_of_memory(text, size):
    assert memory_bytes(text) == size


@pytest.mark.parametrize("text", ["", "much", "2 XB", "-1GB"])
def test_sizes_that_are_none(text):
    with pytest.raises(ConfigError, match="memory"):
        coterie.Config(memory=text)


def test_memory_is_shown_for_people():
    assert [bytes_text(size) for size in (2**30, 3 * 2**29, 2**20, 7)] == ["1 GB", "1.5 GB", "1 MB", "7 bytes"]
    assert default_memory() > 2**28


def test_more_memory_means_larger_blocks():
    config = config_of()
    rows = [rows_in_memory(size * 2**30, config) for size in (1, 2, 8)]
    assert rows == sorted(rows)
    assert rows[0] > 100_000
    with pytest.raises(ConfigError, match="at least 512 MB"):
        rows_in_memory(2**28, config)


def test_sets_in_the_search_need_memory():
    """Each value of a column without a hierarchy is a column of the search."""
    flat, covered = {"quasi": ["age", "job"]}, {"quasi": ["job"], "hierarchies": {"job": {"a": ["b", "c"]}}}
    for settings, smaller in ((flat, True), (covered, False), ({"quasi": ["job"], "ordered": {"job": ["b"]}}, False)):
        plain, sets = (rows_in_memory(2**32, coterie.Config(cost=cost, **settings)) for cost in ("ncp", "set"))
        assert (sets < plain / 4) == smaller
        assert smaller or sets == plain


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {"method": "kaca", "options": {"suppress_above": 0.5}, "privacy": ["t-closeness:0.3"], "time_limit": 3.0},
            "must be equal",
        ),
    ],
)
def test_what_blocks_cannot_do_is_refused(changes, text, path, tmp_path):
    with pytest.raises(ConfigError, match=text):
        coterie.anonymize(path, config=config_of(**changes), output=tmp_path / "out.parquet")


def test_engines_on_disk_need_a_file_and_an_output(path, tmp_path):
    with pytest.raises(ConfigError, match="set output"):
        coterie.anonymize(path, engine="blocks", **SETTINGS)
    with pytest.raises(ConfigError, match="reads files"):
        coterie.anonymize(table_of(50), engine="blocks", output=tmp_path / "out.csv", **SETTINGS)
    with pytest.raises(ConfigError, match="cannot be resumed"):
        coterie.anonymize(path, output=tmp_path / "out.csv", resume=True, **SETTINGS)


def test_an_output_is_written_whatever_the_engine(path, tmp_path):
    release = coterie.anonymize(path, output=tmp_path / "memory.parquet", **SETTINGS)
    stored = coterie.anonymize(path, output=tmp_path / "blocks.parquet", engine="blocks", **SETTINGS)
    assert isinstance(release, coterie.Release)
    assert isinstance(stored, coterie.Release)
    assert not stored.complete
    assert stored.arrow.equals(release.arrow)
    assert "<Release: blocks.parquet, 300 rows" in repr(stored)
    assert stored.provenance()["blocks"] == 1
    with pytest.raises(ConfigError, match="exists already"):
        coterie.anonymize(path, output=tmp_path / "blocks.parquet", engine="blocks", **SETTINGS)


def test_auto_goes_by_the_memory_that_a_file_would_need(path, tmp_path, monkeypatch):
    config = config_of(engine="auto", memory="512MB")
    monkeypatch.setattr(choose, "SMALL", 0)
    assert choose_engine(path, Job(config, "out.csv")).engine == "memory"
    monkeypatch.setattr(choose, "CELL_BYTES", 2**20)
    assert memory_needed(path, config) > 2**29
    chosen = choose_engine(path, Job(config, "out.csv"))
    assert chosen.engine == "blocks"
    assert "the limit is" in chosen.why
    assert choose_engine(path, Job(config, None)).engine == "memory"
    assert choose_engine(path, Job(config, "out.csv", suppress_rows=[True])).engine == "blocks"
    assert choose_engine("-", Job(config, "out.csv")).engine == "memory"
    # A k beyond the table is refused; memory has nothing to do with it.
    assert memory_needed(path, config.replace(k=10**9)) is None
    assert choose_engine(path, Job(config_of(engine="memory"), "out.csv")).engine == "memory"
    cannot = choose_engine(path, Job(config.replace(method="incognito", refine=True), "out.csv"))
    assert cannot.engine == "memory"
    assert "not possible in blocks" in cannot.why


def test_rows_of_text_are_estimated(tmp_path, monkeypatch):
    monkeypatch.setattr(choose, "SMALL", 0)
    table = pa.concat_tables([table_of(5000)] * 4)
    csv.write_csv(table, tmp_path / "in.csv")
    with pa.CompressedOutputStream(str(tmp_path / "in.csv.gz"), "gzip") as sink:
        csv.write_csv(table, sink)
    parquet.write_table(table, tmp_path / "in.parquet")
    config = config_of()
    exact = memory_needed(tmp_path / "in.parquet", config)
    assert memory_needed(tmp_path / "in.csv", config) == pytest.approx(exact, rel=0.02)
    assert memory_needed(tmp_path / "in.csv.gz", config) == pytest.approx(exact, rel=0.2)


def arguments(path, output, *more):
    trees = path.parent / "regions.csv"
    leaves = [(leaf, region, "*") for region, values in REGIONS.items() for leaf in values]
    trees.write_text("".join(";".join(row) + "\n" for row in leaves))
    return [
        "anonymize", str(path), "-o", str(output), "--quasi", "age,region,sex", "--identifier", "name", "-k", "5",
        "--keep", "disease,remark",
        "--hierarchy", f"region={trees}", "--method", "mondrian", "--memory", "1GB", *more,
    ]  # fmt: skip


def test_the_command_line(path, tmp_path):
    words = arguments(path, tmp_path / "out.csv", "--engine", "blocks", "--block-rows", "80")
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "engine  blocks" in done.output
    assert " blocks of at most about 80 rows" in done.output
    assert "promises      pass" in done.output
    assert coterie.verify(tmp_path / "out.csv", quasi=["age", "region", "sex"], k=5).passed
    settled = coterie.Config.from_toml(tmp_path / "out.coterie.toml")
    assert (settled.engine, settled.block_rows) == ("blocks", 80)
    again = CliRunner().invoke(app, words)
    assert isinstance(again.exception, ConfigError)


def test_one_block_is_not_several(path, tmp_path):
    done = CliRunner().invoke(app, arguments(path, tmp_path / "out.csv", "--engine", "blocks"))
    assert "blocks, 1 block of at most about" in done.output


def test_the_command_line_says_which_engine_it_chose(path, tmp_path, monkeypatch):
    monkeypatch.setattr(choose, "SMALL", 0)
    monkeypatch.setattr(choose, "CELL_BYTES", 2**24)
    done = CliRunner().invoke(app, arguments(path, tmp_path / "out.parquet"))
    assert done.exit_code == 0, done.output
    assert "engine blocks: about" in done.output


def test_reports_are_made_from_what_was_written(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    extra = ["--engine", "blocks", "--report", "report.html"]
    done = CliRunner().invoke(app, arguments(path, tmp_path / "out.csv", *extra))
    assert done.exception is None
    assert "chosen by a hash" in Path("report.html").read_text()
    done = CliRunner().invoke(app, arguments(path, "-", *extra, "--force"))
    assert isinstance(done.exception, ConfigError)
    assert "report: is made from the written release" in str(done.exception)


def test_standard_output(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(each.name for each in tmp_path.iterdir())
    done = CliRunner().invoke(app, arguments(path, "-", "--engine", "blocks", "--block-rows", "80"))
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0] == "age,region,sex,disease,remark"
    assert len(done.stdout.splitlines()) == 301
    assert "promises      pass" in done.stderr
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([*before, "regions.csv"])


def test_resume_is_refused_in_memory(path, tmp_path):
    done = CliRunner().invoke(app, arguments(path, tmp_path / "out.csv", "--resume"))
    assert isinstance(done.exception, ConfigError)


def test_damaged_files_are_named_without_their_cells(tmp_path):
    (tmp_path / "in.csv").write_text("age,sex\n1,f\nsecret,m,extra\n3,f\n")
    with pytest.raises(DataError, match="cannot be read in pieces") as caught:
        coterie.anonymize(tmp_path / "in.csv", engine="blocks", output=tmp_path / "out.csv", **{**SETTINGS, "keep": []})
    assert "secret" not in str(caught.value)
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(DataError, match="damaged or truncated"):
        coterie.anonymize(tmp_path / "cut.parquet", engine="blocks", output=tmp_path / "out.csv", **SETTINGS)
    (tmp_path / "book.xlsx").write_bytes(b"PK\x03\x04")
    with pytest.raises(ConfigError, match="cannot be read in blocks"):
        coterie.anonymize(tmp_path / "book.xlsx", engine="blocks", output=tmp_path / "out.csv", **SETTINGS)
