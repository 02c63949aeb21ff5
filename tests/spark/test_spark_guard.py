"""What is refused, what is left behind, and what errors tell."""

import pytest
from pyarrow import parquet
from spark_cases import assert_same, config_of, embedded, table_of, written
from typer.testing import CliRunner

from coterie import spark
from coterie.cli.app import app
from coterie.engines.engine import Job
from coterie.engines.spark.frame import release_rows
from coterie.engines.spark.run import anonymize as anonymize_file
from coterie.engines.spark.source import read_parquet
from coterie.errors import BackendError, ConfigError, DataError, VerificationError


@pytest.fixture(scope="module")
def path(session, tmp_path_factory):
    """The table as a file."""
    return written(tmp_path_factory.mktemp("table"), table_of(600))


@pytest.fixture(scope="module")
def release(session, path):
    """A release that several tests look at."""
    made = release_rows(read_parquet(session, [str(path)]), config_of(k=10), block_rows=300)
    yield made
    made.unpersist()


def test_a_folder_appears_whole_and_in_order(release, path, tmp_path):
    expected = embedded(path, config_of(k=10, block_rows=300), tmp_path)
    assert_same(release, expected)
    target = tmp_path / "out"
    release.write(target)
    assert [each.name for each in sorted(target.iterdir())] == ["part-00000.parquet"]
    assert parquet.read_table(target / "part-00000.parquet").equals(expected.arrow)
    with pytest.raises(ConfigError, match="exists already"):
        release.write(target)
    release.write(target, force=True)
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_what_was_written_is_checked_and_not_left_there(release, tmp_path, monkeypatch):
    def spoilt(frame, rows):
        return frame.where("coterie_row != 7 and coterie_row != 8")

    monkeypatch.setattr("coterie.engines.spark.write.in_order", spoilt)
    with pytest.raises((VerificationError, DataError)):
        release.write(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_release_below_k_is_withheld(session, path, monkeypatch, tmp_path):
    from pyspark.sql import functions as sql

    from coterie.engines.spark.group import GroupedRows

    whole = GroupedRows.released

    def thinned(self, *, shown, people=False):
        return whole(self, shown=shown, people=people).where(sql.col("coterie_row") > 3)

    monkeypatch.setattr(GroupedRows, "released", thinned)
    config = config_of(k=10)
    monkeypatch.setattr("coterie.engines.spark.plan.plant", lambda *words, **named: pytest.fail("one block is enough"))
    with pytest.raises(VerificationError, match="groups of fewer"):
        # Groups of exactly k rows lose some.
        release_rows(read_parquet(session, [str(path)]), config.replace(method="kmembers"), block_rows=10_000)


def test_models_are_judged_from_what_is_published(release):
    from coterie.engines.spark.verify import SparkCounter
    from coterie.verification.models import check_file

    frame = release.frame
    config = release.config.replace(privacy=["l-diversity:3:disease", "t-closeness:0.01:pay"])
    counter = SparkCounter(frame, release.config.quasi, {})
    found = check_file(counter, config, names=frame.columns, hidden=0, k=None)
    checks = {check.name: check for check in found.verification.checks}
    assert [check.passed for check in checks.values()] == [False, False]
    worst = frame.groupBy("age", "`height.cm`", "region", "sex").agg({"disease": "approx_count_distinct"})
    assert checks["l-diversity(disease)"].found == min(row[-1] for row in worst.collect())


def test_errors_of_tasks_tell_no_cell(session):
    table = table_of(300).set_column(1, "age", [[f"secret-{at}" if at == 250 else str(at) for at in range(300)]])
    frame = session.createDataFrame(table)
    with pytest.raises(DataError) as caught:
        spark.release(frame, config_of(types={"age": "number"}))
    assert "secret" not in str(caught.value)
    assert "age" in str(caught.value)


def test_a_fault_in_a_task_tells_its_place_and_no_cell(session, path, monkeypatch):
    from pyspark.sql import functions as sql

    from coterie.engines.spark.guard import guarded, guarded_task

    @guarded_task
    def broken(batches):
        for batch in batches:
            raise ValueError(f"secret {batch.column(0)[0]}")
            yield batch

    with pytest.raises(BackendError, match=r"ValueError in test_spark_guard\.py, line") as caught, guarded("testing"):
        session.range(3).select(sql.col("id")).mapInArrow(broken, "id bigint").collect()
    assert "secret" not in str(caught.value)


def test_one_file_as_the_embedded_engine_writes_it(session, path, tmp_path):
    from coterie.files import tables as io

    source = tmp_path / "in.csv"
    io.write(parquet.read_table(path), source)
    quasi = ["age", "region", "sex"]
    config = config_of(quasi=quasi, block_rows=300, engine="spark", missing_values=["", "c"])
    made = anonymize_file(source, Job(config, tmp_path / "spark.csv", mapping=tmp_path / "mapping.csv"))
    other = embedded(source, config, tmp_path)
    assert made.arrow.equals(other.arrow)
    assert made.verification == other.verification
    assert made.config.replace(engine="blocks") == other.config
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "embedded.parquet", "embedded.parquet.coterie.toml", "in.csv", "mapping.csv", "spark.coterie.toml", "spark.csv",
    ]  # fmt: skip


def test_the_command_line_runs_in_the_session_that_is_there(session, path, tmp_path):
    out, odd = f"{tmp_path}/out/", tmp_path / "in [1] {a,b}*.parquet"  # no pattern, for once
    odd.write_bytes(path.read_bytes())
    words = ["anonymize", str(odd), "-o", out, "--quasi", "age,sex", "-k", "4", "--engine", "spark"]
    words += ["--keep", "height.cm,born,region,disease,pay,visitor,number"]
    done = CliRunner().invoke(app, [*words, "--identifier", "full name", "--method", "mondrian", "--block-rows", "200"])
    assert done.exit_code == 0, done.output
    assert "spark," in done.output
    assert "promises      pass" in done.output
    assert (
        CliRunner().invoke(app, ["verify", f"{out}part-00000.parquet", "--quasi", "age,sex", "-k", "4"]).exit_code == 0
    )
    again = CliRunner().invoke(app, [*words, "--resume", "--force"])
    assert "Spark retries lost work" in str(again.exception)
