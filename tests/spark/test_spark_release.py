"""Releases on Spark against those of the embedded engine, row for row."""

import os

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from spark_cases import assert_same, config_of, embedded, in_row_order, table_of, written

from coterie import spark
from coterie.engines.blocks.run import anonymize as anonymize_file
from coterie.engines.engine import Job
from coterie.engines.mapping import join_mappings
from coterie.engines.spark import run as spark_job
from coterie.engines.spark import write as spark_files
from coterie.engines.spark.frame import release_rows
from coterie.engines.spark.run import anonymize as anonymize_on_spark
from coterie.engines.spark.source import read_parquet
from coterie.errors import ConfigError, DataError, InfeasibleError

CASES = {
    "k alone": {},
    "compact": {"method": "compact", "options": {"effort": "fast"}},
    "whole columns": {"method": "incognito", "options": {"suppress_at_most": 0.02}},
    "rows one by one": {"method": "nh", "options": {"key": "a secret of the tests"}, "missing": "suppress"},
    "people": {"entity": "visitor", "privacy": ["l-diversity:2:disease"], "missing": "suppress"},
    "suppression and models": {
        "method": "kaca", "options": {"suppress_above": 0.3}, "privacy": ["t-closeness:0.5:pay:ordered"],
        "quasi": ["age", "region", "sex"], "k": 4, "sensitive": ["pay"],
    },
    "models": {"privacy": ["l-diversity:2:disease", "t-closeness:0.4:pay"]},
    "rows suppressed from the start": {"missing": "suppress", "quasi": ["age", "region", "sex"], "k": 3},
    "those removed, in one block": {"missing": "suppress", "suppressed": "remove", "block_rows": 100_000},
    "bounds, means and dates": {
        "quasi": ["age", "height.cm", "born"], "hierarchies": {}, "publish": {"age": "bounds", "height.cm": "mean"},
    },
    "a column that nothing is done to": {"quasi": ["sex", "region"], "weights": {"sex": 1000}, "block_rows": 900},
}  # fmt: skip


@pytest.fixture(scope="module")
def path(session, tmp_path_factory):
    """The table as a file."""
    return written(tmp_path_factory.mktemp("table"), table_of())


@pytest.mark.parametrize("changes", CASES.values(), ids=CASES)
def test_a_file_gives_the_release_of_the_embedded_engine(session, path, tmp_path, changes):
    config = config_of(**changes)
    rows = read_parquet(session, [str(path)])
    release = release_rows(rows, config, block_rows=config.block_rows)
    assert_same(release, embedded(path, config, tmp_path))
    release.unpersist()


def test_rows_one_by_one_are_checked_by_tasks_and_known_again_in_files(session, path, tmp_path):
    frame = session.read.parquet(str(path))
    release = spark.release(frame, config_of(method="nh"), row_number="number")
    assert [check.name for check in release.verification.checks] == ["k-anonymity by rows"]
    assert release.config.options == {}  # the secret that was drawn does not leave with it
    assert in_row_order(release).equals(in_row_order(release))
    release.write(tmp_path / "out")
    assert session.read.parquet(str(tmp_path / "out")).count() == 1500
    other = release.place.numbered.limit(1499)
    with pytest.raises(DataError, match="differ from the verified ones"):
        spark_files._refuse_other_rows(other, session.read.parquet(str(tmp_path / "out")))
    release.unpersist()


def test_people_are_counted_before_and_known_again_after_writing(session, path, tmp_path):
    release = spark.release(session.read.parquet(str(path)), config_of(entity="visitor"), row_number="number")
    assert release.verification.checks[-1].name == "k-anonymity of people"
    assert release.verification.checks[-1].found >= 5
    release.write(tmp_path / "out")
    assert "visitor" not in session.read.parquet(str(tmp_path / "out")).columns
    release.unpersist()


def test_the_mapping_of_all_blocks_is_brought_to_the_driver(session, path, tmp_path):
    config = config_of(missing="suppress")
    made = release_rows(read_parquet(session, [str(path)]), config, block_rows=400, mapping=True)
    parts = spark_files.collect_mapping(made.place.grouped, tmp_path / "parts")
    assert len(parts) == made.blocks > 1
    removed = not made.place.shown
    join_mappings(
        tmp_path / "spark.parquet", made.place.plan, made.place.grouped.sums, parts, removed=removed, force=False
    )
    job = Job(config.replace(engine="blocks"), tmp_path / "out.parquet", mapping=tmp_path / "embedded.parquet")
    anonymize_file(path, job)
    found, expected = (parquet.read_table(tmp_path / f"{name}.parquet") for name in ("spark", "embedded"))
    assert found.equals(expected)
    made.unpersist()


def test_masks_of_a_file_hide_the_same_as_in_blocks(session, path, tmp_path):
    rng = np.random.default_rng(4)
    cells = {name: rng.random(1500) < 0.05 for name in ("age", "region")}
    masks = {"suppress_rows": rng.random(1500) < 0.05, "suppress_cells": cells}
    made = {}
    for engine, run in (("blocks", anonymize_file), ("spark", anonymize_on_spark)):
        job = Job(config_of(engine=engine), tmp_path / f"{engine}.parquet", **masks)
        made[engine] = run(path, job)
    assert made["blocks"].blocks > 1
    found, expected = (parquet.read_table(tmp_path / f"{name}.parquet") for name in ("spark", "blocks"))
    assert found.equals(expected)
    assert made["spark"].masks_sha256 == made["blocks"].masks_sha256 != ""


def test_a_frame_without_is_numbered_partition_by_partition(session, tmp_path):
    frame = session.createDataFrame(table_of(700)).repartitionByRange(3, "pay", "number").sortWithinPartitions("number")
    release = spark.release(frame, config_of())
    order = in_row_order(release).column("number").to_numpy()
    assert not np.array_equal(order, np.sort(order))
    path = written(tmp_path, table_of(700).take(pa.array(order)))
    assert_same(release, embedded(path, config_of(), tmp_path))
    release.unpersist()


def test_anonymize_gives_back_a_frame_of_the_same_session(session, path):
    frame = session.read.parquet(str(path))
    made = spark.anonymize(frame, config_of().to_dict(), k=7, identifiers=["full name", "number", "visitor"])
    assert made.sparkSession is session
    assert made.columns == ["age", "height.cm", "born", "region", "sex", "disease", "pay"]
    counts = made.groupBy("age", "`height.cm`", "region", "sex").count()
    assert counts.agg({"count": "min"}).collect()[0][0] >= 7


def test_files_of_a_folder_follow_each_other_by_name(session, tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    table = table_of(800)
    # Spark would read the largest first.
    for name, part in {"b.parquet": table.slice(100), "a.parquet": table.slice(0, 100)}.items():
        written(folder, part, name=name)
    release = release_rows(read_parquet(session, [str(folder)]), config_of(), block_rows=400)
    assert_same(release, embedded(folder, config_of(), tmp_path))
    assert in_row_order(release).column("number").to_pylist() == list(range(800))
    release.unpersist()


@pytest.mark.parametrize("old", [False, True], ids=["4.1 and newer", "4.0"])
def test_a_frame_with_row_numbers_gives_it_however_it_is_partitioned(session, path, tmp_path, monkeypatch, old):
    if old:  # blocks are then brought together in another way
        monkeypatch.setattr("coterie.engines.spark.group.places_rows", lambda frame: False)
    frame = session.read.parquet(str(path)).repartition(3, "pay")
    before = dict(session.conf.getAll)
    release = spark.release(frame, config_of(), row_number="number")
    assert_same(release, embedded(path, config_of(), tmp_path))
    assert dict(session.conf.getAll) == before
    release.unpersist()


def test_rows_that_change_between_two_passes_are_refused(session):
    def drawn(batches):
        for batch in batches:
            yield pa.RecordBatch.from_pydict({"age": pa.array(np.random.default_rng().integers(0, 30, len(batch)))})

    frame = session.range(0, 900, numPartitions=2).mapInArrow(drawn, "age bigint")
    config = config_of(quasi=["age"], sensitive=[], identifiers=[], keep=[], hierarchies={})
    with pytest.raises(DataError, match=r"differed when they were read again|has changed"):
        spark.release(frame, config, persist=False)


@pytest.mark.parametrize("column", ["pay", "full name", "age of the moon"])
def test_a_column_that_does_not_number_the_rows_is_refused(session, path, column):
    frame = session.read.parquet(str(path))
    with pytest.raises(ConfigError, match="row_number"):
        spark.release(frame, config_of(), row_number=column)


def test_what_cannot_be_had_is_said_before_any_work(session, path):
    frame = session.read.parquet(str(path))
    before = set(session.sparkContext._jsc.getPersistentRDDs())
    with pytest.raises(InfeasibleError, match="1,500 rows"):
        spark.release(frame, config_of(k=2000), row_number="number")
    with pytest.raises(ConfigError, match="height"):
        spark.release(frame, config_of(quasi=["height"]))
    with pytest.raises(InfeasibleError, match="'sex' names 2"):
        spark.release(frame, config_of(quasi=["age"], hierarchies={}, entity="sex"))
    with pytest.raises(DataError, match="no rows"):
        spark.release(frame.limit(0), config_of())
    with pytest.raises(DataError, match=r"'age' is of type array"):
        spark.release(frame.selectExpr("array(age) as age", "sex"), quasi=["age", "sex"], k=2)
    assert set(session.sparkContext._jsc.getPersistentRDDs()) <= before


def test_metadata_of_columns_stay_behind(session, tmp_path):
    from pyspark.sql import functions as sql

    secret = {"note": "HIV-of-Mr-X"}
    parquet.write_table(table_of(60).select(["age", "sex", "disease"]), tmp_path / "in.parquet")
    frame = session.read.parquet(str(tmp_path / "in.parquet")).select(
        sql.col("age"), sql.col("sex"),
        sql.col("disease").alias("disease", metadata=secret),
        sql.struct(sql.lit("a").alias("ward", metadata=secret)).alias("visit", metadata=secret),
    )  # fmt: skip
    assert "HIV" in frame.schema.json()
    roles = {"quasi": ["age", "sex"], "sensitive": ["disease"], "keep": ["visit"], "k": 5, "method": "mondrian"}
    release = spark.release(frame, **roles, block_rows=30)
    assert "HIV" not in release.frame.schema.json()
    release.write(tmp_path / "out")
    assert all(b"HIV" not in part.read_bytes() for part in (tmp_path / "out").iterdir())
    release.unpersist()


def test_a_folder_that_a_dataframe_was_read_from_is_never_replaced(session, tmp_path):
    (tmp_path / "in folder").mkdir()
    parquet.write_table(table_of(60).select(["age", "sex", "disease"]), tmp_path / "in folder" / "a.parquet")
    frame = session.read.parquet(str(tmp_path / "in folder"))
    release = spark.release(frame, quasi=["age", "sex"], sensitive=["disease"], k=5, method="mondrian", block_rows=30)
    with pytest.raises(ConfigError, match="output: is the input itself"):
        release.write(tmp_path / "in folder", force=True)
    assert [each.name for each in (tmp_path / "in folder").iterdir()] == ["a.parquet"]
    release.unpersist()


@pytest.mark.parametrize("keep_time", [False, True], ids=["new time", "same time"])
def test_a_file_that_changes_gives_no_release(session, tmp_path, keep_time):
    path = written(tmp_path, table_of(300))
    before = path.stat()

    def told(step, done, total):
        if step == "verify":
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
            if keep_time:
                other = bytearray(path.read_bytes())
                other[4] ^= 1
                path.write_bytes(other)
                os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    with pytest.raises(DataError, match="changed while it was read"):
        spark_job.anonymize(path, Job(config_of(engine="spark"), tmp_path / "out.parquet", progress=told))
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_columns_without_a_role_are_refused_before_any_work(session, path, tmp_path):
    frame = session.read.parquet(str(path))
    before = set(session.sparkContext._jsc.getPersistentRDDs())
    keep = [name for name in config_of().keep if name != "number"]
    refusal = r"^roles: 1 column has no role: 'number'; .* `keep = \[.*\"number\"\]` or `--keep [^ ]*number`"
    with pytest.raises(ConfigError, match=refusal):
        spark.release(frame, config_of(keep=keep))
    with pytest.raises(ConfigError, match=refusal):
        spark.release(frame, config_of(keep=keep), row_number="number")
    with pytest.raises(ConfigError, match=refusal):
        spark.anonymize(frame, config_of(), keep=keep)
    with pytest.raises(ConfigError, match=refusal):
        anonymize_on_spark(path, Job(config_of(keep=keep, engine="spark"), tmp_path / "out.parquet"))
    with pytest.raises(ConfigError, match="the table has no column 'numbers'"):
        spark.release(frame, config_of(keep=[*keep, "numbers"], drop=["number"]))
    assert set(session.sparkContext._jsc.getPersistentRDDs()) <= before
    assert list(tmp_path.iterdir()) == []


def test_dropped_columns_are_left_out_and_kept_ones_unchanged(session, path, tmp_path):
    config = config_of(identifiers=[], drop=["full name", "number", "pay"], sensitive=["disease"])
    made = spark.release(session.read.parquet(str(path)), config, row_number="number")
    published = in_row_order(made)
    assert published.column_names == ["age", "height.cm", "born", "region", "sex", "disease", "visitor"]
    original = parquet.read_table(path)
    assert published["visitor"].to_pylist() == original["visitor"].to_pylist()
    assert_same(made, embedded(path, config, tmp_path))
    made.unpersist()
    written = anonymize_on_spark(path, Job(config.replace(engine="spark"), tmp_path / "out.parquet"))
    assert written.arrow.equals(published.cast(written.arrow.schema))
