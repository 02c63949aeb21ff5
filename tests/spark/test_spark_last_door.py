"""What no row shows leaves with no output of Spark, and no output of Spark goes over its own input."""

import os

import numpy as np
import pytest
from planted import PLACES, ROWS, SECRET, all_bytes, as_input, planted_table
from spark_cases import config_of, table_of, written

import coterie
from coterie.engines.engine import Job
from coterie.engines.spark import verify as spark_verify
from coterie.engines.spark.run import anonymize
from coterie.errors import ConfigError, VerificationError

ROLES = {"quasi": ["age"], "sensitive": ["disease"], "identifiers": ["name"], "keep": ["gap", "word"]}
SETTINGS = {**ROLES, "k": 3, "method": "mondrian", "missing_values": [], "suppressed": "remove", "block_rows": 9}
# Spark does not read lists and structs of a release's other columns alike everywhere; see the engines in memory.
SPARK_PLACES = {each for each in PLACES if each != "nested"}


@pytest.mark.parametrize("output", ["out.parquet", "out/"])
def test_nothing_that_no_row_shows_leaves_from_spark(session, tmp_path, output):
    data = as_input(planted_table(SPARK_PLACES), "parquet", tmp_path)
    assert SECRET.encode() in all_bytes(data)
    place = f"{tmp_path}/{output}"
    suppress = np.arange(ROWS) == ROWS - 1
    coterie.anonymize(data, **SETTINGS, engine="spark", suppress_rows=suppress, output=place)
    assert SECRET.encode() not in all_bytes(tmp_path / output.rstrip("/"))


def test_nothing_that_no_row_shows_leaves_with_a_dataframe(session, tmp_path):
    from pyspark.sql import functions as sql

    path = as_input(planted_table(SPARK_PLACES - {"removed"}), "parquet", tmp_path)
    frame = session.read.parquet(str(path))
    for name in frame.columns:
        frame = frame.withMetadata(name, {"comment": SECRET, "levels": [SECRET]})
    assert SECRET in frame.schema.json()
    released = coterie.spark.anonymize(frame, **SETTINGS)
    assert SECRET not in released.schema.json()
    assert SECRET not in repr(released.collect())
    # What users do next: Spark writes a schema with all metadata into Parquet.
    released.coalesce(1).sortWithinPartitions(sql.col("age")).write.parquet(str(tmp_path / "theirs"))
    assert SECRET.encode() not in b"".join(
        all_bytes(each) for each in (tmp_path / "theirs").iterdir() if each.suffix == ".parquet"
    )


@pytest.mark.parametrize("kind", ["itself", "link", "hard link", "folder", "linked folder", "inside", "address"])
def test_an_input_is_never_overwritten_by_spark(session, tmp_path, kind):
    folder = tmp_path / "people"
    folder.mkdir()
    path = written(folder, table_of(60))
    (tmp_path / "link.parquet").symlink_to(path)
    os.link(path, tmp_path / "hard.parquet")
    (tmp_path / "linked").symlink_to(folder, target_is_directory=True)
    data, output = {
        "itself": (path, path),
        "link": (path, tmp_path / "link.parquet"),
        "hard link": (tmp_path / "link.parquet", tmp_path / "hard.parquet"),
        "folder": (folder, f"{folder}/"),
        "linked folder": (folder, f"{tmp_path / 'linked'}/"),
        "inside": (folder, path),
        "address": (path, f"file://{path}"),
    }[kind]
    before = path.read_bytes()
    with pytest.raises(ConfigError, match="is the input itself"):
        anonymize(data, Job(config_of(engine="spark"), output, force=True))
    assert path.read_bytes() == before
    assert [each.name for each in folder.iterdir()] == [path.name]


@pytest.mark.parametrize("style", ["mean", "median"])
def test_means_are_compared_with_all_originals_of_their_class(session, tmp_path, monkeypatch, style):
    """Classes lie in several partitions and batches; the same numbers at other rows are refused."""
    from pyspark.sql import functions as sql

    path = written(tmp_path, table_of(900))
    config = config_of(engine="spark", quasi=["age", "sex"], hierarchies={}, publish={"age": style})
    anonymize(path, Job(config, tmp_path / "out.parquet"))
    assert (tmp_path / "out.parquet").exists()
    honest = spark_verify.number_column
    monkeypatch.setattr(spark_verify, "number_column", lambda numbers, key: sql.lit(899) - honest(numbers, key))
    # Nothing but the means shows that they are those of others.
    only = config.replace(quasi=["age"], sensitive=[], keep=[], drop=table_of(1).column_names[2:])
    with pytest.raises(VerificationError, match="does not belong to its original"):
        anonymize(path, Job(only, tmp_path / "other.parquet"))
    assert not (tmp_path / "other.parquet").exists()
